"""The OpenAPI document of the Stiftung's funding API."""


def document(origin, node):
    S = "#/components/schemas/"
    P = "#/components/parameters/"
    R = "#/components/responses/"

    def ok(text, schema, paged=False):
        headers = {"Content-Language": {"schema": {"type": "string", "enum": ["de", "en"]}},
                   "ETag": {"description": "Strong entity tag of this representation; If-None-Match is honoured.", "schema": {"type": "string"}}}
        if node == "kofel":
            del headers["ETag"]
        if paged:
            headers["Link"] = {"description": "RFC 8288; rel=\"next\" leads to the next page and is missing on the last one.", "schema": {"type": "string"}}
            headers["X-Total-Count"] = {"description": "How many fundings fit the filters.", "schema": {"type": "integer"}}
        return {"description": text, "headers": headers, "content": {"application/json": {"schema": schema}}}

    def responses(good, *codes):
        out = {"200": good}
        names = {"304": "NotModified", "400": "Refused", "401": "Unauthorized", "403": "Forbidden", "404": "NotFound", "406": "NotAcceptable", "429": "TooMany"}
        for c in ("401", "403") + codes + (("406",) if node == "kofel" else ("304",)) + (("429",) if node == "wank" else ()):
            out[c] = {"$ref": R + names[c]}
        return out

    def query(name, text, schema, **more):
        return {"name": name, "in": "query", "description": text, "schema": schema, **more}

    lang = {"$ref": P + "AcceptLanguage"}
    error = {"application/json": {"schema": {"$ref": S + "Error"}}}
    refused = {"WWW-Authenticate": {"schema": {"type": "string"}}}
    paging = "limit bounds the page. Following rel=\"next\" from the first page until it is missing brings every fitting funding exactly once; the links keep all filters. "
    if node == "herzogstand":
        paging += "Access rules are applied after a page was cut out, so that a page may hold fewer than limit fundings, even none, although another page follows. "
    text = ("Fundings of the Stiftung Isartal. Tokens are opaque, come from the node's production authorization server and end expires_in seconds after they were issued, however often they are used. "
            "Every operation answers 401 without a valid token for this API, and 403 to an account that lacks the role EXTERNAL_API_CLIENT. Tokens of the staging environment are not valid here. "
            "Texts are given in German or English, as Accept-Language asks; German where neither is asked for. Query parameters that are not declared, empty, repeated or malformed are refused with 400.")
    if node == "wank":
        text += " A client may send 25 requests in a second; more are answered 429 with Retry-After."
    if node == "kofel":
        text += " Where Accept excludes application/json the answer is 406. Representations carry no entity tag and are not to be stored."
    return {
        "openapi": "3.0.1",
        "info": {"title": "Stiftung Isartal: funding calls", "version": "3.0.4", "description": text},
        "servers": [{"url": origin + "/stiftung/funding/v3"}],
        "security": [{"oauth": []}],
        "paths": {
            "/fundings": {"get": {
                "operationId": "listFundings", "summary": "Search fundings",
                "description": paging + "All filters that are given must be met. Fundings that are equal in the sort key are ordered by number.",
                "parameters": [
                    query("limit", "Fundings on a page at most.", {"type": "integer", "minimum": 1, "maximum": 40, "default": 10}),
                    query("cursor", "Taken from a link; opaque.", {"type": "string"}),
                    query("programme", "Name of a programme, exactly as in the member programme.", {"type": "string", "minLength": 1}),
                    query("open", "Only fundings that are open for applications, or only the others.", {"type": "boolean"}),
                    query("minAmount", "Only fundings whose amount.max is at least this.", {"type": "integer", "minimum": 0, "maximum": 1000000000}),
                    query("closesAfter", "Only fundings that close later than this instant; any UTC offset may be used.", {"type": "string", "format": "date-time"}),
                    query("q", "Only fundings whose title, in the language of the answer, contains this text; literally, upper and lower case being equal.", {"type": "string", "minLength": 1, "maxLength": 80}),
                    query("sort", "Sort key.", {"type": "string", "enum": ["number", "closes"], "default": "number"}),
                    lang],
                "responses": responses(ok("A page", {"type": "array", "items": {"$ref": S + "Funding"}}, True), "400")}},
            "/fundings/{number}": {"get": {
                "operationId": "getFunding", "summary": "One funding",
                "description": "Holds what the search gives for it, and more.",
                "parameters": [{"name": "number", "in": "path", "required": True, "schema": {"type": "integer", "minimum": 1}}, lang],
                "responses": responses(ok("The funding", {"$ref": S + "FundingDetail"}), "404")}},
            "/programmes": {"get": {
                "operationId": "listProgrammes", "summary": "All programmes",
                "parameters": [lang],
                "responses": responses(ok("The programmes", {"type": "array", "items": {"$ref": S + "Programme"}}))}},
        },
        "components": {
            "securitySchemes": {"oauth": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": origin + "/sso/realms/stiftung/protocol/openid-connect/token", "scopes": {}}}}},
            "parameters": {"AcceptLanguage": {"name": "Accept-Language", "in": "header", "description": "RFC 9110; de and en are offered.", "schema": {"type": "string"}}},
            "responses": {
                "NotModified": {"description": "Not modified"},
                "Refused": {"description": "A parameter is refused", "content": error},
                "Unauthorized": {"description": "No valid token", "headers": refused, "content": error},
                "Forbidden": {"description": "The role is missing", "headers": refused, "content": error},
                "NotFound": {"description": "There is no such funding", "content": error},
                "NotAcceptable": {"description": "Only application/json is offered", "content": error},
                "TooMany": {"description": "Too many requests", "headers": {"Retry-After": {"schema": {"type": "integer"}}}, "content": error},
            },
            "schemas": {
                "Error": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object", "required": ["code", "message"], "properties": {
                    "code": {"type": "string"}, "message": {"type": "string"}, "parameter": {"type": "string"}}}}},
                "Funding": {"type": "object", "required": ["number", "title", "programme", "open", "closes", "amount"], "properties": {
                    "number": {"type": "integer"}, "title": {"type": "string"}, "programme": {"type": "string"}, "open": {"type": "boolean"},
                    "closes": {"type": "string", "format": "date-time"},
                    "amount": {"type": "object", "required": ["max", "currency"], "properties": {"min": {"type": "integer", "minimum": 0}, "max": {"type": "integer", "minimum": 0}, "currency": {"type": "string", "enum": ["EUR"]}}}}},
                "FundingDetail": {"allOf": [{"$ref": S + "Funding"}, {"type": "object", "required": ["summary", "homepage", "keywords", "contact"], "properties": {
                    "summary": {"type": "string"}, "homepage": {"type": "string", "format": "uri", "nullable": True},
                    "keywords": {"type": "array", "items": {"type": "string"}},
                    "contact": {"type": "object", "required": ["email"], "properties": {"name": {"type": "string"}, "email": {"type": "string", "format": "email"}}}}}]},
                "Programme": {"type": "object", "required": ["name", "description"], "properties": {"name": {"type": "string"}, "description": {"type": "string"}}},
            },
        },
    }
