"""The OpenAPI document of the funding API."""
from data import PROFILE, TOPICS


def ref(name):
    return {"$ref": f"#/components/schemas/{name}"}


def answer(text, schema, headers=None):
    out = {"description": text, "content": {"application/json": {"schema": schema}}}
    if headers:
        out["headers"] = headers
    return out


def query(name, text, schema, **more):
    return {"name": name, "in": "query", "required": False, "description": text, "schema": schema, **more}


def obj(required, **props):
    return {"type": "object", "additionalProperties": False, "required": required.split(), "properties": props}


TEXT = {"type": "string"}
AMOUNT_FORMAT = "int32" if PROFILE == "int32" else "int64"


def build(base, token_url):
    errors = {n: {"$ref": f"#/components/responses/E{n}"} for n in ("400", "401", "403", "429")}
    missing = {"404": {"$ref": "#/components/responses/E404"}}
    cid = {"name": "id", "in": "path", "required": True, "schema": TEXT}
    common = dict(
        id={"type": "string", "pattern": "^FC-[0-9]{4}-[0-9]{3}$"}, title=TEXT,
        language={"type": "string", "enum": ["de", "en", "fr", "sk"]}, summary=TEXT,
        state={"type": "string", "enum": ["forthcoming", "open", "closed"]}, funder=ref("FunderRef"),
        topics={"type": "array", "minItems": 1, "uniqueItems": True, "items": ref("Topic")},
        opens_on={"type": "string", "format": "date"},
        deadline={"type": "string", "format": "date", "nullable": True, "description": "Last day; null: submission at any time."},
        budget=ref("Money"), updated_at={"type": "string", "format": "date-time"})
    needed = "id title language summary state funder topics opens_on deadline budget updated_at"
    detail = dict(common, description=TEXT, duration_months=obj("min max", min={"type": "integer", "format": "int32"}, max={"type": "integer", "format": "int32"}),
                  url={"type": "string", "format": "uri"}, contact={"type": "string", "format": "email", "nullable": True},
                  funder_details=ref("Funder"))
    oauth = [{"clientCredentials": []}]

    def get(op_id, summary, ok, params=(), extra=None):
        return {"get": {"operationId": op_id, "summary": summary, "tags": ["Funding"], "parameters": list(params), "security": oauth,
                        "responses": {"200": ok, **errors, **(extra or {})}}}

    return {
        "openapi": "3.0.3",
        "info": {"title": "Funding API", "version": "3.1.4", "description": "Funding calls of six funders. Lists are paged by cursors; follow paging.next or the Link header until there is none."},
        "servers": [{"url": base}],
        "tags": [{"name": "Funding"}],
        "paths": {
            "/calls": get("listCalls", "List funding calls", answer("A page of calls", ref("CallPage"), {
                "Link": {"description": "rel=next: the following page, while there is one", "schema": TEXT}}), [
                query("limit", "Calls on a page", {"type": "integer", "minimum": 1, "maximum": 100, "default": 25}),
                query("cursor", "Value of paging.next of the page before, with the same sort and filters; any other value is refused with 400", TEXT),
                query("sort", "deadline: earliest first, open-ended calls last; -updated: latest change first", {"type": "string", "enum": ["deadline", "-updated", "id"], "default": "deadline"}),
                query("state", "Only calls in this state", {"type": "string", "enum": ["forthcoming", "open", "closed"]}),
                query("funder", "Only calls of the funder with this id", TEXT),
                query("topic", "Calls that have at least one of these topics", {"type": "array", "items": ref("Topic")}, style="form", explode=True),
                query("deadline_from", "Deadline on this day or later", {"type": "string", "format": "date"}),
                query("deadline_to", "Deadline on this day or earlier", {"type": "string", "format": "date"}),
                query("updated_since", "Changed at this time or later", {"type": "string", "format": "date-time"}),
                query("q", "Text within the title, regardless of case (all alphabets)", {"type": "string", "maxLength": 120}),
            ]),
            "/calls/{id}": get("getCall", "One funding call", answer("The call", ref("CallDetail")), [
                cid, query("expand", "funder: the answer holds funder_details", {"type": "string", "enum": ["funder"]})], missing),
            "/funders": get("listFunders", "All funders", answer("The funders", {"type": "array", "items": ref("Funder")})),
            "/funders/{id}": get("getFunder", "One funder", answer("The funder", ref("Funder")), [cid], missing),
        },
        "components": {
            "securitySchemes": {"clientCredentials": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": token_url, "scopes": {}}}}},
            "responses": {f"E{n}": answer(t, ref("Error")) for n, t in (
                ("400", "The request is malformed"), ("401", "No valid token"), ("403", "The client may not do this"), ("404", "Not found"), ("429", "Too many requests; see Retry-After"))},
            "schemas": {
                "Topic": {"type": "string", "enum": TOPICS},
                "FunderRef": obj("id name", id=TEXT, name=TEXT),
                "Funder": obj("id name country homepage call_count", id=TEXT, name=TEXT, country={"type": "string", "pattern": "^[A-Z]{2}$"},
                              homepage={"type": "string", "format": "uri"}, call_count={"type": "integer", "format": "int32"}),
                "Money": obj("amount_minor currency", amount_minor={"type": "integer", "format": AMOUNT_FORMAT, "description": "in cents or rappen"},
                             currency={"type": "string", "enum": ["EUR", "CHF"]}),
                "Call": obj(needed, **common),
                "CallDetail": obj(needed + " description duration_months url contact", **detail),
                "CallPage": obj("data paging", data={"type": "array", "items": ref("Call")}, paging=obj(
                    "limit total next", limit={"type": "integer"}, total={"type": "integer", "description": "All calls that match the filters"},
                    next={"type": "string", "nullable": True})),
                "Error": obj("error", error=obj("code message request_id", code=TEXT, message=TEXT, request_id=TEXT)),
            },
        },
    }
