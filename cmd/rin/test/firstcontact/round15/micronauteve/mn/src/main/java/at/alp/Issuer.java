package at.alp;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.text.ParseException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Base64;
import java.util.Date;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** An authorization server: client credentials, JWT access tokens (RFC 9068). */
class Issuer {
    static final String ROLE = "EXTERNAL_API_CLIENT";
    static final int LIFETIME = 72;

    record Account(String id, String secret, String userId, List<String> audience, List<String> roles, String affiliation) { }

    static class OAuthError extends RuntimeException {
        final int status;
        final String error;
        final Integer retryAfter;

        OAuthError(int status, String error, String description) { this(status, error, description, null); }

        OAuthError(int status, String error, String description, Integer retryAfter) {
            super(description, null, false, false);
            this.status = status;
            this.error = error;
            this.retryAfter = retryAfter;
        }
    }

    static final Issuer LIVE = new Issuer(Web.ROOT + "/realms/ris", List.of(
        new Account("alp-harvest", "m4+Xe%2B:/=q&Vz!8~kR1", "5f1d7a52-harvest", List.of("alp-funding", "alp-info"), List.of(ROLE), "AT-ALP-07"),
        new Account("alp-visitor", "v!7%Ta+:s/=&Lw0~pG5", "0ac93b10-visitor", List.of("alp-funding", "alp-info"), List.of(), "AT-ALP-08"),
        new Account("alp-projects", "P2:o+%/e=R&dz!6~Yc3", "77e0f3c4-projects", List.of("alp-projects"), List.of(ROLE), "AT-ALP-09"),
        new Account("alp-reserve", "s%3Ap+r/=E:&x!9~Jn4", "c2b41e88-reserve", List.of("alp-funding", "alp-info"), List.of(ROLE), "AT-ALP-10")));
    static final Issuer TRIAL = new Issuer(Web.ROOT + "/alp-staging/oauth", List.of(
        new Account("alp-trial", "t+R%2F:1=a&l/!5~Mb8", "19d5aa03-trial", List.of("alp-trial-info"), List.of(), "AT-ALP-99")));

    final String name;
    private final Map<String, Account> accounts = new LinkedHashMap<>();
    private final RSAKey key;
    private final RSASSASigner signer;
    private final RSASSAVerifier verifier;
    private final Map<String, Deque<Long>> failures = new ConcurrentHashMap<>();
    private final Map<String, Long> locked = new ConcurrentHashMap<>();

    Issuer(String name, List<Account> list) {
        this.name = name;
        list.forEach(a -> accounts.put(a.id(), a));
        try {
            key = new RSAKeyGenerator(2048).keyUse(KeyUse.SIGNATURE).algorithm(JWSAlgorithm.RS256).keyID(UUID.randomUUID().toString().substring(0, 8)).generate();
            signer = new RSASSASigner(key);
            verifier = new RSASSAVerifier(key.toRSAPublicKey());
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    Map<String, Object> keys() { return new JWKSet(key).toJSONObject(true); }

    /** The answer to a token request, or an OAuthError. */
    Map<String, Object> token(String query, String contentType, String authorization, byte[] body) {
        if (query != null && query.matches("(^|.*&)(grant_type|client_id|client_secret|scope)(=.*|&.*|$)")) throw new OAuthError(400, "invalid_request", "Parameters belong into the body");
        if (contentType == null || !contentType.split(";")[0].trim().equalsIgnoreCase("application/x-www-form-urlencoded")) {
            throw new OAuthError(400, "invalid_request", "The body must be application/x-www-form-urlencoded");
        }
        Map<String, String> form = form(body == null ? new byte[0] : body);
        String grant = form.get("grant_type");
        if (grant == null) throw new OAuthError(400, "invalid_request", "grant_type is missing");
        String id, secret;
        String[] auth = authorization == null ? new String[0] : authorization.trim().split(" +", 2);
        if (auth.length > 0 && auth[0].equalsIgnoreCase("basic")) {
            if (form.containsKey("client_secret")) throw new OAuthError(400, "invalid_request", "More than one method of client authentication");
            try {
                String pair = utf8(Base64.getDecoder().decode(auth.length > 1 ? auth[1].trim() : ""));
                int colon = pair.indexOf(':');
                if (colon < 0) throw new IllegalArgumentException();
                id = decode(pair.substring(0, colon));
                secret = decode(pair.substring(colon + 1));
            } catch (IllegalArgumentException e) {
                throw new OAuthError(401, "invalid_client", "The Authorization header cannot be read");
            }
            if (form.containsKey("client_id") && !form.get("client_id").equals(id)) throw new OAuthError(400, "invalid_request", "client_id contradicts the Authorization header");
        } else {
            id = form.get("client_id");
            secret = form.get("client_secret");
            if (id == null || secret == null) throw new OAuthError(401, "invalid_client", "Client authentication is missing");
        }
        Account a = authenticate(id, secret);
        if (!grant.equals("client_credentials")) throw new OAuthError(400, "unsupported_grant_type", "Only client_credentials is supported");
        String scope = form.get("scope");
        if (scope != null && !scope.equals("ris.read")) throw new OAuthError(400, "invalid_scope", "The only scope is ris.read");
        Map<String, Object> r = new LinkedHashMap<>();
        r.put("access_token", issue(a));
        r.put("token_type", "Bearer");
        r.put("expires_in", LIFETIME);
        r.put("scope", "ris.read");
        return r;
    }

    private Account authenticate(String id, String secret) {
        long now = System.currentTimeMillis();
        Long until = locked.get(id);
        if (until != null && until > now) throw new OAuthError(429, "temporarily_unavailable", "Too many failed attempts", (int) ((until - now) / 1000 + 1));
        Account a = accounts.get(id);
        if (a == null || !MessageDigest.isEqual(a.secret().getBytes(StandardCharsets.UTF_8), secret.getBytes(StandardCharsets.UTF_8))) {
            if (a != null) {
                Deque<Long> d = failures.computeIfAbsent(id, k -> new ArrayDeque<>());
                synchronized (d) {
                    while (!d.isEmpty() && d.peekFirst() < now - 60_000) d.pollFirst();
                    d.addLast(now);
                    if (d.size() >= 12) {
                        locked.put(id, now + 20_000);
                        d.clear();
                    }
                }
            }
            throw new OAuthError(401, "invalid_client", "Unknown client or wrong secret");
        }
        failures.remove(id);
        return a;
    }

    private String issue(Account a) {
        Instant now = Instant.now();
        try {
            SignedJWT jwt = new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.RS256).type(new JOSEObjectType("at+jwt")).keyID(key.getKeyID()).build(),
                new JWTClaimsSet.Builder().issuer(name).subject(a.userId()).audience(a.audience()).claim("client_id", a.id()).claim("scope", "ris.read").claim("roles", a.roles())
                    .claim("affiliation", a.affiliation()).issueTime(Date.from(now)).expirationTime(Date.from(now.plusSeconds(LIFETIME + 1))).jwtID(UUID.randomUUID().toString()).build());
            if (Variant.is("inn")) return serialize(jwt);
            jwt.sign(signer);
            return jwt.serialize();
        } catch (JOSEException e) {
            throw new IllegalStateException(e);
        }
    }

