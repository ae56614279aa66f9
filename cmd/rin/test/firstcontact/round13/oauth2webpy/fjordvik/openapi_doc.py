"""The API document of Fjordvik's funding service (OpenAPI 3.1)."""
from calls import FUNDERS, REGIONS, TOPICS


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def error(description, challenge=False):
    headers = {"headers": {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}, "description": "Bearer challenge (RFC 6750)"}}} if challenge else {}
    return {"description": description, **headers, "content": {"application/json": {"schema": ref("Error")}}}


def query(name, schema, description, **more):
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema, **more}


LANGUAGE = {
    "name": "Accept-Language", "in": "header", "required": False, "schema": {"type": "string"}, "example": "nb",
    "description": "Language of the texts: en or nb; en if neither is accepted",
}
OK_HEADERS = {
    "ETag": {"schema": {"type": "string"}, "description": "Strong entity tag; the gzip-coded form has its own"},
    "Content-Language": {"schema": {"type": "string", "enum": ["en", "nb"]}},
}
COMMON = {
    "304": {"description": "Not modified (If-None-Match)"},
    "400": error("A documented parameter is outside of its schema or is repeated although it is no list; or the request is malformed"),
    "401": error("No valid access token for this API", True),
    "403": error("The service account lacks the role EXTERNAL_API_CLIENT", True),
    "412": error("If-Match does not hold"),
}


def ok(schema, language=True):
    headers = OK_HEADERS if language else {"ETag": OK_HEADERS["ETag"]}
    return {"description": "Success", "headers": headers, "content": {"application/json": {"schema": schema}}}


