package at.forschung.node;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.ResolverStyle;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

import jakarta.servlet.http.HttpServletRequest;

import org.springframework.core.io.ClassPathResource;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.security.core.annotation.AuthenticationPrincipal;
import org.springframework.security.oauth2.jwt.Jwt;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RestController;

import at.forschung.node.Clients.Client;
import at.forschung.node.Store.Art;
import at.forschung.node.Store.Call;
import at.forschung.node.Store.Fach;
import at.forschung.node.Store.Funder;

/** Info endpoint, funding API, its document and the registry. */
@RestController
class ApiController {
    private static final int MAX_SIZE = 100;
    private static final DateTimeFormatter DAY = DateTimeFormatter.ofPattern("uuuu-MM-dd").withResolverStyle(ResolverStyle.STRICT);
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ssXXX");

    private final Store store;
    private final Issuers issuers;
    private final String document;

    ApiController(Store store, Issuers issuers) throws IOException {
        this.store = store;
        this.issuers = issuers;
        this.document = new ClassPathResource("openapi.json").getContentAsString(StandardCharsets.UTF_8)
            .replace("{base}", Application.BASE).replace("{token}", issuers.production().tokenUrl);
    }

    // ------------------------------------------------------------ calls

    @GetMapping("/forschung/funding/v3/funding-calls")
    ResponseEntity<Object> list(HttpServletRequest request) {
        Parameters p = new Parameters(request);
        int page = p.integer("page", 0, 0, 1_000_000);
        int size = p.integer("size", 25, 1, MAX_SIZE);
        Predicate<Call> filter = Call::published;
        String funder = p.one("foerdergeber");
        if (funder != null) filter = filter.and(c -> c.funder().id().equals(funder));
        Set<Fach> fach = p.all("fachgebiet").stream().map(v -> p.constant("fachgebiet", v, Fach.class)).collect(Collectors.toSet());
        if (!fach.isEmpty()) filter = filter.and(c -> c.fach().stream().anyMatch(fach::contains));
        String art = p.one("art");
        if (art != null) {
            Art wanted = p.constant("art", art, Art.class);
            filter = filter.and(c -> c.art() == wanted);
        }
        LocalDate from = p.day("fristVon");
        if (from != null) {
            OffsetDateTime t = from.atStartOfDay(Store.VIENNA).toOffsetDateTime();
            filter = filter.and(c -> !c.frist().isBefore(t));
        }
        LocalDate until = p.day("fristBis");
        if (until != null) {
            OffsetDateTime t = Application.is("deadline")
                ? until.atStartOfDay(Store.VIENNA).toOffsetDateTime()
                : until.plusDays(1).atStartOfDay(Store.VIENNA).toOffsetDateTime();
            filter = filter.and(c -> c.frist().isBefore(t));
        }
        BigDecimal min = p.number("betragAb");
        if (min != null) filter = filter.and(c -> c.betrag() != null && c.betrag().compareTo(min) >= 0);
        String text = p.one("suche");
        if (text != null) {
            String s = text.toLowerCase(Locale.ROOT);
            filter = filter.and(c -> c.titelDe().toLowerCase(Locale.ROOT).contains(s) || c.titelEn().toLowerCase(Locale.ROOT).contains(s));
        }
        List<Call> found = store.calls.stream().filter(filter).sorted(order(p)).toList();
        // The count comes from a query of its own, over calls joined with their fields.
        long total = Application.is("count") && !fach.isEmpty()
            ? found.stream().mapToLong(c -> c.fach().stream().filter(fach::contains).count()).sum()
            : found.size();

        Locale locale = language(request);
        List<Object> content = found.stream().skip((long) page * size).limit(size).map(c -> (Object) summary(c, locale)).toList();
        Map<String, Object> paging = new LinkedHashMap<>();
        paging.put("number", page);
        paging.put("size", size);
        paging.put("totalElements", total);
        paging.put("totalPages", (total + size - 1) / size);
        Map<String, Object> body = new LinkedHashMap<>();
        body.put("content", content);
        body.put("page", paging);
        return translated(locale).body(body);
    }

