package node;

import io.helidon.common.http.Http;
import io.helidon.webserver.*;
import jakarta.json.*;
import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.security.interfaces.ECPublicKey;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.RSAPublicKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The authorization server of one environment, and the check of its tokens. */
final class Auth implements Service {
    static final String ROLE = "EXTERNAL_API_CLIENT";
    static final long LIFE = 75;
    private static final List<String> SCOPES = List.of("funding.read", "info.read");
    private static final int FAILURES = 10;
    private static final long LOCK_SECONDS = 30;

    record Client(String id, String secret, String account, String affiliation, List<String> roles, String audience) { }

    /** What a good token says about its bearer. */
    record Caller(String clientId, String account, String affiliation, List<String> roles, List<String> scopes, long expires) { }

    private record Key(String id, String alg, KeyPair pair) { }

    private record Failures(int count, Instant last) { }

    private final String issuer;
    private final String audience;
    private final Map<String, Client> clients = new LinkedHashMap<>();
    private final Map<String, Key> keys = new LinkedHashMap<>();
    private final Key signing;
    private final Map<String, JsonObject> issued = new ConcurrentHashMap<>();
    private final Map<String, Failures> failures = new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Failures> eldest) {
            return size() > 1000;
        }
    };

    Auth(String issuer, String audience, List<Client> known) {
        this.issuer = issuer;
        this.audience = audience;
        known.forEach(c -> clients.put(c.id(), c));
        try {
            KeyPairGenerator rsa = KeyPairGenerator.getInstance("RSA");
            rsa.initialize(2048);
            Key key = addKey("RS256", rsa.generateKeyPair());
            if (Main.NODE.equals("helidon-ulme")) {
                KeyPairGenerator ec = KeyPairGenerator.getInstance("EC");
                ec.initialize(new ECGenParameterSpec("secp256r1"));
                key = addKey("ES256", ec.generateKeyPair());
            }
            signing = key;
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private Key addKey(String alg, KeyPair pair) {
        Key key = new Key(UUID.randomUUID().toString(), alg, pair);
        keys.put(key.id(), key);
        return key;
    }

    /** An error of RFC 6749, 5.2. */
    private static final class OAuthError extends RuntimeException {
        final int status;
        final String code;
        long retryAfter;

        OAuthError(int status, String code, String description) {
            super(description, null, false, false);
            this.status = status;
            this.code = code;
        }
    }

    @Override
    public void update(Routing.Rules rules) {
        rules.get("/certs", this::certs)
            .head("/certs", this::certs)
            .post("/token", this::token)
            .any("/token", (req, res) -> {
                throw new Web.Problem(405, "method-not-allowed", "Tokens are requested by POST.").header("Allow", "POST");
            });
    }

    private void certs(ServerRequest req, ServerResponse res) {
        JsonArrayBuilder list = Json.createArrayBuilder();
        for (Key key : keys.values()) {
            JsonObjectBuilder jwk = Json.createObjectBuilder().add("kid", key.id()).add("use", "sig").add("alg", key.alg());
            if (key.pair().getPublic() instanceof RSAPublicKey rsa) {
                list.add(jwk.add("kty", "RSA").add("n", base64(unsigned(rsa.getModulus(), 0))).add("e", base64(unsigned(rsa.getPublicExponent(), 0))));
            } else if (key.pair().getPublic() instanceof ECPublicKey ec) {
                list.add(jwk.add("kty", "EC").add("crv", "P-256").add("x", base64(unsigned(ec.getW().getAffineX(), 32)))
                    .add("y", base64(unsigned(ec.getW().getAffineY(), 32))));
            }
        }
        byte[] body = Web.bytes(Json.createObjectBuilder().add("keys", list).build());
        Web.sendCacheable(req, res, Web.JSON, body, null, null, "public, max-age=30");
    }

    // ---- the token endpoint

    private void token(ServerRequest req, ServerResponse res) {
        req.content().as(byte[].class).thenAccept(body -> {
            JsonObject answer;
            int status = 200;
            try {
                answer = grant(req, body);
            } catch (OAuthError e) {
                status = e.status;
                answer = Json.createObjectBuilder().add("error", e.code).add("error_description", e.getMessage()).build();
                if (status == 401) {
                    res.headers().put("WWW-Authenticate", "Basic realm=\"uh-clients\", charset=\"UTF-8\"");
                } else if (status == 429) {
                    res.headers().put("Retry-After", String.valueOf(e.retryAfter));
                }
            }
            res.headers().put("Cache-Control", "no-store");
            res.headers().put("Pragma", "no-cache");
            Web.send(req, res, status, Web.JSON, Web.bytes(answer));
        }).exceptionally(t -> {
            req.next(t);
            return null;
        });
    }

    private JsonObject grant(ServerRequest req, byte[] body) {
        String type = String.join(",", req.headers().all("Content-Type")).toLowerCase(java.util.Locale.ROOT);
        if (!type.split(";")[0].trim().equals("application/x-www-form-urlencoded")) {
            throw new OAuthError(400, "invalid_request", "The body must be application/x-www-form-urlencoded.");
        }
        Map<String, List<String>> inQuery = Web.form(req.uri().getRawQuery());
        if (inQuery == null || inQuery.containsKey("client_secret") || inQuery.containsKey("client_id")) {
            throw new OAuthError(400, "invalid_request", "Credentials must not be in the address.");
        }
        Map<String, List<String>> form = Web.form(new String(body, StandardCharsets.ISO_8859_1).chars().allMatch(c -> c < 128)
            ? new String(body, StandardCharsets.UTF_8) : "%");
        if (form == null) {
            throw new OAuthError(400, "invalid_request", "The body is not well-formed.");
        }
        form.values().forEach(values -> values.removeIf(String::isEmpty)); // without a value means omitted (RFC 6749, 3.2)
        form.values().removeIf(List::isEmpty);
        form.forEach((name, values) -> {
            if (values.size() > 1) {
                throw new OAuthError(400, "invalid_request", "A parameter is repeated.");
            }
        });
        Client client = authenticate(req, form);
        String grantType = first(form, "grant_type");
        if (grantType == null) {
            throw new OAuthError(400, "invalid_request", "grant_type is missing.");
        }
        if (!grantType.equals("client_credentials")) {
            throw new OAuthError(400, "unsupported_grant_type", "Only client_credentials is supported.");
        }
        List<String> scopes = SCOPES;
        String asked = first(form, "scope");
        if (asked != null) {
            scopes = List.copyOf(new LinkedHashSet<>(List.of(asked.split(" ", -1))));
            if (!SCOPES.containsAll(scopes)) {
                throw new OAuthError(400, "invalid_scope", "Available: " + String.join(" ", SCOPES));
            }
        }
        if (Main.NODE.equals("helidon-mur")) {
            String key = client.id() + " " + scopes;
            JsonObject kept = issued.get(key);
            if (kept != null && kept.getJsonNumber("until").longValue() > Instant.now().getEpochSecond() + 10) {
                return kept.getJsonObject("answer");
            }
            JsonObject fresh = answer(client, scopes);
            issued.put(key, Json.createObjectBuilder().add("until", Instant.now().getEpochSecond() + LIFE).add("answer", fresh).build());
            return fresh;
        }
        return answer(client, scopes);
    }

    private JsonObject answer(Client client, List<String> scopes) {
        if (Main.NODE.equals("helidon-rosenau")) {
            return Json.createObjectBuilder().add("scope", String.join(" ", scopes)).add("token_type", "bearer")
                .add("access_token", sign(client, scopes)).build();
        }
        return Json.createObjectBuilder().add("access_token", sign(client, scopes)).add("token_type", "Bearer")
            .add("expires_in", LIFE).add("scope", String.join(" ", scopes)).build();
    }

    private static String first(Map<String, List<String>> form, String name) {
        List<String> values = form.get(name);
        return values == null ? null : values.get(0);
    }

    private Client authenticate(ServerRequest req, Map<String, List<String>> form) {
        List<String> headers = req.headers().all("Authorization");
        String id = first(form, "client_id");
        String secret = first(form, "client_secret");
        if (headers.size() > 1) {
            throw new OAuthError(400, "invalid_request", "More than one Authorization field.");
        }
        if (headers.size() == 1) {
            if (secret != null) {
                throw new OAuthError(400, "invalid_request", "The client authenticates in more than one way.");
            }
            String[] basic = basic(headers.get(0));
            if (id != null && !id.equals(basic[0]) && !Main.NODE.equals("helidon-drau")) {
                throw new OAuthError(400, "invalid_request", "client_id is not the client that authenticates.");
            }
            Client client = check(basic[0], basic[1]);
            if (Main.NODE.equals("helidon-drau") && id != null && clients.containsKey(id)) {
                return clients.get(id);
            }
            return client;
        }
        if (id == null || secret == null) {
            throw new OAuthError(401, "invalid_client", "Client authentication failed.");
        }
        return check(id, secret);
    }

    private static String[] basic(String header) {
        Matcher m = Pattern.compile("(?i)basic +([A-Za-z0-9+/]+=*) *").matcher(header);
        try {
            if (m.matches()) {
                String pair = new String(Base64.getDecoder().decode(m.group(1)), StandardCharsets.UTF_8);
                int colon = pair.indexOf(':');
                String id = colon < 0 ? null : Web.decode(pair.substring(0, colon), true);
                String secret = colon < 0 ? null : Web.decode(pair.substring(colon + 1), true);
                if (id != null && secret != null) {
                    return new String[] {id, secret};
                }
            }
        } catch (IllegalArgumentException notBase64) {
            // answered below
        }
        throw new OAuthError(401, "invalid_client", "Client authentication failed.");
    }

    private Client check(String id, String secret) {
        synchronized (failures) {
            Failures f = failures.get(id);
            if (f != null && f.count() >= FAILURES) {
                long left = Duration.between(Instant.now(), f.last().plusSeconds(LOCK_SECONDS)).toMillis();
                if (left > 0) {
                    OAuthError locked = new OAuthError(429, "temporarily_unavailable", "Too many failed attempts for this client.");
                    locked.retryAfter = (left + 999) / 1000;
                    throw locked;
                }
                failures.remove(id);
            }
        }
        Client client = clients.get(id);
        boolean good = MessageDigest.isEqual(sha(secret), sha(client == null ? "" : client.secret())) && client != null;
        synchronized (failures) {
            if (good) {
                failures.remove(id);
                return client;
            }
            Failures f = failures.get(id);
            failures.put(id, new Failures(f == null ? 1 : f.count() + 1, Instant.now()));
        }
        throw new OAuthError(401, "invalid_client", "Client authentication failed.");
    }

    private static byte[] sha(String text) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private String sign(Client client, List<String> scopes) {
        long now = Instant.now().getEpochSecond();
        JsonObject header = Json.createObjectBuilder().add("typ", "at+jwt").add("alg", signing.alg()).add("kid", signing.id()).build();
        JsonObject claims = Json.createObjectBuilder().add("iss", issuer).add("sub", client.account()).add("aud", client.audience())
            .add("client_id", client.id()).add("iat", now).add("exp", now + LIFE).add("jti", UUID.randomUUID().toString())
            .add("scope", String.join(" ", scopes)).add("roles", Json.createArrayBuilder(client.roles()))
            .add("affiliation", client.affiliation()).build();
        String input = base64(Web.bytes(header)) + "." + base64(Web.bytes(claims));
        try {
            Signature s = algorithm(signing.alg());
            s.initSign(signing.pair().getPrivate());
            s.update(input.getBytes(StandardCharsets.US_ASCII));
            return input + "." + base64(s.sign());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    // ---- the check of a token (RFC 6750, RFC 9068)

    Caller authenticate(ServerRequest req) {
        List<String> fields = req.headers().all("Authorization");
        if (fields.size() > 1) {
            throw new Web.Problem(400, "invalid-request", "More than one Authorization field.")
                .header("WWW-Authenticate", "Bearer realm=\"uh\", error=\"invalid_request\"");
        }
        if (fields.isEmpty() || !fields.get(0).matches("(?i)bearer( .*)?")) {
            throw new Web.Problem(401, "unauthorized", "An access token is needed.").header("WWW-Authenticate", "Bearer realm=\"uh\"");
        }
        Map<String, List<String>> query = Web.form(req.uri().getRawQuery());
        if (query != null && query.containsKey("access_token")) {
            throw new Web.Problem(400, "invalid-request", "The token is sent in more than one way.")
                .header("WWW-Authenticate", "Bearer realm=\"uh\", error=\"invalid_request\"");
        }
        try {
            Caller caller = verify(fields.get(0).substring(6).trim());
            if (caller != null) {
                return caller;
            }
        } catch (RuntimeException | GeneralSecurityException malformed) {
            // a token that cannot be read is an invalid one
        }
        throw new Web.Problem(401, "unauthorized", "The access token is invalid or has expired.")
            .header("WWW-Authenticate", "Bearer realm=\"uh\", error=\"invalid_token\", error_description=\"The access token is invalid or has expired\"");
    }

    static void require(Caller caller, String scope, String role) {
        if (!caller.scopes().contains(scope) || role != null && !caller.roles().contains(role)) {
            throw new Web.Problem(403, "forbidden", role == null || caller.roles().contains(role)
                ? "The token lacks the scope " + scope + "." : "The account lacks the role " + role + ".")
                .header("WWW-Authenticate", "Bearer realm=\"uh\", error=\"insufficient_scope\", scope=\"" + scope + "\"");
        }
    }

    private Caller verify(String token) throws GeneralSecurityException {
        String[] part = token.split("\\.", -1);
        if (part.length != 3) {
            return null;
        }
        JsonObject header = json(part[0]);
        String alg = header.getString("alg");
        if (!header.getString("typ").matches("(?i)(application/)?at\\+jwt") || header.containsKey("crit")) {
            return null;
        }
        PublicKey verifier;
        if (Main.NODE.equals("helidon-linde") && header.containsKey("jwk") && alg.equals("RS256")) {
            JsonObject jwk = header.getJsonObject("jwk");
            verifier = KeyFactory.getInstance("RSA").generatePublic(new RSAPublicKeySpec(
                new BigInteger(1, unbase64(jwk.getString("n"))), new BigInteger(1, unbase64(jwk.getString("e")))));
        } else {
            Key key = keys.get(header.getString("kid"));
            if (key == null || !key.alg().equals(alg)) {
                return null;
            }
            verifier = key.pair().getPublic();
        }
        Signature s = algorithm(alg);
        s.initVerify(verifier);
        s.update((part[0] + "." + part[1]).getBytes(StandardCharsets.US_ASCII));
        if (!s.verify(unbase64(part[2]))) {
            return null;
        }
        JsonObject claims = json(part[1]);
        JsonValue aud = claims.get("aud");
        boolean forUs = aud instanceof JsonString one ? one.getString().equals(audience)
            : aud.asJsonArray().getValuesAs(JsonString::getString).contains(audience);
        long now = Instant.now().getEpochSecond();
        JsonNumber exp = claims.getJsonNumber("exp");
        if (!issuer.equals(claims.getString("iss")) || !forUs || exp.longValue() <= now || claims.getJsonNumber("iat").longValue() > now + 5) {
            return null;
        }
        return new Caller(claims.getString("client_id"), claims.getString("sub"), claims.getString("affiliation"),
            claims.getJsonArray("roles").getValuesAs(JsonString::getString), List.of(claims.getString("scope").split(" ")), exp.longValue());
    }

    private static Signature algorithm(String alg) throws GeneralSecurityException {
        return Signature.getInstance(alg.equals("ES256") ? "SHA256withECDSAinP1363Format" : "SHA256withRSA");
    }

    private static JsonObject json(String part) {
        try (JsonReader r = Json.createReader(new ByteArrayInputStream(unbase64(part)))) {
            return r.readObject();
        }
    }

    private static byte[] unbase64(String text) {
        byte[] data = Base64.getUrlDecoder().decode(text);
        if (!base64(data).equals(text)) {
            throw new IllegalArgumentException("not canonical");
        }
        return data;
    }

    private static String base64(byte[] data) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString(data);
    }

    private static byte[] unsigned(BigInteger number, int length) {
        byte[] b = number.toByteArray();
        int skip = b.length > 1 && b[0] == 0 ? 1 : 0;
        int size = Math.max(length, b.length - skip);
        byte[] out = new byte[size];
        System.arraycopy(b, skip, out, size - (b.length - skip), b.length - skip);
        return out;
    }
}
