package donau;

import donau.Http.Problem;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

public final class Node {
  static final String NODE = System.getenv().getOrDefault("NODE", "vertx-base");
  static final String ROLE = "EXTERNAL_API_CLIENT", API = "/donau/funding/v3", VARY = "Accept, Accept-Language, Authorization";
  static final JsonObject PRIVATE = new JsonObject().put("Cache-Control", "private, no-cache").put("Vary", VARY);
  static boolean is(String name) { return NODE.equals(name); }
  final int port = Integer.parseInt(System.getenv().getOrDefault("PORT", "20100"));
  final String origin = "http://127.0.0.1:" + port;
  final Data data = new Data();
  final Auth auth, staging;
  final Vertx vertx = Vertx.vertx();

  interface Reply { void to(RoutingContext ctx, JsonObject claims) throws Exception; }

  Node() throws Exception {
    auth = new Auth(origin + "/donau/auth", "urn:donau:funding", "donau", "donau-2026-1",
        new Auth.Client("donau-bibliothek-41c7", "w8%3D+Qz/r5&Ut=K:x2~Lm!9vB", "sa-5d0e8c1f", "urn:donau:funding", List.of(ROLE), "AFF-1042"),
        new Auth.Client("donau-gastleser-9e20", "b4+%25Yd&h7=Pk/c3:Sn~1jW?f", "sa-71aa39b2", "urn:donau:funding", List.of(), "AFF-1077"),
        new Auth.Client("donau-archiv-d3f8", "G6=tV/x1+Zm%2Bq9&Rj:y4~Eo!", "sa-c84f6610", "urn:donau:archive", List.of(ROLE), "AFF-1042"),
        new Auth.Client("donau-reserve-77b1", "n3&Hw%+u8=Ci:/L5~zT2?pX!Ka", "sa-0b92e75d", "urn:donau:funding", List.of(ROLE), "AFF-1042"));
    staging = new Auth(origin + "/staging", "urn:donau:staging", "donau-staging", "staging-2026-1",
        new Auth.Client("staging-donau-tester", "s2/Jf+b9%Vg=&X7:oR~4wN!yD", "sa-staging-1", "urn:donau:staging", List.of(ROLE), "AFF-TEST"));
  }

  void get(Router router, String path, Reply reply) {
    router.route(path).handler(ctx -> {
      HttpServerRequest q = ctx.request();
      HttpMethod m = q.method();
      if (q.path().endsWith("/") != path.endsWith("/")) { ctx.next(); return; }
      if (m.equals(HttpMethod.OPTIONS)) { q.response().putHeader("Allow", "GET, HEAD, OPTIONS"); Http.end(q, 204, null); return; }
      if (!m.equals(HttpMethod.GET) && !m.equals(HttpMethod.HEAD)) {
        q.response().putHeader("Allow", "GET, HEAD, OPTIONS");
        Http.problem(q, new Problem(405, "method-not-allowed", "Method not allowed", "This resource can only be read."));
        return;
      }
      run(ctx, () -> reply.to(ctx, null));
    });
  }

  interface Step { void run() throws Exception; }

  void run(RoutingContext ctx, Step s) {
    try { s.run(); }
    catch (Problem p) { Http.problem(ctx.request(), p); }
    catch (Exception e) { e.printStackTrace(); Http.problem(ctx.request(), new Problem(500, "internal", "Internal error", "The request could not be answered.")); }
  }

  private JsonObject caller;

  void guarded(Router router, String path, Auth a, boolean role, Reply reply) {
    get(router, path, (ctx, none) -> {
      HttpServerRequest q = ctx.request();
      JsonObject claims;
      try {
        claims = a.bearer(q);
        if (role && is("vertx-habicht")) {
          caller = claims;
          vertx.setTimer(3, t -> run(ctx, () -> {
            q.response().putHeader("Vary", VARY);
            if (!caller.getJsonArray("roles").contains(ROLE)) { a.challenge(q, new Auth.Refused(403, "insufficient_scope", "The client has not the role " + ROLE)); return; }
            answer(ctx, claims, reply);
          }));
          return;
        }
        if (role && !claims.getJsonArray("roles").contains(ROLE)) throw new Auth.Refused(403, "insufficient_scope", "The client has not the role " + ROLE);
      } catch (Auth.Refused e) { q.response().putHeader("Vary", VARY); a.challenge(q, e); return; }
      q.response().putHeader("Vary", VARY);
      answer(ctx, claims, reply);
    });
  }

