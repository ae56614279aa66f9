import com.fasterxml.jackson.databind.ObjectMapper;
import io.javalin.Javalin;
import io.javalin.http.*;
import jakarta.servlet.http.*;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.*;
import java.util.stream.*;

/** Node KFO: Javalin, opaque tokens kept in memory, offset/limit paging in an envelope. */
public class Node {
    static final String N = System.getenv().getOrDefault("NODE", "base");
    static final int PORT = Integer.parseInt(System.getenv().getOrDefault("PORT", "9101"));
    static final String BASE = "http://127.0.0.1:" + PORT, API = "/kfo/funding/v3", INFO = "/kfo/info/v1/oauth/info/";
    static final int TTL = 300;
    static final ObjectMapper J = new ObjectMapper();
    static boolean v(String... names) { return List.of(names).contains(N); }

    record Client(String id, String secret, String env, boolean role, String affiliation) {}
    record Tok(Client client, String env, long exp, String scope) {}
    static final Map<String, Client> CLIENTS = Stream.of(
        new Client("kfo-harvester", "h4rv:est+er/%2Bkey=A1", "prod", true, "AFF-KFO-01"),
        new Client("kfo-portal", "p0rtal-Secret_77.b~Z", "prod", true, "AFF-KFO-02"),
        new Client("kfo-guest", "gu3st-Secret_13.q~Y", "prod", false, null),
        new Client("kfo-stage", "st4ge-Secret_55.w~X", "staging", true, "AFF-KFO-01"))
        .collect(Collectors.toMap(Client::id, c -> c));
    static final Map<String, Tok> TOKENS = new ConcurrentHashMap<>();
    static final SecureRandom RND = new SecureRandom();

