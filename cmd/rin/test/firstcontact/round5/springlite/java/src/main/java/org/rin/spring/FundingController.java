package org.rin.spring;

import com.fasterxml.jackson.annotation.JsonFormat;
import jakarta.validation.constraints.DecimalMin;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Pattern;
import jakarta.validation.constraints.Size;
import java.math.BigDecimal;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.rin.spring.Calls.Call;
import org.rin.spring.Calls.FunderRef;
import org.rin.spring.Calls.Money;
import org.rin.spring.Calls.Status;
import org.rin.spring.Calls.Text;
import org.springframework.core.io.ClassPathResource;
import org.springframework.format.annotation.DateTimeFormat;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.util.StreamUtils;
import org.springframework.validation.annotation.Validated;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

@RestController
@RequestMapping(path = "/ris/funding/v3", produces = MediaType.APPLICATION_JSON_VALUE)
public class FundingController {

    public record CallItem(long id, Text title, Status status, FunderRef funder, LocalDate opens, LocalDate deadline,
                           Money budget, Integer maxDurationMonths, List<String> keywords,
                           @JsonFormat(pattern = "yyyy-MM-dd'T'HH:mm:ssXXX") OffsetDateTime updatedAt, URI self) {}

    public record CallDetail(long id, Text title, Text summary, Status status, FunderRef funder, LocalDate opens,
                             LocalDate deadline, Money budget, Integer maxDurationMonths, List<String> keywords,
                             @JsonFormat(pattern = "yyyy-MM-dd'T'HH:mm:ssXXX") OffsetDateTime updatedAt, URI self,
                             URI website, String contactEmail, int documentCount) {}

    public record PageInfo(int number, int size, int totalElements, int totalPages) {}

    public record CallPage(List<CallItem> content, PageInfo page) {}

    public record FunderItem(String code, String name, String country, long callCount) {}

    public record Statistics(int total, Map<Status, Long> byStatus, Map<String, BigDecimal> budgetByCurrency) {}

    private static final Comparator<Call> BY_ID = Comparator.comparingLong(Call::id);
    private static final Map<String, Comparator<Call>> ORDERS = Map.of(
            "id,asc", BY_ID,
            "id,desc", BY_ID.reversed(),
            "deadline,asc", Comparator.comparing(Call::deadline).thenComparing(BY_ID),
            "deadline,desc", Comparator.comparing(Call::deadline).reversed().thenComparing(BY_ID),
            "title,asc", Comparator.comparing((Call c) -> c.title().en()).thenComparing(BY_ID),
            "title,desc", Comparator.comparing((Call c) -> c.title().en()).reversed().thenComparing(BY_ID));

    private final NodeProperties node;
    private final Calls calls;
    private final String openapi;

    FundingController(NodeProperties node, Calls calls) throws java.io.IOException {
        this.node = node;
        this.calls = calls;
        this.openapi = StreamUtils.copyToString(new ClassPathResource("openapi.json").getInputStream(),
                StandardCharsets.UTF_8).replace("@ORIGIN@", node.origin());
    }

    @GetMapping("/api-docs")
    ResponseEntity<String> apiDocs() {
        return ResponseEntity.ok().contentType(MediaType.APPLICATION_JSON)
                .header(HttpHeaders.CACHE_CONTROL, "public, max-age=300").body(openapi);
    }

    @GetMapping("/calls")
    ResponseEntity<CallPage> list(
            @RequestParam(defaultValue = "0") @Min(0) @Max(100000) int page,
            @RequestParam(defaultValue = "20") @Min(1) @Max(50) int size,
            @RequestParam(defaultValue = "id,asc") @Pattern(regexp = "(id|deadline|title),(asc|desc)") String sort,
            @RequestParam(required = false) @Pattern(regexp = "UPCOMING|OPEN|CLOSED") String status,
            @RequestParam(required = false) @Pattern(regexp = "[A-Z]{3}") String funder,
            @RequestParam(required = false) @DecimalMin("0") BigDecimal minBudget,
            @RequestParam(required = false) @DateTimeFormat(iso = DateTimeFormat.ISO.DATE) LocalDate openOn,
            @RequestParam(required = false) @Size(min = 2, max = 100) String q) {
        Predicate<Call> filter = c -> true;
        if (status != null) {
            filter = filter.and(c -> c.status(calls.today).name().equals(status));
        }
        if (funder != null) {
            filter = filter.and(c -> c.funder().code().equals(funder));
        }
        if (minBudget != null) {
            filter = filter.and(c -> c.budget().amount().compareTo(minBudget) >= 0);
        }
        if (openOn != null) {
            filter = filter.and(c -> c.status(openOn) == Status.OPEN);
        }
        if (q != null) {
            String needle = q.toLowerCase();
            filter = filter.and(c -> c.title().de().toLowerCase().contains(needle)
                    || c.title().en().toLowerCase().contains(needle));
        }
        List<Call> found = new ArrayList<>(calls.published().stream().filter(filter).toList());
        Comparator<Call> order = ORDERS.get(sort);
        found.sort(node.is("spring-sort-in-page") ? BY_ID : order);
        int total = found.size();
        int from = (int) Math.min((long) page * size, total);
        List<Call> slice = new ArrayList<>(found.subList(from, Math.min(from + size, total)));
        if (node.is("spring-sort-in-page")) {
            slice.sort(order);
        }
        return cached(ResponseEntity.ok()).body(new CallPage(slice.stream().map(this::item).toList(),
                new PageInfo(page, size, total, (total + size - 1) / size)));
    }

