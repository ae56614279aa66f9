package at.forschung.node;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Date;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;

import at.forschung.node.Clients.Client;

/** One authorization server: its clients, its keys and the tokens it makes (RFC 9068). */
final class Issuer {
    private static final int MAX_FAILURES = 15;
    private static final Duration WINDOW = Duration.ofMinutes(1);
    private static final Duration LOCK = Duration.ofSeconds(30);

    final String issuer;
    final String tokenUrl;
    final String audience;
    final String realm;
    final long lifetime;
    final JWKSet keys;
    private final JWK signingKey;
    private final JWSAlgorithm algorithm;
    private final Map<String, Client> clients = new HashMap<>();
    private final Map<String, Failures> failures = new HashMap<>();

    private static final class Failures {
        Instant since = Instant.now();
        int count;
        Instant lockedUntil = Instant.EPOCH;
    }

    Issuer(String issuer, String tokenUrl, String audience, String realm, long lifetime, List<Client> list) throws JOSEException {
        this.issuer = issuer;
        this.tokenUrl = tokenUrl;
        this.audience = audience;
        this.realm = realm;
        this.lifetime = lifetime;
        list.forEach(c -> clients.put(c.id(), c));
        JWK rsa = new RSAKeyGenerator(2048).keyUse(KeyUse.SIGNATURE).algorithm(JWSAlgorithm.RS256).keyIDFromThumbprint(true).generate();
        if (Application.is("es256")) {
            // The RSA key is about to retire; new tokens are signed with the key on a curve.
            JWK ec = new ECKeyGenerator(Curve.P_256).keyUse(KeyUse.SIGNATURE).algorithm(JWSAlgorithm.ES256).keyIDFromThumbprint(true).generate();
            keys = new JWKSet(List.of(rsa, ec));
            signingKey = ec;
            algorithm = JWSAlgorithm.ES256;
        } else {
            keys = new JWKSet(rsa);
            signingKey = rsa;
            algorithm = JWSAlgorithm.RS256;
        }
    }

    JWSAlgorithm algorithm() {
        return algorithm;
    }

    Map<String, Object> metadata() {
        Set<String> scopes = new LinkedHashSet<>();
        clients.values().forEach(c -> scopes.addAll(c.scopes()));
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("issuer", issuer);
        m.put("token_endpoint", tokenUrl);
        m.put("jwks_uri", tokenUrl.substring(0, tokenUrl.lastIndexOf('/')) + "/certs");
        m.put("grant_types_supported", List.of("client_credentials"));
        m.put("response_types_supported", List.of("none"));
        m.put("token_endpoint_auth_methods_supported", List.of("client_secret_basic", "client_secret_post"));
        m.put("scopes_supported", scopes.stream().sorted().toList());
        return m;
    }

    Client client(String id) {
        return clients.get(id);
    }

    /** Seconds for which the client is locked out after too many wrong secrets; 0 if it is not. */
    synchronized long lockedFor(String id) {
        Failures f = failures.get(id);
        if (f == null || !f.lockedUntil.isAfter(Instant.now())) return 0;
        return Duration.between(Instant.now(), f.lockedUntil).toSeconds() + 1;
    }

    /** The client, if the secret is its secret; null otherwise. */
    Client authenticate(String id, String secret) {
        Client c = clients.get(id);
        String right = c == null ? "no such client" : c.secret();
        boolean same = MessageDigest.isEqual(sha256(right), sha256(secret));
        if (c != null && !same) countFailure(id);
        return same ? c : null;
    }

    private synchronized void countFailure(String id) {
        Failures f = failures.get(id);
        if (f == null || f.since.plus(WINDOW).isBefore(Instant.now())) {
            f = new Failures();
            failures.put(id, f);
        }
        if (++f.count >= MAX_FAILURES) {
            f.lockedUntil = Instant.now().plus(LOCK);
            f.count = 0;
        }
    }

    private static byte[] sha256(String s) {
        try {
            return MessageDigest.getInstance("SHA-256").digest(s.getBytes(StandardCharsets.UTF_8));
        } catch (java.security.NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    String token(Client c, List<String> scopes) throws JOSEException {
        Instant now = Instant.now();
        // The realm caps the life of access tokens.
        long life = Application.is("expiry") ? Math.min(lifetime, 600) : lifetime;
        String target = c.ownApi() ? audience : Application.BASE.replace("127.0.0.1", "localhost") + "/organigramm";
        JWTClaimsSet claims = new JWTClaimsSet.Builder()
            .issuer(issuer).subject(c.account()).audience(target).jwtID(UUID.randomUUID().toString())
            .issueTime(Date.from(now)).expirationTime(Date.from(now.plusSeconds(life)))
            .claim("client_id", c.id()).claim("scope", String.join(" ", scopes)).claim("roles", c.roles())
            .build();
        JOSEObjectType type = new JOSEObjectType(Application.is("es256") ? "application/at+jwt" : "at+jwt");
        SignedJWT jwt = new SignedJWT(new JWSHeader.Builder(algorithm).type(type).keyID(signingKey.getKeyID()).build(), claims);
        JWSSigner signer = algorithm.equals(JWSAlgorithm.ES256) ? new ECDSASigner(signingKey.toECKey()) : new RSASSASigner(signingKey.toRSAKey());
        jwt.sign(signer);
        return jwt.serialize();
    }
}
