package registry

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/conformance/evidence"
)

// Policy is what the operator of a registry decided: registry.yaml.
type Policy struct {
	// Operator is a URI that names the operator in what they sign.
	Operator string
	// Document is the registry document, a URL or a file.
	Document string
	// Site is the URL at which the pages are served; marks refer to certificates there.
	Site string
	// CACert is a file of certificate authorities to trust besides the system's.
	CACert string

	Rules
	// DelayedCheck is how long after the run of an admission its delayed check is due; nil for the default. NightCheck is the same for a night.
	DelayedCheck *time.Duration
	NightCheck   CheckPolicy
	// MarkAge is how long a trust mark and the status list are valid.
	MarkAge time.Duration
	// MayShrink is the part of the entries that the document may lose from one run to the next, in percent.
	MayShrink int

	// AtOnce is the number of nodes that are tested at the same time. Hours are the hours in which tests may start.
	AtOnce int
	Hours  Hours

	// Defaults apply to each node, Nodes to the node with that id.
	Defaults NodePolicy
	Nodes    map[string]NodePolicy

	// Text is the file as it was read: certificates name its digest.
	Text []byte
}

// NodePolicy is the policy for one node. A field that is not set is taken from the defaults.
type NodePolicy struct {
	Profile string
	Effort  string
	// The clients, each with the place of its secret: env:NAME, file:PATH or exec:COMMAND.
	Client, Second, Other, Spare Client
	Staging                      Client
	StagingURL                   string
	SpecURL, BaseURL             string
	ListOperation                string
	DetailOperation              string
	// Origins are the origins that may receive credentials besides those of the entry. An entry that moves to one of them needs no new admission.
	Origins []string
	Values  map[string]string
	Gaps    map[string]string
	// Polite asks for one request at a time, one a second. Rate, Concurrency, Timeout and Deadline bound the load otherwise.
	Polite      bool
	Rate        float64
	Concurrency int
	Timeout     time.Duration
	Deadline    time.Duration
	Wait        *time.Duration
	// Blind says whether the node's operator agreed to tests that the node cannot recognise as tests. Nil means that the operator agreed only to the test at
	// the admission, which the letter announces.
	Blind *bool
	// Skip is the reason for leaving the node out, Withdrawn the reason for withdrawing its certificate; both are empty for most nodes.
	Skip, Withdrawn string
}

// Client is a client of a node and the place of its secret.
type Client struct{ ID, Secret string }

// Hours are hours of the day in UTC, [From, To); the zero value is the whole day.
type Hours struct{ From, To time.Duration }

// Contains reports whether a time is within the hours, which may span midnight.
func (h Hours) Contains(at time.Time) bool {
	at = at.UTC()
	clock := time.Duration(at.Hour())*time.Hour + time.Duration(at.Minute())*time.Minute
	switch {
	case h == Hours{}:
		return true
	case h.From <= h.To:
		return clock >= h.From && clock < h.To
	}
	return clock >= h.From || clock < h.To
}

// Fault is a mistake in registry.yaml.
type Fault struct {
	Line                      int
	Path, Expected, Got, Hint string
}

func (f Fault) String() string {
	text := fmt.Sprintf("line %d", f.Line)
	if f.Path != "" {
		text += ": " + f.Path
	}
	text += fmt.Sprintf(": expected %s, got %s", f.Expected, f.Got)
	if f.Hint != "" {
		text += " (hint: " + f.Hint + ")"
	}
	return text
}

// Faults are all mistakes in a file.
type Faults []Fault

// Error implements error.
func (f Faults) Error() string {
	var lines []string
	for _, fault := range f {
		lines = append(lines, fault.String())
	}
	return strings.Join(lines, "\n")
}

// ReadPolicy reads registry.yaml. It returns all mistakes together, as [Faults].
func ReadPolicy(text []byte) (Policy, error) {
	p := Policy{
		Rules:   Rules{MaxAge: 365 * day, Notice: 30 * day, BadNights: 2, StaleAfter: 7 * day},
		MarkAge: 3 * day, MayShrink: 10, AtOnce: 2, Nodes: map[string]NodePolicy{}, Text: text,
	}
	r := &reader{}
	root := r.document(text)
	if len(r.faults) > 0 {
		return p, r.faults
	}
	var nodes *yaml.Node
	r.mapping(root, "", keys{
		"operator": r.uri(&p.Operator), "document": r.text(&p.Document, "the URL or the file of the registry document"),
		"site": r.uri(&p.Site), "cacert": r.text(&p.CACert, "a PEM file"),
		"certificate": r.below(keys{
			"max-age": r.duration(&p.MaxAge), "notice": r.duration(&p.Notice), "bad-nights": r.number(&p.BadNights, 1, 100),
			"stale-after": r.duration(&p.StaleAfter), "mark-age": r.duration(&p.MarkAge), "delayed-check": r.wait(&p.DelayedCheck),
			"control": r.choice(func(word string) { p.RequireControl = word == "required" }, "required", "optional"),
		}),
		"run": r.below(keys{
			"at-once": r.number(&p.AtOnce, 1, 256), "hours": r.hours(&p.Hours), "may-shrink": r.number(&p.MayShrink, 0, 100),
			"delayed-check": r.waitOrOff(&p.NightCheck),
		}),
		"defaults": r.below(r.node(&p.Defaults)),
		"nodes":    func(v *yaml.Node, _ string) { nodes = v }, // read after the defaults
	})
	if nodes != nil {
		r.each(nodes, "nodes", func(id string, v *yaml.Node, path string) {
			n := p.Defaults
			n.Values, n.Gaps, n.Origins = maps.Clone(n.Values), maps.Clone(n.Gaps), slices.Clone(n.Origins)
			r.mapping(v, path, r.node(&n))
			p.Nodes[id] = n
		})
	}
	r.need(root, "operator", p.Operator, "a URI that names you, such as https://registry.example")
	r.need(root, "document", p.Document, "the URL or the file of the registry document")
	if p.Notice >= p.MaxAge {
		r.fault(cmp.Or(r.at["certificate.notice"], r.at["certificate.max-age"], root), "certificate.notice", "less than max-age, "+evidence.Duration(p.MaxAge), evidence.Duration(p.Notice), "")
	}
	r.checkClients(&p)
	if len(r.faults) > 0 {
		return p, r.faults
	}
	if p.Site == "" {
		p.Site = p.Operator
	}
	return p, nil
}

// For returns the policy for a node.
func (p Policy) For(id string) NodePolicy {
	if n, named := p.Nodes[id]; named {
		return n
	}
	return p.Defaults
}
