package requirement

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// totalOf returns the number of items that a list says it has, in a header field or in its envelope, and where it says so. Counts of the page alone
// are left out.
func totalOf(e Evidence, x evidence.Exchange) (total int, place string, ok bool) {
	if values := header(x, "X-Total-Count"); len(values) == 1 {
		if n, err := strconv.Atoi(strings.TrimSpace(values[0])); err == nil {
			return n, "X-Total-Count", true
		}
	}
	text, err := e.jsonText(x)
	if err != nil || textType(text) != "object" {
		return 0, "", false
	}
	envelope := openapi.Object(text)
	holders := []struct {
		path   string
		object map[string][]byte
	}{{"$", envelope}, {"$.page", openapi.Object(envelope["page"])}, {"$.meta", openapi.Object(envelope["meta"])}, {"$.pagination", openapi.Object(envelope["pagination"])}}
	for _, holder := range holders {
		names := []string{"totalElements", "totalItems", "totalCount", "totalResults", "total", "total_count", "recordsTotal", "hydra:totalItems"}
		if _, django := holder.object["results"]; django {
			names = append(names, "count")
		}
		for _, name := range names {
			if n, err := strconv.Atoi(string(holder.object[name])); err == nil && n >= 0 {
				return n, holder.path + "." + name, true
			}
		}
	}
	return 0, "", false
}

// judgeTotal compares the total of the complete list with its items. A list may show only its first page, unless its pages were read to the end.
func judgeTotal(e Evidence, whole evidence.Exchange, items [][]byte) (Judgement, bool) {
	total, place, ok := totalOf(e, whole)
	if !ok || whole.Response.Truncated || total == len(items) {
		return Judgement{}, false
	}
	want := Subject{Name: callName(whole) + " " + place, Label: whole.Label, Expected: strconv.Itoa(len(items))}
	reason := fmt.Sprintf("the list says that it has %s, and %d came", evidence.Count(total, "item"), len(items))
	const hint = "count what the caller may see, by the query that lists it"
	if total < len(items) {
		return want.failed(reason, strconv.Itoa(total)).Hinting(hint), true
	}
	p, _ := walkOf(e, evidence.OK, evidence.WalkCase)
	if _, ended := p.Walked(); !ended || !p.Faults().Empty() {
		return Judgement{}, false // the rest is on other pages, or PAG-03 says what is lost
	}
	return want.warned(reason+" on all of its pages", strconv.Itoa(total)).Hinting(hint), true
}
