package org.rin.spring;

import jakarta.servlet.http.HttpServletRequest;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.rin.spring.AuthorizationServers.AuthorizationServer;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.util.StringUtils;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** Client credentials grant (RFC 6749, section 4.4), the key set and the server metadata. */
@RestController
public class TokenController {

    private static final Set<String> PARAMETERS = Set.of("grant_type", "client_id", "client_secret", "scope",
            "client_assertion", "client_assertion_type");
    private static final int MAX_FAILURES = 15;
    private static final long WINDOW_SECONDS = 60;

    private final NodeProperties node;
    private final AuthorizationServer production;
    private final AuthorizationServer staging;
    private final Map<String, Failures> failures = new ConcurrentHashMap<>();

    private record Failures(int count, Instant since) {}

    private record Credentials(String id, String secret) {}

    static class OAuthError extends RuntimeException {
        final HttpStatus status;
        final String code;

        OAuthError(HttpStatus status, String code, String description) {
            super(description, null, false, false);
            this.status = status;
            this.code = code;
        }
    }

    TokenController(NodeProperties node, AuthorizationServer production, AuthorizationServer staging) {
        this.node = node;
        this.production = production;
        this.staging = staging;
    }

    @PostMapping(AuthorizationServers.PRODUCTION_PATH + "/protocol/openid-connect/token")
    ResponseEntity<Map<String, Object>> token(HttpServletRequest request) {
        return grant(production, request);
    }

    @PostMapping(AuthorizationServers.STAGING_PATH + "/oauth/token")
    ResponseEntity<Map<String, Object>> stagingToken(HttpServletRequest request) {
        return grant(staging, request);
    }

