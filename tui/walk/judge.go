package walk

import (
	"cmp"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
)

// judge judges the latest answers of the walk by some requirements. Those that don't apply to what was seen are left out.
func (w *Walk) judge(ids ...requirement.ID) []Verdict {
	rows := make([]requirement.Requirement, 0, len(ids))
	for _, id := range ids {
		if r, found := requirement.Find(id); found {
			r.After = nil // a walk looks at one thing at a time, and has not asked for what others build on
			rows = append(rows, r)
		}
	}
	judging := requirement.NewJudge(rows, requirement.Read(w.evidence()))
	var out []Verdict
	for _, r := range rows {
		j := judging.Of(r.ID)
		if j.Outcome == requirement.NotApplicable {
			continue
		}
		v := Verdict{ID: r.ID, Title: r.Title, Outcome: j.Outcome, Reason: j.Reason, Expected: j.Expected, Got: j.Got, Source: r.Source.Text(), Quote: r.Quote}
		if j.Outcome != requirement.Pass {
			v.Fix = cmp.Or(j.Hint, r.Fix)
		}
		out = append(out, v)
	}
	return out
}

// evidence is the walk as a log: of each label the latest exchange.
func (w *Walk) evidence() *exchange.Log {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.target
	journal := exchange.NewJournal(nil)
	journal.Begin(exchange.Run{
		Schema: exchange.Schema, Suite: w.options.Suite, Started: w.options.Clock(), Profile: string(requirement.Full),
		TokenURL: t.TokenURL, InfoURL: t.InfoURL, SpecURL: t.SpecURL, BaseURL: t.BaseURL, Registry: t.Registry, NodeID: t.NodeID,
		ClientID: t.Credentials.ClientID, Loopback: t.Loopback(), Second: t.Second != nil, TokenInURL: true, ExpiredToken: true,
	})
	roles := exchange.Roles{ProbeTarget: exchange.Info}
	if w.node != nil {
		roles.List, roles.Detail, roles.Operations = w.node.roles()
	}
	journal.Roles(roles)
	latest := map[exchange.Label]int{}
	here := w.history[w.since:]
	for i, s := range here {
		latest[s.exchange.Label] = i
	}
	for i, s := range here {
		if latest[s.exchange.Label] == i && s.exchange.Label != "" {
			journal.Plan(s.exchange.Label)
			journal.Add(s.exchange, s.findings...)
		}
	}
	if w.node != nil {
		journal.Document(&w.node.guarded)
	}
	journal.End(exchange.Ended{Complete: true})
	return journal.Log()
}
