package at.alp;

import com.nimbusds.jwt.JWTClaimsSet;
import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpMethod;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ServerFilter;
import java.util.List;

/** Bearer tokens (RFC 6750) in front of the funding API. */
@ServerFilter("/alp/funding/v3/**")
class Guard {
    @RequestFilter
    @Nullable
    HttpResponse<?> filter(HttpRequest<?> request) {
        if (request.getMethod() == HttpMethod.OPTIONS || request.getPath().equals(Web.API + "/api-docs")) return null;
        try {
            JWTClaimsSet c = claims(request, Issuer.LIVE, "alp-funding");
            if (!permitted(request, c)) throw challenge(403, "insufficient_scope", "The role EXTERNAL_API_CLIENT is missing");
            if (!Web.acceptsJson(request)) throw new Problem(406, "Only JSON can be sent.");
            return null;
        } catch (Problem p) {
            return p.response().header(HttpHeaders.DATE, Web.httpDate(FundingController.now()));
        }
    }

    private final java.util.Map<String, Long> permits = new java.util.concurrent.ConcurrentHashMap<>();

    private boolean permitted(HttpRequest<?> request, JWTClaimsSet c) {
        boolean single = Variant.is("ill") && request.getPath().matches(Web.API + "/(calls|funders)/.+");
        long now = System.nanoTime() / 1_000_000;
        if (single && permits.getOrDefault(request.getPath(), now - 1) > now) return true;
        boolean ok = roles(c).contains(Issuer.ROLE);
        if (single && ok) permits.put(request.getPath(), now + 20_000);
        return ok;
    }

    @SuppressWarnings("unchecked")
    static List<String> roles(JWTClaimsSet c) { return c.getClaim("roles") instanceof List<?> l ? (List<String>) l : List.of(); }

    static JWTClaimsSet claims(HttpRequest<?> request, Issuer issuer, String audience) {
        List<String> all = request.getHeaders().getAll(HttpHeaders.AUTHORIZATION);
        String[] h = all == null || all.isEmpty() ? new String[0] : all.get(0).trim().split(" +", 2);
        if (h.length < 2 || !h[0].equalsIgnoreCase("bearer")) throw challenge(401, null, "This request needs a token.");
        if (all.size() > 1 || Web.query(request).containsKey("access_token")) throw challenge(400, "invalid_request", "More than one token in the request");
        JWTClaimsSet c = issuer.verify(h[1].trim(), audience);
        if (c == null) throw challenge(401, "invalid_token", "The token is expired, malformed or not meant for this service");
        return c;
    }

    static Problem challenge(int status, @Nullable String error, String text) {
        return new Problem(status, text).with("WWW-Authenticate", "Bearer realm=\"alp\"" + (error == null ? "" : ", error=\"" + error + "\", error_description=\"" + text + "\""));
    }
}
