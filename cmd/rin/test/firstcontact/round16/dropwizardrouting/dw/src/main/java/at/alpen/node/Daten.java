package at.alpen.node;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Random;
import org.jdbi.v3.core.Handle;
import org.jdbi.v3.core.Jdbi;

/** Generated calls in an H2 database. */
final class Daten {
    static final ZoneId WIEN = ZoneId.of("Europe/Vienna");
    static final List<String> ARTEN = List.of("AUSSCHREIBUNG", "PROGRAMM", "STIPENDIUM", "PREIS");
    static final List<String> LAENDER = List.of("AT", "CH", "DE", "FR", "IT", "LI", "SI");
    private static final String[][] FOERDERGEBER = {
        {"alpfonds", "Alpenfonds für Forschung und Lehre", "Alpine Fund for Research and Teaching"},
        {"bgl", "Stiftung Berggebiete und ländlicher Raum", "Mountain and Rural Areas Foundation"},
        {"euregio", "Europaregion Tirol–Südtirol–Trentino", "Euregio Tyrol–South Tyrol–Trentino"},
        {"gletscher", "Gesellschaft für Gletscherkunde „Firn & Schnee“", "Glaciology Society \"Firn & Snow\""},
        {"hoehenluft", "Förderkreis Höhenmedizin", "High Altitude Medicine Circle"},
        {"krn", "Krainer Wissenschaftsstiftung", "Carniola Science Foundation"},
        {"murgang", "Kompetenzzentrum Murgänge und Lawinen", "Debris Flow and Avalanche Centre"},
        {"oeav", "Österreichischer Bergforschungsverein", "Austrian Mountain Research Association"},
        {"raetia", "Rätische Akademie", "Raetian Academy"},
        {"säntis".replace("ä", "ae"), "Säntis-Stiftung", "Säntis Foundation"},
        {"vaduz", "Liechtensteinische Forschungsförderung", "Liechtenstein Research Promotion"},
        {"zirbe", "Zirbenholzfonds (ruht)", "Stone Pine Fund (dormant)"},
    };
    private static final String[][] WAS = {
        {"Förderung", "Funding for"}, {"Ausschreibung", "Call for"}, {"Nachwuchsstipendium", "Early career grant for"}, {"Preis", "Prize for"},
        {"Anschubfinanzierung", "Seed money for"}, {"Übergangshilfe", "Bridge money for"}};
    private static final String[][] THEMA = {
        {"Lawinenkunde", "avalanche science"}, {"Almwirtschaft und Käseherstellung", "alpine farming and cheese making"}, {"Gebirgsökologie", "mountain ecology"},
        {"Hüttenbau", "hut construction"}, {"rätoromanische Philologie", "Romansh philology"}, {"Wasserkraft 100% erneuerbar", "hydropower 100% renewable"},
        {"Straßen- und Tunnelbau", "road and tunnel building"}, {"Höhenphysiologie", "altitude physiology"}, {"Permafrost & Blöcke", "permafrost & boulders"},
        {"Mehrsprachigkeit", "multilingualism"}, {"Geodaten_Alpen", "geodata_alps"}};
    private static final String[][] STUFE = {{"Skizze", "outline"}, {"Vollantrag", "full proposal"}, {"Hearing für Ausgewählte", "hearing of those selected"}};
    private static final String[] WORTE = {"Klima", "Ökosystem", "Förderung", "Übersetzung", "Größenordnung", "Holz", "Schnee", "Jugend", "Grenzgebiet"};
    private static final String[] PERSONEN = {"Jürg Bärtschi", "Françoise Müller", "Špela Žagar", "Käthi Nägeli", "Andrea Großrubatscher"};

    private Daten() {}

    static OffsetDateTime wien(LocalDateTime t) {
        return t.atZone(WIEN).toOffsetDateTime();
    }

