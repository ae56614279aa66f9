package org.rin.spring;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.nimbusds.jose.JOSEObjectType;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.jwk.source.ImmutableJWKSet;
import com.nimbusds.jose.proc.DefaultJOSEObjectTypeVerifier;
import com.nimbusds.jose.proc.JWSVerificationKeySelector;
import com.nimbusds.jose.proc.SecurityContext;
import com.nimbusds.jwt.proc.DefaultJWTProcessor;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.rin.spring.AuthorizationServers.AuthorizationServer;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.security.config.Customizer;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.config.annotation.web.configuration.EnableWebSecurity;
import org.springframework.security.config.annotation.web.configurers.AbstractHttpConfigurer;
import org.springframework.security.config.http.SessionCreationPolicy;
import org.springframework.security.oauth2.core.DelegatingOAuth2TokenValidator;
import org.springframework.security.oauth2.core.OAuth2TokenValidator;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.security.oauth2.jwt.JwtClaimNames;
import org.springframework.security.oauth2.jwt.JwtClaimValidator;
import org.springframework.security.oauth2.jwt.JwtDecoder;
import org.springframework.security.oauth2.jwt.JwtIssuerValidator;
import org.springframework.security.oauth2.jwt.JwtTimestampValidator;
import org.springframework.security.oauth2.jwt.NimbusJwtDecoder;
import org.springframework.security.oauth2.server.resource.authentication.JwtAuthenticationConverter;
import org.springframework.security.oauth2.server.resource.authentication.JwtGrantedAuthoritiesConverter;
import org.springframework.security.oauth2.server.resource.web.BearerTokenAuthenticationEntryPoint;
import org.springframework.security.oauth2.server.resource.web.access.BearerTokenAccessDeniedHandler;
import org.springframework.security.web.SecurityFilterChain;

@Configuration
@EnableWebSecurity
public class SecurityConfig {

    static final String AUDIENCE = "urn:rin:sfn:api";
    private static final String FUNDING = "/ris/funding/v3";

    private final NodeProperties node;
    private final ObjectMapper json;

    SecurityConfig(NodeProperties node, ObjectMapper json) {
        this.node = node;
        this.json = json;
    }

    private JwtDecoder decoder(AuthorizationServer server) {
        DefaultJWTProcessor<SecurityContext> processor = new DefaultJWTProcessor<>();
        Set<JWSAlgorithm> algorithms = node.is("spring-two-keys")
                ? Set.of(JWSAlgorithm.RS256, JWSAlgorithm.ES256) : Set.of(JWSAlgorithm.RS256);
        processor.setJWSKeySelector(
                new JWSVerificationKeySelector<>(algorithms, new ImmutableJWKSet<>(server.jwks())));
        processor.setJWSTypeVerifier(new DefaultJOSEObjectTypeVerifier<>(new JOSEObjectType("at+jwt")));
        processor.setJWTClaimsSetVerifier((claims, context) -> { });
        NimbusJwtDecoder decoder = new NimbusJwtDecoder(processor);
        List<OAuth2TokenValidator<Jwt>> validators = new ArrayList<>();
        validators.add(new JwtTimestampValidator(Duration.ofSeconds(2)));
        validators.add(new JwtIssuerValidator(server.issuer));
        validators.add(new JwtClaimValidator<>(JwtClaimNames.EXP, exp -> exp != null));
        if (!node.is("spring-no-audience")) {
            validators.add(new JwtClaimValidator<List<String>>(JwtClaimNames.AUD,
                    aud -> aud != null && aud.contains(AUDIENCE)));
        }
        decoder.setJwtValidator(new DelegatingOAuth2TokenValidator<>(validators));
        return decoder;
    }

    private JwtAuthenticationConverter roles() {
        JwtGrantedAuthoritiesConverter authorities = new JwtGrantedAuthoritiesConverter();
        authorities.setAuthoritiesClaimName("roles");
        authorities.setAuthorityPrefix("ROLE_");
        JwtAuthenticationConverter converter = new JwtAuthenticationConverter();
        converter.setJwtGrantedAuthoritiesConverter(authorities);
        return converter;
    }

    private void resourceServer(HttpSecurity http, AuthorizationServer server) throws Exception {
        BearerTokenAuthenticationEntryPoint challenge = new BearerTokenAuthenticationEntryPoint();
        challenge.setRealmName("rin");
        BearerTokenAccessDeniedHandler denied = new BearerTokenAccessDeniedHandler();
        denied.setRealmName("rin");
        http.csrf(AbstractHttpConfigurer::disable)
                .sessionManagement(s -> s.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                .requestCache(AbstractHttpConfigurer::disable)
                .headers(h -> h.cacheControl(c -> c.disable()))
                .oauth2ResourceServer(o -> o
                        .jwt(j -> j.decoder(decoder(server)).jwtAuthenticationConverter(roles()))
                        .authenticationEntryPoint((request, response, e) -> {
                            challenge.commence(request, response, e);
                            problem(response, "Unauthorized", "A valid access token is required.");
                        })
                        .accessDeniedHandler((request, response, e) -> {
                            denied.handle(request, response, e);
                            problem(response, "Forbidden", "The role EXTERNAL_API_CLIENT is required.");
                        }));
    }

    private void problem(HttpServletResponse response, String title, String detail) throws IOException {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("type", "about:blank");
        body.put("title", title);
        body.put("status", response.getStatus());
        body.put("detail", detail);
        response.setContentType("application/problem+json");
        response.setHeader("Cache-Control", "no-store");
        response.getOutputStream().write(json.writeValueAsBytes(body));
    }

    @Bean
    @Order(1)
    SecurityFilterChain stagingApi(HttpSecurity http, AuthorizationServer staging) throws Exception {
        http.securityMatcher("/staging/ris/**").authorizeHttpRequests(a -> a.anyRequest().authenticated());
        resourceServer(http, staging);
        return http.build();
    }

    @Bean
    @Order(2)
    SecurityFilterChain api(HttpSecurity http, AuthorizationServer production) throws Exception {
        http.securityMatcher("/ris/**").authorizeHttpRequests(a -> {
            a.requestMatchers(FUNDING + "/api-docs").permitAll();
            a.requestMatchers("/ris/info/**").authenticated();
            if (node.is("spring-documents-open")) {
                a.requestMatchers(FUNDING + "/calls", FUNDING + "/calls/*", FUNDING + "/funders",
                        FUNDING + "/statistics").hasRole("EXTERNAL_API_CLIENT");
                a.anyRequest().authenticated();
            } else {
                a.anyRequest().hasRole("EXTERNAL_API_CLIENT");
            }
        });
        resourceServer(http, production);
        return http.build();
    }

    @Bean
    @Order(3)
    SecurityFilterChain open(HttpSecurity http) throws Exception {
        http.csrf(AbstractHttpConfigurer::disable)
                .sessionManagement(s -> s.sessionCreationPolicy(SessionCreationPolicy.STATELESS))
                .headers(h -> h.cacheControl(c -> c.disable()))
                .authorizeHttpRequests(a -> a.anyRequest().permitAll())
                .anonymous(Customizer.withDefaults());
        return http.build();
    }
}
