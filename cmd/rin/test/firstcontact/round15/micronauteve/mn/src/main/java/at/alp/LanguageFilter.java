package at.alp;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.MutableHttpHeaders;
import io.micronaut.http.annotation.RequestFilter;
import io.micronaut.http.annotation.ServerFilter;
import io.micronaut.http.server.annotation.PreMatching;
import java.util.List;

/** Micronaut's own reading of Accept-Language fails on empty elements: only this application reads it. */
@ServerFilter(ServerFilter.MATCH_ALL_PATTERN)
class LanguageFilter {
    static final String ATTRIBUTE = "alp.accept-language";

    @PreMatching
    @RequestFilter
    void filter(HttpRequest<?> request) {
        List<String> all = request.getHeaders().getAll(HttpHeaders.ACCEPT_LANGUAGE);
        if (all != null && !all.isEmpty() && request.getHeaders() instanceof MutableHttpHeaders h) {
            request.setAttribute(ATTRIBUTE, List.copyOf(all));
            h.remove(HttpHeaders.ACCEPT_LANGUAGE);
        }
    }
}
