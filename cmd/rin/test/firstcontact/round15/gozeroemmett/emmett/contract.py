"""The OpenAPI document of the funding API, and the check of the query by the same parameters."""

from __future__ import annotations

import os
import re
from urllib.parse import parse_qsl

from catalogue import DISCIPLINES, STATUSES, instant

_INTEGER = re.compile(r"-?(0|[1-9][0-9]*)", re.ASCII)
_BAD_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


class QueryError(Exception):
    def __init__(self, parameter: str | None, reason: str):
        super().__init__(reason)
        self.parameter, self.reason = parameter, reason


class Parameter:
    def __init__(self, name: str, schema: dict, description: str, check=None, repeat: bool = False):
        self.name, self.schema, self.description, self.check, self.repeat = name, schema, description, check, repeat

    @property
    def default(self):
        return self.schema.get("default")

    def document(self) -> dict:
        doc = {"name": self.name, "in": "query", "required": False, "description": self.description, "schema": self.schema}
        if self.repeat:
            doc |= {"style": "form", "explode": True}
        return doc

    def value(self, text: str):
        schema = self.schema["items"] if self.repeat else self.schema
        if "enum" in schema:
            if text not in schema["enum"]:
                raise QueryError(self.name, "must be one of " + ", ".join(schema["enum"]))
            return text
        if schema["type"] == "integer":
            low, high = schema["minimum"], schema["maximum"]
            if not _INTEGER.fullmatch(text) or len(text) > 18 or not low <= int(text) <= high:
                raise QueryError(self.name, f"must be an integer from {low} to {high}")
            return int(text)
        if schema.get("format") == "date-time":
            try:
                return instant(text)
            except ValueError:
                raise QueryError(self.name, "must be a date-time of RFC 3339") from None
        if len(text) < schema.get("minLength", 0) or len(text) > schema["maxLength"]:
            raise QueryError(self.name, f"must have {schema.get('minLength', 0)} to {schema['maxLength']} characters")
        return text


def read_query(raw: str, parameters: list[Parameter]) -> dict:
    """The values of the declared parameters; others are ignored."""
    if _BAD_PERCENT.search(raw):
        raise QueryError(None, "the query is not percent-encoded UTF-8")
    try:
        pairs = parse_qsl(raw, keep_blank_values=True, errors="strict")
    except ValueError:
        raise QueryError(None, "the query is not percent-encoded UTF-8") from None
    values: dict = {}
    for p in parameters:
        given = [v for n, v in pairs if n == p.name]
        if p.repeat:
            values[p.name] = [p.value(v) for v in given]
            continue
        if len(given) > 1:
            raise QueryError(p.name, "must not be repeated")
        values[p.name] = p.value(given[0]) if given else p.default
    return values


LANG = Parameter("lang", {"type": "string", "enum": ["de", "en"], "default": "de"}, "The language of titles, abstracts, names and labels.")
PAGE = [
    Parameter("page_size", {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}, "How many entries a page has at most."),
    Parameter("cursor", {"type": "string", "minLength": 1, "maxLength": 400}, "Where the page begins: taken from the link with the relation next of the page before, to be sent with the same filters. A value that this operation did not give out is answered by 400."),
]
CLOSING = [
    Parameter("closing_from", {"type": "string", "format": "date-time"}, "Only calls that close at this instant or later. Calls that never close are left out."),
    Parameter("closing_before", {"type": "string", "format": "date-time"}, "Only calls that close before this instant, which itself is excluded. Calls that never close are left out."),
]
FILTERS = [
    Parameter("status", {"type": "array", "items": {"type": "string", "enum": STATUSES}}, "Only calls in one of these states. May be repeated: status=open&status=closed.", repeat=True),
    Parameter("discipline", {"type": "string", "enum": list(DISCIPLINES)}, "Only calls with this discipline among their disciplines."),
    Parameter("funder", {"type": "string", "minLength": 1, "maxLength": 40}, "Only calls of the funder with this id; none if there is no such funder."),
    *CLOSING,
    Parameter("min_amount", {"type": "integer", "minimum": 0, "maximum": 1000000000}, "Only calls with at least this amount. Calls without an amount are left out."),
    Parameter("max_amount", {"type": "integer", "minimum": 0, "maximum": 1000000000}, "Only calls with at most this amount. Calls without an amount are left out."),
    Parameter("search", {"type": "string", "minLength": 1, "maxLength": 60}, "Only calls whose title in the language of the answer contains this text, after Unicode case folding of both (so ß is equal to ss)."),
]
CALLS = [*FILTERS, LANG, *PAGE]
FUNDERS = [LANG, *PAGE]
DEADLINES = [*CLOSING, LANG, *PAGE]


