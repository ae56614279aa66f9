package probe

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file requests other pages, filters and records than the good call: without a token, with a random one, and as the client without the role. A guard
// may protect the URL of the good call and forget the others.

// credential is a bad credential, or its absence.
type credential struct {
	prefix, words string
	// rotates is true for a credential that only some ways try. A way tries at most one such credential; they take turns.
	rotates bool
	when    func(Node) bool
	ask     func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent)
}

func badCredentials() []credential {
	always := func(Node) bool { return true }
	return []credential{
		{"open", "without a token", false, always, func(_ context.Context, _ *run, res Resource) (recorder.Request, *unsent) { return res.Get(), nil }},
		{"random", "with a random token", true, always, func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
			good, reason := r.token(ctx)
			value := r.source(res.Name, res.URL).Like(good)
			q := res.GetWith(drawnToken, "Bearer "+value)
			q.Presents = value
			return q, reason
		}},
		{"audience", "with a token meant for another audience", true, withOther, presentIssuedTo(OtherAccessToken, "the client of another audience")},
		{"environment", "with a staging token", true, withStaging, presentIssuedTo(StagingAccessToken, "the staging client")},
		{"roleless", "by the client without the role", false, withSecond, func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
			token, reason := r.secondToken(ctx)
			return res.GetWith(SecondAccessToken, "Bearer "+token), reason
		}},
	}
}

// way is a URL of an operation that gives data: with a parameter, for another record, for the next page, or in another form.
type way struct {
	name, words string
	pick        chooser
	// header replaces fields of the good request, for another media type or another language.
	header []evidence.Field
}

// badTries lists the calls with bad credentials that need a good call as their control. It returns nil if the label is not such a good call.
func badTries(good evidence.Label) []evidence.Label {
	name, control := strings.CutPrefix(string(good.Case()), goodWay)
	if !control {
		return nil
	}
	var out []evidence.Label
	for _, c := range badCredentials() {
		out = append(out, good.Resource().With(evidence.Case(c.prefix+"-"+name)))
	}
	return out
}

// accessPlan plans the calls with bad credentials for the parameters, records and pages of an operation. Each way is a lane: the good call of a URL, and
// right after it the calls with bad credentials, because a cache or a guard may look at the URL only.
func accessPlan(n Node, o openapi.Operation) Plan {
	at, s := evidence.OperationResource(o.Key), n.Target.Seed.Source("access", o.Key)
	ways := append(representations(n, o), waysInto(n, o)...)
	if o.Key != n.List && o.Key != n.Detail { // for these operations, another record tests more than another form
		ways = append(waysInto(n, o), representations(n, o)...)
	}
	var rotation []string // the prefixes of the credentials that rotate; the next one is first
	for _, c := range badCredentials() {
		if c.rotates && c.when(n) {
			rotation = append(rotation, c.prefix)
		}
	}
	draw.Shuffle(s, rotation)
	var p Plan
	p.add(n, at, conditionCases()...)
	browsers := 5
	switch o.Key { // the detail gets the header of a browser in each run, and the list the other ranges and weights
	case n.List:
		browsers = 0
	case n.Detail:
		browsers = 10
	}
	p.add(n, at, variantCases(browsers)...)
	p.add(n, at, otherMethod(), tagOfOtherLanguage())
	for _, w := range ways {
		plan := in(stageRest, stageAuthorized, stageSecond, stageOther, stageStaging, stagePages).inLane(w.name)
		tried := s.Below(3) == 0
		good := choose(w.remember())
		if !w.isParameter() {
			good = withoutSchemas(good)
		}
		rows := []row{{Label: evidence.EveryOperation.With(w.good()), Words: w.words, Plan: plan, Send: w.withHeader(good)}}
		if w.isLanguage() {
			rows[0].Learn = learnLanguage
		}
		for _, c := range badCredentials() {
			if w.isLanguage() { // only the good calls in two languages are compared
				break
			}
			if c.rotates && !(tried && c.prefix == rotation[0]) {
				continue
			}
			rows = append(rows, row{
				Label: evidence.EveryOperation.With(evidence.Case(c.prefix + "-" + w.name)), Words: c.words + " and " + w.words, Plan: plan.onlyIf(c.when), Send: tryCredential(w, c),
			})
		}
		if tried && !w.isLanguage() {
			rotation = append(rotation[1:], rotation[0])
		}
		if !w.isLanguage() && (s.Below(2) == 0 || n.Target.Effort == draw.Deep) {
			rows = append(rows, row{Label: evidence.EveryOperation.With(evidence.GoodAgain + evidence.Case("-"+w.name)), Words: w.words + ", after it was refused to others", Plan: plan, Send: repeatGood(w)})
		}
		p.add(n, at, rows...)
	}
	if o.Key == n.List || o.Key == n.Detail {
		p.add(n, at, roleCases()...)
		p.add(n, at, roleDetours()...)
		p.add(n, at, callerCases()...)
	}
	return p
}

