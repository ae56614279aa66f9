package node;

import static node.Main.*;

import jakarta.ws.rs.*;
import jakarta.ws.rs.core.*;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.time.format.*;
import java.util.*;
import java.util.function.Function;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import node.Daten.Foerderung;

/** The funding API. */
@Gesichert
@Path("/api/lindach/funding/v3")
public class Foerderungen {
    static final String PFAD = "/api/lindach/funding/v3/foerderungen";
    private static final SecretKeySpec SCHLUESSEL = new SecretKeySpec(UUID.randomUUID().toString().getBytes(StandardCharsets.UTF_8), "HmacSHA256");

    static EntityTag tag(byte[] body) {
        return new EntityTag(Anmeldung.hash(new String(body, StandardCharsets.ISO_8859_1)).substring(0, 20));
    }

    /** German or English, whichever the client likes better; German if it likes neither. */
    static String sprache(HttpHeaders headers) {
        String feld = headers.getRequestHeaders().getOrDefault("Accept-Language", List.of()).stream().reduce((a, b) -> a + "," + b).orElse("");
        double de = -1, en = -1, rest = -1;
        for (String teil : feld.split(",")) {
            String[] p = teil.trim().toLowerCase(Locale.ROOT).split("\\s*;\\s*");
            double q = 1;
            try {
                for (int i = 1; i < p.length; i++) if (p[i].startsWith("q=")) q = Double.parseDouble(p[i].substring(2));
            } catch (NumberFormatException e) {
                q = 0;
            }
            if (p[0].equals("de") || p[0].startsWith("de-")) de = Math.max(de, q);
            if (p[0].equals("en") || p[0].startsWith("en-")) en = Math.max(en, q);
            if (p[0].equals("*")) rest = q;
        }
        if (de < 0) de = rest;
        if (en < 0) en = rest;
        return en > 0 && en > de ? "en" : "de";
    }

    /** Sends what the function makes for the client's language, or 304 or 412. */
    private Response antwort(Request request, HttpHeaders headers, String type, boolean sprachig, Function<String, byte[]> inhalt, Map<String, Object> kopf) {
        String sprache = sprachig ? sprache(headers) : "de";
        byte[] body = inhalt.apply(sprache);
        EntityTag tag = tag(NODE.equals("hallstatt") ? inhalt.apply("de") : body); // the tag of the data, whatever its language
        Response.ResponseBuilder b = request.evaluatePreconditions(tag);
        if (b == null) {
            b = Response.ok(body, type).header("Content-Language", sprache);
        } else if (b.build().getStatus() == 412) {
            return Main.fehler(412, "vorbedingung_nicht_erfuellt", "Die Darstellung hat einen anderen ETag.", null);
        }
        b.tag(tag).header("Cache-Control", "private, no-cache").header("Vary", "Authorization, Accept, Accept-Language");
        for (var e : kopf.entrySet()) b.header(e.getKey(), e.getValue());
        return b.build();
    }

    private static Map<String, Object> eintrag(Foerderung f, String sprache, boolean ganz) {
        Map<String, Object> m = map("kennung", f.kennung(), "art", f.art(), "titel", f.titel().in(sprache), "stand", f.stand(Instant.now()), "geber", f.geber(),
            "gebiete", f.gebiete(), "ab", f.ab().toString(), "frist", frist(f), "summe", f.summe() == null ? null : map("min", new BigDecimal(f.summe().min()), "max", new BigDecimal(f.summe().max()), "waehrung", f.summe().waehrung()),
            "url", PFAD + "/" + URLEncoder.encode(f.kennung(), StandardCharsets.UTF_8).replace("+", "%20"));
        if (ganz) {
            m.put("kurztext", f.kurztext().in(sprache));
            m.put("themen", f.themen());
            m.put("sprache", sprache);
        }
        return m;
    }

