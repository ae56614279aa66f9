package at.alp;

import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

class Problem extends RuntimeException {
    static final MediaType TYPE = MediaType.of("application/problem+json");
    final int status;
    final Map<String, String> headers = new LinkedHashMap<>();

    Problem(int status, String detail) { super(detail, null, false, false); this.status = status; }

    Problem with(String name, String value) { headers.put(name, value); return this; }

    MutableHttpResponse<?> response() {
        MutableHttpResponse<?> r = HttpResponse.status(HttpStatus.valueOf(status)).headers(h -> headers.forEach(h::add));
        return fill(r, status, getMessage());
    }

    static MutableHttpResponse<?> fill(MutableHttpResponse<?> r, int status, String detail) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("type", "about:blank");
        m.put("title", HttpStatus.valueOf(status).getReason());
        m.put("status", status);
        m.put("detail", detail);
        if (!r.getHeaders().contains(HttpHeaders.CACHE_CONTROL)) r.header(HttpHeaders.CACHE_CONTROL, "no-store");
        return r.body(Web.json(m).getBytes(StandardCharsets.UTF_8)).contentType(TYPE);
    }
}
