package openapi

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// maxFindings bounds the findings kept of one answer.
const maxFindings = 200

// collector keeps the first findings of each sort, so that thousands of one sort do not hide a single one of another.
type collector struct {
	total int
	sorts map[sort][]difference
}

// sort is what a requirement may want to tell apart.
type sort struct {
	kind            exchange.FindingKind
	erratum, format string
}

// add takes the differences of one value; prefix is its place in the answer.
func (c *collector) add(found []difference, prefix ...string) {
	for i := range found {
		found[i].at = append(slices.Clone(prefix), found[i].at...)
		found[i].Path = cmp.Or(found[i].place, path(found[i].at))
	}
	slices.SortStableFunc(found, compareDifferences)
	found = slices.CompactFunc(found, func(a, b difference) bool {
		return a.Kind == b.Kind && a.Path == b.Path && a.Expected == b.Expected && a.Got == b.Got
	})
	c.total += len(found)
	if c.sorts == nil {
		c.sorts = map[sort][]difference{}
	}
	for _, d := range found {
		s := sort{d.Kind, d.Erratum, d.format}
		if len(c.sorts[s]) < maxFindings {
			c.sorts[s] = append(c.sorts[s], d)
		}
	}
}

// join takes what another collector found after this one, which stays as it is.
func (c *collector) join(later collector) {
	c.total += later.total
	if c.sorts == nil {
		c.sorts = map[sort][]difference{}
	}
	for s, list := range later.sorts {
		c.sorts[s] = append(c.sorts[s], list[:min(len(list), maxFindings-len(c.sorts[s]))]...)
	}
}

// findings returns at most maxFindings, by place and keyword; each sort has an equal share, and what one leaves the others take.
func (c *collector) findings() []exchange.Finding {
	var queues [][]difference
	for _, list := range c.sorts {
		queues = append(queues, list)
	}
	slices.SortFunc(queues, func(a, b []difference) int { return cmp.Or(len(a)-len(b), compareDifferences(a[0], b[0])) })
	var kept []difference
	for i, list := range queues {
		share := (maxFindings - len(kept)) / (len(queues) - i)
		kept = append(kept, list[:min(len(list), share)]...)
	}
	slices.SortStableFunc(kept, compareDifferences)
	out := make([]exchange.Finding, len(kept))
	for i, d := range kept {
		out[i] = d.Finding
	}
	return out
}

// compareDifferences orders by place, with list positions as numbers, then by what is the matter.
func compareDifferences(a, b difference) int {
	for i := range min(len(a.at), len(b.at)) {
		if a.at[i] == b.at[i] {
			continue
		}
		x, errX := strconv.Atoi(a.at[i])
		y, errY := strconv.Atoi(b.at[i])
		if errX == nil && errY == nil && x != y {
			return cmp.Compare(x, y)
		}
		return cmp.Compare(a.at[i], b.at[i])
	}
	return cmp.Or(
		cmp.Compare(len(a.at), len(b.at)),
		cmp.Compare(a.place, b.place),
		cmp.Compare(a.Kind, b.Kind),
		cmp.Compare(a.Expected, b.Expected),
		cmp.Compare(a.Got, b.Got),
		cmp.Compare(len(a.Keyword), len(b.Keyword)),
		cmp.Compare(a.Keyword, b.Keyword),
	)
}

// path writes the place of a value as a JSON path: $[3].callStages[0].callStageEnd.
func path(at []string) string {
	const most = 60 // parts
	var b strings.Builder
	b.WriteByte('$')
	for i, part := range at {
		switch {
		case i == most:
			b.WriteString("…")
			return b.String()
		case isIndex(part):
			b.WriteString("[" + part + "]")
		case isName(part):
			b.WriteString("." + part)
		default:
			b.WriteString("[" + strconv.Quote(clip(part, 64)) + "]")
		}
	}
	return b.String()
}

func isIndex(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 0 && strconv.Itoa(n) == s
}

func isName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return true
}
