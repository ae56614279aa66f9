package verdict

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/conformance/requirement"
)

// BaselineVersion is the version of the baseline format.
const BaselineVersion = "rin.baseline/v1"

// Baseline is an operator's list of known failures. A pipeline with a baseline fails on new failures, on listed requirements that pass, and on
// expired entries. Its run is never a certificate.
//
//	schema: rin.baseline/v1
//	known:
//	  - id: BRR-02
//	    reason: the gateway drops WWW-Authenticate, ticket NET-42
//	    until: 2026-12-31
type Baseline struct {
	Known []KnownFailure
}

// KnownFailure is one entry of a baseline.
type KnownFailure struct {
	ID     requirement.ID
	Reason string
	// Until is the last day on which the failure is excused.
	Until Day
}

// Find returns the entry of a requirement.
func (b Baseline) Find(id requirement.ID) (KnownFailure, bool) {
	if i := slices.IndexFunc(b.Known, func(e KnownFailure) bool { return e.ID == id }); i >= 0 {
		return b.Known[i], true
	}
	return KnownFailure{}, false
}

// Day is a calendar day in UTC, "2026-12-31".
type Day string

// DayOf returns the day of a time.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// Valid reports whether the calendar has the day.
func (d Day) Valid() bool {
	_, err := time.Parse(time.DateOnly, string(d))
	return err == nil
}

// Before reports whether d is earlier than e.
func (d Day) Before(e Day) bool { return d < e } // ISO 8601 days sort as text

// BaselineError is a mistake in a baseline.
type BaselineError struct {
	Line    int
	Message string
	Hint    string
}

// Error names the line, the mistake and how to fix it.
func (m *BaselineError) Error() string {
	return fmt.Sprintf("line %d: %s (%s)", m.Line, m.Message, m.Hint)
}

// ReadBaseline reads a baseline from YAML or JSON. It is strict, because a misspelt entry would excuse nothing, or too much. The error joins a
// [BaselineError] for each mistake.
func ReadBaseline(data []byte) (Baseline, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return Baseline{}, fmt.Errorf("read the baseline: %w", err)
	}
	r := &baselineReader{}
	out := Baseline{}
	if len(root.Content) == 0 {
		r.report(&yaml.Node{Line: 1}, "the baseline is empty", "begin with schema: "+BaselineVersion)
		return out, r.err()
	}
	top := r.members(root.Content[0], "schema", "known")
	if schema := r.text(root.Content[0], top, "schema"); schema != "" && schema != BaselineVersion {
		r.report(top["schema"], fmt.Sprintf("schema is %.40q", schema), "this version of rin reads "+BaselineVersion)
	}
	known, ok := top["known"]
	switch {
	case !ok:
		r.report(root.Content[0], "known is missing", "list the known failures under it; known: [] for none")
	case known.Kind != yaml.SequenceNode:
		r.report(known, "known is not a list", "begin each known failure with - id:")
	default:
		for _, item := range known.Content {
			out.Known = append(out.Known, r.entry(item, out))
		}
	}
	return out, r.err()
}

// baselineReader collects faults, so that all are reported together.
type baselineReader struct{ faults []error }

func (r *baselineReader) report(at *yaml.Node, message, hint string) {
	r.faults = append(r.faults, &BaselineError{Line: at.Line, Message: message, Hint: hint})
}

func (r *baselineReader) err() error { return errors.Join(r.faults...) }

// entry reads one known failure. before holds the entries already read.
func (r *baselineReader) entry(item *yaml.Node, before Baseline) KnownFailure {
	m := r.members(item, "id", "reason", "until")
	if m == nil {
		return KnownFailure{}
	}
	e := KnownFailure{
		ID:     requirement.ID(strings.ToUpper(r.text(item, m, "id"))),
		Reason: r.text(item, m, "reason"), Until: Day(r.text(item, m, "until")),
	}
	if _, exists := requirement.Find(e.ID); e.ID != "" && !exists {
		r.report(m["id"], fmt.Sprintf("unknown requirement %.40q", e.ID), "rin requirements lists them")
	}
	if _, twice := before.Find(e.ID); e.ID != "" && twice {
		r.report(m["id"], fmt.Sprintf("%s is listed twice", e.ID), "keep one of the entries")
	}
	if e.Until != "" && !e.Until.Valid() {
		r.report(m["until"], fmt.Sprintf("until is %.40q", e.Until), "write the last day of the excuse as 2026-12-31")
	}
	return e
}

// members returns the members of a mapping by name, and reports unknown and repeated ones.
func (r *baselineReader) members(node *yaml.Node, names ...string) map[string]*yaml.Node {
	if node.Kind != yaml.MappingNode {
		r.report(node, "expected members with the names "+strings.Join(names, ", "), "see rin certify --help")
		return nil
	}
	out := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		switch _, twice := out[name.Value]; {
		case twice:
			r.report(name, fmt.Sprintf("%s is repeated", name.Value), "keep one of them")
		case !slices.Contains(names, name.Value):
			r.report(name, fmt.Sprintf("%.40q is unknown here", name.Value), "expected "+strings.Join(names, ", "))
		}
		out[name.Value] = value
	}
	return out
}

// text returns a required text member.
func (r *baselineReader) text(in *yaml.Node, members map[string]*yaml.Node, name string) string {
	if members == nil {
		return ""
	}
	value, ok := members[name]
	if !ok {
		r.report(in, name+" is missing", baselineHint(name))
		return ""
	}
	if value.Kind != yaml.ScalarNode || strings.TrimSpace(value.Value) == "" || value.Tag == "!!null" {
		r.report(value, name+" is not a text", baselineHint(name))
		return ""
	}
	return strings.TrimSpace(value.Value)
}

func baselineHint(name string) string {
	switch name {
	case "schema":
		return "begin with schema: " + BaselineVersion
	case "id":
		return "name the requirement, as BRR-02"
	case "reason":
		return "say why the failure is known and who fixes it"
	}
	return "write the last day of the excuse as 2026-12-31"
}

// WriteBaseline writes a baseline that its operator completes.
func WriteBaseline(w io.Writer, b Baseline) error {
	type entry struct {
		ID     string    `yaml:"id"`
		Reason string    `yaml:"reason"`
		Until  yaml.Node `yaml:"until"`
	}
	file := struct {
		Schema string  `yaml:"schema"`
		Known  []entry `yaml:"known"`
	}{BaselineVersion, []entry{}}
	for _, e := range b.Known {
		// As a Go string the day would be quoted in YAML; as a node it is a plain scalar.
		file.Known = append(file.Known, entry{string(e.ID), e.Reason, yaml.Node{Kind: yaml.ScalarNode, Value: string(e.Until)}})
	}
	data, err := yaml.Marshal(file)
	if err != nil {
		return fmt.Errorf("encode the baseline: %w", err)
	}
	_, err = fmt.Fprintf(w, "# Failures that are known, for rin certify --baseline. Say in each reason who fixes it; after the day in\n"+
		"# until it counts as new. A run with a baseline is never a certificate.\n%s", data)
	return err
}
