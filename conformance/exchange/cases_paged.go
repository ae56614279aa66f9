package exchange

import "strconv"

// Cases of paging, filters and links (PAG).
const (
	BeyondEnd    Case = "beyond-end"    // PAG-04: a page far behind the end, Given parameter, value
	PageNoToken  Case = "page-no-token" // API-08: what size-2 asks for, right after it and without a token
	SizeRaw      Case = "size-raw"      // PAG-05: what size-2 asks for, with raw brackets
	SizeNegative Case = "size-negative" // PAG-06: Given parameter, value, as in the next ones
	SizeZero     Case = "size-zero"
	SizeText     Case = "size-text"
	SizeHuge     Case = "size-huge"
	PageNegative Case = "page-negative"
	PageText     Case = "page-text"
	FilterBad    Case = "filter-bad"     // PAG-06: a value that is not in the vocabulary
	UnknownQuery Case = "unknown-query"  // PAG-06: a parameter that nobody knows
	FilterPaged  Case = "filter-paged"   // PAG-07: what filter-seen asks for, with a page parameter
	FilterBoth   Case = "filter-both"    // PAG-07: two filters at once, Given also andParameter, andMember, andValue
	RunningTrue  Case = "filter-running" // PAG-07: runningCalls=true
	RunningFalse Case = "filter-not-running"
	LinkNext     Case = "link-next"  // PAG-10: the link to the next page, followed
	ListAgain    Case = "list-again" // the list once more at the end, if items seem to have vanished
)

// WalkCase is the n-th page of the list that is asked for, from 1 (PAG-03): Given parameter, value, and sizeParameter, size where
// one is known. Which pages they are depends on what the page parameter turns out to count.
func WalkCase(n int) Case { return Case("walk-" + strconv.Itoa(n)) }

// WalkAgainCase is the same in the repeated walk, for a list that may have changed during the first one.
func WalkAgainCase(n int) Case { return Case("walk-again-" + strconv.Itoa(n)) }

// FilterCase is the n-th value, from 1, that the described filter of that name is tried with (PAG-07): Given parameter, member,
// value, and whether the value was seen in the data.
func FilterCase(name string, n int) Case {
	return Case("filter-" + Slug(name) + "-" + strconv.Itoa(n))
}
