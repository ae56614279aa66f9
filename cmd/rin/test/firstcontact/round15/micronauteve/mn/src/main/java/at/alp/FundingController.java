package at.alp;

import io.micronaut.data.repository.jpa.criteria.PredicateSpecification;
import io.micronaut.http.HttpHeaders;
import io.micronaut.http.HttpRequest;
import io.micronaut.http.HttpResponse;
import io.micronaut.http.MediaType;
import io.micronaut.http.annotation.Controller;
import io.micronaut.http.annotation.Get;
import io.micronaut.http.annotation.Options;
import io.micronaut.http.annotation.PathVariable;
import io.micronaut.http.annotation.Produces;
import io.micronaut.scheduling.TaskExecutors;
import io.micronaut.scheduling.annotation.ExecuteOn;
import jakarta.persistence.criteria.Predicate;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

@Controller(Web.API)
@ExecuteOn(TaskExecutors.BLOCKING)
class FundingController {
    private final CallRepository calls;
    private final FunderRepository funders;

    FundingController(CallRepository calls, FunderRepository funders) { this.calls = calls; this.funders = funders; }

    // --- calls ----------------------------------------------------------
    @Get("/calls") @Produces(MediaType.ALL)
    HttpResponse<?> list(HttpRequest<?> request) {
        Map<String, List<String>> p = Params.check(request, Params.CALLS);
        String lang = Web.language(request);
        List<CallEntity> hits = new ArrayList<>(calls.findAll(filter(p, lang)));
        hits.sort(order(p.get("sort").get(0), lang));
        return page(request, "/calls", Params.CALLS, p, lang, hits, CallEntity::id, c -> summary(c, lang));
    }

    private PredicateSpecification<CallEntity> filter(Map<String, List<String>> p, String lang) {
        long now = now();
        return (root, cb) -> {
            List<Predicate> l = new ArrayList<>();
            p.forEach((n, v) -> {
                String s = v.get(0);
                switch (n) {
                    case "status" -> {
                        Predicate ended = cb.and(cb.isNotNull(root.get("deadline")), cb.lessThanOrEqualTo(root.<Long>get("deadline"), now));
                        Predicate begun = cb.lessThanOrEqualTo(root.<Long>get("opensAt"), now);
                        l.add(switch (s) {
                            case "PLANNED" -> cb.greaterThan(root.<Long>get("opensAt"), now);
                            case "CLOSED" -> cb.and(begun, ended);
                            default -> cb.and(begun, cb.or(cb.isNull(root.get("deadline")), cb.greaterThan(root.<Long>get("deadline"), now)));
                        });
                    }
                    case "funderId" -> l.add(cb.equal(root.get("funderId"), s));
                    case "topic" -> l.add(cb.or(v.stream().map(t -> cb.like(root.<String>get("topics"), "%," + t + ",%")).toArray(Predicate[]::new)));
                    case "targetGroup" -> l.add(cb.like(root.<String>get("targetGroups"), "%," + s + ",%"));
                    case "international" -> l.add(cb.equal(root.get("international"), Boolean.valueOf(s)));
                    case "deadlineFrom" -> l.add(cb.greaterThanOrEqualTo(root.<String>get("deadlineDay"), s));
                    case "deadlineTo" -> l.add(cb.lessThanOrEqualTo(root.<String>get("deadlineDay"), s));
                    case "budgetMin" -> l.add(cb.greaterThanOrEqualTo(root.<Long>get("budgetCents"), cents(s)));
                    case "budgetMax" -> l.add(cb.lessThanOrEqualTo(root.<Long>get("budgetCents"), cents(s)));
                    case "q" -> l.add(cb.like(root.<String>get(lang.equals("en") ? "searchEn" : "searchDe"),
                        "%" + s.toLowerCase(Variant.is("drau") ? Locale.forLanguageTag("tr") : Locale.ROOT).replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%", '\\'));
                    default -> { }
                }
            });
            return l.isEmpty() ? null : cb.and(l.toArray(Predicate[]::new));
        };
    }

    private static long cents(String s) {
        BigDecimal c = new BigDecimal(s).movePointRight(2);
        return Variant.is("mur") ? c.intValue() : c.longValueExact();
    }

    private static Comparator<CallEntity> order(String sort, String lang) {
        Comparator<CallEntity> id = Comparator.comparing(CallEntity::id);
        return switch (sort) {
            case "deadline" -> Comparator.comparing(CallEntity::deadline, Comparator.nullsLast(Comparator.naturalOrder())).thenComparing(id);
            case "-deadline" -> Comparator.comparing(CallEntity::deadline, Comparator.nullsLast(Comparator.reverseOrder())).thenComparing(id);
            case "budget" -> Comparator.comparing(CallEntity::budgetCents).thenComparing(id);
            case "-budget" -> Variant.is("salzach") ? Comparator.comparing(CallEntity::budgetCents).thenComparing(id).reversed() : Comparator.comparing(CallEntity::budgetCents, Comparator.reverseOrder()).thenComparing(id);
            case "title" -> Comparator.comparing((CallEntity c) -> title(c, lang)).thenComparing(id);
            default -> id;
        };
    }

    @Get("/calls/{id}") @Produces(MediaType.ALL)
    HttpResponse<?> detail(HttpRequest<?> request, @PathVariable String id) {
        Params.check(request, Params.NONE);
        CallEntity c = calls.findById(id).orElseThrow(() -> new Problem(404, "There is no such call."));
        String lang = Web.language(request);
        Map<String, Object> m = summary(c, lang);
        m.put("description", lang.equals("en") ? c.descriptionEn() : c.descriptionDe());
        m.put("deadlines", stages(c));
        long now = now();
        long changed = c.updatedAt();
        if (c.opensAt() <= now) changed = Math.max(changed, c.opensAt());
        if (c.deadline() != null && c.deadline() <= now) changed = Math.max(changed, c.deadline());
        return Web.answer(request, m, lang, changed, List.of());
    }

    static long now() { return Instant.now().getEpochSecond(); }

    static String title(CallEntity c, String lang) { return lang.equals("en") ? c.titleEn() : c.titleDe(); }

    static String status(CallEntity c, long now) {
        if (now < c.opensAt()) return "PLANNED";
        return c.deadline() != null && now >= c.deadline() ? "CLOSED" : "OPEN";
    }

    static List<String> split(String s) { return Arrays.stream(s.split(",")).filter(x -> !x.isEmpty()).toList(); }

    private static List<Map<String, Object>> stages(CallEntity c) {
        List<Map<String, Object>> l = new ArrayList<>();
        if (c.stageOne() != null) l.add(stage("OUTLINE", c.stageOne()));
        if (c.deadline() != null) l.add(stage("FULL", c.deadline()));
        return l;
    }

    private static Map<String, Object> stage(String kind, long at) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("stage", kind);
        m.put("at", Web.iso(at));
        return m;
    }

    private static Map<String, Object> summary(CallEntity c, String lang) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("id", c.id());
        m.put("title", title(c, lang));
        m.put("funderId", c.funderId());
        m.put("status", status(c, now()));
        m.put("topics", split(c.topics()));
        m.put("targetGroups", split(c.targetGroups()));
        m.put("international", c.international());
        m.put("opensAt", Web.iso(c.opensAt()));
        m.put("deadline", Web.iso(c.deadline()));
        Map<String, Object> b = new LinkedHashMap<>();
        b.put("amount", BigDecimal.valueOf(c.budgetCents(), 2));
        b.put("currency", "EUR");
        m.put("budget", b);
        m.put("maxRate", c.maxRate());
        m.put("website", c.website());
        m.put("updatedAt", Web.iso(c.updatedAt()));
        return m;
    }

