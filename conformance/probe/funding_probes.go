package probe

import (
	"context"
	"math"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// fundingProbe asks the list or the detail operation for something particular.
func (r *run) fundingProbe(key string, c exchange.Case) probe {
	return probe{prepare: func(ctx context.Context) (record.Ask, *unsent) {
		name := exchange.OperationResource(key)
		o, known := r.node.Operation(key)
		res, ok := r.facts.resource(name)
		if !known || !ok {
			return record.Ask{}, r.unlocated(name)
		}
		switch c {
		case exchange.NoRole:
			return r.noRole(ctx, res)
		case exchange.PageNoToken:
			return r.anonymousPage(o, res)
		}
		if good := name.With(exchange.OK); !r.facts.good(good) && !ofItem(c) {
			return record.Ask{}, unmet("the good call %s was not answered with 2xx", good)
		}
		address, given, reason := r.particular(o, res, c)
		if reason != nil {
			return record.Ask{}, reason
		}
		res.URL = address
		ask, reason := r.authorized(ctx, res, c)
		ask.Given, ask.Annotate = given, r.annotate(name)
		return ask, reason
	}}
}

// ofItem reports the calls of listed items: that one is missing says nothing about the others.
func ofItem(c exchange.Case) bool {
	return c == exchange.ItemFirst || c == exchange.ItemMiddle || c == exchange.ItemLast
}

// anonymousPage asks for a page without a token: a guard or a cache may look at the bare path alone.
func (r *run) anonymousPage(o document.Operation, res discover.Resource) (record.Ask, *unsent) {
	if page := res.Name.With(exchange.SizeTwo); !r.facts.good(page) {
		return record.Ask{}, notApplicable("%s got no page, so a refusal of one would prove nothing", page)
	}
	address, given, reason := r.particular(o, res, exchange.SizeTwo)
	res.URL = address
	ask := res.Get(exchange.PageNoToken)
	ask.Given = given
	return ask, reason
}

// noRole asks with the token of the client without the role.
func (r *run) noRole(ctx context.Context, res discover.Resource) (record.Ask, *unsent) {
	token, reason := r.secondToken(ctx)
	return res.GetWith(exchange.NoRole, discover.SecondAccessToken, "Bearer "+token), reason
}

// The page sizes that keep answers small where a page can be asked for.
const (
	sizeOfFilter    = 40
	sizeOfParameter = 10
)

// particular is the URL of a case with the inputs that were chosen for it.
func (r *run) particular(o document.Operation, res discover.Resource, c exchange.Case) (string, map[string]string, *unsent) {
	switch c {
	case exchange.SizeTwo:
		size, ok := sizeParameter(o)
		if !ok {
			size = document.Parameter{Name: pageSize} // explored: what comes of it is only reported
		}
		value := strconv.Itoa(atLeast(size.Schema, fewerThan(len(r.facts.itemsOf(res.Name)))))
		return withQuery(res.URL, pair{size.Name, value}), map[string]string{"parameter": size.Name, "value": value}, nil
	case exchange.FilterSeen, exchange.FilterOther:
		return r.filtered(o, res, c)
	case exchange.ItemFirst, exchange.ItemMiddle, exchange.ItemLast:
		ids := r.ids(o)
		if len(ids) == 0 {
			return "", nil, unmet("the list holds no item with an id")
		}
		place := map[exchange.Case]int{exchange.ItemFirst: 0, exchange.ItemMiddle: 1, exchange.ItemLast: 2}[c]
		if place >= len(ids) {
			return "", nil, notApplicable("the list is so short that its items were all asked for")
		}
		id := ids[place]
		return r.detail(o, id), map[string]string{"id": id}, nil
	case exchange.UnknownID:
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
func (r *run) detail(o document.Operation, id string) string {
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
func (r *run) unknownID(o document.Operation) string {
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

func (r *run) filtered(o document.Operation, res discover.Resource, c exchange.Case) (string, map[string]string, *unsent) {
	items := r.facts.itemsOf(res.Name)
	if len(items) == 0 {
		return "", nil, unmet("the list holds no item to take a value from")
	}
	chosen, ok := chooseFilter(o, items)
	if !ok {
		return "", nil, notApplicable("the document describes no filter whose member has a value in the data")
	}
	given := map[string]string{"parameter": chosen.parameter, "member": chosen.member, "value": chosen.seen, "seen": "true"}
	if c == exchange.FilterOther {
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
func (r *run) parameter(o document.Operation, res discover.Resource, c exchange.Case) (string, map[string]string, *unsent) {
	for _, p := range queryParameters(o) {
		if exchange.ParameterCase(p.Name) != c {
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
func (r *run) seenValue(name exchange.Resource, parameter string) (string, bool) {
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
func (r *run) sized(o document.Operation, address, tried string, size int) string {
	p, ok := sizeParameter(o)
	if !ok || p.Name == tried {
		return address
	}
	return withQuery(address, pair{p.Name, strconv.Itoa(atLeast(p.Schema, size))})
}