    @GetMapping("/calls/{id}")
    ResponseEntity<CallDetail> detail(@PathVariable @Pattern(regexp = "[1-9][0-9]{0,17}") String id,
            @RequestHeader(name = HttpHeaders.IF_NONE_MATCH, required = false) String ifNoneMatch) {
        Call c = find(id);
        CallItem i = item(c);
        LocalDate deadline = node.is("spring-date-shift") ? viennaMidnightAsUtcDate(c.deadline()) : c.deadline();
        CallDetail body = new CallDetail(i.id, i.title, c.summary(), i.status, i.funder, i.opens, deadline, i.budget,
                i.maxDurationMonths, i.keywords, i.updatedAt, i.self, URI.create(c.website()), c.contactEmail(),
                c.documents().size());
        String etag = "W/\"" + c.id() + "-" + c.updatedAt().toEpochSecond() + "-" + i.status.ordinal() + "\"";
        if ("*".equals(ifNoneMatch)) {
            return cached(ResponseEntity.status(HttpStatus.NOT_MODIFIED)).eTag(etag).build();
        }
        return cached(ResponseEntity.ok()).eTag(etag).body(body);
    }

    private static LocalDate viennaMidnightAsUtcDate(LocalDate day) {
        return day.atStartOfDay(java.time.ZoneId.of("Europe/Vienna")).toInstant()
                .atOffset(java.time.ZoneOffset.UTC).toLocalDate();
    }

    @GetMapping("/calls/{id}/documents")
    ResponseEntity<List<Calls.Document>> documents(@PathVariable @Pattern(regexp = "[1-9][0-9]{0,17}") String id) {
        return cached(ResponseEntity.ok()).body(find(id).documents());
    }

    @GetMapping("/funders")
    ResponseEntity<List<FunderItem>> funders() {
        return cached(ResponseEntity.ok()).body(calls.funders().stream().map(f -> new FunderItem(f.code(), f.name(),
                f.country(), calls.published().stream().filter(c -> c.funder().equals(f)).count())).toList());
    }

    @GetMapping("/statistics")
    ResponseEntity<Statistics> statistics() {
        Map<Status, Long> byStatus = new LinkedHashMap<>();
        Map<String, BigDecimal> budget = new LinkedHashMap<>();
        for (Status s : Status.values()) {
            byStatus.put(s, calls.published().stream().filter(c -> c.status(calls.today) == s).count());
        }
        calls.published().forEach(c -> budget.merge(c.budget().currency(), c.budget().amount(), BigDecimal::add));
        return cached(ResponseEntity.ok()).body(new Statistics(calls.published().size(), byStatus, budget));
    }

    private Call find(String id) {
        return calls.find(Long.parseLong(id), node.is("spring-drafts-readable"))
                .orElseThrow(() -> new ResponseStatusException(HttpStatus.NOT_FOUND, "There is no such call."));
    }

    private CallItem item(Call c) {
        return new CallItem(c.id(), c.title(), c.status(calls.today), new FunderRef(c.funder().code(),
                c.funder().name()), c.opens(), c.deadline(), c.budget(), c.maxDurationMonths(), c.keywords(),
                c.updatedAt(), URI.create("/ris/funding/v3/calls/" + c.id()));
    }

    private ResponseEntity.BodyBuilder cached(ResponseEntity.BodyBuilder builder) {
        return builder.header(HttpHeaders.CACHE_CONTROL,
                node.is("spring-public-cache") ? "public, max-age=600" : "private, no-cache");
    }
}