    private static String frist(Foerderung f) {
        return f.frist() == null ? null : f.frist().format(DateTimeFormatter.ISO_OFFSET_DATE_TIME);
    }

    /** The value of a parameter that may be given once; null if it is not given. */
    private static String einmal(UriInfo uri, String name) {
        List<String> werte = uri.getQueryParameters().get(name);
        if (werte == null) return null;
        if (werte.size() > 1) throw new Ungueltig(name, name + " darf nur einmal angegeben werden.");
        if (werte.get(0).isEmpty()) throw new Ungueltig(name, name + " darf nicht leer sein.");
        return werte.get(0);
    }

    private static String auswahl(UriInfo uri, String name, Collection<String> werte) {
        String w = einmal(uri, name);
        if (w != null && !werte.contains(w)) throw new Ungueltig(name, name + " ist eines von: " + String.join(", ", werte));
        return w;
    }

    private static LocalDate tag(UriInfo uri, String name) {
        String w = einmal(uri, name);
        try {
            if (w != null && w.length() != 10) throw new DateTimeParseException("", w, 0);
            return w == null ? null : LocalDate.parse(w);
        } catch (DateTimeParseException e) {
            throw new Ungueltig(name, name + " ist ein Kalendertag, JJJJ-MM-TT.");
        }
    }

    /** The day on which a deadline ends: the one that is written in it. */
    private static LocalDate fristtag(Foerderung f) {
        if (NODE.equals("zirbe")) return f.frist().withOffsetSameInstant(ZoneOffset.UTC).toLocalDate(); // as a column in UTC has it
        return f.frist().toLocalDate();
    }

    private static int vergleiche(String sortierung, Foerderung a, Foerderung b) {
        int c = 0;
        if (sortierung.equals("frist")) c = Comparator.nullsLast(Comparator.<Instant>naturalOrder()).compare(a.frist() == null ? null : a.frist().toInstant(), b.frist() == null ? null : b.frist().toInstant());
        if (sortierung.equals("summe")) c = Comparator.nullsLast(Comparator.<BigDecimal>reverseOrder()).compare(a.summe() == null ? null : new BigDecimal(a.summe().max()), b.summe() == null ? null : new BigDecimal(b.summe().max()));
        return c != 0 ? c : a.kennung().compareTo(b.kennung());
    }

    record Seite(List<Foerderung> eintraege, int gesamt, String weiter) {}

