package probe

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// fundingCases are the first requests for a page and a filter of the list, the calls of the client without the role, and the calls of the detail operation.
// Further requests for pages and filters are in pages.go.
func fundingCases() []row {
	plan := in(stageRest, stageAuthorized)
	onDrawn := in(stageRest, stageListRead, stageAuthorized).onlyIf(notQuick)
	onPages := in(stageRest, stagePages, stageAuthorized)
	out := []row{
		{Label: "list.size-2", Plan: onPages.inLane("page"), Send: choose(sizeTwo)},
		// This row repeats size-2 without a token, because a guard or a cache may look at the path without the query.
		{Label: "list.page-no-token", Words: "without a token and for a page", Plan: onPages.inLane("page"), Send: anonymousPage},
		{Label: "list.filter-seen", Plan: plan, Send: choose(filterSeen)},
		{Label: "list.filter-other", Plan: plan, Send: choose(filterOther)},
		{Label: "op/*.no-role", Words: "by the client without the role", Plan: in(stageRest, stageSecond, stageAuthorized).alsoOn(onOperations).onlyIf(withSecond), Send: callWithoutRole},
		{Label: "detail.item-first", Plan: plan, Send: callItem(0), Learn: learnNamedIDs},
		{Label: "detail.item-middle", Plan: plan, Send: callItem(1), Learn: learnNamedIDs},
		{Label: "detail.item-last", Plan: plan, Send: callItem(2), Learn: learnNamedIDs},
		{Label: "detail.item-drawn-1", Plan: onDrawn.inLane("drawn item"), Send: callDrawnItem(0), Learn: learnNamedIDs},
		// The same item is requested four times, because replicas or caches that differ change a record from call to call.
		{Label: "detail.item-drawn-1-again-1", Plan: onDrawn.inLane("drawn item"), Send: callDrawnItem(0)},
		{Label: "detail.item-drawn-1-again-2", Plan: onDrawn.inLane("drawn item"), Send: callDrawnItem(0)},
		{Label: "detail.item-drawn-1-again-3", Plan: onDrawn.inLane("drawn item"), Send: callDrawnItem(0)},
		{Label: "detail.unknown-id", Plan: plan.alsoOn(onItems), Send: choose(func(r *run, o openapi.Operation, _ Resource) (chosen, *unsent) {
			id := r.unknownID(o)
			return chosen{r.detail(o, id), map[string]string{"id": id}}, nil
		})},
	}
	for n, c := range evidence.DrawnItems()[1:] {
		plan := onDrawn
		if n > 0 { // needed only if the list has that many items
			plan = plan.onDemand()
		}
		out = append(out, row{Label: evidence.DetailOperation.With(c), Plan: plan, Send: callDrawnItem(n + 1), Learn: learnNamedIDs})
	}
	for n, c := range evidence.MoreItems() { // a few records among many may be wrong
		plan := onDrawn.alsoOn(inOwnPlan).onDemand()
		out = append(out, row{Label: evidence.DetailOperation.With(c), Plan: plan, Send: callDrawnItem(len(evidence.DrawnItems()) + n), Learn: learnNamedIDs})
	}
	return slices.Concat(out, likeIDCases(), gapIDCases(), namedIDCases(), foreignRecordCases())
}

// chosen is the URL that a row chose for an operation, with its inputs for the evidence.
type chosen struct {
	url   string
	given map[string]string
}

type chooser func(r *run, o openapi.Operation, res Resource) (chosen, *unsent)

// choose calls an operation at the URL that pick chooses, if the good call succeeded.
func choose(pick chooser) sender { return chooseOf(pick, true) }

// chooseOf calls an operation at the URL that pick chooses. If needsGood is true, it does so only after the good call succeeded.
//
// It is not inlined, because the copies of its closure take space in the program.
//
//go:noinline
func chooseOf(pick chooser, needsGood bool) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		o, known := r.operation(at)
		res, located := r.facts.resource(at)
		if !known || !located {
			return recorder.Request{}, r.unlocated(at)
		}
		if good := at.With(evidence.OK); needsGood && !r.facts.good(good) {
			return recorder.Request{}, unmet("the good call %s was not answered with 2xx", good)
		}
		c, reason := pick(r, o, res)
		if reason != nil {
			return recorder.Request{}, reason
		}
		res.URL = c.url
		q, reason := r.authorized(ctx, res)
		q.Given, q.Annotate = c.given, r.annotate(at)
		return q, reason
	}
}

// callItem requests a listed item, also if the good call of the detail failed, because one missing item says nothing about the others.
func callItem(place int) sender {
	return chooseOf(func(r *run, o openapi.Operation, _ Resource) (chosen, *unsent) {
		ids := r.ids(o)
		switch {
		case len(ids) == 0:
			return chosen{}, unmet("the list holds no item with an id")
		case place >= len(ids):
			return chosen{}, notApplicable("the list is so short that all its items were requested")
		}
		return chosen{r.detail(o, ids[place]), r.givenID(o, "id", ids[place])}, nil
	}, false)
}

