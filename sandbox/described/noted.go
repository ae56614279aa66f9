package described

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/described/parameter"
	"github.com/rin-network/rin/sandbox/journal"
)

// enter tells the journal what a request is for.
func (o *operation) enter(ctx context.Context) {
	switch {
	case o.list != nil:
		journal.Of(ctx).Operate(journal.List)
	case o.resource.list != nil && o.Method == http.MethodGet:
		journal.Of(ctx).Operate(journal.Detail)
	default:
		journal.Of(ctx).Operate(journal.Call)
	}
}

// ignored lists the parameters of a query that the document does not have.
func (o *operation) ignored(pairs []parameter.Pair) []string {
	var names []string
	for _, pair := range pairs {
		known := slices.ContainsFunc(o.parameters, func(p parameter.Parameter) bool {
			// The members of an object may stand for themselves.
			object := slices.Contains(p.Kind.Types, "object") && p.Style == "form"
			return p.In == "query" && (p.Name == pair.Name || object || strings.HasPrefix(pair.Name, p.Name+"["))
		})
		if !known && !slices.Contains(names, pair.Name) {
			names = append(names, pair.Name)
		}
	}
	return names
}

// page is what part a request asks for of a list that has so many items; nil for what is no list.
func (q asked) page(total int) *journal.Page {
	l := q.operation.list
	if l == nil || total < 0 || l.shape == inSingle {
		return nil
	}
	from, to, size := l.paging.cut(q.values, total)
	return &journal.Page{Start: from, Size: size, Items: to - from, Next: to < total}
}
