// Package verdict reads and writes the failures that a node's operator knows of: each with a reason and a day on which the excuse ends.
// A pipeline that is given a baseline fails on what is new, on what is mended and still listed, and on what has expired; what it says
// is never a certificate.
//
//	schema: rin.baseline/v1
//	known:
//	  - id: BRR-02
//	    reason: the gateway drops WWW-Authenticate, ticket NET-42
//	    until: 2026-12-31
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

// BaselineVersion is the version of the file format.
const BaselineVersion = "rin.baseline/v1"

// Baseline is a list of known failures.
type Baseline struct {
	Known []KnownFailure
}

// KnownFailure is one failure that its operator knows of.
type KnownFailure struct {
	ID     requirement.ID
	Reason string
	// Until is the last day on which the failure is known and not new.
	Until Day
}

// Find returns the entry of a requirement.
func (b Baseline) Find(id requirement.ID) (KnownFailure, bool) {
	for _, e := range b.Known {
		if e.ID == id {
			return e, true
		}
	}
	return KnownFailure{}, false
}

// Day is a day of the calendar in UTC, "2026-12-31".
type Day string

// DayOf is the day of a moment.
func DayOf(t time.Time) Day { return Day(t.UTC().Format(time.DateOnly)) }

// Valid reports a day that the calendar has.
func (d Day) Valid() bool {
	_, err := time.Parse(time.DateOnly, string(d))
	return err == nil
}

// Before reports whether d is over when e begins.
func (d Day) Before(e Day) bool { return d < e } // ISO 8601 days sort as text

// A Mistake is something in a baseline that cannot be meant.
type BaselineError struct {
	Line    int
	Message string
	Hint    string
}

// Error names the line.
func (m *BaselineError) Error() string {
	return fmt.Sprintf("line %d: %s (%s)", m.Line, m.Message, m.Hint)
}

// ReadBaseline reads a baseline, which is YAML, or JSON for those who generate it. It is strict: an excuse that is spelt wrong would excuse
// nothing, or too much. The error holds a [BaselineError] for each thing to mend.
func ReadBaseline(data []byte) (Baseline, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return Baseline{}, fmt.Errorf("read the baseline: %w", err)
	}
	r := &baselineReader{}
	out := Baseline{}
	if len(root.Content) == 0 {
		r.mistake(&yaml.Node{Line: 1}, "the baseline is empty", "begin with schema: "+BaselineVersion)
		return out, r.err()
	}
	top := r.members(root.Content[0], "schema", "known")
	if schema := r.text(root.Content[0], top, "schema"); schema != "" && schema != BaselineVersion {
		r.mistake(top["schema"], fmt.Sprintf("schema is %.40q", schema), "this version of rin reads "+BaselineVersion)
	}
	known, ok := top["known"]
	switch {
	case !ok:
		r.mistake(root.Content[0], "known is missing", "list the known failures under it; known: [] for none")
	case known.Kind != yaml.SequenceNode:
		r.mistake(known, "known is no list", "begin each known failure with - id:")
	default:
		for _, item := range known.Content {
			out.Known = append(out.Known, r.entry(item, out))
		}
	}
	return out, r.err()
}

// baselineReader collects mistakes, so that all are told at once.
type baselineReader struct{ mistakes []error }

func (r *baselineReader) mistake(at *yaml.Node, message, hint string) {
	r.mistakes = append(r.mistakes, &BaselineError{Line: at.Line, Message: message, Hint: hint})
}

func (r *baselineReader) err() error { return errors.Join(r.mistakes...) }

// entry reads one known failure; before are those that were read already.
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
		r.mistake(m["id"], fmt.Sprintf("%.40q is no requirement of this version", e.ID), "rin requirements lists them")
	}
	if _, twice := before.Find(e.ID); e.ID != "" && twice {
		r.mistake(m["id"], fmt.Sprintf("%s is listed twice", e.ID), "keep one of the entries")
	}
	if e.Until != "" && !e.Until.Valid() {
		r.mistake(m["until"], fmt.Sprintf("until is %.40q", e.Until), "write the last day of the excuse as 2026-12-31")
	}
	return e
}

// members are the members of a mapping by name; others than the names are mistakes.
func (r *baselineReader) members(node *yaml.Node, names ...string) map[string]*yaml.Node {
	if node.Kind != yaml.MappingNode {
		r.mistake(node, "expected members with the names "+strings.Join(names, ", "), "see rin certify --help")
		return nil
	}
	out := map[string]*yaml.Node{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, value := node.Content[i], node.Content[i+1]
		switch _, twice := out[name.Value]; {
		case twice:
			r.mistake(name, fmt.Sprintf("%s stands here twice", name.Value), "keep one of them")
		case !slices.Contains(names, name.Value):
			r.mistake(name, fmt.Sprintf("%.40q is unknown here", name.Value), "expected "+strings.Join(names, ", "))
		}
		out[name.Value] = value
	}
	return out
}

// text is the text of a member that has to be there.
func (r *baselineReader) text(in *yaml.Node, members map[string]*yaml.Node, name string) string {
	if members == nil {
		return ""
	}
	value, ok := members[name]
	if !ok {
		r.mistake(in, name+" is missing", baselineHint(name))
		return ""
	}
	if value.Kind != yaml.ScalarNode || strings.TrimSpace(value.Value) == "" || value.Tag == "!!null" {
		r.mistake(value, name+" is no text", baselineHint(name))
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
		return "say why the failure is known and who mends it"
	}
	return "write the last day of the excuse as 2026-12-31"
}

// WriteBaseline writes a baseline for its operator to complete.
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
		// A plain scalar: without its own node the day would be quoted, as the text that it is in Go.
		file.Known = append(file.Known, entry{string(e.ID), e.Reason, yaml.Node{Kind: yaml.ScalarNode, Value: string(e.Until)}})
	}
	data, err := yaml.Marshal(file)
	if err != nil {
		return fmt.Errorf("encode the baseline: %w", err)
	}
	_, err = fmt.Fprintf(w, "# Failures that are known, for rin certify --baseline. Say in each reason who mends it; after the day in\n"+
		"# until it counts as new. A run with a baseline is never a certificate.\n%s", data)
	return err
}
