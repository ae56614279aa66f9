"""The OpenAPI document of the Sanic node."""


def ref(name):
    return {"$ref": "#/components/schemas/" + name}


def problem(description):
    return {"description": description, "content": {"application/problem+json": {"schema": ref("Problem")}}}


TEXTS = {"type": "array", "minItems": 1, "items": ref("Text")}


def document(origin, token_url, cursor=False, ranges=False):
    challenge = {"WWW-Authenticate": {"schema": {"type": "string"}}}
    guarded = {
        "401": {**problem("The token is missing or not valid."), "headers": challenge},
        "403": {**problem("The client does not have the role EXTERNAL_API_CLIENT."), "headers": challenge},
    }
    bad = {"400": problem("A parameter is not valid.")}
    missing = {"404": problem("There is no funding with this id, or the client may not see it.")}
    if ranges:
        guarded = {}
        bad = missing = {"4XX": problem("The request was refused: parameters (400), token (401), role (403) or address (404).")}

    def query(name, description, schema, **more):
        return {"name": name, "in": "query", "required": False, "description": description, "schema": schema, **more}

    if cursor:
        paging = [
            query("cursor", "Where the page starts: take it from links.next of the page before. Without it the list starts.",
                  {"type": "string"}),
            query("limit", "Fundings on a page at most. A page may hold fewer, even none, although more pages follow: only a page "
                           "without links.next is the last one.",
                  {"type": "integer", "minimum": 1, "maximum": 100, "default": 25}),
        ]
        meta = {"type": "object", "required": ["limit"],
                "properties": {"limit": {"type": "integer", "minimum": 1, "maximum": 100}}}
        links = {"self": {"type": "string", "format": "uri"}, "next": {"type": "string", "format": "uri"}}
    else:
        paging = [
            query("offset", "How many fundings to skip.", {"type": "integer", "minimum": 0, "maximum": 100000, "default": 0}),
            query("limit", "Fundings on a page.", {"type": "integer", "minimum": 1, "maximum": 100, "default": 25}),
        ]
        meta = {"type": "object", "required": ["total", "offset", "limit"],
                "properties": {
                    "total": {"type": "integer", "minimum": 0,
                              "description": "How many fundings match the filters and may be seen by the client."},
                    "offset": {"type": "integer", "minimum": 0},
                    "limit": {"type": "integer", "minimum": 1, "maximum": 100}}}
        links = {k: {"type": "string", "format": "uri"} for k in ("self", "next", "prev")}

    summary = {
        "id": {"type": "string"},
        "type": ref("FundingType"),
        "acronym": {"type": "string"},
        "name": TEXTS,
        "visibility": {"type": "string", "enum": ["PUBLIC", "AFFILIATION"]},
        "affiliationId": {"type": "string"},
        "subjects": {"type": "array", "uniqueItems": True, "items": {"type": "string"},
                     "description": "Codes of the vocabulary /subjects."},
        "budget": ref("Money"),
        "submissionEnd": {"type": "string", "format": "date-time",
                          "description": "When the last stage ends: the same instant in the list and in the detail."},
        "changed": {"type": "string", "format": "date-time"},
    }
    required = ["id", "type", "name", "visibility", "affiliationId", "subjects", "budget", "submissionEnd", "changed"]
    cached = {"ETag": {"description": "Validator of the answer, for If-None-Match.", "schema": {"type": "string"}}}
    not_modified = {"304": {"description": "The copy that the client names in If-None-Match is current."}}

    def ok(description, name):
        return {"200": {"description": description, "headers": cached, "content": {"application/json": {"schema": ref(name)}}}}

    id_parameter = {"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}
    no_parameters = {"4XX": bad["4XX"]} if ranges else {}
    return {
        "openapi": "3.0.3",
        "info": {
            "title": "Fundings",
            "version": "3.0.0",
            "description": "Annotated funding calls for external API clients. Every operation needs an access token (client "
                           "credentials) of a client that has the role EXTERNAL_API_CLIENT. Tokens of the test environment are not "
                           "accepted here. A funding with the visibility AFFILIATION exists only for clients of the affiliation "
                           "in affiliationId: for others it is in no list, no count and no detail.",
        },
        "servers": [{"url": origin + "/network/funding/v3"}],
        "security": [{"clientCredentials": []}],
        "paths": {
            "/fundings": {"get": {
                "operationId": "listFundings",
                "summary": "List fundings",
                "description": "Returns a page of the fundings that match all the given filters.",
                "parameters": paging + [
                    query("type", "Only fundings of these types; may be repeated.",
                          {"type": "array", "items": ref("FundingType")}, style="form", explode=True),
                    query("subject", "Only fundings with this subject code.", {"type": "string"}),
                    query("changedSince", "Only fundings that were changed at this instant or later.",
                          {"type": "string", "format": "date-time"}),
                    query("sort", "Order: by budget (the number) or by the instant of the last change, ascending or (with a minus sign) "
                                  "descending, equal ones by id ascending. Without it by id ascending.",
                          {"type": "string", "enum": ["budget", "-budget", "changed", "-changed"]}),
                ],
                "responses": {**ok("A page of fundings.", "FundingPage"), **not_modified, **bad, **guarded},
            }},
            "/fundings/{id}": {"get": {
                "operationId": "getFunding",
                "summary": "Read one funding",
                "parameters": [id_parameter],
                "responses": {**ok("The funding.", "Funding"), **not_modified, **missing, **guarded},
            }},
            "/subjects": {"get": {
                "operationId": "listSubjects",
                "summary": "The vocabulary of subjects",
                "responses": {**ok("All subjects.", "SubjectList"), **not_modified, **no_parameters, **guarded},
            }},
        },
        "components": {
            "securitySchemes": {"clientCredentials": {"type": "oauth2", "flows": {"clientCredentials": {
                "tokenUrl": token_url, "scopes": {}}}}},
            "schemas": {
                "FundingPage": {"type": "object", "required": ["meta", "links", "data"], "properties": {
                    "meta": meta,
                    "links": {"type": "object", "required": ["self"], "properties": links,
                              "description": "The neighbouring pages of the same list, where there are any."},
                    "data": {"type": "array", "maxItems": 100, "items": ref("FundingSummary")}}},
                "FundingSummary": {"type": "object", "required": required, "properties": summary},
                "Funding": {"type": "object", "required": required + ["description", "stages", "website"], "properties": {
                    **summary,
                    "description": TEXTS,
                    "stages": {"type": "array", "minItems": 1, "items": ref("Stage")},
                    "website": {"type": "string", "format": "uri"}}},
                "Stage": {"type": "object", "required": ["number", "start", "end"], "properties": {
                    "number": {"type": "integer", "minimum": 1},
                    "start": {"type": "string", "format": "date-time"},
                    "end": {"type": "string", "format": "date-time"}}},
                "SubjectList": {"type": "object", "required": ["data"], "properties": {
                    "data": {"type": "array", "items": ref("Subject")}}},
                "Subject": {"type": "object", "required": ["code", "label"], "properties": {
                    "code": {"type": "string"}, "label": TEXTS}},
                "FundingType": {"type": "string", "enum": ["CALL", "PROGRAMME", "AWARD", "SCHOLARSHIP"]},
                "Money": {"type": "object", "required": ["currency", "amount"], "properties": {
                    "currency": {"type": "string", "enum": ["EUR"]}, "amount": {"type": "number", "minimum": 0}}},
                "Text": {"type": "object", "required": ["lang", "trans", "text"], "properties": {
                    "lang": {"type": "string", "enum": ["de", "en"]},
                    "trans": {"type": "string", "enum": ["O", "H", "M"],
                              "description": "O = original, H = translated by a person, M = by a machine."},
                    "text": {"type": "string"}}},
                "Problem": {"type": "object", "required": ["type", "title", "status"], "properties": {
                    "type": {"type": "string"}, "title": {"type": "string"},
                    "status": {"type": "integer"}, "detail": {"type": "string"}}},
            },
        },
    }