  void answer(RoutingContext ctx, JsonObject claims, Reply reply) throws Exception {
    if (!Http.acceptsJson(Http.joined(ctx.request(), "Accept"), "json")) throw new Problem(406, "not-acceptable", "Not acceptable", "The answer is only available as application/json.");
    reply.to(ctx, claims);
  }

  void json(HttpServerRequest q, JsonObject headers, Buffer body, Instant modified) {
    Http.representation(q, headers, body, Http.etag(body, headers.getString("Content-Language", "") + headers.getString("Link", "")), modified);
  }

  JsonObject localized(String lang) { return PRIVATE.copy().put("Content-Language", lang); }

  Map<String, List<String>> query(HttpServerRequest q, Set<String> known, Set<String> many) {
    Map<String, List<String>> r = new LinkedHashMap<>();
    for (String part : q.query() == null ? new String[0] : q.query().split("&")) {
      if (part.isEmpty()) continue;
      int i = part.indexOf('=');
      String name = i < 0 ? part : part.substring(0, i);
      try {
        name = Http.decode(name, true);
        r.computeIfAbsent(name, k -> new ArrayList<>()).add(i < 0 ? "" : Http.decode(part.substring(i + 1), true));
      } catch (Http.BadEncoding e) { throw Http.badParam(name, "it is not well encoded"); }
    }
    for (var e : r.entrySet()) {
      if (!known.contains(e.getKey())) throw Http.badParam(e.getKey(), "it is not described");
      if (e.getValue().size() > 1 && !many.contains(e.getKey())) throw Http.badParam(e.getKey(), "it is given more than once");
    }
    return r;
  }

  static String one(Map<String, List<String>> p, String n) { return p.containsKey(n) ? p.get(n).get(0) : null; }

  static long number(Map<String, List<String>> p, String n, long def, long min, long max) {
    String s = one(p, n);
    if (s == null) return def;
    if (!s.matches(is("vertx-elster") ? "-?[0-9]+" : "-?[0-9]{1,18}")) throw Http.badParam(n, "it must be an integer from " + min + " to " + max);
    long v = Long.parseLong(s);
    if (v < min || v > max) throw Http.badParam(n, "it must be an integer from " + min + " to " + max);
    return v;
  }

  static LocalDate date(Map<String, List<String>> p, String n) {
    String s = one(p, n);
    if (s == null) return null;
    try {
      if (s.matches("[0-9]{4}-[0-9]{2}-[0-9]{2}")) return LocalDate.parse(s);
    } catch (java.time.DateTimeException e) { /* below */ }
    throw Http.badParam(n, "it must be a date such as 2026-01-31");
  }

  static void member(String n, String v, List<String> of) { if (v != null && !of.contains(v)) throw Http.badParam(n, "it must be one of " + String.join(", ", of)); }

  static String text(Map<String, List<String>> p, String n, int max) {
    String s = one(p, n);
    if (s != null && (s.isEmpty() || s.codePointCount(0, s.length()) > max)) throw Http.badParam(n, "it must have 1 to " + max + " characters");
    return s;
  }

  static final List<String> FILTERS = List.of("page", "size", "kind", "region", "funderId", "deadlineFrom", "deadlineTo", "minBudget", "openAccess", "q", "sort");
  static final List<String> SORTS = List.of("id", "title", "deadline", "budget", "updatedAt");

