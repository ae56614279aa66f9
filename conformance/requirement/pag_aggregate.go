package requirement

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file compares statistics under a filter with the complete list filtered in the same way. What a number counts is seen from the statistics without a
// filter: the records, or the sum of a member. The same number under a filter must be the same aggregate of the records that fit.

// An aggregate computes a number of some records.
type aggregate struct {
	name   string  // "the number of records" or "the sum of amount"
	member string  // "" for the number of records
	whole  float64 // its value for all records
}

// of returns the aggregate of some records; ok is false if a value is not a number.
func (a aggregate) of(e Evidence, items [][]byte) (value float64, ok bool) {
	if a.member == "" {
		return float64(len(items)), true
	}
	for _, item := range items {
		for _, text := range e.memberValues(item, a.member) {
			n, err := strconv.ParseFloat(text, 64)
			if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
				return 0, false
			}
			value += n
		}
	}
	return value, true
}

// maxAggregates bounds the members of the records that are added up.
const maxAggregates = 30

// aggregatesOf returns the aggregates of all records: their number, and the sums of members that are greater.
func aggregatesOf(e Evidence, items [][]byte) []aggregate {
	out := []aggregate{{name: "the number of records", whole: float64(len(items))}}
	for _, member := range openapi.MembersOf(items) {
		a := aggregate{name: "the sum of " + clip(member), member: member}
		if value, ok := a.of(e, items); ok && value > float64(len(items)) && len(out) < maxAggregates {
			a.whole = value
			out = append(out, a)
		}
	}
	return out
}

// findWrongAggregates finds numbers in statistics under a filter that are not those of the complete list under the same filter. The number under another
// value of the filter must agree, because a filter of statistics may mean something else than that of the list.
func findWrongAggregates(e Evidence) []Judgement {
	hasOthers := slices.ContainsFunc(e.Roles.Operations, func(r evidence.Resource) bool {
		return r != e.Roles.List && len(numbersOf(e, e.exchange(r.With(evidence.OK)))) > 0
	})
	if !hasOthers {
		return nil
	}
	allItems, complete := wholeList(e)
	if !complete || len(allItems) < minCounted || e.unsteady() {
		return nil
	}
	members := map[string]string{} // by the parameter of the list that filters by it
	for _, x := range e.Exchanges {
		if x.Label.Resource() == e.Roles.List && x.Given["member"] != "" && x.Given["bound"] == "" && x.Given["open"] != "true" && x.Given["or"] == "" {
			members[x.Given["parameter"]] = x.Given["member"]
		}
	}
	known := aggregatesOf(e, allItems)
	var s survey
	for _, r := range e.Roles.Operations {
		o, described := operation(e, r)
		plain := numbersOf(e, e.exchange(r.With(evidence.OK)))
		if r == e.Roles.List || !described || len(o.TemplateParameters()) > 0 || countsOthers(e, o) || len(plain) == 0 {
			continue
		}
		agreed, wrong := map[string]bool{}, map[string]Judgement{} // by the name of the number and the filter
		for _, x := range e.Exchanges {
			member := members[x.Given["parameter"]]
			if x.Label.Resource() != r || member == "" || !success(x) || lacksGoodToken(x) || !isAlone(o, x) {
				continue
			}
			c := condition{parameter: x.Given["parameter"], member: member, value: x.Given["value"]}
			var fitting [][]byte
			for _, item := range allItems {
				if c.fits(e, item) {
					fitting = append(fitting, item)
				}
			}
			if len(fitting) == 0 || len(fitting) == len(allItems) {
				continue
			}
			wants := map[float64]float64{} // by the value for all records
			for _, a := range known {
				if want, ok := a.of(e, fitting); ok {
					wants[a.whole] = want
				}
			}
			for name, got := range numbersOf(e, x) {
				at := slices.IndexFunc(known, func(a aggregate) bool { return isSameNumber(plain[name], a.whole) })
				key := name + " by " + x.Given["parameter"]
				switch {
				case at < 0:
				case slices.ContainsFunc(known, func(a aggregate) bool { return isSameNumber(plain[name], a.whole) && isSameNumber(got, wants[a.whole]) }):
					agreed[key] = true
				default:
					wrong[key] = Subject{Name: callInWords(x) + " $." + name, Label: x.Label, Expected: decimal(wants[known[at].whole]) + ", as the records of the list give"}.
						failed(fmt.Sprintf("%s is %s without a filter, and not with one", clip(name), known[at].name), decimal(got)).
						Hinting("calculate statistics from the rows that the list has under the same filter: a join repeats rows, and DISTINCT drops equal values")
				}
			}
		}
		for _, key := range slices.Sorted(maps.Keys(wrong)) {
			if agreed[key] {
				s.add("aggregate "+string(r)+" "+key, wrong[key])
			}
		}
	}
	return s.faults
}

// isAlone reports whether a call has no other parameter than the one that it tries.
func isAlone(o openapi.Operation, x evidence.Exchange) bool {
	query, ordinary := ordinaryQuery(o, x)
	return ordinary && query == "parameter "+x.Given["parameter"]+"="+shorten(x.Given["value"])
}

// numbersOf returns the numbers in a JSON object, by member.
func numbersOf(e Evidence, x evidence.Exchange) map[string]float64 {
	text, err := e.jsonText(x)
	if !success(x) || err != nil || openapi.FirstByte(text) != '{' {
		return nil
	}
	out := map[string]float64{}
	for _, name := range openapi.MembersOf([][]byte{text}) {
		if values := openapi.MemberValues(text, name); len(values) == 1 {
			if n, err := strconv.ParseFloat(values[0], 64); err == nil && !math.IsInf(n, 0) && !math.IsNaN(n) {
				out[name] = n
			}
		}
	}
	return out
}

// isSameNumber reports whether two numbers are equal but for the last digits of a sum.
func isSameNumber(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b))+1e-6
}

func decimal(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
