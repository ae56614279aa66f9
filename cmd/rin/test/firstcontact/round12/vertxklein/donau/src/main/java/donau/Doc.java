package donau;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;

/** The OpenAPI document of the funding API. */
final class Doc {
  static JsonObject o(Object... kv) {
    JsonObject r = new JsonObject();
    for (int i = 0; i < kv.length; i += 2) r.put((String) kv[i], kv[i + 1]);
    return r;
  }
  static JsonArray a(Object... v) { return new JsonArray(List.of(v)); }
  static JsonObject ref(String kind, String name) { return o("$ref", "#/components/" + kind + "/" + name); }
  static JsonObject schema(String name) { return ref("schemas", name); }
  static JsonObject str(String d) { return o("type", "string", "description", d); }

  static JsonObject param(String name, String in, String d, JsonObject schema) {
    JsonObject p = o("name", name, "in", in, "description", d, "required", in.equals("path"), "schema", schema);
    if (schema.getString("type", "").equals("array")) p.put("style", "form").put("explode", true);
    return p;
  }

  static JsonObject op(String id, String summary, String d, JsonArray params, JsonObject ok, boolean missing, boolean link, boolean modified) {
    JsonObject h = o("ETag", ref("headers", "ETag"), "Cache-Control", ref("headers", "CacheControl"), "Vary", ref("headers", "Vary"), "Content-Language", ref("headers", "ContentLanguage"));
    if (link) h.put("Link", ref("headers", "Link"));
    if (modified) h.put("Last-Modified", ref("headers", "LastModified"));
    JsonObject r = o("200", o("description", "The representation, in the language of Content-Language.", "headers", h, "content", o("application/json", o("schema", ok))),
        "304", ref("responses", "NotModified"), "400", ref("responses", "BadRequest"), "401", ref("responses", "Unauthorized"), "403", ref("responses", "Forbidden"));
    if (missing) r.put("404", ref("responses", "NotFound"));
    r.put("406", ref("responses", "NotAcceptable")).put("412", ref("responses", "PreconditionFailed"));
    JsonArray all = params.copy().add(ref("parameters", "AcceptLanguage")).add(ref("parameters", "IfNoneMatch"));
    return o("get", o("operationId", id, "summary", summary, "description", d, "tags", a("Funding"), "parameters", all, "responses", r));
  }

  static JsonObject problem(String d, boolean auth) {
    JsonObject r = o("description", d);
    if (auth) r.put("headers", o("WWW-Authenticate", o("description", "Challenge of RFC 6750.", "required", true, "schema", o("type", "string"))));
    return r.put("content", o("application/problem+json", o("schema", schema("Problem"))));
  }

  static JsonObject header(String d, boolean required) { return o("description", d, "required", required, "schema", o("type", "string")); }