  void list(RoutingContext ctx, JsonObject claims) {
    HttpServerRequest q = ctx.request();
    String lang = Http.language(Http.joined(q, "Accept-Language"));
    var p = query(q, Set.copyOf(FILTERS), Set.of("region"));
    int page = (int) number(p, "page", 1, 1, 10000), size = (int) number(p, "size", 20, 1, 50);
    long min = number(p, "minBudget", 0, 0, 1_000_000_000_000L);
    LocalDate from = date(p, "deadlineFrom"), to = date(p, "deadlineTo");
    String kind = one(p, "kind"), funder = text(p, "funderId", 40), text = text(p, "q", 100), open = one(p, "openAccess"), sort = p.containsKey("sort") ? one(p, "sort") : "id";
    List<String> regions = p.get("region");
    member("kind", kind, Data.KINDS);
    if (regions != null) for (String r : regions) member("region", r, Data.REGIONS);
    member("openAccess", open, List.of("true", "false"));
    if (!SORTS.contains(sort.replaceFirst("^-", ""))) throw Http.badParam("sort", "this order is not described");
    String needle = text == null ? null : text.toLowerCase(Locale.ROOT);
    List<Data.Call> l = new ArrayList<>();
    for (Data.Call c : data.calls) {
      if (kind != null && !c.kind().equals(kind)) continue;
      if (regions != null && Collections.disjoint(c.regions(), regions)) continue;
      if (funder != null && !c.funderId().equals(funder)) continue;
      if ((from != null || to != null) && c.deadline() == null) continue;
      if (from != null && c.deadline().isBefore(from)) continue;
      if (to != null && c.deadline().isAfter(to)) continue;
      if (c.budget() < min) continue;
      if (open != null && c.open() != open.equals("true")) continue;
      if (needle != null && !c.de().toLowerCase(Locale.ROOT).contains(needle) && !c.en().toLowerCase(Locale.ROOT).contains(needle)) continue;
      l.add(c);
    }
    l.sort(order(sort, lang));
    int total = l.size(), pages = (total + size - 1) / size, a = (int) Math.min((long) (page - 1) * size, total), b = Math.min(a + size, total);
    JsonArray items = new JsonArray();
    for (Data.Call c : l.subList(a, b)) items.add(c.summary(lang));
    JsonObject body = new JsonObject().put("items", items).put("page", page).put("size", size).put("total", total).put("pages", pages);
    json(q, localized(lang).put("Link", links(p, page, size, Math.max(pages, 1))), body.toBuffer(), null);
  }

  static Comparator<Data.Call> order(String sort, String lang) {
    boolean desc = sort.startsWith("-");
    Comparator<Data.Call> c = switch (sort.replaceFirst("^-", "")) {
      case "title" -> Comparator.comparing(x -> x.title(lang));
      case "deadline" -> Comparator.comparing(Data.Call::deadline, Comparator.nullsLast((LocalDate x, LocalDate y) -> desc ? y.compareTo(x) : x.compareTo(y)));
      case "budget" -> Comparator.comparingLong(Data.Call::budget);
      case "updatedAt" -> Comparator.comparing(Data.Call::updatedAt);
      default -> Comparator.comparing(Data.Call::id);
    };
    if (desc && !sort.equals("-deadline")) c = c.reversed();
    return c.thenComparing(Data.Call::id);
  }

  static String links(Map<String, List<String>> p, int page, int size, int last) {
    List<String> r = new ArrayList<>();
    if (is("vertx-drossel")) {
      Map<Integer, String> rels = new java.util.TreeMap<>();
      rels.put(1, "first");
      if (page > 1) rels.merge(Math.min(page - 1, last), "prev", (x, y) -> x + " " + y);
      if (page < last) rels.merge(page + 1, "next", (x, y) -> x + " " + y);
      rels.merge(last, "last", (x, y) -> x + " " + y);
      rels.forEach((n, rel) -> r.add(0, link(p, n, size, rel).replaceFirst("; rel=\"(\\w+)\"$", "; title=\"Seite " + n + ", " + size + " je Seite\";rel=$1")));
      return String.join("\n", r);
    }
    r.add(link(p, 1, size, "first"));
    if (page > 1) r.add(link(p, Math.min(page - 1, last), size, "prev"));
    if (page < last) r.add(link(p, page + 1, size, "next"));
    r.add(link(p, last, size, "last"));
    return String.join(", ", r);
  }

