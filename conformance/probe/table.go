package probe

import (
	"context"
	"net/url"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// probeOf says how a label is asked, by its resource first and by its case then.
func (r *run) probeOf(label exchange.Label) probe {
	name, c := label.Resource(), label.Case()
	kind, key, _ := strings.Cut(string(name), "/")
	for _, th := range themes() {
		if th.probe == nil {
			continue
		}
		if p, ok := th.probe(r, label); ok {
			return p
		}
	}
	switch {
	case name == exchange.TokenEndpoint:
		return r.tokenProbe(c)
	case name == exchange.SecondClient:
		return r.secondProbe()
	case name == exchange.Specification:
		return r.specProbe(c)
	case kind == "base":
		return r.baseProbe(key)
	case kind == "endpoint":
		return r.endpointProbe(name)
	case name == exchange.Info && (c == exchange.WithoutContentType || c == exchange.Post):
		return r.infoProbe(c)
	case c == exchange.NoToken:
		return r.anonymousProbe(name)
	case c == exchange.OK:
		return r.goodProbe(name)
	case kind == "op" && ofFunding(c):
		return r.fundingProbe(key, c)
	}
	return r.bearerProbe(name, c)
}

// ofFunding reports the cases that ask the list or the detail operation for something particular.
func ofFunding(c exchange.Case) bool {
	switch c {
	case exchange.NoRole, exchange.SizeTwo, exchange.PageNoToken, exchange.FilterSeen, exchange.FilterOther,
		exchange.ItemFirst, exchange.ItemMiddle, exchange.ItemLast, exchange.UnknownID:
		return true
	}
	return strings.HasPrefix(string(c), string(exchange.ParameterCase("")))
}

// anonymousProbe asks without a token. For an operation it is the first call, which settles its URL.
func (r *run) anonymousProbe(name exchange.Resource) probe {
	return probe{prepare: func(context.Context) (record.Ask, *unsent) {
		res, reason := r.locateResource(name)
		return res.Get(exchange.NoToken), reason
	}}
}

// goodProbe asks as a client of the network does.
func (r *run) goodProbe(name exchange.Resource) probe {
	return probe{
		prepare: func(ctx context.Context) (record.Ask, *unsent) {
			res, reason := r.locateResource(name)
			if reason != nil {
				return record.Ask{}, reason
			}
			ask, reason := r.authorized(ctx, res, exchange.OK)
			ask.Annotate = r.annotate(name)
			return ask, reason
		},
		learn: func(a record.Answer) { r.learnGood(name, a) },
	}
}

// learnGood draws samples from a good answer.
func (r *run) learnGood(name exchange.Resource, a record.Answer) {
	if a.Status/100 != 2 {
		return
	}
	r.settle(name, a.Exchange.Redirects)
	r.facts.with(func(f *facts) { f.cookies[name] = cookiesOf(a.Header) })
	if name == exchange.Info {
		found := readEndpoints(a.Body)
		r.facts.with(func(f *facts) { f.endpoints = found })
		return
	}
	if !isOperation(name) {
		return
	}
	if r.samples(name) {
		o, _ := r.operation(name)
		found := readItems(a.Body, filtersOf(o)...)
		r.facts.with(func(f *facts) { f.items[name] = found })
	}
	if o, ok := r.node.Operation(r.node.List); ok && name == exchange.OperationResource(o.Key) {
		list, _ := document.ReadList(a.Body)
		w := newWalk(o, document.Identities(list.Items))
		r.facts.with(func(f *facts) { f.walks[name] = w })
		r.learnNext(name, a)
	}
}

// settle keeps to the URL that the good call was led to on its own origin. Everything else is asked there: raw requests follow
// nothing, and a redirect in front of each call would only cost requests.
func (r *run) settle(name exchange.Resource, hops []exchange.Hop) {
	for _, hop := range hops {
		from, err := url.Parse(hop.URL)
		if err != nil || strings.Contains(hop.Location, "[[") { // redacted: the real one is not known here
			return
		}
		to, err := from.Parse(hop.Location)
		if err != nil || exchange.Origin(to) != exchange.Origin(from) {
			return
		}
		to.Fragment = ""
		r.facts.with(func(f *facts) {
			res := f.urls[name]
			res.URL = to.String()
			f.urls[name] = res
		})
	}
}