// callDrawnItem requests the nth item that is drawn for the run, because developers may try the first, the middle and the last item themselves.
// [run.drawnIDs] says which items these are.
func callDrawnItem(n int) sender {
	return chooseOf(func(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
		collection, ok := r.node.Collection(o)
		if !ok {
			return chosen{}, notApplicable("no list has the ids")
		}
		drawn := r.drawnIDs(evidence.OperationResource(collection.Key), res.Name)
		if n >= len(drawn) {
			return chosen{}, notApplicable("the list is so short that all its items were requested")
		}
		return chosen{r.detail(o, drawn[n]), r.givenID(o, "id", drawn[n])}, nil
	}, false)
}

// givenID returns the inputs of a call of a detail operation: the id and, if the items do not have it in their member id, the name of the member that has it.
func (r *run) givenID(o openapi.Operation, name, id string) map[string]string {
	given := map[string]string{name: id}
	if c, ok := r.node.Collection(o); ok {
		if known := r.identityAt(evidence.OperationResource(c.Key)); known.Member != "id" {
			given["member"] = known.Member
			if known.Guessed {
				given["guessed"] = "true"
			}
		}
	}
	return given
}

// identityAt returns the member that identifies the items of a list.
func (r *run) identityAt(at evidence.Resource) openapi.IdentityMember {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	if known, ok := r.facts.identities[at]; ok {
		return known
	}
	return openapi.IdentityMember{Member: "id"}
}

// identityIn finds the member whose values the detail operation of a list takes as ids.
func (r *run) identityIn(list openapi.Operation, texts [][]byte) openapi.IdentityMember {
	for _, o := range r.node.Executable {
		c, ok := r.node.Collection(o)
		if template := o.TemplateParameters(); ok && c.Key == list.Key && len(template) > 0 {
			p := templateParameter(o, template[len(template)-1])
			p.Name = template[len(template)-1]
			return openapi.IdentityIn(texts, p, list.Path)
		}
	}
	return openapi.IdentityMember{Member: "id"}
}

func anonymousPage(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	o, known := r.operation(at)
	res, located := r.facts.resource(at)
	if !known || !located {
		return recorder.Request{}, r.unlocated(at)
	}
	if page := at.With("size-2"); !r.facts.good(page) {
		return recorder.Request{}, notApplicable("%s did not return a page, so refusing the page without a token would prove nothing", page)
	}
	c, reason := sizeTwo(r, o, res)
	res.URL = c.url
	q := res.Get()
	q.Given = c.given
	return q, reason
}

// callWithoutRole sends the token of the client without the role.
func callWithoutRole(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	res, ok := r.facts.resource(at)
	if !ok {
		return recorder.Request{}, r.unlocated(at)
	}
	token, reason := r.secondToken(ctx)
	return res.GetWith(SecondAccessToken, "Bearer "+token), reason
}

// Page sizes that keep answers small.
const (
	sizeOfFilter    = 40
	sizeOfParameter = 10
)

// sizeTwo requests a page of two items, or of one item if the list has two, or of the least size that the document allows.
func sizeTwo(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	size, ok := r.size(o)
	if !ok {
		size = openapi.Parameter{Name: pageSize} // the document does not describe it, so the result is only reported
	}
	value := strconv.Itoa(atLeast(size.Schema, fewerThan(len(r.facts.itemsOf(res.Name)))))
	return chosen{withQuery(res.URL, pair{size.Name, value}), map[string]string{"parameter": size.Name, "value": value}}, nil
}

// fewerThan returns a page size that is smaller than a short list: 2, or 1 if the list has two items.
func fewerThan(items int) int {
	if items == 2 {
		return 1
	}
	return 2
}

// detail returns the URL of one item.
func (r *run) detail(o openapi.Operation, id string) string {
	change := map[string]*string{}
	for _, p := range o.Parameters {
		if names := o.TemplateParameters(); p.In == "path" && len(names) > 0 && p.Name == names[len(names)-1] {
			change[parameterKey(p)] = &id
		}
	}
	if res, reason := r.fill(o, change); reason == nil && len(change) == 1 {
		return res.URL // with the other required parameters
	}
	base, _ := r.baseOf(o)
	return base.URL(fillTemplate(o.Path, id))
}

// unknownID returns an id that no item has, in the form that the document requires.
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

// filterSeen requests the items with a value that some items have.
func filterSeen(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	return r.filtered(o, res, func(c *choice) (value string, seen bool, reason *unsent) { return c.seen, true, nil })
}

// filterOther requests the items with another value, which perhaps no item has.
func filterOther(r *run, o openapi.Operation, res Resource) (chosen, *unsent) {
	return r.filtered(o, res, func(c *choice) (value string, seen bool, reason *unsent) {
		switch {
		case c.other != "":
			return c.other, c.otherSeen, nil
		case c.open:
			return r.unknown(), c.otherSeen, nil
		}
		return "", false, notApplicable("the vocabulary of %s has no other value", c.parameter)
	})
}

