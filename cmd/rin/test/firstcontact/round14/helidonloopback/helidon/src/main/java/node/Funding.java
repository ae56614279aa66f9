package node;

import io.helidon.common.http.Http;
import io.helidon.webserver.*;
import jakarta.json.*;
import java.math.BigDecimal;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.*;
import java.util.*;
import java.util.stream.Collectors;

/** The funding API, version 3. */
final class Funding implements Service {
    private static final String CACHE = "private, no-cache";
    private static final String[] LIST = {"page", "pageSize", "type", "region", "funder", "closesFrom", "closesTo", "minAmount", "q", "sort"};
    private static final List<String> SORTS = List.of("id", "-id", "closes", "-closes", "amount", "-amount");
    private final Auth auth;

    Funding(Auth auth) {
        this.auth = auth;
    }

    @Override
    public void update(Routing.Rules rules) {
        read(rules, "/api-docs", this::document);
        rules.any(this::guard);
        read(rules, "/calls", this::list);
        read(rules, "/calls/{+id}", this::detail);
        read(rules, "/funders", this::funders);
        read(rules, "/funders/{+id}", this::funder);
        read(rules, "/deadlines", this::deadlines);
    }

    static void read(Routing.Rules rules, String path, Handler handler) {
        rules.get(path, handler).head(path, handler).any(path, (req, res) -> {
            throw new Web.Problem(405, "method-not-allowed", "Only GET and HEAD are possible here.").header("Allow", "GET, HEAD");
        });
    }

    private void guard(ServerRequest req, ServerResponse res) {
        if (Main.NODE.equals("helidon-erle") && !req.uri().getRawPath().startsWith("/uh/funding/v3")) {
            req.next();
            return;
        }
        Auth.require(auth.authenticate(req), "funding.read", Auth.ROLE);
        req.next();
    }

    private void document(ServerRequest req, ServerResponse res) {
        Web.negotiate(req, Web.JSON);
        Web.sendCacheable(req, res, Web.JSON, Main.resource("api-docs.json"), null, null, "public, max-age=60");
    }

    // ---- calls

    private void list(ServerRequest req, ServerResponse res) {
        Map<String, String> query = Web.query(req, LIST);
        int page = integer(query, "page", 1, 1, 10_000);
        int size = integer(query, "pageSize", 20, 1, 50);
        List<Data.Call> found = filter(query);
        String type = Web.negotiate(req, Web.JSON, Web.CSV);
        int pages = (found.size() + size - 1) / size;
        int from = Math.min(found.size(), (page - 1) * size);
        List<Data.Call> shown = found.subList(from, Math.min(found.size(), from + size));

        Map<String, String> links = new LinkedHashMap<>();
        links.put("self", address(query, page, size));
        links.put("first", address(query, 1, size));
        links.put("last", address(query, Math.max(1, pages), size));
        if (page > 1) {
            links.put("prev", address(query, Math.max(1, Math.min(page - 1, pages)), size));
        }
        if (page < pages) {
            links.put("next", address(query, page + 1, size));
        }
        res.headers().put("Link", links.entrySet().stream().map(l -> "<" + l.getValue() + ">; rel=\"" + l.getKey() + "\"").collect(Collectors.joining(", ")));
        res.headers().put("Vary", "Accept, Authorization");

        JsonObjectBuilder json = Json.createObjectBuilder().add("page", page).add("pageSize", size).add("totalItems", found.size()).add("totalPages", pages);
        JsonArrayBuilder items = Json.createArrayBuilder();
        shown.forEach(c -> items.add(json(c, false)));
        JsonObjectBuilder l = Json.createObjectBuilder();
        links.forEach(l::add);
        byte[] body = Web.bytes(json.add("items", items).add("links", l).build());
        if (type.equals(Web.CSV)) {
            Web.sendCacheable(req, res, type, csv(shown), Main.NODE.equals("helidon-lavant") ? new String(body, StandardCharsets.UTF_8) : null, null, CACHE);
        } else {
            Web.sendCacheable(req, res, type, body, null, null, CACHE);
        }
    }

