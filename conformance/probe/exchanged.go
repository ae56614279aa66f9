package probe

import (
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// exchangedCases returns the request with a range whose ends are exchanged, if the document may describe both bounds of a member.
func exchangedCases(o openapi.Operation) []row {
	has := func(side bound) bool {
		return slices.ContainsFunc(o.QueryParameters(), func(p openapi.Parameter) bool { b, ok := boundOf(p); return ok && b.bound == side })
	}
	if !has(atLeastBound) || !has(atMostBound) {
		return nil
	}
	return []row{{Label: evidence.ListOperation.With("range-exchanged"), Words: "with the ends of a range exchanged",
		Plan: in(stageRest, stageRead, stagePages).onlyIf(notQuick).onDemand(), Send: choose(exchangedRange)}}
}

// exchangedRange requests a range that begins where the upper values of a member are, and ends where the lower ones are, so that items lie between the ends. No item
// fits both bounds.
func exchangedRange(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	r.facts.mu.Lock()
	bounds := slices.Clone(r.facts.bounds[res.Name])
	r.facts.mu.Unlock()
	for _, from := range bounds {
		for _, to := range bounds {
			if from.bound != atLeastBound || to.bound != atMostBound || from.member != to.member || from.date != to.date {
				continue
			}
			_, values := occurrences(r.facts.itemsOf(res.Name), from.member)
			values = from.ordered(values)
			if len(values) < 5 { // so that some items are between the ends, and some beyond each
				continue
			}
			edge := max(1, len(values)/4)
			low, high := to.written(values[edge]), from.written(values[len(values)-1-edge])
			if low == high {
				continue
			}
			a := condition{filter: from.filter, value: high, bound: atLeastBound}
			b := condition{filter: to.filter, value: low, bound: atMostBound}
			return chosen{r.sized(o, withQuery(res.URL, pair{a.parameter, a.value}, pair{b.parameter, b.value}), a.parameter, maxWalkSize), pairGiven(a, b)}, nil
		}
	}
	return chosen{}, notApplicable("the document describes no two bounds of one member with several values")
}

// written returns a value of the data in the form that the parameter takes.
func (b describedBound) written(value string) string {
	if b.date && b.day {
		return value[:len(time.DateOnly)]
	}
	return value
}
