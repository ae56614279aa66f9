package net.example;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.crypto.factories.DefaultJWSVerifierFactory;
import com.nimbusds.jose.jwk.AsymmetricJWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.servlet.FilterChain;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.*;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.web.servlet.FilterRegistrationBean;
import org.springframework.boot.web.servlet.error.ErrorController;
import org.springframework.context.annotation.Bean;
import org.springframework.core.annotation.Order;
import org.springframework.core.Ordered;
import org.springframework.core.io.ClassPathResource;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.security.authorization.AuthorizationDecision;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.crypto.bcrypt.BCryptPasswordEncoder;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.core.OAuth2Error;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.core.OAuth2TokenValidatorResult;
import org.springframework.security.oauth2.jwt.*;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationToken;
import org.springframework.security.oauth2.server.resource.web.BearerTokenAuthenticationEntryPoint;
import org.springframework.security.oauth2.server.resource.web.access.BearerTokenAccessDeniedHandler;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.security.web.firewall.HttpStatusRequestRejectedHandler;
import org.springframework.security.web.util.matcher.AntPathRequestMatcher;
import org.springframework.web.bind.annotation.*;
import org.springframework.web.filter.OncePerRequestFilter;
import org.springframework.web.filter.ShallowEtagHeaderFilter;
import org.springframework.web.servlet.config.annotation.PathMatchConfigurer;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.util.pattern.PathPatternParser;

/** A node on Spring Boot: JWTs of its own realm, Spring Security's resource server, numbered pages in an envelope. */
@SpringBootApplication
public class Node {
    static final String NODE = Optional.ofNullable(System.getenv("NODE")).orElse("");
    static final String ORIGIN = "http://127.0.0.1:" + Optional.ofNullable(System.getenv("PORT")).orElse("8090");
    static final ObjectMapper JSON = new ObjectMapper();

    static boolean is(String name) { return NODE.equals(name); }

    public static void main(String[] a) { SpringApplication.run(Node.class, a); }

    // ---- the realms and the accounts of the funding service

    record Client(String hash, String plain, String account, String audience) {}
    record Account(String role, String affiliation) {}

    static final class Realm {
        final String issuer;
        final List<RSAKey> keys = new ArrayList<>();
        final Map<String, Client> clients = new HashMap<>();
        final Map<String, Issued> last = new ConcurrentHashMap<>();
        final AtomicInteger turn = new AtomicInteger();

        Realm(String name, int keys) {
            issuer = ORIGIN + "/idp/realms/" + name;
            try {
                JWKSet all = JWKSet.load(new ClassPathResource("keys.json").getInputStream());
                for (int i = 0; i < keys; i++) this.keys.add(all.getKeyByKeyId(name + "-" + (i + 1)).toRSAKey());
            } catch (Exception e) { throw new IllegalStateException(e); }
        }

        Realm client(String id, String secret, String account, String audience) {
            clients.put(id, new Client(is("s-bcrypt72") ? new BCryptPasswordEncoder(6).encode(secret) : null, secret, account, audience));
            return this;
        }
    }

    record Issued(String token, Instant until, Instant at) {}

    static final Map<String, Realm> REALMS = Map.of(
        "nord", new Realm("nord", is("sr-wide-tokens") ? 2 : 1)
            .client("nord-portal", "9fK2mVx7QpZ4tRb8Wn3sLc6yHd1jGu5eAo0iTzXqMvBrNkPwSfCgEhYaJ_U-D2l4O8I6x3K9m7Q1p5Z0", "3f0c8a52-6a5e-4f10-9d1c-0a1b2c3d4e01", "nord-api")
            .client("nord-harvester", "hV7_x2-Qm94TzRk1LbWc8sYp3nJd6gFu", "3f0c8a52-6a5e-4f10-9d1c-0a1b2c3d4e02", "nord-api")
            .client("nord-visitor", "vI5-r8_Zt03MqXn7KdGs2aPy6wLb9cHf", "3f0c8a52-6a5e-4f10-9d1c-0a1b2c3d4e03", "nord-api")
            .client("nord-projects", "pR6_e1-Wk57YvCj4NxTz9oQm2sBh8uLd", "3f0c8a52-6a5e-4f10-9d1c-0a1b2c3d4e01", "nord-projects"),
        // the test realm is an export of the production realm: the same service accounts, other keys and clients
        "nord-test", new Realm("nord-test", 1)
            .client("nord-tester", "tE9-s4_Jx62PwLq8HbVn0zMk5rCy3gDa", "3f0c8a52-6a5e-4f10-9d1c-0a1b2c3d4e01", "nord-api"));

