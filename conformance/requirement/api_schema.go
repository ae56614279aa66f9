package requirement

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// schemas returns API-02 to API-07, which compare the answers with the document.
func schemas() []Requirement {
	row := func(id ID, title, probe, forgives, fix, breaks string, source Source, check func(Evidence) Judgement) Requirement {
		return Requirement{
			ID: id, Title: title, Level: Network, Gate: Gating, Profile: API,
			Source: NET("R15").And(source), Quote: definedByDocument,
			Probe: probe, Forgives: forgives, Fix: fix, Breaks: breaks,
			Reads: []evidence.Label{evidence.EveryOperation.With(evidence.OK), evidence.WholeRun},
			After: []ID{"TOK-01", "SPC-01", "SPC-03"}, Check: requireCalls(id, check),
		}
	}
	schema := OAS("Schema Object", "schema-object")
	return []Requirement{
		{
			ID: "API-02", Title: "Status, media type and header fields of the answer are as documented",
			Level: Network, Gate: Gating, Profile: API,
			Source:   NET("R15").And(OAS("Responses Object", "responses-object")).And(RFC(4180, "2")),
			Quote:    definedByDocument,
			Probe:    "Status and Content-Type of each answer of the operations against the responses of the document, default, 2XX and */* included; on good answers the described header fields: required ones are there, values fit; the bodies of errors; the media type of the data for a call with ranges and weights in Accept, such as a browser's. If the document describes text/csv, a large page of the list as CSV, which must be CSV: the same number of fields in each record, and fields with commas, quotes and line breaks in quotes. Its numbers are those of the same page as JSON, and so are its records, if it has their ids.",
			Forgives: "Parameters of the media type; */* as springdoc writes it; HTML for a call that accepts it; as warnings, client errors that are not described, errors of another media type or with another body if no error is as described, and header fields that are missing or wrong in all answers, since proxies change them; a 5xx, which API-01 and PAG-09 judge; CSV that is described and not offered, a byte order mark, semicolons or tabs as separators, line feeds alone, empty lines, numbers in a notation that the document describes.",
			Fix:      "Describe the status and media type that are sent, or send those that are described. Spring: produces = \"application/json\" on the mapping, @ApiResponse for the statuses.",
			Breaks:   "Answers are JSON text with Content-Type: text/html.",
			Reads:    []evidence.Label{evidence.EveryOperation.With(evidence.OK), evidence.WholeRun},
			After:    []ID{"TOK-01", "SPC-01", "SPC-03"}, Check: requireCalls("API-02", judgeDocumentedAnswers),
		},
		row("API-03", "Top-level JSON type matches the schema",
			"Each answer of the operations: it is JSON in UTF-8, encoded once, without repeated members; an array or an object, as the schema of its status says.",
			"An array where the network's published documents declare one object for a list: their mistake (a warning). Operations without a schema, or whose schema is behind a $ref that leads nowhere, are left out.",
			"Send the array or object that the document declares. Clients of the network read anything but an array as an empty list.",
			"The list is wrapped into {\"data\": […]} while an array is declared.",
			OAS("Media Type Object", "media-type-object"), judgeTopLevelType),
		row("API-04", "Required properties are present",
			"Every item of every answer, against the required lists of the document, the subtype of a discriminator included.",
			"Further members; values of the discriminator that the mapping does not have.",
			"Send the member in each item, or take it out of required. A null does not replace a value: see API-05. Jackson: check @JsonInclude(NON_NULL) on members that the document requires.",
			"The id is missing in every third item.",
			schema, judgeRequiredMembers),
		row("API-05", "Values have the declared JSON types",
			"Every item of every answer, against type, nullable, bounds and patterns of the document.",
			"5 for a number and 5.0 for an integer; undeclared members; formats other than date, date-time, uuid, int32 and int64 (a warning).",
			"Send what is declared, or correct the document: nullable: true for members that may be null, an array where several values are sent. Leave optional members out instead of null.",
			"fullyFunded is the text \"true\".",
			schema, judgeTypes),
		row("API-06", "Enumerated values come from the vocabulary",
			"Every item of every answer, against the enums of the document.",
			"The right spelling where the network's published documents have a wrong one (a warning).",
			"Send a value of the enum in its exact spelling, or add the new value to the document.",
			"An item has the type BANANA.",
			schema, judgeVocabulary),
		row("API-07", "Dates follow the declared format",
			"Every item of every answer: members with format date or date-time, by RFC 3339; no date of a record is the zero value of a library, 0001-01-01 with a time (without one, a warning).",
			"Fractions of a second, any offset, lower-case t and z.",
			"Write date-time as 2026-12-31T23:59:59Z, with an offset, and date as 2026-12-31; or declare the format that is sent. Jackson: disable WRITE_DATES_AS_TIMESTAMPS and use OffsetDateTime, not LocalDateTime.",
			"A date is sent as 31.12.2026.",
			RFC(3339, "5.6"), judgeDateFormats),
	}
}

