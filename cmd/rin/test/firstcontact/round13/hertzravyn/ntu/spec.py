"""The OpenAPI document of the funding API."""
from store import COUNTRIES, DISCIPLINES, KINDS


def ref(kind, name):
    return {"$ref": f"#/components/{kind}/{name}"}


def string(**more):
    return {"type": "string", **more}


def array(items, **more):
    return {"type": "array", "items": items, **more}


def record(properties, optional=()):
    return {"type": "object", "properties": properties, "required": [p for p in properties if p not in optional]}


def query(name, schema, description, **more):
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema, **more}


def success(schema, *headers):
    names = ("ETag", "Cache-Control", "Vary", *headers)
    return {"description": "Success", "headers": {n: ref("headers", n) for n in names}, "content": {"application/json": {"schema": schema}}}


def operation(operation_id, summary, answer, parameters=(), missing=False, description=""):
    responses = {"200": answer, "304": {"description": "The client has this representation already"}, "400": ref("responses", "BadRequest"),
                 "401": ref("responses", "Unauthorized"), "403": ref("responses", "Forbidden")}
    if missing:
        responses["404"] = ref("responses", "NotFound")
    responses["412"] = ref("responses", "PreconditionFailed")
    return {"get": {"operationId": operation_id, "summary": summary, "description": description, "parameters": list(parameters), "responses": responses}}


def error(description, **headers):
    return {"description": description, "headers": {h.replace("_", "-"): {"schema": string()} for h in headers},
            "content": {"application/json": {"schema": ref("schemas", "Error")}}}


LANGUAGE = {"name": "Accept-Language", "in": "header", "required": False, "schema": string(),
            "description": "Language of titles and abstracts: en or de. Without a match the answer is in English. Content-Language names the language."}


def document(base: str) -> dict:
    summary = {
        "key": string(description="Percent-encode it in a path"), "kind": ref("schemas", "Kind"), "title": string(), "country": ref("schemas", "Country"),
        "disciplines": array(ref("schemas", "Discipline"), uniqueItems=True), "budget": {"type": "integer", "minimum": 0, "description": "Whole euros"},
        "closing": string(format="date-time", description="When applications close, in the time of Vienna with its offset on that day. Absent if applications are always open."),
        "updated": string(format="date-time")}
    return {
        "openapi": "3.1.0",
        "info": {"title": "NTU funding opportunities", "version": "3.0.1", "description":
                 "Funding opportunities that the research service of the Neusiedl Technical University collects. Needs an access token of a service account "
                 "with the role EXTERNAL_API_CLIENT; tokens live 65 seconds. Query parameters that are not documented are ignored; "
                 "a single-valued parameter that is repeated is answered with 400. Answers may be compressed with gzip."},
        "servers": [{"url": f"{base}/research/funding/v3"}],
        "security": [{"ntu": []}],
        "paths": {
            "/fundings": operation(
                "searchFundings", "Search opportunities", success(array(ref("schemas", "Summary"), maxItems=50), "Link", "X-Total-Count", "Content-Language"),
                [query("limit", {"type": "integer", "minimum": 1, "maximum": 50, "default": 20}, "Most items in one answer"),
                 query("after", string(minLength=1), "Cursor from the link \"next\" of an earlier answer; the other parameters, except for limit, must be those of that answer"),
                 query("order", string(enum=["closing", "-closing", "budget", "-budget", "updated", "-updated"]),
                       "Sort by this field, with - descending. Opportunities that never close come last. Those that are equal keep the order of the register, which is also the order without this parameter."),
                 query("kind", ref("schemas", "Kind"), "Only this kind"),
                 query("country", array(ref("schemas", "Country"), minItems=1), "Only these countries, separated by commas", style="form", explode=False),
                 query("discipline", array(ref("schemas", "Discipline")), "Only those of at least one of these disciplines; repeat the parameter", style="form", explode=True),
                 query("closing_from", string(format="date"), "Only those that close on this day (Vienna) or later"),
                 query("closing_until", string(format="date"), "Only those that close on this day (Vienna) or earlier, the whole day included"),
                 query("budget_min", {"type": "integer", "minimum": 0, "maximum": 9007199254740991}, "Only those with at least this budget"),
                 query("budget_max", {"type": "integer", "minimum": 0, "maximum": 9007199254740991}, "Only those with at most this budget"),
                 query("search", string(minLength=1, maxLength=50), "Only those with exactly this text in the German or English title; upper and lower case are the same"),
                 LANGUAGE],
                description="Follow the link \"next\" of the header Link until there is none: every matching opportunity comes exactly once."
                            + paging_note()),
            "/fundings/{key}": operation(
                "readFunding", "Read one opportunity", success(ref("schemas", "Opportunity"), "Last-Modified", "Content-Language"),
                [{"name": "key", "in": "path", "required": True, "schema": string(minLength=1)}, LANGUAGE], missing=True),
            "/disciplines": operation("listDisciplines", "All disciplines and how many opportunities they have",
                                      success(array(record({"discipline": ref("schemas", "Discipline"), "opportunities": {"type": "integer", "minimum": 0}})))),
            "/calendar": operation("closingCalendar", "The days on which opportunities close, in order",
                                   success(array(record({"day": string(format="date"), "keys": array(string(), minItems=1)}))),
                                   [query("year", {"type": "integer", "minimum": 2000, "maximum": 2100}, "Only this year (Vienna)")]),
        },
        "components": {
            "securitySchemes": {"ntu": {"type": "oauth2", "flows": {"clientCredentials": {"tokenUrl": f"{base}/oauth/token", "scopes": {}}}}},
            "headers": {
                "ETag": {"description": "Strong entity tag; it differs between languages and codings", "schema": string()},
                "Cache-Control": {"schema": string()}, "Vary": {"schema": string()},
                "Last-Modified": {"schema": string()}, "Content-Language": {"schema": string(enum=["de", "en"])},
                "Link": {"description": "RFC 8288: first, and next if there is more", "schema": string()},
                "X-Total-Count": {"description": "How many opportunities match", "schema": {"type": "integer", "minimum": 0}}},
            "responses": {"BadRequest": error("A parameter is wrong"), "Unauthorized": error("No valid access token", WWW_Authenticate=1),
                          "Forbidden": error("The service account lacks the role", WWW_Authenticate=1), "NotFound": error("No such opportunity"),
                          "PreconditionFailed": error("A precondition of the request is false")},
            "schemas": {
                "Kind": string(enum=KINDS), "Country": string(enum=COUNTRIES), "Discipline": string(enum=DISCIPLINES),
                "Summary": record(summary, optional=("closing",)),
                "Opportunity": record({**summary, "abstract": string(), "language": string(enum=["de", "en"]), "number": {"type": "integer"}}, optional=("closing",)),
                "Error": record({"error": record({"code": string(), "message": string(), "request": string(description="Name it when you ask for help")})}),
            },
        },
    }


def paging_note() -> str:
    import os
    if os.environ.get("NODE") == "inn":
        return " An answer may hold fewer items than limit, even none, although there are more: only the link tells."
    return ""