    // --- funders, deadlines, statistics -----------------------------------
    @Get("/funders") @Produces(MediaType.ALL)
    HttpResponse<?> funderList(HttpRequest<?> request) {
        Map<String, List<String>> p = Params.check(request, Params.FUNDERS);
        String lang = Web.language(request);
        List<FunderEntity> l = new ArrayList<>(funders.findAll());
        if (p.containsKey("country")) l.removeIf(f -> !f.country().equals(p.get("country").get(0)));
        l.sort(Comparator.comparing(FunderEntity::id));
        return page(request, "/funders", Params.FUNDERS, p, lang, l, FunderEntity::id, f -> funder(f, lang));
    }

    @Get("/funders/{id}") @Produces(MediaType.ALL)
    HttpResponse<?> funderDetail(HttpRequest<?> request, @PathVariable String id) {
        Params.check(request, Params.NONE);
        String lang = Web.language(request);
        return Web.answer(request, funder(funders.findById(id).orElseThrow(() -> new Problem(404, "There is no such funder.")), lang), lang, null, List.of());
    }

    private static Map<String, Object> funder(FunderEntity f, String lang) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("id", f.id());
        m.put("name", lang.equals("en") ? f.nameEn() : f.nameDe());
        m.put("acronym", f.acronym());
        m.put("country", f.country());
        return m;
    }

    private record Due(String key, Map<String, Object> value) { }

    @Get("/deadlines") @Produces(MediaType.ALL)
    HttpResponse<?> deadlines(HttpRequest<?> request) {
        Map<String, List<String>> p = Params.check(request, Params.DEADLINES);
        String lang = Web.language(request);
        List<Due> l = new ArrayList<>();
        for (CallEntity c : calls.findAll()) {
            for (Map<String, Object> s : stages(c)) {
                String at = (String) s.get("at"), day = at.substring(0, 10);
                if (p.containsKey("from") && day.compareTo(p.get("from").get(0)) < 0) continue;
                if (p.containsKey("to") && day.compareTo(p.get("to").get(0)) > 0) continue;
                Map<String, Object> m = new LinkedHashMap<>();
                m.put("callId", c.id());
                m.put("title", title(c, lang));
                m.putAll(s);
                l.add(new Due(at + " " + c.id() + " " + s.get("stage"), m));
            }
        }
        l.sort(Comparator.comparing(Due::key));
        return page(request, "/deadlines", Params.DEADLINES, p, lang, l, Due::key, Due::value);
    }

    @Get("/statistics") @Produces(MediaType.ALL)
    HttpResponse<?> statistics(HttpRequest<?> request) {
        Params.check(request, Params.NONE);
        Map<String, Integer> status = new LinkedHashMap<>(), byFunder = new LinkedHashMap<>();
        for (String s : List.of("PLANNED", "OPEN", "CLOSED")) status.put(s, 0);
        List<FunderEntity> fs = new ArrayList<>(funders.findAll());
        fs.sort(Comparator.comparing(FunderEntity::id));
        for (FunderEntity f : fs) byFunder.put(f.id(), 0);
        long sum = 0, now = now();
        List<CallEntity> all = calls.findAll();
        for (CallEntity c : all) {
            status.merge(status(c, now), 1, Integer::sum);
            byFunder.merge(c.funderId(), 1, Integer::sum);
            sum += c.budgetCents();
        }
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("calls", all.size());
        m.put("byStatus", status);
        m.put("byFunder", byFunder.entrySet().stream().map(e -> {
            Map<String, Object> x = new LinkedHashMap<>();
            x.put("funderId", e.getKey());
            x.put("calls", e.getValue());
            return x;
        }).toList());
        m.put("totalBudget", BigDecimal.valueOf(sum, 2));
        return Web.answer(request, m, null, null, List.of());
    }

    @Options(uris = {"/calls", "/calls/{id}", "/funders", "/funders/{id}", "/deadlines", "/statistics"}) @Produces(MediaType.ALL)
    HttpResponse<?> options() { return HttpResponse.noContent().header(HttpHeaders.ALLOW, "GET, HEAD, OPTIONS"); }

    // --- pages ------------------------------------------------------------
    private <T> HttpResponse<?> page(HttpRequest<?> request, String path, List<Params.P> table, Map<String, List<String>> p, String lang, List<T> all, Function<T, String> key, Function<T, ?> view) {
        int limit = Integer.parseInt(p.get("limit").get(0));
        StringBuilder filters = new StringBuilder();
        for (Params.P d : table) {
            if (d.name().equals("limit") || d.name().equals("cursor") || !p.containsKey(d.name())) continue;
            if (Variant.is("enns") && d.name().equals("deadlineTo") && p.containsKey("deadlineFrom")) continue;
            for (String v : p.get(d.name()).stream().sorted().toList()) filters.append('&').append(d.name()).append('=').append(URLEncoder.encode(v, StandardCharsets.UTF_8).replace("+", "%20"));
        }
        String print = Integer.toHexString((path + filters + lang).hashCode());
        int start = 0;
        boolean resumed = false;
        if (p.containsKey("cursor")) {
            Problem bad = new Problem(400, "The cursor is unknown or goes with another query.");
            String after;
            try {
                byte[] raw = Base64.getUrlDecoder().decode(p.get("cursor").get(0));
                if (!Base64.getUrlEncoder().withoutPadding().encodeToString(raw).equals(p.get("cursor").get(0))) throw bad;
                String[] c = new String(raw, StandardCharsets.UTF_8).split("\\|", 2);
                if (c.length != 2 || !c[0].equals(print)) throw bad;
                after = c[1];
                if (Variant.is("kamp") && after.startsWith("+")) {
                    after = after.substring(1);
                    resumed = true;
                }
            } catch (IllegalArgumentException e) {
                throw bad;
            }
            start = -1;
            for (int i = 0; i < all.size(); i++) if (key.apply(all.get(i)).equals(after)) start = i + 1;
            if (start < 0) throw bad;
        }
        int end = Math.min(all.size(), start + limit);
        boolean pause = Variant.is("kamp") && start > 0 && start % 3 != 0 && !resumed && start < all.size();
        if (pause) end = start;
        else if (Variant.is("kamp") && limit > 1) end = Math.min(all.size(), start + Math.max(1, limit - start % 4));
        String base = Web.ROOT + Web.API + path + "?limit=" + limit + filters;
        List<String[]> headers = new ArrayList<>();
        headers.add(new String[] {"X-Total-Count", Integer.toString(all.size())});
        String link = "<" + base + ">; rel=\"first\"";
        if (end < all.size()) {
            String cursor = Base64.getUrlEncoder().withoutPadding().encodeToString((print + "|" + (pause ? "+" : "") + key.apply(all.get(end - 1))).getBytes(StandardCharsets.UTF_8));
            link += ", <" + base + "&cursor=" + cursor + ">; rel=\"next\"";
        }
        headers.add(new String[] {"Link", link});
        return Web.answer(request, all.subList(start, end).stream().map(view).toList(), lang, null, headers);
    }
}
