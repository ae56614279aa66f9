package at.alp;

import io.micronaut.core.annotation.Nullable;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import io.micronaut.http.annotation.Body;
import io.micronaut.http.annotation.Consumes;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Options;
import io.micronaut.http.annotation.Post;
import io.micronaut.http.annotation.Produces;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

@Controller
@io.micronaut.scheduling.annotation.ExecuteOn(io.micronaut.scheduling.TaskExecutors.BLOCKING)
class TokenController {
    static final String LIVE = "/realms/ris/protocol/openid-connect/token";
    static final String TRIAL = "/alp-staging/oauth/token";

    @Post(LIVE) @Consumes(MediaType.ALL) @Produces(MediaType.ALL)
    HttpResponse<?> live(HttpRequest<?> request, @Body @Nullable byte[] body) { return token(Issuer.LIVE, request, body); }

    @Post(TRIAL) @Consumes(MediaType.ALL) @Produces(MediaType.ALL)
    HttpResponse<?> trial(HttpRequest<?> request, @Body @Nullable byte[] body) { return token(Issuer.TRIAL, request, body); }

    @Options(uris = {LIVE, TRIAL}) @Produces(MediaType.ALL)
    HttpResponse<?> options() { return HttpResponse.noContent().header(HttpHeaders.ALLOW, "POST, OPTIONS"); }

    private HttpResponse<?> token(Issuer issuer, HttpRequest<?> request, byte[] body) {
        Map<String, Object> m = new LinkedHashMap<>();
        MutableHttpResponse<?> r;
        try {
            m = issuer.token(request.getUri().getRawQuery(), request.getHeaders().get(HttpHeaders.CONTENT_TYPE), request.getHeaders().get(HttpHeaders.AUTHORIZATION), body);
            r = HttpResponse.ok();
        } catch (Issuer.OAuthError e) {
            r = HttpResponse.status(HttpStatus.valueOf(e.status));
            m.put("error", e.error);
            m.put("error_description", e.getMessage());
            if (e.status == 401) r.header(HttpHeaders.WWW_AUTHENTICATE, "Basic realm=\"ris\", charset=\"UTF-8\"");
            if (e.retryAfter != null) r.header(HttpHeaders.RETRY_AFTER, e.retryAfter.toString());
        }
        return r.header(HttpHeaders.CACHE_CONTROL, "no-store").header(HttpHeaders.PRAGMA, "no-cache")
            .body(Web.json(m).getBytes(StandardCharsets.UTF_8)).contentType(MediaType.APPLICATION_JSON_TYPE);
    }
}
