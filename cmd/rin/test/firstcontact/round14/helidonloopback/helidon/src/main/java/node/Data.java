package node;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.util.*;

/** The calls and funders of the University of Hallgrund. */
final class Data {
    record Funder(String id, String name, String country) { }

    record Call(String id, String type, String titleDe, String titleEn, String summary, Funder funder, List<String> regions,
                List<String> targetGroups, List<String> subjects, LocalDate opens, LocalDate closes, BigDecimal amount,
                String currency, String website, Instant modified) { }

    static final List<String> TYPES = List.of("CALL", "ONGOING_CALL", "PROGRAMME", "AWARD", "SCHOLARSHIP");
    static final List<String> REGIONS = List.of("AT11", "AT12", "AT13", "AT21", "AT22", "AT31", "AT32", "AT33", "AT34");
    static final List<String> GROUPS = List.of("UNIVERSITY", "RESEARCH_INSTITUTE", "COMPANY", "GOVERNMENT", "INDEPENDENT_RESEARCHER");

    static final Map<String, Funder> FUNDERS = new LinkedHashMap<>();
    static final Map<String, Call> CALLS = new LinkedHashMap<>();

    private static final String[] TOPICS = {
        "Moorböden|peat soils", "Seltene Erden|rare earths", "Quantensensorik|quantum sensing", "Dialektforschung|dialect research",
        "Alpine Seen|alpine lakes", "Barrierefreie Museen|accessible museums", "Holzbau|timber construction", "Gletscherarchive|glacier archives",
        "Grüner Stahl|green steel", "Pflegerobotik|care robotics", "Frühneuzeitliche Karten|early modern maps", "Antibiotikaresistenz|antibiotic resistance",
        "Nachtzüge|night trains", "Wildbienen|wild bees", "Gebärdensprache|sign language"};
    private static final String[] KINDS = {"Ausschreibung|Call", "Stipendium|Scholarship", "Förderpreis|Award", "Programm|Programme"};

    static {
        for (Funder f : List.of(
                new Funder("AFW", "Alpenfonds Wissenschaft", "AT"),
                new Funder("AFW-2", "Alpenfonds Wissenschaft, Zweigstelle Süd", "AT"),
                new Funder("HGS", "Hallgrunder Gelehrtenstiftung", "AT"),
                new Funder("L/ST", "Land Steiermark, Abteilung 12", "AT"),
                new Funder("R&D Süd", "R&D Süd GmbH", "AT"),
                new Funder("EUJ", "European Joint Initiative \u201EOpen Data\u201C", "BE"),
                new Funder("ÖGM", "Österreichische Gesellschaft für Moorkunde", "AT"))) {
            FUNDERS.put(f.id(), f);
        }
        List<Funder> funders = new ArrayList<>(FUNDERS.values());
        List<Call> all = new ArrayList<>();
        int n = 0;
        for (int t = 0; t < TOPICS.length; t++) {
            String[] topic = TOPICS[t].split("\\|");
            for (int k = 0; k < KINDS.length; k++) {
                n++;
                if (n % 13 == 0) {
                    continue;
                }
                String[] kind = KINDS[k].split("\\|");
                String type = switch (k) {
                    case 0 -> n % 3 == 0 ? "ONGOING_CALL" : "CALL";
                    case 1 -> "SCHOLARSHIP";
                    case 2 -> "AWARD";
                    default -> "PROGRAMME";
                };
                LocalDate opens = LocalDate.of(2025, 1, 15).plusDays(n * 17L % 700);
                LocalDate closes = type.equals("ONGOING_CALL") ? null
                    : n % 6 == 0 ? LocalDate.of(2026, 12, 31) : n % 11 == 0 ? LocalDate.of(2027, 3, 31) : opens.plusDays(40 + n * 7L % 300);
                BigDecimal amount = n % 9 == 0 ? null : new BigDecimal(n * 41_250L + (n % 4 == 0 ? 0 : 10_000_000L * (n % 5))).add(
                    n % 4 == 1 ? new BigDecimal("0.25") : BigDecimal.ZERO);
                String summary = "Gefördert werden Vorhaben zum Thema " + topic[0] + (n % 5 == 0
                    ? ".\r\nEinreichung in zwei Schritten:\r\n1. Skizze; 2. Vollantrag" : n % 7 == 0
                    ? "; Stichwort \"" + topic[1] + "\", Laufzeit höchstens 36 Monate." : " an Standorten in Österreich");
                List<String> regions = n % 8 == 0 ? List.of() : n % 3 == 0
                    ? List.of(REGIONS.get(n % 9), REGIONS.get((n + 4) % 9)) : List.of(REGIONS.get(n % 9));
                List<String> groups = n % 2 == 0 ? List.of(GROUPS.get(n % 5)) : List.of(GROUPS.get(n % 5), GROUPS.get((n + 2) % 5));
                all.add(new Call(String.format("HG-%d-%03d", opens.getYear(), n), type, kind[0] + " " + topic[0], kind[1] + " " + topic[1], summary,
                    funders.get((n * 5 + k) % funders.size()), regions, groups, List.of(topic[1], n % 2 == 0 ? "sustainability" : "basic research"),
                    opens, closes, amount, n % 10 == 3 ? "CHF" : "EUR", "https://hallgrund.example/foerderung/" + n,
                    Instant.parse("2026-02-01T08:00:00Z").plusSeconds(n * 86_977L)));
            }
        }
        // calls taken over from the old system, with the ids it gave
        Funder afw = FUNDERS.get("AFW");
        Funder moor = FUNDERS.get("ÖGM");
        all.add(odd("HG/2019/7", "PROGRAMME", "Langzeitprogramm Torf & Klima", "Long-term programme peat & climate", moor, "1999-01-01", "9999-12-31", "75000000"));
        all.add(odd("HG 2024 A", "CALL", "Reisekosten, Tagungen; Drucke", "Travel costs, conferences; prints", afw, "2024-02-29", "2028-02-29", "1200.5"));
        all.add(odd("HG+3", "CALL", "Zusatzförderung \"3 plus\"", "Top-up \"3 plus\"", afw, "2026-01-01", "2026-12-31", "0.01"));
        all.add(odd("HG-50%", "AWARD", "Halbe Stelle: 50 % Anteil", "Half a post: 50 % share", moor, "2026-05-01", "2026-12-31", "999999999.99"));
        all.add(odd("Möwe?#1", "SCHOLARSHIP", "Stipendium Möwe", "Seagull scholarship", afw, "2026-06-01", "2027-03-31", null));
        all.add(odd("0001", "CALL", "Gründungsausschreibung", "Founding call", moor, "1753-09-14", "1969-12-31", "10"));
        all.sort(Comparator.comparing(Call::id));
        all.forEach(c -> CALLS.put(c.id(), c));
    }

    private static Call odd(String id, String type, String de, String en, Funder funder, String opens, String closes, String amount) {
        return new Call(id, type, de, en, de + " \u2013 übernommen aus dem Altsystem", funder, List.of("AT22"), List.of("UNIVERSITY"), List.of("legacy"),
            LocalDate.parse(opens), LocalDate.parse(closes), amount == null ? null : new BigDecimal(amount), "EUR",
            "https://hallgrund.example/alt", Instant.parse("2025-07-01T12:00:00Z"));
    }

    private Data() { }
}
