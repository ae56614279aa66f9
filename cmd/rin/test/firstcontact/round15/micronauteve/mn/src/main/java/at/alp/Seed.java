package at.alp;

import io.micronaut.context.event.ApplicationEventListener;
import io.micronaut.context.event.StartupEvent;
import jakarta.inject.Singleton;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.TreeSet;
import java.util.UUID;

@Singleton
class Seed implements ApplicationEventListener<StartupEvent> {
    static final List<String> TOPICS = List.of("ARTS", "CLIMATE", "DIGITAL", "ENERGY", "HEALTH", "LAW", "MATERIALS", "MOUNTAINS", "WATER");
    static final List<String> GROUPS = List.of("COMPANY", "DOCTORAL", "INSTITUTE", "POSTDOC", "UNIVERSITY");
    private static final String[][] FUNDERS = {
        {"Alpenländische Forschungsgesellschaft", "Alpine Research Society", "ALF", "AT"}, {"Bundesstiftung für Öffentliches Recht", "Federal Foundation for Public Law", "BÖR", "DE"},
        {"Förderkreis Höhenmedizin", "High Altitude Medicine Circle", "FHM", "CH"}, {"Gemeinnützige Stiftung Süd & Partner", "Charitable Foundation South & Partners", "GSP", "AT"},
        {"Übersetzerfonds", "Translators' Fund", "ÜF", "DE"}, {"Österreichische Energiebrücke", "Austrian Energy Bridge", "ÖEB", "AT"}, {"Zürcher Werkstofffonds", "Zurich Materials Fund", "ZWF", "CH"},
        {"Ärzteverband Grüne Täler", "Medical Association Green Valleys", "ÄGT", "AT"}, {"Rätische Kulturstiftung", "Rhaetian Culture Foundation", "RKS", "CH"},
        {"Jungforscherwerk", "Young Researchers' Organisation", "JFW", "DE"}, {"Fonds \"Große Wasser\"", "Fund \"Great Waters\"", "FGW", "AT"}};
    private static final String[][] FIRST = {{"Förderpreis", "Award"}, {"Übergangsstipendium", "Transition fellowship"}, {"Großprojekt", "Major project"}, {"Nachwuchsgruppe", "Junior group"},
        {"Ärztliche Forschung", "Medical research"}, {"Brückenkopf", "Bridgehead"}, {"Äußere Räume", "Outer spaces"}, {"Öffnungsinitiative", "Opening initiative"}, {"Dissertation", "Thesis grant"}, {"Maßnahme", "Measure"}, {"Zukunftslabor", "Future lab"}};
    private static final String[][] SECOND = {{"für Künstliche Intelligenz", "for artificial intelligence"}, {"im Hochgebirge", "in high mountains"}, {"zur Wärmewende", "for the heat transition"}, {"über Süßwasser", "on fresh water"},
        {"für Ältere & Jüngere", "for old & young"}, {"der Künste", "of the arts"}, {"zum Völkerrecht", "on international law"}, {"mit 100 % Förderquote", "with 100 % funding rate"}, {"für_neue_Werkstoffe", "for_new_materials"}, {"gegen Lärm", "against noise"}};

    private final CallRepository calls;
    private final FunderRepository funders;

    Seed(CallRepository calls, FunderRepository funders) { this.calls = calls; this.funders = funders; }

    static String funderId(int i) { return "fnd-" + (char) ('a' + i) + (i * 17 + 100); }

    @Override
    public void onApplicationEvent(StartupEvent event) {
        for (int i = 0; i < FUNDERS.length; i++) {
            funders.save(new FunderEntity(funderId(i), FUNDERS[i][0], FUNDERS[i][1], FUNDERS[i][2], FUNDERS[i][3]));
        }
        Random r = new Random(4711);
        long day0 = LocalDate.now(ZoneOffset.UTC).atStartOfDay().toEpochSecond(ZoneOffset.UTC);
        List<CallEntity> all = new ArrayList<>();
        for (int i = 0; i < 187; i++) {
            String id = UUID.nameUUIDFromBytes(("alp-" + i).getBytes(StandardCharsets.UTF_8)).toString();
            String[] a = FIRST[r.nextInt(FIRST.length)];
            String[] b = SECOND[r.nextInt(SECOND.length)];
            int start = r.nextInt(620) - 420;
            if (Math.abs(start) < 4) start += 9;
            int end = start + 21 + r.nextInt(240);
            if (Math.abs(end) < 4) end += 9;
            long opens = day0 + start * 86400L + 6 * 3600;
            Long deadline = i % 17 == 5 ? null : Long.valueOf(day0 + end * 86400L + new int[] {8, 10, 15, 22, 23}[r.nextInt(5)] * 3600L + (r.nextInt(3) == 0 ? 59 * 60 : 0));
            Long stage = deadline != null && i % 4 == 1 ? Long.valueOf((opens + deadline) / 2 / 86400 * 86400 + 43200) : null;
            String de = a[0] + " " + b[0], en = a[1] + " " + b[1];
            if (i % 7 == 3) { de += " " + (2024 + i % 5); en += " " + (2024 + i % 5); }
            long cents = new long[] {1_000_000L, 2_550_050L, 7_500_000L, 12_345_678L, 50_000_000L, 99_999_999L, 250_000_000L}[r.nextInt(7)];
            all.add(new CallEntity(id, de, en,
                "Gefördert werden Vorhaben zum Thema „" + b[0] + "“; Anträge sind in deutscher Sprache möglich.",
                "Funded are projects on the topic “" + b[1] + "”; applications may be written in German.",
                de.toLowerCase(Locale.ROOT), en.toLowerCase(Locale.ROOT), funderId(r.nextInt(FUNDERS.length - 1)), pick(r, TOPICS, 3), pick(r, GROUPS, 2), r.nextInt(4) == 0,
                opens, deadline, deadline == null ? null : Instant.ofEpochSecond(deadline).toString().substring(0, 10), cents, new int[] {50, 60, 75, 80, 100}[r.nextInt(5)],
                "https://alp.example/calls/" + id, day0 - (r.nextInt(300) + 4) * 86400L + r.nextInt(86400), stage));
        }
        calls.saveAll(all);
    }

    private static String pick(Random r, List<String> from, int max) {
        TreeSet<String> s = new TreeSet<>();
        int n = 1 + r.nextInt(max);
        while (s.size() < n) s.add(from.get(r.nextInt(from.size())));
        return "," + String.join(",", s) + ",";
    }
}
