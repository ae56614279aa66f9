package at.alpen.node;

import jakarta.annotation.security.RolesAllowed;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import jakarta.ws.rs.BeanParam;
import jakarta.ws.rs.GET;
import jakarta.ws.rs.Path;
import jakarta.ws.rs.PathParam;
import jakarta.ws.rs.Produces;
import jakarta.ws.rs.QueryParam;
import jakarta.ws.rs.core.Context;
import jakarta.ws.rs.core.HttpHeaders;
import jakarta.ws.rs.core.Response;
import jakarta.ws.rs.core.UriInfo;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;
import org.jdbi.v3.core.statement.Query;

/** The funding API. */
@Path("/")
@Produces("application/json")
@RolesAllowed(Konten.ROLLE)
public class Ausschreibungen {
    static final String BASIS = "alpen/funding/v3/";
    static final String ZEIT = "\\d{4}-\\d{2}-\\d{2}T([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,9})?(Z|[+-](0\\d|1[0-7]):[0-5]\\d)";
    private static final Set<String> GENANNT = Set.of("limit", "suche", "foerdergeber", "art", "land", "frist_ab", "frist_bis", "summe_ab", "offen");
    private static final Set<String> GENANNT_FRISTEN = Set.of("limit", "ab", "bis");
    private static final String NUR_EINMAL = "darf nur einmal vorkommen";
    private static final String SPALTEN = "a.kennung, a.art, a.titel_de, a.titel_en, a.foerdergeber, f.name_de, f.name_en, a.eroeffnet, a.frist, a.summe, a.waehrung,"
        + " (SELECT LISTAGG(code, ',') WITHIN GROUP (ORDER BY code) FROM land l WHERE l.kennung = a.kennung) AS laender";

    private final Jdbi jdbi;
    private final Antworten antworten;

    Ausschreibungen(Jdbi jdbi, Antworten antworten) {
        this.jdbi = jdbi;
        this.antworten = antworten;
    }

    public static class Seite {
        @QueryParam("limit")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = "[1-9]\\d?|100", message = "muss eine ganze Zahl von 1 bis 100 sein") String> limit;