    private static String siegel(String text) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(SCHLUESSEL);
            return HexFormat.of().formatHex(mac.doFinal(text.getBytes(StandardCharsets.UTF_8)), 0, 8);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private Seite seite(UriInfo uri) {
        String limit = einmal(uri, "limit"), nach = einmal(uri, "nach");
        if (limit != null && (!limit.matches("[0-9]{1,3}") || Integer.parseInt(limit) < 1 || Integer.parseInt(limit) > 30)) throw new Ungueltig("limit", "limit ist eine ganze Zahl von 1 bis 30.");
        int n = limit == null ? 12 : Integer.parseInt(limit);
        String stand = auswahl(uri, "stand", List.of("offen", "geplant", "abgelaufen")), gebiet = auswahl(uri, "gebiet", Daten.GEBIETE), geber = einmal(uri, "geber");
        String sortierung = Objects.requireNonNullElse(auswahl(uri, "sortierung", List.of("kennung", "frist", "summe")), "kennung"), themen = einmal(uri, "themen");
        if (geber != null && geber.codePointCount(0, geber.length()) > 30) throw new Ungueltig("geber", "geber hat höchstens 30 Zeichen.");
        List<String> thema = themen == null ? List.of() : List.of(themen.split(",", -1));
        for (String t : thema) if (!Daten.THEMEN.contains(t)) throw new Ungueltig("themen", "themen sind, durch Komma getrennt: " + String.join(", ", Daten.THEMEN));
        LocalDate von = tag(uri, "fristAb"), bis = tag(uri, "fristBis");
        Instant jetzt = Instant.now();
        List<Foerderung> treffer = Daten.ALLE.values().stream()
            .filter(f -> stand == null || f.stand(jetzt).equals(stand)).filter(f -> gebiet == null || f.gebiete().contains(gebiet))
            .filter(f -> geber == null || f.geber().equals(geber)).filter(f -> thema.isEmpty() || f.themen().stream().anyMatch(thema::contains))
            .filter(f -> von == null || f.frist() != null && !fristtag(f).isBefore(von)).filter(f -> bis == null || f.frist() != null && !fristtag(f).isAfter(bis))
            .sorted((a, b) -> vergleiche(sortierung, a, b)).toList();
        // A cursor is the last record of a page, for this order and these filters only.
        String frage = String.join("|", sortierung, stand, gebiet, geber, themen, String.valueOf(von), String.valueOf(bis));
        boolean leer = false;
        List<Foerderung> rest = treffer;
        if (nach != null) {
            String[] p;
            try {
                p = new String(Base64.getUrlDecoder().decode(nach), StandardCharsets.UTF_8).split("\\|", 3);
            } catch (IllegalArgumentException e) {
                p = new String[0];
            }
            Foerderung letzte = p.length == 3 && p[0].equals(siegel(p[1] + "|" + p[2] + "|" + frage)) ? Daten.ALLE.get(p[2]) : null;
            if (letzte == null) throw new Ungueltig("nach", "nach stammt nicht aus einem Link dieser Abfrage.");
            leer = p[1].equals("leer");
            rest = treffer.stream().filter(f -> folgt(sortierung, letzte, f)).toList();
        }
        if (NODE.equals("ahorn")) n = leer ? 0 : (n + 1) / 2; // shorter pages than asked for, every other one empty
        List<Foerderung> seite = rest.subList(0, Math.min(n, rest.size()));
        String weiter = null;
        if (rest.size() > seite.size()) {
            String art = NODE.equals("ahorn") && !leer ? "leer" : "voll";
            String kennung = seite.isEmpty() ? vorige(treffer, rest.get(0)) : seite.get(seite.size() - 1).kennung();
            String inhalt = siegel(art + "|" + kennung + "|" + frage) + "|" + art + "|" + kennung;
            weiter = Base64.getUrlEncoder().withoutPadding().encodeToString(inhalt.getBytes(StandardCharsets.UTF_8));
        }
        return new Seite(seite, treffer.size(), weiter);
    }

    private static String vorige(List<Foerderung> treffer, Foerderung f) {
        return treffer.get(treffer.indexOf(f) - 1).kennung();
    }

    private static boolean folgt(String sortierung, Foerderung letzte, Foerderung f) {
        if (NODE.equals("salzach") && sortierung.equals("frist") && letzte.frist() != null) return f.frist() == null || f.frist().toInstant().isAfter(letzte.frist().toInstant()); // WHERE frist > :letzte
        return vergleiche(sortierung, letzte, f) < 0;
    }

    private Map<String, Object> kopf(UriInfo uri, Seite s) {
        StringBuilder frage = new StringBuilder();
        for (var e : new TreeMap<>(uri.getQueryParameters()).entrySet())
            if (List.of("limit", "stand", "gebiet", "geber", "sortierung", "themen", "fristAb", "fristBis").contains(e.getKey()))
                frage.append('&').append(e.getKey()).append('=').append(URLEncoder.encode(e.getValue().get(0), StandardCharsets.UTF_8));
        String erste = frage.length() == 0 ? "" : "?" + frage.substring(1), weiter = "?nach=" + s.weiter + frage;
        Map<String, Object> m = map("X-Total-Count", s.gesamt);
        if (NODE.equals("leitha")) // RFC 8288: references may be relative, parameters in any order and case, more than one relation type
            m.put("Link", "<" + PFAD + erste + ">;Rel=first" + (s.weiter == null ? "" : " , <" + weiter + "> ; title=\"weiter, bitte; <danke>\" ; REL=\"prefetch Next\""));
        else
            m.put("Link", "<" + BASE + PFAD + erste + ">; rel=\"first\"" + (s.weiter == null ? "" : ", <" + BASE + PFAD + weiter + ">; rel=\"next\""));
        return m;
    }

