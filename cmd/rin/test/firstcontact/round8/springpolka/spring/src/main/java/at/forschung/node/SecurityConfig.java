package at.forschung.node;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.JWTParser;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpMethod;
import org.springframework.http.MediaType;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.core.AuthenticationException;
import org.springframework.security.core.GrantedAuthority;
import org.springframework.security.core.authority.SimpleGrantedAuthority;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.core.OAuth2AuthenticationException;
import org.springframework.security.oauth2.core.OAuth2Error;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtClaimValidator;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtIssuerValidator;
import org.springframework.security.oauth2.jwt.JwtTimestampValidator;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;
import org.springframework.security.oauth2.server.resource.web.BearerTokenResolver;
import org.springframework.security.oauth2.server.resource.web.DefaultBearerTokenResolver;
import org.springframework.security.web.SecurityFilterChain;

@Configuration
class SecurityConfig {
    private final Issuers issuers;

    SecurityConfig(Issuers issuers) {
        this.issuers = issuers;
    }

    // ------------------------------------------------------------ chains

    @Bean
    @Order(1)
    SecurityFilterChain staging(HttpSecurity http) throws Exception {
        http.securityMatcher("/test/forschung", "/test/forschung/**");
        return resourceServer(http, issuers.staging(), decoder(issuers.staging(), true));
    }

    /** The funders came later than the calls and got a chain of their own. */
    @Bean
    @Order(2)
    SecurityFilterChain funders(HttpSecurity http) throws Exception {
        http.securityMatcher("/forschung/funding/v3/funders", "/forschung/funding/v3/funders/**");
        return resourceServer(http, issuers.production(), decoder(issuers.production(), !Application.is("audience")));
    }

    @Bean
    @Order(3)
    SecurityFilterChain production(HttpSecurity http) throws Exception {
        http.securityMatcher("/forschung", "/forschung/**");
        return resourceServer(http, issuers.production(), decoder(issuers.production(), true));
    }

    @Bean
    @Order(4)
    SecurityFilterChain open(HttpSecurity http) throws Exception {
        http.csrf(c -> c.disable());
        http.headers(h -> h.cacheControl(c -> c.disable()));
        http.requestCache(c -> c.disable());
        http.sessionManagement(s -> s.sessionCreationPolicy(SessionCreationPolicy.STATELESS));
        http.authorizeHttpRequests(a -> a.anyRequest().permitAll());
        return http.build();
    }

    private SecurityFilterChain resourceServer(HttpSecurity http, Issuer issuer, JwtDecoder decoder) throws Exception {
        http.csrf(c -> c.disable());
        http.headers(h -> h.cacheControl(c -> c.disable()));
        http.requestCache(c -> c.disable());
        http.logout(l -> l.disable());
        http.sessionManagement(s -> s.sessionCreationPolicy(SessionCreationPolicy.STATELESS));
        http.authorizeHttpRequests(a -> {
            a.requestMatchers(HttpMethod.GET, "/forschung/funding/v3/api-docs").permitAll();
            a.requestMatchers(HttpMethod.HEAD, "/forschung/funding/v3/api-docs").permitAll();
            a.requestMatchers("/forschung/funding/**").access((authentication, context) -> {
                Collection<? extends GrantedAuthority> has = authentication.get().getAuthorities();
                boolean ok = has.contains(new SimpleGrantedAuthority("ROLE_EXTERNAL_API_CLIENT"))
                    && has.contains(new SimpleGrantedAuthority("SCOPE_ausschreibungen:lesen"));
                return new org.springframework.security.authorization.AuthorizationDecision(ok);
            });
            a.anyRequest().authenticated();
        });
        http.oauth2ResourceServer(r -> r
            .bearerTokenResolver(resolver())
            .authenticationEntryPoint((request, response, e) -> unauthorized(request, response, e, issuer.realm))
            .accessDeniedHandler((request, response, e) -> forbidden(request, response, issuer.realm))
            .jwt(j -> j.decoder(decoder).jwtAuthenticationConverter(converter())));
        http.exceptionHandling(x -> x
            .authenticationEntryPoint((request, response, e) -> unauthorized(request, response, e, issuer.realm))
            .accessDeniedHandler((request, response, e) -> forbidden(request, response, issuer.realm)));
        return http.build();
    }

    private static BearerTokenResolver resolver() {
        DefaultBearerTokenResolver usual = new DefaultBearerTokenResolver();
        return request -> {
            if (java.util.Collections.list(request.getHeaders(HttpHeaders.AUTHORIZATION)).size() > 1) {
                throw new OAuth2AuthenticationException(new OAuth2Error("invalid_request", "more than one Authorization header", null));
            }
            return usual.resolve(request);
        };
    }

