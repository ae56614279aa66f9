package at.alp;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The OpenAPI document of the funding API. */
final class ApiDocs {
    private static Map<String, Object> m(Object... kv) {
        Map<String, Object> r = new LinkedHashMap<>();
        for (int i = 0; i < kv.length; i += 2) r.put((String) kv[i], kv[i + 1]);
        return r;
    }

    private static Map<String, Object> ref(String n) { return m("$ref", "#/components/schemas/" + n); }

    private static Map<String, Object> array(Object items) { return m("type", "array", "items", items); }

    private static Map<String, Object> object(Object... kv) {
        Map<String, Object> p = m(kv);
        return m("type", "object", "required", List.copyOf(p.keySet()), "properties", p);
    }

    private static final Map<String, Object> STR = m("type", "string"), COUNT = m("type", "integer", "format", "int32", "minimum", 0),
        TIME = m("type", "string", "format", "date-time", "description", "UTC with Z"), MONEY = m("type", "number", "minimum", 0, "description", "Euros with at most two decimals");

    private static Map<String, Object> schema(Params.P p) {
        Map<String, Object> s = switch (p.kind()) {
            case "word" -> m("type", "string", "enum", p.values());
            case "list" -> m("type", "array", "items", m("type", "string", "enum", p.values()), "minItems", 1);
            case "bool" -> m("type", "boolean");
            case "int" -> m("type", "integer", "format", "int32", "minimum", p.min(), "maximum", p.max());
            case "decimal" -> m("type", "number", "minimum", p.min(), "maximum", p.max());
            case "date" -> m("type", "string", "format", "date");
            default -> m("type", "string", "minLength", p.min(), "maxLength", p.max());
        };
        if (p.preset() != null) s.put("default", p.kind().equals("int") ? (Object) Integer.valueOf(p.preset()) : p.preset());
        return s;
    }

    private static final String LANGUAGE_TEXT = "Language of title, name and description: German (de) or English (en). German, if neither is accepted or both are equally welcome.";

    private static Map<String, Object> op(String id, String summary, List<Params.P> table, Object schema, boolean language, boolean list, boolean item) {
        List<Object> ps = new ArrayList<>();
        if (item) ps.add(m("name", "id", "in", "path", "required", true, "schema", STR));
        for (Params.P p : table) {
            Map<String, Object> d = m("name", p.name(), "in", "query", "required", false, "description", p.text(), "schema", schema(p));
            if (p.kind().equals("list")) {
                d.put("style", "form");
                d.put("explode", true);
            }
            ps.add(d);
        }
        if (language) ps.add(m("name", "Accept-Language", "in", "header", "required", false, "description", LANGUAGE_TEXT, "schema", STR));
        Map<String, Object> h = m("ETag", m("description", "Weak validator", "schema", STR), "Cache-Control", m("description", "Always private, no-cache", "schema", STR), "Vary", m("schema", STR));
        if (language) h.put("Content-Language", m("description", "de or en", "schema", STR));
        if (list) {
            h.put("X-Total-Count", m("description", "Number of all items that meet the filters", "schema", m("type", "integer")));
            h.put("Link", m("description", "RFC 8288: rel=\"first\" always; rel=\"next\" if and only if more items follow. The URLs repeat the filters, the order and the limit.", "schema", STR));
        }
        if (id.equals("getCall")) h.put("Last-Modified", m("description", "Since when the answer is as it is: the latest of updatedAt and, once passed, opensAt and deadline", "schema", STR));
        Map<String, Object> r = m("200", m("description", "Success", "headers", h, "content", m("application/json", m("schema", schema))), "304", m("description", "Not modified"));
        r.put("412", m("$ref", "#/components/responses/E412"));
        for (String e : item ? List.of("400", "401", "403", "404", "405", "406") : List.of("400", "401", "403", "405", "406")) r.put(e, m("$ref", "#/components/responses/E" + e));
        return m("get", m("operationId", id, "tags", List.of("Funding"), "summary", summary, "parameters", ps, "security", List.of(m("ris", List.of("ris.read"))), "responses", r));
    }

    private static Map<String, Object> error(String text, String header) {
        Map<String, Object> r = m("description", text);
        if (header != null) r.put("headers", m(header, m("schema", STR)));
        r.put("content", m("application/problem+json", m("schema", ref("Problem"))));
        return r;
    }

