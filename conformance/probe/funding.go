package probe

import (
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// fundingProbe asks the list or the detail operation for something particular.
func (r *run) fundingProbe(key string, c evidence.Case) probe {
	return probe{prepare: func(ctx context.Context) (recorder.Request, *unsent) {
		name := evidence.OperationResource(key)
		o, known := r.node.Operation(key)
		res, ok := r.facts.resource(name)
		if !known || !ok {
			return recorder.Request{}, r.unlocated(name)
		}
		switch c {
		case "no-role":
			return r.noRole(ctx, res)
		case "page-no-token":
			return r.anonymousPage(o, res)
		}
		if good := name.With(evidence.OK); !r.facts.good(good) && !ofItem(c) {
			return recorder.Request{}, unmet("the good call %s was not answered with 2xx", good)
		}
		address, given, reason := r.particular(o, res, c)
		if reason != nil {
			return recorder.Request{}, reason
		}
		res.URL = address
		ask, reason := r.authorized(ctx, res, c)
		ask.Given, ask.Annotate = given, r.annotate(name)
		return ask, reason
	}}
}

// ofItem reports the calls of listed items: that one is missing says nothing about the others.
func ofItem(c evidence.Case) bool {
	return c == "item-first" || c == "item-middle" || c == "item-last"
}

// anonymousPage asks for a page without a token: a guard or a cache may look at the bare path alone.
func (r *run) anonymousPage(o openapi.Operation, res Resource) (recorder.Request, *unsent) {
	if page := res.Name.With("size-2"); !r.facts.good(page) {
		return recorder.Request{}, notApplicable("%s got no page, so a refusal of one would prove nothing", page)
	}
	address, given, reason := r.particular(o, res, "size-2")
	res.URL = address
	ask := res.Get("page-no-token")
	ask.Given = given
	return ask, reason
}

// noRole asks with the token of the client without the role.
func (r *run) noRole(ctx context.Context, res Resource) (recorder.Request, *unsent) {
	token, reason := r.secondToken(ctx)
	return res.GetWith("no-role", SecondAccessToken, "Bearer "+token), reason
}

// The page sizes that keep answers small where a page can be asked for.
const (
	sizeOfFilter    = 40
	sizeOfParameter = 10
)

// particular is the URL of a case with the inputs that were chosen for it.
func (r *run) particular(o openapi.Operation, res Resource, c evidence.Case) (string, map[string]string, *unsent) {
	switch c {
	case "size-2":
		size, ok := sizeParameter(o)
		if !ok {
			size = openapi.Parameter{Name: pageSize} // explored: what comes of it is only reported
		}
		value := strconv.Itoa(atLeast(size.Schema, fewerThan(len(r.facts.itemsOf(res.Name)))))
		return withQuery(res.URL, pair{size.Name, value}), map[string]string{"parameter": size.Name, "value": value}, nil
	case "filter-seen", "filter-other":
		return r.filtered(o, res, c)
	case "item-first", "item-middle", "item-last":
		ids := r.ids(o)
		if len(ids) == 0 {
			return "", nil, unmet("the list holds no item with an id")
		}
		place := map[evidence.Case]int{"item-first": 0, "item-middle": 1, "item-last": 2}[c]
		if place >= len(ids) {
			return "", nil, notApplicable("the list is so short that its items were all asked for")
		}
		id := ids[place]
		return r.detail(o, id), map[string]string{"id": id}, nil
	case "unknown-id":
		id := r.unknownID(o)
		return r.detail(o, id), map[string]string{"id": id}, nil
	}
	return r.parameter(o, res, c)
}

// fewerThan is a page size that leaves items of a short list out: 2, or 1 where the list has no third item.
func fewerThan(items int) int {
	if items == 2 {
		return 1
	}
	return 2
}

// detail is the URL of one item.
func (r *run) detail(o openapi.Operation, id string) string {
	change := map[string]*string{}
	for _, p := range o.Parameters {
		if p.In == "path" && strings.Contains(o.Path, "{"+p.Name+"}") {
			change[placeOf(p)] = &id
		}
	}
	if res, reason := r.fill(o, change); reason == nil && len(change) == 1 {
		return res.URL // with whatever else it requires
	}
	base, _ := r.base()
	return base.URL(fillTemplate(o.Path, id))
}

// unknownID is an id that no item has, of the form that the document asks for.
func (r *run) unknownID(o openapi.Operation) string {
	for _, p := range o.Parameters {
		switch {
		case p.In != "path":
		case p.Schema.Format == "uuid":
			return r.drawn.id
		case p.Schema.Type == "integer":
			return strconv.Itoa(atLeast(p.Schema, math.MaxInt32-1))
		}
	}
	return r.unknown()
}

func (r *run) filtered(o openapi.Operation, res Resource, c evidence.Case) (string, map[string]string, *unsent) {
	items := r.facts.itemsOf(res.Name)
	if len(items) == 0 {
		return "", nil, unmet("the list holds no item to take a value from")
	}
	chosen, ok := chooseFilter(o, items)
	if !ok {
		return "", nil, notApplicable("the document describes no filter whose member has a value in the data")
	}
	given := map[string]string{"parameter": chosen.parameter, "member": chosen.member, "value": chosen.seen, "seen": "true"}
	if c == "filter-other" {
		if chosen.open && chosen.other == "" {
			chosen.other = r.unknown()
		}
		if chosen.other == "" {
			return "", nil, notApplicable("the vocabulary of %s has no other value", chosen.parameter)
		}
		given["value"], given["seen"] = chosen.other, strconv.FormatBool(chosen.others)
	}
	return r.sized(o, withQuery(res.URL, pair{chosen.parameter, given["value"]}), chosen.parameter, sizeOfFilter), given, nil
}

// parameter tries one valid value of one described query parameter.
func (r *run) parameter(o openapi.Operation, res Resource, c evidence.Case) (string, map[string]string, *unsent) {
	for _, p := range queryParameters(o) {
		if evidence.ParameterCase(p.Name) != c {
			continue
		}
		name, value, ok := valueOfParameter(p, r.Clock())
		if !ok {
			value, ok = r.seenValue(res.Name, p.Name)
		}
		if !ok {
			return "", nil, notApplicable("the document tells no valid value of %.80q and the data holds none", p.Name)
		}
		address := r.sized(o, withQuery(res.URL, pair{name, value}), name, sizeOfParameter)
		return address, map[string]string{"parameter": name, "value": value}, nil
	}
	return "", nil, cutShort("this version of rin does not know how to ask it")
}

// seenValue is a value from the data for a parameter that filters by a known member.
func (r *run) seenValue(name evidence.Resource, parameter string) (string, bool) {
	for _, f := range filters() {
		if f.parameter != parameter {
			continue
		}
		if _, order := occurrences(r.facts.itemsOf(name), f.member); len(order) > 0 {
			return order[0], true
		}
	}
	return "", false
}

// sized asks for a page of a bounded size where the document describes how, unless the size itself is being tried.
func (r *run) sized(o openapi.Operation, address, tried string, size int) string {
	p, ok := sizeParameter(o)
	if !ok || p.Name == tried {
		return address
	}
	return withQuery(address, pair{p.Name, strconv.Itoa(atLeast(p.Schema, size))})
}

// item is what probes need of one member of a list.
type item struct {
	id, kind string
	// values are the values of the members that filters name, by member path.
	values map[string][]string
}

// maxItems is how many members of a list are looked at.
const maxItems = 5000

// readItems reads the members of a list, in whatever envelope the requirements know (openapi.ReadList). A body that breaks off is
// read as far as it goes. Members that further filters name are kept as well.
func readItems(body []byte, more ...describedFilter) []item {
	list, _ := openapi.ReadList(body)
	var out []item
	for _, text := range list.Items[:min(len(list.Items), maxItems)] {
		if text[0] != '{' {
			continue
		}
		i := item{id: first(sendable(text, "id")), kind: first(sendable(text, "type")), values: map[string][]string{}}
		for _, f := range filters() {
			i.values[f.member] = sendable(text, f.member)
		}
		for _, f := range more {
			i.values[f.member] = sendable(text, f.member)
		}
		out = append(out, i)
	}
	return out
}

// maxScalar bounds a value that is sent back to the node, in bytes.
const maxScalar = 512

// sendable are the values under a member path that can be sent back, each once.
func sendable(item []byte, path string) []string {
	var out []string
	for _, value := range openapi.MemberValues(item, path) {
		if value != "" && len(value) <= maxScalar && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

func first(values []string) string {
	if len(values) == 0 {
		return ""
	}
	return values[0]
}

// sampleIDs are the first, the middle and the last id to fetch one by one. Ids without a slash and of the kinds that every node
// serves by itself come first: many servers refuse %2F, and other kinds may be served by funders only. Of a short list there are
// fewer: no id stands twice.
func sampleIDs(items []item) []string {
	var all, good []string
	seen := map[string]bool{"": true, ".": true, "..": true}
	for _, i := range items {
		if seen[i.id] {
			continue
		}
		seen[i.id] = true
		all = append(all, i.id)
		if !strings.ContainsAny(i.id, `/\%`) && (i.kind == "" || i.kind == "CALL" || i.kind == "PROGRAMME") {
			good = append(good, i.id)
		}
	}
	if len(good) == 0 {
		good = all
	}
	if len(good) == 0 {
		return nil
	}
	return slices.Compact([]string{good[0], good[len(good)/2], good[len(good)-1]})
}