// judgeDocumentedAnswers judges status, media type, error bodies, header fields and tables. A wrong header field is mostly a warning, because proxies drop
// and change them.
func judgeDocumentedAnswers(e Evidence) Judgement {
	return gather(judgeStatusAndMediaType(e), judgeErrorMediaTypes(e), judgeErrorBodies(e), judgeDescribedHeaders(e), judgeTables(e), judgeChosenMediaTypes(e))
}

// judgeErrorMediaTypes looks for errors that are a web page or plain text where the document describes JSON. They are a failure only if the node answers
// other errors as described. If it never does, the document was probably not written for its errors, and [judgeStatusAndMediaType] only warns.
func judgeErrorMediaTypes(e Evidence) Judgement {
	var others []Subject
	someAsDescribed, form := false, "" // form describes the first of others
	for _, x := range operationAnswers(e) {
		findings, ok := e.FindingsOf(x.Label)
		if !ok || !clientError(x) || x.Request.Method != "GET" || len(x.Response.Body) == 0 {
			continue
		}
		other := slices.IndexFunc(findings.Findings, func(f evidence.Finding) bool { return f.Kind == evidence.FindingMediaType })
		asBrowser := strings.Contains(strings.Join(evidence.Values(x.Request.Header, "Accept"), ","), "text/html")
		text := mediaType(x) == "text/plain" && (isApplicationError(x) || isUnknownTextID(e, x))
		switch {
		case other < 0:
			someAsDescribed = someAsDescribed || jsonMedia(mediaType(x)) && !slices.ContainsFunc(findings.Findings, func(f evidence.Finding) bool { return f.Kind == evidence.FindingStatus })
		case asBrowser || answeredInFront(x) || mayFailBeforeRouting(x) || isOddValue(x):
		case (isHTML(x) || text) && strings.Contains(findings.Findings[other].Expected, "json"):
			switch {
			case form != "":
			case text:
				form = "plain text"
			default:
				form = "a web page"
			}
			f := findings.Findings[other]
			others = append(others, Subject{Name: findingName(resourceName(e, x.Label.Resource()), x, f), Label: x.Label, Expected: clip(f.Expected), Got: clip(f.Got)})
		}
	}
	if !someAsDescribed || len(others) == 0 {
		return Inapplicable("no described error is a web page or plain text")
	}
	return Failed("an error of "+others[0].Name+" is "+form+", and other errors are the JSON that the document describes", others[0].Expected, others[0].Got).About(others...).bounded()
}

