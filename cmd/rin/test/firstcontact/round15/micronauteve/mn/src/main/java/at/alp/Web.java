package at.alp;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.HttpStatus;
import io.micronaut.http.MediaType;
import io.micronaut.http.MutableHttpResponse;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;

/** Answers with validators, conditions and languages. */
final class Web {
    static final ObjectMapper MAPPER = new ObjectMapper().setNodeFactory(com.fasterxml.jackson.databind.node.JsonNodeFactory.withExactBigDecimals(true));
    static final String PORT = System.getenv().getOrDefault("PORT", "8080");
    static final String ROOT = "http://127.0.0.1:" + PORT;
    static final String API = "/alp/funding/v3";
    private static final Pattern TAG = Pattern.compile("(\\*)|(W/)?(\"[^\"]*\")");
    private static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.ENGLISH);

    static String json(Object o) {
        try {
            return MAPPER.writeValueAsString(o);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException(e);
        }
    }

    static String iso(Long t) { return t == null ? null : Instant.ofEpochSecond(t).toString(); }

    static String httpDate(long t) { return HTTP_DATE.format(Instant.ofEpochSecond(t).atZone(ZoneOffset.UTC)); }

    /** Whether Accept (RFC 9110, 12.5.1) allows application/json: the most specific range counts. */
    static boolean acceptsJson(HttpRequest<?> request) {
        List<Weighted> all = weighted(request, HttpHeaders.ACCEPT);
        if (all.isEmpty()) return true;
        int best = -1;
        double quality = 0;
        for (Weighted w : all) {
            int rank = switch (w.value()) {
                case "application/json" -> 2;
                case "application/*" -> 1;
                case "*/*" -> 0;
                default -> -1;
            };
            if (rank > best) { best = rank; quality = w.q(); }
            else if (rank == best && rank >= 0) quality = Math.max(quality, w.q());
        }
        return best >= 0 && quality > 0;
    }

    /** "de" or "en", RFC 4647 lookup by quality; German if nothing fits. */
    static String language(HttpRequest<?> request) {
        double de = -1, en = -1, any = -1;
        for (Weighted w : weighted(request, HttpHeaders.ACCEPT_LANGUAGE)) {
            String tag = w.value();
            double q = w.q();
            if (tag.equals("*")) any = Math.max(any, q);
            else if (tag.equals("de") || tag.startsWith("de-")) de = Math.max(de, q);
            else if (tag.equals("en") || tag.startsWith("en-")) en = Math.max(en, q);
        }
        if (de < 0) de = any < 0 ? 0 : any;
        if (en < 0) en = any < 0 ? 0 : any;
        return en > de ? "en" : "de";
    }

    static HttpResponse<?> answer(HttpRequest<?> request, Object body, String language, Long modified, List<String[]> headers) {
        byte[] bytes = json(body).getBytes(StandardCharsets.UTF_8);
        byte[] content = bytes;
        if (Variant.is("lech")) content = json(without(MAPPER.valueToTree(body))).getBytes(StandardCharsets.UTF_8);
        if (Variant.is("ybbs")) bytes = json(shuffle(MAPPER.valueToTree(body))).getBytes(StandardCharsets.UTF_8);
        String tag;
        try {
            tag = "\"" + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content), 0, 10) + "\"";
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
        MutableHttpResponse<?> r;
        int code = condition(request, tag, modified);
        if (code == 412) throw new Problem(412, "A condition of the request is not met.");
        r = HttpResponse.status(code == 304 ? HttpStatus.NOT_MODIFIED : HttpStatus.OK);
        r.header(HttpHeaders.ETAG, "W/" + tag);
        r.header(HttpHeaders.CACHE_CONTROL, "private, no-cache");
        r.header(HttpHeaders.VARY, language == null ? "Accept-Encoding" : "Accept-Language, Accept-Encoding");
        if (modified != null) r.header(HttpHeaders.LAST_MODIFIED, httpDate(modified));
        if (code == 304) return r;
        if (language != null) r.header(HttpHeaders.CONTENT_LANGUAGE, language);
        for (String[] h : headers) r.header(h[0], h[1]);
        return coded(request, r, bytes);
    }

    /** Sends JSON, with gzip if it is long and the client prefers that (RFC 9110, 12.5.3). */
    static MutableHttpResponse<?> coded(HttpRequest<?> request, MutableHttpResponse<?> r, byte[] bytes) {
        if (bytes.length >= 1024 && gzip(request)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            try (GZIPOutputStream z = new GZIPOutputStream(out)) {
                z.write(bytes);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            bytes = out.toByteArray();
            r.header(HttpHeaders.CONTENT_ENCODING, "gzip");
        }
        return r.body(bytes).contentType(MediaType.APPLICATION_JSON_TYPE);
    }

    private record Weighted(String value, double q) { }

    /** The elements of a list header with weights; empty ones are left out. */
    @SuppressWarnings("unchecked")
    private static List<Weighted> weighted(HttpRequest<?> request, String header) {
        List<Weighted> l = new ArrayList<>();
        List<String> all = header.equals(HttpHeaders.ACCEPT_LANGUAGE) ? request.getAttribute(LanguageFilter.ATTRIBUTE, List.class).orElse(null) : request.getHeaders().getAll(header);
        for (String part : all == null ? new String[0] : String.join(",", all).split(",")) {
            String[] x = part.trim().split("\\s*;\\s*");
            if (x.length == 0 || x[0].isEmpty()) continue;
            double q = 1;
            for (int i = 1; i < x.length; i++) {
                if (x[i].toLowerCase(Locale.ROOT).startsWith("q=")) {
                    try { q = Double.parseDouble(x[i].substring(2)); } catch (NumberFormatException e) { q = 0; }
                }
            }
            l.add(new Weighted(x[0].toLowerCase(Locale.ROOT), q));
        }
        return l;
    }

    private static boolean gzip(HttpRequest<?> request) {
        double gzip = -1, identity = -1, any = -1;
        for (Weighted w : weighted(request, HttpHeaders.ACCEPT_ENCODING)) {
            switch (w.value()) {
                case "gzip", "x-gzip" -> gzip = w.q();
                case "identity" -> identity = w.q();
                case "*" -> any = w.q();
                default -> { }
            }
        }
        if (gzip < 0) gzip = Math.max(any, 0);
        return gzip > 0 && gzip >= identity;
    }

    /** The query as the document means it: pairs of a form, strictly UTF-8, no other separator than the ampersand. */
    static Map<String, List<String>> query(HttpRequest<?> request) {
        Map<String, List<String>> r = new LinkedHashMap<>();
        String raw = request.getUri().getRawQuery();
        for (String pair : raw == null ? new String[0] : raw.split("&")) {
            if (pair.isEmpty()) continue;
            int i = pair.indexOf('=');
            r.computeIfAbsent(decode(i < 0 ? pair : pair.substring(0, i)), k -> new ArrayList<>()).add(i < 0 ? "" : decode(pair.substring(i + 1)));
        }
        return r;
    }

    private static String decode(String s) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        byte[] b = s.getBytes(StandardCharsets.UTF_8);
        try {
            for (int i = 0; i < b.length; i++) {
                if (b[i] == '%') {
                    out.write(HexFormat.fromHexDigits(s2(b, i + 1)));
                    i += 2;
                } else {
                    out.write(b[i] == '+' ? ' ' : b[i]);
                }
            }
            return StandardCharsets.UTF_8.newDecoder().decode(java.nio.ByteBuffer.wrap(out.toByteArray())).toString();
        } catch (IllegalArgumentException | java.nio.charset.CharacterCodingException e) {
            throw new Problem(400, "The query is not percent-encoded UTF-8.");
        }
    }

    private static String s2(byte[] b, int i) {
        if (i + 2 > b.length) throw new IllegalArgumentException();
        return new String(b, i, 2, StandardCharsets.US_ASCII);
    }

    /** The data without their translated texts. */
    private static JsonNode without(JsonNode n) {
        if (n instanceof ObjectNode o) o.remove(List.of("title", "name", "description"));
        n.forEach(Web::without);
        return n;
    }

    private static JsonNode shuffle(JsonNode n) {
        n.forEach(Web::shuffle);
        if (n instanceof ObjectNode o) {
            List<String> names = new java.util.ArrayList<>();
            o.fieldNames().forEachRemaining(names::add);
            java.util.Collections.shuffle(names);
            for (String name : names) {
                JsonNode v = o.remove(name);
                o.set(name, v);
            }
        }
        return n;
    }

    private static int condition(HttpRequest<?> request, String tag, Long modified) {
        HttpHeaders h = request.getHeaders();
        List<String> match = h.getAll(HttpHeaders.IF_MATCH), none = h.getAll(HttpHeaders.IF_NONE_MATCH);
        if (match != null && !match.isEmpty()) {
            // weak validators never match strongly: only * does
            boolean ok = false;
            Matcher m = TAG.matcher(String.join(",", match));
            while (m.find()) ok |= m.group(1) != null;
            if (!ok) return 412;
        } else if (modified != null && h.contains("If-Unmodified-Since")) {
            Long t = date(h.get("If-Unmodified-Since"));
            if (t != null && modified > t) return 412;
        }
        if (none != null && !none.isEmpty()) {
            Matcher m = TAG.matcher(String.join(",", none));
            while (m.find()) if (m.group(1) != null || m.group(3).equals(tag)) return 304;
        } else if (modified != null && h.contains(HttpHeaders.IF_MODIFIED_SINCE)) {
            Long t = date(h.get(HttpHeaders.IF_MODIFIED_SINCE));
            if (t != null && modified <= t) return 304;
        }
        return 200;
    }

    /** An HTTP-date in one of its three forms (RFC 9110, 5.6.7), else null. */
    private static Long date(String s) {
        for (Pattern p : DATES) {
            Matcher m = p.matcher(s.trim());
            if (!m.matches()) continue;
            boolean asc = p == DATES.get(2), two = p == DATES.get(1);
            int month = MONTHS.indexOf(m.group(asc ? 1 : 2)) / 3 + 1, day = Integer.parseInt(m.group(asc ? 2 : 1).trim()), year = Integer.parseInt(m.group(asc ? 4 : 3));
            String[] clock = m.group(asc ? 3 : 4).split(":");
            ZonedDateTime now = ZonedDateTime.now(ZoneOffset.UTC);
            if (two) year += now.getYear() / 100 * 100;
            try {
                ZonedDateTime t = ZonedDateTime.of(year, month, day, Integer.parseInt(clock[0]), Integer.parseInt(clock[1]), Math.min(59, Integer.parseInt(clock[2])), 0, ZoneOffset.UTC);
                if (two && t.isAfter(now.plusYears(50))) t = ZonedDateTime.of(year - 100, month, day, t.getHour(), t.getMinute(), t.getSecond(), 0, ZoneOffset.UTC);
                return t.toEpochSecond();
            } catch (DateTimeException e) {
                return null;
            }
        }
        return null;
    }

    private static final String MONTHS = "JanFebMarAprMayJunJulAugSepOctNovDec", MON = "(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)", CLOCK = "([0-2][0-9]:[0-5][0-9]:[0-6][0-9])";
    private static final List<Pattern> DATES = List.of(
        Pattern.compile("(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), ([0-9]{2}) " + MON + " ([0-9]{4}) " + CLOCK + " GMT"),
        Pattern.compile("(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, ([0-9]{2})-" + MON + "-([0-9]{2}) " + CLOCK + " GMT"),
        Pattern.compile("(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) " + MON + " ([ 0-9][0-9]) " + CLOCK + " ([0-9]{4})"));

    private Web() { }
}
