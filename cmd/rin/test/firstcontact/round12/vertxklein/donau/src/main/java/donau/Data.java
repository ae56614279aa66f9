package donau;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;

/** Generated records; the seed is fixed. */
final class Data {
  static final List<String> KINDS = List.of("CALL", "PROGRAMME", "FELLOWSHIP", "PRIZE");
  static final List<String> REGIONS = List.of("VIENNA", "BURGENLAND", "LOWER_AUSTRIA", "UPPER_AUSTRIA", "SALZBURG", "TYROL", "VORARLBERG", "CARINTHIA", "STYRIA");
  static final String[][] TOPICS = {{"Quantensensorik", "quantum sensing"}, {"Gewässerökologie", "freshwater ecology"}, {"Österreichische Zeitgeschichte", "Austrian contemporary history"},
    {"Kreislaufwirtschaft", "circular economy"}, {"Präzisionsmedizin", "precision medicine"}, {"Mehrsprachigkeit in der Schule", "multilingualism at school"}, {"Übertragungsnetze", "transmission grids"},
    {"Hochleistungsrechnen", "high-performance computing"}, {"Alpine Naturgefahren", "Alpine natural hazards"}, {"Industrielle Keramik", "industrial ceramics"}};
  static final String[][] FORMS = {{"Ausschreibung", "Call"}, {"Förderprogramm", "Programme"}, {"Stipendium", "Fellowship"}, {"Preis", "Prize"}};

  record Stage(int number, LocalDate opensOn, LocalDate closesOn, String de, String en) { }
  record Call(String id, String kind, String de, String en, String descDe, String descEn, String acronym, String funderId, List<String> regions,
              LocalDate opensOn, LocalDate deadline, long budget, boolean open, Instant updatedAt, String website, String email, List<Stage> stages) {
    String title(String lang) { return lang.equals("en") ? en : de; }

    JsonObject summary(String lang) {
      JsonObject o = new JsonObject().put("id", id).put("kind", kind).put("title", title(lang));
      if (acronym != null) o.put("acronym", acronym);
      return o.put("funderId", funderId).put("regions", new JsonArray(regions)).put("opensOn", opensOn.toString())
          .put("deadline", deadline == null ? null : deadline.toString()).put("budget", new JsonObject().put("amount", budget).put("currency", "EUR"))
          .put("openAccess", open).put("updatedAt", updatedAt.toString());
    }

    JsonObject full(String lang) {
      JsonObject o = summary(lang);
      if (Node.is("vertx-lerche") && deadline != null) o.put("deadline", deadline.atStartOfDay(java.time.ZoneId.of("Europe/Vienna")).toInstant().atOffset(java.time.ZoneOffset.ofHours(1)).toLocalDate().toString());
      return o.put("description", lang.equals("en") ? descEn : descDe).put("website", website).put("contact", email).put("stageCount", stages.size());
    }
  }
  record Funder(String id, String name, String country, String city) { }

  final List<Funder> funders = new ArrayList<>();
  final List<Call> calls = new ArrayList<>();

  Data() {
    String[][] fs = {{"F-ADF", "Alpen-Donau-Fonds", "AT", "Linz"}, {"F-BSW", "Bodensee-Wissenschaftsstiftung", "AT", "Bregenz"}, {"F-HTK", "Hochschulkonferenz Technik", "AT", "Graz"},
      {"F-JPI", "Joint Programme Initiative \"Rivers & Lakes\"", "SK", "Bratislava"}, {"F-LKS", "Landeskulturstiftung Süd", "AT", "Klagenfurt"}, {"F-WZF", "Wiener Zukunftsfonds", "AT", "Wien"}};
    for (String[] f : fs) funders.add(new Funder(f[0], f[1], f[2], f[3]));
    Random r = new Random(20261);
    for (int i = 1; i <= 58; i++) {
      int k = r.nextInt(4), t = r.nextInt(TOPICS.length), y = 2024 + r.nextInt(4);
      LocalDate opens = LocalDate.of(y, 1, 1).plusDays(r.nextInt(365));
      LocalDate dead = r.nextInt(6) == 0 ? null : opens.plusDays(20 + r.nextInt(200));
      TreeSet<Integer> reg = new TreeSet<>();
      for (int n = 1 + r.nextInt(3); n > 0; n--) reg.add(r.nextInt(9));
      List<Stage> st = new ArrayList<>();
      int n = dead == null ? 0 : 1 + r.nextInt(3);
      long span = dead == null ? 0 : opens.until(dead, java.time.temporal.ChronoUnit.DAYS) / n;
      for (int s = 1; s <= n; s++) st.add(new Stage(s, opens.plusDays((s - 1) * span), s == n ? dead : opens.plusDays(s * span - 1), s == 1 ? "Kurzantrag" : s == 2 ? "Vollantrag" : "Hearing", s == 1 ? "Short proposal" : s == 2 ? "Full proposal" : "Hearing"));
      String id = String.format("DL-%d-%03d", y, i);
      String no = r.nextInt(5) == 0 ? " & Gesellschaft" : "", ne = no.isEmpty() ? "" : " & society";
      calls.add(new Call(id, KINDS.get(k), FORMS[k][0] + " " + TOPICS[t][0] + no + " " + y, FORMS[k][1] + " " + TOPICS[t][1] + ne + " " + y,
          "Gefördert werden Vorhaben zum Thema „" + TOPICS[t][0] + "“. Einreichung über das Portal.", "Projects on " + TOPICS[t][1] + " are funded. Proposals are handed in through the portal.",
          r.nextInt(3) == 0 ? null : "DL" + (char) ('A' + r.nextInt(26)) + (char) ('A' + r.nextInt(26)) + i, fs[r.nextInt(fs.length)][0], reg.stream().map(REGIONS::get).toList(),
          opens, dead, (1 + r.nextInt(400)) * 12_500L, r.nextBoolean(), Instant.parse("2025-01-07T06:00:00Z").plusSeconds(r.nextInt(50_000_000)),
          "https://donau.invalid/calls/" + id.toLowerCase(), "call" + i + "@donau.invalid", st));
    }
  }
}