// judgeErrorBodies looks for errors whose body lacks a member that the document requires, or has it in another type. As in [judgeErrorMediaTypes], they are
// a failure only if the node answers other errors as described.
func judgeErrorBodies(e Evidence) Judgement {
	var broken []Subject
	someAsDescribed := false
	for _, x := range operationAnswers(e) {
		findings, ok := e.FindingsOf(x.Label)
		if !ok || !findings.Judged || !clientError(x) || x.Request.Method != "GET" || answeredInFront(x) || mayFailBeforeRouting(x) || isOddValue(x) {
			continue
		}
		undescribed := slices.ContainsFunc(findings.Findings, func(f evidence.Finding) bool {
			return f.Kind == evidence.FindingMediaType || f.Kind == evidence.FindingStatus
		})
		wrong := slices.IndexFunc(findings.Findings, func(f evidence.Finding) bool {
			return f.Erratum == "" && slices.Contains([]evidence.FindingKind{evidence.FindingRequired, evidence.FindingType, evidence.FindingEnum, evidence.FindingTopLevel}, f.Kind)
		})
		switch {
		case undescribed:
		case wrong < 0:
			someAsDescribed = true
		case isApplicationError(x) || isUnknownTextID(e, x) || x.Label.Case() == "unknown-id":
			f := findings.Findings[wrong]
			broken = append(broken, Subject{Name: findingName(resourceName(e, x.Label.Resource()), x, f), Label: x.Label, Expected: clip(f.Expected), Got: clip(f.Got)})
		}
	}
	if !someAsDescribed || len(broken) == 0 {
		return Inapplicable("no described error has another body than the document says")
	}
	return Failed("the body of an error of "+broken[0].Name+" differs from the document, and the bodies of other errors are as described", broken[0].Expected, broken[0].Got).About(broken...).bounded()
}

// findUnsteadyHeaders finds described header fields that are right in some good answers of an operation and wrong in others, which no proxy causes. It
// ignores fields that validate or describe the content, because compression changes them, and Link, which not every page has.
func findUnsteadyHeaders(e Evidence) (j Judgement, found bool) {
	name := regexp.MustCompile(`^header[ :]"?([A-Za-z0-9-]+)"?$`)
	ignored := regexp.MustCompile(`(?i)^(etag|last-modified|content-.*|cache-control|vary|age|link|expires|(x-)?rate-?limit.*|retry-after)$`)
	type field struct {
		resource evidence.Resource
		status   int
		name     string
	}
	wrong, order := map[field]Subject{}, []field{}
	good := map[field]bool{}
	answers := operationAnswers(e)
	headerFindings := func(x evidence.Exchange) map[string]evidence.Finding {
		out := map[string]evidence.Finding{}
		findings, _ := e.FindingsOf(x.Label)
		for _, f := range findings.Findings {
			if m := name.FindStringSubmatch(f.Path); m != nil && f.Kind == evidence.FindingHeader && !ignored.MatchString(m[1]) {
				out[strings.ToLower(m[1])] = f
			}
		}
		return out
	}
	for _, x := range answers {
		if !success(x) || x.Request.Method != "GET" || answeredInFront(x) {
			continue
		}
		for at, f := range headerFindings(x) {
			key := field{x.Label.Resource(), x.Status(), at}
			if _, known := wrong[key]; !known {
				wrong[key] = Subject{Name: findingName(resourceName(e, x.Label.Resource()), x, f), Label: x.Label, Expected: clip(f.Expected), Got: clip(f.Got)}
				order = append(order, key)
			}
		}
	}
	for _, x := range answers {
		if _, compared := e.FindingsOf(x.Label); !compared || !success(x) || x.Request.Method != "GET" {
			continue
		}
		found := headerFindings(x)
		for _, key := range order {
			if _, differs := found[key.name]; !differs && key.resource == x.Label.Resource() && key.status == x.Status() && len(header(x, key.name)) > 0 {
				good[key] = true
			}
		}
	}
	var faults []Subject
	for _, key := range order {
		if good[key] {
			faults = append(faults, wrong[key])
		}
	}
	if len(faults) == 0 {
		return Judgement{}, false
	}
	slices.SortFunc(faults, func(a, b Subject) int { return strings.Compare(a.Name, b.Name) })
	return Failed("a described header field is missing or wrong in some good answers, and as described in others: "+faults[0].Name, faults[0].Expected, faults[0].Got).
		Hinting("send the field with each good answer of the operation: with filters, on later pages and on empty ones, too").About(faults...).bounded(), true
}

