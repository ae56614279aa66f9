package main

import (
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/sandbox/conduct"
)

// clientRule finds a rule for clients by its id in any case.
func clientRule(id string) (conduct.Rule, bool) { return conduct.Find(conduct.ID(strings.ToUpper(id))) }

// writeClientRule lays out a rule for clients.
func (e *explanation) writeClientRule(r conduct.Rule) {
	e.text.WriteString(string(r.ID) + "  " + r.Title + "\n\n")
	e.part("for", "clients: rin sandbox judges them by what they send")
	e.part("level", conductWords(r.Level))
	word := "source"
	for _, s := range r.Sources {
		where := s.Link
		if rule, ok := requirement.InterfaceRule(requirement.Citation{Text: "Interface document, " + s.Text}); ok {
			where = "(" + rule.Place + "): “" + strings.Join(rule.Words, "” “") + "”"
		}
		e.part(word, strings.TrimSpace(s.Text+" "+where))
		word = "see also"
	}
	e.part("why", r.Why)
	e.part("fix", r.Fix)
	e.text.WriteString("\nSee what your client does:\nrin sandbox --control " + defaultControl + "\nrin sandbox report\n")
}

func conductWords(l conduct.Level) string {
	switch l {
	case conduct.Fault:
		return "fault: it breaks a rule, gives a secret away, or loses data; rin sandbox report ends with 1"
	case conduct.Waste:
		return "waste: legal, and costs the client or the node more than it needs"
	}
	return "note: worth knowing, and may be intended"
}