    static void fuellen(Jdbi jdbi) {
        jdbi.useTransaction(h -> {
            h.execute("CREATE TABLE foerdergeber (kuerzel VARCHAR(20) PRIMARY KEY, name_de VARCHAR(200), name_en VARCHAR(200), webseite VARCHAR(200), gegruendet DATE)");
            h.execute("CREATE TABLE ausschreibung (kennung VARCHAR(20) PRIMARY KEY, art VARCHAR(20), titel_de VARCHAR(300), titel_en VARCHAR(300), foerdergeber VARCHAR(20) REFERENCES foerdergeber,"
                + " eroeffnet DATE, frist TIMESTAMP WITH TIME ZONE, summe DECIMAL(14,2), waehrung CHAR(3), text_de VARCHAR(2000), text_en VARCHAR(2000),"
                + " kontakt VARCHAR(100), mail VARCHAR(100), webseite VARCHAR(200), geaendert TIMESTAMP WITH TIME ZONE)");
            h.execute("CREATE TABLE land (kennung VARCHAR(20) REFERENCES ausschreibung, code CHAR(2), PRIMARY KEY (kennung, code))");
            h.execute("CREATE TABLE schlagwort (kennung VARCHAR(20) REFERENCES ausschreibung, wort VARCHAR(50), PRIMARY KEY (kennung, wort))");
            h.execute("CREATE TABLE stufe (kennung VARCHAR(20) REFERENCES ausschreibung, nummer INT, name_de VARCHAR(100), name_en VARCHAR(100), ende TIMESTAMP WITH TIME ZONE, PRIMARY KEY (kennung, nummer))");
            zeilen(h);
        });
    }

    private static void zeilen(Handle h) {
        Random r = new Random(48151623);
        for (String[] f : FOERDERGEBER) {
            h.execute("INSERT INTO foerdergeber VALUES (?, ?, ?, ?, ?)", f[0], f[1], f[2], "https://" + f[0] + ".example/",
                LocalDate.of(1880 + r.nextInt(140), 1 + r.nextInt(12), 1 + r.nextInt(28)));
        }
        for (int n = 1; n <= 148; n++) {
            String kennung = String.format("ALP-%05d", 10000 + (n * 7919) % 90000);
            String[] was = WAS[r.nextInt(WAS.length)];
            String[] thema = THEMA[r.nextInt(THEMA.length)];
            String[] geber = FOERDERGEBER[r.nextInt(FOERDERGEBER.length - 1)];
            LocalDate eroeffnet = LocalDate.of(2026, 1, 1).plusDays(r.nextInt(500));
            int stufen = n % 13 == 0 ? 0 : 1 + r.nextInt(3);
            LocalDateTime[] enden = new LocalDateTime[stufen];
            LocalDate tag = eroeffnet;
            for (int s = 0; s < stufen; s++) {
                tag = tag.plusDays(30 + r.nextInt(150));
                enden[s] = switch (n % 4) {
                    case 0 -> tag.atTime(23, 59, 59);
                    case 1 -> tag.atTime(12, 0);
                    case 2 -> tag.atTime(17, 0);
                    default -> tag.atTime(0, 0);
                };
            }
            if (n == 77) {
                enden[stufen - 1] = LocalDateTime.of(9999, 12, 31, 23, 59, 59);
            }
            BigDecimal summe = n % 9 == 0 ? null : BigDecimal.valueOf(r.nextInt(40000) * 2500L + (n % 6 == 0 ? 50 : 0), 2);
            Instant geaendert = Instant.parse("2026-10-05T06:00:00Z").plusSeconds(n * 29123L);
            h.execute("INSERT INTO ausschreibung VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", kennung, ARTEN.get(r.nextInt(ARTEN.size())),
                was[0] + " " + thema[0] + " " + (2026 + n % 3), was[1] + " " + thema[1] + " " + (2026 + n % 3), geber[0], eroeffnet,
                stufen == 0 ? null : wien(enden[stufen - 1]), summe, r.nextInt(4) == 0 ? "CHF" : "EUR",
                "Gefördert werden Vorhaben zum Thema „" + thema[0] + "“. Anträge müssen vollständig sein; die Mühe lohnt sich.",
                "Projects on " + thema[1] + " are supported. Proposals have to be complete.",
                PERSONEN[r.nextInt(PERSONEN.length)], geber[0] + "@foerderung.example", "https://" + geber[0] + ".example/" + n, geaendert.atOffset(ZoneOffset.UTC));
            for (String land : LAENDER) {
                if (r.nextInt(4) == 0) {
                    h.execute("INSERT INTO land VALUES (?, ?)", kennung, land);
                }
            }
            for (String wort : WORTE) {
                if (r.nextInt(4) == 0) {
                    h.execute("INSERT INTO schlagwort VALUES (?, ?)", kennung, wort);
                }
            }
            for (int s = 0; s < stufen; s++) {
                String[] name = STUFE[s == stufen - 1 && s < 2 ? 1 : s == 1 ? 0 : s];
                h.execute("INSERT INTO stufe VALUES (?, ?, ?, ?, ?)", kennung, s + 1, name[0], name[1], wien(enden[s]));
            }
        }
    }
}
