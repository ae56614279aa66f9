package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

// Made says how a report came about: the inputs that change what a run can see, and the evidence that was judged.
type Made struct {
	// Operator names who ran the test, as they said (--operator, or the operator of the registry); empty if they did not.
	Operator string `json:"operator,omitempty"`
	// Registry is the document that the node's entry was read from; nil without one.
	Registry *RegistryDocument `json:"registry,omitempty"`
	// Authorities is the digest of the file of certificate authorities that were trusted besides the system's (--cacert).
	Authorities string `json:"authorities,omitempty"`
	// AllowedOrigins are further origins that were allowed to receive the token (--allow-origin).
	AllowedOrigins []string `json:"allowedOrigins,omitempty"`
	// Gaps are the operations that were not called, and whose gap the operator accepts (--gap). Values are the names of the parameters for which the operator
	// gave values (--value).
	Gaps   []evidence.Gap `json:"gaps,omitempty"`
	Values []string       `json:"values,omitempty"`
	// Seed chooses what was drawn for the run, Effort how much of each family; both are empty in older evidence.
	Seed     string   `json:"seed,omitempty"`
	Effort   string   `json:"effort,omitempty"`
	Families []Family `json:"families,omitempty"`
	// Blind reports that the node could not tell from the headers of the requests that it was tested (--blind).
	Blind bool `json:"blind"`
	// ProfileReason says why rin chose the profile; empty if the operator did.
	ProfileReason string `json:"profileReason,omitempty"`
	// Unused lists inputs that were given and not used, each with the reason.
	Unused []string `json:"unused,omitempty"`
	// Again is the evidence that rin judge read; nil in a report of the run itself.
	Again *Again `json:"judgedAgain,omitempty"`
}

// RegistryDocument is the document that a node's entry was read from.
type RegistryDocument struct {
	URL string `json:"url,omitempty"` // empty for a private file
	// Digest is "sha256:" and the digest in hexadecimal; empty in evidence of earlier versions.
	Digest string `json:"digest,omitempty"`
}

// Again is the evidence of a run that was judged again.
type Again struct {
	File   string `json:"file"`   // the path that was given; "standard input" without one
	Digest string `json:"digest"` // of its bytes
}

// madeOf reads from the evidence how the run was made.
func madeOf(e requirement.Evidence) Made {
	log := e.Log
	m := Made{
		Operator: log.Run.Operator, Authorities: log.Run.AuthoritiesDigest, AllowedOrigins: log.Run.AllowedOrigins, Gaps: requirement.AcceptedGaps(e), Values: log.Run.Values,
		Seed: log.Run.Seed, Effort: log.Run.Effort, Families: familiesOf(log), Blind: log.Run.Blind, ProfileReason: log.Run.ProfileReason, Unused: unusedInputs(e),
	}
	if m.Authorities == "" && log.Run.Authorities {
		m.Authorities = "of a file that was not recorded"
	}
	if log.Run.NodeID != "" {
		m.Registry = &RegistryDocument{URL: withoutUserinfo(log.Run.Registry)}
		if log.RegistryFacts != nil {
			m.Registry.Digest = log.RegistryFacts.Digest
		}
	}
	return m
}

// madeFacts lists how the report was made, as lines for people.
func (r Report) madeFacts() []fact {
	var out []fact
	add := func(name, value string) {
		if value != "" {
			out = append(out, fact{name, value})
		}
	}
	add("Run by", cmp.Or(r.Made.Operator, notStated))
	if r.Made.ProfileReason != "" {
		add("Profile chosen by rin", string(r.Profile)+", because "+r.Made.ProfileReason)
	}
	if d := r.Made.Registry; d != nil {
		source := d.URL
		if source == "" {
			source = "a private file"
		}
		add("Registry document", withDigest(source, d.Digest))
	}
	if r.Made.Authorities != "" {
		add("Authorities (--cacert)", "the system's, and those of a file, "+r.Made.Authorities)
	}
	add("Allowed (--allow-origin)", strings.Join(r.Made.AllowedOrigins, ", "))
	add("Values given (--value)", strings.Join(r.Made.Values, ", "))
	if r.Made.Blind {
		add("Blind (--blind)", "the requests had an ordinary client's headers, by which the node could not know that it was tested; TLS fingerprint and timing were not hidden")
	} else {
		add("Not blind", "the node could know that it was tested (by User-Agent)")
	}
	add("Tested data", r.listAndDetail())
	add("Public by the document", r.publicOperations())
	out = append(out, r.drawnFacts()...)
	if a := r.Made.Again; a != nil {
		add("Judged again", fmt.Sprintf("rin judge read %s, evidence of the run of %s by rin %s", withDigest(a.File, a.Digest), r.Date.Format("2 January 2006, 15:04 UTC"), r.Suite.RecordedBy))
	}
	return out
}

// notStated is the fact of a run whose operator is not known. rin does not use the login name instead: it says little, and is private.
const notStated = "not stated (--operator)"

// listAndDetail names the operations that paging, filters and records were tested on.
func (r Report) listAndDetail() string {
	var names []string
	for _, role := range []string{"list", "detail"} {
		for _, o := range r.Operations.List {
			if o.Role == role {
				names = append(names, "the "+role+" "+o.Method+" "+o.Path)
			}
		}
	}
	return strings.Join(names, ", ")
}