def _ref(kind: str, name: str) -> dict:
    return {"$ref": f"#/components/{kind}/{name}"}


def _closed(properties: dict, optional=()) -> dict:
    return {
        "type": "object",
        "required": [p for p in properties if p not in optional],
        "properties": properties,
        "additionalProperties": False,
    }


def document(origin: str) -> dict:
    doc = _document(origin)
    if os.environ.get("NODE") == "emmett-kiefer":
        doc["paths"]["/v3/calls"]["get"]["description"] += (
            " A page can hold fewer calls than page_size, even none, although there are more: only a missing link next says that the list has ended."
        )
    return doc


def _document(origin: str) -> dict:
    text = {"type": "string", "minLength": 1}

    def operation(operation_id, summary, description, schema, parameters, path=None, paged=False):
        headers = {n: _ref("headers", n) for n in ("ETag", "Last-Modified", "Content-Language")}
        not_modified = {n: _ref("headers", n) for n in ("ETag", "Last-Modified")}
        if paged:
            headers |= {"Link": _ref("headers", "Link"), "X-Total-Count": _ref("headers", "X-Total-Count")}
        listed = [path] if path else []
        responses = {
            "200": {"description": "OK", "headers": headers, "content": {"application/json": {"schema": schema}}},
            "304": {"description": "Not modified since the representation that the client has", "headers": not_modified},
            "400": _ref("responses", "BadRequest"),
            "401": _ref("responses", "Unauthorized"),
            "403": _ref("responses", "Forbidden"),
            "412": _ref("responses", "PreconditionFailed"),
        }
        if path:
            responses["404"] = _ref("responses", "NotFound")
        return {
            "get": {
                "operationId": operation_id,
                "summary": summary,
                "description": description,
                "tags": ["funding"],
                "parameters": listed + [p.document() for p in parameters] + [_ref("parameters", n) for n in ("IfNoneMatch", "IfModifiedSince", "IfMatch", "IfUnmodifiedSince")],
                "responses": responses,
                "security": [{"clientCredentials": ["funding:read"]}],
            }
        }

    def path_id(name, what, example):
        return {"name": name, "in": "path", "required": True, "description": f"The id of a {what}. Any other value is answered by 404.", "schema": {"type": "string"}, "example": example}

    def problem(description, challenge=False):
        doc = {"description": description, "content": {"application/problem+json": {"schema": _ref("schemas", "Problem")}}}
        if challenge:
            doc["headers"] = {"WWW-Authenticate": {"required": True, "description": "RFC 6750", "schema": {"type": "string"}}}
        return doc

    def header(name, description):
        return {"name": name, "in": "header", "required": False, "description": description, "schema": {"type": "string"}}

    summary = {
        "id": text,
        "title": text,
        "status": {"type": "string", "enum": STATUSES},
        "funder_id": text,
        "disciplines": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string", "enum": list(DISCIPLINES)}},
        "closes_at": {"type": ["string", "null"], "format": "date-time", "description": "null: the call never closes."},
        "amount": {"type": ["integer", "null"], "minimum": 0, "description": "EUR"},
    }
    listing = lambda name: {"type": "array", "maxItems": 50, "items": _ref("schemas", name)}  # noqa: E731
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ROT Funding Calls",
            "version": "3.2.1",
            "description": (
                "Funding calls of the node ROT. Access tokens are opaque, come from the token endpoint by client credentials, live for 72 seconds "
                "and need the role EXTERNAL_API_CLIENT. Ten wrong secrets for a client within a minute lock that client out of the token endpoint: "
                "429 with Retry-After, after which the right secret is accepted again. Lists are arrays; the address of the next page is in the header Link (RFC 8288) with the "
                "relation next, which the last page lacks, and the number of entries on all pages in X-Total-Count. "
                "Query parameters that an operation does not declare are ignored, except that access_token is answered by 400 (tokens are sent in the header Authorization only); a declared one whose value is not of its schema, or that is "
                "repeated without being an array, is answered by 400, as is a query that is not percent-encoded UTF-8. "
                "HEAD is answered as GET, without content; OPTIONS names the methods in Allow; other methods are answered by 405. "
                "Answers have a weak entity tag and a date of last modification, and are not compressed."
            ),
        },
        "servers": [{"url": f"{origin}/rot/funding"}],
        "tags": [{"name": "funding"}],
        "paths": {
            "/v3/calls": operation("findCalls", "Finds calls", "The calls for which all given filters hold, by the instant at which they close, calls that never close last; calls that close at the same instant by ascending id.", listing("CallSummary"), CALLS, paged=True),
            "/v3/calls/{call_id}": operation("readCall", "Reads one call", "All fields of a call.", _ref("schemas", "Call"), [LANG], path_id("call_id", "call", "ost-2007")),
            "/v3/funders": operation("findFunders", "Finds funders", "All funders by ascending id.", listing("Funder"), FUNDERS, paged=True),
            "/v3/funders/{funder_id}": operation("readFunder", "Reads one funder", "The funder as in the list.", _ref("schemas", "Funder"), [LANG], path_id("funder_id", "funder", "goe")),
            "/v3/deadlines": operation("findDeadlines", "Finds deadlines", "The deadlines of all calls that close, by instant, then by ascending id of the call.", listing("Deadline"), DEADLINES, paged=True),
            "/v3/disciplines": operation("listDisciplines", "Lists the disciplines", "The vocabulary, in the order of the codes, on one page.", {"type": "array", "items": _ref("schemas", "Discipline")}, [LANG]),
        },
        "components": {
            "securitySchemes": {
                "clientCredentials": {
                    "type": "oauth2",
                    "flows": {"clientCredentials": {"tokenUrl": f"{origin}/realms/wissen/protocol/openid-connect/token", "scopes": {"funding:read": "Read the funding calls"}}},
                }
            },
            "headers": {
                "ETag": {"required": True, "description": "A weak entity tag", "schema": {"type": "string"}},
                "Last-Modified": {"required": True, "description": "When the data were imported", "schema": {"type": "string"}},
                "Content-Language": {"required": True, "description": "The language of the texts", "schema": {"type": "string", "enum": ["de", "en"]}},
                "Link": {"required": True, "description": "RFC 8288: first, and next unless this is the last page", "schema": {"type": "string"}},
                "X-Total-Count": {"required": True, "description": "The number of entries on all pages", "schema": {"type": "integer", "minimum": 0}},
            },
            "parameters": {
                "IfNoneMatch": header("If-None-Match", "RFC 9110, 13.1.2"),
                "IfModifiedSince": header("If-Modified-Since", "RFC 9110, 13.1.3"),
                "IfMatch": header("If-Match", "RFC 9110, 13.1.1: a weak entity tag never matches here, * does"),
                "IfUnmodifiedSince": header("If-Unmodified-Since", "RFC 9110, 13.1.4"),
            },
            "responses": {
                "BadRequest": problem("A parameter is not of its schema"),
                "Unauthorized": problem("The token is missing, malformed, unknown, expired, or meant for another service", True),
                "Forbidden": problem("The account lacks the role EXTERNAL_API_CLIENT", True),
                "NotFound": problem("There is no such resource"),
                "PreconditionFailed": problem("If-Match or If-Unmodified-Since does not hold"),
            },
            "schemas": {
                "Problem": _closed(
                    {
                        "type": {"type": "string", "format": "uri-reference"},
                        "title": {"type": "string"},
                        "status": {"type": "integer", "minimum": 400, "maximum": 599},
                        "detail": {"type": "string"},
                        "parameter": {"type": "string", "description": "The query parameter that is wrong"},
                    },
                    ["parameter"],
                ),
                "CallSummary": _closed(summary),
                "Call": _closed(
                    summary
                    | {
                        "abstract": text,
                        "opens_on": {"type": "string", "format": "date"},
                        "contact": _closed({"name": text, "email": {"type": "string", "format": "email"}}),
                    }
                ),
                "Funder": _closed({"id": text, "name": text, "country": {"type": "string", "pattern": "^[A-Z]{2}$"}, "homepage": {"type": "string", "format": "uri"}, "call_count": {"type": "integer", "minimum": 0, "description": "The number of its calls"}}),
                "Deadline": _closed({"call_id": text, "title": text, "closes_at": {"type": "string", "format": "date-time"}}),
                "Discipline": _closed({"code": {"type": "string", "enum": list(DISCIPLINES)}, "label": text, "call_count": {"type": "integer", "minimum": 0, "description": "The number of calls with it"}}),
            },
        },
    }
