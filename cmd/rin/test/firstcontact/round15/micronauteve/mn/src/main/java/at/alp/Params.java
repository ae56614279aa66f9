package at.alp;

import io.micronaut.http.HttpRequest;
import java.math.BigDecimal;
import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Query parameters of an operation: the same table validates requests and makes the document. */
final class Params {
    record P(String name, String kind, List<String> values, long min, long max, String preset, String text) { }

    static P word(String n, List<String> v, String preset, String t) { return new P(n, "word", v, 0, 0, preset, t); }
    static P list(String n, List<String> v, String t) { return new P(n, "list", v, 0, 0, null, t); }
    static P date(String n, String t) { return new P(n, "date", null, 0, 0, null, t); }
    static P text(String n, int min, int max, String t) { return new P(n, "text", null, min, max, null, t); }
    static P integer(String n, long min, long max, String preset, String t) { return new P(n, "int", null, min, max, preset, t); }
    static P decimal(String n, long min, long max, String t) { return new P(n, "decimal", null, min, max, null, t); }
    static P bool(String n, String t) { return new P(n, "bool", null, 0, 0, null, t); }

    static final P LIMIT = integer("limit", 1, 100, "25", "Items per page at most.");
    static final P CURSOR = text("cursor", 1, 200, "Position of the page: the value in the URL of Link rel=\"next\". It goes with the same filters, order and language; any other value is answered with 400.");
    static final List<P> CALLS = List.of(
        word("status", List.of("PLANNED", "OPEN", "CLOSED"), null, "Only calls with this status now."),
        text("funderId", 1, 40, "Only calls of this funder; none for an unknown funder."),
        list("topic", Seed.TOPICS, "Only calls with at least one of these topics; may be repeated."),
        word("targetGroup", Seed.GROUPS, null, "Only calls for this target group."),
        bool("international", "Only calls that are (true) or are not (false) international."),
        date("deadlineFrom", "Only calls whose deadline (its date in UTC) is this day or later, years 0001 to 9999. Calls without a deadline are left out."),
        date("deadlineTo", "Only calls whose deadline (its date in UTC) is this day or earlier, years 0001 to 9999. Calls without a deadline are left out."),
        decimal("budgetMin", 0, 1_000_000_000L, "Only calls whose budget is at least this many euros; written in digits with at most two decimals."),
        decimal("budgetMax", 0, 1_000_000_000L, "Only calls whose budget is at most this many euros; written in digits with at most two decimals."),
        text("q", 1, 80, "Only calls whose title (in the language of the answer) contains this text; case does not matter, with umlauts too; every character stands for itself."),
        word("sort", List.of("id", "deadline", "-deadline", "budget", "-budget", "title"), "id", "Order; a minus means descending. Titles are compared by Unicode code points. Calls without a deadline come last with deadline and -deadline. Ties go by id, ascending."),
        LIMIT, CURSOR);
    static final List<P> FUNDERS = List.of(word("country", List.of("AT", "CH", "DE"), null, "Only funders of this country."), LIMIT, CURSOR);
    static final List<P> DEADLINES = List.of(date("from", "Only deadlines on this day (UTC) or later, years 0001 to 9999."), date("to", "Only deadlines on this day (UTC) or earlier, years 0001 to 9999."), LIMIT, CURSOR);
    static final List<P> NONE = List.of();

    static Map<String, List<String>> check(HttpRequest<?> request, List<P> table) {
        Map<String, List<String>> given = Web.query(request);
        for (String n : given.keySet()) {
            if (table.stream().noneMatch(p -> p.name().equals(n))) throw new Problem(400, "The query parameter " + n + " is not declared.");
        }
        Map<String, List<String>> r = new LinkedHashMap<>();
        for (P p : table) {
            List<String> v = given.get(p.name());
            if (v == null) {
                if (p.preset() != null) r.put(p.name(), List.of(p.preset()));
                continue;
            }
            if (p.kind().equals("list")) {
                for (String s : v) if (!p.values().contains(s)) bad(p, "one of " + p.values());
                Set<String> set = new LinkedHashSet<>(v);
                r.put(p.name(), List.copyOf(set));
                continue;
            }
            if (v.size() > 1) throw new Problem(400, "The query parameter " + p.name() + " may be given once.");
            String s = v.get(0);
            switch (p.kind()) {
                case "word" -> { if (!p.values().contains(s)) bad(p, "one of " + p.values()); }
                case "bool" -> { if (!s.equals("true") && !s.equals("false")) bad(p, "true or false"); }
                case "int" -> { if (!s.matches("[0-9]{1,9}") || Long.parseLong(s) < p.min() || Long.parseLong(s) > p.max()) bad(p, "an integer from " + p.min() + " to " + p.max()); }
                case "decimal" -> {
                    if (!s.matches("[0-9]{1,12}(\\.[0-9]{1,2})?") || new BigDecimal(s).compareTo(BigDecimal.valueOf(p.max())) > 0) bad(p, "a number from " + p.min() + " to " + p.max() + " with at most two decimals");
                }
                case "date" -> {
                    boolean ok = s.matches("[0-9]{4}-[0-9]{2}-[0-9]{2}") && !s.startsWith("0000");
                    if (ok) {
                        try { LocalDate.parse(s); } catch (DateTimeException e) { ok = false; }
                    }
                    if (!ok) bad(p, "a date such as 2026-11-28, years 0001 to 9999");
                }
                default -> {
                    int n = s.codePointCount(0, s.length());
                    if (n < p.min() || n > p.max()) bad(p, p.min() + " to " + p.max() + " characters of UTF-8");
                }
            }
            r.put(p.name(), List.of(s));
        }
        return r;
    }

    private static void bad(P p, String what) { throw new Problem(400, "The query parameter " + p.name() + " must be " + what + "."); }

    private Params() { }
}
