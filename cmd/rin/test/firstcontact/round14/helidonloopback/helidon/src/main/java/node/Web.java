package node;

import io.helidon.common.http.Http;
import io.helidon.webserver.ServerRequest;
import io.helidon.webserver.ServerResponse;
import jakarta.json.*;
import java.io.StringWriter;
import java.nio.ByteBuffer;
import java.nio.charset.*;
import java.security.MessageDigest;
import java.time.*;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.*;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** HTTP: problems, representations, preconditions, negotiation. */
final class Web {
    static final String JSON = "application/json";
    static final String CSV = "text/csv; charset=utf-8; header=present";

    /** An answer in the form of RFC 9457. */
    static final class Problem extends RuntimeException {
        final int status;
        final String type;
        final Map<String, String> headers = new LinkedHashMap<>();
        String parameter;

        Problem(int status, String type, String detail) {
            super(detail, null, false, false);
            this.status = status;
            this.type = type;
        }

        Problem header(String name, String value) {
            headers.put(name, value);
            return this;
        }
    }

    static Problem badParameter(String name, String detail) {
        Problem p = new Problem(400, "invalid-parameter", detail);
        p.parameter = name;
        return p;
    }

    static JsonObject body(Problem p) {
        JsonObjectBuilder b = Json.createObjectBuilder()
            .add("type", "urn:uh:problem:" + p.type)
            .add("title", Http.Status.find(p.status).map(Http.Status::reasonPhrase).orElse("Error"))
            .add("status", p.status)
            .add("detail", p.getMessage());
        if (p.parameter != null) {
            b.add("parameter", p.parameter);
        }
        return b.build();
    }

    static void problem(ServerRequest req, ServerResponse res, Problem p) {
        res.headers().put("Cache-Control", "no-store");
        p.headers.forEach((name, value) -> res.headers().put(name, value));
        send(req, res, p.status, "application/problem+json", bytes(body(p)));
    }