        @QueryParam("nach")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = "[A-Za-z0-9_-]{1,200}", message = "ist kein Zeiger dieser Liste") String> nach;

        int groesse() {
            return limit.isEmpty() ? 25 : Integer.parseInt(limit.get(0));
        }
    }

    public static class Filter extends Seite {
        @QueryParam("suche")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = "(?s).{1,80}", message = "muss 1 bis 80 Zeichen haben") String> suche;

        @QueryParam("foerdergeber")
        @Size(max = 10, message = "darf höchstens zehnmal vorkommen")
        public List<@Pattern(regexp = "[a-z]{1,20}", message = "muss ein Kürzel aus 1 bis 20 Buchstaben a bis z sein") String> foerdergeber;

        @QueryParam("art")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = "AUSSCHREIBUNG|PROGRAMM|STIPENDIUM|PREIS", message = "ist keine der Arten") String> art;

        @QueryParam("land")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = "AT|CH|DE|FR|IT|LI|SI", message = "ist keines der Länder") String> land;

        @QueryParam("frist_ab")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = ZEIT, message = "muss ein Zeitpunkt nach RFC 3339 sein") String> frist_ab;

        @QueryParam("frist_bis")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = ZEIT, message = "muss ein Zeitpunkt nach RFC 3339 sein") String> frist_bis;

        @QueryParam("summe_ab")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = "(0|[1-9]\\d{0,9})(\\.\\d{1,2})?", message = "muss ein Betrag mit höchstens zwei Nachkommastellen sein") String> summe_ab;

        @QueryParam("offen")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = "true|false", message = "muss true oder false sein") String> offen;
    }

    public static class Fristfilter extends Seite {
        @QueryParam("ab")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = ZEIT, message = "muss ein Zeitpunkt nach RFC 3339 sein") String> ab;

        @QueryParam("bis")
        @Size(max = 1, message = NUR_EINMAL)
        public List<@Pattern(regexp = ZEIT, message = "muss ein Zeitpunkt nach RFC 3339 sein") String> bis;
    }

    @GET
    @Path(BASIS + "ausschreibungen")
    public Response liste(@Valid @BeanParam Filter f, @Context HttpHeaders h, @Context UriInfo uri) {
        String sprache = Antworten.sprache(h);
        Bedingung wo = new Bedingung();
        if (!f.suche.isEmpty()) {
            if (NodeConfiguration.is("dw-erle")) {
                wo.und("LOWER(a.titel_" + sprache + ") LIKE '%' || :suche || '%'", "suche", f.suche.get(0).toLowerCase(java.util.Locale.ROOT));
            } else wo.und("LOCATE(:suche, LOWER(a.titel_" + sprache + ")) > 0", "suche", f.suche.get(0).toLowerCase(java.util.Locale.ROOT));
        }
        if (!f.foerdergeber.isEmpty()) {
            wo.und("a.foerdergeber = ANY(:geber)", "geber", f.foerdergeber.toArray(new String[0]));
        }
        if (!f.art.isEmpty()) {
            wo.und("a.art = :art", "art", f.art.get(0));
        }
        if (!f.land.isEmpty()) {
            wo.und("EXISTS (SELECT 1 FROM land l WHERE l.kennung = a.kennung AND l.code = :land)", "land", f.land.get(0));
        }
        if (!f.frist_ab.isEmpty()) {
            wo.und("a.frist >= :ab", "ab", zeit("frist_ab", f.frist_ab.get(0)));
        }
        if (!f.frist_bis.isEmpty()) {
            wo.und("a.frist <= :bis", "bis", zeit("frist_bis", f.frist_bis.get(0)));
        }
        if (!f.summe_ab.isEmpty()) {
            wo.und("a.summe >= :summe", "summe", new BigDecimal(f.summe_ab.get(0)));
        }
        if (!f.offen.isEmpty()) {
            String offen = "(a.eroeffnet <= :heute AND (a.frist IS NULL OR a.frist > :jetzt))";
            wo.und(f.offen.get(0).equals("true") ? offen : "NOT " + offen, "heute", LocalDate.now(Daten.WIEN));
            wo.werte.put("jetzt", OffsetDateTime.now());
        }
        return seite(h, uri, sprache, f, wo, SPALTEN, "ausschreibung a JOIN foerdergeber f ON f.kuerzel = a.foerdergeber", "a.frist", "a.kennung", "'0'", this::kurz);
    }

    @GET
    @Path(BASIS + "ausschreibungen/{kennung}")
    public Response eine(@PathParam("kennung") String kennung, @Context HttpHeaders h) {
        String sprache = Antworten.sprache(h);
        return jdbi.withHandle(db -> {
            Instant[] geaendert = new Instant[1];
            Map<String, Object> m = db.createQuery("SELECT " + SPALTEN + ", a.text_de, a.text_en, a.kontakt, a.mail, a.webseite, a.geaendert"
                    + " FROM ausschreibung a JOIN foerdergeber f ON f.kuerzel = a.foerdergeber WHERE a.kennung = :kennung")
                .bind("kennung", kennung)
                .map((rs, c) -> {
                    Map<String, Object> x = kurz(rs, sprache);
                    x.put("beschreibung", rs.getString("text_" + sprache));
                    x.put("schlagworte", null);
                    x.put("fristen", null);
                    Map<String, Object> kontakt = new LinkedHashMap<>();
                    kontakt.put("name", rs.getString("kontakt"));
                    kontakt.put("mail", rs.getString("mail"));
                    x.put("kontakt", kontakt);
                    x.put("webseite", rs.getString("webseite"));
                    geaendert[0] = rs.getObject("geaendert", OffsetDateTime.class).toInstant();
                    x.put("geaendert_am", geaendert[0].toString());
                    return x;
                }).findOne().orElseThrow(() -> new Fehler(404, "Diese Ausschreibung gibt es nicht."));
            m.put("schlagworte", db.createQuery("SELECT wort FROM schlagwort WHERE kennung = :k ORDER BY wort").bind("k", kennung).mapTo(String.class).list());
            m.put("fristen", db.createQuery("SELECT * FROM stufe WHERE kennung = :k ORDER BY nummer").bind("k", kennung).map((rs, c) -> stufe(rs, sprache)).list());
            return antworten.darstellung(h, sprache, m, geaendert[0], Map.of());
        });
    }

    @GET
    @Path(BASIS + "foerdergeber")
    public Response foerdergeber(@Context HttpHeaders h) {
        String sprache = Antworten.sprache(h);
        return antworten.darstellung(h, sprache, geber(sprache, null), null, Map.of());
    }

    @GET
    @Path(BASIS + "foerdergeber/{kuerzel}")
    public Response einFoerdergeber(@PathParam("kuerzel") String kuerzel, @Context HttpHeaders h) {
        String sprache = Antworten.sprache(h);
        List<Map<String, Object>> liste = geber(sprache, kuerzel);
        if (liste.isEmpty()) {
            throw new Fehler(404, "Diesen Fördergeber gibt es nicht.");
        }
        return antworten.darstellung(h, sprache, liste.get(0), null, Map.of());
    }

    @GET
    @Path(BASIS + "fristen")
    public Response fristen(@Valid @BeanParam Fristfilter f, @Context HttpHeaders h, @Context UriInfo uri) {
        String sprache = Antworten.sprache(h);
        Bedingung wo = new Bedingung();
        if (!f.ab.isEmpty()) {
            wo.und("s.ende >= :ab", "ab", ortszeit(zeit("ab", f.ab.get(0))));
        }
        if (!f.bis.isEmpty()) {
            wo.und("s.ende <= :bis", "bis", ortszeit(zeit("bis", f.bis.get(0))));
        }
        return seite(h, uri, sprache, f, wo, "s.*", "stufe s", "s.ende", "s.kennung", "CAST(s.nummer AS VARCHAR)", (rs, l) -> {
            try {
                Map<String, Object> m = new LinkedHashMap<>();
                m.put("ausschreibung", rs.getString("kennung"));
                m.putAll(stufe(rs, l));
                return m;
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
    }

    /** What the filters have come to. */
    private static class Bedingung {
        final StringBuilder sql = new StringBuilder("TRUE");
        final Map<String, Object> werte = new LinkedHashMap<>();

        void und(String bedingung, String name, Object wert) {
            sql.append(" AND ").append(bedingung);
            werte.put(name, wert);
        }

        Query auf(Handle db, String sql) {
            Query q = db.createQuery(sql);
            werte.forEach(q::bind);
            return q;
        }
    }

    /** A page behind a pointer: the order is time, then id, then number; without a time comes last. */
    private Response seite(HttpHeaders h, UriInfo uri, String sprache, Seite s, Bedingung wo, String spalten, String tabelle,
                           String zeit, String kennung, String nummer, BiFunction<ResultSet, String, Map<String, Object>> zeile) {
        OffsetDateTime ende = OffsetDateTime.parse("+10000-01-02T00:00:00Z");
        String schluessel = "COALESCE(" + zeit + ", :ende)";
        return jdbi.inTransaction(db -> {
            wo.werte.put("ende", ende);
            long gesamt = wo.auf(db, "SELECT COUNT(*) FROM " + tabelle + " WHERE " + wo.sql + " AND :ende IS NOT NULL").mapTo(Long.class).one();
            if (!s.nach.isEmpty()) {
                Object[] z = zeiger(tabelle, s.nach.get(0));
                wo.und("(" + (NodeConfiguration.is("dw-esche") ? zeit : schluessel) + ", " + kennung + ", " + nummer + ") > (:zz, :zk, :zn)", "zz", z[0]);
                wo.werte.put("zk", z[1]);
                wo.werte.put("zn", z[2]);
            }
            int groesse = s.groesse();
            String weiter = null;
            if (NodeConfiguration.is("dw-kiefer")) {
                Bedingung fenster = new Bedingung();
                fenster.werte.put("ende", ende);
                if (!s.nach.isEmpty()) {
                    Object[] z = zeiger(tabelle, s.nach.get(0));
                    fenster.und("(" + schluessel + ", " + kennung + ", " + nummer + ") > (:zz, :zk, :zn)", "zz", z[0]);
                    fenster.werte.put("zk", z[1]);
                    fenster.werte.put("zn", z[2]);
                }
                List<String> alle = fenster.auf(db, "SELECT " + kennung + " AS kennung, " + schluessel + " AS z_zeit, " + nummer + " AS z_nummer FROM " + tabelle + " WHERE " + fenster.sql
                        + " ORDER BY z_zeit, " + kennung + ", z_nummer LIMIT " + (groesse + 1))
                    .map((rs, c) -> zeiger(tabelle, rs.getObject("z_zeit", OffsetDateTime.class), rs.getString("kennung"), rs.getString("z_nummer"))).list();
                if (alle.size() > groesse) {
                    weiter = alle.get(groesse - 1);
                    Object[] z = zeiger(tabelle, weiter);
                    wo.und("(" + schluessel + ", " + kennung + ", " + nummer + ") <= (:fz, :fk, :fn)", "fz", z[0]);
                    wo.werte.put("fk", z[1]);
                    wo.werte.put("fn", z[2]);
                }
            }
            List<String> letzte = new ArrayList<>();
            List<Map<String, Object>> liste = wo.auf(db, "SELECT " + spalten + ", " + schluessel + " AS z_zeit, " + nummer + " AS z_nummer FROM " + tabelle + " WHERE " + wo.sql
                    + " ORDER BY z_zeit, " + kennung + ", z_nummer LIMIT " + (groesse + 1))
                .map((rs, c) -> {
                    letzte.add(zeiger(tabelle, rs.getObject("z_zeit", OffsetDateTime.class), rs.getString("kennung"), rs.getString("z_nummer")));
                    return zeile.apply(rs, sprache);
                }).list();
            Map<String, Object> felder = new LinkedHashMap<>();
            felder.put("X-Total-Count", gesamt);
            List<String> links = new ArrayList<>();
            boolean ulme = NodeConfiguration.is("dw-ulme");
            links.add("<" + adresse(uri, null) + (ulme ? ">; title=\"erste Seite, von vorn\"; rel=first" : ">; rel=\"first\""));
            if (liste.size() > groesse) {
                liste = liste.subList(0, groesse);
                weiter = letzte.get(groesse - 1);
            }
            if (weiter != null) {
                String adresse = adresse(uri, weiter);
                links.add(ulme ? "<" + adresse.substring(adresse.indexOf('?')) + ">; type=\"application/json\"; REL=\"https://alpen.example/rel/fortsetzung next\""
                    : "<" + adresse + ">; rel=\"next\"");
            }
            felder.put("Link", ulme ? links : String.join(", ", links));
            return antworten.darstellung(h, sprache, liste, null, felder);
        });
    }

    private static String zeiger(String liste, OffsetDateTime zeit, String kennung, String nummer) {
        String inhalt = zeit.toInstant().getEpochSecond() + "." + kennung + "." + nummer;
        return Base64.getUrlEncoder().withoutPadding().encodeToString((inhalt + "." + siegel(liste, inhalt)).getBytes(StandardCharsets.UTF_8));
    }

    /** so that nobody makes pointers but this node, and for this list */
    private static String siegel(String liste, String inhalt) {
        try {
            Mac mac = Mac.getInstance("HmacSHA256");
            mac.init(new SecretKeySpec("alpen-zeiger-2.4".getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
            return HexFormat.of().formatHex(mac.doFinal((liste + "|" + inhalt).getBytes(StandardCharsets.UTF_8)), 0, 8);
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Object[] zeiger(String liste, String wert) {
        try {
            String[] t = new String(Base64.getUrlDecoder().decode(wert), StandardCharsets.UTF_8).split("\\.", -1);
            if (t.length == 4 && t[3].equals(siegel(liste, t[0] + "." + t[1] + "." + t[2])) && wert.equals(zeiger(liste, Instant.ofEpochSecond(Long.parseLong(t[0])).atOffset(java.time.ZoneOffset.UTC), t[1], t[2]))) {
                return new Object[] {Instant.ofEpochSecond(Long.parseLong(t[0])).atOffset(java.time.ZoneOffset.UTC), t[1], t[2]};
            }
        } catch (IllegalArgumentException | java.time.DateTimeException e) {
            // falls through
        }
        throw Fehler.parameter("nach", "ist kein Zeiger dieser Liste");
    }

    private static String adresse(UriInfo uri, String zeiger) {
        List<String> teile = new ArrayList<>();
        uri.getQueryParameters().forEach((name, werte) -> {
            if ((uri.getPath().contains("fristen") ? GENANNT_FRISTEN : GENANNT).contains(name)) {
                werte.forEach(w -> teile.add(kodiert(name) + "=" + kodiert(w)));
            }
        });
        if (zeiger != null) {
            teile.add("nach=" + zeiger);
        }
        return Auskunft.ursprung(uri) + uri.getRequestUri().getRawPath() + (teile.isEmpty() ? "" : "?" + String.join("&", teile));
    }

    private static String kodiert(String s) {
        return URLEncoder.encode(s, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private static OffsetDateTime zeit(String name, String wert) {
        try {
            return OffsetDateTime.parse(wert);
        } catch (DateTimeParseException e) {
            throw Fehler.parameter(name, "ist kein Zeitpunkt des Kalenders");
        }
    }

    private static OffsetDateTime ortszeit(OffsetDateTime t) {
        return NodeConfiguration.is("dw-fichte") ? t.toLocalDateTime().atZone(Daten.WIEN).toOffsetDateTime() : t;
    }

    static String wien(OffsetDateTime t) {
        return t == null ? null : t.atZoneSameInstant(Daten.WIEN).toOffsetDateTime().format(java.time.format.DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ssxxx"));
    }

    private Map<String, Object> kurz(ResultSet rs, String sprache) {
        try {
            Map<String, Object> m = new LinkedHashMap<>();
            m.put("kennung", rs.getString("kennung"));
            m.put("art", rs.getString("art"));
            m.put("titel", rs.getString("titel_" + sprache));
            Map<String, Object> geber = new LinkedHashMap<>();
            geber.put("kuerzel", rs.getString("foerdergeber"));
            geber.put("name", rs.getString("name_" + sprache));
            m.put("foerdergeber", geber);
            String laender = rs.getString("laender");
            m.put("laender", laender == null ? List.of() : Arrays.asList(laender.split(",")));
            m.put("eroeffnet_am", rs.getObject("eroeffnet", LocalDate.class).toString());
            m.put("frist", wien(rs.getObject("frist", OffsetDateTime.class)));
            m.put("foerdersumme", rs.getBigDecimal("summe"));
            m.put("waehrung", rs.getString("waehrung"));
            return m;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<String, Object> stufe(ResultSet rs, String sprache) throws SQLException {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("stufe", rs.getInt("nummer"));
        m.put("bezeichnung", rs.getString("name_" + sprache));
        m.put("ende", wien(rs.getObject("ende", OffsetDateTime.class)));
        return m;
    }

    private List<Map<String, Object>> geber(String sprache, String kuerzel) {
        return jdbi.withHandle(db -> db.createQuery("SELECT f.*, (SELECT COUNT(*) FROM ausschreibung a WHERE a.foerdergeber = f.kuerzel) AS anzahl FROM foerdergeber f"
                + " WHERE :k IS NULL OR f.kuerzel = :k ORDER BY f.kuerzel")
            .bind("k", kuerzel)
            .map((rs, c) -> {
                Map<String, Object> m = new LinkedHashMap<>();
                m.put("kuerzel", rs.getString("kuerzel"));
                m.put("name", rs.getString("name_" + sprache));
                m.put("webseite", rs.getString("webseite"));
                m.put("gegruendet_am", rs.getObject("gegruendet", LocalDate.class).toString());
                m.put("ausschreibungen", rs.getInt("anzahl"));
                return m;
            }).list());
    }
}
