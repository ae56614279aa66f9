package requirement

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// Outcome is what a check found. The gate says what a failure does to the certificate.
type Outcome string

// The outcomes.
const (
	Pass          Outcome = "pass"
	Warn          Outcome = "warn"
	Fail          Outcome = "fail"
	NotApplicable Outcome = "not-applicable"
	Blocked       Outcome = "blocked"
	Inconclusive  Outcome = "inconclusive"
)

// Settled reports whether an outcome says how the node answered.
func (o Outcome) Settled() bool { return o == Pass || o == Warn || o == Fail }

// Blocks reports whether a requirement with this gate and outcome prevents the certificate of a profile that contains it.
func Blocks(g Gate, o Outcome) bool {
	return g == Gating && (o == Fail || o == Blocked || o == Inconclusive)
}

// Fault says whose mistake a finding probably is.
type Fault string

// The faults.
const (
	Node            Fault = "node"
	NodeDocument    Fault = "node's document"
	NetworkDocument Fault = "network's published document"
	Environment     Fault = "environment"
	Suite           Fault = "suite"
)

// Judgement is the result of a check. Every outcome but pass has a reason.
type Judgement struct {
	Outcome  Outcome `json:"outcome"`
	Reason   string  `json:"reason,omitempty"`   // one sentence, lower-case, without a final dot
	Expected string  `json:"expected,omitempty"` // what the source asks for
	Got      string  `json:"got,omitempty"`      // what came, short and redacted
	Fault    Fault   `json:"fault,omitempty"`
	// Hint replaces the requirement's Fix when the check knows the particular cause.
	Hint      string `json:"hint,omitempty"`
	BlockedBy ID     `json:"blockedBy,omitempty"`
	// Makers are the products that are known for this warning.
	Makers   []string  `json:"makers,omitempty"`
	Subjects []Subject `json:"subjects,omitempty"`
	// Unlisted counts the subjects that were left out of a very long list.
	Unlisted int `json:"unlisted,omitempty"`
	// Notes are further observations that change nothing.
	Notes []string `json:"notes,omitempty"`
}

// Subject is one thing that a judgement is about, with the exchange that shows it. A report shows the exchange of the first subject.
type Subject struct {
	Name     string         `json:"name"` // "GET /fundings/{id}", "$[3].id", "header Cache-Control"
	Label    evidence.Label `json:"label,omitempty"`
	Expected string         `json:"expected,omitempty"`
	Got      string         `json:"got,omitempty"`
}

// Passed returns a pass that rests on these exchanges.
func Passed(labels ...evidence.Label) Judgement { return Judgement{Outcome: Pass}.Seen(labels...) }

// Failed returns a failure of the node.
//
// It is not inlined, and neither are the other functions that hundreds of checks call: the copies take 0.5 MB of the program.
//
//go:noinline
func Failed(reason, expected, got string) Judgement {
	return Judgement{Outcome: Fail, Reason: reason, Expected: expected, Got: got, Fault: Node}
}

// Warned returns a warning: a pass with something to mend.
//
//go:noinline
func Warned(reason, expected, got string) Judgement {
	return Judgement{Outcome: Warn, Reason: reason, Expected: expected, Got: got, Fault: Node}
}

// Inapplicable returns the judgement that the requirement does not apply: its precondition is absent by design.
func Inapplicable(reason string) Judgement { return Judgement{Outcome: NotApplicable, Reason: reason} }

// Unclear returns an inconclusive judgement: the requirement could not be judged.
func Unclear(reason string) Judgement {
	return Judgement{Outcome: Inconclusive, Reason: reason, Fault: Environment}
}

// Seen adds exchanges that the judgement rests on, as subjects named by their labels, unless a subject has them already.
func (j Judgement) Seen(labels ...evidence.Label) Judgement {
	for _, l := range labels {
		if !slices.ContainsFunc(j.Subjects, func(s Subject) bool { return s.Label == l }) {
			j.Subjects = append(j.Subjects, Subject{Name: string(l), Label: l})
		}
	}
	return j
}

