package probe

import (
	"context"
	"net/url"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// theme is a group of requests that belong together: what it adds to the plan as more of the node is known, and how it is asked.
// Any of its functions may be nil.
type theme struct {
	// forTarget plans what can be asked of any node.
	forTarget func(t target.Target) Plan
	// forProbeTarget plans what is tried on the probe target.
	forProbeTarget func(t target.Target, r evidence.Resource) Plan
	// forDocument plans what the node's document makes possible.
	forDocument func(n Node) Plan
	// forDocumentMost is how many requests that can be at most, for the budget that is told before the document is read.
	forDocumentMost func(t target.Target) int
	// probe says how a label of the theme is asked; ok is false for the labels of others.
	probe func(r *run, l evidence.Label) (p probe, ok bool)
}

// themes lists the themes of every run, in the order of their plans.
func themes() []theme {
	return []theme{registered(), transported(), forged(), outlived(), credited(), sanitary(), robust(), paged(), bounded()}
}

// probeOf says how a label is asked, by its resource first and by its case then.
func (r *run) probeOf(label evidence.Label) probe {
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
	case name == evidence.TokenEndpoint:
		return r.tokenProbe(c)
	case name == evidence.SecondClient:
		return r.secondProbe()
	case name == evidence.Specification:
		return r.specProbe(c)
	case kind == "base":
		return r.baseProbe(key)
	case kind == "endpoint":
		return r.endpointProbe(name)
	case name == evidence.Info && (c == "without-content-type" || c == "post"):
		return r.infoProbe(c)
	case c == evidence.NoToken:
		return r.anonymousProbe(name)
	case c == evidence.OK:
		return r.goodProbe(name)
	case kind == "op" && ofFunding(c):
		return r.fundingProbe(key, c)
	}
	return r.bearerProbe(name, c)
}

// ofFunding reports the cases that ask the list or the detail operation for something particular.
func ofFunding(c evidence.Case) bool {
	switch c {
	case "no-role", "size-2", "page-no-token", "filter-seen", "filter-other",
		"item-first", "item-middle", "item-last", "unknown-id":
		return true
	}
	return strings.HasPrefix(string(c), string(evidence.ParameterCase("")))
}

// anonymousProbe asks without a token. For an operation it is the first call, which settles its URL.
func (r *run) anonymousProbe(name evidence.Resource) probe {
	return probe{prepare: func(context.Context) (recorder.Request, *unsent) {
		res, reason := r.locateResource(name)
		return res.Get(evidence.NoToken), reason
	}}
}

// goodProbe asks as a client of the network does.
func (r *run) goodProbe(name evidence.Resource) probe {
	return probe{
		prepare: func(ctx context.Context) (recorder.Request, *unsent) {
			res, reason := r.locateResource(name)
			if reason != nil {
				return recorder.Request{}, reason
			}
			ask, reason := r.authorized(ctx, res, evidence.OK)
			ask.Annotate = r.annotate(name)
			return ask, reason
		},
		learn: func(a recorder.Answer) { r.learnGood(name, a) },
	}
}

// learnGood draws samples from a good answer.
func (r *run) learnGood(name evidence.Resource, a recorder.Answer) {
	if a.Status/100 != 2 {
		return
	}
	r.settle(name, a.Exchange.Redirects)
	r.facts.with(func(f *facts) { f.cookies[name] = cookiesOf(a.Header) })
	if name == evidence.Info {
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
	if o, ok := r.node.Operation(r.node.List); ok && name == evidence.OperationResource(o.Key) {
		list, _ := openapi.ReadList(a.Body)
		w := newWalk(o, openapi.Identities(list.Items))
		r.facts.with(func(f *facts) { f.walks[name] = w })
		r.learnNext(name, a)
	}
}

// settle keeps to the URL that the good call was led to on its own origin. Everything else is asked there: raw requests follow
// nothing, and a redirect in front of each call would only cost requests.
func (r *run) settle(name evidence.Resource, hops []evidence.Hop) {
	for _, hop := range hops {
		from, err := url.Parse(hop.URL)
		if err != nil || strings.Contains(hop.Location, "[[") { // redacted: the real one is not known here
			return
		}
		to, err := from.Parse(hop.Location)
		if err != nil || evidence.Origin(to) != evidence.Origin(from) {
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
