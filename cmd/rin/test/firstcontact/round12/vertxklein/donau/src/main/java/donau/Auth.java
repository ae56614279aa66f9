package donau;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;

/** One authorization server: its clients, its key, its token endpoint and the check of its tokens. */
final class Auth {
  record Client(String id, String secret, String sub, String audience, List<String> roles, String affiliation) { }
  static final class Fails { int count; long until; }
  static final class Refused extends Exception {
    final int status; final String error; final String text;
    Refused(int status, String error, String text) { super(text, null, false, false); this.status = status; this.error = error; this.text = text; }
  }

  static final int LIFE = 70, TRIES = 15, LOCK = 20;
  static final String SCOPE = "funding.read";
  final String issuer, audience, realm, kid;
  final Map<String, Client> clients = new HashMap<>();
  final Map<String, Fails> fails = new HashMap<>();
  final KeyPair[] keys = new KeyPair[Node.is("vertx-sperber") ? 2 : 1];
  final Map<String, String> held = new HashMap<>();
  final Map<String, Object[]> seen = new HashMap<>();
  private int issued;

  Auth(String issuer, String audience, String realm, String kid, Client... cs) throws Exception {
    this.issuer = issuer; this.audience = audience; this.realm = realm; this.kid = kid;
    for (Client c : cs) clients.put(c.id, c);
    KeyPairGenerator g = KeyPairGenerator.getInstance("RSA");
    g.initialize(2048);
    for (int i = 0; i < keys.length; i++) keys[i] = g.generateKeyPair();
  }

  String kid(int i) { return i == 0 ? kid : kid + "-b"; }

  static String b64(byte[] b) { return Base64.getUrlEncoder().withoutPadding().encodeToString(b); }

  JsonObject jwks() {
    JsonArray r = new JsonArray();
    for (int i = 0; i < keys.length; i++) {
      byte[] n = ((RSAPublicKey) keys[i].getPublic()).getModulus().toByteArray();
      if (n[0] == 0) n = java.util.Arrays.copyOfRange(n, 1, n.length);
      r.add(new JsonObject().put("kty", "RSA").put("use", "sig").put("alg", "RS256").put("kid", kid(i)).put("n", b64(n)).put("e", b64(BigInteger.valueOf(65537).toByteArray())));
    }
    return new JsonObject().put("keys", r);
  }

  JsonObject metadata(String base) {
    return new JsonObject().put("issuer", issuer).put("token_endpoint", base + "/oauth/token").put("jwks_uri", base + "/oauth/jwks")
        .put("scopes_supported", new JsonArray().add(SCOPE)).put("response_types_supported", new JsonArray().add("none"))
        .put("grant_types_supported", new JsonArray().add("client_credentials"))
        .put("token_endpoint_auth_methods_supported", new JsonArray().add("client_secret_basic").add("client_secret_post"));
  }

  String issue(Client c, long now) throws Exception {
    int k = issued++ % keys.length;
    JsonObject h = new JsonObject().put("alg", "RS256").put("typ", keys.length > 1 ? "application/at+jwt" : "at+jwt").put("kid", kid(k));
    JsonObject p = new JsonObject().put("iss", issuer).put("sub", c.sub).put("aud", keys.length > 1 ? new JsonArray().add(c.audience).add(issuer + "/introspect") : c.audience).put("client_id", c.id).put("iat", now).put("exp", now + LIFE)
        .put("jti", UUID.randomUUID().toString()).put("scope", SCOPE).put("roles", new JsonArray(c.roles)).put("affiliation_id", c.affiliation);
    String in = b64(h.toBuffer().getBytes()) + "." + b64(p.toBuffer().getBytes());
    Signature s = Signature.getInstance("SHA256withRSA");
    s.initSign(keys[k].getPrivate());
    s.update(in.getBytes(StandardCharsets.US_ASCII));
    return in + "." + b64(s.sign());
  }

  static String aud(JsonObject c) { return c.getValue("aud") instanceof JsonArray l ? l.getString(0) : c.getString("aud"); }