  static String link(Map<String, List<String>> p, int page, int size, String rel) {
    StringBuilder b = new StringBuilder("<" + API + "/calls?page=" + page + "&size=" + size);
    for (var e : p.entrySet()) if (!e.getKey().equals("page") && !e.getKey().equals("size")) for (String v : is("vertx-meise") ? e.getValue().subList(0, 1) : e.getValue()) b.append("&").append(e.getKey()).append("=").append(Http.enc(v));
    return b + ">; rel=\"" + rel + "\"";
  }

  Data.Call call(RoutingContext ctx) {
    query(ctx.request(), Set.of(), Set.of());
    String id = ctx.pathParam("callId");
    for (Data.Call c : data.calls) if (c.id().equals(id)) return c;
    throw new Problem(404, "not-found", "Not found", "There is no call with this id.");
  }

  JsonObject funder(Data.Funder f) {
    return new JsonObject().put("id", f.id()).put("name", f.name()).put("country", f.country()).put("city", f.city()).put("callCount", data.calls.stream().filter(c -> c.funderId().equals(f.id())).count());
  }

  JsonObject info(JsonObject claims) {
    return new JsonObject().put("node", "donau").put("clientId", claims.getString("client_id")).put("serviceAccount", claims.getString("sub")).put("affiliationId", claims.getString("affiliation_id"))
        .put("roles", claims.getJsonArray("roles")).put("audience", Auth.aud(claims)).put("expiresAt", Instant.ofEpochSecond(claims.getLong("exp")).toString())
        .put("endpoints", new JsonObject().put("funding", new JsonArray().add(new JsonObject().put("name", "FUNDINGS").put("majorVersion", 3).put("minorVersion", 2).put("url", origin + API + "/calls"))));
  }

  void tokenRoute(Router router, String path, Auth a) {
    router.route(path).handler(ctx -> {
      HttpServerRequest q = ctx.request();
      if (!q.method().equals(HttpMethod.POST)) {
        q.response().putHeader("Allow", "POST").putHeader("Content-Type", "application/json").putHeader("Cache-Control", "no-store").putHeader("Pragma", "no-cache");
        Http.end(q, 405, new JsonObject().put("error", "invalid_request").put("error_description", "Tokens are requested with POST").toBuffer());
        return;
      }
      Buffer body = Buffer.buffer();
      q.handler(b -> { if (body.length() <= 16384) body.appendBuffer(b); });
      q.endHandler(v -> {
        if (body.length() <= 16384) { a.token(q, body); return; }
        q.response().putHeader("Content-Type", "application/json").putHeader("Cache-Control", "no-store").putHeader("Pragma", "no-cache");
        Http.end(q, 413, new JsonObject().put("error", "invalid_request").put("error_description", "The body is too large").toBuffer());
      });
    });
  }