func (r *run) filtered(o openapi.Operation, res Resource, pick func(*choice) (value string, seen bool, reason *unsent)) (chosen, *unsent) {
	items := r.facts.itemsOf(res.Name)
	if len(items) == 0 {
		return chosen{}, unmet("the list holds no item to take a value from")
	}
	filter, ok := chooseFilter(r.filtersAt(res.Name), items)
	if !ok {
		return chosen{}, notApplicable("the document describes no filter whose member has a value in the data")
	}
	value, seen, reason := pick(&filter)
	if reason != nil {
		return chosen{}, reason
	}
	given := map[string]string{"parameter": filter.parameter, "member": filter.member, "value": value, "seen": strconv.FormatBool(seen)}
	return chosen{r.sized(o, withQuery(res.URL, pair{filter.parameter, value}), filter.parameter, sizeOfFilter), given}, nil
}

// seenValue returns a value from the data for a parameter that filters by a known member.
func (r *run) seenValue(name evidence.Resource, parameter string) (string, bool) {
	for _, f := range r.filtersAt(name) {
		if f.parameter != parameter {
			continue
		}
		if _, order := occurrences(r.facts.itemsOf(name), f.member); len(order) > 0 {
			return order[0], true
		}
	}
	return "", false
}

// sized adds a page size to a URL if the document describes one and the call does not try the size itself.
func (r *run) sized(o openapi.Operation, address, tried string, size int) string {
	p, ok := r.size(o)
	if !ok || p.Name == tried {
		return address
	}
	return withQuery(address, pair{p.Name, strconv.Itoa(atLeast(p.Schema, size))})
}

// item is what rows need to know about one item of a list.
type item struct {
	id, kind string
	// values are the values of the members that filters name, by member path.
	values map[string][]string
}

// maxItems is how many items of a list are read.
const maxItems = 5000

// readItems reads the items of a list. identity is the member that identifies an item; of the other members it keeps those that the filters name.
func readItems(identity string, texts [][]byte, filters ...describedFilter) []item {
	var out []item
	for _, text := range texts[:min(len(texts), maxItems)] {
		if text[0] != '{' {
			continue
		}
		i := item{id: cmp.Or(sendableValues(text, identity)...), kind: cmp.Or(sendableValues(text, "type")...), values: map[string][]string{}}
		for _, f := range filters {
			if f.member != "" {
				i.values[f.member] = sendableValues(text, f.member)
			}
		}
		out = append(out, i)
	}
	return out
}

// maxScalar bounds a value that is sent back to the node, in bytes.
const maxScalar = 512

// sendableValues returns the values at a member path that can be sent back, each once.
func sendableValues(item []byte, path string) []string {
	var out []string
	for _, value := range openapi.MemberValues(item, path) {
		if value != "" && len(value) <= maxScalar && !slices.Contains(out, value) {
			out = append(out, value)
		}
	}
	return out
}

// sampleIDs returns the first, the middle and the last id of a list, each id once.
func sampleIDs(items []item) []string {
	good := plainIDs(items)
	if len(good) == 0 {
		return nil
	}
	return slices.Compact([]string{good[0], good[len(good)/2], good[len(good)-1]})
}

// hasOtherKinds reports whether the items have kinds that the published API does not have. The rule that a node may serve the details of some kinds only
// is about the kinds of the published API.
func hasOtherKinds(items []item) bool {
	return slices.ContainsFunc(items, func(i item) bool {
		return !slices.Contains([]string{"", "PROGRAMME", "CALL", "ONGOING_CALL", "RESEARCH_CONTRACT", "AWARD", "GRANT", "SCHOLARSHIP"}, i.kind)
	})
}

// withoutKinds returns the items without their kinds.
func withoutKinds(items []item) []item {
	out := slices.Clone(items)
	for i := range out {
		out[i].kind = ""
	}
	return out
}

// plainIDs returns the ids of a list, each once. It prefers ids without a slash, because many servers refuse %2F, and items of the kinds CALL and PROGRAMME,
// because only some nodes serve details of the others.
func plainIDs(items []item) []string {
	return preferredIDs(items, func(i item) bool { return !strings.ContainsAny(i.id, `/\%`) && isServed(i) })
}

// servedIDs is [plainIDs] with ids of any characters.
func servedIDs(items []item) []string { return preferredIDs(items, isServed) }

// isServed reports whether every node serves single items of this kind.
func isServed(i item) bool { return i.kind == "" || i.kind == "CALL" || i.kind == "PROGRAMME" }

// preferredIDs returns the ids of the preferred items, each once, or else all ids.
func preferredIDs(items []item, prefers func(item) bool) []string {
	var all, good []string
	seen := map[string]bool{"": true, ".": true, "..": true}
	for _, i := range items {
		if seen[i.id] {
			continue
		}
		seen[i.id] = true
		all = append(all, i.id)
		if prefers(i) {
			good = append(good, i.id)
		}
	}
	if len(good) == 0 {
		return all
	}
	return good
}