// Habit says that the warning is a habit of well-known products.
func (j Judgement) Habit(makers ...string) Judgement { j.Makers = makers; return j }

// About adds subjects.
//
//go:noinline
func (j Judgement) About(s ...Subject) Judgement { j.Subjects = append(j.Subjects, s...); return j }

// Hinting sets the fix for the particular cause.
//
//go:noinline
func (j Judgement) Hinting(hint string) Judgement { j.Hint = hint; return j }

// Blaming sets whose mistake it is.
func (j Judgement) Blaming(f Fault) Judgement { j.Fault = f; return j }

// Noting adds observations.
func (j Judgement) Noting(notes ...string) Judgement { j.Notes = append(j.Notes, notes...); return j }

// named gives all subjects the name, which tells calls of one URL apart.
func (j Judgement) named(name string) Judgement {
	for i := range j.Subjects {
		j.Subjects[i].Name = clip(name)
	}
	return j
}

// expect returns an answer as the subject of a judgement, with what the check expects of it.
//
//go:noinline
func expect(x evidence.Exchange, expected string) Subject {
	return Subject{Name: callInWords(x), Label: x.Label, Expected: expected}
}

// failed returns the failure of a subject: got came instead of what was expected.
//
//go:noinline
func (s Subject) failed(reason, got string) Judgement {
	s.Got = got
	return Failed(reason, s.Expected, got).About(s)
}

// warned is [Subject.failed] as a warning.
//
//go:noinline
func (s Subject) warned(reason, got string) Judgement {
	s.Got = got
	return Warned(reason, s.Expected, got).About(s)
}

// unclear returns an inconclusive judgement of a subject: got came, which does not show whether the requirement holds.
func (s Subject) unclear(reason, got string) Judgement {
	s.Got = got
	return Unclear(reason).About(s)
}

// passed returns the pass of a subject.
func (s Subject) passed() Judgement { return Passed().About(Subject{Name: s.Name, Label: s.Label}) }

// maxSubjects bounds the subjects of one judgement; the others are counted.
const maxSubjects = 20

// bounded cuts the list of subjects and counts those that it leaves out.
func (j Judgement) bounded() Judgement {
	if over := len(j.Subjects) - maxSubjects; over > 0 {
		j.Subjects = j.Subjects[:maxSubjects:maxSubjects]
		j.Unlisted += over
	}
	return j
}

// gather joins the judgements of several answers into the gravest: fail, then blocked, inconclusive, warn, pass, not applicable. It has
// the reason of the first judgement with that outcome and the subjects of all of them; the notes of all parts are kept.
func gather(parts ...Judgement) Judgement {
	if len(parts) == 0 {
		return Inapplicable("there is nothing to judge")
	}
	out := slices.MaxFunc(parts, func(a, b Judgement) int { return gravity(a.Outcome) - gravity(b.Outcome) })
	out.Subjects, out.Unlisted, out.Notes = nil, 0, nil
	same := 0
	for _, p := range parts {
		out.Notes = append(out.Notes, p.Notes...)
		if p.Outcome == out.Outcome {
			out.Subjects, out.Unlisted = append(out.Subjects, p.Subjects...), out.Unlisted+p.Unlisted
			out.Makers = slices.DeleteFunc(slices.Clone(out.Makers), func(maker string) bool { return !slices.Contains(p.Makers, maker) })
			same++
		}
	}
	if same > 1 && out.Outcome != Pass && out.Outcome != NotApplicable {
		out.Reason = fmt.Sprintf("%s (and %d more of this kind)", out.Reason, same-1)
	}
	return out.bounded()
}

// worseOf returns the judgement that weighs more, or the first of two that weigh the same.
func worseOf(a, b Judgement) Judgement {
	if gravity(b.Outcome) > gravity(a.Outcome) {
		return b
	}
	return a
}

