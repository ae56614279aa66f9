package funding

import (
	"slices"
	"time"

	"github.com/rin-network/rin/fixtures/generate"
	"github.com/rin-network/rin/fixtures/model"
)

// accepts tells whether a record with these facets is asked for at the time now.
func (q query) accepts(f generate.Facets, now time.Time) bool {
	return (q.kind == "" || f.Type == q.kind) &&
		(q.group == "" || slices.Contains(f.TargetGroups, q.group)) &&
		(q.region == "" || slices.Contains(f.Regions, q.region)) &&
		(q.funder == "" || slices.Contains(f.FunderIDs, q.funder)) &&
		(q.scope == "" || f.Scope == q.scope) &&
		(q.running == nil || isCall(f) && running(f, now) == *q.running)
}

// isCall tells whether proposals can be submitted; only such records run or do not run.
func isCall(f generate.Facets) bool {
	return f.Type == model.TypeCall || f.Type == model.TypeOngoingCall
}

// running holds from the start of the first stage, included, to its end, excluded. A call without stages has no
// deadline and is open.
func running(f generate.Facets, now time.Time) bool {
	if len(f.Stages) == 0 {
		return true
	}
	first := f.Stages[0]
	return !now.Before(first.Start) && (first.End.IsZero() || now.Before(first.End))
}
