package funding

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/content"
)

// The limits of the paging parameters.
const (
	// MaxPageSize is the largest page[size].
	MaxPageSize = 10_000
	// DefaultPageSize applies when page[page] comes without page[size]; the network's client uses this size.
	DefaultPageSize = 1000
	// MaxPage is the largest page[page].
	MaxPage = 1<<31 - 1
)

// Paging is the meaning of page[page].
type Paging string

const (
	// PagingOffset makes page[page] the number of records to skip, as the network's client sends it.
	PagingOffset Paging = "offset"
	// PagingNumber makes page[page] the number of the page, from 0.
	PagingNumber Paging = "number"
)

// The names of the query parameters of the list.
const (
	ParamType    = "fundingType"
	ParamGroup   = "targetGroup"
	ParamRunning = "runningCalls"
	ParamRegion  = "region"
	ParamFunder  = "funderId"
	ParamScope   = "applicantsScope"
	ParamPage    = "page[page]"
	ParamSize    = "page[size]"
	// MaxFunderLength is the longest funderId, in bytes.
	MaxFunderLength = 200
)

// Parameters lists the names of all query parameters of the list.
func Parameters() []string {
	return []string{ParamType, ParamGroup, ParamRunning, ParamRegion, ParamFunder, ParamScope, ParamPage, ParamSize}
}

// query is a list request. A record must match all members that are not empty.
type query struct {
	kind    model.FundingType
	group   model.TargetGroup
	region  model.Region
	funder  string
	scope   model.Scope
	running string // "true", "false", or empty
	// offset and size select the page; a size of 0 means the whole list.
	offset, size int
}

// facets lists the filters that are set, except runningCalls, which depends on the time.
func (q query) facets() []facet {
	var all []facet
	for _, f := range []facet{
		{ParamType, string(q.kind)}, {ParamGroup, string(q.group)}, {ParamRegion, string(q.region)}, {ParamFunder, q.funder}, {ParamScope, string(q.scope)},
	} {
		if f.value != "" {
			all = append(all, f)
		}
	}
	return all
}

// hasFilter reports whether any filter is set.
func (q query) hasFilter() bool { return q.running != "" || len(q.facets()) > 0 }

// parseQuery reads the raw query of a list request. Unknown parameters are ignored and returned; empty ones count as absent.
func parseQuery(raw string, paging Paging) (q query, ignored []string, fault *content.Problem) {
	values, err := url.ParseQuery(raw)
	if err != nil {
		p := content.BadRequest("the query of the URL cannot be decoded",
			"percent-encode reserved characters (% as %25, ; as %3B) and separate parameters with &")
		return query{}, nil, &p
	}
	reader := parameterReader{values: values}
	q = query{
		kind:   oneOf(&reader, ParamType, model.FundingTypes()),
		group:  oneOf(&reader, ParamGroup, model.TargetGroups()),
		region: oneOf(&reader, ParamRegion, model.Regions()),
		scope:  oneOf(&reader, ParamScope, model.Scopes()),
		funder: reader.text(ParamFunder),

		running: reader.boolean(ParamRunning),
	}
	page, hasPage := reader.number(ParamPage, 0, MaxPage)
	size, hasSize := reader.number(ParamSize, 1, MaxPageSize)
	if hasPage || hasSize {
		q.size = DefaultPageSize
		if hasSize {
			q.size = size
		}
		q.offset = page
		if paging == PagingNumber {
			q.offset = page * q.size
		}
	}
	return q, unknownParameters(values), reader.fault
}

// unknownParameters lists the parameters that the list ignores because it does not know them.
func unknownParameters(values url.Values) []string {
	var names []string
	for name := range values {
		if !slices.Contains(Parameters(), name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// parameterReader reads parameters and keeps the first fault.
type parameterReader struct {
	values url.Values
	fault  *content.Problem
}

func (r *parameterReader) fail(name, reason string, allowed []string) {
	if r.fault == nil {
		p := content.BadParameter(name, reason, allowed)
		r.fault = &p
	}
}

// value returns the single value of a parameter, "" when absent or empty.
func (r *parameterReader) value(name string) string {
	all := r.values[name]
	if len(all) > 1 {
		r.fail(name, "it is given more than once", nil)
	}
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

func (r *parameterReader) text(name string) string {
	value := r.value(name)
	if len(value) > MaxFunderLength {
		r.fail(name, "it is longer than "+strconv.Itoa(MaxFunderLength)+" bytes", nil)
	}
	return value
}

// boolean returns "true" or "false", in any case in the request, or "" when the parameter is absent.
func (r *parameterReader) boolean(name string) string {
	value := strings.ToLower(r.value(name))
	if value == "" || value == "true" || value == "false" {
		return value
	}
	r.fail(name, "expected a boolean", []string{"true", "false"})
	return ""
}

// number returns the number in a parameter; ok is false when the parameter is absent or wrong.
func (r *parameterReader) number(name string, low, high int) (n int, ok bool) {
	value := r.value(name)
	if value == "" {
		return 0, false
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < low || n > high || value[0] == '+' {
		r.fail(name, "expected a whole number from "+strconv.Itoa(low)+" to "+strconv.Itoa(high), nil)
		return 0, false
	}
	return n, true
}

// oneOf returns the value of a parameter that must be one of the allowed ones; "" when absent.
func oneOf[T ~string](r *parameterReader, name string, allowed []T) T {
	value := T(r.value(name))
	if value == "" || slices.Contains(allowed, value) {
		return value
	}
	names := make([]string, len(allowed))
	for i, a := range allowed {
		names[i] = string(a)
	}
	r.fail(name, "it is not in the vocabulary", names)
	return ""
}

// links returns the links of a page to other pages, as the value of a Link header (RFC 8288 §3); "" for a request without paging. They are relative
// references, so that they are correct behind any proxy, and never lead a client with its token to another host.
func (q query) links(requested *url.URL, paging Paging, c selection) string {
	if q.size == 0 {
		return ""
	}
	var out []string
	add := func(relation string, offset int) {
		page := offset
		if paging == PagingNumber {
			page = offset / q.size
		}
		values := requested.Query()
		values.Set(ParamPage, strconv.Itoa(page))
		values.Set(ParamSize, strconv.Itoa(q.size))
		link := url.URL{Path: requested.Path, RawPath: requested.RawPath, RawQuery: values.Encode()}
		out = append(out, "<"+link.String()+`>; rel="`+relation+`"`)
	}
	add("first", 0)
	switch {
	case c.first > 0 && paging == PagingNumber:
		add("prev", c.first-1) // add computes the page number from any record of the page
	case c.first > 0:
		add("prev", max(0, c.first-q.size))
	}
	if c.end < c.total {
		add("next", c.end)
	}
	return strings.Join(out, ", ")
}
