package at.alp;

import com.nimbusds.jwt.JWTClaimsSet;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Options;
import io.micronaut.http.annotation.Produces;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Registry, document, info and metadata. */
@Controller
class OpenController {
    private static final String REGISTRY = "/register/ris.json", DOCS = Web.API + "/api-docs", INFO = "/alp/info/v1/oauth/info/", TRIAL_INFO = "/alp-staging/info/v1/oauth/info/",
        CERTS = "/realms/ris/protocol/openid-connect/certs";

    private HttpResponse<?> open(HttpRequest<?> request, Object o) {
        return Web.coded(request, HttpResponse.ok().header(HttpHeaders.CACHE_CONTROL, "public, max-age=60").header(HttpHeaders.VARY, "Accept-Encoding"), Web.json(o).getBytes(StandardCharsets.UTF_8));
    }

    @Get(REGISTRY) @Produces(MediaType.ALL)
    HttpResponse<?> registry(HttpRequest<?> request) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("id", "ALP");
        m.put("acronym", "ALP");
        m.put("name", "Alpenuniversität für Förderwesen");
        m.put("contact", "ris@alp.example");
        m.put("oauth2", Web.ROOT + TokenController.LIVE);
        m.put("info", Web.ROOT + INFO);
        return open(request, Map.of("member", List.of(m)));
    }

    @Get(DOCS) @Produces(MediaType.ALL)
    HttpResponse<?> docs(HttpRequest<?> request) { return open(request, ApiDocs.document()); }

    @Get(CERTS) @Produces(MediaType.ALL)
    HttpResponse<?> certs(HttpRequest<?> request) { return open(request, Issuer.LIVE.keys()); }

    @Get(INFO) @Produces(MediaType.ALL)
    HttpResponse<?> info(HttpRequest<?> request) { return info(request, Issuer.LIVE, "alp-info", "production"); }

    @Get(TRIAL_INFO) @Produces(MediaType.ALL)
    HttpResponse<?> trialInfo(HttpRequest<?> request) { return info(request, Issuer.TRIAL, "alp-trial-info", "staging"); }

    private HttpResponse<?> info(HttpRequest<?> request, Issuer issuer, String audience, String environment) {
        JWTClaimsSet c = Guard.claims(request, issuer, audience);
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("node", "ALP");
        m.put("environment", environment);
        m.put("client", c.getClaim("client_id"));
        m.put("serviceAccountUserId", c.getSubject());
        m.put("affiliation", c.getClaim("affiliation"));
        m.put("roles", c.getClaim("roles"));
        m.put("endpoints", Map.of("funding", List.of(Map.of("name", "FUNDINGS", "majorVersion", 3, "minorVersion", 0, "url", Web.ROOT + Web.API + "/calls"))));
        return HttpResponse.ok().header(HttpHeaders.CACHE_CONTROL, "no-store").body(Web.json(m).getBytes(StandardCharsets.UTF_8)).contentType(MediaType.APPLICATION_JSON_TYPE);
    }

    @Options(uris = {REGISTRY, DOCS, INFO, TRIAL_INFO, CERTS}) @Produces(MediaType.ALL)
    HttpResponse<?> options() { return HttpResponse.noContent().header(HttpHeaders.ALLOW, "GET, HEAD, OPTIONS"); }
}
