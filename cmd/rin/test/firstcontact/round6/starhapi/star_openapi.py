"""The OpenAPI document of the funding API, written by hand."""
import copy
import json

INTRO = """Annotated funding calls for external API clients.

**Access.** Every operation needs an access token of this node's authorization server (client credentials), sent as
`Authorization: Bearer <token>`. Tokens are signed JWTs (RFC 9068, RS256) with a lifetime of 300 seconds; the keys are published in the
JWK set of the authorization server. Tokens in the query or in a form are not read. A request without a valid token of the production
server that is meant for this API (audience `urn:rin:alpine:api`) is answered with 401; tokens of the staging server are not valid here. Authorization
is checked before parameters, and before anything is looked up.

**Roles and scopes.** The service account must have the role EXTERNAL_API_CLIENT, and the token the scope `funding:read`; else every operation
answers 403. A client may ask for less than it has: a token with the scope `info:read` alone opens only the info endpoint.

**Info.** `/api/info/v1/oauth/info/` answers 200 to every valid token of the production server that is meant for this node's API, with the role or without, and 401 to all else.

**Languages.** Titles, descriptions and names are given in German or English, by Accept-Language; English is the default. Content-Language tells which.

**Caching.** Answers carry a strong ETag and `Cache-Control: private, max-age=30`; If-None-Match is honoured. They vary by Accept-Language and Accept.

**Parameters.** A parameter that is not documented, is given more often than documented, or has a value outside its schema is refused with 400.

**Errors** are problem details (RFC 9457).

**Try-out.** The [reference](/docs/funding) has a try-out mode with sample data at `/docs/funding/try-out/calls`; it needs no token."""


def ref(name, kind="schemas"):
    return {"$ref": f"#/components/{kind}/{name}"}


HEADERS = {
    "ETag": {"description": "Strong validator of this representation.", "required": True, "schema": {"type": "string"}},
    "Content-Language": {"description": "Language of the texts.", "schema": {"type": "string", "enum": ["de", "en"]}},
    "Cache-Control": {"schema": {"type": "string"}},
    "Vary": {"schema": {"type": "string"}},
}


def ok(description, schema, media="application/json", **more):
    headers = {name: ref(name.replace("-", ""), "headers") for name in HEADERS}
    headers.update(more)
    return {"description": description, "headers": headers, "content": {media: {"schema": schema}}}


def responses(success, *errors):
    named = {"304": "NotModified", "400": "BadRequest", "401": "Unauthorized", "403": "Forbidden", "404": "NotFound", "406": "NotAcceptable", "412": "PreconditionFailed"}
    out = {"200": success}
    for code in sorted({"304", "400", "401", "403", "406", "412", *errors}):
        out[code] = ref(named[code], "responses")
    return out


LANG = ref("AcceptLanguage", "parameters")
INM = ref("IfNoneMatch", "parameters")
CALL_ID = ref("CallId", "parameters")


def problem(description, headers=None):
    out = {"description": description, "content": {"application/problem+json": {"schema": ref("Problem")}}}
    if headers:
        out["headers"] = headers
    return out


CHALLENGE = {"WWW-Authenticate": {"required": True, "schema": {"type": "string"}}}