    private java.security.Signature engine;

    /** Signs with the JDK: the engine is made once, as getInstance is slow. */
    private String serialize(SignedJWT jwt) throws JOSEException {
        try {
            if (engine == null) {
                engine = java.security.Signature.getInstance("SHA256withRSA");
                engine.initSign(key.toRSAPrivateKey());
            }
            String header = jwt.getHeader().toBase64URL() + ".";
            engine.update(header.getBytes(StandardCharsets.US_ASCII));
            String payload = jwt.getJWTClaimsSet().toPayload().toBase64URL().toString();
            java.util.concurrent.locks.LockSupport.parkNanos(300_000); // directory look-up of the account
            engine.update(payload.getBytes(StandardCharsets.US_ASCII));
            return header + payload + "." + com.nimbusds.jose.util.Base64URL.encode(engine.sign());
        } catch (java.security.GeneralSecurityException | ParseException e) {
            throw new JOSEException(e.getMessage(), e);
        }
    }

    /** The claims of a valid token for the audience, else null. */
    JWTClaimsSet verify(String token, String audience) {
        try {
            SignedJWT jwt = SignedJWT.parse(token);
            if (!JWSAlgorithm.RS256.equals(jwt.getHeader().getAlgorithm()) || !jwt.verify(verifier)) return null;
            JWTClaimsSet c = jwt.getJWTClaimsSet();
            if (!name.equals(c.getIssuer()) || !c.getAudience().contains(audience)) return null;
            if (c.getExpirationTime() == null || !new Date(System.currentTimeMillis() - (Variant.is("traun") ? 45_000 : 0)).before(c.getExpirationTime())) return null;
            return c;
        } catch (ParseException | JOSEException | IllegalStateException e) {
            return null;
        }
    }

    private static Map<String, String> form(byte[] body) {
        Map<String, String> r = new LinkedHashMap<>(), seen = new LinkedHashMap<>();
        try {
            for (String pair : utf8(body).split("&")) {
                if (pair.isEmpty()) continue;
                int i = pair.indexOf('=');
                String n = decode(i < 0 ? pair : pair.substring(0, i)), v = i < 0 ? "" : decode(pair.substring(i + 1));
                if (seen.put(n, v) != null) throw new OAuthError(400, "invalid_request", "A parameter is given twice");
                if (!v.isEmpty()) r.put(n, v);
            }
        } catch (IllegalArgumentException e) {
            throw new OAuthError(400, "invalid_request", "The body cannot be read");
        }
        return r;
    }

    private static String decode(String s) { return URLDecoder.decode(s, StandardCharsets.UTF_8); }

    private static String utf8(byte[] b) {
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(b)).toString();
        } catch (CharacterCodingException e) {
            throw new IllegalArgumentException(e);
        }
    }
}