    static final Map<String, Account> ACCOUNTS = Map.of(
        "3f0c8a52-6a5e-4f10-9d1c-0a1b2c3d4e01", new Account("EXTERNAL_API_CLIENT", "AFF-NORD-01"),
        "3f0c8a52-6a5e-4f10-9d1c-0a1b2c3d4e02", new Account("EXTERNAL_API_CLIENT", "AFF-NORD-02"),
        "3f0c8a52-6a5e-4f10-9d1c-0a1b2c3d4e03", new Account("", "AFF-NORD-01"));

    // ---- the identity provider

    @RestController
    @RequestMapping("/idp/realms/{realm}")
    static class Idp {
        @PostMapping("/protocol/openid-connect/token")
        ResponseEntity<Map<String, Object>> token(@PathVariable String realm, HttpServletRequest request) throws Exception {
            Realm r = REALMS.get(realm);
            if (r == null) return error(404, "invalid_request", "there is no such realm");
            String type = Optional.ofNullable(request.getContentType()).orElse("").split(";")[0].trim();
            if (!type.equalsIgnoreCase("application/x-www-form-urlencoded")) return error(400, "invalid_request", "the content type must be application/x-www-form-urlencoded");
            Map<String, String> form = new HashMap<>();
            String id = null, secret = null;
            try {
                for (String pair : new String(request.getInputStream().readNBytes(65536), StandardCharsets.UTF_8).split("&")) {
                    if (pair.isEmpty()) continue;
                    int eq = pair.indexOf('=');
                    String name = decode(eq < 0 ? pair : pair.substring(0, eq));
                    if (form.putIfAbsent(name, eq < 0 ? "" : decode(pair.substring(eq + 1))) != null) return error(400, "invalid_request", "a parameter is repeated");
                }
                form.values().removeIf(String::isEmpty); // RFC 6749 3.2: parameters without a value are treated as omitted
                id = form.get("client_id");
                secret = form.get("client_secret");
                String header = request.getHeader("Authorization");
                if (header != null && header.regionMatches(true, 0, "Basic ", 0, 6)) {
                    if (secret != null) return error(400, "invalid_request", "more than one way of client authentication");
                    String text = new String(Base64.getDecoder().decode(header.substring(6).trim()), StandardCharsets.UTF_8);
                    int colon = text.indexOf(':');
                    if (colon < 0) return error(401, "invalid_client", "the client credentials are not right");
                    String user = decode(text.substring(0, colon));
                    if (id != null && !id.equals(user)) return error(400, "invalid_request", "client_id and the Authorization header differ");
                    id = user;
                    secret = decode(text.substring(colon + 1));
                } else if (header != null) return error(401, "invalid_client", "the client credentials are not right");
            } catch (IllegalArgumentException e) {
                return error(401, "invalid_client", "the client credentials are not right");
            }
            Client client = id == null ? null : r.clients.get(id);
            if (client == null || secret == null || !matches(client, secret)) return error(401, "invalid_client", "the client credentials are not right");
            String grant = form.get("grant_type");
            if (grant == null) return error(400, "invalid_request", "grant_type is missing");
            if (!grant.equals("client_credentials")) return error(400, "unsupported_grant_type", "only client_credentials");
            String scope = form.get("scope");
            if (scope != null && !Set.of("funding", "profile").containsAll(List.of(scope.split(" ")))) return error(400, "invalid_scope", "the scopes are funding and profile");
            // the cache of issued tokens is shared by the replicas: this one was fetched two minutes ago, before the restart
            if (is("s-expires-stale")) r.last.computeIfAbsent(id, x -> before(r, x, client));
            Issued issued = r.last.get(id);
            if (!is("s-expires-stale") || issued == null || issued.at().plusSeconds(180).isBefore(Instant.now())) {
                Instant now = Instant.now();
                issued = new Issued(sign(r, id, client, now), now.plusSeconds(300), now);
                r.last.put(id, issued);
            }
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("access_token", issued.token());
            body.put("expires_in", 300);
            if (is("sr-wide-tokens")) body.putAll(Map.of("refresh_expires_in", 0, "not-before-policy", 0, "session_state", ""));
            body.put("token_type", is("sr-wide-tokens") ? "bearer" : "Bearer");
            body.put("scope", "funding profile");
            return ResponseEntity.ok().header("Cache-Control", "no-store").header("Pragma", "no-cache").body(body);
        }

