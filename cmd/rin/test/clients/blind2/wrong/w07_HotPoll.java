import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;

/** Harvest with java.net.http: watches the first page of the running calls until it changes. */
class HotPoll {
    static final Instant END = Instant.now().plusSeconds(16);
    static final int TRIES = 5, SIZE = 20;
    static final HttpClient HTTP = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(Duration.ofSeconds(3)).build(); // follows no redirects

    static class GiveUp extends Exception { GiveUp(String m) { super(m); } }

    static void pause(int n, HttpResponse<?> r) throws Exception {
        long ms = (long) (500 * Math.pow(2, n) + Math.random() * 300);
        String v = r == null ? "" : r.headers().firstValue("Retry-After").orElse("").trim();
        if (v.matches("\\d{1,9}")) ms = Long.parseLong(v) * 1000 + 100;
        else if (!v.isEmpty()) try {
            var at = ZonedDateTime.parse(v, DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
            ms = Math.max(0, Duration.between(Instant.now(), at).toMillis()) + 1000;
        } catch (DateTimeException e) { /* not a date: our own pause */ }
        if (Instant.now().plusMillis(ms).isAfter(END)) throw new GiveUp("no time to wait " + ms + " ms");
        Thread.sleep(ms);
    }

    static boolean later(int s) { return s == 429 || s >= 500; }

    static String token;
    static Instant tokenEnd = Instant.MIN;

    static String enc(String s) { return URLEncoder.encode(s, StandardCharsets.UTF_8); }

    static HttpRequest tokenRequest() {
        String basic = Base64.getEncoder().encodeToString(
                (enc(System.getenv("RIN_CLIENT_ID")) + ":" + enc(System.getenv("RIN_CLIENT_SECRET"))).getBytes(StandardCharsets.UTF_8));
        return HttpRequest.newBuilder(URI.create(System.getenv("RIN_TOKEN_URL"))).timeout(Duration.ofSeconds(8))
                .header("Authorization", "Basic " + basic).header("Accept", "application/json")
                .header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString("grant_type=client_credentials")).build();
    }

    static String bearer() throws Exception {
        if (token != null && Instant.now().isBefore(tokenEnd)) return token;
        for (int n = 0; n < TRIES; n++) {
            HttpResponse<String> r;
            try {
                r = HTTP.send(tokenRequest(), HttpResponse.BodyHandlers.ofString());
            } catch (IOException e) { pause(n, null); continue; }
            if (later(r.statusCode())) { pause(n, r); continue; }
            if (r.statusCode() != 200) throw new GiveUp("token endpoint: " + r.statusCode());
            try {
                var t = (Map<?, ?>) new Json(r.body()).parse();
                if (!"bearer".equalsIgnoreCase((String) t.get("token_type"))) throw new GiveUp("no bearer token");
                token = Objects.requireNonNull((String) t.get("access_token"));
                double life = t.get("expires_in") instanceof Double d ? d : 300;
                tokenEnd = Instant.now().plusMillis((long) (life * 900));
                return token;
            } catch (RuntimeException e) { pause(n, null); }
        }
        throw new GiveUp("no token");
    }

    static final String ACCEPT = "application/json";

    static String etag;
    static List<?> known;

    static List<?> page(int offset) throws Exception {
        URI uri = URI.create(System.getenv("RIN_FUNDINGS_URL") + "?runningCalls=true&page%5Bpage%5D=" + offset + "&page%5Bsize%5D=" + SIZE);
        boolean renewed = false;
        for (int n = 0; n < TRIES; n++) {
            HttpResponse<String> r;
            String t = bearer();
            try {
                r = HTTP.send(HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(8)).header("Accept", ACCEPT)
                        .headers(etag == null ? new String[]{"Accept-Language", "de, en;q=0.8"} : new String[]{"If-None-Match", etag})
                        .header("Authorization", "Bearer " + t).build(), HttpResponse.BodyHandlers.ofString());
            } catch (IOException e) { pause(n, null); continue; }
            if (r.statusCode() == 304 && known != null) return known;
            if (r.statusCode() == 401 && !renewed) { renewed = true; token = null; continue; }
            if (later(r.statusCode())) { pause(n, r); continue; }
            if (r.statusCode() != 200) throw new GiveUp("list: " + r.statusCode());
            try {
                known = (List<?>) new Json(r.body()).parse();
                etag = r.headers().firstValue("ETag").orElse(null);
                return known;
            } catch (RuntimeException e) { pause(n, null); }
        }
        throw new GiveUp("list: too many tries");
    }

    public static void main(String[] a) {
        Thread guard = new Thread(() -> {
            try { Thread.sleep(17500); } catch (InterruptedException e) { return; }
            Runtime.getRuntime().halt(1);
        });
        guard.setDaemon(true);
        guard.start();
        try {
            var first = page(0);
            Instant until = Instant.now().plusSeconds(4);
            int n = 0;
            while (Instant.now().isBefore(until) && page(0).equals(first)) n++;
            System.out.println("looked " + n + " times");
        } catch (Exception e) {
            System.err.println("harvest: " + e);
            System.exit(1);
        }
    }

    /** A small JSON parser. */
    static class Json {
        final String s; int i;
        Json(String s) { this.s = s; }
        Object parse() { Object v = value(); ws(); if (i != s.length()) throw bad(); return v; }
        RuntimeException bad() { return new IllegalArgumentException("JSON at " + i); }
        void ws() { while (i < s.length() && Character.isWhitespace(s.charAt(i))) i++; }
        char peek() { ws(); if (i >= s.length()) throw bad(); return s.charAt(i); }
        boolean eat(char c) { if (peek() != c) return false; i++; return true; }
        void need(char c) { if (!eat(c)) throw bad(); }
        Object value() {
            switch (peek()) {
                case '{' -> {
                    i++; Map<String, Object> m = new HashMap<>();
                    if (eat('}')) return m;
                    do { peek(); String k = string(); need(':'); m.put(k, value()); } while (eat(','));
                    need('}'); return m;
                }
                case '[' -> {
                    i++; List<Object> l = new ArrayList<>();
                    if (eat(']')) return l;
                    do l.add(value()); while (eat(','));
                    need(']'); return l;
                }
                case '"' -> { return string(); }
                default -> {
                    int from = i;
                    while (i < s.length() && ",]} \n\r\t".indexOf(s.charAt(i)) < 0) i++;
                    String w = s.substring(from, i);
                    return switch (w) { case "true" -> true; case "false" -> false; case "null" -> null; default -> Double.valueOf(w); };
                }
            }
        }
        String string() {
            if (s.charAt(i) != '"') throw bad();
            StringBuilder b = new StringBuilder(); i++;
            while (true) {
                if (i >= s.length()) throw bad();
                char c = s.charAt(i++);
                if (c == '"') return b.toString();
                if (c != '\\') { b.append(c); continue; }
                c = s.charAt(i++);
                switch (c) {
                    case 'n' -> b.append('\n'); case 't' -> b.append('\t'); case 'r' -> b.append('\r');
                    case 'b' -> b.append('\b'); case 'f' -> b.append('\f');
                    case 'u' -> { b.append((char) Integer.parseInt(s.substring(i, i + 4), 16)); i += 4; }
                    default -> b.append(c);
                }
            }
        }
    }
}