// isApplicationError reports whether the application itself, not the router or a gateway before it, made the error: it refused a value, or no record
// has the id.
func isApplicationError(x evidence.Exchange) bool {
	if x.Given["in"] == "path" {
		return false
	}
	return x.Status() == 400 || x.Status() == 422 || x.Status() == 404 && x.Label.Case() == "unknown-id"
}

// isUnknownTextID reports whether a plain word in place of an id was answered 404, and the document declares the id as text. Then the route fits, and
// only the record is missing.
func isUnknownTextID(e Evidence, x evidence.Exchange) bool {
	o, _ := operation(e, x.Label.Resource())
	plain := strings.Trim(strings.ToLower(x.Given["value"]), "abcdefghijklmnopqrstuvwxyz0123456789-") == "" && len(x.Given["value"]) <= 64
	return x.Status() == 404 && x.Given["in"] == "path" && plain && slices.ContainsFunc(o.Parameters, func(p openapi.Parameter) bool {
		return p.In == "path" && p.Name == x.Given["parameter"] && p.Schema.Type == "string"
	})
}

// judgeDescribedHeaders judges the described header fields of good answers.
func judgeDescribedHeaders(e Evidence) Judgement {
	warnOnHeaders := func(f evidence.Finding) Outcome {
		if f.Kind == evidence.FindingHeader {
			return Warn
		}
		return ""
	}
	found := severity(warnOnHeaders).collect(e)
	if len(found.warned) == 0 {
		return Inapplicable("no described header field differs")
	}
	if j, unsteady := findUnsteadyHeaders(e); unsteady {
		return j
	}
	first := found.warned[0]
	return Warned("a described header field is missing or not as described: "+first.Name, first.Expected, first.Got).
		Hinting("send the field with each good answer, or take required out of the document; a proxy may drop it: nginx proxy_hide_header, gzip and ETag").
		About(found.warned...).bounded()
}

// judgeStatusAndMediaType judges whether the document describes the status and the media type of each answer.
func judgeStatusAndMediaType(e Evidence) Judgement {
	found := failOn(evidence.FindingStatus, evidence.FindingMediaType).collect(e)
	found.undecided = nil // status and media type are compared without the schema
	found.warned = slices.DeleteFunc(found.warned, func(s Subject) bool {
		// A 5xx needs a fix, not a description; nobody describes the refusal of a URI that RFC 3986 forbids; and a refusal because of load may come at any time.
		x := e.exchange(s.Label)
		return serverError(x) || rateLimited(x) || s.Label.Case() == "size-raw"
	})
	j := found.judge(e, "an answer is not described")
	switch {
	case j.Outcome == NotApplicable && len(found.uncompared) > 0:
		return Passed() // status and media type were compared, only a schema was missing
	case j.Outcome == Fail:
		j.Reason = found.failed[0].Name + " is answered in a way that the document does not describe"
	case j.Outcome == Warn && len(found.warned) > 0:
		j.Reason = "an error answer of " + found.warned[0].Name + " is not described: " + found.warned[0].Got
		j = j.Hinting("describe the status and media type of error answers in the document: 400, 401, 403, 404").Blaming(NodeDocument)
	}
	return j
}