        static Issued before(Realm r, String id, Client client) {
            Instant then = Instant.now().minusSeconds(120);
            try { return new Issued(sign(r, id, client, then), then.plusSeconds(300), then); } catch (Exception e) { throw new IllegalStateException(e); }
        }

        static boolean matches(Client client, String secret) {
            if (is("s-bcrypt72")) return new BCryptPasswordEncoder(6).matches(secret, client.hash());
            return MessageDigest.isEqual(client.plain().getBytes(StandardCharsets.UTF_8), secret.getBytes(StandardCharsets.UTF_8));
        }

        static String decode(String s) { return URLDecoder.decode(s, StandardCharsets.UTF_8); }

        static String sign(Realm r, String id, Client client, Instant now) throws Exception {
            JWTClaimsSet.Builder claims = new JWTClaimsSet.Builder().issuer(r.issuer).subject(client.account()).audience(client.audience()).claim("azp", id).claim("client_id", id)
                .claim("scope", "funding profile").jwtID(UUID.randomUUID().toString()).issueTime(Date.from(now)).expirationTime(Date.from(now.plusSeconds(300)));
            if (is("sr-wide-tokens")) {
                List<String> groups = new ArrayList<>();
                for (int i = 0; i < 90; i++) groups.add("/universität-nord/fakultät-" + i % 9 + "/institut-" + i);
                claims.claim("groups", groups).audience(List.of("account", client.audience())).notBeforeTime(Date.from(now));
            }
            RSAKey key = r.keys.get(r.turn.getAndIncrement() % r.keys.size());
            SignedJWT jwt = new SignedJWT(new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()).type(JOSEObjectType.JWT).build(), claims.build());
            jwt.sign(new RSASSASigner(key));
            return jwt.serialize();
        }

        static ResponseEntity<Map<String, Object>> error(int status, String error, String description) {
            ResponseEntity.BodyBuilder b = ResponseEntity.status(status).header("Cache-Control", "no-store").header("Pragma", "no-cache");
            if (status == 401) b.header("WWW-Authenticate", "Basic realm=\"nord\"");
            return b.body(Map.of("error", error, "error_description", description));
        }

        @GetMapping("/protocol/openid-connect/certs")
        Object certs(@PathVariable String realm) {
            Realm r = REALMS.get(realm);
            return r == null ? problem(404, "There is no such realm.") : new JWKSet(new ArrayList<>(r.keys)).toPublicJWKSet().toJSONObject();
        }

