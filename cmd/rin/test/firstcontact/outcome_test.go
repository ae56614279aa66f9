//go:build unix

package firstcontact_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// result is what a certification means for a node.
type result string

const (
	caught           result = "caught"            // wrong, refused, and a requirement that it breaks, or an equivalent one, failed
	refusedOtherwise result = "refused otherwise" // wrong and refused, for other requirements only
	open             result = "open"              // wrong, neither refused nor certified
	missed           result = "missed"            // wrong and certified
	certified        result = "certified"         // right and certified
	inconclusive     result = "inconclusive"      // right, neither refused nor certified
	blamed           result = "blamed"            // right and refused
	disputed         result = "disputed"          // writer and second reader differ: not counted
)

// rank orders results: a higher one is better.
func (r result) rank() int {
	return slices.Index([]result{missed, blamed, open, inconclusive, refusedOtherwise, caught, certified, disputed}, r)
}

// failure is one reason why a node got no certificate: a failed requirement, or, without an id, what the run said.
type failure struct {
	ID   string `json:"id"`
	Text string `json:"text"`
}

// outcome is a line of a record.
type outcome struct {
	Node      string           `json:"node"` // round1/python/f-base
	Kind      string           `json:"kind"`
	Framework string           `json:"framework"`
	Result    result           `json:"result"`
	Breaks    []requirement.ID `json:"breaks,omitempty"` // by the second reading
	Failed    []failure        `json:"failed,omitempty"`
	Open      []failure        `json:"open,omitempty"` // what left the decision open
	Seed      string           `json:"seed,omitempty"`
	Sentence  string           `json:"sentence"`
	version   string
	catalogue string
}

// declaredFrom is the first round for which [equivalents] count. They were declared before that round
// was run.
const declaredFrom = 13

// equivalents returns groups of requirements that one fault breaks together, so that a reader may name one of them and rin another. Most of these
// groups were seen in rounds 1 to 12.
func equivalents() [][]requirement.ID {
	return [][]requirement.ID{
		{"PAG-01", "PAG-03", "PAG-04", "PAG-07", "PAG-10"}, // the pages, filtered or sorted, are not the list
		{"PAG-06", "ROB-04", "ERR-04", "API-01"},           // a value of a parameter is not answered as it should
		{"PAG-08", "API-05", "API-07"},                     // the single record is wrong
		{"BRR-18", "BRR-20"},                               // a token without the role or the scope gets data
		{"TOK-09", "TOK-10", "TOK-18", "JWT-03"},           // a token does not live as long as the answer says
		{"INF-01", "JWT-04", "API-01"},                     // a token or an answer is that of another client
		{"API-02", "ROB-08"},                               // the representation is not the one that was negotiated
		{"ISO-01", "ISO-02"},                               // a token of another environment gets data
	}
}

// withEquivalents adds the requirements that are equivalent to these.
func withEquivalents(ids []requirement.ID) []requirement.ID {
	out := slices.Clone(ids)
	for _, group := range equivalents() {
		if slices.ContainsFunc(ids, func(id requirement.ID) bool { return slices.Contains(group, id) }) {
			out = append(out, group...)
		}
	}
	return out
}

// judge compares a report with what the second reader expects.
func judge(n node, r report) outcome {
	o := outcome{
		Node: n.path(), Kind: n.Kind, Framework: n.Framework, Seed: r.Made.Seed, Sentence: n.Sentence,
		version: r.Suite.Version, catalogue: r.Catalogue.Version,
	}
	if n.Kind == "wrong" {
		o.Breaks = n.reading.IDs
	}
	named, hit := n.reading.IDs, false
	if n.round() >= declaredFrom {
		named = withEquivalents(named)
	}
	for _, q := range r.Requirements {
		if q.Outcome == "fail" && q.Costs {
			text := q.Reason
			if text == "" {
				text = q.Got
			}
			o.Failed = append(o.Failed, failure{q.ID, text})
			hit = hit || slices.Contains(named, requirement.ID(q.ID))
		}
	}
	refused, approved := r.Verdict.Failed, r.Verdict.Decision == string(verdict.Certified)
	if !refused && !approved {
		for _, reason := range r.Verdict.Reasons {
			o.Open = append(o.Open, failure{strings.Join(reason.Requirements, " "), reason.Text})
		}
	}
	switch wrong := n.Kind == "wrong"; {
	case n.reading.Kind != n.Kind:
		o.Result = disputed
	case wrong && refused && hit:
		o.Result = caught
	case wrong && refused:
		o.Result = refusedOtherwise
	case wrong && approved:
		o.Result = missed
	case wrong:
		o.Result = open
	case refused:
		o.Result = blamed
	case approved:
		o.Result = certified
	default:
		o.Result = inconclusive
	}
	return o
}

// record holds the results of a round with one version of rin.
type record struct {
	Schema    string    `json:"schema"` // "rin.contact.round/v1"
	Round     int       `json:"round"`
	What      string    `json:"what"` // one of the constants below
	Version   string    `json:"version"`
	Catalogue string    `json:"catalogue"`
	How       string    `json:"how"`
	Nodes     []outcome `json:"nodes"`
}

const recordVersion = "rin.contact.round/v1"

// The kinds of record of a round. Only firstContact is a measure. Later patient runs are compared with afterLearning, later quick runs with
// quickCheck.
const (
	firstContact  = "first contact"
	afterLearning = "after learning"
	quickCheck    = "quick check"
)

// recordFile returns the path of a record of a round.
func recordFile(round int, kind string) string {
	suffix := map[string]string{firstContact: "", afterLearning: ".after", quickCheck: ".quick"}[kind]
	return filepath.Join("rounds", fmt.Sprintf("round%d%s.json", round, suffix))
}

