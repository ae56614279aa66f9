package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

// Comparison says what is different between two runs of a node. It leaves out what each run draws for itself: seed, times, tokens, made-up values, and the
// requests of families, because each run sends other requests of a family.
type Comparison struct {
	Schema string `json:"schema"` // "rin.comparison/v1"
	Old    Side   `json:"old"`
	New    Side   `json:"new"`
	// Requirements lists the differences by requirement: what broke first, then what was fixed, changed, new and gone.
	Requirements []Change `json:"requirements"`
	// Seen lists what was seen differently: operations of the document, and answers to the same request.
	Seen []SeenChange `json:"seen"`
}

// Side is one of the two runs.
type Side struct {
	Node     string `json:"node"`
	Date     string `json:"date"`
	Suite    string `json:"suite"`
	Headline string `json:"headline"`
}

// Change is the difference of one requirement. An outcome is empty if its run did not judge the requirement.
type Change struct {
	Kind   ChangeKind          `json:"kind"`
	ID     requirement.ID      `json:"id"`
	Title  string              `json:"title"`
	Old    requirement.Outcome `json:"old,omitempty"`
	New    requirement.Outcome `json:"new,omitempty"`
	Reason string              `json:"reason,omitempty"` // of the new outcome
}

// ChangeKind says how a requirement changed.
type ChangeKind string

// The kinds of change.
const (
	Broke   ChangeKind = "broken"  // it fails now, and did not
	Fixed   ChangeKind = "fixed"   // it failed, and passes now, perhaps with a warning
	Changed ChangeKind = "changed" // another outcome, neither broken nor fixed
	Newly   ChangeKind = "new"     // judged now, and not before
	Gone    ChangeKind = "gone"    // judged before, and not now
)

// changeKinds lists the kinds in the order of reports.
func changeKinds() []ChangeKind { return []ChangeKind{Broke, Fixed, Changed, Newly, Gone} }

// SeenChange is the difference between two answers, or between two documents.
type SeenChange struct {
	Label evidence.Label `json:"label,omitempty"`
	Name  string         `json:"name"`
	Old   string         `json:"old"`
	New   string         `json:"new"`
}

// ComparisonVersion is the version of the JSON of a [Comparison].
const ComparisonVersion = "rin.comparison/v1"

// Compare compares two runs. A requirement that a partial run left out is neither new nor gone. A log may be nil if the evidence is missing; then only
// requirements and operations are compared.
func Compare(old, later Report, oldLog, newLog *evidence.Log) Comparison {
	c := Comparison{Schema: ComparisonVersion, Old: sideOf(old), New: sideOf(later), Requirements: []Change{}, Seen: []SeenChange{}}
	before := map[requirement.ID]Requirement{}
	for _, q := range old.Requirements {
		before[q.ID] = q
	}
	for _, q := range later.Requirements {
		was, judged := before[q.ID]
		delete(before, q.ID)
		isBeyondOld := !judged && old.Run.Partial != "" && q.Outcome != requirement.Fail
		if kind := changeOf(was.Outcome, q.Outcome, judged); kind != "" && !isBeyondOld {
			c.Requirements = append(c.Requirements, Change{kind, q.ID, q.Title, was.Outcome, q.Outcome, q.Reason})
		}
	}
	for _, q := range old.Requirements {
		if _, gone := before[q.ID]; gone && later.Run.Partial == "" {
			c.Requirements = append(c.Requirements, Change{Gone, q.ID, q.Title, q.Outcome, "", ""})
		}
	}
	slices.SortStableFunc(c.Requirements, func(a, b Change) int {
		return slices.Index(changeKinds(), a.Kind) - slices.Index(changeKinds(), b.Kind)
	})
	c.Seen = append(c.Seen, compareOperations(old.Operations, later.Operations)...)
	if oldLog != nil && newLog != nil {
		c.Seen = append(c.Seen, compareAnswers(oldLog, newLog)...)
	}
	return c
}

func sideOf(r Report) Side {
	node := r.Target.InfoURL
	if r.Target.NodeID != "" {
		node = r.Target.NodeID + ", " + node
	}
	return Side{node, r.Date.Format("2006-01-02 15:04 UTC"), r.Suite.Version, r.Verdict.Headline}
}

// changeOf classifies two outcomes; "" for equal ones.
func changeOf(old, later requirement.Outcome, judged bool) ChangeKind {
	switch {
	case !judged:
		return Newly
	case old == later:
		return ""
	case later == requirement.Fail:
		return Broke
	case old == requirement.Fail && (later == requirement.Pass || later == requirement.Warn):
		return Fixed
	}
	return Changed
}

// Breaks reports whether something fails now that did not fail before, a requirement that is judged for the first time included.
func (c Comparison) Breaks() bool {
	return slices.ContainsFunc(c.Requirements, func(r Change) bool { return r.New == requirement.Fail })
}

// compareOperations lists operations that the document describes in one run alone.
func compareOperations(old, later Operations) []SeenChange {
	names := func(o Operations) map[string]bool {
		out := map[string]bool{}
		for _, op := range o.List {
			out[op.Method+" "+op.Path] = true
		}
		return out
	}
	var out []SeenChange
	before, after := names(old), names(later)
	for _, o := range old.List {
		if name := o.Method + " " + o.Path; !after[name] {
			out = append(out, SeenChange{Name: name, Old: "described", New: "not described"})
		}
	}
	for _, o := range later.List {
		if name := o.Method + " " + o.Path; !before[name] {
			out = append(out, SeenChange{Name: name, Old: "not described", New: "described"})
		}
	}
	return out
}

