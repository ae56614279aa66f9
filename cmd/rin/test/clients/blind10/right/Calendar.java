import java.net.URI;
import java.net.http.*;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.util.*;
import java.util.regex.*;
import java.net.URLEncoder;
import static java.nio.charset.StandardCharsets.UTF_8;

/** Calendar of deadlines (iCalendar) of all calls; java.net.http only, with a small JSON reader of its own. */
public class Calendar {
    static final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).build(); // follows no redirects
    static final URI home = URI.create(System.getenv("RIN_FUNDINGS_URL"));
    static String token;

    static long pause(HttpResponse<?> r) {
        String v = r.headers().firstValue("Retry-After").orElse("2").trim();
        if (v.matches("\\d+")) return Long.parseLong(v) * 1000;
        var f = DateTimeFormatter.RFC_1123_DATE_TIME;
        return Math.max(500, Duration.between(ZonedDateTime.parse(r.headers().firstValue("Date").orElseThrow(), f), ZonedDateTime.parse(v, f)).toMillis());
    }
    static HttpResponse<String> send(HttpRequest q) throws Exception {
        for (int i = 0; ; i++) {
            var r = http.send(q, HttpResponse.BodyHandlers.ofString(UTF_8));
            if (r.statusCode() != 429 && r.statusCode() != 503) return r;
            long ms = pause(r);
            if (i == 4 || ms > 20000) throw new IllegalStateException(q.uri() + ": " + r.statusCode());
            Thread.sleep(ms + 50);
        }
    }
    static void login() throws Exception {
        String form = "grant_type=client_credentials&client_id=" + URLEncoder.encode(System.getenv("RIN_CLIENT_ID"), UTF_8)
            + "&client_secret=" + URLEncoder.encode(System.getenv("RIN_CLIENT_SECRET"), UTF_8);
        var r = send(HttpRequest.newBuilder(URI.create(System.getenv("RIN_TOKEN_URL"))).timeout(Duration.ofSeconds(30))
            .header("Content-Type", "application/x-www-form-urlencoded").POST(HttpRequest.BodyPublishers.ofString(form)).build());
        if (r.statusCode() != 200) throw new IllegalStateException("token endpoint: " + r.statusCode());
        token = (String) ((Map<?, ?>) new Json(r.body()).all()).get("access_token");
    }
    static HttpResponse<String> get(URI u) throws Exception {
        if (!home.getScheme().equals(u.getScheme()) || !home.getAuthority().equals(u.getAuthority())) throw new IllegalStateException("not my node: " + u);
        for (int i = 0; ; i++) {
            var r = send(HttpRequest.newBuilder(u).timeout(Duration.ofSeconds(30)).header("Authorization", "Bearer " + token).build());
            if (r.statusCode() == 401 && i == 0) { login(); continue; }
            if (r.statusCode() != 200) throw new IllegalStateException(r.statusCode() + " for " + u);
            return r;
        }
    }
    public static void main(String[] a) {
        try { run(); } catch (Exception e) { System.err.println("no calendar: " + e); System.exit(1); }
    }
    static void run() throws Exception {
        login();
        var events = new TreeMap<String, String>();
        var seen = new HashSet<URI>();
        int size = 75, skip = 0;
        URI u = URI.create(home + "?page%5Bsize%5D=" + size);
        while (u != null) {
            if (!seen.add(u)) throw new IllegalStateException("pages in a circle");
            var r = get(u);
            var rows = (List<?>) new Json(r.body()).all();
            for (Object o : rows) {
                var m = (Map<?, ?>) o;
                if (m.get("callStages") instanceof List<?> st)
                    for (Object s : st) if (((Map<?, ?>) s).get("callStageEnd") instanceof String end)
                        events.put(m.get("id") + "-" + ((Map<?, ?>) s).get("number"), OffsetDateTime.parse(end).toInstant().toString().replaceAll("[-:]", ""));
            }
            String link = String.join(", ", r.headers().allValues("Link"));
            Matcher n = Pattern.compile("<([^>]*)>\\s*;\\s*rel=\"?next\\b").matcher(link);
            if (n.find()) u = u.resolve(n.group(1));
            else if (link.isEmpty() && !rows.isEmpty()) u = URI.create(home + "?page%5Bsize%5D=" + size + "&page%5Bpage%5D=" + (skip += size));
            else u = null;
        }
        var out = new StringBuilder("BEGIN:VCALENDAR\r\nVERSION:2.0\r\n");
        events.forEach((id, end) -> out.append("BEGIN:VEVENT\r\nUID:" + id + "\r\nDTSTART:" + end + "\r\nEND:VEVENT\r\n"));
        System.out.print(out.append("END:VCALENDAR\r\n"));
    }
    /** Strict enough: what is not complete JSON is an error. */
    static final class Json {
        final String s; int i;
        Json(String s) { this.s = s; }
        Object all() { Object v = value(); ws(); if (i != s.length()) throw bad(); return v; }
        RuntimeException bad() { return new IllegalStateException("bad JSON at " + i); }
        void ws() { while (i < s.length() && " \t\r\n".indexOf(s.charAt(i)) >= 0) i++; }
        char at() { if (i >= s.length()) throw bad(); return s.charAt(i); }
        Object value() {
            ws();
            switch (at()) {
                case '{': { var m = new LinkedHashMap<String, Object>(); i++; ws(); if (at() == '}') { i++; return m; }
                    while (true) { ws(); String k = str(); ws(); if (at() != ':') throw bad(); i++; m.put(k, value()); ws(); char c = at(); i++; if (c == '}') return m; if (c != ',') throw bad(); } }
                case '[': { var l = new ArrayList<Object>(); i++; ws(); if (at() == ']') { i++; return l; }
                    while (true) { l.add(value()); ws(); char c = at(); i++; if (c == ']') return l; if (c != ',') throw bad(); } }
                case '"': return str();
                default: int b = i; while (i < s.length() && "-+.eE0123456789truefalsn".indexOf(s.charAt(i)) >= 0) i++;
                    String w = s.substring(b, i);
                    switch (w) { case "true": return true; case "false": return false; case "null": return null; default: try { return Double.valueOf(w); } catch (NumberFormatException e) { throw bad(); } }
            }
        }
        String str() {
            if (at() != '"') throw bad();
            var b = new StringBuilder(); i++;
            while (at() != '"') {
                char c = s.charAt(i++);
                if (c != '\\') { b.append(c); continue; }
                c = at(); i++;
                switch (c) { case 'n': b.append('\n'); break; case 't': b.append('\t'); break; case 'r': b.append('\r'); break; case 'b': b.append('\b'); break; case 'f': b.append('\f'); break;
                    case 'u': if (i + 4 > s.length()) throw bad(); b.append((char) Integer.parseInt(s.substring(i, i + 4), 16)); i += 4; break; default: b.append(c); }
            }
            i++;
            return b.toString();
        }
    }
}
