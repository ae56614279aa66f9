package requirement

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
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
			Source:   NET("R15").And(OAS("Responses Object", "responses-object")),
			Quote:    definedByDocument,
			Probe:    "Status and Content-Type of each answer of the operations against the responses of the document, default, 2XX and */* included; on good answers the described header fields: required ones are there, values fit; the bodies of errors.",
			Forgives: "Parameters of the media type; */* as springdoc writes it; client errors that are not described, errors of another media type or with another body where no error has the described one, and header fields that are missing or do not fit in all answers, since proxies change them (warnings); a 5xx, which API-01 and PAG-09 judge.",
			Fix:      "Describe the status and media type that are sent, or send those that are described. Spring: produces = \"application/json\" on the mapping, @ApiResponse for the statuses.",
			Breaks:   "Answers are JSON text with Content-Type: text/html.",
			Reads:    []evidence.Label{evidence.EveryOperation.With(evidence.OK), evidence.WholeRun},
			After:    []ID{"TOK-01", "SPC-01", "SPC-03"}, Check: requireCalls("API-02", answersDocumented),
		},
		row("API-03", "Top-level JSON type matches the schema",
			"Each answer of the operations: JSON in UTF-8, encoded once, without repeated members, array or object, against the schema of its status.",
			"An array where the network's published documents declare one object for a list: their mistake (a warning). Operations without a schema, or whose schema is behind a $ref that leads nowhere, are left out.",
			"Send the array or object that the document declares. Clients of the network read anything but an array as an empty list.",
			"The list is wrapped into {\"data\": […]} while an array is declared.",
			OAS("Media Type Object", "media-type-object"), topLevelType),
		row("API-04", "Required properties are present",
			"Every item of every answer, against the required lists of the document, the subtype of a discriminator included.",
			"Further members; values of the discriminator that the mapping does not have.",
			"Send the member in each item, or take it out of required. A null does not replace a value: see API-05. Jackson: check @JsonInclude(NON_NULL) on members that the document requires.",
			"The id is missing in every third item.",
			schema, requiredPresent),
		row("API-05", "Values have the declared JSON types",
			"Every item of every answer, against type, nullable, bounds and patterns of the document.",
			"5 for a number and 5.0 for an integer; undeclared members; formats other than date, date-time, uuid, int32 and int64 (a warning).",
			"Send what is declared, or correct the document: nullable: true for members that may be null, an array where several values are sent. Leave optional members out instead of null.",
			"fullyFunded is the text \"true\".",
			schema, typesMatch),
		row("API-06", "Enumerated values come from the vocabulary",
			"Every item of every answer, against the enums of the document.",
			"The right spelling where the network's published documents have a wrong one (a warning).",
			"Send a value of the enum in its exact spelling, or add the new value to the document.",
			"An item has the type BANANA.",
			schema, vocabularyKept),
		row("API-07", "Dates follow the declared format",
			"Every item of every answer: members with format date or date-time, by RFC 3339; no date of a record is the zero of a library, 0001-01-01.",
			"Fractions of a second, any offset, lower-case t and z.",
			"Write date-time as 2026-12-31T23:59:59Z, with an offset, and date as 2026-12-31; or declare the format that is sent. Jackson: disable WRITE_DATES_AS_TIMESTAMPS and use OffsetDateTime, not LocalDateTime.",
			"A date is sent as 31.12.2026.",
			RFC(3339, "5.6"), datesFormatted),
	}
}

// answersDocumented judges status, media type, error bodies and header fields. A wrong header field is mostly a warning, because proxies drop and
// change them.
func answersDocumented(e Evidence) Judgement {
	return gather(statusDocumented(e), errorsDocumented(e), errorBodiesKept(e), headersKept(e))
}

// errorsDocumented looks for errors that are a web page or plain text where the document describes JSON. They fail only if the node answers other
// errors as described. The document of a node that never does was not written for it, which is a warning.
func errorsDocumented(e Evidence) Judgement {
	var others []Subject
	kept, what := false, "" // what names the form of the first of others
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
			kept = kept || jsonMedia(mediaType(x)) && !slices.ContainsFunc(findings.Findings, func(f evidence.Finding) bool { return f.Kind == evidence.FindingStatus })
		case (isHTML(x) || text) && strings.Contains(findings.Findings[other].Expected, "json") && !asBrowser && !answeredInFront(x) && !beforeRouting(x) && !isOddValue(x):
			if what == "" && text {
				what = "plain text"
			} else if what == "" {
				what = "a web page"
			}
			f := findings.Findings[other]
			others = append(others, Subject{Name: findingName(resourceName(e, x.Label.Resource()), x, f), Label: x.Label, Expected: clip(f.Expected), Got: clip(f.Got)})
		}
	}
	if !kept || len(others) == 0 {
		return Missing("no described error is a web page or plain text")
	}
	return Failed("an error of "+others[0].Name+" is "+what+", and other errors are the JSON that the document describes", others[0].Expected, others[0].Got).About(others...).bounded()
}

