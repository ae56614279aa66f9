"""The OpenAPI document. The views check their parameters by it."""
from django.conf import settings

from . import NODE

ORDERS = ["deadline", "-deadline", "opens", "-opens", "budget_eur", "-budget_eur", "id", "-id"]
KINDS = ["CALL", "PROGRAMME", "AWARD", "SCHOLARSHIP", "MOBILITY"]
DATE = {"type": "string", "format": "date", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}
BIG = 9007199254740991


def q(name, schema, text, **more):
    return dict({"name": name, "in": "query", "required": False, "description": text, "schema": schema}, **more)


PAGE = [
    q("limit", {"type": "integer", "minimum": 1, "maximum": 100, "default": 20}, "Records on one page."),
    q("offset", {"type": "integer", "minimum": 0, "maximum": BIG, "default": 0},
      "Records to skip. Beyond the last record the page is empty."),
]
FUNDER_ID = {"type": "string", "pattern": "^[A-Z]{3}$"}
PARAMETERS = {
    "calls": [
        q("kind", {"type": "string", "enum": KINDS}, "Only calls of this kind."),
        q("funder", {"type": "array", "items": FUNDER_ID, "minItems": 1, "maxItems": 10, "uniqueItems": False},
          "Only calls of one of these funders (repeat the parameter; an unknown funder has no calls).",
          style="form", explode=True),
        q("q", {"type": "string", "minLength": 1, "maxLength": 100, "pattern": "^[^\\u0000-\\u001f\\u007f]+$"},
          "Only calls whose German or English title contains this text. Upper and lower case are alike, "
          "also for umlauts (Unicode case folding)."),
        q("deadline__gte", DATE, "Only calls whose deadline is on this day or later; calls without a deadline "
          "are left out. Years 0001 to 9999."),
        q("deadline__lte", DATE, "Only calls whose deadline is on this day or earlier; calls without a deadline "
          "are left out. Years 0001 to 9999."),
        q("open_on", DATE, "Only calls that have opened on this day or earlier and whose deadline is on this "
          "day or later, or that have no deadline. Years 0001 to 9999."),
        q("budget__gte", {"type": "integer", "minimum": 0, "maximum": BIG},
          "Only calls with at least this budget; calls without a budget are left out."),
        q("budget__lte", {"type": "integer", "minimum": 0, "maximum": BIG},
          "Only calls with at most this budget; calls without a budget are left out."),
        q("order_by", {"type": "string", "enum": ORDERS, "default": "deadline"},
          "Order of the records. A minus sign means descending. Records without the member come last in both "
          "directions; records that are alike are ordered by id, ascending."),
    ] + PAGE,
    "funders": PAGE,
    "deadlines": [
        q("date__gte", DATE, "Only deadlines on this day or later. Years 0001 to 9999."),
        q("date__lte", DATE, "Only deadlines on this day or earlier. Years 0001 to 9999."),
        q("call", {"type": "string", "minLength": 1, "maxLength": 40, "pattern": "^[A-Za-z0-9-]+$"},
          "Only deadlines of the call with this id; an unknown call has none."),
    ] + PAGE,
    "statistics": [],
    "detail": [],
}


def ref(name):
    return {"$ref": "#/components/schemas/" + name}


def page_schema(item):
    return {"type": "object", "required": ["meta", "objects"], "additionalProperties": False, "properties": {
        "meta": ref("Meta"), "objects": {"type": "array", "maxItems": 100, "items": ref(item)}}}


def obj(required, **properties):
    return {"type": "object", "required": required, "additionalProperties": False, "properties": properties}


def operation(oid, summary, params, schema, path=False, text=""):
    content = {"application/json": {"schema": ref(schema)}}
    headers = {h: {"$ref": "#/components/headers/" + h} for h in ("ETag", "Cache-Control")}
    responses = {
        "200": {"description": "Success", "headers": headers, "content": content},
        "304": {"description": "Not changed since the validator that the request carries (If-None-Match"
                               + (", If-Modified-Since)" if path else ")")},
        "400": {"$ref": "#/components/responses/BadRequest"},
        "401": {"$ref": "#/components/responses/Unauthorized"},
        "403": {"$ref": "#/components/responses/Forbidden"},
        "405": {"$ref": "#/components/responses/NotAllowed"},
        "412": {"$ref": "#/components/responses/PreconditionFailed"},
    }
    if path:
        responses["404"] = {"$ref": "#/components/responses/NotFound"}
    return {"get": {"operationId": oid, "summary": summary, "description": text or summary, "tags": ["funding"],
                    "parameters": params, "responses": responses, "security": [{"oauth": ["funding.read"]}]}}


