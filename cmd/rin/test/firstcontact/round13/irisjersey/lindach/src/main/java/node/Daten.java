package node;

import java.time.*;
import java.util.*;

/** The records, made once. */
final class Daten {
    record Text(String de, String en) {
        String in(String sprache) {
            return sprache.equals("en") ? en : de;
        }
    }

    record Summe(String min, String max, String waehrung) {}

    record Foerderung(String kennung, String art, Text titel, Text kurztext, String geber, List<String> gebiete, List<String> themen, LocalDate ab,
        OffsetDateTime frist, Summe summe) {
        String stand(Instant jetzt) {
            if (ab.atStartOfDay(ZoneOffset.UTC).toInstant().isAfter(jetzt)) return "geplant";
            return frist != null && frist.toInstant().isBefore(jetzt) ? "abgelaufen" : "offen";
        }
    }

    static final List<String> GEBIETE = List.of("B", "K", "N", "O", "S", "St", "T", "V", "W");
    static final List<String> THEMEN = List.of("natur", "technik", "medizin", "agrar", "sozial", "geist", "kunst");
    static final Map<String, String> GEBER = new LinkedHashMap<>();
    static final Map<String, Foerderung> ALLE = new TreeMap<>();

    private static final String[][] FAECHER = {{"Gletscher", "Glaciers"}, {"Moorböden", "Peat Soils"}, {"Zahnmedizin", "Dentistry"}, {"Volksmusik", "Folk Music"},
        {"Robotik", "Robotics"}, {"Almwirtschaft", "Alpine Farming"}, {"Wahlforschung", "Election Studies"}, {"Batterien", "Batteries"}, {"Dialekte", "Dialects"},
        {"Brückenbau", "Bridges"}, {"Impfstoffe", "Vaccines"}};
    private static final String[][] FORMEN = {{"Stipendium", "Fellowship"}, {"Projektförderung", "Project Grant"}, {"Preis", "Prize"}, {"Netzwerk", "Network"}, {"Gerät", "Equipment"}};
    private static final String[] FRISTEN = {"2027-01-31T23:59:59+01:00", "2027-03-31T12:00:00+02:00", "2027-04-01T00:30:00+02:00", "2026-06-30T23:59:59+02:00",
        "2027-01-31T23:59:59+01:00", null, "2027-09-15T17:00:00+02:00", "2027-01-01T00:00:00+01:00", "2027-01-31T23:59:59+01:00", "2027-10-01T01:15:00+03:00",
        "2025-12-24T12:00:00Z", "2028-02-29T23:30:00-05:00", "2027-04-01T00:30:00+02:00"};

    private Daten() {}

    private static void neu(String kennung, String art, String de, String en, String kurzDe, String kurzEn, String geber, List<String> gebiete, List<String> themen,
        String ab, String frist, Summe summe) {
        ALLE.put(kennung, new Foerderung(kennung, art, new Text(de, en), new Text(kurzDe, kurzEn), geber, gebiete, themen, LocalDate.parse(ab),
            frist == null ? null : OffsetDateTime.parse(frist), summe));
    }

    static {
        GEBER.put("fonds-l", "Fonds Lindach");
        GEBER.put("Stadt/Amt 7", "Stadt Lindach, Amt 7 \"Kultur\"");
        GEBER.put("bmx", "Bundesministerium für X; Sektion IV");
        GEBER.put("eu+", "EU, Programm „Plus“");
        GEBER.put("stift-ö", "Stiftung Österreichische Berge");
        GEBER.put("leer", "Geber ohne Förderungen");
        neu("LF/2026:17", "ausschreibung", "Kärntner Seen", "Lakes of Carinthia", "Seen, Flüsse\nund \"Moore\"", "Lakes, rivers\nand \"bogs\"", "fonds-l", List.of("K"), List.of("natur"), "2026-03-01", "2027-02-28T23:59:59+01:00", new Summe("1000.00", "2500000.50", "EUR"));
        neu("Ö 4711", "programm", "Österreich; gestern, heute", "Austria; Yesterday, Today", "Für alle.", "For all.", "stift-ö", Daten.GEBIETE, List.of("geist", "sozial"), "2020-02-29", null, null);
        neu("50%", "ausschreibung", "Halbe Stellen, \"halbe\" Kosten", "Half Posts, \"Half\" Costs", "50 % der Kosten", "50 % of the costs", "bmx", List.of("W", "N"), List.of("sozial"), "2026-09-01", "2026-12-31T23:59:59+01:00", new Summe("0.00", "99999999999.99", "EUR"));
        neu("a+b", "ausschreibung", "=SUMME + Kunst", "=SUM + Art", "Kunst mit Tabellen", "Art with spreadsheets", "Stadt/Amt 7", List.of("O"), List.of("kunst"), "2027-02-01", "2027-05-01T00:00:00+02:00", new Summe("1.00", "1.00", "CHF"));
        neu("c;d=1", "programm", "Chemie;Dünger", "Chemistry;Fertiliser", "🌾 Getreide", "🌾 Cereals", "eu+", List.of("N", "B"), List.of("agrar", "natur"), "2025-01-01", "2027-03-28T02:30:00+01:00", new Summe("20000.00", "20000.00", "EUR"));
        neu("x?y#z", "ausschreibung", "Offene Frage?", "Open Question?", "Was #jetzt", "What #now", "eu+", List.of(), List.of(), "2026-11-01", "9999-12-31T23:59:59Z", new Summe("5000.00", "7000.00", "CZK"));
        neu("1. Wahl", "ausschreibung", "Erste Wahl & zweite", "First Choice & Second", "<i>kursiv</i>", "<i>italic</i>", "bmx", List.of("St"), List.of("sozial", "geist"), "2099-12-31", null, new Summe("100.00", "200.00", "EUR"));
        String[] geber = GEBER.keySet().toArray(new String[0]);
        for (int i = 0; i < 58; i++) {
            String[] fach = FAECHER[i % FAECHER.length], form = FORMEN[(i * 3 + i / 11) % FORMEN.length];
            List<String> gebiete = new ArrayList<>(), themen = new ArrayList<>();
            for (int g = 0; g < GEBIETE.size(); g++) if ((i + g * g) % 5 == 0 || (i * 2 + g) % 11 == 3) gebiete.add(GEBIETE.get(g));
            for (int t = 0; t < THEMEN.size(); t++) if (i % THEMEN.size() == t || (i + 2 * t) % 13 == 4) themen.add(THEMEN.get(t));
            LocalDate ab = LocalDate.of(2025, 1, 7).plusDays(i * 19L % 760);
            String frist = FRISTEN[i % FRISTEN.length];
            if (frist != null && ab.isAfter(LocalDate.parse(frist.substring(0, 10)))) ab = ab.minusYears(2);
            neu(String.format("TL-%04d", 1000 + i * 37), i % 7 == 6 ? "programm" : "ausschreibung", form[0] + " " + fach[0] + (i < 11 ? "" : " " + (i / 11 + 1)),
                form[1] + " " + fach[1] + (i < 11 ? "" : " " + (i / 11 + 1)), "Runde " + (i / 11 + 1) + ", Fach " + fach[0] + ".", "Round " + (i / 11 + 1) + ", subject " + fach[1] + ".",
                geber[(i * i + i / 4) % 5], gebiete, themen, ab.toString(), frist,
                i % 6 == 1 ? null : new Summe((i % 4) * 500 + ".00", (i % 9 + 1) * 12500 + ".00", i % 5 == 4 ? "CHF" : "EUR"));
        }
    }
}