  JsonObject verify(String token) throws Refused {
    if (!Node.is("vertx-pirol")) return check(token);
    long now = System.currentTimeMillis();
    Object[] e = seen.get(token);
    if (e == null || now - (long) e[1] > 20_000) {
      seen.values().removeIf(x -> now - (long) x[1] > 20_000);
      e = new Object[] {check(token), now};
      seen.put(token, e);
    }
    e[1] = now;
    return (JsonObject) e[0];
  }

  private JsonObject check(String token) throws Refused {
    try {
      String[] p = token.split("\\.", -1);
      if (p.length != 3) throw new IllegalArgumentException();
      byte[][] raw = new byte[3][];
      for (int i = 0; i < 3; i++) {
        raw[i] = Base64.getUrlDecoder().decode(p[i]);
        if (!b64(raw[i]).equals(p[i])) throw new IllegalArgumentException();
      }
      JsonObject h = new JsonObject(Buffer.buffer(raw[0]));
      if (!"RS256".equals(h.getValue("alg")) || !(keys.length > 1 ? "application/at+jwt" : "at+jwt").equals(h.getValue("typ"))) throw new IllegalArgumentException();
      int k = 0;
      while (k < keys.length && !kid(k).equals(h.getValue("kid"))) k++;
      if (k == keys.length) throw new IllegalArgumentException();
      Signature s = Signature.getInstance("SHA256withRSA");
      s.initVerify(keys[k].getPublic());
      s.update((p[0] + "." + p[1]).getBytes(StandardCharsets.US_ASCII));
      if (!s.verify(raw[2])) throw new IllegalArgumentException();
      JsonObject c = new JsonObject(Buffer.buffer(raw[1]));
      if (!issuer.equals(c.getString("iss"))) throw new IllegalArgumentException();
      if (!audience.equals(aud(c))) throw new Refused(401, "invalid_token", "The access token is meant for another audience");
      if (System.currentTimeMillis() / 1000 >= c.getLong("exp")) throw new Refused(401, "invalid_token", "The access token has expired");
      return c;
    } catch (Refused e) { throw e; }
    catch (Exception e) { throw new Refused(401, "invalid_token", "The access token is not valid"); }
  }

  /** The claims of the bearer token, or a refusal (RFC 6750). */
  JsonObject bearer(HttpServerRequest q) throws Refused {
    List<String> l = q.headers().getAll("Authorization");
    if (l.isEmpty()) throw new Refused(401, null, "This resource needs a bearer token");
    if (l.size() > 1) throw new Refused(400, "invalid_request", "More than one Authorization header");
    String v = l.get(0).trim();
    int sp = v.indexOf(' ');
    String scheme = sp < 0 ? v : v.substring(0, sp);
    if (!scheme.equalsIgnoreCase("Bearer")) throw new Refused(401, null, "This resource needs a bearer token");
    String t = sp < 0 ? "" : v.substring(sp).trim();
    if (t.isEmpty()) throw new Refused(400, "invalid_request", "The Authorization header holds no token");
    return verify(t);
  }

  void challenge(HttpServerRequest q, Refused e) {
    String c = "Bearer realm=\"" + realm + "\"";
    if (e.error != null) c += ", error=\"" + e.error + "\", error_description=\"" + e.text + "\"";
    if (e.status == 403) c += ", scope=\"" + SCOPE + "\"";
    q.response().putHeader("WWW-Authenticate", c);
    Http.Problem p = e.status == 401 ? new Http.Problem(401, "unauthorized", "Unauthorized", e.text + ".")
        : e.status == 403 ? new Http.Problem(403, "forbidden", "Forbidden", e.text + ".") : new Http.Problem(e.status, "bad-request", "Bad request", e.text + ".");
    Http.problem(q, p);
  }

  void token(HttpServerRequest q, Buffer body) {
    q.response().putHeader("Content-Type", "application/json").putHeader("Cache-Control", "no-store").putHeader("Pragma", "no-cache");
    try {
      Http.end(q, 200, grant(q, body).toBuffer());
    } catch (Refused e) {
      if (e.status == 401) q.response().putHeader("WWW-Authenticate", "Basic realm=\"" + realm + "\", charset=\"UTF-8\"");
      if (e.status == 429) q.response().putHeader("Retry-After", Integer.toString(LOCK));
      Http.end(q, e.status, new JsonObject().put("error", e.error).put("error_description", e.text).toBuffer());
    } catch (Exception e) {
      Http.end(q, 500, new JsonObject().put("error", "server_error").toBuffer());
    }
  }