    private List<Data.Call> filter(Map<String, String> query) {
        String type = one(query, "type", Data.TYPES);
        String region = one(query, "region", Data.REGIONS);
        String sort = one(query, "sort", SORTS);
        String funder = text(query, "funder", 40);
        String words = text(query, "q", 60);
        LocalDate closesFrom = date(query, "closesFrom");
        LocalDate closesTo = date(query, "closesTo");
        BigDecimal minAmount = amount(query, "minAmount");
        String needle = words == null ? null : words.toLowerCase(Locale.ROOT);
        List<Data.Call> found = new ArrayList<>();
        for (Data.Call c : Data.CALLS.values()) {
            if ((type == null || c.type().equals(type))
                && (region == null || c.regions().contains(region))
                && (funder == null || c.funder().id().equals(funder))
                && (closesFrom == null || c.closes() != null && !c.closes().isBefore(closesFrom))
                && (closesTo == null || c.closes() != null && !c.closes().isAfter(closesTo))
                && (minAmount == null || c.amount() != null && c.amount().compareTo(minAmount) >= 0)
                && (needle == null || c.titleDe().toLowerCase(Locale.ROOT).contains(needle)
                    || c.titleEn().toLowerCase(Locale.ROOT).contains(needle))) {
                found.add(c);
            }
        }
        Comparator<Data.Call> byId = Comparator.comparing(Data.Call::id);
        Comparator<LocalDate> dates = Comparator.naturalOrder();
        Comparator<BigDecimal> amounts = Comparator.naturalOrder();
        Comparator<Data.Call> order = switch (sort == null ? "id" : sort) {
            case "-id" -> byId.reversed();
            case "closes" -> Comparator.comparing(Data.Call::closes, Comparator.nullsLast(dates));
            case "-closes" -> Comparator.comparing(Data.Call::closes, Comparator.nullsLast(dates.reversed()));
            case "amount" -> Comparator.comparing(Data.Call::amount, Comparator.nullsLast(amounts));
            case "-amount" -> Comparator.comparing(Data.Call::amount, Comparator.nullsLast(amounts.reversed()));
            default -> byId;
        };
        if (Main.NODE.equals("helidon-eibe")) {
            Collections.shuffle(found); // the store promises no order
            found.sort(order);
        } else {
            found.sort(order.thenComparing(byId));
        }
        return found;
    }

    private void detail(ServerRequest req, ServerResponse res) {
        Web.query(req);
        Data.Call call = Data.CALLS.get(lastSegment(req));
        if (call == null) {
            throw new Web.Problem(404, "not-found", "There is no such call.");
        }
        Web.negotiate(req, Web.JSON);
        res.headers().put("Vary", "Accept, Authorization");
        Web.sendCacheable(req, res, Web.JSON, Web.bytes(json(call, true).build()), null, call.modified(), CACHE);
    }

    /** The id as it was sent: the router has decoded %2F already. */
    private static String lastSegment(ServerRequest req) {
        String[] raw = req.uri().normalize().getRawPath().substring(1).split("/");
        String decoded = raw.length == 5 ? Web.decode(raw[4], false) : null;
        return decoded == null ? "" : decoded;
    }

    private static JsonObjectBuilder json(Data.Call c, boolean full) {
        JsonObjectBuilder b = Json.createObjectBuilder().add("id", c.id()).add("type", c.type())
            .add("title", Json.createObjectBuilder().add("de", c.titleDe()).add("en", c.titleEn()))
            .add("funder", Json.createObjectBuilder().add("id", c.funder().id()).add("name", c.funder().name()))
            .add("regions", Json.createArrayBuilder(c.regions()))
            .add("targetGroups", Json.createArrayBuilder(c.targetGroups()))
            .add("opens", c.opens().toString());
        if (c.closes() == null) {
            b.add("closes", JsonValue.NULL);
        } else {
            b.add("closes", c.closes().toString());
        }
        if (c.amount() != null) {
            b.add("budget", Json.createObjectBuilder().add("amount", c.amount()).add("currency", c.currency()));
        }
        b.add("modified", c.modified().toString());
        if (full) {
            b.add("summary", c.summary()).add("subjects", Json.createArrayBuilder(c.subjects())).add("website", c.website());
        }
        return b;
    }

