"""The OpenAPI document of the node."""
import data


def ref(name):
    return {"$ref": "#/components/schemas/" + name}


def array(items, **more):
    return {"type": "array", "items": items, **more}


def obj(required, **properties):
    return {"type": "object", "required": required, "properties": properties}


def text(**more):
    return {"type": "string", **more}


def specification(origin, prefix, token_url, node):
    quiet = node == "cherrypy-quiet-refusals"
    growing = node == "cherrypy-growing-list"

    def query(name, description, schema, **more):
        return {"name": name, "in": "query", "description": description, "schema": schema, **more}

    def success(schema, description, paged=False):
        headers = {"ETag": {"schema": text()}, "Content-Language": {"schema": text(enum=["de", "en"])}}
        if paged:
            headers["Link"] = {"description": "RFC 8288: first, last, next, prev", "schema": text()}
            headers["X-Total-Count"] = {"description": "Number of records in the whole list, for this client and these filters", "schema": {"type": "integer"}}
        return {"description": description, "headers": headers, "content": {"application/json": {"schema": schema}}}

    problems = {"400": "BadRequest", "401": "Unauthorized", "403": "Forbidden", "406": "NotAcceptable"}
    if quiet:
        del problems["403"]
        problems["404"] = "NotFound"

    def responses(ok, *more):
        answers = {"200": ok, "304": {"description": "The copy that the client has is still good"}}
        for status, name in {**problems, **dict(more)}.items():
            answers[status] = {"$ref": "#/components/responses/" + name}
        return answers

    def problem(description, challenge=False):
        answer = {"description": description, "content": {"application/problem+json": {"schema": ref("Problem")}}}
        if challenge:
            answer["headers"] = {"WWW-Authenticate": {"schema": text()}}
        return answer

    missing = ("404", "NotFound")
    paging = [query("page", "Page of the list; the first is 1. A page after the last is empty", {"type": "integer", "minimum": 1, "maximum": 1000000, "default": 1}),
              query("pageSize", "Records on a page", {"type": "integer", "minimum": 1, "maximum": 100, "default": 20})]
    language = {"name": "Accept-Language", "in": "header", "description": "Language of `title`: de or en. English if neither is asked for", "schema": text()}
    identifier = {"name": "id", "in": "path", "required": True, "schema": text()}
    date_time = text(format="date-time")
    role = ("Clients without the role EXTERNAL_API_CLIENT get 404 for every operation: to them the API does not exist." if quiet
            else "Clients without the role EXTERNAL_API_CLIENT get 403.")
    return {
        "openapi": "3.0.3",
        "info": {"title": "Funding API of the node Murau", "version": "3.0.2", "description":
                 "Fundings of Styria. Records with access RESTRICTED can be read only by clients of their affiliation; they are in no list, number or sum "
                 "of other clients, and their ids are unknown (404) to them. " + role + " Errors are problem details (RFC 9457). Parameters that the document "
                 "does not know are refused with 400. The answers are in JSON; the language of `title` is negotiated." +
                 (" The list grows: new fundings come at the end of the order `id` while the node runs." if growing else "")},
        "servers": [{"url": f"{origin}/{prefix}/funding"}],
        "security": [{"nodeLogin": ["funding"]}],
        "paths": {
            "/v3/fundings": {"get": {
                "operationId": "listFundings", "summary": "List of the fundings. All the filters given have to hold",
                "parameters": paging + [
                    query("type", "Type of the funding", ref("FundingType")),
                    query("target", "One of these target groups", array(ref("TargetGroup")), style="form", explode=True),
                    query("region", "Region of the applicants", ref("Region")),
                    query("funder", "Id of the funder", text()),
                    query("search", "Part of a name in any of its languages, literally, upper and lower case being the same in all letters of Unicode", text(minLength=1, maxLength=100)),
                    query("closesAfter", "The end of the call stage is at this instant or later. Instants are compared, whatever their offsets are", date_time),
                    query("updatedSince", "`updated` is at this instant or later", date_time),
                    query("order", "id, end of the call stage, or last change; - is descending. Equal records are in the order of `id`",
                          text(enum=["id", "-id", "closes", "-closes", "updated", "-updated"], default="id")),
                    language],
                "responses": responses(success(array(ref("Funding")), "A page of the list", True))}},
            "/v3/fundings/{id}": {"get": {
                "operationId": "readFunding", "summary": "One funding: the same as in the list", "parameters": [identifier, language],
                "responses": responses(success(ref("Funding"), "The funding"), missing)}},
            "/v3/fundings/{id}/calls": {"get": {
                "operationId": "listCalls", "summary": "The fundings that are part of this programme, in the order of their ids",
                "parameters": [identifier] + paging + [language],
                "responses": responses(success(array(ref("Funding")), "A page of the list", True), missing)}},
            "/v3/statistics": {"get": {
                "operationId": "readStatistics", "summary": "Number and sums of the fundings that the client can read",
                "responses": responses(success(ref("Statistics"), "The sums"))}},
        },
        "components": {
            "securitySchemes": {"nodeLogin": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": {"funding": "Read the fundings"}}}}},
            "responses": {
                "BadRequest": problem("A parameter is wrong"), "Unauthorized": problem("The access token is missing, wrong or too old", True),
                **({} if quiet else {"Forbidden": problem("The role is missing", True)}),
                "NotFound": problem("There is no such record"), "NotAcceptable": problem("Only application/json is served")},
            "schemas": {
                "Funding": obj(["id", "type", "title", "name", "funder", "characteristics", "targetGroups", "eligibleApplicantsRegions", "subjects",
                                "fundingScheme", "legalType", "callStages", "amount", "updated", "access"],
                               id=text(), type=ref("FundingType"), title=text(description="The name in the language of the answer (Content-Language)"),
                               name=array(ref("Text")), acronym=text(), funder=array(ref("Funder")),
                               characteristics=array(text(enum=data.CHARACTERISTICS)), targetGroups=array(ref("TargetGroup")),
                               eligibleApplicantsRegions=array(ref("Region")), subjects=array(ref("Subject")), fundingScheme=ref("FundingType"),
                               legalType=text(enum=["PROJECT26", "PROJECT27"]), callStages=array(ref("CallStage"), minItems=1), amount=ref("Volume"),
                               website=array(text()), updated=date_time, access=text(enum=["OPEN", "RESTRICTED"]),
                               affiliation=text(description="Only with RESTRICTED"), partOf=text(description="Id of the programme")),
                "FundingType": text(enum=data.TYPES), "TargetGroup": text(enum=data.TARGETS), "Region": text(enum=data.REGIONS),
                "Text": obj(["lang", "text", "trans"], lang=text(), text=text(), trans=text(enum=["O", "H", "M"])),
                "Funder": obj(["funderType", "funder"], funderType=text(enum=["EXECUTIVE_ORGANISATION", "JOINT_CALL_PARTNER"]), funder=ref("OrgUnit")),
                "OrgUnit": obj(["id", "name", "website"], id=text(), name=array(ref("Text")), website=text()),
                "Subject": obj([], fraction={"type": "number"}, value=text()) | {"required": ["fraction", "value"]},
                "CallStage": obj(["callStageStart", "callStageEnd"], number=text(), callStageStart=date_time, callStageEnd=date_time),
                "Volume": obj(["currency", "amount"], currency=text(), amount={"type": "number", "description": "In the main unit of the currency, exact to the cent"}),
                "Statistics": obj(["count", "volumes"], count={"type": "integer"},
                                  volumes=array(obj(["currency", "count", "amount"], currency=text(), count={"type": "integer"}, amount={"type": "number"}))),
                "Problem": obj(["type", "title", "status", "detail"], type=text(), title=text(), status={"type": "integer"}, detail=text(),
                               errors=array(obj(["parameter", "message"], parameter=text(), message=text()))),
            },
        },
    }