// waysInto lists the ways by the query parameters of an operation, to a drawn record, and to the next page.
func waysInto(n Node, o openapi.Operation) []way {
	var out []way
	paged := o.Key == n.List
	for _, q := range queryParameters(o) {
		if _, needed := n.Target.Values[q.Name]; q.Required || needed || paged && setsPage(o, q) {
			continue // the good call or the way to the next page has this parameter
		}
		out = append(out, way{name: string(evidence.ParameterCase(q.Name)), words: "with " + evidence.Clip(q.Name, 60), pick: withParameter(q)})
	}
	if _, ok := n.Collection(o); ok {
		out = append(out, way{name: "record", words: "for another record", pick: otherRecord})
	}
	if paged {
		out = append(out, way{name: "next", words: "for the next page", pick: anotherPage})
	}
	return out
}

// good returns the case of the good call of a way.
func (w way) good() evidence.Case { return evidence.Case(goodWay + w.name) }

// isParameter reports whether a way is a parameter of the document. Then the answer must have the described schema.
func (w way) isParameter() bool { return strings.HasPrefix(w.name, string(evidence.ParameterCase(""))) }

// goodWay begins the cases of good calls by a way.
const goodWay = "good-"

// setsPage reports whether a parameter selects the items of a page.
func setsPage(o openapi.Operation, q openapi.Parameter) bool {
	size, sized := sizeParameter(o)
	page, paged := pageParameter(o)
	return sized && size.Name == q.Name || paged && page.Name == q.Name || isCursor(q)
}

func isCursor(q openapi.Parameter) bool { return openapi.RoleOf(q) == openapi.CursorRole }

// anotherPage follows the link or the cursor to the next page, or else asks for the second page, of a drawn size.
func anotherPage(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	c, reason := nextLink(r, o, res)
	if reason == nil {
		return c, nil
	}
	if i := slices.IndexFunc(o.Parameters, func(p openapi.Parameter) bool { return p.In == "query" && isCursor(p) }); i >= 0 {
		if value, ok := r.cursor(res.Name, o.Parameters[i].Name); ok {
			return chosen{withQuery(res.URL, pair{o.Parameters[i].Name, value}), map[string]string{"parameter": o.Parameters[i].Name, "value": value}}, nil
		}
	}
	var query []pair
	if page, ok := pageParameter(o); ok {
		query = append(query, pair{page.Name, strconv.Itoa(firstPage(page) + 1)})
	}
	if size, ok := sizeParameter(o); ok {
		query = append(query, pair{size.Name, strconv.Itoa(atLeast(size.Schema, r.source(res.Name, "page").Between(2, 5)))})
	}
	if len(query) == 0 {
		return chosen{}, reason
	}
	return chosen{withQuery(res.URL, query...), map[string]string{"parameter": query[0].name, "value": query[0].value}}, nil
}

// remember keeps the URL that the good call of a way chose, for the calls right after it.
func (w way) remember() chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		c, reason := w.pick(r, o, res)
		if reason == nil {
			r.facts.with(func(f *facts) { f.ways[res.Name.With(w.good())] = c })
		}
		return c, reason
	}
}

// afterGood returns the resource at the URL of the good call of a way. If that call failed, the refusal of a bad credential would prove nothing.
func (r *run) afterGood(w way, res Resource) (Resource, map[string]string, *unsent) {
	label := res.Name.With(w.good())
	if !r.facts.good(label) {
		return res, nil, unmet("the good call %s was not answered with 2xx", label)
	}
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	good := r.facts.ways[label]
	res.URL = good.url
	return res, good.given, nil
}

// tryCredential sends a bad credential to the URL of the good call of a way.
func tryCredential(w way, c credential) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		res, given, reason := r.afterGood(w, res)
		if reason != nil {
			return recorder.Request{}, reason
		}
		q, reason := c.ask(ctx, r, res)
		q.Given = given
		w.setHeader(&q)
		return q, reason
	})
}

