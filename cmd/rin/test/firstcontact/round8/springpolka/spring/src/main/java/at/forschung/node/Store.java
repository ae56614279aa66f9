package at.forschung.node;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

import org.springframework.stereotype.Component;

/** The calls and the funders, in memory. */
@Component
class Store {
    static final ZoneId VIENNA = ZoneId.of("Europe/Vienna");

    enum Art { PROJEKT, STIPENDIUM, NETZWERK, INFRASTRUKTUR, PREIS }

    enum Fach { INFORMATIK, MEDIZIN, PHYSIK, BIOLOGIE, GESCHICHTE, SOZIOLOGIE, ENERGIE, VERKEHR }

    record Funder(String id, String name, String land, int gegruendet) { }

    /** ids are never reused; a call that is not published yet is not part of the API. */
    record Call(String id, int version, boolean published, String titelDe, String titelEn, String textDe, String textEn, Funder funder, Art art,
            Set<Fach> fach, LocalDate beginn, OffsetDateTime frist, BigDecimal betrag, boolean kofinanzierung, List<String> sprachen,
            String kontakt, OffsetDateTime geaendert) { }

    final List<Funder> funders = List.of(
        new Funder("AWF", "Allgemeiner Wissenschaftsfonds Österreich", "AT", 1968),
        new Funder("KTF", "Kärntner Technologieförderung", "AT", 1999),
        new Funder("LBS", "Ludwig-Böhm-Stiftung für Medizin", "AT", 1961),
        new Funder("SZF", "Schweizerischer Zukunftsfonds Zürich", "CH", 2004),
        new Funder("FRN", "Fondation pour la recherche « Nénuphar »", "FR", 1987),
        new Funder("RSŠ", "Raziskovalni sklad Škofja Loka", "SI", 2011),
        new Funder("DFÖ", "Donauraum-Förderung", "AT", 2015));

    final List<Call> calls = new ArrayList<>();

    Store() {
        String[][] topics = {
            { "Vertrauenswürdige KI", "Trustworthy AI" }, { "Früherkennung von Krebs", "Early Detection of Cancer" },
            { "Ultrakalte Atome", "Ultracold Atoms" }, { "Artenvielfalt an Flüssen", "Biodiversity of Rivers" },
            { "Gedächtnis der Städte", "Memory of Cities" }, { "Pflege & Gesellschaft", "Care & Society" },
            { "Wärmespeicher", "Heat Storage" }, { "Güterverkehr auf der Schiene", "Rail Freight" } };
        String[][] forms = {
            { "Ausschreibung", "Call" }, { "Große Verbundprojekte", "Large Joint Projects" }, { "Rückkehrstipendien", "Return Fellowships" },
            { "Geräte und Labore", "Equipment and Laboratories" }, { "Übersetzungsprojekte", "Translation Projects" } };
        String[] people = { "Sabine Weiß", "Jürgen Högl", "Zoë Straßer", "Bojan Šuštar", "Amélie Lefèvre", "Ágnes Szőke", "Dağhan Işık" };
        LocalDate first = LocalDate.of(2026, 1, 15);
        for (int i = 1; i <= 151; i++) {
            Random r = new Random(4711L * i + 5);
            int topic = r.nextInt(topics.length);
            String[] form = forms[r.nextInt(forms.length)];
            int year = 2026 + r.nextInt(2);
            Set<Fach> fach = new LinkedHashSet<>();
            fach.add(Fach.values()[topic == 0 ? 0 : topic]);
            while (r.nextInt(3) == 0) fach.add(Fach.values()[r.nextInt(8)]);
            LocalDate start = first.plusDays(r.nextInt(380));
            // Deadlines are on Mondays to Fridays, at noon, at five or at the end of the day in Vienna; several calls share one.
            LocalDate day = start.plusDays(30 + 15 * r.nextInt(12));
            int[] time = new int[][] { { 12, 0, 0 }, { 17, 0, 0 }, { 23, 59, 59 } }[r.nextInt(3)];
            OffsetDateTime frist = day.atTime(time[0], time[1], time[2]).atZone(VIENNA).toOffsetDateTime();
            BigDecimal betrag = r.nextInt(12) == 0 ? null : BigDecimal.valueOf(2_500_00L + 1250_50L * r.nextInt(4000), 2);
            if (i == 77) betrag = new BigDecimal("4200000000.00");
            Funder funder = funders.get(r.nextInt(funders.size()));
            List<String> languages = r.nextBoolean() ? List.of("de", "en") : List.of(r.nextBoolean() ? "de" : "en");
            OffsetDateTime changed = OffsetDateTime.of(2026, 10, 1, 6, 0, 0, 0, ZoneOffset.UTC).minus(r.nextInt(400_000), ChronoUnit.MINUTES).atZoneSameInstant(VIENNA).toOffsetDateTime();
            calls.add(new Call("AU-%04d".formatted(i), 1 + r.nextInt(6), i % 17 != 9, topics[topic][0] + ": " + form[0] + " " + year, topics[topic][1] + ": " + form[1] + " " + year,
                "Gefördert werden Vorhaben zum Thema „" + topics[topic][0] + "“. Höchstdauer: " + (12 + 6 * r.nextInt(7)) + " Monate.",
                "Supports work on “" + topics[topic][1] + "”.", funder, Art.values()[r.nextInt(5)], fach, start, frist, betrag, r.nextInt(4) == 0, languages,
                people[r.nextInt(people.length)], changed));
        }
    }
}