    static class Err extends RuntimeException {
        final int status; final String code, msg;
        Err(int s, String c, String m) { super(m); status = s; code = c; msg = m; }
    }
    static Map<String, Object> m(Object... kv) {
        Map<String, Object> r = new LinkedHashMap<>();
        for (int i = 0; i < kv.length; i += 2) if (kv[i + 1] != null) r.put((String) kv[i], kv[i + 1]);
        return r;
    }
    static String json(Object o) { try { return J.writeValueAsString(o); } catch (Exception e) { throw new RuntimeException(e); } }
    static boolean same(String a, String b) { return MessageDigest.isEqual(a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8)); }

    // ---------------------------------------------------------------- data
    static final String[] FUNDERS = {"FND-01|Klimafonds Österreich|AT", "FND-02|Stiftung Zürichsee|CH", "FND-03|Fondation Élan|FR", "FND-04|Łódź Science Trust|PL", "FND-05|Nordic Data Council|SE"};
    static final String[] GROUPS = {"UNIVERSITY", "RESEARCH_INSTITUTE", "COMPANY", "NON_PROFIT"};
    static final String[][] TOPIC = {{"Alpine Gletscher", "Alpine glaciers"}, {"Quantenmaterialien", "Quantum materials"}, {"Bürgerwissenschaft", "Citizen science"}, {"Seltene Sprachen", "Rare languages"}, {"Offene Daten", "Open data"}, {"Gesunde Städte", "Healthy cities"}, {"Wasserstoff & Wärme", "Hydrogen & heat"}};
    static final List<Map<String, Object>> CALLS = new ArrayList<>();
    static {
        for (int i = 1; i <= 60; i++) {
            LocalDate opens = LocalDate.of(2025, 9, 1).plusDays(i * 17L % 700), end = opens.plusDays(40 + i * 37L % 420);
            String[] t = TOPIC[i % 7];
            List<String> g = new ArrayList<>();
            for (int k = 0; k < 4; k++) if ((i + k) % 3 == 0 || k == i % 4) g.add(GROUPS[k]);
            CALLS.add(m("id", String.format("KFO-%04d", i), "title", List.of(m("lang", "de", "text", t[0] + " " + i), m("lang", "en", "text", t[1] + " " + i)),
                "acronym", i % 4 == 0 ? null : t[1].substring(0, 3).toUpperCase() + "-" + i, "funderId", FUNDERS[i * 3 % 5].substring(0, 6),
                "opens", opens.toString(), "deadline", end + "T" + (i % 5 == 0 ? "23:59:59" : "17:00:00") + (i % 2 == 0 ? "Z" : "+02:00"),
                "budget", i % 6 == 0 ? null : m("amount", 50000 + i * 12500 % 400000 + (i % 8 == 0 ? 0.5 : 0), "currency", i % 5 == 2 ? "CHF" : "EUR"),
                "targetGroups", g, "website", "https://calls.kfo.example/" + i, "modified", "2026-0" + (1 + i % 9) + "-" + (10 + i % 18) + "T08:" + (10 + i % 50) + ":00Z",
                "description", "Proposals on " + t[1].toLowerCase() + " are invited; call no. " + i + ".",
                "contact", m("name", "Büro " + (1 + i % 6), "email", "office" + (1 + i % 6) + "@kfo.example")));
        }
    }
    static OffsetDateTime deadline(Map<String, Object> c) { return OffsetDateTime.parse((String) c.get("deadline")); }
    static String status(Map<String, Object> c) {
        if (LocalDate.parse((String) c.get("opens")).isAfter(LocalDate.now(ZoneOffset.UTC))) return "FORTHCOMING";
        return deadline(c).isBefore(OffsetDateTime.now()) ? "CLOSED" : "OPEN";
    }
    static Map<String, Object> view(Map<String, Object> c, Client who, boolean full) {
        Map<String, Object> r = new LinkedHashMap<>(c);
        r.put("status", status(c));
        int n = Integer.parseInt(((String) c.get("id")).substring(4));
        r.put("annotations", n % 3 == 0 ? List.of(m("affiliationId", who.affiliation, "note", "Internal deadline of " + who.affiliation + ": two weeks earlier")) : List.of());
        if (!full) { r.remove("description"); r.remove("contact"); }
        return r;
    }

    // ---------------------------------------------------------------- token endpoint
    static void token(Context ctx, String env) {
        boolean viaHeader = ctx.header("Authorization") != null;
        if (!(v("no-store-basic") && viaHeader)) ctx.header("Cache-Control", "no-store").header("Pragma", "no-cache");
        String ct = ctx.contentType() == null ? "" : ctx.contentType().split(";")[0].trim().toLowerCase();
        if (!ct.equals("application/x-www-form-urlencoded")) throw new Err(400, "invalid_request", "the body must be application/x-www-form-urlencoded");
        Map<String, String> f = new HashMap<>();
        for (String p : ctx.body().split("&")) {
            if (p.isEmpty()) continue;
            String[] kv = p.split("=", 2);
            String k = dec(kv[0]), val = kv.length > 1 ? dec(kv[1]) : "";
            if (f.containsKey(k)) throw new Err(400, "invalid_request", "a parameter is repeated");
            f.put(k, val);
        }
        if (v("servlet-params")) ctx.queryParamMap().forEach((k, x) -> f.putIfAbsent(k, x.get(0)));
        f.values().removeIf(String::isEmpty);
        String id = f.get("client_id"), secret = f.get("client_secret"), h = ctx.header("Authorization");
        boolean basic = h != null && h.regionMatches(true, 0, "Basic ", 0, 6);
        if (h != null) {
            if (!basic) throw new Err(401, "invalid_client", "use HTTP Basic or the form");
            if (secret != null) throw new Err(400, "invalid_request", "two ways of client authentication at once");
            String bid;
            try {
                String[] up = new String(Base64.getDecoder().decode(h.substring(6).trim()), StandardCharsets.UTF_8).split(":", 2);
                bid = dec(up[0]); secret = v("basic-raw") ? up[1] : dec(up[1]);
            } catch (RuntimeException e) { throw new Err(401, "invalid_client", "client authentication failed"); }
            if (id != null && !id.equals(bid)) throw new Err(400, "invalid_request", "client_id differs from the authenticated client");
            id = bid;
        }
        Client c = id == null ? null : CLIENTS.get(id);
        boolean ok = c != null && secret != null && same(c.secret, secret) && c.env.equals(env);
        if (!ok) throw new Err(401, "invalid_client", "client authentication failed");
        String grant = f.get("grant_type");
        if (grant == null) throw new Err(400, "invalid_request", "grant_type is missing");
        if (!grant.equals("client_credentials")) throw new Err(400, "unsupported_grant_type", "only client_credentials");
        String scope = f.getOrDefault("scope", "funding");
        for (String s : scope.split(" ")) if (!s.equals("funding")) throw new Err(400, "invalid_scope", "the only scope is funding");
        byte[] b = new byte[v("right-long-token") ? 2400 : 32];
        RND.nextBytes(b);
        String t = "kfo_" + Base64.getUrlEncoder().withoutPadding().encodeToString(b);
        if (v("right-long-token")) t = t.replace('_', '/').replace('-', '~') + "==";
        TOKENS.values().removeIf(x -> x.exp < now());
        TOKENS.put(t, new Tok(c, env, now() + TTL, scope));
        ctx.status(200).contentType("application/json").result(json(m("access_token", t, "token_type", v("right-long-token") ? "bearer" : "Bearer", "expires_in", v("right-long-token") ? null : TTL, "scope", v("right-long-token") ? null : scope)));
    }
    static long now() { return System.currentTimeMillis() / 1000; }
    static String dec(String s) {
        try { return URLDecoder.decode(s, StandardCharsets.UTF_8); }
        catch (IllegalArgumentException e) { throw new Err(400, "invalid_request", "malformed encoding"); }
    }

    // ---------------------------------------------------------------- resource server
    static final Pattern B68 = Pattern.compile("[A-Za-z0-9._~+/-]+=*");
    static Tok bearer(Context ctx) {
        List<String> hs = Collections.list(ctx.req().getHeaders("Authorization"));
        if (hs.isEmpty()) throw new Err(401, "unauthorized", "an access token is needed");
        if (hs.size() > 1) throw new Err(400, "invalid_request", "more than one Authorization header");
        String h = hs.get(0);
        if (!h.regionMatches(true, 0, "Bearer ", 0, 7)) throw new Err(401, "unauthorized", "an access token is needed");
        String t = h.substring(7).trim();
        if (!B68.matcher(t).matches()) throw new Err(401, "invalid_token", "the access token is malformed");
        Tok k = TOKENS.get(t);
        if (k == null || k.exp <= now() || !k.env.equals("prod")) throw new Err(401, "invalid_token", "the access token is unknown, expired or revoked");
        return k;
    }
    static void needRole(Tok k) {
        if (!k.client.role || k.client.affiliation == null) throw v("right-role-404") ? new Err(404, "not_found", "there is nothing here") : new Err(403, "insufficient_scope", "the role EXTERNAL_API_CLIENT is needed");
    }
    static void send(Context ctx, Object body) {
        String s = json(body);
        String tag;
        try { tag = "\"" + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(s.getBytes(StandardCharsets.UTF_8)), 0, 8) + "\""; }
        catch (GeneralSecurityException e) { throw new RuntimeException(e); }
        ctx.header("ETag", v("right-weak-gzip") ? "W/" + tag : tag).header("Cache-Control", "private, no-cache").header("Vary", v("right-weak-gzip", "gzip-strong-etag") ? "Authorization, Accept-Encoding" : "Authorization");
        String inm = ctx.header("If-None-Match");
        if (inm != null && (inm.trim().equals("*") || Arrays.stream(inm.split(",")).map(x -> x.trim().replaceFirst("^W/", "")).anyMatch(tag::equals))) { ctx.status(304); return; }
        ctx.status(200).contentType("application/json").result(s);
    }
    static void fail(Context ctx, Err e) {
        boolean tokenEndpoint = ctx.path().endsWith("/token");
        if (tokenEndpoint) {
            ctx.header("Cache-Control", "no-store").header("Pragma", "no-cache");
            if (e.status == 401) ctx.header("WWW-Authenticate", "Basic realm=\"kfo\"");
            ctx.status(e.status).contentType("application/json").result(json(m("error", e.code, "error_description", e.msg)));
            return;
        }
        ctx.header("Cache-Control", "no-store");
        if (e.status == 401) ctx.header("WWW-Authenticate", (v("right-two-challenges") ? "Negotiate, " : "") + "Bearer realm=\"kfo\"" + (e.code.equals("invalid_token") ? ", error=\"invalid_token\", error_description=\"" + e.msg + "\"" : ""));
        if (e.code.equals("insufficient_scope")) ctx.header("WWW-Authenticate", "Bearer realm=\"kfo\", error=\"insufficient_scope\"");
        if (e.status == 400 && e.code.equals("invalid_request")) ctx.header("WWW-Authenticate", "Bearer realm=\"kfo\", error=\"invalid_request\"");
        ctx.status(e.status).contentType("application/json").result(json(m("code", e.code, "message", e.msg, "status", e.status)));
    }
    static String one(Context ctx, String name) {
        List<String> l = ctx.queryParams(name);
        if (l.size() > 1) throw bad(name, "may be given once");
        return l.isEmpty() ? null : l.get(0);
    }
    static Err bad(String name, String why) { return new Err(400, "invalid_parameter", name + ": " + why); }
    static int num(Context ctx, String name, int dflt, int min, int max) {
        String s = one(ctx, name);
        if (s == null) return dflt;
        if (!s.matches("\\d{1,9}") || Integer.parseInt(s) < min || Integer.parseInt(s) > max) throw bad(name, "a whole number from " + min + " to " + max);
        return Integer.parseInt(s);
    }
    static LocalDate date(Context ctx, String name) {
        String s = one(ctx, name);
        try { return s == null ? null : LocalDate.parse(s); } catch (DateTimeException e) {
            if (v("leak-date") && s.matches("\\d{4}-\\d\\d-\\d\\d")) throw new Err(500, "internal_error", e + "\n\tat " + e.getStackTrace()[0] + "\n\tat " + e.getStackTrace()[1]);
            throw bad(name, "a date such as 2026-03-01");
        }
    }
    static String oneOf(Context ctx, String name, String... allowed) {
        String s = one(ctx, name);
        if (s != null && !List.of(allowed).contains(s)) throw bad(name, "one of " + String.join(", ", allowed));
        return s;
    }
    static String title(Map<String, Object> c) { return ((List<?>) c.get("title")).stream().map(x -> (String) ((Map<?, ?>) x).get("text")).collect(Collectors.joining("\n")); }
    static void page(Context ctx, String path, List<?> all, int total, Map<String, String> q, int offset, int limit) {
        List<?> items = all.subList(Math.min(offset, all.size()), Math.min(offset + limit, all.size()));
        int last = total == 0 ? 0 : (total - 1) / limit * limit;
        send(ctx, m("total", total, "offset", offset, "limit", limit, "items", items, "links", m(
            "self", link(path, q, offset, limit), "first", link(path, q, 0, limit), "last", link(path, q, last, limit),
            "prev", offset > 0 ? link(path, q, Math.max(0, Math.min(offset - limit, last)), limit) : null,
            "next", offset + limit < total ? link(path, q, offset + limit, limit) : null)));
    }
    static String link(String path, Map<String, String> q, int offset, int limit) {
        StringBuilder b = new StringBuilder(BASE + API + path + "?");
        q.forEach((k, x) -> b.append(k).append('=').append(URLEncoder.encode(x, StandardCharsets.UTF_8)).append('&'));
        return b + "offset=" + offset + "&limit=" + limit;
    }
    static void calls(Context ctx) {
        Tok k = bearer(ctx);
        needRole(k);
        int offset = num(ctx, "offset", 0, 0, 999999999), limit = num(ctx, "limit", 20, 1, 50);
        String status = oneOf(ctx, "status", "OPEN", "FORTHCOMING", "CLOSED"), group = oneOf(ctx, "targetGroup", GROUPS);
        String sort = oneOf(ctx, "sort", "id", "deadline", "-deadline"), funder = one(ctx, "funderId"), text = one(ctx, "q");
        LocalDate from = date(ctx, "deadlineFrom"), to = date(ctx, "deadlineTo");
        Stream<Map<String, Object>> s = CALLS.stream();
        List<Map<String, Object>> counted = null;
        if (status != null) s = s.filter(c -> status(c).equals(status));
        if (group != null) s = s.filter(c -> ((List<?>) c.get("targetGroups")).contains(group));
        if (funder != null) s = s.filter(c -> c.get("funderId").equals(funder));
        if (from != null) s = s.filter(c -> !day(c).isBefore(from));
        if (to != null) s = s.filter(c -> v("deadline-to-midnight") ? !deadline(c).isAfter(to.atStartOfDay().atOffset(ZoneOffset.UTC)) : !day(c).isAfter(to));
        if (v("total-q")) counted = s.toList();
        if (counted != null) s = counted.stream();
        if (text != null) s = s.filter(c -> title(c).toLowerCase(Locale.ROOT).contains(text.toLowerCase(Locale.ROOT)));
        Comparator<Map<String, Object>> byId = Comparator.comparing(c -> (String) c.get("id"));
        Comparator<Map<String, Object>> byEnd = Comparator.comparing(Node::deadline);
        if ("deadline".equals(sort)) s = s.sorted(byEnd.thenComparing(byId));
        if ("-deadline".equals(sort)) s = s.sorted(byEnd.reversed().thenComparing(byId));
        Map<String, String> q = new LinkedHashMap<>();
        for (String p : List.of("status", "targetGroup", "funderId", "q", "deadlineFrom", "deadlineTo", "sort")) if (one(ctx, p) != null) q.put(p, one(ctx, p));
        List<Map<String, Object>> found = s.map(c -> view(c, k.client, false)).toList();
        page(ctx, "/calls", found, counted == null ? found.size() : counted.size(), q, offset, limit);
    }
    /** the day of the deadline in UTC */
    static LocalDate day(Map<String, Object> c) { return deadline(c).withOffsetSameInstant(ZoneOffset.UTC).toLocalDate(); }
    static final Map<String, Object[]> CACHE = new ConcurrentHashMap<>();
    static void call(Context ctx) {
        boolean open = v("slash-bypass") && ctx.path().endsWith("/");
        Tok k = open ? new Tok(CLIENTS.get("kfo-harvester"), "prod", 0, "funding") : bearer(ctx);
        if (v("detail-cache-role")) {
            Object[] hit = CACHE.get(ctx.path());
            if (hit != null && (long) hit[0] > now() - 30) { send(ctx, hit[1]); return; }
        }
        needRole(k);
        Map<String, Object> c = CALLS.stream().filter(x -> x.get("id").equals(ctx.pathParam("id"))).findFirst().orElseThrow(() -> new Err(404, "not_found", "there is no such call"));
        Map<String, Object> body = view(c, k.client, true);
        if (v("detail-cache-role")) CACHE.put(ctx.path(), new Object[]{now(), body});
        send(ctx, body);
    }
    static Map<String, Object> funder(String f) {
        String[] p = f.split("\\|");
        return m("id", p[0], "name", p[1], "country", p[2], "calls", (int) CALLS.stream().filter(c -> c.get("funderId").equals(p[0])).count());
    }
    static void funders(Context ctx) {
        needRole(bearer(ctx));
        int offset = num(ctx, "offset", 0, 0, 999999999), limit = num(ctx, "limit", 20, 1, 50);
        page(ctx, "/funders", Arrays.stream(FUNDERS).map(Node::funder).toList(), FUNDERS.length, Map.of(), offset, limit);
    }
    static void funderById(Context ctx) {
        needRole(bearer(ctx));
        send(ctx, Arrays.stream(FUNDERS).filter(x -> x.startsWith(ctx.pathParam("id") + "|")).findFirst().map(Node::funder).orElseThrow(() -> new Err(404, "not_found", "there is no such funder")));
    }
    static void info(Context ctx) {
        Tok k = bearer(ctx);
        send(ctx, m("node", "KFO", "clientId", k.client.id, "serviceAccount", "svc-" + k.client.id, "affiliationId", k.client.affiliation, "roles", k.client.role ? List.of("EXTERNAL_API_CLIENT") : List.of(),
            "endpoints", m("funding", List.of(m("name", "FUNDINGS", "majorVersion", 3, "minorVersion", 0, "url", BASE + API + "/calls"), m("name", "FUNDING", "majorVersion", 3, "minorVersion", 0, "url", BASE + API + "/calls/{id}")))));
    }

    // ---------------------------------------------------------------- document
    static final String DOC = """
{"openapi":"3.0.3","info":{"title":"KFO Funding API","version":"3.1.0","description":"Funding calls. All operations but this document need a bearer token and the role EXTERNAL_API_CLIENT. Annotations are those of the caller's affiliation. A parameter that is given twice is refused; unknown parameters are ignored."},
"servers":[{"url":"@BASE@/kfo/funding/v3"}],"security":[{"oauth":["funding"]}],
"paths":{
"/api-docs":{"get":{"operationId":"apiDocs","security":[],"responses":{"200":{"description":"This document","content":{"application/json":{"schema":{"type":"object"}}}}}}},
"/calls":{"get":{"operationId":"listCalls","summary":"List funding calls, by id unless sorted","parameters":[
{"name":"offset","in":"query","description":"records to skip","schema":{"type":"integer","minimum":0,"maximum":999999999,"default":0}},
{"name":"limit","in":"query","description":"records in a page","schema":{"type":"integer","minimum":1,"maximum":50,"default":20}},
{"name":"status","in":"query","description":"calls with this status","schema":{"$ref":"#/components/schemas/Status"}},
{"name":"targetGroup","in":"query","description":"calls that name this target group","schema":{"$ref":"#/components/schemas/TargetGroup"}},
{"name":"funderId","in":"query","description":"calls of this funder","schema":{"type":"string"}},
{"name":"q","in":"query","description":"calls with this text in a title of any language, whatever its case","schema":{"type":"string"}},
{"name":"deadlineFrom","in":"query","description":"calls with a deadline on this day (UTC) or later","schema":{"type":"string","format":"date"}},
{"name":"deadlineTo","in":"query","description":"calls with a deadline on this day (UTC) or earlier","schema":{"type":"string","format":"date"}},
{"name":"sort","in":"query","description":"ascending by id or deadline, or descending by deadline","schema":{"type":"string","enum":["id","deadline","-deadline"]}}],
"responses":{"200":{"description":"A page of calls","content":{"application/json":{"schema":{"$ref":"#/components/schemas/CallPage"}}}},"304":{"description":"Not modified"},"400":{"$ref":"#/components/responses/Error"},"401":{"$ref":"#/components/responses/Error"},"403":{"$ref":"#/components/responses/Error"}}}},
"/calls/{id}":{"get":{"operationId":"getCall","summary":"One funding call","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
"responses":{"200":{"description":"The call","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Call"}}}},"304":{"description":"Not modified"},"401":{"$ref":"#/components/responses/Error"},"403":{"$ref":"#/components/responses/Error"},"404":{"$ref":"#/components/responses/Error"}}}},
"/funders":{"get":{"operationId":"listFunders","summary":"List funders","parameters":[{"name":"offset","in":"query","schema":{"type":"integer","minimum":0,"maximum":999999999,"default":0}},{"name":"limit","in":"query","schema":{"type":"integer","minimum":1,"maximum":50,"default":20}}],
"responses":{"200":{"description":"A page of funders","content":{"application/json":{"schema":{"$ref":"#/components/schemas/FunderPage"}}}},"304":{"description":"Not modified"},"400":{"$ref":"#/components/responses/Error"},"401":{"$ref":"#/components/responses/Error"},"403":{"$ref":"#/components/responses/Error"}}}},
"/funders/{id}":{"get":{"operationId":"getFunder","summary":"One funder","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],
"responses":{"200":{"description":"The funder","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Funder"}}}},"304":{"description":"Not modified"},"401":{"$ref":"#/components/responses/Error"},"403":{"$ref":"#/components/responses/Error"},"404":{"$ref":"#/components/responses/Error"}}}}},
"components":{"securitySchemes":{"oauth":{"type":"oauth2","flows":{"clientCredentials":{"tokenUrl":"@BASE@/oauth/token","scopes":{"funding":"read funding calls"}}}}},
"responses":{"Error":{"description":"An error","content":{"application/json":{"schema":{"$ref":"#/components/schemas/Error"}}}}},
"schemas":{
"Error":{"type":"object","required":["code","message","status"],"properties":{"code":{"type":"string"},"message":{"type":"string"},"status":{"type":"integer"}}},
"Status":{"type":"string","enum":["OPEN","FORTHCOMING","CLOSED"]},
"TargetGroup":{"type":"string","enum":["UNIVERSITY","RESEARCH_INSTITUTE","COMPANY","NON_PROFIT"]},
"Text":{"type":"object","required":["lang","text"],"properties":{"lang":{"type":"string","enum":["de","en"]},"text":{"type":"string"}}},
"Links":{"type":"object","required":["self","first","last"],"properties":{"self":{"type":"string","format":"uri"},"first":{"type":"string","format":"uri"},"last":{"type":"string","format":"uri"},"prev":{"type":"string","format":"uri"},"next":{"type":"string","format":"uri"}}},
"CallSummary":{"type":"object","required":["id","title","funderId","opens","deadline","status","targetGroups","annotations","modified"],"properties":{
"id":{"type":"string"},"title":{"type":"array","items":{"$ref":"#/components/schemas/Text"}},"acronym":{"type":"string"},"funderId":{"type":"string"},"status":{"$ref":"#/components/schemas/Status"},
"opens":{"type":"string","format":"date"},"deadline":{"type":"string","format":"date-time"},
"budget":{"type":"object","required":["amount","currency"],"properties":{"amount":{"type":"number"},"currency":{"type":"string","pattern":"^[A-Z]{3}$"}}},
"targetGroups":{"type":"array","items":{"$ref":"#/components/schemas/TargetGroup"}},"website":{"type":"string","format":"uri"},"modified":{"type":"string","format":"date-time"},
"annotations":{"type":"array","description":"notes of the caller's affiliation","items":{"type":"object","required":["affiliationId","note"],"properties":{"affiliationId":{"type":"string"},"note":{"type":"string"}}}}}},
"Call":{"allOf":[{"$ref":"#/components/schemas/CallSummary"},{"type":"object","required":["description","contact"],"properties":{"description":{"type":"string"},"contact":{"type":"object","required":["name","email"],"properties":{"name":{"type":"string"},"email":{"type":"string","format":"email"}}}}}]},
"CallPage":{"type":"object","required":["total","offset","limit","items","links"],"properties":{"total":{"type":"integer","description":"number of all records that the filters leave"},"offset":{"type":"integer"},"limit":{"type":"integer"},"items":{"type":"array","items":{"$ref":"#/components/schemas/CallSummary"}},"links":{"$ref":"#/components/schemas/Links"}}},
"Funder":{"type":"object","required":["id","name","country","calls"],"properties":{"id":{"type":"string"},"name":{"type":"string"},"country":{"type":"string","pattern":"^[A-Z]{2}$"},"calls":{"type":"integer"}}},
"FunderPage":{"type":"object","required":["total","offset","limit","items","links"],"properties":{"total":{"type":"integer","description":"number of all records that the filters leave"},"offset":{"type":"integer"},"limit":{"type":"integer"},"items":{"type":"array","items":{"$ref":"#/components/schemas/Funder"}},"links":{"$ref":"#/components/schemas/Links"}}}}}}
""";
    static String doc() {
        String d = DOC.replace("@BASE@", BASE);
        if (v("right-role-404")) d = d.replace(",\"403\":{\"$ref\":\"#/components/responses/Error\"}}", ",\"404\":{\"$ref\":\"#/components/responses/Error\"}}").replace(",\"403\":{\"$ref\":\"#/components/responses/Error\"}", "")
            .replace("and the role EXTERNAL_API_CLIENT.", "and the role EXTERNAL_API_CLIENT; without the role they are hidden (404).");
        return v("right-busy-503") ? d.replace("\"401\":{", "\"503\":{\"$ref\":\"#/components/responses/Error\"},\"401\":{") : d;
    }
    static void apiDocs(Context ctx) { ctx.header("Cache-Control", "public, max-age=60").contentType("application/json").result(doc()); }

    // ---------------------------------------------------------------- wiring
    static final Set<String> METHODS = Set.of("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE");
    /** in front of Javalin: no method override, and 501 for methods that nobody knows */
    static void edge(HttpServletRequest rq, HttpServletResponse rs, jakarta.servlet.FilterChain chain) throws java.io.IOException, jakarta.servlet.ServletException {
        if (!METHODS.contains(rq.getMethod())) {
            rs.setStatus(501);
            rs.setContentType("application/json");
            rs.getOutputStream().write(json(m("code", "not_implemented", "message", "this method is unknown here", "status", 501)).getBytes(StandardCharsets.UTF_8));
            return;
        }
        chain.doFilter(new HttpServletRequestWrapper(rq) {
            @Override public String getHeader(String n) { return "X-HTTP-Method-Override".equalsIgnoreCase(n) ? null : super.getHeader(n); }
        }, rs);
    }
    static final java.util.concurrent.atomic.AtomicInteger SEEN = new java.util.concurrent.atomic.AtomicInteger();
    static void read(Javalin app, String path, Handler handler) {
        Handler h = !v("right-busy-503") || !path.startsWith(API) || path.endsWith("api-docs") ? handler : ctx -> {
            if (SEEN.incrementAndGet() % 97 == 0) { ctx.header("Retry-After", "1"); throw new Err(503, "busy", "try again in a second"); }
            handler.handle(ctx);
        };
        app.get(path, h);
        app.head(path, h);
        app.options(path, ctx -> ctx.status(204).header("Allow", "GET, HEAD, OPTIONS"));
        Handler no = ctx -> { ctx.header("Allow", "GET, HEAD, OPTIONS"); throw new Err(405, "method_not_allowed", "this resource is read only"); };
        app.post(path, no); app.put(path, no); app.patch(path, no); app.delete(path, no);
        app.addHttpHandler(HandlerType.TRACE, path, no);
    }
    static void tokenAt(Javalin app, String path, String env) {
        app.post(path, ctx -> token(ctx, env));
        app.options(path, ctx -> ctx.status(204).header("Allow", "POST, OPTIONS"));
        Handler no = ctx -> { ctx.header("Allow", "POST, OPTIONS"); throw new Err(405, "invalid_request", "use POST"); };
        app.get(path, no); app.head(path, no); app.put(path, no); app.patch(path, no); app.delete(path, no);
    }
    public static void main(String[] a) {
        Javalin app = Javalin.create(c -> { c.showJavalinBanner = false; c.http.defaultContentType = "application/json"; c.http.generateEtags = false;
            if (!v("gzip-strong-etag", "right-weak-gzip")) c.http.disableCompression();
            // Jetty's header cache compares without case: a token with another case would be taken for the cached one
            c.jetty.modifyHttpConfiguration(h -> h.setHeaderCacheCaseSensitive(!v("jetty-header-cache")));
            c.jetty.modifyServletContextHandler(h -> h.addFilter(new org.eclipse.jetty.servlet.FilterHolder((jakarta.servlet.Filter) (rq, rs, chain) -> edge((HttpServletRequest) rq, (HttpServletResponse) rs, chain)), "/*", EnumSet.of(jakarta.servlet.DispatcherType.REQUEST)));
        });
        app.before(ctx -> ctx.header("X-Content-Type-Options", "nosniff"));
        app.exception(Err.class, (e, ctx) -> fail(ctx, e));
        app.exception(Exception.class, (e, ctx) -> fail(ctx, new Err(500, "internal_error", "something went wrong here")));
        app.error(404, ctx -> { if (!ctx.res().containsHeader("Cache-Control")) fail(ctx, new Err(404, "not_found", "there is nothing here")); });
        tokenAt(app, "/oauth/token", "prod");
        tokenAt(app, "/staging/oauth/token", "staging");
        read(app, "/registry.json", ctx -> ctx.contentType("application/json").result(json(m("member", List.of(m("id", "KFO", "acronym", "KFO", "name", "Klimafonds", "contact", "ris@kfo.example", "oauth2", BASE + "/oauth/token", "info", BASE + INFO))))));
        read(app, INFO, Node::info);
        read(app, API + "/api-docs", Node::apiDocs);
        read(app, API + "/calls", Node::calls);
        read(app, API + "/calls/{id}", Node::call);
        read(app, API + "/funders", Node::funders);
        read(app, API + "/funders/{id}", Node::funderById);
        app.start("127.0.0.1", PORT);
    }
}
