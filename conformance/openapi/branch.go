package openapi

import (
	"math/big"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// differences walks the tree of errors down to its causes. Of alternatives that all fail, only the one that the value comes closest to is
// told: the others say nothing about what to mend.
func (c *compiled) differences(err *jsonschema.ValidationError) []difference {
	if len(err.Causes) == 0 {
		return c.describe(err)
	}
	switch err.ErrorKind.(type) {
	case *kind.OneOf, *kind.AnyOf:
		return c.closest(err)
	case *kind.Contains, *kind.MinContains, *kind.PropertyNames:
		return c.describe(err)
	}
	var out []difference
	for _, cause := range err.Causes {
		out = append(out, c.differences(cause)...)
	}
	return out
}

// closest picks the alternative with the fewest differences at the value itself, then in all. Alternatives that fail by the type of the
// value alone become one difference that names all the types.
func (c *compiled) closest(err *jsonschema.ValidationError) []difference {
	var best []difference
	bestScore := [3]int{}
	var wanted []string
	onlyTypes := true
	for _, cause := range err.Causes {
		found := c.differences(cause)
		if len(found) == 0 {
			continue
		}
		score := distance(found, len(err.InstanceLocation))
		if score[0] == 0 {
			onlyTypes = false
		}
		for _, d := range found {
			if d.Kind == exchange.FindingType && len(d.at) == len(err.InstanceLocation) && !slices.Contains(wanted, d.Expected) {
				wanted = append(wanted, d.Expected)
			}
		}
		if best == nil || slices.Compare(score[:], bestScore[:]) < 0 {
			best, bestScore = found, score
		}
	}
	switch {
	case best == nil:
		return c.describe(err)
	case onlyTypes && len(wanted) > 1:
		i := slices.IndexFunc(best, func(d difference) bool { return d.Kind == exchange.FindingType })
		merged := best[i]
		merged.Expected = strings.Join(wanted, " or ")
		merged.Keyword = c.keyword(err)
		return []difference{merged}
	}
	return best
}

// distance ranks an alternative: a wrong type of the value itself is farthest, then what tells subtypes apart one level below (a missing
// member, a value outside its enumeration), then the number of differences.
func distance(found []difference, level int) (score [3]int) {
	for _, d := range found {
		switch {
		case d.Kind == exchange.FindingType && len(d.at) == level:
			score[0]++
		case (d.Kind == exchange.FindingEnum || d.Kind == exchange.FindingRequired) && len(d.at) <= level+1:
			score[1]++
		}
	}
	score[2] = len(found)
	return score
}

func ratText(r *big.Rat) string { return clip(strings.TrimSuffix(r.FloatString(6), ".000000"), 40) }