    private ResponseEntity<Map<String, Object>> grant(AuthorizationServer server, HttpServletRequest request) {
        requireForm(request);
        refuseQuery(request);
        for (String name : PARAMETERS) {
            String[] values = request.getParameterValues(name);
            if (values != null && values.length > 1) {
                throw invalid("The parameter " + name + " is repeated.");
            }
        }
        String grantType = parameter(request, "grant_type");
        if (grantType == null && !node.is("spring-any-grant")) {
            throw invalid("The parameter grant_type is missing.");
        }
        NodeProperties.Client client = authenticate(server, request);
        if (!"client_credentials".equals(grantType) && !node.is("spring-any-grant")) {
            throw new OAuthError(HttpStatus.BAD_REQUEST, "unsupported_grant_type",
                    "Only client_credentials is supported.");
        }
        String scope = parameter(request, "scope");
        if (scope != null && !scope.equals(AuthorizationServers.SCOPE)) {
            throw new OAuthError(HttpStatus.BAD_REQUEST, "invalid_scope", "The only scope is funding:read.");
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("access_token", server.issue(client));
        body.put("token_type", "Bearer");
        body.put("expires_in", server.lifetime.toSeconds());
        body.put("scope", AuthorizationServers.SCOPE);
        return noStore(ResponseEntity.ok()).body(body);
    }

    private void requireForm(HttpServletRequest request) {
        try {
            MediaType type = MediaType.parseMediaType(String.valueOf(request.getContentType()));
            if (type.equalsTypeAndSubtype(MediaType.APPLICATION_FORM_URLENCODED)) {
                return;
            }
        } catch (org.springframework.http.InvalidMediaTypeException e) {
            // falls through
        }
        throw invalid("The body must be application/x-www-form-urlencoded.");
    }

    private void refuseQuery(HttpServletRequest request) {
        if (request.getQueryString() == null) {
            return;
        }
        for (String pair : request.getQueryString().split("&")) {
            if (PARAMETERS.contains(StringUtils.uriDecode(pair.split("=", 2)[0].replaceAll("%(?![0-9A-Fa-f]{2})", ""),
                    StandardCharsets.UTF_8))) {
                throw invalid("Parameters belong in the request body, not in the URI.");
            }
        }
    }

    private NodeProperties.Client authenticate(AuthorizationServer server, HttpServletRequest request) {
        Credentials credentials = credentials(request);
        String key = server.issuer + " " + credentials.id;
        Failures seen = failures.get(key);
        if (seen != null && seen.count >= MAX_FAILURES
                && seen.since.plusSeconds(WINDOW_SECONDS).isAfter(Instant.now())) {
            throw new OAuthError(HttpStatus.TOO_MANY_REQUESTS, "invalid_client", "Too many failed attempts.");
        }
        for (NodeProperties.Client client : server.clients) {
            if (client.id().equals(credentials.id) && sameSecret(client.secret(), credentials.secret)) {
                failures.remove(key);
                return client;
            }
        }
        if (failures.size() > 10_000) {
            failures.clear();
        }
        failures.merge(key, new Failures(1, Instant.now()), (old, one) ->
                old.since.plusSeconds(WINDOW_SECONDS).isAfter(Instant.now())
                        ? new Failures(old.count + 1, old.since) : one);
        throw unauthorized("Client authentication failed.");
    }

    private Credentials credentials(HttpServletRequest request) {
        String header = request.getHeader(HttpHeaders.AUTHORIZATION);
        String id = parameter(request, "client_id");
        String secret = parameter(request, "client_secret");
        if (parameter(request, "client_assertion") != null) {
            throw unauthorized("The method of client authentication is not supported.");
        }
        if (header == null) {
            if (id == null || secret == null) {
                throw unauthorized("Client authentication is missing.");
            }
            return new Credentials(id, secret);
        }
        if (!header.regionMatches(true, 0, "Basic ", 0, 6)) {
            throw unauthorized("The method of client authentication is not supported.");
        }
        if (secret != null) {
            throw invalid("Use one method of client authentication only.");
        }
        try {
            String pair = new String(Base64.getDecoder().decode(header.substring(6).trim()), StandardCharsets.UTF_8);
            int colon = pair.indexOf(':');
            if (colon < 0) {
                throw unauthorized("Client authentication failed.");
            }
            String basicId = URLDecoder.decode(pair.substring(0, colon), StandardCharsets.UTF_8);
            if (id != null && !id.equals(basicId)) {
                throw invalid("client_id differs from the authenticated client.");
            }
            return new Credentials(basicId, URLDecoder.decode(pair.substring(colon + 1), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
            throw unauthorized("Client authentication failed.");
        }
    }

    private static boolean sameSecret(String expected, String given) {
        return MessageDigest.isEqual(expected.getBytes(StandardCharsets.UTF_8), given.getBytes(StandardCharsets.UTF_8));
    }

    /** A parameter without a value is treated as omitted (RFC 6749, section 3.2). */
    private static String parameter(HttpServletRequest request, String name) {
        String value = request.getParameter(name);
        return value == null || value.isEmpty() ? null : value;
    }

    private static OAuthError invalid(String description) {
        return new OAuthError(HttpStatus.BAD_REQUEST, "invalid_request", description);
    }

    private static OAuthError unauthorized(String description) {
        return new OAuthError(HttpStatus.UNAUTHORIZED, "invalid_client", description);
    }

    private static ResponseEntity.BodyBuilder noStore(ResponseEntity.BodyBuilder builder) {
        return builder.header(HttpHeaders.CACHE_CONTROL, "no-store").header(HttpHeaders.PRAGMA, "no-cache")
                .contentType(MediaType.APPLICATION_JSON);
    }

    @ExceptionHandler(OAuthError.class)
    ResponseEntity<Map<String, Object>> onError(OAuthError error) {
        ResponseEntity.BodyBuilder builder = noStore(ResponseEntity.status(error.status));
        if (error.status == HttpStatus.UNAUTHORIZED) {
            builder.header(HttpHeaders.WWW_AUTHENTICATE, "Basic realm=\"rin\", charset=\"UTF-8\"");
        }
        if (error.status == HttpStatus.TOO_MANY_REQUESTS) {
            builder.header(HttpHeaders.RETRY_AFTER, String.valueOf(WINDOW_SECONDS));
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("error", error.code);
        body.put("error_description", error.getMessage());
        return builder.body(body);
    }

    @GetMapping(AuthorizationServers.PRODUCTION_PATH + "/protocol/openid-connect/certs")
    Map<String, Object> certs() {
        return production.jwks().toJSONObject();
    }

    @GetMapping(AuthorizationServers.STAGING_PATH + "/oauth/certs")
    Map<String, Object> stagingCerts() {
        return staging.jwks().toJSONObject();
    }

    @GetMapping("/.well-known/oauth-authorization-server" + AuthorizationServers.PRODUCTION_PATH)
    Map<String, Object> metadata() {
        String base = production.issuer + "/protocol/openid-connect";
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("issuer", production.issuer);
        body.put("token_endpoint", base + "/token");
        body.put("jwks_uri", base + "/certs");
        body.put("response_types_supported", List.of());
        body.put("grant_types_supported", List.of("client_credentials"));
        body.put("token_endpoint_auth_methods_supported", List.of("client_secret_basic", "client_secret_post"));
        body.put("scopes_supported", List.of(AuthorizationServers.SCOPE));
        return body;
    }
}