// maxPublic bounds the public operations that are named in one line; the table of operations has all of them.
const maxPublic = 12

// publicOperations names the GET operations that the document declares public. They are not tested for refusal.
func (r Report) publicOperations() string {
	var names []string
	for _, o := range r.Operations.List {
		if o.Public && o.Method == "GET" {
			names = append(names, o.Method+" "+o.Path)
		}
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if n := len(names) - maxPublic; n > 0 {
		names, more = names[:maxPublic], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ") + more + " (not tested for refusal)"
}

// withDigest names a document with its digest, if that is known.
func withDigest(name, digest string) string {
	if digest == "" {
		return name
	}
	return name + ", " + digest
}

// Uncovered is a binding rule of the network, or a part of it, that no requirement of the catalogue judges.
type Uncovered struct {
	Rule    string   `json:"rule"` // "NET-R3"
	Part    string   `json:"part,omitempty"`
	Words   []string `json:"words"` // of the interface document
	Because string   `json:"because"`
}

// uncovered lists the rules that a certificate says nothing about.
func uncovered() []Uncovered {
	var out []Uncovered
	for _, u := range requirement.UncoveredRules() {
		out = append(out, Uncovered{Rule: u.Rule.ShortName(), Part: u.Part, Words: u.Rule.Words, Because: u.Because})
	}
	return out
}

// String returns the rule with what is not judged of it, and why: "NET-R3 (the reference documentation): it is not said where it is published".
func (u Uncovered) String() string { return u.Name() + ": " + u.Because }

// Name returns the rule, or the part of it that is not judged.
func (u Uncovered) Name() string {
	if u.Part == "" {
		return u.Rule
	}
	return u.Rule + " (" + u.Part + ")"
}

// uncoveredSentence names the rules in one line; the files have the reasons.
func (r Report) uncoveredSentence() string {
	names := make([]string, 0, len(r.Uncovered))
	for i, u := range r.Uncovered {
		if i > 0 {
			u.Rule = strings.TrimPrefix(u.Rule, "NET-")
		}
		names = append(names, u.Rule)
	}
	return "Not fully tested: " + strings.Join(names, ", ") + " (rin explain)."
}

// JudgedAgain returns the report with a note that it was judged from the evidence in a file.
func (r Report) JudgedAgain(file, digest string) Report {
	r.Made.Again = &Again{File: file, Digest: digest}
	return r
}

// Family says how much of a family of requests was sent.
type Family struct {
	Name string `json:"name"` // "bearer values that are words of programs"
	// Kinds counts the kinds of requests in the family; Drawn lists those that this run sent. Earlier counts the kinds that earlier runs sent, as
	// far as they are known (--history), and Ever the kinds that this run or an earlier one sent.
	Kinds   int      `json:"kinds"`
	Drawn   []string `json:"drawn"`
	Earlier int      `json:"earlier"`
	Ever    int      `json:"ever"`
}

// familiesOf counts the kinds of requests that were sent of each family. Families of which no run sent any are left out.
func familiesOf(log *evidence.Log) []Family {
	drawn := map[evidence.Family]map[evidence.Case]bool{}
	for _, x := range log.Exchanges {
		if x.Family != "" {
			if drawn[x.Family] == nil {
				drawn[x.Family] = map[evidence.Case]bool{}
			}
			drawn[x.Family][x.Label.Case()] = true
		}
	}
	out := []Family{}
	for _, f := range log.Run.Families {
		row := Family{Name: string(f.Family), Kinds: len(f.Kinds), Drawn: []string{}, Earlier: len(f.Earlier)}
		for _, kind := range f.Kinds {
			if drawn[f.Family][kind] {
				row.Drawn = append(row.Drawn, string(kind))
			}
			if drawn[f.Family][kind] || slices.Contains(f.Earlier, kind) {
				row.Ever++
			}
		}
		if len(row.Drawn) > 0 || row.Earlier > 0 { // other families do not apply to this node, or need an input that was not given
			out = append(out, row)
		}
	}
	return out
}

// familiesSentence says in one line how much of the families was drawn.
func (r Report) familiesSentence() string {
	kinds, drawn, ever := 0, 0, 0
	for _, f := range r.Made.Families {
		kinds, drawn, ever = kinds+f.Kinds, drawn+len(f.Drawn), ever+f.Ever
	}
	if kinds == 0 {
		return ""
	}
	text := fmt.Sprintf("%d of %d kinds of requests in %d families", drawn, kinds, len(r.Made.Families))
	if ever > drawn {
		text += fmt.Sprintf(", %d with earlier runs", ever)
	}
	return text
}

// drawnFacts returns the facts about what was drawn.
func (r Report) drawnFacts() []fact {
	if r.Made.Seed == "" {
		return nil
	}
	text := r.Made.Seed + ", effort " + r.Made.Effort
	if drawn := r.familiesSentence(); drawn != "" {
		text += ": " + drawn
	}
	return []fact{{"Drawn by seed", text}}
}
