"""The OpenAPI document of the funding API."""
from records import GROUPS, TYPES
from wire import NODE


def ref(kind, name):
    return {"$ref": "#/components/%s/%s" % (kind, name)}


def schema(name):
    return ref("schemas", name)


def text(d):
    return {"type": "string", "description": d}


def query(name, d, sch, **more):
    return {"name": name, "in": "query", "description": d, "schema": sch, **more}


def build(token_url, sample):
    s_id = {"type": "string", "examples": [sample]}
    instant = {"type": "string", "format": "date-time"}
    both = {"type": "object", "required": ["de", "en"], "properties": {"de": {"type": "string"}, "en": {"type": "string"}}, "additionalProperties": False}
    amount_in = {"type": "number", "minimum": 0, "maximum": 1000000000}
    entry = {"id": s_id, "type": schema("FundingType"), "name": schema("Bilingual"), "acronym": text("Left out where there is none."), "programmeId": text("Id of the programme that the funding belongs to."),
             "targetGroups": {"type": "array", "minItems": 1, "uniqueItems": True, "items": schema("TargetGroup")}, "opensAt": {**instant, "description": "In UTC, with Z, as all times."},
             "closesAt": {"type": ["string", "null"], "format": "date-time", "description": "null: the funding stays open."}, "amount": {"type": "number", "minimum": 0}, "currency": {"type": "string", "const": "EUR"}, "changedAt": instant}
    need = ["id", "type", "name", "programmeId", "targetGroups", "opensAt", "closesAt", "amount", "currency", "changedAt"]
    full = {**entry, "description": schema("Bilingual"), "contacts": {"type": "array", "items": schema("Contact")}, "website": {"type": "string", "format": "uri"}, "twoStage": {"type": "boolean"}}
    schemas = {
        "FundingType": {"type": "string", "enum": TYPES}, "TargetGroup": {"type": "string", "enum": GROUPS}, "Bilingual": both,
        "Entry": {"type": "object", "description": "A funding as it stands in lists.", "required": need, "properties": entry, "additionalProperties": False},
        "Funding": {"type": "object", "description": "A whole funding. The members that an entry has too hold the same values.", "required": need + ["description", "contacts", "website", "twoStage"], "properties": full, "additionalProperties": False},
        "Contact": {"type": "object", "required": ["name", "email"], "properties": {"name": {"type": "string"}, "email": {"type": "string", "format": "email"}}},
        "Listing": {"type": "object", "required": ["data", "meta"], "properties": {"data": {"type": "array", "items": schema("Entry")}, "meta": {"type": "object", "required": ["total", "limit", "nextCursor"], "properties": {
            "total": {"type": "integer", "description": "Number of fundings that pass the filters, on all pages together."}, "limit": {"type": "integer", "description": "The limit in force."},
            "nextCursor": {"type": ["string", "null"], "description": "Cursor of the following page, null on the last one."}}}}, "additionalProperties": False},
        "Search": {"type": "object", "properties": {"types": {"type": "array", "items": schema("FundingType"), "minItems": 1, "maxItems": 5}, "search": {"type": "string", "minLength": 2, "maxLength": 80}, "minAmount": amount_in, "maxAmount": amount_in,
                   "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 25}, "cursor": {"type": "string"}}, "additionalProperties": False},
        "Programme": {"type": "object", "required": ["id", "name", "fundingCount"], "properties": {"id": {"type": "string"}, "name": schema("Bilingual"), "fundingCount": {"type": "integer", "minimum": 0, "description": "Number of the fundings whose programmeId this is."}}, "additionalProperties": False},
        "Fault": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object", "required": ["status", "code", "message"], "properties": {"status": {"type": "integer", "description": "Status code of the answer."},
                  "code": {"type": "string"}, "message": {"type": "string"}, "fields": {"type": "array", "items": {"type": "string"}, "description": "Names of the parameters or members at fault."}}}}}}

    def bad(d, auth=False):
        r = {"description": d, "content": {"application/json": {"schema": schema("Fault")}}}
        if auth:
            r["headers"] = {"WWW-Authenticate": {"required": True, "description": "Challenge (RFC 6750).", "schema": {"type": "string"}}}
        return r

    responses = {"BadRequest": bad("A parameter, the body or the Authorization header cannot be used."), "Unauthorized": bad("No valid access token.", True), "Forbidden": bad("The token has not the scope or the client not the role.", True),
                 "NotFound": bad("Nothing has this id."), "NotAcceptable": bad("Only application/json, plain or with gzip, is available."), "PreconditionFailed": bad("If-Match or If-Unmodified-Since does not hold."),
                 "TooLarge": bad("The body is larger than 64 KiB."), "UnsupportedMediaType": bad("The body is not application/json."),
                 "NotModified": {"description": "The client's copy is current.", "headers": {"ETag": ref("headers", "ETag")}}}
    headers = {"ETag": {"required": True, "description": "Weak tag, the same for the plain and the gzip form. As If-Match compares strongly, no tag meets it." if NODE == "klein-weide" else "Strong tag; the gzip form has a tag of its own.", "schema": {"type": "string"}}, "LastModified": {"required": True, "description": "The instant of changedAt.", "schema": {"type": "string"}},
               "Vary": {"required": True, "description": "Accept, Accept-Encoding, Authorization", "schema": {"type": "string"}}}

    def answers(ok, missing=False, dated=False, body=False):
        h = {} if body else {"ETag": ref("headers", "ETag"), "Vary": ref("headers", "Vary")}
        if dated:
            h["Last-Modified"] = ref("headers", "LastModified")
        r = {"200": {"description": "Done.", "headers": h, "content": {"application/json": {"schema": ok}}}, "400": ref("responses", "BadRequest"), "401": ref("responses", "Unauthorized"), "403": ref("responses", "Forbidden"), "406": ref("responses", "NotAcceptable")}
        if body:
            return {**r, "413": ref("responses", "TooLarge"), "415": ref("responses", "UnsupportedMediaType")}
        return {**r, **({"404": ref("responses", "NotFound")} if missing else {}), "304": ref("responses", "NotModified"), "412": ref("responses", "PreconditionFailed")}

    one = [{"name": "id", "in": "path", "required": True, "schema": {"type": "string"}}]
    listing = [
        query("limit", "Entries per page at most. The filters are applied to so many fundings at a time, so that a page may hold fewer entries, or none, although nextCursor is not null." if NODE == "klein-birke" else "Entries per page.", {"type": "integer", "minimum": 1, "maximum": 100, "default": 25}),
        query("cursor", "nextCursor of the page before. The filters and the order have to be those of the request that gave the cursor, otherwise 400; limit may change.", {"type": "string", "minLength": 1, "maxLength": 200}),
        query("type", "One or more types, with commas between them: fundings of any of these.", {"type": "array", "items": schema("FundingType"), "minItems": 1}, style="form", explode=False),
        query("targetGroup", "Fundings for this group (among others).", schema("TargetGroup")),
        query("programmeId", "Fundings of this programme; none if there is no such programme.", {"type": "string", "minLength": 1, "maxLength": 60}),
        query("runningOn", "Fundings that are open on this day (UTC): opensAt lies on it or before, closesAt on it or after, or closesAt is null.", {"type": "string", "format": "date"}),
        query("changedSince", "Fundings whose changedAt is this instant or later.", instant),
        query("minAmount", "Fundings with at least this amount.", amount_in), query("maxAmount", "Fundings with at most this amount.", amount_in),
        query("search", "Part of the name in German or English, or the acronym, without regard to case.", {"type": "string", "minLength": 2, "maxLength": 80}),
        query("orderBy", "Member to sort by; equal ones are sorted by id, ascending. Fundings without closesAt follow after all others, whatever the direction.", {"type": "string", "enum": ["changedAt", "closesAt", "amount", "id"], "default": "changedAt"}),
        query("direction", "Direction of orderBy.", {"type": "string", "enum": ["asc", "desc"], "default": "desc"})]
    paths = {
        "/fundings": {"get": {"operationId": "findFundings", "summary": "Fundings, page by page", "description": "Follow meta.nextCursor until it is null to read each funding that passes all filters exactly once.", "parameters": listing, "responses": answers(schema("Listing"))}},
        "/fundings/search": {"post": {"operationId": "searchFundings", "summary": "Fundings, filters in a body", "description": "The same answer as the list with the same filters in its default order. Cursors of this operation are used with it. A member that is not described is refused with 400.",
                             "requestBody": {"required": True, "content": {"application/json": {"schema": schema("Search"), "example": {"types": ["CALL"], "limit": 5}}}}, "responses": answers(schema("Listing"), body=True)}},
        "/fundings/{id}": {"get": {"operationId": "findFunding", "summary": "One funding", "parameters": one, "responses": answers(schema("Funding"), True, True)}},
        "/programmes": {"get": {"operationId": "findProgrammes", "summary": "All programmes, by id", "responses": answers({"type": "array", "items": schema("Programme")})}},
        "/programmes/{id}": {"get": {"operationId": "findProgramme", "summary": "One programme", "parameters": one, "responses": answers(schema("Programme"), True)}}}
    life = "60 seconds; the token response has no expires_in" if NODE == "klein-fichte" else "60 seconds"
    return {"openapi": "3.1.0", "info": {"title": "Murtal Funding", "version": "3.0.4", "description":
            "Read access to the funding data of the Murtal node. Get a token (" + life + ", scope funding:read) with the client credentials grant at the token URL below; the service account needs the role EXTERNAL_API_CLIENT. "
            "A revoked token is refused at once. GET operations answer HEAD, too; OPTIONS names the methods in Allow; any other method is answered with 405 and Allow. "
            "Query parameters that are not described here are ignored; one that is described must not occur twice (400). Every refusal by an operation has a body of the schema Fault."},
            "servers": [{"url": "/murtal/funding/v3"}], "security": [{"murtal": ["funding:read"]}], "paths": paths,
            "components": {"schemas": schemas, "responses": responses, "headers": headers,
                           "securitySchemes": {"murtal": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": {"funding:read": "read fundings", "info:read": "read the info resource"}}}}}}}
