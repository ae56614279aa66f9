package requirement

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// judgeRequiredMembers is the check of API-04.
func judgeRequiredMembers(e Evidence) Judgement {
	return judgeMembers(e, failOn(evidence.FindingRequired), "required members are missing")
}

// judgeTypes is the check of API-05.
func judgeTypes(e Evidence) Judgement {
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

// judgeVocabulary is the check of API-06.
func judgeVocabulary(e Evidence) Judgement {
	return judgeMembers(e, failOn(evidence.FindingEnum), "values are not in the vocabulary")
}

// judgeDateFormats is the check of API-07.
func judgeDateFormats(e Evidence) Judgement {
	j := judgeMembers(e, func(f evidence.Finding) Outcome {
		if f.Kind == evidence.FindingFormat && isDate(f) {
			return Fail
		}
		return ""
	}, "dates do not have the declared format")
	if j.Outcome == Blocked {
		return j
	}
	return gather(j, judgeZeroTimes(e))
}

// explainsZeroTime reports whether the document says what the first day of the calendar means.
func explainsZeroTime(e Evidence, x evidence.Exchange) bool {
	o, known := operation(e, x.Label.Resource())
	return known && e.Spec.Says(o, regexp.MustCompile(`(?i)(?:\b0001-01-01\S*|\byear (?:1|one|0001)\b|\bJahr(?:es)? (?:1|eins|0001)\b)[^.;]{0,20}\b(?:means?|stands? for|says|marks?|bedeutet|steht für|heißt)\b`))
}

// judgeZeroTimes finds dates that are the zero value of a library, 0001-01-01: the record has no date there.
func judgeZeroTimes(e Evidence) Judgement {
	var s survey
	for _, x := range operationAnswers(e) {
		if !success(x) || !isOrdinaryCall(x) || !jsonMedia(mediaType(x)) {
			continue
		}
		// Libraries write their zero value with a time. The day alone may be meant as the first day of the calendar, so it is a warning.
		for _, zero := range []string{`"0001-01-01T`, `"0001-01-01"`} {
			at := bytes.Index(x.Response.Body, []byte(zero))
			if at < 0 || explainsZeroTime(e, x) {
				continue
			}
			got, _, _ := strings.Cut(string(x.Response.Body[at+1:min(at+40, len(x.Response.Body))]), `"`)
			j := expect(x, "a date of the record, or no date").failed("a date of "+resourceName(e, x.Label.Resource())+" is the zero value of a library, and not a date of the record", quote(got)).
				Hinting("leave the member out, or send null where the document allows it: Go: a pointer, or omitzero; .NET: DateTime?")
			if isDay(got) {
				j.Outcome = Warn
			}
			s.add(zero+string(x.Label.Resource()), j)
		}
	}
	if len(s.faults) == 0 {
		return Inapplicable("no date is the zero value of a library")
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

// judgeMembers judges the members of items, if the answers have the right top-level type (API-03).
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
		if !ok || redirected(x) || leadsElsewhere(e, x) {
			continue // API-01 judges redirects
		}
		name := resourceName(e, x.Label.Resource())
		out.count(e, x, name, findings)
		for _, f := range findings.Findings {
			outcome := c(f)
			switch {
			case f.Kind == evidence.FindingHeader && !success(x): // other requirements judge the header fields of refusals
			case f.Kind != evidence.FindingHeader && strings.HasPrefix(f.Path, "header"): // in older evidence
				if note := fmt.Sprintf("%s %s: expected %s, got %s", name, clip(f.Path), clip(f.Expected), clip(f.Got)); outcome != "" && !slices.Contains(out.headers, note) {
					out.headers = append(out.headers, note)
				}
			case outcome != "":
				fails := outcome == Fail && f.Erratum == "" && success(x)
				if fails {
					out.faulty[string(x.Label)+item.FindString(f.Path)] = true
					out.cut = out.cut || findings.Total > len(findings.Findings)
				}
				out.add(x, name, f, fails)
			}
		}
	}
	return out
}

// count counts an answer that was compared with its schema, or keeps the reason why the answer was not compared.
func (f *schemaFaults) count(e Evidence, x evidence.Exchange, name string, findings evidence.SchemaFindings) {
	if !success(x) {
		return // a refusal has no data
	}
	why := findings.Why
	if o, known := operation(e, x.Label.Resource()); findings.Judged && known && len(findings.Findings) == 0 && e.saysNothing(o) {
		findings.Judged, why = false, "its schema allows any answer"
	}
	reason := name + ": " + clip(why)
	switch {
	case findings.Judged:
		f.judged++
		f.items += max(findings.Items, 1)
	case findings.Undecided:
		f.undecided = append(f.undecided, Subject{Name: name, Label: x.Label, Expected: "an answer that can be compared", Got: clip(why)})
	case !slices.Contains(f.uncompared, reason):
		f.uncompared = append(f.uncompared, reason)
	}
}

// add adds a finding, unless another call had the same one at the same place.
func (f *schemaFaults) add(x evidence.Exchange, name string, found evidence.Finding, fails bool) {
	s := Subject{Name: findingName(name, x, found), Label: x.Label, Expected: clip(found.Expected), Got: clip(found.Got)}
	if found.Kind == evidence.FindingStatus {
		s.Expected = "a status that is described: " + s.Expected
	}
	at := place{name + " " + found.Path, s.Expected, s.Got, fails}
	if f.seen[at] {
		return
	}
	f.seen[at] = true
	switch {
	case found.Erratum != "":
		s.Expected += " (" + found.Erratum + ")"
		f.errata = append(f.errata, s)
	case fails:
		f.failed = append(f.failed, s)
	default:
		f.warned = append(f.warned, s)
	}
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
		return f.judgeWithoutComparison(e)
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
	prefix := ""
	if f.cut {
		prefix = "at least "
	}
	return fmt.Sprintf("%s%d of %s", prefix, len(f.faulty), evidence.Count(max(f.items, len(f.faulty)), "item"))
}

// judgeWithoutComparison returns the judgement if no answer could be compared.
func (f schemaFaults) judgeWithoutComparison(e Evidence) Judgement {
	if e.Document != nil && len(e.Document.Invalid) > 0 {
		return Unclear("the schemas of the document cannot be used because of its faults: " + clip(e.Document.Invalid[0])).
			Hinting("correct the structure of the document, then repeat the run").Blaming(NodeDocument).Seen(documentLabel(e))
	}
	if len(f.uncompared) > 0 {
		return Inapplicable("no answer could be compared with a schema: " + strings.Join(f.uncompared[:min(len(f.uncompared), 3)], "; "))
	}
	return Inapplicable("no answer of an operation could be compared with a schema")
}

// leadsElsewhere reports whether a call was redirected as the document describes it, so that another operation gave the answer. The list and the detail must answer
// themselves.
func leadsElsewhere(e Evidence, x evidence.Exchange) bool {
	r := x.Label.Resource()
	return len(x.Redirects) > 0 && !e.needsData(r) && documentedExactly(e, r, x.Redirects[0].Status)
}