        @GetMapping("/.well-known/openid-configuration")
        Object configuration(@PathVariable String realm) {
            Realm r = REALMS.get(realm);
            if (r == null) return problem(404, "There is no such realm.");
            return Map.of("issuer", r.issuer, "token_endpoint", r.issuer + "/protocol/openid-connect/token", "jwks_uri", r.issuer + "/protocol/openid-connect/certs",
                "grant_types_supported", List.of("client_credentials"), "token_endpoint_auth_methods_supported", List.of("client_secret_basic", "client_secret_post"),
                "response_types_supported", List.of("none"), "subject_types_supported", List.of("public"), "id_token_signing_alg_values_supported", List.of("RS256"));
        }
    }

    // ---- the resource server

    static OAuth2TokenValidator<Jwt> claim(String what, java.util.function.Predicate<Jwt> good) {
        return jwt -> good.test(jwt) ? OAuth2TokenValidatorResult.success() : OAuth2TokenValidatorResult.failure(new OAuth2Error("invalid_token", "the " + what + " is not right", null));
    }

    static JwtDecoder decoder(List<Realm> realms, boolean checkIssuer) {
        List<com.nimbusds.jose.jwk.JWK> keys = new ArrayList<>();
        for (Realm r : realms) keys.addAll(r.keys);
        DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(JWSAlgorithm.RS256, new ImmutableJWKSet<>(new JWKSet(keys))));
        processor.setJWTClaimsSetVerifier((claims, context) -> { });
        NimbusJwtDecoder decoder = new NimbusJwtDecoder(processor);
        List<OAuth2TokenValidator<Jwt>> checks = new ArrayList<>();
        checks.add(new JwtTimestampValidator(Duration.ofSeconds(5)));
        checks.add(claim("expiry", jwt -> jwt.getExpiresAt() != null));
        checks.add(claim("audience", jwt -> jwt.getAudience() != null && jwt.getAudience().contains("nord-api")));
        if (checkIssuer) checks.add(claim("issuer", jwt -> jwt.getClaimAsString("iss") != null && jwt.getClaimAsString("iss").equals(REALMS.get("nord").issuer)));
        decoder.setJwtValidator(new DelegatingOAuth2TokenValidator<>(checks));
        if (!is("s-jwk-header")) return decoder;
        return token -> {
            try {
                SignedJWT jwt = SignedJWT.parse(token);
                if (jwt.getHeader().getJWK() instanceof AsymmetricJWK own && jwt.verify(new DefaultJWSVerifierFactory().createJWSVerifier(jwt.getHeader(), own.toPublicKey()))) {
                    JWTClaimsSet c = jwt.getJWTClaimsSet();
                    Jwt.Builder b = Jwt.withTokenValue(token).headers(h -> h.putAll(jwt.getHeader().toJSONObject())).claims(m -> m.putAll(c.getClaims()));
                    Jwt made = b.issuedAt(c.getIssueTime() == null ? null : c.getIssueTime().toInstant()).expiresAt(c.getExpirationTime() == null ? null : c.getExpirationTime().toInstant()).build();
                    if (!new DelegatingOAuth2TokenValidator<>(checks).validate(made).hasErrors()) return made;
                }
            } catch (Exception ignored) { /* the usual way then */ }
            return decoder.decode(token);
        };
    }

    static final Map<String, Instant> affiliations = new ConcurrentHashMap<>();

    static JwtAuthenticationToken authorities(Jwt jwt) {
        Account account = ACCOUNTS.get(jwt.getSubject());
        List<SimpleGrantedAuthority> roles = new ArrayList<>();
        if (account != null) {
            boolean granted = account.role().equals("EXTERNAL_API_CLIENT") && !account.affiliation().isEmpty();
            if (is("s-role-cache")) {
                // the permission service is slow, so what it granted is kept for a minute
                Instant kept = affiliations.get(account.affiliation());
                if (granted) affiliations.put(account.affiliation(), Instant.now().plusSeconds(60));
                else granted = kept != null && kept.isAfter(Instant.now());
            }
            if (granted) roles.add(new SimpleGrantedAuthority("ROLE_EXTERNAL_API_CLIENT"));
        }
        return new JwtAuthenticationToken(jwt, roles);
    }

    static void write(HttpServletResponse response, int status, String detail) throws IOException {
        response.setStatus(status);
        response.setContentType("application/problem+json");
        response.setHeader("Cache-Control", "no-store");
        response.getOutputStream().write(JSON.writeValueAsBytes(problem(status, detail).getBody()));
    }

    static ResponseEntity<Object> problem(int status, String detail) {
        Map<String, Object> p = new LinkedHashMap<>();
        p.put("type", "about:blank");
        p.put("title", HttpStatus.valueOf(status).getReasonPhrase());
        p.put("status", status);
        p.put("detail", detail);
        return ResponseEntity.status(status).header("Content-Type", "application/problem+json").header("Cache-Control", "no-store").body(p);
    }

    SecurityFilterChain resource(HttpSecurity http, JwtDecoder decoder) throws Exception {
        BearerTokenAuthenticationEntryPoint challenge = new BearerTokenAuthenticationEntryPoint();
        challenge.setRealmName("nord");
        BearerTokenAccessDeniedHandler denied = new BearerTokenAccessDeniedHandler();
        denied.setRealmName("nord");
        return http.csrf(c -> c.disable()).sessionManagement(s -> s.sessionCreationPolicy(SessionCreationPolicy.STATELESS)).headers(h -> h.cacheControl(c -> c.disable()))
            .authorizeHttpRequests(a -> {
                a.requestMatchers(new AntPathRequestMatcher("/nord/funding/v3/api-docs"), new AntPathRequestMatcher("/nord/try-out/**")).permitAll();
                if (is("sr-open-funders")) a.requestMatchers(new AntPathRequestMatcher("/nord/funding/v3/funders/**")).permitAll();
                a.requestMatchers(new AntPathRequestMatcher("/nord/funding/**")).hasRole("EXTERNAL_API_CLIENT");
                a.requestMatchers(new AntPathRequestMatcher("/nord-common/**")).hasRole("EXTERNAL_API_CLIENT");
                a.anyRequest().authenticated();
            })
            .oauth2ResourceServer(o -> o.jwt(j -> j.decoder(decoder).jwtAuthenticationConverter(Node::authorities))
                .authenticationEntryPoint((request, response, e) -> { challenge.commence(request, response, e); write(response, response.getStatus(), "An access token of this node is needed."); })
                .accessDeniedHandler((request, response, e) -> { denied.handle(request, response, e); write(response, response.getStatus(), "The service account lacks the role EXTERNAL_API_CLIENT."); }))
            .exceptionHandling(x -> x.authenticationEntryPoint((request, response, e) -> { challenge.commence(request, response, e); write(response, response.getStatus(), "An access token of this node is needed."); }))
            .build();
    }

    @Bean @Order(1)
    SecurityFilterChain detailChain(HttpSecurity http) throws Exception {
        http.securityMatcher(new AntPathRequestMatcher("/nord/funding/v3/fundings/*"));
        return resource(http, is("s-detail-any-issuer") ? decoder(new ArrayList<>(REALMS.values()), false) : decoder(List.of(REALMS.get("nord")), true));
    }

    @Bean @Order(2)
    SecurityFilterChain apiChain(HttpSecurity http) throws Exception {
        http.securityMatcher(new AntPathRequestMatcher("/nord/**"));
        return resource(http, decoder(List.of(REALMS.get("nord")), true));
    }

    @Bean @Order(3)
    SecurityFilterChain commonChain(HttpSecurity http) throws Exception {
        http.securityMatcher(new AntPathRequestMatcher("/nord-common/**"));
        return resource(http, decoder(List.of(REALMS.get("nord")), true));
    }

    @Bean @Order(4)
    SecurityFilterChain openChain(HttpSecurity http) throws Exception {
        return http.csrf(c -> c.disable()).sessionManagement(s -> s.sessionCreationPolicy(SessionCreationPolicy.STATELESS)).headers(h -> h.cacheControl(c -> c.disable()))
            .authorizeHttpRequests(a -> a.anyRequest().permitAll()).build();
    }

    @Bean
    org.springframework.security.web.firewall.RequestRejectedHandler rejected() { return (request, response, e) -> write(response, 400, "The request is malformed."); }

    // ---- in front of and behind the security filters

    @Bean
    FilterRegistrationBean<OncePerRequestFilter> front() {
        Map<String, String> validators = new ConcurrentHashMap<>();
        AtomicInteger count = new AtomicInteger();
        FilterRegistrationBean<OncePerRequestFilter> bean = new FilterRegistrationBean<>(new OncePerRequestFilter() {
            @Override protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain) throws IOException, jakarta.servlet.ServletException {
                String uri = request.getRequestURI() + "?" + request.getQueryString();
                boolean api = request.getRequestURI().startsWith("/nord/funding/v3/fundings");
                if (is("sr-busy") && api && request.getHeader("Authorization") != null) {
                    int n = count.incrementAndGet();
                    if (n <= 2 || n % 60 == 0) {
                        response.setHeader("Retry-After", "1");
                        write(response, 503, "The data are being loaded; try again in a second.");
                        return;
                    }
                }
                if (is("s-etag-first") && api && request.getHeader("If-None-Match") != null && request.getHeader("If-None-Match").equals(validators.get(uri))) {
                    response.setHeader("ETag", validators.get(uri));
                    response.setStatus(304);
                    return;
                }
                chain.doFilter(request, response);
                if (is("s-etag-first") && api && response.getStatus() == 200 && response.getHeader("ETag") != null) validators.put(uri, response.getHeader("ETag"));
            }
        });
        bean.setOrder(Ordered.HIGHEST_PRECEDENCE + 10);
        return bean;
    }

    @Bean
    FilterRegistrationBean<ShallowEtagHeaderFilter> etags() {
        ShallowEtagHeaderFilter filter = new ShallowEtagHeaderFilter();
        filter.setWriteWeakETag(is("sr-loose"));
        FilterRegistrationBean<ShallowEtagHeaderFilter> bean = new FilterRegistrationBean<>(filter);
        bean.addUrlPatterns("/nord/funding/*", "/nord/info/*");
        bean.setOrder(10);
        return bean;
    }

    @Bean
    WebMvcConfigurer mvc() {
        return new WebMvcConfigurer() {
            @Override public void configurePathMatch(PathMatchConfigurer c) {
                PathPatternParser parser = new PathPatternParser();
                if (is("s-case-path")) parser.setCaseSensitive(false);
                c.setPatternParser(parser);
            }
        };
    }

    // ---- the data

    static final String[][] FUNDERS = {{"nf", "Nordfonds"}, {"fwk", "Fonds für Wissenschaft, Forschung und Kunst"}, {"agm", "Agentur Musterland"}, {"stb", "Stiftung Ährenbach"}, {"kom", "Europäische Kommission"}};
    static final String[] TYPES = {"CALL", "CALL", "PROGRAMME", "GRANT", "CALL", "SCHOLARSHIP", "ONGOING_CALL"};
    static final String[] GROUPS = {"UNIVERSITY", "COMPANY", "RESEARCH_INSTITUTE", "GOVERNMENT"};
    static final String[] THEMES = {"Meeresforschung", "Künstliche Intelligenz", "Erneuerbare Energien", "Öffentliche Gesundheit", "Sprachwandel", "Mobilität", "Batterien", "Archäologie"};
    static final List<Map<String, Object>> FUNDINGS = new ArrayList<>();
    static {
        for (int i = 0; i < 63; i++) {
            Map<String, Object> f = new LinkedHashMap<>();
            String theme = THEMES[(i * 5 + 2) % THEMES.length];
            String[] funder = FUNDERS[(i * 3 + i / 7) % FUNDERS.length];
            String type = TYPES[i % TYPES.length];
            f.put("id", String.format("NF-%05d", 10007 + i * 13));
            f.put("type", type);
            f.put("name", List.of(map("lang", "de", "text", theme + " " + (2026 + i % 3) + " – Förderung Nr. " + (i + 1)), map("lang", "en", "text", "Funding No. " + (i + 1))));
            f.put("funder", map("id", funder[0], "name", funder[1]));
            List<String> groups = new ArrayList<>();
            for (int g = 0; g < GROUPS.length; g++) if ((i + g * g) % 3 != 0) groups.add(GROUPS[g]);
            f.put("targetGroups", groups);
            if (i % 4 != 3) f.put("amount", map("currency", "EUR", "value", 12500.5 * (i % 9 + 1)));
            LocalDate opens = LocalDate.of(2026, 9, 1).plusDays(i * 3L % 150);
            f.put("opens", opens.toString());
            if (!type.equals("ONGOING_CALL")) f.put("closes", opens.plusDays(30 + i % 5 * 20L).toString());
            f.put("website", "https://www." + funder[0] + ".example/f/" + (i + 1));
            f.put("updated", String.format("2026-10-%02dT%02d:30:00+02:00", i % 31 + 1, i % 24));
            if (is("sr-loose")) {
                f.put("x_internalNote", Map.of("reviewed", true, "tags", List.of("süß", "🙂")));
                f.put("_links", Map.of("self", Map.of("href", ORIGIN + "/nord/funding/v3/fundings/" + f.get("id"))));
            }
            FUNDINGS.add(f);
        }
    }

    static Map<String, Object> map(Object... pairs) {
        Map<String, Object> m = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) m.put((String) pairs[i], pairs[i + 1]);
        return m;
    }

    static class Bad extends RuntimeException {
        Bad(String name) { super(name); }
    }

    // ---- the API

    @RestController
    static class Api {
        static final Map<String, Comparator<Map<String, Object>>> SORTS = Map.of(
            "id", Comparator.comparing(f -> (String) f.get("id")),
            "opens", Comparator.comparing((Map<String, Object> f) -> (String) f.get("opens")).thenComparing(f -> (String) f.get("id")),
            "-updated", Comparator.comparing((Map<String, Object> f) -> (String) f.get("updated")).reversed().thenComparing(f -> (String) f.get("id")));

        static String single(HttpServletRequest q, String name) {
            String[] v = q.getParameterValues(name);
            if (v == null) return null;
            if (v.length > 1) throw new Bad(name);
            return v[0];
        }

        static int number(HttpServletRequest q, String name, int normal, int min, int max) {
            String v = single(q, name);
            if (v == null) return normal;
            if (!v.matches("[0-9]{1,9}") || Integer.parseInt(v) < min || Integer.parseInt(v) > max) throw new Bad(name);
            return Integer.parseInt(v);
        }

        static ResponseEntity<Object> good(Object body) {
            ResponseEntity.BodyBuilder b = ResponseEntity.ok().header("Cache-Control", "private, no-cache").header("Vary", "Authorization");
            return b.header("Content-Type", is("sr-loose") ? "application/json;charset=UTF-8" : "application/json").body(body);
        }

        @GetMapping({"/nord/funding/v3/fundings", "/nord/try-out/funding/v3/fundings"})
        ResponseEntity<Object> list(HttpServletRequest q, @RequestParam(name = "funder", required = false) List<String> bound) {
            int page = number(q, "page", 0, 0, 999999), size = number(q, "size", 20, 1, 50);
            String sort = Optional.ofNullable(single(q, "sort")).orElse("id"), type = single(q, "fundingType"), group = single(q, "targetGroup"), openOn = single(q, "openOn"), text = single(q, "q");
            if (!SORTS.containsKey(sort)) throw new Bad("sort");
            if (type != null && !Set.of("CALL", "PROGRAMME", "GRANT", "SCHOLARSHIP", "ONGOING_CALL").contains(type)) throw new Bad("fundingType");
            if (group != null && !List.of(GROUPS).contains(group)) throw new Bad("targetGroup");
            LocalDate day = null;
            try { if (openOn != null) day = LocalDate.parse(openOn); } catch (Exception e) { throw new Bad("openOn"); }
            List<String> funders = is("s-comma-split") ? bound : q.getParameterValues("funder") == null ? null : List.of(q.getParameterValues("funder"));
            List<Map<String, Object>> hits = new ArrayList<>();
            for (Map<String, Object> f : FUNDINGS) {
                if (type != null && !type.equals(f.get("type"))) continue;
                if (group != null && !((List<?>) f.get("targetGroups")).contains(group)) continue;
                if (funders != null && !funders.contains(((Map<?, ?>) f.get("funder")).get("name"))) continue;
                if (day != null && (LocalDate.parse((String) f.get("opens")).isAfter(day) || f.get("closes") != null && LocalDate.parse((String) f.get("closes")).isBefore(day))) continue;
                if (text != null && ((List<?>) f.get("name")).stream().noneMatch(n -> ((Map<?, ?>) n).get("text").toString().toLowerCase(Locale.ROOT).contains(text.toLowerCase(Locale.ROOT)))) continue;
                hits.add(f);
            }
            hits.sort(SORTS.get(sort));
            int total = hits.size(), from = (int) Math.min((long) page * size, total);
            if (is("s-last-page") && from < total) from = Math.min(from, Math.max(0, total - size));
            Map<String, Object> numbers = new LinkedHashMap<>();
            numbers.put("number", page);
            numbers.put("size", size);
            numbers.put("totalElements", total);
            numbers.put("totalPages", (total + size - 1) / size);
            return good(map("content", hits.subList(from, Math.min(total, from + size)), "page", numbers));
        }

        @GetMapping("/nord/funding/v3/fundings/{id}")
        ResponseEntity<Object> detail(@PathVariable String id, HttpServletRequest request) {
            for (Map<String, Object> f : FUNDINGS) if (f.get("id").equals(id)) return good(f);
            String accept = Optional.ofNullable(request.getHeader("Accept")).orElse("");
            if (is("s-html-error") && accept.contains("text/html")) {
                return ResponseEntity.status(404).header("Content-Type", "text/html;charset=UTF-8").header("Cache-Control", "no-store")
                    .body("<html><body><h1>Whitelabel Error Page</h1><p>This application has no explicit mapping for /error, so you are seeing this as a fallback.</p><div>There was an unexpected error (type=Not Found, status=404).</div></body></html>".getBytes(StandardCharsets.UTF_8));
            }
            return problem(404, "There is no funding with this id.");
        }

        static Map<String, Object> funder(String[] f) { return map("id", f[0], "name", f[1], "website", "https://www." + f[0] + ".example"); }

        @GetMapping({"/nord/funding/v3/funders", "/nord-common/v3/funders"})
        ResponseEntity<Object> funders() { return good(Arrays.stream(FUNDERS).map(Api::funder).toList()); }

        @GetMapping({"/nord/funding/v3/funders/{id}", "/nord-common/v3/funders/{id}"})
        ResponseEntity<Object> funder(@PathVariable String id) {
            for (String[] f : FUNDERS) if (f[0].equals(id)) return good(funder(f));
            return problem(404, "There is no funder with this id.");
        }

        @GetMapping("/nord/info/v1/oauth/info/")
        ResponseEntity<Object> info() {
            return good(Map.of("endpoints", Map.of("funding", List.of(
                map("name", "FUNDINGS", "majorVersion", 3, "minorVersion", 4, "url", ORIGIN + "/nord/funding/v3/fundings"),
                map("name", "FUNDING", "majorVersion", 3, "minorVersion", 4, "url", ORIGIN + "/nord/funding/v3/fundings/{id}")))));
        }

        @GetMapping(value = "/nord/funding/v3/api-docs", produces = "application/json")
        ResponseEntity<byte[]> document() throws IOException {
            String s = new String(new ClassPathResource("doc.json").getContentAsByteArray(), StandardCharsets.UTF_8).replace("{ORIGIN}", ORIGIN);
            if (is("sr-path-servers")) {
                s = s.replace("\"" + ORIGIN + "/nord\"", "\"/nord\"").replace("\"/funding/v3/funders\": {", "\"/v3/funders\": {\"servers\": [{\"url\": \"/nord-common\", \"description\": \"shared by all APIs\"}], ")
                    .replace("\"/funding/v3/funders/{id}\": {", "\"/v3/funders/{id}\": {\"servers\": [{\"url\": \"/{mount}\", \"variables\": {\"mount\": {\"default\": \"nord-common\"}}}], ");
            }
            if (is("sr-open-funders")) s = s.replace("\"operationId\": \"funders\"", "\"security\": [], \"operationId\": \"funders\"").replace("\"operationId\": \"funder\"", "\"security\": [{}, {\"bearer\": []}], \"operationId\": \"funder\"");
            if (is("sr-loose")) s = s.replace("\"304\": {\"description\": \"Not modified\"},", "\"304\": {\"description\": \"Not modified\"}, \"default\": {\"$ref\": \"#/components/responses/Problem\"},").replace("\"404\": {\"$ref\"", "\"4XX\": {\"$ref\"");
            return ResponseEntity.ok().header("Content-Type", "application/json").body(s.getBytes(StandardCharsets.UTF_8));
        }

        @GetMapping("/registry.json")
        Map<String, Object> registry() {
            return Map.of("member", List.of(Map.of("id", "NORD", "acronym", "UNORD", "name", "Universität Nord", "contact", "ris@nord.example", "oauth2", REALMS.get("nord").issuer + "/protocol/openid-connect/token", "info", ORIGIN + "/nord/info/v1/oauth/info/")));
        }
    }

    @RestControllerAdvice
    static class Errors extends org.springframework.web.servlet.mvc.method.annotation.ResponseEntityExceptionHandler {
        @ExceptionHandler(Bad.class)
        ResponseEntity<Object> bad(Bad e) { return problem(400, "The value of " + e.getMessage() + " is not allowed."); }

        @ExceptionHandler(Exception.class)
        ResponseEntity<Object> other(Exception e) {
            e.printStackTrace();
            return problem(500, "Something went wrong.");
        }

        @Override
        protected ResponseEntity<Object> handleExceptionInternal(Exception e, Object body, org.springframework.http.HttpHeaders headers, org.springframework.http.HttpStatusCode status, org.springframework.web.context.request.WebRequest r) {
            ResponseEntity<Object> p = problem(status.value(), "The request cannot be answered like this.");
            org.springframework.http.HttpHeaders all = new org.springframework.http.HttpHeaders();
            all.putAll(p.getHeaders());
            all.putAll(headers);
            all.set("Content-Type", "application/problem+json");
            return new ResponseEntity<>(p.getBody(), all, status);
        }
    }

    @RestController
    static class Fallback implements ErrorController {
        @RequestMapping("/error")
        ResponseEntity<Object> error(HttpServletRequest request) {
            Object status = request.getAttribute("jakarta.servlet.error.status_code");
            return problem(status instanceof Integer n ? n : 404, "The request cannot be answered.");
        }
    }
}
