package sandboxtest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/conduct"
	"github.com/rin-network/rin/sandbox/journal"
)

// Journal lists what was sent since the start or the last reset, oldest requests first.
func (s *Sandbox) Journal() []journal.Entry { return s.record().Entries }

// Conduct judges the clients by the journal.
func (s *Sandbox) Conduct() conduct.Report { return conduct.Judge(s.record()) }

func (s *Sandbox) record() journal.Record {
	s.running.settle()
	return s.Network.Journal().Record(0)
}

// ExpectCleanSheet fails the test with every rule that clients broke and every waste, how to keep it, and a command that does it right. Notes
// pass. Without ids it looks at all clients; a client that never called has no sheet.
func (s *Sandbox) ExpectCleanSheet(ids ...string) {
	s.t.Helper()
	sheets := s.Conduct().Clients
	for _, id := range ids {
		if !slices.ContainsFunc(sheets, func(sheet conduct.Sheet) bool { return sheet.Client == id }) {
			s.t.Errorf("client %q never called the sandbox", id)
		}
	}
	if len(sheets) == 0 && len(ids) == 0 {
		s.t.Errorf("nobody called the sandbox: there is no sheet to be clean")
	}
	for _, sheet := range sheets {
		if len(ids) > 0 && !slices.Contains(ids, sheet.Client) {
			continue
		}
		for _, finding := range sheet.Findings {
			if finding.Level != conduct.Note {
				s.t.Errorf("%s", told(sheet.Client, finding))
			}
		}
	}
}

// told is a finding in words.
func told(client string, f conduct.Finding) string {
	if client == "" {
		client = "somebody without a name"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s %s (%s, %d times)\n", client, f.Rule, f.Title, f.Level, f.Count)
	for _, event := range f.Seen {
		fmt.Fprintf(&b, "  seen  %s (requests %v)\n", event.What, event.Entries)
	}
	fmt.Fprintf(&b, "  why   %s\n  fix   %s", f.Why, f.Fix)
	if f.Curl != "" {
		fmt.Fprintf(&b, "\n  right %s", strings.ReplaceAll(f.Curl, "\n", "\n        "))
	}
	return b.String()
}