  void start() {
    Router router = Router.router(vertx);
    JsonObject shared = new JsonObject().put("Cache-Control", "public, max-age=60");
    JsonObject registry = new JsonObject().put("member", new JsonArray().add(new JsonObject().put("id", "donau").put("acronym", "DONAU").put("name", "Donau-Forschungsverbund").put("contact", "ris@donau.invalid").put("oauth2", origin + "/donau/auth/oauth/token").put("info", origin + "/donau/info/v1/oauth/info/")));
    JsonObject doc = Doc.build(origin + "/donau/auth/oauth/token");
    router.route().handler(ctx -> {
      HttpServerRequest q = ctx.request();
      if (q.version() == HttpVersion.HTTP_1_1 && q.headers().getAll("Host").size() != 1) Http.problem(q, new Problem(400, "bad-request", "Bad request", "One Host header is needed."));
      else ctx.next();
    });
    get(router, "/registry.json", (c, n) -> json(c.request(), shared, registry.toBuffer(), null));
    get(router, API + "/api-docs", (c, n) -> json(c.request(), shared, doc.toBuffer(), null));
    get(router, "/donau/auth/oauth/jwks", (c, n) -> json(c.request(), shared, auth.jwks().toBuffer(), null));
    get(router, "/.well-known/oauth-authorization-server/donau/auth", (c, n) -> json(c.request(), shared, auth.metadata(origin + "/donau/auth").toBuffer(), null));
    tokenRoute(router, "/donau/auth/oauth/token", auth);
    tokenRoute(router, "/staging/oauth/token", staging);
    guarded(router, "/donau/info/v1/oauth/info/", auth, false, (c, claims) -> json(c.request(), PRIVATE, info(claims).toBuffer(), null));
    guarded(router, "/staging/donau/info/v1/oauth/info/", staging, false, (c, claims) -> json(c.request(), PRIVATE, info(claims).put("node", "donau-staging").put("endpoints", new JsonObject()).toBuffer(), null));
    guarded(router, API + "/calls", auth, true, this::list);
    guarded(router, API + "/calls/:callId", auth, true, (c, claims) -> {
      Data.Call x = call(c);
      String lang = Http.language(Http.joined(c.request(), "Accept-Language"));
      Buffer b = x.full(lang).toBuffer();
      if (is("vertx-amsel")) Http.representation(c.request(), localized(lang), b, Http.etag(Buffer.buffer(x.id()), x.updatedAt().toString()), x.updatedAt());
      else json(c.request(), localized(lang), b, x.updatedAt());
    });
    guarded(router, API + "/calls/:callId/stages", auth, true, (c, claims) -> {
      String lang = Http.language(Http.joined(c.request(), "Accept-Language"));
      JsonArray r = new JsonArray();
      for (Data.Stage s : call(c).stages()) r.add(new JsonObject().put("number", s.number()).put("opensOn", s.opensOn().toString()).put("closesOn", s.closesOn().toString()).put("name", lang.equals("en") ? s.en() : s.de()));
      json(c.request(), localized(lang), r.toBuffer(), null);
    });
    guarded(router, API + "/funders", auth, true, (c, claims) -> {
      query(c.request(), Set.of(), Set.of());
      JsonArray r = new JsonArray();
      for (Data.Funder f : data.funders) r.add(funder(f));
      json(c.request(), localized(Http.language(Http.joined(c.request(), "Accept-Language"))), r.toBuffer(), null);
    });
    guarded(router, API + "/funders/:funderId", auth, true, (c, claims) -> {
      query(c.request(), Set.of(), Set.of());
      String id = c.pathParam("funderId");
      for (Data.Funder f : data.funders) if (f.id().equals(id)) { json(c.request(), localized(Http.language(Http.joined(c.request(), "Accept-Language"))), funder(f).toBuffer(), null); return; }
      throw new Problem(404, "not-found", "Not found", "There is no funder with this id.");
    });
    router.route().handler(ctx -> Http.problem(ctx.request(), new Problem(404, "not-found", "Not found", "There is nothing at this address.")));
    router.errorHandler(400, ctx -> Http.problem(ctx.request(), new Problem(400, "bad-request", "Bad request", "The request is malformed.")));
    router.errorHandler(500, ctx -> Http.problem(ctx.request(), new Problem(500, "internal", "Internal error", "The request could not be answered.")));
    HttpServerOptions opt = new HttpServerOptions().setHost("127.0.0.1").setPort(port).setHandle100ContinueAutomatically(true).setMaxInitialLineLength(16384).setMaxHeaderSize(32768).setIdleTimeout(75);
    vertx.createHttpServer(opt).invalidRequestHandler(q -> {
      Throwable t = q.decoderResult().cause();
      int s = String.valueOf(t).contains("TooLongHttpLine") ? 414 : String.valueOf(t).contains("TooLongHttpHeader") ? 431 : 400;
      q.response().putHeader("Connection", "close");
      Http.problem(q, new Problem(s, "bad-request", "Bad request", "The request cannot be read."));
    }).requestHandler(q -> {
      if (!q.uri().equals("*")) { router.handle(q); return; }
      if (q.method().equals(HttpMethod.OPTIONS)) { q.response().putHeader("Allow", "GET, HEAD, POST, OPTIONS"); Http.end(q, 204, null); }
      else Http.problem(q, new Problem(400, "bad-request", "Bad request", "The request is malformed."));
    }).listen().onComplete(r -> {
      if (r.failed()) { r.cause().printStackTrace(); System.exit(1); }
      System.out.println("listening on " + port);
    });
  }

  public static void main(String[] args) throws Exception { new Node().start(); }
}
