"""The OpenAPI document of the node's funding API."""


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def listing(items, **more):
    return {"type": "array", "items": items, **more}


def build(root, service, types, groups, regions, sorts, hidden=False):
    def problem_response(description, headers=None):
        out = {"description": description, "content": {"application/problem+json": {"schema": ref("Problem")}}}
        if headers:
            out["headers"] = headers
        return out

    challenge = {"WWW-Authenticate": {"required": True, "description": "Bearer challenge (RFC 6750)",
                                      "schema": {"type": "string"}}}
    errors = {"400": {"$ref": "#/components/responses/Invalid"}, "401": {"$ref": "#/components/responses/Unauthorized"},
              "406": {"$ref": "#/components/responses/NotAcceptable"}}
    if hidden:
        errors["404"] = {"$ref": "#/components/responses/NotFound"}
    else:
        errors["403"] = {"$ref": "#/components/responses/Forbidden"}
    tag_headers = {"ETag": {"required": True, "description": "Strong entity tag of this representation",
                            "schema": {"type": "string"}}}

    def query(name, description, schema, **more):
        return {"name": name, "in": "query", "required": False, "description": description, "schema": schema, **more}

    def operation(op_id, summary, schema, parameters=(), headers=None, extra=None, drop=()):
        responses = {"200": {"description": "Success", "headers": {**tag_headers, **(headers or {})},
                             "content": {"application/json": {"schema": schema}}},
                     "304": {"description": "The representation has not changed (If-None-Match, If-Modified-Since)"}}
        responses.update(errors)
        responses.update(extra or {})
        for code in drop:
            responses.pop(code, None)
        return {"tags": ["Fundings"], "operationId": op_id, "summary": summary, "parameters": list(parameters),
                "responses": responses}

    rule = "Callers without the role EXTERNAL_API_CLIENT get 403."
    if hidden:
        rule = ("To callers without the role EXTERNAL_API_CLIENT the resources of this API do not exist: they get 404 "
                "(RFC 9110, section 15.5.4).")
    text = {"type": "object", "required": ["lang", "trans", "text"], "properties": {
        "lang": {"type": "string"}, "trans": {"type": "string", "enum": ["O", "H", "M"]}, "text": {"type": "string"}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "Forschung Funding API", "version": "3.2.0", "description":
                 "Annotated fundings of the node Forschung.\n\nEvery operation needs an access token (client credentials). "
                 + rule + "\n\nErrors are problem details (RFC 9457). Answers are application/json; when Accept excludes "
                 "that, the answer is 406. Query parameters that are not described here are ignored. A parameter "
                 "with an invalid value is answered with 400, never with another status."},
        "servers": [{"url": service}],
        "tags": [{"name": "Fundings"}],
        "security": [{"clientCredentials": ["funding.read"]}],
        "paths": {
            "/v3/fundings": {"get": operation(
                "listFundings", "Fundings, page by page", listing(ref("Funding")),
                [query("page", "Number of the page, from 1. A page after the last one is an empty list.",
                       {"type": "integer", "minimum": 1, "maximum": 10000, "default": 1}),
                 query("pageSize", "Entries of a page", {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}),
                 query("sort", "Order of the list; with a minus sign descending. Entries that are equal come in "
                       "ascending order of id. closing: stage.callStageEnd, opening: stage.callStageStart.",
                       {"type": "string", "enum": sorts, "default": "id"}),
                 query("type", "Only fundings of this type", ref("FundingType")),
                 query("region", "Only fundings with this region", ref("Region")),
                 query("funder", "Only fundings of the funder with this id", {"type": "string"}),
                 query("open", "true: only fundings with callStageStart <= now < callStageEnd; false: the others",
                       {"type": "boolean"}),
                 query("closingAfter", "Only fundings whose stage.callStageEnd is this instant or later. "
                       "Any UTC offset may be used.", {"type": "string", "format": "date-time"}),
                 query("targetGroup", "Only fundings for at least one of these target groups. May be repeated. "
                       "Every funding is listed once, no matter how many of the groups it is for.",
                       listing(ref("TargetGroup")), style="form", explode=True)],
                {"X-Total-Count": {"required": True, "description": "Number of fundings in the whole list, over all pages",
                                   "schema": {"type": "integer", "minimum": 0}},
                 "Link": {"required": True, "description": "Links first, last, prev and next (RFC 8288). "
                          "next is absent on the last page.", "schema": {"type": "string"}}})},
            "/v3/fundings/{id}": {"get": operation(
                "getFunding", "One funding", ref("Funding"),
                [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}],
                {"Last-Modified": {"description": "When the funding was changed last", "schema": {"type": "string"}}},
                {"404": {"$ref": "#/components/responses/NotFound"}}, drop=("400",))},
            "/v3/funders": {"get": operation("listFunders", "All funders", listing(ref("OrgUnit")), drop=("400",))},
        },
        "components": {
            "securitySchemes": {"clientCredentials": {"type": "oauth2", "flows": {"clientCredentials": {
                "tokenUrl": root + "/auth/realms/forschung/protocol/openid-connect/token",
                "scopes": {"funding.read": "Read fundings"}}}}},
            "responses": {
                "Invalid": problem_response("A parameter is invalid"),
                "Unauthorized": problem_response("There is no valid access token", challenge),
                "Forbidden": problem_response("The role is missing", challenge),
                "NotFound": problem_response("There is no such resource" + (" for this caller" if hidden else "")),
                "NotAcceptable": problem_response("application/json is not acceptable"),
            },
            "schemas": {
                "Text": text,
                "FundingType": {"type": "string", "enum": types},
                "TargetGroup": {"type": "string", "enum": groups},
                "Region": {"type": "string", "enum": regions},
                "OrgUnit": {"type": "object", "required": ["id", "name", "website"], "properties": {
                    "id": {"type": "string"}, "name": listing(ref("Text"), minItems=1),
                    "website": {"type": "string", "format": "uri"}}},
                "Funder": {"type": "object", "required": ["funderType", "funder"], "properties": {
                    "funderType": {"type": "string", "enum": ["EXECUTIVE_ORGANISATION", "JOINT_CALL_PARTNER"]},
                    "funder": ref("OrgUnit")}},
                "Volume": {"type": "object", "required": ["currency", "amount"], "properties": {
                    "currency": {"type": "string", "pattern": "^[A-Z]{3}$"}, "amount": {"type": "number", "minimum": 0}}},
                "Stage": {"type": "object", "required": ["number", "callStageStart", "callStageEnd"], "properties": {
                    "number": {"type": "string"}, "callStageStart": {"type": "string", "format": "date-time"},
                    "callStageEnd": {"type": "string", "format": "date-time"}}},
                "Funding": {"type": "object", "required": ["id", "type", "name", "acronym", "funder", "targetGroups",
                                                           "stage", "modified"], "properties": {
                    "id": {"type": "string"}, "type": ref("FundingType"), "name": listing(ref("Text"), minItems=1),
                    "acronym": {"type": "string"}, "funder": listing(ref("Funder"), minItems=1),
                    "targetGroups": listing(ref("TargetGroup"), minItems=1), "region": ref("Region"),
                    "volume": ref("Volume"), "stage": ref("Stage"),
                    "modified": {"type": "string", "format": "date-time"},
                    "website": listing({"type": "string", "format": "uri"})}},
                "Problem": {"type": "object", "required": ["type", "title", "status"], "properties": {
                    "type": {"type": "string", "format": "uri-reference"}, "title": {"type": "string"},
                    "status": {"type": "integer"}, "detail": {"type": "string"},
                    "errors": listing({"type": "object", "required": ["parameter", "message"], "properties": {
                        "parameter": {"type": "string"}, "message": {"type": "string"}}})}},
            },
        },
    }
