"""The OpenAPI document of the institut's grant API."""
from store import KINDS, PHASES, SPONSORS


def document(base, short_pages=False):
    def ref(kind, name):
        return {"$ref": f"#/components/{kind}/{name}"}

    def q(name, description, schema):
        return {"in": "query", "name": name, "required": False, "description": description, "schema": schema}

    validators = {"ETag": {"description": "Entity tag; JSON and CSV have tags of their own.", "schema": {"type": "string"}},
                  "Vary": {"description": "Names Accept.", "schema": {"type": "string"}}}
    errors = {"400": ref("responses", "Invalid"), "401": ref("responses", "NoToken"), "403": ref("responses", "NoRole"),
              "405": ref("responses", "NoMethod"), "406": ref("responses", "NoFormat")}
    plain = {k: v for k, v in errors.items() if k != "400"}
    brief = {
        "number": {"type": "integer", "format": "int64", "minimum": 1},
        "title": {"type": "string", "minLength": 1},
        "sponsor": {"type": "string", "enum": [s[0] for s in SPONSORS]},
        "kind": ref("schemas", "Kind"), "phase": ref("schemas", "Phase"),
        "closes": {"type": "string", "format": "date-time", "description": "End of applications: an instant (RFC 3339)."},
        "volume": {"type": "integer", "minimum": 0, "description": "Volume in whole euros."},
    }
    full = dict(brief, summary={"type": "string"}, languages={"type": "array", "minItems": 1, "items": {"type": "string", "pattern": "^[a-z]{2}$"}},
                remote={"type": "boolean"}, rate={"type": "integer", "minimum": 0, "maximum": 100, "description": "Share of the costs that is funded, in percent."},
                contact={"type": "string", "format": "email"})

    def obj(props, **more):
        return dict({"type": "object", "required": list(props), "additionalProperties": False, "properties": props}, **more)

    page_text = ("A page holds `size` grants at most; it may hold fewer, or none, although more follow: only a null `next` ends the list."
                 if short_pages else "Every page but the last holds exactly `size` grants.")
    body = {"application/json": {"schema": ref("schemas", "Error")}}
    return {
        "openapi": "3.0.2",
        "info": {"title": "Institut grant service", "version": "3.0.4", "description": "\n".join([
            "Funding calls (grants) that the institut annotates for partner institutions.", "",
            "* Tokens are opaque and come from the node's token endpoint (client credentials; HTTP Basic or form fields). Each is valid for 65 seconds from its issue; "
            "`expires_in` says how many seconds the token in the answer is still valid.",
            "* A client secret is compared as a whole.",
            "* The staging server has clients, secrets and tokens of its own: none of them is known in production, and the reverse.",
            "* Grants and sponsors are for clients with the role EXTERNAL_API_CLIENT and for tokens that are meant for this service.",
            "* Errors are JSON objects with a member `error` (`code`, `message`). Whatever value is sent, the service answers wrong input with a 4xx status, never with 5xx.",
            "* Unknown query parameters are ignored; a known one may occur once.",
            "* Two fields that are both instants are compared as instants, not as text."])},
        "servers": [{"url": f"{base}/institut/funding/v3", "description": "Production"}],
        "security": [{"as": ["grants"]}],
        "paths": {
            "/fundings": {"get": {
                "operationId": "listFundings", "summary": "List annotated funding calls (grants)", "tags": ["fundings"],
                "description": "Grants that meet all conditions, page by page. The member `next` of the answer, and the Link header with rel=next, lead to the page that follows; "
                               "they are null and absent at the end. Followed from the first page, they visit every grant that meets the conditions exactly once, in order, for every `size`. "
                               + page_text + " `total` counts all grants that meet the conditions. A cursor belongs to the conditions and the order it was given for. "
                               "With `Accept: text/csv` the same page comes as CSV (RFC 4180, with a header line).",
                "parameters": [
                    q("size", "Grants on a page.", {"type": "integer", "minimum": 1, "maximum": 50, "default": 25}),
                    q("cursor", "Value of `next` of the page before. Opaque.", {"type": "string", "minLength": 1, "maxLength": 400}),
                    q("order", "`closes`: the one that closes first comes first; `-closes`: last first; `number`: ascending. Equal ones in ascending order of their numbers.",
                      {"type": "string", "enum": ["closes", "-closes", "number"], "default": "closes"}),
                    q("kind", "Grants of this kind.", ref("schemas", "Kind")),
                    q("phase", "Grants in this phase.", ref("schemas", "Phase")),
                    q("sponsor", "Grants of the sponsor with this code; a code that nobody has finds nothing.", {"type": "string", "minLength": 1, "maxLength": 20}),
                    q("title", "Grants whose title contains this text. Case does not matter; no character has a special meaning.", {"type": "string", "minLength": 1, "maxLength": 60}),
                    q("closesBefore", "Grants that close before this instant.", {"type": "string", "format": "date-time"}),
                    q("minVolume", "Grants with this volume or more.", {"type": "integer", "format": "int64", "minimum": 0}),
                ],
                "responses": dict({"200": {
                    "description": "A page of grants.",
                    "headers": dict(validators, Link={"description": "rel=next, where a page follows (RFC 8288).", "schema": {"type": "string"}}),
                    "content": {"application/json": {"schema": ref("schemas", "GrantPage")}, "text/csv": {"schema": {"type": "string"}}}},
                    "304": ref("responses", "Unchanged")}, **errors)}},
            "/fundings/{number}": {"get": {
                "operationId": "getFunding", "summary": "Read a funding call (grant)", "tags": ["fundings"],
                "parameters": [{"in": "path", "name": "number", "required": True, "description": "Number of the grant.", "schema": {"type": "integer", "format": "int64", "minimum": 1}}],
                "responses": dict({"200": {"description": "The grant.", "headers": validators, "content": {"application/json": {"schema": ref("schemas", "Grant")}}},
                                   "304": ref("responses", "Unchanged"), "404": ref("responses", "Missing")}, **plain)}},
            "/sponsors": {"get": {
                "operationId": "listSponsors", "summary": "All sponsors, by code", "tags": ["sponsors"],
                "responses": dict({"200": {"description": "The sponsors.", "headers": validators,
                                           "content": {"application/json": {"schema": {"type": "array", "items": ref("schemas", "Sponsor")}}}},
                                   "304": ref("responses", "Unchanged")}, **plain)}},
            "/sponsors/{code}": {"get": {
                "operationId": "readSponsor", "summary": "Read a sponsor", "tags": ["sponsors"],
                "parameters": [{"in": "path", "name": "code", "required": True, "schema": {"type": "string", "minLength": 1}}],
                "responses": dict({"200": {"description": "The sponsor.", "headers": validators, "content": {"application/json": {"schema": ref("schemas", "Sponsor")}}},
                                   "304": ref("responses", "Unchanged"), "404": ref("responses", "Missing")}, **plain)}},
        },
        "components": {
            "securitySchemes": {"as": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": f"{base}/as/oauth/token", "scopes": {"grants": "Read grants and sponsors"}}}}},
            "responses": {
                "Unchanged": {"description": "The representation that the client holds is still current.", "headers": validators},
                "Invalid": {"description": "A parameter does not meet its declaration.", "content": body},
                "NoToken": {"description": "No valid token.", "headers": {"WWW-Authenticate": {"description": "Challenge of RFC 6750.", "schema": {"type": "string"}}}, "content": body},
                "NoRole": {"description": "The client has not the role.", "headers": {"WWW-Authenticate": {"description": "Challenge of RFC 6750.", "schema": {"type": "string"}}}, "content": body},
                "Missing": {"description": "No such record.", "content": body},
                "NoMethod": {"description": "No such method here.", "headers": {"Allow": {"description": "The methods.", "schema": {"type": "string"}}}, "content": body},
                "NoFormat": {"description": "None of the formats that the client accepts is offered.", "content": body}},
            "schemas": {
                "Kind": {"type": "string", "enum": KINDS}, "Phase": {"type": "string", "enum": PHASES},
                "Brief": obj(brief), "Grant": obj(full),
                "GrantPage": obj({"total": {"type": "integer", "minimum": 0}, "next": {"type": "string", "nullable": True, "description": "Cursor of the page that follows."},
                                  "fundings": {"type": "array", "maxItems": 50, "items": ref("schemas", "Brief")}}),
                "Sponsor": obj({"code": {"type": "string", "pattern": "^[A-Z]{4}$"}, "label": {"type": "string"}, "country": {"type": "string", "pattern": "^[A-Z]{2}$"}}),
                "Error": {"type": "object", "required": ["error"], "properties": {"error": {
                    "type": "object", "required": ["code", "message"], "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "field": {"type": "string"}}}}}}},
    }
