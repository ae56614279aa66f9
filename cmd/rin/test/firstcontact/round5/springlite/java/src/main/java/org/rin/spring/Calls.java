package org.rin.spring;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.springframework.stereotype.Component;

/** The catalogue of annotated funding calls. */
@Component
public class Calls {

    public enum Status { UPCOMING, OPEN, CLOSED }

    public record Text(String de, String en) {}

    public record Money(BigDecimal amount, String currency) {}

    public record Funder(String code, String name, String country) {}

    public record FunderRef(String code, String name) {}

    public record Document(int number, String name, String language, String mediaType, long size, String href) {}

    public record Call(long id, Text title, Text summary, Funder funder, LocalDate opens, LocalDate deadline,
                       Money budget, Integer maxDurationMonths, List<String> keywords, OffsetDateTime updatedAt,
                       String website, String contactEmail, boolean draft, List<Document> documents) {

        public Status status(LocalDate day) {
            return day.isBefore(opens) ? Status.UPCOMING : day.isAfter(deadline) ? Status.CLOSED : Status.OPEN;
        }
    }

    private static final List<Funder> FUNDERS = List.of(
            new Funder("DFW", "Danubischer Fonds für Wissenschaft", "AT"),
            new Funder("ALP", "Alpine Research Council", "CH"),
            new Funder("BWS", "Bayerische Wissenschaftsstiftung", "DE"),
            new Funder("NOR", "Norddeutsche Forschungsgesellschaft", "DE"),
            new Funder("EUF", "European Frontier Fund", "BE"),
            new Funder("MED", "Stiftung Medizin & Gesellschaft", "AT"));

    private static final List<Text> TOPICS = List.of(
            new Text("Quantensensorik", "Quantum Sensing"),
            new Text("Klimafolgen im Alpenraum", "Climate Impact in the Alps"),
            new Text("Präzisionsmedizin", "Precision Medicine"),
            new Text("Digitale Geisteswissenschaften", "Digital Humanities"),
            new Text("Energiespeicher", "Energy Storage"),
            new Text("Künstliche Intelligenz in der Pflege", "Artificial Intelligence in Nursing"),
            new Text("Kreislaufwirtschaft", "Circular Economy"),
            new Text("Biodiversität der Böden", "Soil Biodiversity"),
            new Text("Mehrsprachigkeit", "Multilingualism"),
            new Text("Sichere Lieferketten", "Secure Supply Chains"),
            new Text("Öffentliche Gesundheit", "Public Health"));

    private static final List<Text> LINES = List.of(
            new Text("Einzelprojekte", "Stand-Alone Projects"),
            new Text("Doktoratskolleg", "Doctoral School"),
            new Text("Netzwerke", "Networks"),
            new Text("Frühe Karriere", "Early Career"),
            new Text("Infrastruktur", "Infrastructure"));

    private final List<Call> calls = new ArrayList<>();
    public final LocalDate today = LocalDate.now(ZoneOffset.UTC);

    public Calls() {
        for (int i = 0; i < 84; i++) {
            long id = 4001 + i;
            Text topic = TOPICS.get(i % TOPICS.size());
            Text line = LINES.get((i / 3) % LINES.size());
            int year = today.getYear() - (i * 7 % 3);
            LocalDate opens = today.plusDays((i * 53L) % 400 - 260);
            LocalDate deadline = opens.plusDays(30 + (i * 17L) % 5 * 28);
            List<Document> documents = new ArrayList<>();
            for (int d = 1; d <= i % 4; d++) {
                String language = d % 2 == 1 ? "de" : "en";
                documents.add(new Document(d, d == 1 ? "Ausschreibungstext" : d == 2 ? "Call text" : "Budgetvorlage",
                        language, d == 3 ? "application/vnd.oasis.opendocument.spreadsheet" : "application/pdf",
                        48_211L + 9_973L * i + 77L * d,
                        "https://documents.sfn.example/calls/" + id + "/" + d));
            }
            calls.add(new Call(id,
                    new Text(topic.de() + " – " + line.de() + " " + year, topic.en() + ": " + line.en() + " " + year),
                    new Text("Gefördert wird Forschung zum Thema „" + topic.de() + "“.",
                            "Supports research on the topic \"" + topic.en() + "\"."),
                    FUNDERS.get((i * 5 + i / 7) % FUNDERS.size()), opens, deadline,
                    new Money(BigDecimal.valueOf(7_500_000L + (i * 3_137_250L) % 240_000_000L, 2), i % 4 == 1 ? "CHF" : "EUR"),
                    i % 5 == 4 ? null : 12 + 6 * (i % 6),
                    i % 9 == 0 ? List.of() : List.of(topic.en().toLowerCase(), line.en().toLowerCase()),
                    OffsetDateTime.of(today.minusDays(1 + (i * 11L) % 90).atTime(i % 24, (i * 7) % 60, (i * 13) % 60),
                            ZoneOffset.UTC),
                    "https://www.sfn.example/calls/" + id, "calls@sfn.example", i % 9 == 5, List.copyOf(documents)));
        }
    }

    public List<Call> published() {
        return calls.stream().filter(c -> !c.draft()).toList();
    }

    public Optional<Call> find(long id, boolean withDrafts) {
        return calls.stream().filter(c -> c.id() == id && (withDrafts || !c.draft())).findFirst();
    }

    public List<Funder> funders() {
        return FUNDERS;
    }
}
