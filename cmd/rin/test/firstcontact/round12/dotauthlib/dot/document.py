"""The OpenAPI document of the funding API of the node."""
from records import FUNDERS, REGIONS, STATES, TYPES

SORTS = ["id", "-id", "closesAt", "-closesAt", "amount", "-amount"]


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def header(text, pattern=None, kind="string"):
    schema = {"type": kind}
    if pattern:
        schema["pattern"] = pattern
    return {"description": text, "required": True, "schema": schema}


def problem(text, challenge=False, allow=False):
    out = {"description": text, "content": {"application/problem+json": {"schema": ref("Problem")}}, "headers": {}}
    if challenge:
        out["headers"]["WWW-Authenticate"] = header("A Bearer challenge (RFC 6750).")
    if allow:
        out["headers"]["Allow"] = header("The methods of the resource.")
    if not out["headers"]:
        del out["headers"]
    return out


def ok(schema, text):
    return {"description": text, "content": {"application/json": {"schema": schema}},
            "headers": {"ETag": header("A strong entity tag; it differs between the plain and the gzip form.", '^"[^"]+"$'),
                        "Cache-Control": header("Always `private, no-cache`."),
                        "Vary": header("Names Authorization, Accept and Accept-Encoding.")}}


def query(name, text, schema, **more):
    return {"name": name, "in": "query", "required": False, "description": text, "schema": schema, **more}


def operation(op, summary, text, schema, params=(), missing=False):
    answers = {"200": ok(schema, "The representation."),
               "304": {"description": "The representation still has the entity tag of If-None-Match.",
                       "headers": {"ETag": header("As in the 200 answer."), "Vary": header("As in the 200 answer."),
                                   "Cache-Control": header("As in the 200 answer.")}},
               "400": problem("A parameter breaks its schema, is repeated although it is no array, or is not declared for the operation; "
                              "or the Authorization header holds the scheme Bearer and no token (this one answer has a challenge)."),
               "401": problem("No token, or one that is not valid here.", challenge=True),
               "403": problem("The token lacks the scope, or the client the role EXTERNAL_API_CLIENT.", challenge=True),
               "406": problem("The Accept header rules out application/json."),
               "412": problem("If-Match names no current entity tag.")}
    if missing:
        answers["404"] = problem("There is no such record.")
    return {"get": {"operationId": op, "summary": summary, "description": text, "parameters": list(params),
                    "security": [{"clientCredentials": ["funding.read"]}], "responses": answers, "tags": ["Funding"]}}


