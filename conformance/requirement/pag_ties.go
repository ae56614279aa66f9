package requirement

import (
	"strings"

	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges the order of items with equal values, if the document promises that they come in the order of their ids.

// minDescending is how many pairs of items with equal values must descend by ids that are texts.
const minDescending = 4

// findMisplacedTie finds an item that is out of order among items with equal values.
func findMisplacedTie(e Evidence, s sequence, c openapi.Column, order openapi.Order, words string) (j Judgement, found bool) {
	member := e.identityMember()
	ids, ok := openapi.ColumnOf(s.items, member)
	if !ok || order.TieWord != "id" && order.TieWord != strings.ToLower(member) {
		return Judgement{}, false
	}
	expected := "equal values in the order of their ids"
	i := misplacedTie(c, ids)
	if order.TiesUp {
		if down := descendingTie(c, ids); down >= 0 {
			i, expected = down, "equal values in the ascending order of their ids"
		}
	}
	if i < 0 {
		return Judgement{}, false
	}
	return s.failed(e, i, "with "+words+", items with equal "+clip(c.Path)+" are not in the order of their ids, although the document promises that order", expected,
		quote(e.identity(s.items[i]))+" after "+quote(e.identity(s.items[i-1]))), true
}

// misplacedTie returns the index of an item that is out of order among items with equal values. Their ids may all ascend or all descend: then it returns -1.
func misplacedTie(c, ids openapi.Column) int {
	if !ids.Exact() {
		return -1
	}
	firstMisplaced := func(down bool) int {
		for i := 1; i < len(c.Values); i++ {
			if c.Equal(i-1, i) && ids.Pair(i).Misplaced(down) >= 0 {
				return i
			}
		}
		return -1
	}
	if firstMisplaced(true) < 0 {
		return -1
	}
	return firstMisplaced(false)
}

// descendingTie returns the index of the first item with the value of the one before it, if the ids of all such pairs descend, or else -1. Texts must be of one
// shape, because only those have the same order in all languages. Databases also compare UUIDs in orders of their own, but such an order does not make several
// pairs descend.
func descendingTie(c, ids openapi.Column) int {
	first, pairs := -1, 0
	for i := 1; i < len(c.Values); i++ {
		if !c.Equal(i-1, i) || ids.Values[i] == ids.Values[i-1] {
			continue
		}
		if ids.Pair(i).Misplaced(false) < 0 {
			return -1
		}
		if pairs++; first < 0 {
			first = i
		}
	}
	if !ids.Exact() && (pairs < minDescending || !haveOneShape(ids.Values)) {
		return -1
	}
	return first
}

// haveOneShape reports whether texts have letters of one case only, the same length, and the same signs in the same places.
func haveOneShape(values []string) bool {
	shape, capitals, small := "", false, false
	for _, v := range values {
		of := strings.Map(func(r rune) rune {
			switch {
			case r >= 'A' && r <= 'Z':
				capitals = true
			case r >= 'a' && r <= 'z':
				small = true
			case r < '0' || r > '9':
				return r
			}
			return 'x'
		}, v)
		if v == "" || shape != "" && of != shape {
			return false
		}
		shape = of
	}
	return shape != "" && !(capitals && small)
}