// gravity returns the rank of an outcome; a greater one weighs more.
func gravity(o Outcome) int {
	return slices.Index([]Outcome{NotApplicable, Pass, Warn, Inconclusive, Blocked, Fail}, o)
}

// gatherApplicable is [gather], but returns only the first part if no part applies: all of them have the same reason.
func gatherApplicable(parts ...Judgement) Judgement {
	if j := gather(parts...); j.Outcome != NotApplicable || len(parts) == 0 {
		return j
	}
	return parts[0]
}

// survey collects the faults of many answers, each kind of fault once.
type survey struct {
	faults []Judgement
	seen   map[string]bool
}

// add keeps a judgement other than a pass, unless one with the same key came before.
func (s *survey) add(key string, j Judgement) {
	if j.Outcome == Pass || s.seen[key] {
		return
	}
	if s.seen == nil {
		s.seen = map[string]bool{}
	}
	s.seen[key] = true
	s.faults = append(s.faults, j)
}

// judge returns a pass if there are no faults, and otherwise gathers them.
func (s *survey) judge() Judgement {
	if len(s.faults) == 0 {
		return Passed()
	}
	return gather(s.faults...)
}

// The products whose habits are known.
const (
	keycloak       = "Keycloak"
	springServer   = "Spring Authorization Server"
	springSecurity = "Spring Security" // as resource server
)

// A maker is a product whose habits are known.
type maker struct {
	name string
	// answers reports whether the product answers in the run. It looks for something that no other product sends.
	answers func(e Evidence) bool
}

// makers lists the products. If several have a habit, it is attributed to the first one that answers.
func makers() []maker {
	return []maker{{keycloak, isKeycloak}, {springServer, isSpringServer}, {springSecurity, isSpringSecurity}}
}

// Maker returns the product that is known for the warning: the check names the product, and the run shows that it answers. It returns "" if the tested server
// is another one.
func Maker(e Evidence, j Judgement) string {
	if j.Outcome != Warn || len(j.Makers) == 0 {
		return ""
	}
	for _, m := range makers() {
		if slices.Contains(j.Makers, m.name) && m.answers(e) {
			return m.name
		}
	}
	return ""
}

// realmPath is the path of Keycloak's token endpoint.
var realmPath = regexp.MustCompile(`/realms/[^/]+/protocol/openid-connect/token$`)

// isKeycloak recognises Keycloak by its token URL, or by a member of its token answers that no other product sends.
func isKeycloak(e Evidence) bool {
	if u, err := url.Parse(e.Run.TokenURL); err == nil && realmPath.MatchString(u.Path) {
		return true
	}
	x := e.exchange(evidence.TokenEndpoint.With(evidence.OK))
	if !success(x) {
		return false
	}
	_, sent := openapi.Object(x.Response.Body)["not-before-policy"]
	return sent
}

// isSpringServer recognises Spring Authorization Server by the error_uri of its refusals, which is a section of RFC 6749 at the IETF.
func isSpringServer(e Evidence) bool {
	return slices.ContainsFunc(e.sweep().refusals, func(x evidence.Exchange) bool {
		o, _ := jsonObject(x)
		uri, _ := o["error_uri"].(string)
		return isIETFSection(uri, "rfc6749#section-5.2")
	})
}

// isSpringSecurity recognises a resource server of Spring Security by the error_uri of its challenges.
func isSpringSecurity(e Evidence) bool {
	return slices.ContainsFunc(e.sweep().unauthorized, func(x evidence.Exchange) bool {
		return isIETFSection(attribute(bearerChallenges(x), "error_uri"), "rfc6750#section-3.1")
	})
}

// isIETFSection reports whether a URI leads to the section at one of the two addresses under which the IETF publishes RFCs as HTML.
func isIETFSection(uri, section string) bool {
	path, found := strings.CutPrefix(uri, "https://tools.ietf.org/html/")
	if !found {
		path, found = strings.CutPrefix(uri, "https://datatracker.ietf.org/doc/html/")
	}
	return found && path == section
}
