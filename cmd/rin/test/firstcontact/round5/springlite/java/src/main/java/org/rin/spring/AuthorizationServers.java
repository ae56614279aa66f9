package org.rin.spring;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** The two authorization servers of the node: production and staging, each with its own issuer, keys and clients. */
@Configuration
public class AuthorizationServers {

    public static final String PRODUCTION_PATH = "/auth/realms/rin";
    public static final String STAGING_PATH = "/staging";
    public static final String SCOPE = "funding:read";

    @Bean
    AuthorizationServer production(NodeProperties node) throws Exception {
        return new AuthorizationServer(node.origin() + PRODUCTION_PATH, node.clients(), node);
    }

    @Bean
    AuthorizationServer staging(NodeProperties node) throws Exception {
        return new AuthorizationServer(node.origin() + STAGING_PATH, node.stagingClients(), node);
    }

    public static class AuthorizationServer {
        public final String issuer;
        public final List<NodeProperties.Client> clients;
        public final Duration lifetime;
        private final List<JWK> keys = new ArrayList<>();
        private final AtomicInteger issued = new AtomicInteger();

        AuthorizationServer(String issuer, List<NodeProperties.Client> clients, NodeProperties node) throws Exception {
            this.issuer = issuer;
            this.clients = clients;
            this.lifetime = node.is("spring-short-token") ? Duration.ofSeconds(30) : Duration.ofMinutes(5);
            keys.add(new RSAKeyGenerator(2048).keyUse(KeyUse.SIGNATURE).algorithm(JWSAlgorithm.RS256)
                    .keyIDFromThumbprint(true).generate());
            if (node.is("spring-two-keys")) {
                keys.add(new ECKeyGenerator(Curve.P_256).keyUse(KeyUse.SIGNATURE).algorithm(JWSAlgorithm.ES256)
                        .keyIDFromThumbprint(true).generate());
            }
        }

        public JWKSet jwks() {
            return new JWKSet(keys).toPublicJWKSet();
        }

        public String issue(NodeProperties.Client client) {
            try {
                Instant now = Instant.now();
                JWTClaimsSet claims = new JWTClaimsSet.Builder()
                        .issuer(issuer)
                        .subject(client.serviceAccount())
                        .audience(client.audience())
                        .issueTime(Date.from(now))
                        .expirationTime(Date.from(now.plus(lifetime)))
                        .jwtID(UUID.randomUUID().toString())
                        .claim("client_id", client.id())
                        .claim("scope", SCOPE)
                        .claim("roles", client.roles())
                        .claim("affiliation_id", client.affiliation())
                        .build();
                JWK key = keys.get(Math.floorMod(issued.getAndIncrement(), keys.size()));
                JWSSigner signer = key instanceof RSAKey rsa ? new RSASSASigner(rsa) : new ECDSASigner((ECKey) key);
                JWSHeader header = new JWSHeader.Builder((JWSAlgorithm) key.getAlgorithm())
                        .type(new JOSEObjectType("at+jwt")).keyID(key.getKeyID()).build();
                SignedJWT jwt = new SignedJWT(header, claims);
                jwt.sign(signer);
                return jwt.serialize();
            } catch (com.nimbusds.jose.JOSEException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