def build(base, token_url):
    page = [query("page", "Number of the page, from 1. A page behind the last one is empty.",
                  {"type": "integer", "format": "int32", "minimum": 1, "maximum": 100000, "default": 1}),
            query("pageSize", "Records on a page.", {"type": "integer", "format": "int32", "minimum": 1, "maximum": 50, "default": 20})]
    filters = [
        query("type", "Only records of this type.", ref("FundingType")),
        query("status", "Only records in this state.", ref("Status")),
        query("region", "Only records that name at least one of these regions. May be repeated.",
              {"type": "array", "items": ref("Region"), "minItems": 1, "maxItems": 9}, style="form", explode=True),
        query("funderId", "Only records of this funder. An id that no funder has gives an empty list.", {"type": "string", "minLength": 1, "maxLength": 40}),
        query("closesFrom", "Only records whose closesAt lies on this UTC day or later; records without closesAt are left out.", {"type": "string", "format": "date"}),
        query("closesUntil", "Only records whose closesAt lies on this UTC day or earlier; records without closesAt are left out.", {"type": "string", "format": "date"}),
        query("q", "Only records one of whose names holds this text; case does not matter (Unicode case folding), no character is a wildcard.",
              {"type": "string", "minLength": 1, "maxLength": 80}),
        query("sort", "Order of the whole list; a minus sign means descending. Records without a value come last in both directions; "
                      "amounts are compared as numbers whatever the currency; equal values are ordered by id, ascending.",
              {"type": "string", "enum": SORTS, "default": "id"})]
    one = [{"name": "id", "in": "path", "required": True, "description": "Id of the record.", "schema": {"type": "string"}}]
    text = {"type": "object", "required": ["lang", "trans", "text"], "additionalProperties": False,
            "properties": {"lang": {"type": "string", "pattern": "^[a-z]{2}$"}, "trans": {"type": "string", "enum": ["O", "H", "M"]}, "text": {"type": "string", "minLength": 1}}}
    call = {"type": "object", "additionalProperties": False,
            "required": ["id", "type", "status", "name", "funder", "opensAt", "closesAt", "volume", "regions", "keywords", "updatedAt"],
            "properties": {
                "id": {"type": "string", "pattern": "^HAL-[0-9]{4}$"}, "type": ref("FundingType"), "status": ref("Status"),
                "name": {"type": "array", "minItems": 1, "items": ref("Text")}, "acronym": {"type": "string"},
                "funder": {"type": "object", "additionalProperties": False, "required": ["id", "name"],
                           "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
                "opensAt": {"type": "string", "format": "date-time"},
                "closesAt": {"type": "string", "format": "date-time", "nullable": True, "description": "Null for an ongoing call."},
                "volume": {"type": "object", "nullable": True, "additionalProperties": False, "required": ["amount", "currency"],
                           "properties": {"amount": {"type": "number", "minimum": 0}, "currency": {"type": "string", "pattern": "^[A-Z]{3}$"}}},
                "regions": {"type": "array", "uniqueItems": True, "items": ref("Region")},
                "keywords": {"type": "array", "uniqueItems": True, "minItems": 1, "items": {"type": "string"}},
                "updatedAt": {"type": "string", "format": "date-time"}}}
    funder = {"type": "object", "additionalProperties": False, "required": ["id", "name", "funderType", "callCount"],
              "properties": {"id": {"type": "string"}, "name": {"type": "string"}, "funderType": {"type": "string", "enum": ["PUBLIC", "PRIVATE", "FOUNDATION"]},
                             "callCount": {"type": "integer", "format": "int32", "minimum": 0, "description": "Number of records of this funder in the list of calls."}}}
    link = {"type": "string", "format": "uri-reference", "nullable": True}
    paged = {"type": "object", "additionalProperties": False, "required": ["data", "meta", "links"],
             "properties": {"data": {"type": "array", "maxItems": 50, "items": ref("FundingCall")},
                            "meta": {"type": "object", "additionalProperties": False, "required": ["page", "pageSize", "totalItems", "totalPages"],
                                     "properties": {n: {"type": "integer", "format": "int32", "minimum": 0} for n in ("page", "pageSize", "totalItems", "totalPages")}},
                            "links": {"type": "object", "additionalProperties": False, "required": ["self", "first", "prev", "next"],
                                      "description": "References that keep all filters, the sort order and the page size. next is null on the last page and behind it; prev is null on page 1.",
                                      "properties": {"self": {"type": "string", "format": "uri-reference"}, "first": {"type": "string", "format": "uri-reference"},
                                                     "prev": link, "next": link}}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Hallein Funding API", "version": "3.2.0",
                 "description": "Annotated funding calls of the node Hallein. Access needs a token of the client credentials flow, the scope `funding.read` and the role "
                                "EXTERNAL_API_CLIENT. Errors of the API are problem details (RFC 9457). Query parameters that an operation does not declare are answered with 400. "
                                "GET, HEAD and OPTIONS are the only methods; others are answered with 405 and Allow. Successful answers of 400 bytes and more are sent with gzip when "
                                "Accept-Encoding asks for it. A record of the list equals the record that its own address gives. Messages that are no proper HTTP, whose "
                                "method is not written in capital letters, or that are too large (32 KiB of headers, 1 MiB of body) are refused by the HTTP server itself, in plain text, with 400, 413 or 431."},
        "servers": [{"url": base}],
        "tags": [{"name": "Funding", "description": "Funding calls and funders"}],
        "paths": {
            "/calls": operation("listCalls", "List funding calls", "All filters are joined by AND.", ref("CallPage"), filters + page),
            "/calls/{id}": operation("getCall", "One funding call", "The record with this id.", ref("FundingCall"), one, True),
            "/funders": operation("listFunders", "List funders", "All funders, ordered by id, not paged.", {"type": "array", "items": ref("Funder")}),
            "/funders/{id}": operation("getFunder", "One funder", "The funder with this id.", ref("Funder"), one, True)},
        "components": {
            "securitySchemes": {"clientCredentials": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token_url,
                                "scopes": {"funding.read": "Read funding calls", "info.read": "Read the info endpoint"}}}}},
            "schemas": {
                "FundingType": {"type": "string", "enum": TYPES}, "Status": {"type": "string", "enum": STATES}, "Region": {"type": "string", "enum": REGIONS},
                "Text": text, "FundingCall": call, "Funder": funder, "CallPage": paged,
                "Problem": {"type": "object", "required": ["type", "title", "status", "detail"],
                            "properties": {"type": {"type": "string", "format": "uri-reference"}, "title": {"type": "string"},
                                           "status": {"type": "integer", "minimum": 400, "maximum": 599, "description": "The status code of the answer."},
                                           "detail": {"type": "string"}, "parameter": {"type": "string", "description": "The parameter that is wrong."}}}}}}
