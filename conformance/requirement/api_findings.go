package requirement

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file makes judgements of what the node's document says of its answers: each finding goes the route of the requirement that asks.

// A route says what a finding costs one requirement: Fail, Warn, or "" for a finding that is another one's business.
type route func(f exchange.Finding) Outcome

func only(kinds ...exchange.FindingKind) route {
	return func(f exchange.Finding) Outcome {
		if slices.Contains(kinds, f.Kind) {
			return Fail
		}
		return ""
	}
}

// found gathers what the findings of the run mean to one requirement.
type found struct {
	failed, warned []Subject
	errata         []Subject
	items, judged  int             // top-level items and answers that were compared
	faulty         map[string]bool // items with a failure, by label and index
	cut            bool            // some lists of findings were cut
	why            []string        // why answers were not compared
	undecided      []Subject       // answers whose schema took more than rin gives to one
	told           map[place]bool  // another query shows the same again
	headers        []string        // header fields that differ, which costs nothing
}

// place is where a finding is, whatever the query of the call, with what was expected and what came.
type place struct {
	where, expected, got string
	fails                bool
}

// sort goes through the findings of all answers. Answers other than 2xx hold no data, so what is wrong with them is a warning.
func (r route) sort(e Evidence) found {
	out := found{faulty: map[string]bool{}, told: map[place]bool{}}
	item := regexp.MustCompile(`^\$\[\d+\]`)
	for _, x := range operationAnswers(e) {
		findings, ok := e.FindingsOf(x.Label)
		if !ok || redirected(x) {
			continue // API-01 reports operations that lead elsewhere
		}
		name := resourceName(e, x.Label.Resource())
		if !findings.Judged {
			why := name + ": " + clip(findings.Why)
			switch {
			case !success(x):
			case findings.Undecided:
				out.undecided = append(out.undecided, Subject{Name: name, Label: x.Label, Expected: "an answer that can be compared", Got: clip(findings.Why)})
			case !slices.Contains(out.why, why):
				out.why = append(out.why, why)
			}
		} else {
			out.judged++
			out.items += max(findings.Items, 1)
		}
		for _, f := range findings.Findings {
			cost := r(f)
			if f.Kind == exchange.FindingHeader && !success(x) {
				continue // the refusals' fields are judged by their own rules
			}
			if strings.HasPrefix(f.Path, "header") && f.Kind != exchange.FindingHeader { // as older evidence tells it
				if note := fmt.Sprintf("%s %s: expected %s, got %s", name, clip(f.Path), clip(f.Expected), clip(f.Got)); cost != "" && !slices.Contains(out.headers, note) {
					out.headers = append(out.headers, note)
				}
				continue
			}
			s := Subject{Name: placed(name, x, f), Label: x.Label, Expected: clip(f.Expected), Got: clip(f.Got)}
			if f.Kind == exchange.FindingStatus {
				s.Expected = "a status that is described: " + s.Expected
			}
			fails := cost == Fail && f.Erratum == "" && success(x)
			if fails {
				out.faulty[string(x.Label)+item.FindString(f.Path)] = true
				out.cut = out.cut || findings.Total > len(findings.Findings)
			}
			again := place{name + " " + f.Path, s.Expected, s.Got, fails}
			if cost == "" || out.told[again] {
				continue
			}
			out.told[again] = true
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

// placed names the place of a finding, and the call where it was a particular one. Status and media type are of the whole answer.
func placed(operation string, x exchange.Exchange, f exchange.Finding) string {
	name := operation
	if manner := mannerOf(x); manner != "" {
		name += ", " + manner
	}
	if f.Kind == exchange.FindingStatus || f.Kind == exchange.FindingMediaType {
		return clip(name)
	}
	return clip(name + " " + f.Path)
}

// judge turns what was found into a judgement; what names the fault: "required members are missing".
func (f found) judge(e Evidence, what string) Judgement {
	var j Judgement
	switch {
	case len(f.failed) > 0:
		j = Failed(what+" in "+f.share(), f.failed[0].Expected, f.failed[0].Got).About(f.failed...)
	case len(f.undecided) > 0: // or else a schema that nobody can apply would be a way to a certificate
		j = Unclear("an answer could not be compared with its schema: " + f.undecided[0].Got).
			Hinting("make the schema simpler: fewer members, fewer alternatives within alternatives (allOf, anyOf, oneOf); a smaller answer may do, too").Blaming(NodeDocument).About(f.undecided...)
	case f.judged == 0 && len(f.warned)+len(f.errata) == 0:
		return f.nothing(e)
	case len(f.warned) > 0:
		j = Warned("the answers differ from the document in a way that costs little: "+f.warned[0].Name, f.warned[0].Expected, f.warned[0].Got).About(f.warned...).About(f.errata...)
	case len(f.errata) > 0:
		j = Warned("the network's published document is wrong here, not the data", f.errata[0].Expected, f.errata[0].Got).
			Hinting("fix the network's document, or serve a corrected copy of it").Blaming(NetworkDocument).About(f.errata...)
	default:
		j = Passed()
	}
	for _, why := range f.why {
		j = j.Noting("not compared: " + why)
	}
	return j.Noting(f.headers[:min(len(f.headers), maxSubjects)]...).bounded()
}

func (f found) share() string {
	least := ""
	if f.cut {
		least = "at least "
	}
	return fmt.Sprintf("%s%d of %d items", least, len(f.faulty), max(f.items, len(f.faulty)))
}

// nothing is the judgement when no answer could be compared.
func (f found) nothing(e Evidence) Judgement {
	if e.Document != nil && len(e.Document.Invalid) > 0 {
		return Unclear("faults of the document keep its schemas from being used: " + clip(e.Document.Invalid[0])).
			Hinting("correct the structure of the document, then repeat the run").Blaming(NodeDocument).Seen(described(e))
	}
	if len(f.why) > 0 {
		return Missing("no answer could be compared with a schema: " + strings.Join(f.why[:min(len(f.why), 3)], "; "))
	}
	return Missing("no answer of an operation could be compared with a schema")
}