    static Map<String, Object> document() {
        Map<String, Object> status = m("type", "string", "enum", List.of("PLANNED", "OPEN", "CLOSED"), "description", "PLANNED before opensAt, OPEN from opensAt until before deadline (for good without one), CLOSED from the deadline on");
        Map<String, Object> deadline = m("type", "string", "format", "date-time", "nullable", true, "description", "UTC with Z; null for a call without a deadline");
        Map<String, Object> stage = m("type", "string", "enum", List.of("OUTLINE", "FULL"));
        Object[] common = {"id", STR, "title", STR, "funderId", STR, "status", status, "topics", array(m("type", "string", "enum", Seed.TOPICS)), "targetGroups", array(m("type", "string", "enum", Seed.GROUPS)),
            "international", m("type", "boolean"), "opensAt", TIME, "deadline", deadline, "budget", object("amount", MONEY, "currency", m("type", "string", "enum", List.of("EUR"))),
            "maxRate", m("type", "integer", "minimum", 0, "maximum", 100, "description", "Percent"), "website", m("type", "string", "format", "uri"), "updatedAt", TIME};
        List<Object> more = new ArrayList<>(List.of(common));
        more.addAll(List.of("description", STR, "deadlines", array(object("stage", stage, "at", TIME))));
        return m("openapi", "3.0.3",
            "info", m("title", "Funding API of the node ALP", "version", "3.0.0", "description",
                "Funding calls of Alpine funders. Every request carries a bearer token of an account with the role EXTERNAL_API_CLIENT. "
                + "Lists are bare JSON arrays in pages: follow Link rel=\"next\" (RFC 8288) until it is missing; X-Total-Count counts all matches. "
                + "A query parameter that is not declared here is answered with 400, as is a value that is not allowed. "
                + "Errors are application/problem+json (RFC 9457, in English). GET and HEAD understand If-None-Match, If-Modified-Since (single call), If-Match (only * matches, as entity tags are weak) and If-Unmodified-Since (single call). "
                + "OPTIONS names the methods in Allow and needs no token. Longer answers are sent with gzip to those who accept it. "
                + (Variant.is("traun") ? "For the sake of clocks that differ, this API accepts a token up to 45 seconds past its exp (RFC 7519, 4.1.4). " : "")
                + (Variant.is("kamp") ? "A page may hold fewer items than limit, even none, although more follow: only a missing rel=\"next\" ends the list. " : "")
                + (Variant.is("ybbs") ? "The order of the members of a JSON object is arbitrary and may differ from answer to answer (RFC 8259). " : "")
                + "A token lives 72 seconds; its signature can be checked with the keys at " + Web.ROOT + "/realms/ris/protocol/openid-connect/certs. After 12 wrong secrets in a row (no right one in between) within 60 seconds the token endpoint refuses the account for 20 seconds (429 with Retry-After)."),
            "servers", List.of(m("url", "/alp/funding")),
            "tags", List.of(m("name", "Funding")),
            "paths", m(
                "/v3/calls", op("listCalls", "List funding calls", Params.CALLS, array(ref("Call")), true, true, false),
                "/v3/calls/{id}", op("getCall", "Read one funding call", Params.NONE, ref("CallDetail"), true, false, true),
                "/v3/funders", op("listFunders", "List funders by id", Params.FUNDERS, array(ref("Funder")), true, true, false),
                "/v3/funders/{id}", op("getFunder", "Read one funder", Params.NONE, ref("Funder"), true, false, true),
                "/v3/deadlines", op("listDeadlines", "List all deadlines by time, then callId, then stage", Params.DEADLINES, array(ref("Deadline")), true, true, false),
                "/v3/statistics", op("getStatistics", "Numbers about all calls", Params.NONE, ref("Statistics"), false, false, false)),
            "components", m(
                "securitySchemes", m("ris", m("type", "oauth2", "description", "Client credentials, by Basic or in the form", "flows", m("clientCredentials",
                    m("tokenUrl", Web.ROOT + TokenController.LIVE, "scopes", m("ris.read", "Read; given to every account"))))),
                "responses", m("E400", error("Bad parameter", null), "E401", error("The token is missing, expired or meant for others", "WWW-Authenticate"), "E403", error("The role EXTERNAL_API_CLIENT is missing", "WWW-Authenticate"),
                    "E404", error("Not found", null), "E405", error("Method not allowed", "Allow"), "E406", error("JSON is not accepted", null), "E412", error("If-Match or If-Unmodified-Since is not met", null)),
                "schemas", m(
                    "Problem", object("type", STR, "title", STR, "status", m("type", "integer"), "detail", STR),
                    "Call", object(common), "CallDetail", object(more.toArray()),
                    "Funder", object("id", STR, "name", STR, "acronym", STR, "country", m("type", "string", "enum", List.of("AT", "CH", "DE"))),
                    "Deadline", object("callId", STR, "title", STR, "stage", stage, "at", TIME),
                    "Statistics", object("calls", COUNT, "byStatus", object("PLANNED", COUNT, "OPEN", COUNT, "CLOSED", COUNT), "byFunder", array(object("funderId", STR, "calls", COUNT)), "totalBudget", MONEY))));
    }

    private ApiDocs() { }
}