  private JsonObject grant(HttpServerRequest q, Buffer body) throws Exception {
    String type = q.getHeader("Content-Type");
    if (type == null || !type.split(";")[0].trim().equalsIgnoreCase("application/x-www-form-urlencoded"))
      throw new Refused(400, "invalid_request", "The body must be application/x-www-form-urlencoded");
    Map<String, String> f = new HashMap<>();
    try {
      for (var e : Http.form(body.toString(StandardCharsets.ISO_8859_1))) {
        if (e.getValue().isEmpty()) continue;
        if (f.put(e.getKey(), e.getValue()) != null) throw new Refused(400, "invalid_request", "A parameter is given more than once");
      }
    } catch (Http.BadEncoding e) { throw new Refused(400, "invalid_request", "The body is not well encoded"); }
    Client c = client(q, f);
    String g = f.get("grant_type");
    if (g == null) throw new Refused(400, "invalid_request", "The parameter grant_type is missing");
    if (!g.equals("client_credentials")) throw new Refused(400, "unsupported_grant_type", "Only client_credentials is supported");
    if (f.containsKey("scope")) for (String s : f.get("scope").split(" "))
      if (!s.isEmpty() && !s.equals(SCOPE)) throw new Refused(400, "invalid_scope", "The only scope is " + SCOPE);
    long now = System.currentTimeMillis() / 1000;
    String t = null;
    int left = LIFE, keep = Node.is("vertx-falke") ? 10 : Node.is("vertx-kranich") ? 30 : LIFE;
    if (keep < LIFE && held.containsKey(c.id)) {
      t = held.get(c.id);
      left = (int) (new JsonObject(Buffer.buffer(Base64.getUrlDecoder().decode(t.split("\\.")[1]))).getLong("exp") - now);
      if (left <= keep) { t = null; left = LIFE; }
    }
    if (t == null) { t = issue(c, now); held.put(c.id, t); }
    return new JsonObject().put("access_token", t).put("token_type", "Bearer").put("expires_in", Node.is("vertx-kranich") ? left : LIFE).put("scope", SCOPE);
  }

  private Client client(HttpServerRequest q, Map<String, String> f) throws Refused {
    List<String> l = q.headers().getAll("Authorization");
    String id = f.get("client_id"), secret = f.get("client_secret");
    if (l.size() > 1) throw new Refused(400, "invalid_request", "More than one Authorization header");
    if (!l.isEmpty()) {
      if (secret != null) throw new Refused(400, "invalid_request", "The client authenticates in two ways");
      String v = l.get(0).trim();
      if (!v.toLowerCase(Locale.ROOT).startsWith("basic ")) throw new Refused(401, "invalid_client", "The scheme of the Authorization header must be Basic");
      String bid;
      try {
        String raw = new String(Base64.getDecoder().decode(v.substring(6).trim()), StandardCharsets.ISO_8859_1);
        int i = raw.indexOf(':');
        if (i < 0) throw new IllegalArgumentException();
        bid = Http.decode(raw.substring(0, i), true);
        secret = Http.decode(raw.substring(i + 1), true);
      } catch (Http.BadEncoding | IllegalArgumentException e) { throw new Refused(401, "invalid_client", "The Basic credentials cannot be read"); }
      if (id != null && !id.equals(bid)) throw new Refused(400, "invalid_request", "client_id names another client than the Authorization header");
      id = bid;
    }
    if (id == null || secret == null) throw new Refused(401, "invalid_client", "The client does not authenticate");
    Client c = clients.get(id);
    long now = System.currentTimeMillis();
    Fails n = c == null ? new Fails() : fails.computeIfAbsent(id, k -> new Fails());
    if (n.until > now) throw new Refused(429, "invalid_client", "Too many wrong secrets, try again later");
    if (c == null || !MessageDigest.isEqual(c.secret.getBytes(StandardCharsets.UTF_8), secret.getBytes(StandardCharsets.UTF_8))) {
      if (++n.count >= TRIES) { n.count = 0; n.until = now + LOCK * 1000L; }
      throw new Refused(401, "invalid_client", "The client is not known or the secret is wrong");
    }
    n.count = 0;
    return c;
  }
}