// errorBodiesKept looks for errors whose body lacks a member that the document requires, or has it in another type. As in [errorsDocumented], they
// fail only if the node answers other errors as described.
func errorBodiesKept(e Evidence) Judgement {
	var broken []Subject
	kept := false
	for _, x := range operationAnswers(e) {
		findings, ok := e.FindingsOf(x.Label)
		if !ok || !findings.Judged || !clientError(x) || x.Request.Method != "GET" || answeredInFront(x) || beforeRouting(x) || isOddValue(x) {
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
			kept = true
		case isApplicationError(x) || isUnknownTextID(e, x) || x.Label.Case() == "unknown-id":
			f := findings.Findings[wrong]
			broken = append(broken, Subject{Name: findingName(resourceName(e, x.Label.Resource()), x, f), Label: x.Label, Expected: clip(f.Expected), Got: clip(f.Got)})
		}
	}
	if !kept || len(broken) == 0 {
		return Missing("no described error has another body than the document says")
	}
	return Failed("an error of "+broken[0].Name+" is not the one that the document describes, and other errors are", broken[0].Expected, broken[0].Got).About(broken...).bounded()
}

// unsteadyHeaders finds described header fields that are right in some good answers of an operation and wrong in others, which no proxy causes. It
// ignores fields that validate or describe the content, because compression changes them, and Link, which not every page has.
func unsteadyHeaders(e Evidence) (Judgement, bool) {
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

func headersKept(e Evidence) Judgement {
	warnOnHeaders := func(f evidence.Finding) Outcome {
		if f.Kind == evidence.FindingHeader {
			return Warn
		}
		return ""
	}
	found := severity(warnOnHeaders).collect(e)
	if len(found.warned) == 0 {
		return Missing("no described header field differs")
	}
	if j, unsteady := unsteadyHeaders(e); unsteady {
		return j
	}
	first := found.warned[0]
	return Warned("a described header field is missing or not as described: "+first.Name, first.Expected, first.Got).
		Hinting("send the field with each good answer, or take required out of the document; a proxy may drop it: nginx proxy_hide_header, gzip and ETag").
		About(found.warned...).bounded()
}

func statusDocumented(e Evidence) Judgement {
	found := failOn(evidence.FindingStatus, evidence.FindingMediaType).collect(e)
	found.undecided = nil // status and media type are compared without the schema
	found.warned = slices.DeleteFunc(found.warned, func(s Subject) bool {
		// A 5xx needs a fix, not a description; nobody describes the refusal of a URI that RFC 3986 forbids; and a refusal for load may come at any time.
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

func topLevelType(e Evidence) Judgement {
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
		if !asGoodClient(x) && (lacksGoodToken(x) || x.Status() == 206) {
			continue // BRR and API-08 judge calls without a good token, and a part of a content is not JSON
		}
		if j, bad := notJSON(e, x); bad && asGoodClient(x) {
			unreadable = append(unreadable, j)
		} else if j, bad := otherEncoding(e, x); bad {
			unreadable = append(unreadable, j)
		} else if j, bad := ambiguous(e, x); bad {
			unreadable = append(unreadable, j)
		}
	}
	unreadable = distinct(unreadable)
	j := failOn(evidence.FindingTopLevel).collect(e).judge(e, "the JSON type is not the declared one")
	if len(unreadable) == 0 {
		return j
	}
	return gather(append(unreadable, j)...)
}

// topLevelFits reports whether API-03 passes for the operations that were called. If not, it returns the judgement that follows.
func (e Evidence) topLevelFits() (Judgement, bool) {
	j, ok := e.passes("API-03")
	if open, _ := uncalledOperations(e); !ok && len(open) > 0 && (e.judge("API-03").Outcome == Inconclusive || e.judge("API-03").Outcome == Blocked) {
		seen := topLevelType(e)
		return seen, seen.Outcome == Pass || seen.Outcome == Warn
	}
	return j, ok
}

// asGoodClient reports whether a call has a good token and is one that clients of the network make.
func asGoodClient(x evidence.Exchange) bool {
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

// notJSON finds a good answer that is not JSON although the document declares JSON with a schema.
func notJSON(e Evidence, x evidence.Exchange) (Judgement, bool) {
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

func requiredPresent(e Evidence) Judgement {
	return judgeMembers(e, failOn(evidence.FindingRequired), "required members are missing")
}

func typesMatch(e Evidence) Judgement {
	return judgeMembers(e, func(f evidence.Finding) Outcome {
		switch {
		case f.Kind == evidence.FindingType, f.Kind == evidence.FindingOther:
			return Fail
		case f.Kind != evidence.FindingFormat, isDate(f):
			return ""
		case containsWord(f.Expected, "uuid"), containsWord(f.Expected, "int32"), containsWord(f.Expected, "int64"):
			return Fail
		}
		return Warn // other formats have too many readings to fail a node
	}, "values do not have the declared type")
}

func vocabularyKept(e Evidence) Judgement {
	return judgeMembers(e, failOn(evidence.FindingEnum), "values are not in the vocabulary")
}

func datesFormatted(e Evidence) Judgement {
	j := judgeMembers(e, func(f evidence.Finding) Outcome {
		if f.Kind == evidence.FindingFormat && isDate(f) {
			return Fail
		}
		return ""
	}, "dates do not have the declared format")
	if j.Outcome == Blocked {
		return j
	}
	return gather(j, zeroTimes(e))
}

// zeroTimes finds dates that are the zero value of a library: they have no value, and look like a date of the year 1.
func zeroTimes(e Evidence) Judgement {
	var s survey
	for _, x := range operationAnswers(e) {
		if !success(x) || !asGoodClient(x) || !jsonMedia(mediaType(x)) {
			continue
		}
		if at := bytes.Index(x.Response.Body, []byte(`"0001-01-01`)); at >= 0 {
			got, _, _ := strings.Cut(string(x.Response.Body[at+1:min(at+40, len(x.Response.Body))]), `"`)
			s.add(string(x.Label.Resource()), expect(x, "a date, or none where there is none").failed("a date of "+resourceName(e, x.Label.Resource())+" is the zero of a library and not one of the record", quote(got)).
				Hinting("leave the member out, or send null where the document allows it: Go: a pointer, or omitzero; .NET: DateTime?"))
		}
	}
	if len(s.faults) == 0 {
		return Missing("no date is the zero of a library")
	}
	return s.judge()
}

// isDate reports whether a format finding is about date or date-time.
func isDate(f evidence.Finding) bool {
	return containsWord(f.Expected, "date") || containsWord(f.Expected, "date-time")
}

// containsWord reports whether a text contains the word.
func containsWord(text, word string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t,;:()\"'`", r) }), word)
}

// judgeMembers judges the members of items, if the top level fits.
func judgeMembers(e Evidence, c severity, what string) Judgement {
	if j, ok := e.topLevelFits(); !ok {
		return j
	}
	return c.collect(e).judge(e, what)
}

// severity returns the outcome of a schema finding for one requirement: Fail, Warn, or "" for the findings of other requirements.
type severity func(f evidence.Finding) Outcome

// failOn returns a severity that fails findings of these kinds.
func failOn(kinds ...evidence.FindingKind) severity {
	return func(f evidence.Finding) Outcome {
		if slices.Contains(kinds, f.Kind) {
			return Fail
		}
		return ""
	}
}

// schemaFaults holds the findings of a run for one requirement.
type schemaFaults struct {
	failed, warned []Subject
	errata         []Subject       // faults of the network's published document
	items, judged  int             // top-level items and answers that were compared
	faulty         map[string]bool // items with a failure, by label and index
	cut            bool            // some lists of findings were cut
	uncompared     []string        // why answers were not compared
	undecided      []Subject       // answers whose schema was too expensive to apply
	seen           map[place]bool
	headers        []string // differing header fields, which are only notes
}

// place identifies a finding without the query of the call, so that calls with other queries do not repeat it.
type place struct {
	where, expected, got string
	fails                bool
}

// collect sorts the findings of all answers. Faults of answers other than 2xx, which have no data, are warnings.
func (c severity) collect(e Evidence) schemaFaults {
	out := schemaFaults{faulty: map[string]bool{}, seen: map[place]bool{}}
	item := regexp.MustCompile(`^\$\[\d+\]`)
	for _, x := range operationAnswers(e) {
		findings, ok := e.FindingsOf(x.Label)
		if !ok || redirected(x) {
			continue // API-01 judges redirects
		}
		name := resourceName(e, x.Label.Resource())
		if o, known := operation(e, x.Label.Resource()); findings.Judged && known && success(x) && len(findings.Findings) == 0 && e.saysNothing(o) {
			findings.Judged, findings.Why = false, "its schema allows any answer"
		}
		if !findings.Judged {
			reason := name + ": " + clip(findings.Why)
			switch {
			case !success(x):
			case findings.Undecided:
				out.undecided = append(out.undecided, Subject{Name: name, Label: x.Label, Expected: "an answer that can be compared", Got: clip(findings.Why)})
			case !slices.Contains(out.uncompared, reason):
				out.uncompared = append(out.uncompared, reason)
			}
		} else if success(x) { // a refusal has no data
			out.judged++
			out.items += max(findings.Items, 1)
		}
		for _, f := range findings.Findings {
			outcome := c(f)
			if f.Kind == evidence.FindingHeader && !success(x) {
				continue // other requirements judge the header fields of refusals
			}
			if strings.HasPrefix(f.Path, "header") && f.Kind != evidence.FindingHeader { // in older evidence
				if note := fmt.Sprintf("%s %s: expected %s, got %s", name, clip(f.Path), clip(f.Expected), clip(f.Got)); outcome != "" && !slices.Contains(out.headers, note) {
					out.headers = append(out.headers, note)
				}
				continue
			}
			s := Subject{Name: findingName(name, x, f), Label: x.Label, Expected: clip(f.Expected), Got: clip(f.Got)}
			if f.Kind == evidence.FindingStatus {
				s.Expected = "a status that is described: " + s.Expected
			}
			fails := outcome == Fail && f.Erratum == "" && success(x)
			if fails {
				out.faulty[string(x.Label)+item.FindString(f.Path)] = true
				out.cut = out.cut || findings.Total > len(findings.Findings)
			}
			again := place{name + " " + f.Path, s.Expected, s.Got, fails}
			if outcome == "" || out.seen[again] {
				continue
			}
			out.seen[again] = true
			switch {
			case f.Erratum != "":
				s.Expected += " (" + f.Erratum + ")"
				out.errata = append(out.errata, s)
			case fails:
				out.failed = append(out.failed, s)
			default:
				out.warned = append(out.warned, s)
			}
		}
	}
	return out
}

// findingName names the place of a finding, and what was special about the call. Status and media type concern the whole answer.
func findingName(operation string, x evidence.Exchange, f evidence.Finding) string {
	name := operation
	if manner := mannerOf(x); manner != "" {
		name += ", " + manner
	}
	if f.Kind == evidence.FindingStatus || f.Kind == evidence.FindingMediaType {
		return clip(name)
	}
	return clip(name + " " + f.Path)
}

// judge makes the judgement; what names the fault: "required members are missing".
func (f schemaFaults) judge(e Evidence, what string) Judgement {
	var j Judgement
	switch {
	case len(f.failed) > 0:
		j = Failed(what+" in "+f.share(), f.failed[0].Expected, f.failed[0].Got).About(f.failed...)
	case len(f.undecided) > 0: // otherwise a schema that nobody can apply would earn a certificate
		j = Unclear("an answer could not be compared with its schema: " + f.undecided[0].Got).
			Hinting("make the schema simpler: fewer members, fewer alternatives within alternatives (allOf, anyOf, oneOf); a smaller answer may help, too").Blaming(NodeDocument).About(f.undecided...)
	case f.judged == 0 && len(f.warned)+len(f.errata) == 0:
		return f.nothingCompared(e)
	case len(f.warned) > 0:
		j = Warned("the answers differ from the document, which does not cost the certificate: "+f.warned[0].Name, f.warned[0].Expected, f.warned[0].Got).About(f.warned...).About(f.errata...)
	case len(f.errata) > 0:
		j = Warned("the network's published document is wrong here, not the data", f.errata[0].Expected, f.errata[0].Got).
			Hinting("fix the network's document, or serve a corrected copy of it").Blaming(NetworkDocument).About(f.errata...)
	default:
		j = Passed()
	}
	for _, reason := range f.uncompared {
		j = j.Noting("not compared: " + reason)
	}
	return j.Noting(f.headers[:min(len(f.headers), maxSubjects)]...).bounded()
}

// share says how many items are faulty.
func (f schemaFaults) share() string {
	least := ""
	if f.cut {
		least = "at least "
	}
	return fmt.Sprintf("%s%d of %s", least, len(f.faulty), evidence.Count(max(f.items, len(f.faulty)), "item"))
}

// nothingCompared returns the judgement if no answer could be compared.
func (f schemaFaults) nothingCompared(e Evidence) Judgement {
	if e.Document != nil && len(e.Document.Invalid) > 0 {
		return Unclear("the schemas of the document cannot be used because of its faults: " + clip(e.Document.Invalid[0])).
			Hinting("correct the structure of the document, then repeat the run").Blaming(NodeDocument).Seen(documentLabel(e))
	}
	if len(f.uncompared) > 0 {
		return Missing("no answer could be compared with a schema: " + strings.Join(f.uncompared[:min(len(f.uncompared), 3)], "; "))
	}
	return Missing("no answer of an operation could be compared with a schema")
}
