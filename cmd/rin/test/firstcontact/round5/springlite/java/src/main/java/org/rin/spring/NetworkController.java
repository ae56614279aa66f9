package org.rin.spring;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.http.HttpHeaders;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;

/** Registry document and info endpoints. */
@RestController
public class NetworkController {

    private final NodeProperties node;

    NetworkController(NodeProperties node) {
        this.node = node;
    }

    @GetMapping("/registry.json")
    Map<String, Object> registry() {
        return Map.of("member", List.of(Map.of(
                "id", "SFN",
                "acronym", "SFN",
                "name", "Southern Funding Network",
                "url", "https://www.sfn.example/",
                "contact", "rin@sfn.example",
                "oauth2", node.origin() + AuthorizationServers.PRODUCTION_PATH + "/protocol/openid-connect/token",
                "info", node.origin() + "/ris/info/v1/oauth/info/")));
    }

    @GetMapping({"/ris/info/v1/oauth/info/", "/ris/info/v1/oauth/info"})
    ResponseEntity<Map<String, Object>> info(@AuthenticationPrincipal Jwt token) {
        return body(token, "production", node.origin() + "/ris/funding/v3/calls");
    }

    @GetMapping({"/staging/ris/info/v1/oauth/info/", "/staging/ris/info/v1/oauth/info"})
    ResponseEntity<Map<String, Object>> stagingInfo(@AuthenticationPrincipal Jwt token) {
        return body(token, "staging", node.origin() + "/ris/funding/v3/calls");
    }

    private ResponseEntity<Map<String, Object>> body(Jwt token, String environment, String funding) {
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("environment", environment);
        body.put("clientId", token.getClaimAsString("client_id"));
        body.put("serviceAccountUserId", token.getSubject());
        body.put("affiliationId", token.getClaimAsString("affiliation_id"));
        body.put("endpoints", Map.of("FUNDING", List.of(Map.of("name", "FUNDING", "majorVersion", 3,
                "minorVersion", 0, "url", funding))));
        return ResponseEntity.ok().header(HttpHeaders.CACHE_CONTROL, "no-store").body(body);
    }
}
