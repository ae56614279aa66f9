import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.util.*;
import java.util.concurrent.*;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** How many fundings each of five funders has. HttpClient only, with a small JSON parser of its own. */
public class Statistics {
    static final String LIST = System.getenv("RIN_FUNDINGS_URL");
    static final HttpClient HTTP = HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10))
            .followRedirects(HttpClient.Redirect.NEVER).version(HttpClient.Version.HTTP_1_1).build();
    static final Pattern NEXT = Pattern.compile("<([^>]*)>[^<]*?;\\s*rel\\s*=\\s*\"?(?:[^\"<]*\\s)?next\\b", Pattern.CASE_INSENSITIVE);

    static class Failure extends RuntimeException {
        Failure(String m) { super(m); }
    }

    private String token;

    static Duration pause(HttpResponse<?> r, int attempt) {
        String v = r.headers().firstValue("Retry-After").orElse("").trim();
        if (v.matches("\\d+")) return Duration.ofMillis(Math.max(1, Long.parseLong(v)) * 1000 + 40);
        try {
            Duration d = Duration.between(ZonedDateTime.now(), ZonedDateTime.parse(v, DateTimeFormatter.RFC_1123_DATE_TIME));
            return d.toMillis() < 1000 ? Duration.ofSeconds(1) : d;
        } catch (DateTimeParseException e) {
            return Duration.ofSeconds(1L << attempt);
        }
    }

    static HttpResponse<String> send(HttpRequest q) throws IOException, InterruptedException {
        for (int attempt = 0; ; attempt++) {
            HttpResponse<String> r = HTTP.send(q, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
            if (r.statusCode() != 429 && r.statusCode() != 503 || attempt == 6) return r;
            Thread.sleep(pause(r, attempt).toMillis());
        }
    }

    static String enc(String s) { return URLEncoder.encode(s, StandardCharsets.UTF_8); }

    void login() throws IOException, InterruptedException {
        String form = "grant_type=client_credentials&client_id=" + enc(System.getenv("RIN_CLIENT_ID"))
                + "&client_secret=" + enc(System.getenv("RIN_CLIENT_SECRET"));
        HttpResponse<String> r = send(HttpRequest.newBuilder(URI.create(System.getenv("RIN_TOKEN_URL")))
                .timeout(Duration.ofSeconds(20)).header("Content-Type", "application/x-www-form-urlencoded")
                .POST(HttpRequest.BodyPublishers.ofString(form)).build());
        if (r.statusCode() != 200) throw new Failure("token endpoint: " + r.statusCode());
        token = (String) Objects.requireNonNull(((Map<?, ?>) new Json(r.body()).all()).get("access_token"));
    }

    HttpResponse<String> get(URI u) throws IOException, InterruptedException {
        boolean renewed = false;
        for (int hops = 0; hops < 6; ) {
            URI home = URI.create(LIST);
            if (!home.getScheme().equals(u.getScheme()) || !home.getAuthority().equals(u.getAuthority()))
                throw new Failure("another host: " + u);
            if (token == null) login();
            HttpResponse<String> r = send(HttpRequest.newBuilder(u).timeout(Duration.ofSeconds(20))
                    .header("Authorization", "Bearer " + token).header("Accept", "application/json").build());
            int s = r.statusCode();
            if (s == 200) return r;
            if (s == 401 && !renewed) {
                renewed = true;
                token = null;
            } else if ((s >= 301 && s <= 303 || s == 307 || s == 308) && r.headers().firstValue("Location").isPresent()) {
                hops++;
                u = u.resolve(r.headers().firstValue("Location").get());
            } else {
                throw new Failure(s + " at " + u);
            }
        }
        throw new Failure("too many redirects");
    }

    int count(String funder) throws IOException, InterruptedException {
        String first = LIST + "?funderId=" + enc(funder) + "&" + enc("page[size]") + "=30";
        Set<Object> ids = new HashSet<>();
        Set<URI> asked = new HashSet<>();
        int read = 0;
        for (URI u = URI.create(first); u != null; ) {
            if (!asked.add(u)) throw new Failure("circle of links");
            HttpResponse<String> r = get(u);
            if (!(new Json(r.body()).all() instanceof List<?> page)) throw new Failure("no list");
            for (Object o : page) ids.add(Objects.requireNonNull(((Map<?, ?>) o).get("id")));
            read += page.size();
            String link = String.join(", ", r.headers().allValues("Link"));
            Matcher m = NEXT.matcher(link);
            if (m.find()) u = r.uri().resolve(m.group(1));
            else if (link.isEmpty() && !page.isEmpty()) u = URI.create(first + "&" + enc("page[page]") + "=" + read);
            else u = null;
        }
        return ids.size();
    }

    public static void main(String[] a) throws Exception {
        try {
            Statistics s = new Statistics();
            StringBuilder out = new StringBuilder();
            for (String f : List.of("XO-01", "XO-02", "XO-05", "XO-08", "XO-12"))
                out.append(f).append('\t').append(s.count(f)).append('\n');
            System.out.print(out);
        } catch (Failure | IOException | ClassCastException | NullPointerException | IllegalArgumentException e) {
            System.err.println("statistics failed: " + e);
            System.exit(1);
        }
    }

    /** Enough of a JSON parser: strict about its end. */
    static class Json {
        final String s;
        int i = 0;

        Json(String s) { this.s = s; }

        Object all() {
            Object v = value();
            space();
            if (i != s.length()) throw new Failure("text after the JSON");
            return v;
        }

        void space() { while (i < s.length() && " \t\r\n".indexOf(s.charAt(i)) >= 0) i++; }

        char peek() {
            space();
            if (i >= s.length()) throw new Failure("JSON ends early");
            return s.charAt(i);
        }

        void eat(char c) {
            if (peek() != c) throw new Failure("JSON: " + c + " expected at " + i);
            i++;
        }

        Object value() {
            char c = peek();
            if (c == '{') {
                Map<String, Object> m = new LinkedHashMap<>();
                i++;
                if (peek() == '}') { i++; return m; }
                while (true) {
                    if (peek() != '"') throw new Failure("JSON: name expected");
                    String k = string();
                    eat(':');
                    m.put(k, value());
                    if (peek() == ',') { i++; continue; }
                    eat('}');
                    return m;
                }
            }
            if (c == '[') {
                List<Object> l = new ArrayList<>();
                i++;
                if (peek() == ']') { i++; return l; }
                while (true) {
                    l.add(value());
                    if (peek() == ',') { i++; continue; }
                    eat(']');
                    return l;
                }
            }
            if (c == '"') return string();
            for (String w : List.of("true", "false", "null"))
                if (s.startsWith(w, i)) { i += w.length(); return w.equals("null") ? null : Boolean.valueOf(w); }
            int j = i;
            while (j < s.length() && "+-.eE0123456789".indexOf(s.charAt(j)) >= 0) j++;
            if (j == i) throw new Failure("no JSON at " + i);
            Double d = Double.valueOf(s.substring(i, j));
            i = j;
            return d;
        }

        String string() {
            StringBuilder b = new StringBuilder();
            for (i++; i < s.length(); i++) {
                char c = s.charAt(i);
                if (c == '"') { i++; return b.toString(); }
                if (c != '\\') { b.append(c); continue; }
                if (++i >= s.length()) break;
                switch (c = s.charAt(i)) {
                    case 'n' -> b.append('\n');
                    case 't' -> b.append('\t');
                    case 'r' -> b.append('\r');
                    case 'b' -> b.append('\b');
                    case 'f' -> b.append('\f');
                    case 'u' -> { b.append((char) Integer.parseInt(s.substring(i + 1, i + 5), 16)); i += 4; }
                    default -> b.append(c);
                }
            }
            throw new Failure("JSON ends in a string");
        }
    }
}