    static byte[] bytes(JsonStructure json) {
        StringWriter out = new StringWriter();
        try (JsonWriter w = Json.createWriter(out)) {
            w.write(json);
        }
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    static void send(ServerRequest req, ServerResponse res, int status, String type, byte[] body) {
        res.status(Http.ResponseStatus.create(status));
        res.headers().put("Content-Type", type);
        res.headers().put("X-Content-Type-Options", "nosniff");
        res.headers().contentLength(body.length);
        if (req.method() == Http.Method.HEAD) {
            res.send();
        } else {
            res.send(body);
        }
    }

    /** A representation that can be kept and asked for again: validators and preconditions (RFC 9110, 13). */
    static void sendCacheable(ServerRequest req, ServerResponse res, String type, byte[] body, String tagSource, Instant modified, String cacheControl) {
        String tag = "\"" + digest(tagSource == null ? body : tagSource.getBytes(StandardCharsets.UTF_8)) + "\"";
        res.headers().put("Cache-Control", cacheControl);
        res.headers().put("ETag", tag);
        if (modified != null) {
            res.headers().put("Last-Modified", HTTP_DATE.format(modified.atZone(ZoneOffset.UTC)));
        }
        List<String> ifMatch = req.headers().all("If-Match");
        List<String> ifNoneMatch = req.headers().all("If-None-Match");
        if (!ifMatch.isEmpty()) {
            if (!matches(ifMatch, tag, false)) {
                throw new Problem(412, "precondition-failed", "The representation has another entity tag.");
            }
        } else if (modified != null) {
            Instant since = httpDate(req, "If-Unmodified-Since");
            if (since != null && modified.isAfter(since)) {
                throw new Problem(412, "precondition-failed", "The call has been modified since.");
            }
        }
        boolean unchanged = false;
        if (!ifNoneMatch.isEmpty()) {
            unchanged = matches(ifNoneMatch, tag, true);
        } else if (modified != null) {
            Instant since = httpDate(req, "If-Modified-Since");
            unchanged = since != null && !modified.isAfter(since);
        }
        if (unchanged) {
            res.status(Http.Status.NOT_MODIFIED_304);
            res.headers().contentLength(body.length); // what a 200 would have (RFC 9110, 8.6)
            res.send();
            return;
        }
        send(req, res, 200, type, body);
    }

    private static final Pattern TAG = Pattern.compile("(W/)?(\"[^\"]*\")");

    private static boolean matches(List<String> fields, String tag, boolean weak) {
        for (String field : fields) {
            if (field.trim().equals("*")) {
                return true;
            }
            Matcher m = TAG.matcher(field);
            while (m.find()) {
                if (m.group(2).equals(tag) && (weak || m.group(1) == null)) {
                    return true;
                }
            }
        }
        return false;
    }

    static final DateTimeFormatter HTTP_DATE = DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US);
    private static final List<DateTimeFormatter> HTTP_DATES = List.of(HTTP_DATE.withZone(ZoneOffset.UTC),
        new DateTimeFormatterBuilder().appendPattern("EEEE, dd-MMM-").appendValueReduced(ChronoField.YEAR, 2, 2, LocalDate.of(1976, 1, 1))
            .appendPattern(" HH:mm:ss 'GMT'").toFormatter(Locale.US).withZone(ZoneOffset.UTC),
        DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss yyyy", Locale.US).withZone(ZoneOffset.UTC));

    private static Instant httpDate(ServerRequest req, String name) {
        List<String> values = req.headers().all(name);
        for (DateTimeFormatter f : HTTP_DATES) {
            try {
                if (values.size() == 1) {
                    return ZonedDateTime.parse(values.get(0).trim(), f).toInstant();
                }
            } catch (DateTimeException notThisForm) {
                // a field that is no date is ignored
            }
        }
        return null;
    }

    static String digest(byte[] data) {
        try {
            byte[] sum = MessageDigest.getInstance("SHA-256").digest(data);
            return Base64.getUrlEncoder().withoutPadding().encodeToString(sum).substring(0, 27);
        } catch (java.security.GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Which of the offered types the client prefers (RFC 9110, 12.5.1); the first offered wins a tie. */
    static String negotiate(ServerRequest req, String... offered) {
        String accept = String.join(",", req.headers().all("Accept"));
        if (accept.isBlank()) {
            return offered[0];
        }
        String best = null;
        double bestQ = 0;
        for (String offer : offered) {
            double q = quality(accept, offer);
            if (q > bestQ) {
                best = offer;
                bestQ = q;
            }
        }
        if (best == null) {
            throw new Problem(406, "not-acceptable", "Available here: " + String.join(", ", offered).replaceAll(";[^,]*", "") + ".");
        }
        return best;
    }

    private static double quality(String accept, String offer) {
        String[] offerParts = offer.toLowerCase(Locale.ROOT).split("; ");
        int bestRank = -1;
        double q = 0;
        for (String range : accept.toLowerCase(Locale.ROOT).split(",")) {
            String[] parts = Arrays.stream(range.split(";", -1)).map(String::trim).toArray(String[]::new);
            int rank = parts[0].equals(offerParts[0]) ? 2
                : parts[0].equals(offerParts[0].replaceAll("/.*", "/*")) ? 1 : parts[0].equals("*/*") ? 0 : -1;
            double weight = 1;
            for (int i = 1; i < parts.length && rank >= 0; i++) {
                if (parts[i].startsWith("q=")) {
                    weight = parts[i].matches("q=(0(\\.\\d{0,3})?|1(\\.0{0,3})?)") ? Double.parseDouble(parts[i].substring(2)) : 0;
                    break;
                }
                String parameter = parts[i].replace("\"", "");
                if (parameter.isEmpty()) {
                    continue;
                }
                rank = List.of(offerParts).contains(parameter) || parameter.equals("charset=utf-8") ? rank + 4 : -1;
            }
            if (rank > bestRank) {
                bestRank = rank;
                q = weight;
            }
        }
        return q;
    }

    /** Strict percent-decoding; null if the text is not well-formed UTF-8. */
    static String decode(String raw, boolean form) {
        ByteBuffer out = ByteBuffer.allocate(raw.length() * 4);
        for (int i = 0; i < raw.length(); i++) {
            char c = raw.charAt(i);
            if (c == '%') {
                if (i + 2 >= raw.length() || Character.digit(raw.charAt(i + 1), 16) < 0 || Character.digit(raw.charAt(i + 2), 16) < 0) {
                    return null;
                }
                out.put((byte) Integer.parseInt(raw.substring(i + 1, i + 3), 16));
                i += 2;
            } else if (c == '+' && form) {
                out.put((byte) ' ');
            } else if (Character.isSurrogate(c)) {
                return null;
            } else {
                out.put(String.valueOf(c).getBytes(StandardCharsets.UTF_8));
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT).decode(out.flip()).toString();
        } catch (CharacterCodingException e) {
            return null;
        }
    }

    /** name=value&name=value, in order; null if it is malformed. */
    static Map<String, List<String>> form(String raw) {
        Map<String, List<String>> fields = new LinkedHashMap<>();
        if (raw == null || raw.isEmpty()) {
            return fields;
        }
        for (String pair : raw.split("&")) {
            if (pair.isEmpty()) {
                continue;
            }
            int eq = pair.indexOf('=');
            String name = decode(eq < 0 ? pair : pair.substring(0, eq), true);
            String value = eq < 0 ? "" : decode(pair.substring(eq + 1), true);
            if (name == null || value == null) {
                return null;
            }
            fields.computeIfAbsent(name, k -> new ArrayList<>()).add(value);
        }
        return fields;
    }

    /** The query of an operation: only its own parameters, each at most once. */
    static Map<String, String> query(ServerRequest req, String... known) {
        Map<String, List<String>> all = form(req.uri().getRawQuery());
        if (all == null) {
            throw new Problem(400, "invalid-parameter", "The query is not well-formed percent-encoded UTF-8.");
        }
        Map<String, String> query = new HashMap<>();
        all.forEach((name, values) -> {
            if (!List.of(known).contains(name)) {
                throw badParameter(name, "This operation has no such parameter.");
            }
            if (values.size() > 1) {
                throw badParameter(name, "The parameter is given more than once.");
            }
            query.put(name, values.get(0));
        });
        return query;
    }

    private Web() { }
}