// compareAnswers compares the answers to the requests that both runs sent, in the order of the new plan.
func compareAnswers(old, later *evidence.Log) []SeenChange {
	var out []SeenChange
	names := requirement.Read(later)
	for _, x := range later.Exchanges {
		was, sent := old.Get(x.Label)
		if !sent || x.Family != "" || was.Family != "" {
			continue
		}
		if before, now := answerText(was), answerText(x); before != now {
			out = append(out, SeenChange{x.Label, names.RequestName(x.Label), before, now})
		}
	}
	return out
}

// answerText describes an answer by what does not change from run to run: status and media type, or the reason why no answer came.
func answerText(x evidence.Exchange) string {
	if x.Failure != nil {
		return "no answer (" + string(x.Failure.Kind) + ")"
	}
	media, _, _ := strings.Cut(strings.Join(evidence.Values(x.Response.Header, "Content-Type"), ", "), ";")
	if media = strings.ToLower(strings.TrimSpace(media)); media == "" {
		media = "no Content-Type"
	}
	return fmt.Sprintf("%d %s", x.Response.Status, media)
}

// WriteComparisonJSON writes the comparison as JSON, harmless on a terminal.
func WriteComparisonJSON(w io.Writer, c Comparison) error { return writeJSON(w, "comparison", c) }

// maxSeen bounds the differences in what was seen that are shown to people; JSON has all.
const maxSeen = 40

// WriteComparisonText writes the comparison for a terminal.
func WriteComparisonText(w io.Writer, c Comparison) error {
	var b strings.Builder
	for _, s := range []struct {
		name string
		side Side
	}{{"old", c.Old}, {"new", c.New}} {
		fmt.Fprintf(&b, "%s  %s, rin %s: %s\n     %s\n", s.name, s.side.Date, Plain(s.side.Suite), Plain(s.side.Headline), Plain(s.side.Node))
	}
	b.WriteString("\n" + c.summary() + "\n")
	for _, r := range c.Requirements {
		fmt.Fprintf(&b, "  %-8s %s  %s: %s\n", r.Kind, Plain(string(r.ID)), Plain(r.Title), Plain(r.outcomes()))
		if r.Reason != "" && r.New != requirement.Pass {
			fmt.Fprintf(&b, "           %s\n", cut(Plain(r.Reason), 2*maxName))
		}
	}
	if len(c.Seen) > 0 {
		b.WriteString("\nSeen differently:\n")
		for _, s := range c.Seen[:min(len(c.Seen), maxSeen)] {
			fmt.Fprintf(&b, "  %s\n           %s, now %s\n", cut(Plain(s.Name), 2*maxName), cut(Plain(s.Old), maxName), cut(Plain(s.New), maxName))
		}
		if more := len(c.Seen) - maxSeen; more > 0 {
			fmt.Fprintf(&b, "  and %d more (--format json)\n", more)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// WriteComparisonMarkdown writes the comparison for an issue or a merge request.
func WriteComparisonMarkdown(w io.Writer, c Comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n| | Date | Node | Decision |\n|---|---|---|---|\n", c.summary())
	for _, s := range []struct {
		name string
		side Side
	}{{"old", c.Old}, {"new", c.New}} {
		fmt.Fprintf(&b, "| %s | %s, rin %s | %s | %s |\n", s.name, s.side.Date, prose(s.side.Suite), prose(s.side.Node), prose(s.side.Headline))
	}
	if len(c.Requirements) > 0 {
		b.WriteString("\n| | Requirement | Outcome | Reason |\n|---|---|---|---|\n")
		for _, r := range c.Requirements {
			fmt.Fprintf(&b, "| %s | %s %s | %s | %s |\n", r.Kind, prose(string(r.ID)), prose(r.Title), prose(r.outcomes()), prose(cut(r.Reason, 2*maxName)))
		}
	}
	if len(c.Seen) > 0 {
		b.WriteString("\n| Seen | Old | New |\n|---|---|---|\n")
		for _, s := range c.Seen[:min(len(c.Seen), maxSeen)] {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", prose(cut(s.Name, 2*maxName)), prose(cut(s.Old, maxName)), prose(cut(s.New, maxName)))
		}
		if more := len(c.Seen) - maxSeen; more > 0 {
			fmt.Fprintf(&b, "\nand %d more\n", more)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r Change) outcomes() string {
	switch r.Kind {
	case Newly:
		return string(r.New)
	case Gone:
		return string(r.Old) + " before"
	}
	return fmt.Sprintf("%s, now %s", r.Old, r.New)
}

// summary counts the differences: "1 broken, 2 fixed"; "nothing changed" if there are none.
func (c Comparison) summary() string {
	var parts []string
	for _, kind := range changeKinds() {
		n := 0
		for _, r := range c.Requirements {
			if r.Kind == kind {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, kind))
		}
	}
	if len(c.Seen) > 0 {
		parts = append(parts, fmt.Sprintf("%d seen differently", len(c.Seen)))
	}
	if len(parts) == 0 {
		return "nothing changed"
	}
	return strings.Join(parts, ", ")
}
