package funding

import (
	"net/url"
	"strconv"
	"strings"
)

// links are the links of a page to others, as the value of a Link header (RFC 8288 §3); empty for a request without paging. They
// are relative references, so that they hold behind any proxy, and never tell a client to take its token elsewhere.
func (q query) links(at *url.URL, paging Paging, c selection) string {
	if q.size == 0 {
		return ""
	}
	var out []string
	add := func(relation string, offset int) {
		page := offset
		if paging == PagingNumber {
			page = offset / q.size
		}
		values := at.Query()
		values.Set(ParamPage, strconv.Itoa(page))
		values.Set(ParamSize, strconv.Itoa(q.size))
		to := url.URL{Path: at.Path, RawPath: at.RawPath, RawQuery: values.Encode()}
		out = append(out, "<"+to.String()+`>; rel="`+relation+`"`)
	}
	add("first", 0)
	switch {
	case c.first > 0 && paging == PagingNumber:
		add("prev", c.first-1) // any record of the page tells its number
	case c.first > 0:
		add("prev", max(0, c.first-q.size))
	}
	if c.end < c.total {
		add("next", c.end)
	}
	return strings.Join(out, ", ")
}