    private static byte[] csv(List<Data.Call> calls) {
        StringBuilder out = new StringBuilder("id,type,title_de,title_en,funder,regions,opens,closes,amount,currency,summary\r\n");
        for (Data.Call c : calls) {
            out.append(String.join(",", List.of(cell(c.id()), c.type(), cell(c.titleDe()), cell(c.titleEn()), cell(c.funder().id()),
                String.join(" ", c.regions()), c.opens().toString(), c.closes() == null ? "" : c.closes().toString(),
                c.amount() == null ? "" : c.amount().toPlainString(), c.amount() == null ? "" : c.currency(), cell(c.summary())))).append("\r\n");
        }
        return out.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String cell(String text) {
        boolean quote = text.contains(",") || text.contains("\"");
        if (!Main.NODE.equals("helidon-hallein")) {
            quote |= text.contains("\r") || text.contains("\n");
        }
        return quote ? "\"" + text.replace("\"", "\"\"") + "\"" : text;
    }

    // ---- funders and deadlines

    private void funders(ServerRequest req, ServerResponse res) {
        Web.query(req);
        Web.negotiate(req, Web.JSON);
        JsonArrayBuilder items = Json.createArrayBuilder();
        Data.FUNDERS.values().stream().sorted(Comparator.comparing(Data.Funder::id)).forEach(f -> items.add(json(f)));
        res.headers().put("Vary", "Accept, Authorization");
        Web.sendCacheable(req, res, Web.JSON, Web.bytes(Json.createObjectBuilder().add("items", items).build()), null, null, CACHE);
    }

    private void funder(ServerRequest req, ServerResponse res) {
        Web.query(req);
        Data.Funder f = Data.FUNDERS.get(lastSegment(req));
        if (f == null) {
            throw new Web.Problem(404, "not-found", "There is no such funder.");
        }
        Web.negotiate(req, Web.JSON);
        res.headers().put("Vary", "Accept, Authorization");
        Web.sendCacheable(req, res, Web.JSON, Web.bytes(json(f)), null, null, CACHE);
    }

    private static JsonObject json(Data.Funder f) {
        long calls = Data.CALLS.values().stream().filter(c -> c.funder() == f).count();
        return Json.createObjectBuilder().add("id", f.id()).add("name", f.name()).add("country", f.country()).add("calls", calls).build();
    }

    private void deadlines(ServerRequest req, ServerResponse res) {
        Map<String, String> query = Web.query(req, "month");
        String month = query.get("month");
        if (month == null || !month.matches("\\d{4}-(0[1-9]|1[0-2])")) {
            throw Web.badParameter("month", "The parameter is needed and has the form YYYY-MM.");
        }
        Web.negotiate(req, Web.JSON);
        Map<LocalDate, List<String>> days = new TreeMap<>();
        for (Data.Call c : Data.CALLS.values()) {
            if (c.closes() != null && YearMonth.from(c.closes()).equals(YearMonth.parse(month))) {
                days.computeIfAbsent(c.closes(), d -> new ArrayList<>()).add(c.id());
            }
        }
        JsonArrayBuilder items = Json.createArrayBuilder();
        days.forEach((day, ids) -> items.add(Json.createObjectBuilder().add("date", day.toString()).add("calls", Json.createArrayBuilder(ids))));
        res.headers().put("Vary", "Accept, Authorization");
        Web.sendCacheable(req, res, Web.JSON, Web.bytes(Json.createObjectBuilder().add("month", month).add("days", items).build()), null, null, CACHE);
    }

    // ---- parameters

    private static String address(Map<String, String> query, int page, int size) {
        StringBuilder out = new StringBuilder(Main.NODE.equals("helidon-zeder") ? "" : Main.BASE + "/uh/funding/v3/calls");
        out.append("?page=").append(page).append("&pageSize=").append(size);
        for (String name : LIST) {
            if (query.containsKey(name) && !name.startsWith("page")) {
                out.append('&').append(name).append('=').append(URLEncoder.encode(query.get(name), StandardCharsets.UTF_8).replace("+", "%20"));
            }
        }
        return out.toString();
    }

    private static int integer(Map<String, String> query, String name, int preset, int min, int max) {
        String value = query.get(name);
        if (value == null) {
            return preset;
        }
        if (!value.matches("0|[1-9][0-9]{0,8}") || Integer.parseInt(value) < min || Integer.parseInt(value) > max) {
            throw Web.badParameter(name, "The parameter must be an integer from " + min + " to " + max + ".");
        }
        return Integer.parseInt(value);
    }

    private static String one(Map<String, String> query, String name, List<String> allowed) {
        String value = query.get(name);
        if (value != null && !allowed.contains(value)) {
            throw Web.badParameter(name, "The parameter must be one of " + String.join(", ", allowed) + ".");
        }
        return value;
    }

    private static String text(Map<String, String> query, String name, int max) {
        String value = query.get(name);
        if (value != null && (value.isEmpty() || value.codePointCount(0, value.length()) > max)) {
            throw Web.badParameter(name, "The parameter must have 1 to " + max + " characters.");
        }
        return value;
    }

    private static LocalDate date(Map<String, String> query, String name) {
        String value = query.get(name);
        try {
            if (value != null && !value.matches("[0-9]{4}-[0-9]{2}-[0-9]{2}")) {
                throw new DateTimeException("form");
            }
            return value == null ? null : LocalDate.parse(value);
        } catch (DateTimeException e) {
            throw Web.badParameter(name, "The parameter must be a date of the form YYYY-MM-DD.");
        }
    }

    private static BigDecimal amount(Map<String, String> query, String name) {
        String value = query.get(name);
        if (value == null) {
            return null;
        }
        if (value.length() <= 40 && value.matches("-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][+-]?[0-9]{1,4})?")) {
            BigDecimal number = new BigDecimal(value);
            if (number.signum() >= 0 && number.compareTo(new BigDecimal("1000000000000")) <= 0) {
                return number;
            }
        }
        throw Web.badParameter(name, "The parameter must be a number from 0 to 1000000000000.");
    }
}
