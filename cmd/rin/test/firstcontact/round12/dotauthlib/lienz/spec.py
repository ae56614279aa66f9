"""The OpenAPI document of the funding API."""
from data import DISCIPLINES, SCHEMES, STATES

ORDERS = ["callId", "openUntil", "maximumGrant", "lastChanged"]


def schema(name):
    return {"$ref": f"#/components/schemas/{name}"}


def hdr(text, required=True, **kind):
    return {"description": text, "required": required, "schema": kind or {"type": "string"}}


def fault(text, **headers):
    out = {"description": text, "content": {"application/json": {"schema": schema("Error")}}}
    if headers:
        out["headers"] = {k.replace("_", "-"): hdr(v) for k, v in headers.items()}
    return out


def param(name, text, kind, **more):
    return {"name": name, "in": "query", "description": text, "schema": kind, **more}


def get(op, summary, text, answer, params=(), headers=None, missing=False, dated=False, checks=True):
    caching = {"ETag": hdr("A strong entity tag."), "Cache-Control": hdr("Always `private, max-age=0, must-revalidate`."), "Vary": hdr("Authorization.")}
    if dated:
        caching["Last-Modified"] = hdr("The moment of lastChanged.")
    responses = {
        "200": {"description": "The answer.", "headers": {**caching, **(headers or {})}, "content": {"application/json": {"schema": answer}}},
        "304": {"description": "Nothing has changed since the given entity tag" + (" or date" if dated else "") + ".", "headers": caching},
        "400": fault("The Authorization header has no token after the word Bearer, or the token is sent in two ways." + (" Or a parameter breaks its schema or is repeated." if checks else "")),
        "401": fault("No token, or none that is valid here.", WWW_Authenticate="A challenge with the scheme Bearer."),
        "403": fault("The client does not have the role EXTERNAL_API_CLIENT.", WWW_Authenticate="A challenge with error=\"insufficient_scope\"."),
        "412": fault("A precondition of the request (If-Match" + (", If-Unmodified-Since" if dated else "") + ") is false.")}
    if missing:
        responses["404"] = fault("No call has this number. This is also the answer to an id that is no number.")
    return {"get": {"operationId": op, "summary": summary, "description": text, "parameters": list(params), "security": [{"realm": ["ris"]}], "responses": responses}}