def build():
    base = "http://127.0.0.1:%d" % settings.NODE_PORT
    document = describe(base)
    if NODE == "tp-mulde":
        document["info"]["description"] += (
            "\n* At most 40 requests in a second for one service account; beyond that the answer is 429 with "
            "Retry-After, and nothing was done.")
        document["components"]["responses"]["TooMany"] = {
            "description": "More than 40 requests in a second; wait for Retry-After seconds.",
            "headers": {"Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer"}}},
            "content": {"application/problem+json": {"schema": ref("Problem")}}}
        for item in document["paths"].values():
            item["get"]["responses"]["429"] = {"$ref": "#/components/responses/TooMany"}
    if NODE == "tp-isar":
        document["info"]["description"] += (
            "\n* A client that asks for a token while its last one lives for 30 seconds or more gets the same one "
            "again; expires_in says how long it lives still.")
    if NODE == "tp-iller":
        document["info"]["description"] += (
            "\n* The members of an object come in any order, which may change from answer to answer. ETags are "
            "weak. Nothing is compressed.")
    return document


def describe(base):
    prob = {"application/problem+json": {"schema": ref("Problem")}}

    def pid(text):
        return [{"name": "id", "in": "path", "required": True, "description": text, "schema": {"type": "string"}}]

    date = {"type": "string", "format": "date"}
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Förder-API der Universität Hafenburg", "version": "3.2.0",
            "description": "Funding calls for external API clients.\n\n"
            "* Access: a bearer token of the token endpoint (client credentials) for a service account with the "
            "role EXTERNAL_API_CLIENT. Without a valid token the answer is 401, without the role 403.\n"
            "* Parameters: a query parameter that an operation does not declare, one without a value, one that "
            "is not an array and comes twice, and a value that does not fit its schema are refused with 400. "
            "Texts are UTF-8.\n"
            "* Paging: `limit` and `offset`; `meta.next` and `meta.previous` are references to the neighbouring "
            "pages with the same filters and order, or null. `meta.previous` holds the up to `limit` records "
            "before this page (its own `limit` is smaller if there are fewer).\n"
            "* Answers carry an ETag and may be stored privately, to be asked for again each time; a call "
            "and a funder carry Last-Modified, too. "
            "HEAD is answered as GET without content.\n"
            "* The answer is JSON, whatever Accept says; it may be compressed with gzip where Accept-Encoding allows that.\n"
            "* Errors are problem details (RFC 9457), in German."},
        "servers": [{"url": base + "/uhb/funding"}],
        "tags": [{"name": "funding", "description": "Funding calls"}],
        "paths": {
            "/v3/calls/": operation("listCalls", "Funding calls", PARAMETERS["calls"], "CallPage"),
            "/v3/calls/{id}/": operation("getCall", "One funding call", pid("id of the call"), "Call", True),
            "/v3/funders/": operation("listFunders", "Funders, by id", PARAMETERS["funders"], "FunderPage"),
            "/v3/funders/{id}/": operation("getFunder", "One funder", pid("id of the funder"), "Funder", True),
            "/v3/deadlines/": operation("listDeadlines", "Deadlines of all stages of all calls",
                                        PARAMETERS["deadlines"], "DeadlinePage",
                                        text="Deadlines of all stages of all calls, by date, then by call, then "
                                             "by number. The last stage of a call ends on the call's deadline."),
            "/v3/statistics/": operation("getStatistics", "Counts of calls by kind and funder", [], "Statistics",
                                         text="Counts of calls. `by_kind` has every kind, `by_funder` every "
                                              "funder, also with 0."),
        },
        "components": {
            "securitySchemes": {"oauth": {"type": "oauth2", "flows": {"clientCredentials": {
                "tokenUrl": base + "/realms/ris/protocol/openid-connect/token",
                "scopes": {"funding.read": "read funding calls"}}}}},
            "headers": {
                "ETag": {"description": "Validator of this representation.", "schema": {"type": "string"}},
                "Cache-Control": {"description": "private, no-cache", "schema": {"type": "string"}},
                "WWW-Authenticate": {"description": "Challenge (RFC 6750).", "schema": {"type": "string"}},
                "Allow": {"description": "Methods that are there.", "schema": {"type": "string"}},
            },
            "responses": {
                "BadRequest": {"description": "A parameter is wrong.", "content": prob},
                "Unauthorized": {"description": "No valid token.", "content": prob,
                                 "headers": {"WWW-Authenticate": {"$ref": "#/components/headers/WWW-Authenticate"}}},
                "Forbidden": {"description": "The role EXTERNAL_API_CLIENT is missing.", "content": prob,
                              "headers": {"WWW-Authenticate": {"$ref": "#/components/headers/WWW-Authenticate"}}},
                "NotFound": {"description": "No such record.", "content": prob},
                "NotAllowed": {"description": "Only GET, HEAD and OPTIONS.", "content": prob,
                               "headers": {"Allow": {"$ref": "#/components/headers/Allow"}}},
                "PreconditionFailed": {"description": "If-Match or If-Unmodified-Since does not hold.",
                                       "content": prob},
            },
            "schemas": {
                "Meta": obj(["limit", "offset", "total_count", "next", "previous"],
                            limit={"type": "integer", "minimum": 1, "maximum": 100},
                            offset={"type": "integer", "minimum": 0},
                            total_count={"type": "integer", "minimum": 0,
                                         "description": "Records that the filters let through."},
                            next={"type": "string", "format": "uri-reference", "nullable": True},
                            previous={"type": "string", "format": "uri-reference", "nullable": True}),
                "CallPage": page_schema("Call"), "FunderPage": page_schema("Funder"),
                "DeadlinePage": page_schema("Deadline"),
                "Call": obj(["id", "kind", "title", "title_en", "summary", "funder", "opens", "deadline",
                             "budget_eur", "topics", "updated_at", "resource_uri"],
                            id={"type": "string"}, kind={"type": "string", "enum": KINDS},
                            title={"type": "string", "description": "German"},
                            title_en={"type": "string", "nullable": True, "description": "English"},
                            summary={"type": "string", "description": "German"},
                            funder=dict(FUNDER_ID, description="id of the funder"),
                            opens=date, deadline=dict(date, nullable=True),
                            budget_eur={"type": "integer", "format": "int64", "minimum": 0, "nullable": True},
                            topics={"type": "array", "minItems": 1, "uniqueItems": True,
                                    "items": {"type": "string"}},
                            updated_at={"type": "string", "format": "date-time", "description": "UTC"},
                            resource_uri={"type": "string", "format": "uri-reference"}),
                "Funder": obj(["id", "name", "city", "country", "website", "resource_uri"],
                              id=FUNDER_ID, name={"type": "string"}, city={"type": "string"},
                              country={"type": "string", "pattern": "^[A-Z]{2}$"},
                              website={"type": "string", "format": "uri"},
                              resource_uri={"type": "string", "format": "uri-reference"}),
                "Deadline": obj(["call", "number", "label", "date"], call={"type": "string"},
                                number={"type": "integer", "minimum": 1}, label={"type": "string"}, date=date),
                "Statistics": obj(["calls", "by_kind", "by_funder"], calls={"type": "integer", "minimum": 0},
                                  by_kind={"type": "object", "additionalProperties": {"type": "integer"}},
                                  by_funder={"type": "object", "additionalProperties": {"type": "integer"}}),
                "Problem": {"type": "object", "required": ["type", "title", "status"], "properties": {
                    "type": {"type": "string", "format": "uri-reference"}, "title": {"type": "string"},
                    "status": {"type": "integer"}, "detail": {"type": "string"},
                    "parameter": {"type": "string"}}},
            },
        },
    }