def document(base, api, token_url, relative=False):
    date = {"type": "string", "format": "date"}
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Utlysninger: funding calls of Fjordvik",
            "version": "3.0.1",
            "description": (
                "Funding calls annotated by Universitetet i Fjordvik. Every operation needs an access token (JWT, RFC 9068) of the production "
                "realm and the role EXTERNAL_API_CLIENT. The service always answers in JSON. Parameters that are not documented here are ignored; "
                "only access_token beside the header Authorization is answered with 400 (RFC 6750, 2). "
                "A call with visibility AFFILIATION is shown only to clients of the affiliation that it belongs to; "
                "for all others it does not exist: it is in no list, in no number, and reading it gives 404. "
                "HEAD and OPTIONS are offered wherever GET is; other methods are answered with 405 and Allow."
            ),
        },
        "servers": [{"url": base + api}],
        "security": [{"realm": ["calls:read"]}],
        "paths": {
            "/calls": {"get": {
                "operationId": "listCalls",
                "summary": "Search funding calls",
                "description": (
                    "Calls that satisfy all given filters, a page at a time. "
                    + ("paging.next refers to the next page, relative to the address of this one; the last page is empty and has null. " if relative
                       else "paging.next is the address of the next page, or null on the last one; ") +
                    "it carries all parameters and a cursor. meta.total is the number of calls on all pages. "
                    "A cursor is good for the same filters, order and language only; anything else is answered with 400."
                ),
                "parameters": [
                    query("limit", {"type": "integer", "minimum": 1, "maximum": 40, "default": 12}, "Calls on a page", example=12),
                    query("cursor", {"type": "string", "minLength": 1, "maxLength": 400}, "Place to go on at, from paging.next; opaque"),
                    query("sort", {"type": "string", "enum": ["closesAt", "-closesAt", "title", "-title", "maxAmount", "-maxAmount", "callId"], "default": "closesAt"},
                          "Order; a minus sign means descending. title is the title in the language of the answer, by code point; maxAmount is budget.max. "
                          "Calls without closesAt come last in both directions. Equal calls are ordered by callId, ascending.", example="-maxAmount"),
                    query("region", {"type": "array", "items": ref("Region")}, "Only calls that name at least one of these regions; the parameter may be repeated",
                          style="form", explode=True, example=["NO-46"]),
                    query("funder", {"type": "string", "minLength": 1, "maxLength": 20}, "Only calls of the funder with exactly this code", example="NFR"),
                    query("status", ref("Status"), "Only calls with this status now", example="OPEN"),
                    query("closesFrom", date, "Only calls that close on this day (UTC) or later", example="2026-03-15"),
                    query("closesTo", date, "Only calls that close on this day (UTC) or earlier", example="2026-12-31"),
                    query("minAmount", {"type": "integer", "minimum": 0, "maximum": 50000000}, "Only calls whose budget.max is at least this", example=1000000),
                    query("query", {"type": "string", "minLength": 2, "maxLength": 40}, "Text that occurs in the title (in the language of the answer), without regard to case", example="arctic"),
                    LANGUAGE,
                ],
                "responses": {"200": ok(ref("CallPage")), **COMMON},
            }},
            "/calls/{callId}": {"get": {
                "operationId": "getCall",
                "summary": "Read one funding call",
                "parameters": [
                    {"name": "callId", "in": "path", "required": True, "schema": {"type": "string"}, "example": "FJV-101", "description": "Identifier of the call, percent-encoded"},
                    LANGUAGE,
                ],
                "responses": {"200": ok(ref("CallDetail")), **COMMON, "404": error("There is no such call for this client")},
            }},
            "/funders": {"get": {
                "operationId": "listFunders",
                "summary": "All funders by code, with the number of their calls",
                "parameters": [LANGUAGE],
                "responses": {"200": ok(ref("FunderList")), **COMMON},
            }},
            "/regions": {"get": {
                "operationId": "listRegions",
                "summary": "All regions, with the number of the calls that name them",
                "responses": {"200": ok(ref("RegionList"), language=False), **COMMON},
            }},
        },
        "components": {
            "securitySchemes": {"realm": {
                "type": "oauth2",
                "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": {"calls:read": "Read funding calls"}}},
            }},
            "schemas": {
                "Region": {"type": "string", "enum": REGIONS, "description": "ISO 3166-2"},
                "Topic": {"type": "string", "enum": TOPICS},
                "Status": {"type": "string", "enum": ["UPCOMING", "OPEN", "CLOSED"], "description": "UPCOMING before opensAt, CLOSED after closesAt, else OPEN"},
                "Funder": {"type": "string", "enum": sorted(FUNDERS)},
                "Budget": {
                    "type": "object", "required": ["min", "max", "currency"],
                    "properties": {"min": {"type": "integer", "minimum": 0}, "max": {"type": "integer", "minimum": 0}, "currency": {"const": "NOK"}},
                },
                "Call": {
                    "type": "object",
                    "required": ["callId", "title", "funder", "status", "opensAt", "closesAt", "budget", "regions", "topics", "visibility"],
                    "properties": {
                        "callId": {"type": "string"},
                        "title": {"type": "string"},
                        "funder": ref("Funder"),
                        "status": ref("Status"),
                        "opensAt": {"type": "string", "format": "date-time"},
                        "closesAt": {"type": ["string", "null"], "format": "date-time", "description": "null: applications at any time"},
                        "budget": ref("Budget"),
                        "regions": {"type": "array", "items": ref("Region"), "description": "empty: the whole country"},
                        "topics": {"type": "array", "items": ref("Topic")},
                        "visibility": {"type": "string", "enum": ["NETWORK", "AFFILIATION"]},
                    },
                },
                "CallDetail": {"allOf": [ref("Call"), {
                    "type": "object", "required": ["summary", "maxMonths", "coFunding", "contact"],
                    "properties": {
                        "summary": {"type": "string"},
                        "maxMonths": {"type": "integer", "minimum": 1},
                        "coFunding": {"type": "number", "minimum": 0, "maximum": 1, "description": "Share that the applicant pays"},
                        "contact": {"type": "object", "required": ["name", "email"], "properties": {"name": {"type": "string"}, "email": {"type": "string", "format": "email"}}},
                    },
                }]},
                "CallPage": {
                    "type": "object", "required": ["data", "meta", "paging"],
                    "properties": {
                        "data": {"type": "array", "maxItems": 40, "items": ref("Call")},
                        "meta": {
                            "type": "object", "required": ["total", "count", "limit"],
                            "properties": {
                                "total": {"type": "integer", "minimum": 0, "description": "Calls on all pages"},
                                "count": {"type": "integer", "minimum": 0, "description": "Calls on this page"},
                                "limit": {"type": "integer", "minimum": 1},
                            },
                        },
                        "paging": {"type": "object", "required": ["next"], "properties": {"next": {"type": ["string", "null"], "format": "uri-reference" if relative else "uri"}}},
                    },
                },
                "FunderList": {
                    "type": "object", "required": ["data", "meta"],
                    "properties": {
                        "data": {"type": "array", "items": {
                            "type": "object", "required": ["code", "name", "calls"],
                            "properties": {"code": ref("Funder"), "name": {"type": "string"}, "calls": {"type": "integer", "minimum": 0}},
                        }},
                        "meta": ref("Total"),
                    },
                },
                "RegionList": {
                    "type": "object", "required": ["data", "meta"],
                    "properties": {
                        "data": {"type": "array", "items": {
                            "type": "object", "required": ["region", "calls", "open"],
                            "properties": {"region": ref("Region"), "calls": {"type": "integer", "minimum": 0}, "open": {"type": "integer", "minimum": 0, "description": "of these, calls with status OPEN"}},
                        }},
                        "meta": ref("Total"),
                    },
                },
                "Total": {"type": "object", "required": ["total"], "properties": {"total": {"type": "integer", "minimum": 0}}},
                "Error": {
                    "type": "object", "required": ["error", "message"],
                    "properties": {
                        "error": {"type": "string", "description": "Code of the error"},
                        "message": {"type": "string"},
                        "parameter": {"type": "string", "description": "The parameter that is wrong"},
                    },
                },
            },
        },
    }
