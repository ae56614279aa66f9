package at.alpen.node;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoField;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Locale.LanguageRange;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Representations in a language, and conditional requests (RFC 9110, 13). */
public class Antworten {
    private static final List<Locale> SPRACHEN = List.of(Locale.GERMAN, Locale.ENGLISH);
    private static final Pattern MARKE = Pattern.compile("(W/)?(\"[^\"]*\")");
    private final ObjectMapper json;

    Antworten(ObjectMapper json) {
        this.json = json;
    }

    /** RFC 4647, 3.4; German if nothing else is asked for */
    static String sprache(HttpHeaders h) {
        String feld = h.getHeaderString(HttpHeaders.ACCEPT_LANGUAGE);
        if (feld == null || feld.isBlank()) {
            return "de";
        }
        try {
            List<LanguageRange> wunsch = LanguageRange.parse(Eingang.liste(feld));
            Locale l = Locale.lookup(wunsch.stream().filter(r -> r.getWeight() > 0).toList(), SPRACHEN);
            List<String> nie = wunsch.stream().filter(r -> r.getWeight() == 0).map(LanguageRange::getRange).toList();
            if (l != null && !nie.contains(l.getLanguage())) {
                return l.getLanguage();
            }
            return nie.contains("de") && !nie.contains("en") ? "en" : "de";
        } catch (IllegalArgumentException e) {
            return "de";
        }
    }

    Response darstellung(HttpHeaders h, String sprache, Object inhalt, Instant geaendert, Map<String, ?> felder) {
        byte[] bytes;
        String marke;
        try {
            bytes = json.writeValueAsBytes(inhalt);
            byte[] inhaltlich = bytes;
            MessageDigest sha = MessageDigest.getInstance("SHA-256");
            sha.update((sprache + "\n" + felder + "\n").getBytes());
            if (geaendert != null && NodeConfiguration.is("dw-eibe")) {
                sha.reset();
                inhaltlich = (((Map<?, ?>) inhalt).get("kennung") + "@" + geaendert).getBytes();
            }
            marke = "\"" + Base64.getUrlEncoder().withoutPadding().encodeToString(Arrays.copyOf(sha.digest(inhaltlich), 15)) + "\"";
        } catch (JsonProcessingException | NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
        Instant stand = geaendert == null ? null : geaendert.truncatedTo(ChronoUnit.SECONDS);

        String ifMatch = h.getHeaderString("If-Match");
        String ifUnmodifiedSince = h.getHeaderString("If-Unmodified-Since");
        if (ifMatch != null) {
            if (!trifft(ifMatch, marke, true)) {
                throw new Fehler(412, "If-Match ist nicht erfüllt.");
            }
        } else if (ifUnmodifiedSince != null && stand != null) {
            Instant t = datum(ifUnmodifiedSince);
            if (t != null && stand.isAfter(t)) {
                throw new Fehler(412, "If-Unmodified-Since ist nicht erfüllt.");
            }
        }
        boolean unveraendert = false;
        String ifNoneMatch = h.getHeaderString("If-None-Match");
        String ifModifiedSince = h.getHeaderString("If-Modified-Since");
        if (ifNoneMatch != null) {
            unveraendert = trifft(ifNoneMatch, marke, false);
        } else if (ifModifiedSince != null && stand != null) {
            Instant t = datum(ifModifiedSince);
            unveraendert = t != null && !stand.isAfter(t);
        }
        Response.ResponseBuilder b = unveraendert ? Response.status(304)
            : Response.ok(bytes, "application/json").header("Content-Language", sprache);
        b.header("ETag", marke).header("Cache-Control", "private, no-cache").header("Vary", "Accept, Accept-Language");
        if (stand != null) {
            b.header("Last-Modified", DateTimeFormatter.ofPattern("EEE, dd MMM yyyy HH:mm:ss 'GMT'", Locale.US).format(stand.atOffset(ZoneOffset.UTC)));
        }
        if (!unveraendert) {
            felder.forEach((name, wert) -> {
                if (wert instanceof List<?> werte) {
                    werte.forEach(w -> b.header(name, w));
                } else {
                    b.header(name, wert);
                }
            });
        }
        return b.build();
    }

    private static boolean trifft(String feld, String marke, boolean stark) {
        if (feld.trim().equals("*")) {
            return true;
        }
        Matcher m = MARKE.matcher(feld);
        while (m.find()) {
            if (m.group(2).equals(marke) && !(stark && m.group(1) != null)) {
                return true;
            }
        }
        return false;
    }

    /** RFC 9110, 5.6.7: the three forms of a date; null for anything else */
    static Instant datum(String s) {
        String feld = s.trim();
        // a year of two digits is at most 50 years ahead
        DateTimeFormatter rfc850 = new DateTimeFormatterBuilder().appendPattern("EEEE, dd-MMM-")
            .appendValueReduced(ChronoField.YEAR, 2, 2, ZonedDateTime.now(ZoneOffset.UTC).getYear() - 49)
            .appendPattern(" HH:mm:ss 'GMT'").toFormatter(Locale.US);
        for (DateTimeFormatter form : List.of(DateTimeFormatter.ofPattern("EEE, dd MMM uuuu HH:mm:ss 'GMT'", Locale.US), rfc850,
                DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.US))) {
            try {
                return ZonedDateTime.parse(feld, form.withZone(ZoneOffset.UTC)).toInstant();
            } catch (DateTimeParseException e) {
                // the next form
            }
        }
        return null;
    }
}
