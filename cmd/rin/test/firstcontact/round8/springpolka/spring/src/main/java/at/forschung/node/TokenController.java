package at.forschung.node;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

import com.nimbusds.jose.JOSEException;

import jakarta.servlet.http.HttpServletRequest;

import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

import at.forschung.node.Clients.Client;

/** Token endpoints, metadata and keys of the two authorization servers. */
@RestController
class TokenController {
    private final Issuer production;
    private final Issuer staging;

    TokenController(Issuers issuers) {
        this.production = issuers.production();
        this.staging = issuers.staging();
    }

    @PostMapping(path = "/realms/forschung/protocol/openid-connect/token")
    ResponseEntity<?> token(HttpServletRequest request) throws JOSEException {
        return answer(request, production);
    }

    @PostMapping(path = "/test/oauth/token")
    ResponseEntity<?> stagingToken(HttpServletRequest request) throws JOSEException {
        return answer(request, staging);
    }

    @GetMapping("/realms/forschung/protocol/openid-connect/certs")
    ResponseEntity<?> keys() {
        return open(production.keys.toJSONObject());
    }

    @GetMapping("/test/oauth/certs")
    ResponseEntity<?> stagingKeys() {
        return open(staging.keys.toJSONObject());
    }

    @GetMapping("/.well-known/oauth-authorization-server/realms/forschung")
    ResponseEntity<?> metadata() {
        return open(production.metadata());
    }

    @GetMapping("/.well-known/oauth-authorization-server/test")
    ResponseEntity<?> stagingMetadata() {
        return open(staging.metadata());
    }

    static ResponseEntity<Object> open(Object body) {
        return ResponseEntity.ok().header(HttpHeaders.CACHE_CONTROL, "public, max-age=120").contentType(MediaType.APPLICATION_JSON).body(body);
    }

    private static final class Refused extends RuntimeException {
        final int status;
        final String error;

        Refused(int status, String error, String description) {
            super(description, null, false, false);
            this.status = status;
            this.error = error;
        }
    }

    private ResponseEntity<?> answer(HttpServletRequest request, Issuer issuer) throws JOSEException {
        try {
            return issue(request, issuer);
        } catch (Refused r) {
            Map<String, Object> body = new LinkedHashMap<>();
            body.put("error", r.error);
            body.put("error_description", r.getMessage());
            var b = noStore(ResponseEntity.status(r.status));
            if (r.status == 401) b.header(HttpHeaders.WWW_AUTHENTICATE, "Basic realm=\"" + issuer.realm + "\", charset=\"UTF-8\"");
            if (r.status == 429) b.header(HttpHeaders.RETRY_AFTER, "30");
            return b.body(body);
        }
    }

    private static ResponseEntity.BodyBuilder noStore(ResponseEntity.BodyBuilder b) {
        return b.header(HttpHeaders.CACHE_CONTROL, "no-store").header(HttpHeaders.PRAGMA, "no-cache").contentType(MediaType.APPLICATION_JSON);
    }

    private ResponseEntity<?> issue(HttpServletRequest request, Issuer issuer) throws JOSEException {
        String type = Objects.requireNonNullElse(request.getContentType(), "").split(";")[0].trim();
        if (!type.equalsIgnoreCase(MediaType.APPLICATION_FORM_URLENCODED_VALUE)) {
            throw new Refused(400, "invalid_request", "Content-Type must be application/x-www-form-urlencoded");
        }
        if (request.getQueryString() != null) throw new Refused(400, "invalid_request", "parameters belong into the request body");
        Map<String, String[]> form;
        try {
            form = request.getParameterMap();
        } catch (RuntimeException e) {
            throw new Refused(400, "invalid_request", "malformed form");
        }
        if (form.values().stream().anyMatch(v -> v.length > 1)) throw new Refused(400, "invalid_request", "a parameter is repeated");

        String id = value(form, "client_id");
        String secret = value(form, "client_secret");
        List<String> headers = java.util.Collections.list(request.getHeaders(HttpHeaders.AUTHORIZATION));
        if (headers.size() > 1) throw new Refused(400, "invalid_request", "more than one Authorization header");
        if (!headers.isEmpty()) {
            if (secret != null) throw new Refused(400, "invalid_request", "more than one client authentication method");
            String[] basic = basic(headers.get(0));
            if (id != null && !id.equals(basic[0])) throw new Refused(400, "invalid_request", "client_id does not match the Authorization header");
            id = basic[0];
            secret = basic[1];
        }
        String grant = value(form, "grant_type");
        if (grant == null) throw new Refused(400, "invalid_request", "grant_type is missing");
        if (id == null || secret == null) throw new Refused(401, "invalid_client", "client authentication is missing");
        if (issuer.lockedFor(id) > 0) throw new Refused(429, "temporarily_unavailable", "too many failed attempts");
        Client client = issuer.authenticate(id, secret);
        if (client == null) throw new Refused(401, "invalid_client", "client authentication failed");
        if (!grant.equals("client_credentials")) throw new Refused(400, "unsupported_grant_type", "only client_credentials is supported");

        List<String> scopes = client.scopes();
        if (value(form, "scope") != null) {
            scopes = Arrays.stream(value(form, "scope").split(" ", -1)).distinct().toList();
            if (!client.scopes().containsAll(scopes)) throw new Refused(400, "invalid_scope", "the scope is unknown or not allowed for this client");
        }
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("access_token", issuer.token(client, scopes));
        body.put("token_type", Application.is("es256") ? "bearer" : "Bearer");
        body.put("expires_in", issuer.lifetime);
        body.put("scope", String.join(" ", scopes));
        return noStore(ResponseEntity.ok()).body(body);
    }

    /** A parameter sent without a value is treated as omitted (RFC 6749, 3.2). */
    private static String value(Map<String, String[]> form, String name) {
        String[] v = form.get(name);
        return v == null || v[0].isEmpty() ? null : v[0];
    }

    /** Client id and secret of HTTP Basic; both are form-encoded (RFC 6749, 2.3.1). */
    private static String[] basic(String header) {
        try {
            String[] parts = header.trim().split(" +", 2);
            if (parts.length == 2 && parts[0].equalsIgnoreCase("basic")) {
                String plain = new String(Base64.getDecoder().decode(parts[1]), StandardCharsets.UTF_8);
                int colon = plain.indexOf(':');
                if (colon > 0) {
                    return new String[] { URLDecoder.decode(plain.substring(0, colon), StandardCharsets.UTF_8), URLDecoder.decode(plain.substring(colon + 1), StandardCharsets.UTF_8) };
                }
            }
        } catch (IllegalArgumentException e) {
            // falls through
        }
        throw new Refused(401, "invalid_client", "client authentication failed");
    }
}
