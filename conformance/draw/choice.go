package draw

import (
	"cmp"
	"slices"
)

// Effort says how many kinds of each family are drawn.
type Effort string

// The efforts.
const (
	Quick    Effort = "quick"    // a partial run
	Standard Effort = "standard" // what a certificate needs
	Deep     Effort = "deep"     // every kind, on the resource that the bearer rules are tried on
)

// Efforts lists all efforts, the least first.
func Efforts() []Effort { return []Effort{Quick, Standard, Deep} }

// Choice draws kinds from families. A family is a set of kinds of requests that a rule forbids or allows alike, such as all bearer
// values that are words of programming languages.
type Choice struct {
	Seed Seed
	// Earlier holds the kinds that earlier runs at the node drew, by family. Kinds that were never drawn come first.
	Earlier map[string][]string
}

// Kinds draws n of the kinds of a family for one place, such as an operation. Each place has a draw of its own.
func (c Choice) Kinds(family, place string, kinds []string, n int) []string {
	out := slices.Clone(kinds)
	Shuffle(c.Seed.Source("family", family, place), out)
	slices.SortStableFunc(out, func(a, b string) int {
		return cmp.Compare(c.drawn(family, a), c.drawn(family, b))
	})
	return out[:min(len(out), max(0, n))]
}

// drawn returns 1 for a kind that an earlier run drew, and 0 for one that none drew.
func (c Choice) drawn(family, kind string) int {
	if slices.Contains(c.Earlier[family], kind) {
		return 1
	}
	return 0
}