  static JsonObject build(String tokenUrl) {
    JsonObject id = o("type", "string", "pattern", "^DL-[0-9]{4}-[0-9]{3}$", "example", "DL-2024-001");
    JsonObject fid = o("type", "string", "pattern", "^F-[A-Z]{3}$", "example", "F-ADF");
    JsonObject date = o("type", "string", "format", "date");
    JsonArray listParams = a(
        param("page", "query", "Number of the page, from 1. A page behind the last one is empty.", o("type", "integer", "format", "int32", "minimum", 1, "maximum", 10000, "default", 1)),
        param("size", "query", "Entries on a page.", o("type", "integer", "format", "int32", "minimum", 1, "maximum", 50, "default", 20)),
        param("kind", "query", "Only calls of this kind.", schema("Kind")),
        param("region", "query", "Only calls for at least one of these regions. Repeat the parameter for several regions.", o("type", "array", "items", schema("Region"))),
        param("funderId", "query", "Only calls of this funder. An id that no funder has gives an empty list.", o("type", "string", "minLength", 1, "maxLength", 40)),
        param("deadlineFrom", "query", "Only calls whose deadline is on this day or later. Calls without a deadline are left out.", date),
        param("deadlineTo", "query", "Only calls whose deadline is on this day or earlier. Calls without a deadline are left out.", date),
        param("minBudget", "query", "Only calls with a budget of at least so many euros.", o("type", "integer", "format", "int64", "minimum", 0, "maximum", 1000000000000L)),
        param("openAccess", "query", "Only calls that do (true) or do not (false) demand open access.", o("type", "boolean")),
        param("q", "query", "Text that the title holds, in German or in English; upper and lower case are the same.", o("type", "string", "minLength", 1, "maxLength", 100)),
        param("sort", "query", "Order; a minus sign means descending. Calls without a deadline come last in either order of the deadline. Ties are broken by the id, ascending. Titles are compared by code point, in the language of the answer.",
            o("type", "string", "enum", a("id", "-id", "title", "-title", "deadline", "-deadline", "budget", "-budget", "updatedAt", "-updatedAt"), "default", "id")));
    JsonObject paths = o(
        "/calls", op("listCalls", "List of calls", "All calls that pass every given filter, page by page. The entries are the first members of the single records, with the same values. "
            + "A filter that is given twice (other than region) and a parameter that is not described here are refused with 400.", listParams, schema("CallPage"), false, true, false),
        "/calls/{callId}", op("getCall", "One call", "The whole record. An id that no call has, of whatever well-encoded form, gives 404.", a(param("callId", "path", "Id of the call.", id)), schema("Call"), true, false, true),
        "/calls/{callId}/stages", op("listStages", "Stages of a call", "The stages by number; their count is the member stageCount of the call. A call without a deadline has none. The last stage closes on the deadline.",
            a(param("callId", "path", "Id of the call.", id)), o("type", "array", "items", schema("Stage")), true, false, false),
        "/funders", op("listFunders", "Funders", "All funders, by id, without pages.", a(), o("type", "array", "items", schema("Funder")), false, false, false),
        "/funders/{funderId}", op("getFunder", "One funder", "An entry of the list of funders. An id that no funder has, of whatever well-encoded form, gives 404.", a(param("funderId", "path", "Id of the funder.", fid)), schema("Funder"), true, false, false));
    JsonObject common = o("id", id, "kind", schema("Kind"), "title", str("Title in the language of the answer."), "acronym", str("Left out if the call has none."), "funderId", fid,
        "regions", o("type", "array", "minItems", 1, "uniqueItems", true, "items", schema("Region")), "opensOn", date, "deadline", o("type", "string", "format", "date", "nullable", true, "description", "null if the call has no deadline."),
        "budget", schema("Money"), "openAccess", o("type", "boolean"), "updatedAt", o("type", "string", "format", "date-time"));
    JsonObject full = common.copy().mergeIn(o("description", str("In the language of the answer."), "website", o("type", "string", "format", "uri"), "contact", o("type", "string", "format", "email"), "stageCount", o("type", "integer", "minimum", 0)));
    JsonArray req = a("id", "kind", "title", "funderId", "regions", "opensOn", "deadline", "budget", "openAccess", "updatedAt");
    JsonObject schemas = o(
        "Kind", o("type", "string", "enum", new JsonArray(Data.KINDS)), "Region", o("type", "string", "enum", new JsonArray(Data.REGIONS)),
        "Money", o("type", "object", "required", a("amount", "currency"), "properties", o("amount", o("type", "integer", "format", "int64", "minimum", 0), "currency", o("type", "string", "enum", a("EUR"))), "additionalProperties", false),
        "CallSummary", o("type", "object", "required", req, "properties", common, "additionalProperties", false),
        "Call", o("type", "object", "required", req.copy().add("description").add("website").add("contact").add("stageCount"), "properties", full, "additionalProperties", false),
        "CallPage", o("type", "object", "required", a("items", "page", "size", "total", "pages"), "properties", o("items", o("type", "array", "items", schema("CallSummary")),
            "page", o("type", "integer", "description", "The page asked for."), "size", o("type", "integer", "description", "The size asked for."), "total", o("type", "integer", "description", "Calls that pass the filters."), "pages", o("type", "integer", "description", "Pages of that size; 0 if nothing passes.")), "additionalProperties", false),
        "Stage", o("type", "object", "required", a("number", "opensOn", "closesOn", "name"), "properties", o("number", o("type", "integer", "minimum", 1), "opensOn", date, "closesOn", date, "name", str("In the language of the answer.")), "additionalProperties", false),
        "Funder", o("type", "object", "required", a("id", "name", "country", "city", "callCount"), "properties", o("id", fid, "name", o("type", "string"), "country", o("type", "string", "pattern", "^[A-Z]{2}$"), "city", o("type", "string"),
            "callCount", o("type", "integer", "description", "Calls of this funder: the total of the list of calls with this funderId.")), "additionalProperties", false),
        "Problem", o("type", "object", "required", a("type", "title", "status", "detail"), "properties", o("type", o("type", "string", "format", "uri"), "title", o("type", "string"), "status", o("type", "integer", "description", "The status of the answer."), "detail", o("type", "string"),
            "invalidParams", o("type", "array", "items", o("type", "object", "required", a("name", "reason"), "properties", o("name", o("type", "string"), "reason", o("type", "string")))))));
    JsonObject responses = o(
        "NotModified", o("description", "The client holds the current representation.", "headers", o("ETag", ref("headers", "ETag"), "Cache-Control", ref("headers", "CacheControl"), "Vary", ref("headers", "Vary"))),
        "BadRequest", problem("A parameter cannot be used; invalidParams names it. Or the Authorization header is malformed, or the path is not well encoded (RFC 3986).", false), "Unauthorized", problem("No token, or one that is not valid for this API.", true),
        "Forbidden", problem("The client has not the role EXTERNAL_API_CLIENT.", true), "NotFound", problem("There is no such record.", false), "NotAcceptable", problem("The client does not accept application/json.", false),
        "PreconditionFailed", problem("The condition of If-Match or If-Unmodified-Since is false.", false));
    JsonObject headers = o("ETag", header("Strong entity tag of the representation.", true), "CacheControl", header("private, no-cache", true), "Vary", header("Accept, Accept-Language and Authorization.", true), "LastModified", header("The member updatedAt.", true),
        "ContentLanguage", header("de or en.", true), "Link", header("Relations first, last, prev and next (RFC 8288), with the filters of the request.", true));
    JsonObject parameters = o("AcceptLanguage", param("Accept-Language", "header", "de (default) or en. Other languages are answered in German.", o("type", "string")),
        "IfNoneMatch", param("If-None-Match", "header", "Entity tags that the client holds; 304 if one of them is current.", o("type", "string")));
    return o("openapi", "3.0.3", "info", o("title", "Donau funding API", "version", "3.2.0", "description",
            "Annotated funding calls of the Donau node for external API clients.\n\nEvery operation needs an access token of the node's authorization server (client credentials, scope `" + Auth.SCOPE
            + "`) and the role EXTERNAL_API_CLIENT. Tokens live " + Auth.LIFE + " seconds. " + (Node.is("vertx-kranich") ? "As long as more than 30 of them are left, the token endpoint answers a client with the same token again; expires_in says what is left. " : "") + "HEAD answers as GET without content, OPTIONS with 204 and Allow; any other method gets 405 with Allow. "
            + "Every error of this API is a problem document (RFC 9457). All data is in UTF-8."),
        "servers", a(o("url", "/donau/funding/v3", "description", "This node")), "tags", a(o("name", "Funding")), "security", a(o("clientCredentials", a(Auth.SCOPE))), "paths", paths,
        "components", o("schemas", schemas, "responses", responses, "headers", headers, "parameters", parameters,
            "securitySchemes", o("clientCredentials", o("type", "oauth2", "flows", o("clientCredentials", o("tokenUrl", tokenUrl, "scopes", o(Auth.SCOPE, "Read funding calls")))))));
  }

  private Doc() { }
}