// judgeTopLevelType is the check of API-03.
func judgeTopLevelType(e Evidence) Judgement {
	if list := e.Roles.List; list != "" {
		if x, ok := e.Get(list.With(evidence.OK)); !ok || !success(x) {
			if cause, failed := e.failedCall(list); failed {
				return cause
			}
			return Judgement{Outcome: Blocked, BlockedBy: "API-01", Reason: "the list operation gave no answer to compare"}
		}
	}
	var unreadable []Judgement
	for _, x := range operationAnswers(e) {
		if !isOrdinaryCall(x) && (lacksGoodToken(x) || x.Status() == 206) {
			continue // BRR and API-08 judge calls without a good token, and the part of a body in a 206 is not JSON
		}
		if j, bad := findNonJSON(e, x); bad && isOrdinaryCall(x) {
			unreadable = append(unreadable, j)
		} else if j, bad := findOtherEncoding(e, x); bad {
			unreadable = append(unreadable, j)
		} else if j, bad := findAmbiguity(e, x); bad {
			unreadable = append(unreadable, j)
		}
	}
	unreadable = withoutRepeats(unreadable)
	j := failOn(evidence.FindingTopLevel).collect(e).judge(e, "the JSON type is not the declared one")
	if len(unreadable) == 0 {
		return j
	}
	return gather(append(unreadable, j)...)
}

// topLevelFits reports whether API-03 passes for the operations that were called. If not, it returns the judgement that follows.
func (e Evidence) topLevelFits() (j Judgement, ok bool) {
	j, ok = e.passes("API-03")
	if open, _ := uncalledOperations(e); !ok && len(open) > 0 && (e.judge("API-03").Outcome == Inconclusive || e.judge("API-03").Outcome == Blocked) {
		seen := judgeTopLevelType(e)
		return seen, seen.Outcome == Pass || seen.Outcome == Warn
	}
	return j, ok
}

// isOrdinaryCall reports whether a call has a good token and is one that clients of the network make.
func isOrdinaryCall(x evidence.Exchange) bool {
	switch c := x.Label.Case(); c {
	case evidence.OK, "size-2", "filter-seen", "filter-other", "item-first", "item-middle", "item-last":
		return true
	default:
		_, ok := trialOf(x)
		return ok || isPagingCase(c)
	}
}

// isPagingCase reports whether a case calls pages, filters or links.
func isPagingCase(c evidence.Case) bool {
	switch c {
	case "beyond-end", "link-next", evidence.SecondWalk.List(), evidence.ThirdWalk.List():
		return true
	case "filter-bad":
		return false
	}
	return slices.ContainsFunc([]string{"walk-", "filter-", "bound-", "moment-", "search-"}, func(group string) bool { return strings.HasPrefix(string(c), group) })
}

// findNonJSON finds a good answer that is not JSON although the document declares JSON with a schema.
func findNonJSON(e Evidence, x evidence.Exchange) (j Judgement, found bool) {
	if f, compared := e.FindingsOf(x.Label); compared && f.Judged {
		return Judgement{}, false
	}
	if !success(x) || x.Status() == 204 || x.Status() == 205 || x.Request.Method == "HEAD" || x.Response.Truncated {
		return Judgement{}, false
	}
	o, ok := operation(e, x.Label.Resource())
	_, r, described := o.Success()
	if other, declared := r.Content[mediaType(x)]; declared && other.Declared && !jsonMedia(mediaType(x)) {
		return Judgement{}, false // the document declares this media type as well
	}
	if !ok || !described || !declaresJSON(r.Content) {
		return Judgement{}, false
	}
	if own, has := o.Responses[strconv.Itoa(x.Status())]; has && len(own.Content) == 0 && len(x.Response.Body) == 0 {
		return Judgement{}, false // the document describes this status without content
	}
	_, err := e.jsonText(x)
	if err == nil {
		return Judgement{}, false
	}
	return Failed(operationName(o)+" is declared as JSON, but "+clip(err.Error()), "JSON as declared", describe(x)).
		About(Subject{Name: operationName(o), Label: x.Label, Expected: "JSON", Got: describe(x)}), true
}

// declaresJSON reports whether one of the media types is JSON with a schema that can be followed.
func declaresJSON(content map[string]openapi.Schema) bool {
	for media, schema := range content {
		media, _, _ = strings.Cut(strings.ToLower(media), ";")
		if schema.Declared && schema.Dangling == "" && (jsonMedia(strings.TrimSpace(media)) || media == "*/*" || media == "application/*") {
			return true
		}
	}
	return false
}