def build(server, token_url):
    filters = [
        param("state", "Calls in one of these states, separated by commas.", {"type": "array", "items": schema("State"), "minItems": 1, "maxItems": 3}, style="form", explode=False),
        param("scheme", "Calls of this scheme.", schema("Scheme")),
        param("discipline", "Calls whose disciplines hold this code.", {"type": "string", "pattern": "^[1-6]\\.[0-9]{2}$", "examples": DISCIPLINES[:2]}),
        param("openOn", "Calls that are open on this day: openFrom is that day or earlier, and openUntil is that day, later, or null.", {"type": "string", "format": "date"}),
        param("changedSince", "Calls whose lastChanged is at this moment or later. Any offset of RFC 3339 is understood.", {"type": "string", "format": "date-time"}),
        param("minGrant", "Calls whose maximumGrant is at least this; calls without a maximumGrant are left out.", {"type": "integer", "minimum": 0, "maximum": 100000000}),
        param("text", "Calls whose title or reference holds this text, in upper or lower case (Unicode case folding). It is taken literally.", {"type": "string", "minLength": 2, "maxLength": 60}),
        param("order", "What the whole list is ordered by, before it is cut into pages. Calls without the value come last, equal ones in ascending order of callId.",
              {"type": "string", "enum": ORDERS, "default": "callId"}),
        param("direction", "Whether the values of `order` rise or fall.", {"type": "string", "enum": ["asc", "desc"], "default": "asc"}),
        param("offset", "How many calls of the list to skip. Beyond the end the answer is an empty array.", {"type": "integer", "minimum": 0, "maximum": 1000000, "default": 0}),
        param("limit", "How many calls to answer at most.", {"type": "integer", "minimum": 1, "maximum": 40, "default": 25})]
    one = [{"name": "callId", "in": "path", "required": True, "description": "Number of the call.", "schema": {"type": "integer", "minimum": 1}}]
    short = {"callId": {"type": "integer", "minimum": 1}, "reference": {"type": "string", "pattern": "^LZ/[0-9]{4}/[0-9]{3}$"}, "title": {"type": "string", "minLength": 1},
             "scheme": schema("Scheme"), "state": schema("State"), "openFrom": {"type": "string", "format": "date"}, "openUntil": {"type": ["string", "null"], "format": "date"},
             "maximumGrant": {"type": ["integer", "null"], "minimum": 0, "description": "In whole units of the currency."}, "lastChanged": {"type": "string", "format": "date-time"}}
    more = {"currency": {"type": "string", "pattern": "^[A-Z]{3}$"}, "abstract": {"type": "string"},
            "sponsor": {"type": "object", "required": ["code", "label"], "additionalProperties": False, "properties": {"code": {"type": "string"}, "label": {"type": "string"}}},
            "disciplines": {"type": "array", "minItems": 1, "uniqueItems": True, "items": {"type": "string", "pattern": "^[1-6]\\.[0-9]{2}$"}}}
    count = {"type": "integer", "minimum": 0}
    listed = {"X-Total-Count": hdr("How many calls the filters leave, on all pages.", type="integer", minimum=0),
              "Link": hdr("RFC 8288: the relations first and last, next unless nothing follows, prev unless the offset is 0. The targets keep every filter.")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "Lienz: Förderausschreibungen", "version": "3.0.4", "summary": "Funding calls of the node Lienz",
                 "description": "Read access to annotated funding calls for other institutions. Get a token with the client credentials flow and send it as bearer token; the client needs "
                                "the role EXTERNAL_API_CLIENT. Access tokens are JWTs (RFC 9068). Every representation is application/json, whatever Accept says. Query parameters that are "
                                "not named here are ignored. A resource can be read with GET and HEAD; other methods get 405 and Allow, and OPTIONS tells the methods. "
                                "Errors have the form of the schema Error, except those of the HTTP server itself (400, 413, 431, in plain text): it refuses messages that are no "
                                "proper HTTP, methods that are not in capital letters, more than 32 KiB of headers and more than 1 MiB of body."},
        "servers": [{"url": server}],
        "paths": {
            "/fundingCalls": get("searchFundingCalls", "Search funding calls", "Filters are combined with AND. The answer holds the summaries; the members of a summary have the same values in the full record.",
                                 {"type": "array", "maxItems": 40, "items": schema("Summary")}, filters, listed),
            "/fundingCalls/{callId}": get("readFundingCall", "Read one funding call", "The full record.", schema("FundingCall"), one, missing=True, dated=True, checks=False),
            "/statistics": get("readStatistics", "Numbers of calls", "Counts over all calls of the node, without filters.", schema("Statistics"), checks=False)},
        "components": {
            "securitySchemes": {"realm": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": {"ris": "Read the node"}}}}},
            "schemas": {
                "Scheme": {"type": "string", "enum": SCHEMES}, "State": {"type": "string", "enum": STATES},
                "Summary": {"type": "object", "required": list(short), "additionalProperties": False, "properties": short},
                "FundingCall": {"type": "object", "required": list(short) + list(more), "additionalProperties": False, "properties": {**short, **more}},
                "Statistics": {"type": "object", "required": ["total", "byState", "byScheme"], "additionalProperties": False, "properties": {
                    "total": count,
                    "byState": {"type": "object", "required": STATES, "additionalProperties": False, "properties": {s: count for s in STATES}},
                    "byScheme": {"type": "object", "required": SCHEMES, "additionalProperties": False, "properties": {s: count for s in SCHEMES}}}},
                "Error": {"type": "object", "required": ["error"], "additionalProperties": False, "properties": {"error": {
                    "type": "object", "required": ["status", "code", "message"], "additionalProperties": False, "properties": {
                        "status": {"type": "integer", "description": "The status code of the answer."},
                        "code": {"type": "string", "enum": ["bad_request", "invalid_parameter", "unauthorized", "forbidden", "not_found", "method_not_allowed", "precondition_failed", "internal"]},
                        "message": {"type": "string"}, "target": {"type": "string", "description": "Name of the parameter that is wrong; only with the code invalid_parameter."}}}}}}}}
