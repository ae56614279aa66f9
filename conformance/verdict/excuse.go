package verdict

import (
	"fmt"

	"github.com/rin-network/rin/conformance/baseline"
	"github.com/rin-network/rin/conformance/requirement"
)

// Excused says what became of the entries of a baseline, each in exactly one list, in the order of the baseline.
type Excused struct {
	// Known failed as listed.
	Known []baseline.Entry
	// Mended were listed and passed, with a warning perhaps.
	Mended []baseline.Entry
	// Expired are entries whose last day is over, whatever was seen.
	Expired []baseline.Entry
	// Unseen were not judged by this run, or in a way that tells nothing.
	Unseen []baseline.Entry
}

// excuse marks what the baseline lists as known on that day.
func (v *Verdict) excuse(b baseline.Baseline, today baseline.Day) {
	v.Excused = &Excused{}
	at := map[requirement.ID]*Result{}
	for i := range v.Results {
		at[v.Results[i].Requirement.ID] = &v.Results[i]
	}
	for _, entry := range b.Known {
		result := at[entry.ID]
		switch {
		case entry.Until.Before(today):
			v.Excused.Expired = append(v.Excused.Expired, entry)
		case result == nil:
			v.Excused.Unseen = append(v.Excused.Unseen, entry)
		case result.Judgement.Outcome == requirement.Fail:
			result.Known = &entry
			v.Excused.Known = append(v.Excused.Known, entry)
		case result.Judgement.Outcome == requirement.Pass || result.Judgement.Outcome == requirement.Warn:
			v.Excused.Mended = append(v.Excused.Mended, entry)
		default:
			v.Excused.Unseen = append(v.Excused.Unseen, entry)
		}
	}
	for i := range v.Results {
		j := v.Results[i].Judgement
		if before := at[j.BlockedBy]; j.Outcome == requirement.Blocked && before != nil {
			v.Results[i].Known = before.Known // what waits for a known failure is not new either
		}
	}
}

// reasons say what is to be done about the baseline itself.
func (e *Excused) reasons() []Reason {
	rs := &reasons{}
	for _, entry := range e.Mended {
		rs.add(BaselineMended, "the baseline lists it as a known failure, and it passed: take the entry out", entry.ID)
	}
	for _, entry := range e.Expired {
		rs.add(BaselineExpired, fmt.Sprintf("the excuse of the baseline ended on %s: mend the node and take the entry out", entry.Until), entry.ID)
	}
	return rs.list
}