// repeatGood repeats the good call of a way, because a cache may give the refusal to everybody.
func repeatGood(w way) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		res, given, reason := r.afterGood(w, res)
		if reason != nil {
			return recorder.Request{}, reason
		}
		q, reason := r.authorized(ctx, res)
		q.Given = given
		w.setHeader(&q)
		return q, reason
	})
}

// withParameter calls an operation with a value of one parameter: a value from the data, or else a valid one.
func withParameter(p openapi.Parameter) chooser {
	return func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		name := p.Name
		value, ok := r.seenValue(res.Name, p.Name)
		if size, paged := sizeParameter(o); paged && size.Name == p.Name {
			value, ok = pagingValue(o, p)
		}
		if page, paged := pageParameter(o); paged && page.Name == p.Name {
			value, ok = pagingValue(o, p)
		}
		if isCursor(p) {
			value, ok = r.cursor(res.Name, p.Name)
		}
		if !ok {
			name, value, ok = valueOfParameter(p, r.Clock())
		}
		if !ok {
			value, ok = anyText(p)
		}
		if !ok {
			return chosen{}, notApplicable("neither the document nor the data has a valid value of %.80q", p.Name)
		}
		query, given := []pair{{name, value}}, map[string]string{"parameter": name, "value": value}
		if c, found := r.secondFilter(res.Name, name, value); found {
			query = append(query, pair{c.parameter, c.value})
			given["andParameter"], given["andValue"] = c.parameter, c.value
		}
		return chosen{withQuery(res.URL, query...), given}, nil
	}
}

// secondFilter returns a value of a second filter, such that some item fits both. A node may run a search with two filters by other code, which has no guard.
// Only one drawn filter of a list gets a second one. If the node refused two filters earlier in the run, none does.
func (r *run) secondFilter(name evidence.Resource, parameter, value string) (second condition, found bool) {
	filters, items := r.filtersAt(name), r.facts.itemsOf(name)
	if len(filters) < 2 || r.facts.status(name.With("filter-both"))/100 == 4 {
		return condition{}, false
	}
	s := r.source(name, "second filter")
	first := draw.One(s, filters...)
	if first.parameter != parameter {
		return condition{}, false
	}
	draw.Shuffle(s, filters)
	for _, f := range filters {
		for _, c := range conditions(f, items) {
			for i := range items {
				if f.parameter != parameter && c.holds[i] && slices.Contains(items[i].values[first.member], value) && !isProse(c.value) {
					return c, true
				}
			}
		}
	}
	return condition{}, false
}

// cursor returns the value of a parameter in the link to the next page, or else the cursor that a list names.
func (r *run) cursor(name evidence.Resource, parameter string) (string, bool) {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	if next, ok := r.facts.next[name]; ok && next.stays {
		if value := next.to.Query().Get(parameter); value != "" {
			return value, true
		}
	}
	value := r.facts.listPages[name].Cursor
	return value, value != ""
}

// otherRecord requests a drawn record of the list, not the one of the good call.
func otherRecord(r *run, o openapi.Operation, _ Resource) (chosen, *unsent) {
	ids := r.ids(o)
	if len(ids) < 2 {
		return chosen{}, notApplicable("the list has no other record")
	}
	others := ids[1:]
	// Records of one kind may have nothing below them, so a record of another kind is preferred.
	kinds := map[string]string{}
	if collection, ok := r.node.Collection(o); ok {
		for _, i := range r.facts.itemsOf(evidence.OperationResource(collection.Key)) {
			kinds[i.id] = i.kind
		}
	}
	if other := slices.DeleteFunc(slices.Clone(others), func(id string) bool { return kinds[id] == kinds[ids[0]] }); len(other) > 0 {
		others = other
	}
	id := draw.One(r.source(evidence.OperationResource(o.Key), "record"), others...)
	return chosen{r.detail(o, id), map[string]string{"id": id}}, nil
}

// otherMethod sends a good token with a method that no document describes and that changes nothing (RFC 4918 §9.1, RFC 5323 §2).
func otherMethod() row {
	return row{Label: evidence.EveryOperation.With("good-other-method"), Words: "by a method that the document does not describe", Plan: in(stageRest, stageAuthorized),
		Send: withToken(func(r *run, q *recorder.Request, _ string) {
			q.Method, q.FollowSameOrigin = draw.One(r.source(evidence.EveryOperation, q.URL+" method"), "PROPFIND", "PROPFIND", "SEARCH", "REPORT"), false
		})}
}