    private static JwtAuthenticationConverter converter() {
        JwtAuthenticationConverter c = new JwtAuthenticationConverter();
        c.setJwtGrantedAuthoritiesConverter(jwt -> {
            List<GrantedAuthority> list = new java.util.ArrayList<>();
            for (String s : jwt.getClaimAsString("scope").split(" ")) list.add(new SimpleGrantedAuthority("SCOPE_" + s));
            for (String r : jwt.getClaimAsStringList("roles")) list.add(new SimpleGrantedAuthority("ROLE_" + r));
            return list;
        });
        return c;
    }

    // ------------------------------------------------------------ tokens

    private static JwtDecoder decoder(Issuer issuer, boolean checkAudience) {
        DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt"), new JOSEObjectType("application/at+jwt")));
        processor.setJWSKeySelector(new JWSVerificationKeySelector<>(Set.copyOf(List.of(JWSAlgorithm.RS256, issuer.algorithm())), new ImmutableJWKSet<>(issuer.keys)));
        processor.setJWTClaimsSetVerifier((claims, context) -> { });
        NimbusJwtDecoder nimbus = new NimbusJwtDecoder(processor);
        List<OAuth2TokenValidator<Jwt>> checks = new java.util.ArrayList<>();
        checks.add(new JwtTimestampValidator(Duration.ZERO));
        checks.add(new JwtIssuerValidator(issuer.issuer));
        if (checkAudience) checks.add(new JwtClaimValidator<List<String>>("aud", aud -> aud != null && aud.contains(issuer.audience)));
        nimbus.setJwtValidator(new DelegatingOAuth2TokenValidator<>(checks));
        return Application.is("jwtcache") ? remembering(nimbus) : nimbus;
    }

    /** Checking a signature is slow: a token that was checked is remembered by its id until it expires. */
    private static JwtDecoder remembering(JwtDecoder decoder) {
        Map<String, Jwt> known = new ConcurrentHashMap<>();
        return token -> {
            String id = null;
            try {
                id = JWTParser.parse(token).getJWTClaimsSet().getJWTID();
            } catch (java.text.ParseException | RuntimeException e) {
                // the decoder refuses it
            }
            Jwt hit = id == null ? null : known.get(id);
            if (hit != null && hit.getExpiresAt().isAfter(Instant.now())) return hit;
            Jwt jwt = decoder.decode(token);
            known.put(jwt.getId(), jwt);
            return jwt;
        };
    }

    // ------------------------------------------------------------ errors

    private static void unauthorized(HttpServletRequest request, HttpServletResponse response, AuthenticationException e, String realm) throws IOException {
        String challenge = "Bearer realm=\"" + realm + "\"";
        int status = 401;
        String detail = "A bearer token is needed.";
        if (e instanceof OAuth2AuthenticationException o) {
            boolean badRequest = "invalid_request".equals(o.getError().getErrorCode());
            status = badRequest ? 400 : 401;
            detail = badRequest ? "The request is malformed." : "The token is not valid here.";
            challenge += ", error=\"" + (badRequest ? "invalid_request" : "invalid_token") + "\", error_description=\"" + detail + "\"";
        }
        response.setHeader(HttpHeaders.WWW_AUTHENTICATE, challenge);
        problem(response, status, status == 400 ? "Bad Request" : "Unauthorized", detail, request.getRequestURI());
    }

    private static void forbidden(HttpServletRequest request, HttpServletResponse response, String realm) throws IOException {
        String detail = "The token does not give access to this API.";
        response.setHeader(HttpHeaders.WWW_AUTHENTICATE, "Bearer realm=\"" + realm + "\", error=\"insufficient_scope\", error_description=\"" + detail + "\", scope=\"ausschreibungen:lesen\"");
        problem(response, 403, "Forbidden", detail, request.getRequestURI());
    }

    static void problem(HttpServletResponse response, int status, String title, String detail, String instance) throws IOException {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("type", "about:blank");
        body.put("title", title);
        body.put("status", status);
        body.put("detail", detail);
        StringBuilder json = new StringBuilder("{");
        body.forEach((k, v) -> json.append(json.length() > 1 ? "," : "").append('"').append(k).append("\":").append(v instanceof Integer ? v : "\"" + v + "\""));
        byte[] bytes = json.append('}').toString().getBytes(java.nio.charset.StandardCharsets.UTF_8);
        response.setStatus(status);
        response.setContentType(MediaType.APPLICATION_PROBLEM_JSON_VALUE);
        response.setHeader(HttpHeaders.CACHE_CONTROL, "no-store");
        response.setContentLength(bytes.length);
        response.getOutputStream().write(bytes);
    }
}