// readRecords returns all records of a kind, in the order of their rounds.
func readRecords(kind string) ([]record, error) {
	var all []record
	for round := 1; ; round++ {
		if _, err := os.Stat(fmt.Sprintf("round%d", round)); err != nil {
			return all, nil
		}
		var r record
		if err := readJSON(recordFile(round, kind), &r); os.IsNotExist(err) {
			continue
		} else if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
}

// write writes the record into its file, with one line for each node.
func (r record) write() error {
	nodes := make([]string, len(r.Nodes))
	for i, o := range r.Nodes {
		line, err := json.Marshal(o)
		if err != nil {
			return err
		}
		nodes[i] = string(line)
	}
	text := fmt.Sprintf("{\n\"schema\": %q,\n\"round\": %d,\n\"what\": %q,\n\"version\": %q,\n\"catalogue\": %q,\n\"how\": %q,\n\"nodes\": [\n%s\n]\n}\n",
		r.Schema, r.Round, r.What, r.Version, r.Catalogue, r.How, strings.Join(nodes, ",\n"))
	return os.WriteFile(recordFile(r.Round, r.What), []byte(text), 0o644)
}

// count counts the results of a record.
func (r record) count() verdict.Contact {
	c := verdict.Contact{Round: r.Round, Version: r.Version, Catalogue: r.Catalogue}
	for _, o := range r.Nodes {
		if o.Result == disputed {
			continue
		}
		if o.Kind == "wrong" {
			c.Wrong++
		} else {
			c.Right++
		}
		switch o.Result {
		case caught:
			c.Caught++
		case refusedOtherwise:
			c.Otherwise++
		case open:
			c.Open++
		case missed:
			c.Missed++
		case certified:
			c.Certified++
		case blamed:
			c.Blamed++
		case inconclusive:
			c.Inconclusive++
		}
	}
	return c
}

// schemathesis holds the findings of Schemathesis on the wrong nodes of a round. A person decided which findings name the
// real fault.
type schemathesis struct {
	Version string `json:"version"`
	How     string `json:"how"`
	Nodes   []struct {
		Node        string `json:"node"`
		ReallyWrong bool   `json:"reallyWrong"`
		Rin         result `json:"rin"` // at first contact
		Why         string `json:"why"`
	} `json:"nodes"`
}

// schemathesisText describes what Schemathesis found on the nodes of a round; "" if it was not run on them.
func schemathesisText(round int) string {
	var s schemathesis
	if readJSON(filepath.Join("rounds", fmt.Sprintf("round%d.schemathesis.json", round)), &s) != nil {
		return ""
	}
	found := 0
	var lines strings.Builder
	for _, n := range s.Nodes {
		if n.ReallyWrong {
			found++
			fmt.Fprintf(&lines, "- `%s` (rin: %s): %s.\n", n.Node, n.Rin, n.Why)
		}
	}
	return fmt.Sprintf("\nSchemathesis %s (%s) found what is really wrong on %d of the %d wrong nodes that it was run on:\n\n%s", s.Version, s.How, found, len(s.Nodes), lines.String())
}

// tables writes the part of README.md that comes from the records.
func tables(measured, learned []record) string {
	var b strings.Builder
	b.WriteString("| Round | rin | Wrong | Caught | Refused otherwise | Open | Missed | Right | Certified | Blamed | Inconclusive |\n")
	b.WriteString("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	row := func(name string, c verdict.Contact) {
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d | %d | %d | %d |\n",
			name, c.Version, c.Wrong, c.Caught, c.Otherwise, c.Open, c.Missed, c.Right, c.Certified, c.Blamed, c.Inconclusive)
	}
	for _, r := range measured {
		row(fmt.Sprintf("**%d**", r.Round), r.count())
		for _, after := range learned {
			if after.Round == r.Round {
				row(fmt.Sprintf("%d, after learning (no measure)", after.Round), after.count())
			}
		}
	}
	for _, r := range measured {
		c := r.count()
		fmt.Fprintf(&b, "\n## Round %d\n\n%s\n\n%s.\n\n| Node | Framework | Breaks | Result | Failed |\n|---|---|---|---|---|\n", r.Round, c.Sentence(), r.How)
		for _, o := range r.Nodes {
			var breaks, failed []string
			for _, id := range o.Breaks {
				breaks = append(breaks, string(id))
			}
			for _, f := range append(o.Failed, o.Open...) {
				failed = append(failed, f.ID)
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", o.Node, o.Framework, strings.Join(breaks, ", "), o.Result, strings.Join(failed, ", "))
		}
		list := func(title string, results ...result) {
			var lines []string
			for _, o := range r.Nodes {
				if slices.Contains(results, o.Result) {
					line := fmt.Sprintf("- `%s`: %s", o.Node, o.Sentence)
					for _, f := range append(o.Failed, o.Open...) {
						line += fmt.Sprintf(" **%s** %s.", f.ID, strings.TrimSuffix(f.Text, "."))
					}
					lines = append(lines, line)
				}
			}
			if len(lines) > 0 {
				fmt.Fprintf(&b, "\n%s:\n\n%s\n", title, strings.Join(lines, "\n"))
			}
		}
		list("Wrong nodes that were not caught, with the sentence that they break", missed, open, refusedOtherwise)
		list("Right nodes that were not certified, with what is unusual about them", blamed, inconclusive)
		list("Not counted, because writer and second reader differ", disputed)
		b.WriteString(schemathesisText(r.Round))
	}
	return b.String()
}