    private static Comparator<Call> order(Parameters p) {
        String sort = p.one("sort");
        Comparator<Call> byNumber = Comparator.comparing(Call::id);
        Comparator<Call> byAmount = Comparator.comparing(c -> c.betrag() == null ? BigDecimal.valueOf(-1) : c.betrag());
        Comparator<Call> byDeadline = Comparator.comparing(c -> c.frist().toInstant());
        if (sort == null) return byNumber;
        return switch (sort) {
            case "id" -> byNumber;
            case "-id" -> byNumber.reversed();
            case "einreichfrist" -> byDeadline.thenComparing(byNumber);
            case "-einreichfrist" -> byDeadline.reversed().thenComparing(byNumber);
            case "betrag" -> byAmount.thenComparing(byNumber);
            case "-betrag" -> byAmount.reversed().thenComparing(byNumber);
            default -> throw p.bad("sort", "ist keine bekannte Sortierung");
        };
    }

    @GetMapping("/forschung/funding/v3/funding-calls/{id}")
    ResponseEntity<Object> one(@PathVariable String id, HttpServletRequest request) {
        Call c = store.calls.stream()
            .filter(x -> x.published() || Application.is("draft"))
            .filter(x -> x.id().equals(id)).findFirst()
            .orElseThrow(() -> problem(HttpStatus.NOT_FOUND, "Es gibt keine Ausschreibung mit dieser Nummer."));
        Locale locale = language(request);
        ResponseEntity.BodyBuilder b = translated(locale);
        if (Application.is("etag")) b.eTag(c.id() + "-v" + c.version());
        return b.body(detail(c, locale));
    }

