package baseline

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/conformance/requirement"
)

// A Mistake is something in a baseline that cannot be meant.
type Mistake struct {
	Line    int
	Message string
	Hint    string
}

// Error names the line.
func (m *Mistake) Error() string { return fmt.Sprintf("line %d: %s (%s)", m.Line, m.Message, m.Hint) }

// Read reads a baseline, which is YAML, or JSON for those who generate it. It is strict: an excuse that is spelt wrong would excuse
// nothing, or too much. The error holds a [Mistake] for each thing to mend.
func Read(data []byte) (Baseline, error) {
	var root yaml.Node
	if err := yaml.Unmarshal(data, &root); err != nil {
		return Baseline{}, fmt.Errorf("read the baseline: %w", err)
	}
	r := &reader{}
	out := Baseline{}
	if len(root.Content) == 0 {
		r.mistake(&yaml.Node{Line: 1}, "the baseline is empty", "begin with schema: "+Version)
		return out, r.err()
	}
	top := r.members(root.Content[0], "schema", "known")
	if schema := r.text(root.Content[0], top, "schema"); schema != "" && schema != Version {
		r.mistake(top["schema"], fmt.Sprintf("schema is %.40q", schema), "this version of rin reads "+Version)
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

// reader collects mistakes, so that all are told at once.
type reader struct{ mistakes []error }

func (r *reader) mistake(at *yaml.Node, message, hint string) {
	r.mistakes = append(r.mistakes, &Mistake{Line: at.Line, Message: message, Hint: hint})
}

func (r *reader) err() error { return errors.Join(r.mistakes...) }

// entry reads one known failure; before are those that were read already.
func (r *reader) entry(item *yaml.Node, before Baseline) Entry {
	m := r.members(item, "id", "reason", "until")
	if m == nil {
		return Entry{}
	}
	e := Entry{
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
func (r *reader) members(node *yaml.Node, names ...string) map[string]*yaml.Node {
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
func (r *reader) text(in *yaml.Node, members map[string]*yaml.Node, name string) string {
	if members == nil {
		return ""
	}
	value, ok := members[name]
	if !ok {
		r.mistake(in, name+" is missing", hints(name))
		return ""
	}
	if value.Kind != yaml.ScalarNode || strings.TrimSpace(value.Value) == "" || value.Tag == "!!null" {
		r.mistake(value, name+" is no text", hints(name))
		return ""
	}
	return strings.TrimSpace(value.Value)
}

func hints(name string) string {
	switch name {
	case "schema":
		return "begin with schema: " + Version
	case "id":
		return "name the requirement, as BRR-02"
	case "reason":
		return "say why the failure is known and who mends it"
	}
	return "write the last day of the excuse as 2026-12-31"
}
