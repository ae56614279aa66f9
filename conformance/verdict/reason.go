package verdict

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// Reason is one thing that keeps a profile from being certified.
type Reason struct {
	Kind ReasonKind
	// Requirements are the ids that it is about, in catalogue order; empty for a reason that is about the run.
	Requirements []requirement.ID
	// Text is one sentence without the ids, lower-case, without a final dot.
	Text string
}

// String names the ids and the reason; many ids are cut to the first three and a count.
func (r Reason) String() string {
	if len(r.Requirements) == 0 {
		return r.Text
	}
	return IDs(r.Requirements, 3) + ": " + r.Text
}

// IDs lists at most limit ids, and counts the rest.
func IDs(ids []requirement.ID, limit int) string {
	shown := make([]string, 0, limit)
	for _, id := range ids[:min(limit, len(ids))] {
		shown = append(shown, string(id))
	}
	list := strings.Join(shown, ", ")
	if more := len(ids) - len(shown); more > 0 {
		return fmt.Sprintf("%s and %d more", list, more)
	}
	return list
}

// ReasonKind groups the reasons.
type ReasonKind string

// The kinds of reason.
const (
	GatingFailed ReasonKind = "gating-failed" // a gating requirement failed
	AdviceFailed ReasonKind = "advice-failed" // profile full allows no failed advice
	Blocked      ReasonKind = "blocked"       // a gating requirement waits for another one
	Inconclusive ReasonKind = "inconclusive"  // a gating requirement could not be judged
	NotProven    ReasonKind = "not-proven"    // the profile does not accept not-applicable here
	Unprotected  ReasonKind = "unprotected"   // no protected resource was found
	Incomplete   ReasonKind = "incomplete"    // the evidence ends early
	NothingSeen  ReasonKind = "nothing-seen"  // no gating requirement was judged at all

	BaselineMended  ReasonKind = "baseline-mended"  // the baseline lists what did not fail
	BaselineExpired ReasonKind = "baseline-expired" // an excuse of the baseline has ended
)

// Weight says which decision a reason leads to.
type Weight int

// The weights.
const (
	Broken Weight = iota // not certified
	Open                 // to be repeated
)

// Weight says whether the node was seen to break something or something stayed open.
func (k ReasonKind) Weight() Weight {
	switch k {
	case GatingFailed, AdviceFailed, BaselineMended, BaselineExpired:
		return Broken
	}
	return Open
}

// reasons collects reasons and puts requirements with the same reason together.
type reasons struct{ list []Reason }

func (rs *reasons) add(kind ReasonKind, text string, ids ...requirement.ID) {
	for i := range rs.list {
		if rs.list[i].Kind == kind && rs.list[i].Text == text {
			rs.list[i].Requirements = append(rs.list[i].Requirements, ids...)
			return
		}
	}
	rs.list = append(rs.list, Reason{Kind: kind, Requirements: ids, Text: text})
}

// sorted puts what is broken before what stayed open, and keeps the order otherwise.
func (rs *reasons) sorted() []Reason {
	var out []Reason
	for _, weight := range []Weight{Broken, Open} {
		for _, r := range rs.list {
			if r.Kind.Weight() == weight {
				out = append(out, r)
			}
		}
	}
	return out
}