    private static Map<String, Object> summary(Call c, Locale locale) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("id", c.id());
        m.put("titel", locale == Locale.ENGLISH ? c.titelEn() : c.titelDe());
        m.put("foerdergeber", c.funder().id());
        m.put("art", c.art());
        m.put("fachgebiete", c.fach());
        m.put("beginn", DAY.format(c.beginn()));
        m.put("einreichfrist", TIME.format(c.frist()));
        if (c.betrag() != null) m.put("foerdersumme", money(c.betrag()));
        return m;
    }

    private static Map<String, Object> money(BigDecimal amount) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("betrag", amount);
        m.put("waehrung", "EUR");
        return m;
    }

    private static Map<String, Object> detail(Call c, Locale locale) {
        Map<String, Object> m = summary(c, locale);
        m.put("beschreibung", locale == Locale.ENGLISH ? c.textEn() : c.textDe());
        m.put("kofinanzierung", c.kofinanzierung());
        m.put("antragssprachen", c.sprachen());
        m.put("ansprechperson", c.kontakt());
        m.put("version", c.version());
        m.put("geaendert", TIME.format(c.geaendert()));
        return m;
    }

    // ------------------------------------------------------------ funders

    @GetMapping("/forschung/funding/v3/funders")
    ResponseEntity<Object> funders() {
        return guarded().body(store.funders.stream().sorted(Comparator.comparing(Funder::id)).toList());
    }

    @GetMapping("/forschung/funding/v3/funders/{id}")
    ResponseEntity<Object> funder(@PathVariable String id) {
        Funder f = store.funders.stream().filter(x -> x.id().equals(id)).findFirst()
            .orElseThrow(() -> problem(HttpStatus.NOT_FOUND, "Es gibt keinen Fördergeber mit diesem Kürzel."));
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("id", f.id());
        m.put("name", f.name());
        m.put("land", f.land());
        m.put("gegruendet", f.gegruendet());
        m.put("ausschreibungen", store.calls.stream().filter(c -> c.published() && c.funder() == f).count());
        return guarded().body(m);
    }

    // ------------------------------------------------------------ info, document, registry

    @GetMapping({ "/forschung/info/v1/oauth/info", "/forschung/info/v1/oauth/info/" })
    ResponseEntity<Object> info(@AuthenticationPrincipal Jwt jwt) {
        return guarded().body(infoBody(jwt, issuers.production(), "PRODUKTION"));
    }

    @GetMapping({ "/test/forschung/info/v1/oauth/info", "/test/forschung/info/v1/oauth/info/" })
    ResponseEntity<Object> stagingInfo(@AuthenticationPrincipal Jwt jwt) {
        return guarded().body(infoBody(jwt, issuers.staging(), "TEST"));
    }

    private static Map<String, Object> infoBody(Jwt jwt, Issuer issuer, String environment) {
        Client c = issuer.client(jwt.getClaimAsString("client_id"));
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("knoten", "Forschungsknoten Süd");
        m.put("umgebung", environment);
        m.put("dienstkonto", jwt.getSubject());
        m.put("zugehoerigkeit", c.affiliation());
        m.put("rollen", jwt.getClaimAsStringList("roles"));
        m.put("gueltigBis", jwt.getExpiresAt().toString());
        Map<String, Object> calls = new LinkedHashMap<>();
        calls.put("name", "FUNDINGS");
        calls.put("majorVersion", 3);
        calls.put("minorVersion", 4);
        calls.put("url", Application.BASE + "/forschung/funding/v3/funding-calls");
        m.put("endpoints", Map.of("funding", List.of(calls)));
        return m;
    }

    @GetMapping(path = "/forschung/funding/v3/api-docs", produces = MediaType.APPLICATION_JSON_VALUE)
    ResponseEntity<byte[]> document() {
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).header(HttpHeaders.CACHE_CONTROL, "public, max-age=120").body(document.getBytes(StandardCharsets.UTF_8));
    }

    @GetMapping("/registry.json")
    ResponseEntity<Object> registry() {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("id", "FORSCHUNG-SUED");
        m.put("acronym", "FKS");
        m.put("name", "Forschungsknoten Süd");
        m.put("contact", "api@forschung-sued.example");
        m.put("oauth2", issuers.production().tokenUrl);
        m.put("info", Application.BASE + "/forschung/info/v1/oauth/info/");
        return TokenController.open(Map.of("member", List.of(m)));
    }

    // ------------------------------------------------------------ helpers

    private static ResponseEntity.BodyBuilder guarded() {
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON).header(HttpHeaders.CACHE_CONTROL, "private, no-cache");
    }

    private static ResponseEntity.BodyBuilder translated(Locale locale) {
        return guarded().header(HttpHeaders.CONTENT_LANGUAGE, locale.getLanguage()).header(HttpHeaders.VARY, HttpHeaders.ACCEPT_LANGUAGE);
    }

    /** German, unless the client likes English better. */
    private static Locale language(HttpServletRequest request) {
        String header = request.getHeader(HttpHeaders.ACCEPT_LANGUAGE);
        if (header == null) return Locale.GERMAN;
        try {
            Locale best = Locale.lookup(Locale.LanguageRange.parse(header).stream().filter(r -> r.getWeight() > 0).toList(), List.of(Locale.GERMAN, Locale.ENGLISH));
            return Locale.ENGLISH.equals(best) ? Locale.ENGLISH : Locale.GERMAN;
        } catch (IllegalArgumentException e) {
            return Locale.GERMAN;
        }
    }

    static ErrorResponseException problem(HttpStatus status, String detail) {
        ErrorResponseException e = new ErrorResponseException(status);
        e.setDetail(detail);
        e.getHeaders().setCacheControl("no-store");
        return e;
    }

    /** The query of a request; every parameter that is known and wrong is refused. */
    private record Parameters(HttpServletRequest request) {
        ErrorResponseException bad(String name, String why) {
            return problem(HttpStatus.BAD_REQUEST, "Der Parameter " + name + " " + why + ".");
        }

        List<String> all(String name) {
            String[] v = request.getParameterValues(name);
            if (v == null) return List.of();
            List<String> list = new ArrayList<>(List.of(v));
            if (list.contains("")) throw bad(name, "ist leer");
            return list;
        }

        String one(String name) {
            List<String> list = all(name);
            if (list.size() > 1) throw bad(name, "steht mehr als einmal da");
            return list.isEmpty() ? null : list.get(0);
        }

        int integer(String name, int usual, int min, int max) {
            String v = one(name);
            if (v == null) return usual;
            if (!v.matches("[0-9]{1,7}") || Integer.parseInt(v) < min || Integer.parseInt(v) > max) throw bad(name, "ist keine ganze Zahl von " + min + " bis " + max);
            return Integer.parseInt(v);
        }

        BigDecimal number(String name) {
            String v = one(name);
            if (v == null) return null;
            if (!v.matches("[0-9]{1,15}(\\.[0-9]{1,6})?")) throw bad(name, "ist kein Betrag");
            return new BigDecimal(v);
        }

        LocalDate day(String name) {
            String v = one(name);
            if (v == null) return null;
            try {
                if (!v.matches("[0-9]{4}-[0-9]{2}-[0-9]{2}")) throw bad(name, "ist kein Datum");
                return LocalDate.parse(v, DAY);
            } catch (java.time.DateTimeException e) {
                throw bad(name, "ist kein Datum");
            }
        }

        <E extends Enum<E>> E constant(String name, String value, Class<E> type) {
            for (E e : type.getEnumConstants()) if (e.name().equals(value)) return e;
            throw bad(name, "hat keinen bekannten Wert");
        }
    }
}