def document(origin):
    call_props = {
        "id": {"type": "string", "pattern": "^fc_[a-z2-7]{8}$", "example": "fc_abcd2345"},
        "title": {"type": "string", "minLength": 1},
        "status": ref("Status"),
        "funder": ref("FunderRef"),
        "disciplines": {"type": "array", "minItems": 1, "uniqueItems": True, "items": ref("Discipline")},
        "publishedAt": {"type": "string", "format": "date-time"},
        "deadline": {"type": "string", "format": "date-time", "nullable": True, "description": "Null: applications are accepted at any time."},
        "amount": ref("Amount"),
        "links": {"type": "object", "required": ["self"], "properties": {"self": {"type": "string", "format": "uri"}}},
    }
    detail_props = dict(call_props)
    detail_props.update({
        "description": {"type": "string"},
        "opensAt": {"type": "string", "format": "date-time"},
        "fundingRate": {"type": "number", "minimum": 0, "maximum": 1, "description": "Share of the costs that is funded."},
        "contact": {"nullable": True, "allOf": [ref("Contact")], "type": "object"},
        "annotations": {"type": "array", "items": ref("Annotation")},
        "documentCount": {"type": "integer", "format": "int32", "minimum": 0},
    })
    return {
        "openapi": "3.0.3",
        "info": {"title": "Alpine node: funding API", "version": "3.4.0", "description": INTRO,
                 "contact": {"name": "Node operations", "email": "api@alpine.example"}},
        "externalDocs": {"url": f"{origin}/docs/funding", "description": "Reference"},
        "servers": [{"url": f"{origin}/api/funding/v3"}],
        "tags": [{"name": "calls"}, {"name": "funders"}, {"name": "statistics"}],
        "security": [{"oauth": ["funding:read"]}],
        "paths": {
            "/calls": {"get": {
                "operationId": "listCalls", "tags": ["calls"], "summary": "List funding calls",
                "description": "Filters are combined with AND. Every call is on exactly one page; a page beyond the last one is empty.",
                "parameters": [
                    {"name": "page", "in": "query", "description": "Number of the page, from 1.", "schema": {"type": "integer", "minimum": 1, "maximum": 100000, "default": 1}},
                    {"name": "size", "in": "query", "description": "Calls on a page.", "schema": {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}},
                    {"name": "status", "in": "query", "schema": ref("Status")},
                    {"name": "funder", "in": "query", "description": "Id of a funder. An id that no funder has selects nothing.", "schema": {"type": "string", "pattern": "^[a-z]{2,12}$"}},
                    {"name": "discipline", "in": "query", "description": "May be repeated: calls of any of the disciplines.", "style": "form", "explode": True,
                     "schema": {"type": "array", "items": ref("Discipline"), "maxItems": 10}},
                    {"name": "q", "in": "query", "description": "Calls whose title, in either language, contains this text; case is ignored.", "schema": {"type": "string", "minLength": 2, "maxLength": 100}},
                    {"name": "deadlineFrom", "in": "query", "description": "Calls whose deadline is on this day (UTC) or later. Calls without deadline are not selected.", "schema": {"type": "string", "format": "date"}},
                    {"name": "deadlineTo", "in": "query", "description": "Calls whose deadline is on this day (UTC) or earlier. Calls without deadline are not selected.", "schema": {"type": "string", "format": "date"}},
                    {"name": "sort", "in": "query", "description": "Order; a minus sign reverses it. Calls without deadline come last in both orders by deadline; equals are ordered by id, ascending.",
                     "schema": {"type": "string", "enum": ["deadline", "-deadline", "publishedAt", "-publishedAt"], "default": "-publishedAt"}},
                    LANG, INM],
                "responses": responses(ok("A page of calls.", ref("CallPage"), Link={
                    "description": "The pages first, prev, next and last of the same selection, in the same size and order (RFC 8288).", "schema": {"type": "string"}}))}},
            "/calls/{callId}": {"parameters": [CALL_ID], "get": {
                "operationId": "getCall", "tags": ["calls"], "summary": "Read a funding call", "parameters": [LANG, INM],
                "responses": responses(ok("The call.", ref("Call")), "404")}},
            "/calls/{callId}/documents": {"parameters": [CALL_ID], "get": {
                "operationId": "listCallDocuments", "tags": ["calls"], "summary": "List the documents of a call", "parameters": [LANG, INM],
                "responses": responses(ok("All documents of the call.", {"type": "array", "items": ref("Document")}), "404")}},
            "/calls/{callId}/documents/{documentId}": {
                "parameters": [CALL_ID, {"name": "documentId", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^d-[a-z2-7]{6}$"}}],
                "get": {"operationId": "readCallDocument", "tags": ["calls"], "summary": "Read the content of a document", "parameters": [LANG, INM],
                        "description": "The content as it was issued, in English.",
                        "responses": responses(ok("The content: `size` bytes with the digest `sha256`.", {"type": "string"}, "text/markdown"), "404")}},
            "/funders": {"get": {
                "operationId": "listFunders", "tags": ["funders"], "summary": "List all funders", "parameters": [LANG, INM],
                "responses": responses(ok("All funders, by id.", {"type": "array", "items": ref("Funder")}))}},
            "/funders/{funderId}": {"get": {
                "operationId": "getFunder", "tags": ["funders"], "summary": "Read a funder",
                "parameters": [{"name": "funderId", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^[a-z]{2,12}$"}}, LANG, INM],
                "responses": responses(ok("The funder.", ref("Funder")), "404")}},
            "/statistics": {"get": {
                "operationId": "getStatistics", "tags": ["statistics"], "summary": "Count the calls", "parameters": [LANG, INM],
                "responses": responses(ok("Numbers over all calls of the list.", ref("Statistics")))}},
        },
        "components": {
            "securitySchemes": {"oauth": {"type": "oauth2", "flows": {"clientCredentials": {
                "tokenUrl": f"{origin}/realms/rin/protocol/openid-connect/token",
                "scopes": {"info:read": "Read the info resource", "funding:read": "Read funding calls; needs the role EXTERNAL_API_CLIENT"}}}}},
            "parameters": {
                "CallId": {"name": "callId", "in": "path", "required": True, "schema": {"type": "string", "pattern": "^fc_[a-z2-7]{8}$"}},
                "AcceptLanguage": {"name": "Accept-Language", "in": "header", "schema": {"type": "string"}, "example": "de-AT, en;q=0.5"},
                "IfNoneMatch": {"name": "If-None-Match", "in": "header", "schema": {"type": "string"}},
            },
            "headers": {k.replace("-", ""): v for k, v in HEADERS.items()},
            "responses": {
                "NotModified": {"description": "The representation has the entity tag given in If-None-Match."},
                "BadRequest": problem("A parameter is not acceptable; `errors` tells which."),
                "Unauthorized": problem("No valid access token.", CHALLENGE),
                "Forbidden": problem("The token lacks the scope, or the client the role.", CHALLENGE),
                "NotFound": problem("There is no such resource."),
                "NotAcceptable": problem("Accept excludes the media type of the resource."),
                "PreconditionFailed": problem("If-Match does not name the current representation."),
            },
            "schemas": {
                "Status": {"type": "string", "enum": ["forthcoming", "open", "closed"]},
                "Discipline": {"type": "string", "enum": sorted(["physics", "earth-sciences", "humanities", "medicine", "computer-science", "economics", "engineering", "biology", "mathematics", "law", "chemistry"])},
                "FunderRef": {"type": "object", "required": ["id", "name"], "properties": {"id": {"type": "string"}, "name": {"type": "string"}}, "additionalProperties": False},
                "Amount": {"type": "object", "required": ["currency", "max"], "additionalProperties": False, "properties": {
                    "currency": {"type": "string", "pattern": "^[A-Z]{3}$"},
                    "max": {"type": "integer", "format": "int64", "minimum": 0, "description": "Most that one project may get, in units of the currency."}}},
                "Contact": {"type": "object", "required": ["name", "email"], "properties": {"name": {"type": "string"}, "email": {"type": "string", "format": "email"}}},
                "Annotation": {"type": "object", "required": ["affiliation", "note"], "properties": {"affiliation": {"type": "string"}, "note": {"type": "string"}}},
                "CallSummary": {"type": "object", "required": list(call_props), "additionalProperties": False, "properties": call_props},
                "Call": {"type": "object", "required": list(detail_props), "additionalProperties": False, "properties": detail_props},
                "CallPage": {"type": "object", "required": ["items", "page", "size", "total", "pages"], "additionalProperties": False, "properties": {
                    "items": {"type": "array", "maxItems": 50, "items": ref("CallSummary")},
                    "page": {"type": "integer", "minimum": 1, "description": "The page asked for."},
                    "size": {"type": "integer", "minimum": 1, "maximum": 50, "description": "The size asked for."},
                    "total": {"type": "integer", "minimum": 0, "description": "Number of calls that the filters select."},
                    "pages": {"type": "integer", "minimum": 0, "description": "Number of pages: total / size, rounded up."}}},
                "Document": {"type": "object", "required": ["id", "name", "mediaType", "size", "sha256", "url"], "additionalProperties": False, "properties": {
                    "id": {"type": "string", "pattern": "^d-[a-z2-7]{6}$"}, "name": {"type": "string"}, "mediaType": {"type": "string"},
                    "size": {"type": "integer", "minimum": 0}, "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"}, "url": {"type": "string", "format": "uri"}}},
                "Funder": {"type": "object", "required": ["id", "name", "country", "callCount"], "additionalProperties": False, "properties": {
                    "id": {"type": "string", "pattern": "^[a-z]{2,12}$"}, "name": {"type": "string"}, "country": {"type": "string", "pattern": "^[A-Z]{2}$"},
                    "callCount": {"type": "integer", "minimum": 0, "description": "Number of calls of the list that are this funder's."}}},
                "Statistics": {"type": "object", "required": ["total", "byStatus"], "additionalProperties": False, "properties": {
                    "total": {"type": "integer", "minimum": 0},
                    "byStatus": {"type": "object", "required": ["forthcoming", "open", "closed"], "additionalProperties": False,
                                 "properties": {s: {"type": "integer", "minimum": 0} for s in ("forthcoming", "open", "closed")}}}},
                "Problem": {"type": "object", "required": ["type", "title", "status"], "properties": {
                    "type": {"type": "string", "format": "uri-reference"}, "title": {"type": "string"},
                    "status": {"type": "integer", "description": "The status code of the answer."}, "detail": {"type": "string"},
                    "errors": {"type": "array", "items": {"type": "object", "required": ["parameter", "detail"], "properties": {"parameter": {"type": "string"}, "detail": {"type": "string"}}}}}},
            },
        },
    }


def int32(doc):
    doc["components"]["schemas"]["Amount"]["properties"]["max"]["format"] = "int32"
    return doc


def hidden(doc):
    doc["info"]["description"] = doc["info"]["description"].replace(
        "else every operation\nanswers 403.",
        "else\nno resource of this API exists for the client: every operation answers 404 (RFC 9110, section 15.5.4: a server may hide a forbidden resource).")
    for item in doc["paths"].values():
        answers = item["get"]["responses"]
        del answers["403"]
        answers["404"] = ref("NotFound", "responses")
        item["get"]["responses"] = dict(sorted(answers.items()))
    del doc["components"]["responses"]["Forbidden"]
    doc["components"]["responses"]["NotFound"]["description"] = "There is no such resource, or the token lacks the scope, or the client the role."
    return doc


def exponents(doc):
    amount = doc["components"]["schemas"]["Amount"]["properties"]["max"]
    amount.update({"type": "number", "description": amount["description"] + " Written with an exponent, as JSON (RFC 8259, section 6) allows."})
    del amount["format"]
    doc["info"]["description"] += "\n\n**JSON.** Texts are written in ASCII, with the escapes of RFC 8259, section 7; whitespace between tokens has no meaning."
    return doc


def links(doc):
    doc["info"]["description"] += ("\n\n**Links.** Link fields are to be read by the grammar of RFC 8288: targets may be relative references, parameters may be of any case and without quotes, "
                                   "a link may have several relation types, and there may be several fields and other links.")
    doc["components"]["schemas"]["CallPage"]["description"] = "See Link for the other pages."
    return doc


def modern(doc):
    """The same interface in the words of OpenAPI 3.1."""
    def walk(node):
        if isinstance(node, dict):
            if node.pop("nullable", False):
                if "allOf" in node:
                    node["anyOf"] = [*node.pop("allOf"), {"type": "null"}]
                    node.pop("type")
                else:
                    node["type"] = [node["type"], "null"]
            if isinstance(node.get("example"), str) and "type" in node:
                node["examples"] = [node.pop("example")]
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)
    walk(doc)
    doc["openapi"] = "3.1.0"
    doc["jsonSchemaDialect"] = "https://json-schema.org/draft/2020-12/schema"
    doc["info"]["summary"] = "Annotated funding calls"
    doc["info"]["license"] = {"name": "CC0 1.0", "identifier": "CC0-1.0"}
    doc["servers"] = [{"url": "../../{area}/v3", "description": "Relative to this document.",
                       "variables": {"area": {"default": "funding", "enum": ["funding"]}}}]
    schemas = doc["components"]["schemas"]
    summary, call = schemas["CallSummary"], schemas["Call"]
    own = {k: v for k, v in call["properties"].items() if k not in summary["properties"]}
    base = {"type": "object", "required": summary["required"], "properties": summary["properties"]}
    schemas["CallBase"] = base
    schemas["CallSummary"] = {"$ref": "#/components/schemas/CallBase", "description": "A call as lists show it.", "unevaluatedProperties": False}
    schemas["Call"] = {"allOf": [ref("CallBase")], "properties": own, "required": list(own), "unevaluatedProperties": False,
                       "if": {"properties": {"status": {"const": "closed"}}}, "then": {"properties": {"deadline": {"type": "string"}}}}
    schemas["Status"] = {"oneOf": [{"const": "forthcoming", "title": "Not open yet"}, {"const": "open", "title": "Open"}, {"const": "closed", "title": "Past its deadline"}]}
    for name, low in (("total", 0), ("pages", 0)):
        schemas["CallPage"]["properties"][name].pop("minimum")
        schemas["CallPage"]["properties"][name]["exclusiveMinimum"] = low - 1
    stats = schemas["Statistics"]["properties"]["byStatus"]
    stats.pop("properties"), stats.pop("additionalProperties")
    stats.update({"propertyNames": ref("Status"), "minProperties": 3, "patternProperties": {"^[a-z]+$": ref("Count")}})
    schemas["Count"] = {"$defs": {"natural": {"type": "integer", "minimum": 0}}, "$ref": "#/components/schemas/Count/$defs/natural"}
    doc["components"]["pathItems"] = {"FunderItem": doc["paths"]["/funders/{funderId}"]}
    doc["paths"]["/funders/{funderId}"] = {"$ref": "#/components/pathItems/FunderItem"}
    doc["webhooks"] = {}
    return doc


def build(origin, variant=None):
    doc = json.loads(json.dumps(copy.deepcopy(document(origin))))
    return variant(doc) if variant else doc