    @GET
    @Path("foerderungen")
    @Produces("application/json")
    public Response liste(@Context UriInfo uri, @Context Request request, @Context HttpHeaders headers) {
        Seite s = seite(uri);
        return antwort(request, headers, "application/json", true, l -> json(s.eintraege.stream().map(f -> eintrag(f, l, false)).toList()), kopf(uri, s));
    }

    @GET
    @Path("foerderungen")
    @Produces("text/csv;qs=0.5")
    public Response listeCsv(@Context UriInfo uri, @Context Request request, @Context HttpHeaders headers) {
        Seite s = seite(uri);
        return antwort(request, headers, "text/csv;charset=utf-8;header=present", true, l -> csv(s.eintraege, l), kopf(uri, s));
    }

    private static byte[] csv(List<Foerderung> liste, String sprache) {
        StringBuilder b = new StringBuilder("kennung,art,titel,stand,geber,gebiete,ab,frist,summeMax,waehrung\r\n");
        for (Foerderung f : liste) {
            List<String> felder = new ArrayList<>(List.of(f.kennung(), f.art(), f.titel().in(sprache), f.stand(Instant.now()), f.geber(), String.join(" ", f.gebiete()), f.ab().toString()));
            felder.add(f.frist() == null ? "" : frist(f));
            felder.add(f.summe() == null ? "" : f.summe().max());
            felder.add(f.summe() == null ? "" : f.summe().waehrung());
            felder.replaceAll(v -> v.matches("(?s).*[\",\r\n].*") ? '"' + v.replace("\"", "\"\"") + '"' : v);
            b.append(String.join(",", felder)).append("\r\n");
        }
        return b.toString().getBytes(StandardCharsets.UTF_8);
    }

    @GET
    @Path("foerderungen/{kennung}")
    @Produces("application/json")
    public Response eine(@PathParam("kennung") String kennung, @Context Request request, @Context HttpHeaders headers) {
        Foerderung f = Daten.ALLE.get(kennung);
        if (f == null) return Main.fehler(404, "nicht_gefunden", "Diese Förderung gibt es nicht.", null);
        return antwort(request, headers, "application/json", true, l -> json(eintrag(f, l, true)), Map.of());
    }

    @GET
    @Path("foerdergeber")
    @Produces("application/json")
    public Response geber(@Context Request request, @Context HttpHeaders headers) {
        return antwort(request, headers, "application/json", false, l -> json(Daten.GEBER.entrySet().stream().map(g -> map("id", g.getKey(), "name", g.getValue(),
            "anzahl", Daten.ALLE.values().stream().filter(f -> f.geber().equals(g.getKey())).count())).toList()), Map.of());
    }

    @GET
    @Path("fristen")
    @Produces("application/json")
    public Response fristen(@Context UriInfo uri, @Context Request request, @Context HttpHeaders headers) {
        String monat = einmal(uri, "monat");
        if (monat == null || !monat.matches("[0-9]{4}-(0[1-9]|1[0-2])")) throw new Ungueltig("monat", "monat ist nötig, JJJJ-MM.");
        List<Foerderung> liste = Daten.ALLE.values().stream().filter(f -> f.frist() != null && f.frist().toString().startsWith(monat)).sorted((a, b) -> vergleiche("frist", a, b)).toList();
        return antwort(request, headers, "application/json", true, l -> json(liste.stream().map(f -> map("kennung", f.kennung(), "titel", f.titel().in(l), "frist", frist(f))).toList()), Map.of());
    }
}
