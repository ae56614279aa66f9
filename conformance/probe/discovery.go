package probe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/target"
)

// discover starts further lanes as the run learns about the node: the operations first, since they take longest. It returns when everything is planned. An
// error means that rin could not handle what the node sent; requests under way continue.
func (r *run) discover(ctx context.Context) (err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("discovery failed inside rin: %v", fault)
		}
	}()
	var target evidence.Resource
	choose := func(name evidence.Resource) {
		target = name
		r.facts.with(func(f *facts) { f.protected = name })
		r.launch(ctx, r.unplanned(ForProbeTarget(r.planned, name)))
	}
	defer func() { r.Journal.Roles(r.roles(target)) }()
	r.stages.wait(ctx, stageAnonymous.of(evidence.Info)) // first, because info is the probe target of a run that ends early
	operations := r.discoverOperations(ctx)
	r.stages.wait(ctx, stageAuthorized.of(evidence.Info))
	info := evidence.Info
	if InfoIsTarget(r.facts.status(info.With(evidence.NoToken)), r.facts.status(info.With(evidence.OK))) {
		choose(info) // info is preferred, so discovery does not wait for the operations
	}
	r.facts.mu.Lock()
	listed := len(r.facts.endpoints)
	r.facts.mu.Unlock()
	r.launch(ctx, ForEndpoints(listed, operations))
	for _, o := range r.node.Executable {
		r.stages.wait(ctx, stageAuthorized.of(evidence.OperationResource(o.Key)))
	}
	if target == "" {
		if found, ok := r.node.ProbeTarget(r.facts.status); ok {
			choose(found)
		}
	}
	return nil
}

// discoverOperations reads the document and starts the lanes of its operations. It returns the stages of their anonymous calls,
// which come before any other call of the same URL.
func (r *run) discoverOperations(ctx context.Context) []Stage {
	if !wantsDocument(r.planned) {
		return nil
	}
	r.stages.wait(ctx, stageAnonymous.of(evidence.Specification))
	if !r.documentRead() {
		r.stages.wait(ctx, stageAuthorized.of(evidence.Specification))
	}
	if r.continueWithoutDocument(ctx) {
		return nil
	}
	r.adopt(ctx)
	plan, left := ForDocument(r.node, Room(r.node))
	r.announce(plan)
	r.plan(left)
	for _, l := range left.Lanes {
		for _, s := range l.Steps {
			r.skip(s, cutShort("the document describes more operations than the request budget of %d has room for", r.budget))
			r.count(s.Label)
		}
	}
	r.launch(ctx, plan)
	var out []Stage
	for _, o := range r.node.Executable {
		out = append(out, stageAnonymous.of(evidence.OperationResource(o.Key)))
	}
	return out
}

// continueWithoutDocument continues with the profile auth if the node has no funding API. rin chose the profile because it expected a document at a URL
// that it derived; the document is missing there, and the info resource lists no funding API.
func (r *run) continueWithoutDocument(ctx context.Context) bool {
	if r.planned.ProfileReason == "" || !r.specDerived {
		return false
	}
	gone := false
	for _, c := range []evidence.Case{evidence.NoToken, evidence.OK} {
		switch status := r.facts.status(evidence.Specification.With(c)); {
		case status/100 == 2:
			return false
		case status == 404, status == 410:
			gone = true
		}
	}
	if !gone {
		return false
	}
	if r.listsFunding(ctx) {
		return false
	}
	r.planned = r.planned.WithoutDocument()
	r.Journal.Begin(r.header())
	r.reportProfile()
	return true
}

// listsFunding reports whether the info resource lists a funding API.
func (r *run) listsFunding(ctx context.Context) bool {
	r.stages.wait(ctx, stageAuthorized.of(evidence.Info))
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return slices.ContainsFunc(r.facts.endpoints, func(e endpoint) bool { return strings.Contains(strings.ToLower(e.url), "/funding") })
}

// withoutFunding continues with the profile api if rin chose the profile, the document describes data and no list of funding calls, and info lists no
// funding API.
func (r *run) withoutFunding(ctx context.Context, doc *openapi.Document) {
	_, funding := doc.ListCandidate()
	data := slices.ContainsFunc(doc.Operations, openapi.Operation.MayList)
	changed := r.planned.WithoutFunding()
	if funding || !data || r.planned.ListOperation != "" || changed.Profile == r.planned.Profile || r.listsFunding(ctx) {
		return
	}
	r.planned = changed
	r.Journal.Begin(r.header())
	r.reportProfile()
}

// announce reports and sets the budget of the whole run, now that the document is known.
func (r *run) announce(forDocument Plan) {
	r.budget = min(limit(r.planned, len(r.node.Executable)), Budgeted(r.planned, forDocument.Requests())) + r.entryRoom
	r.recorder.Limit(r.budget - r.before)
	r.Journal.Begin(r.header())
	if forDocument.Requests() > 0 {
		r.Planned(r.budget, r.planned.Politeness)
	}
}

// documentRead reports whether the guard accepted a document.
func (r *run) documentRead() bool {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.document != nil && r.facts.document.Refused == ""
}

// unplanned returns the part of a plan that is not yet planned.
func (r *run) unplanned(p Plan) Plan {
	r.progress.mu.Lock()
	defer r.progress.mu.Unlock()
	known := map[evidence.Label]bool{}
	for label := range r.progress.planned {
		known[label] = true
	}
	return Plan{Lanes: p.without(known)}
}

// Node is what is known about a node once its document was read.
type Node struct {
	// Target has all URLs filled in.
	Target target.Target
	// Document is nil if the node has no document that can be read.
	Document *openapi.Document
	// List and Detail are the keys of the operations that list funding calls, or in the profile api anything, and return one; empty if the
	// document has none.
	List, Detail string
	// Executable are the GET operations that can be called, in document order.
	Executable []openapi.Operation

	otherLists []otherList
	index      map[string]int // key to place in Executable
	// sites are the places where operations may be served, that of the list first; siteOf has the index of an operation's site by its key.
	sites  []site
	siteOf map[string]int
	// entry is the node's entry in the registry, and endpoints the number of URLs that the info endpoint lists. Only planning needs them.
	entry     RegistryEntry
	endpoints int
}

// NewNode reads the operations from a document; doc may be nil. The operator's names for the list and the detail operation take precedence.
func NewNode(t target.Target, doc *openapi.Document) Node {
	n := Node{Target: t, Document: doc, index: map[string]int{}}
	if doc == nil {
		return n
	}
	for _, o := range doc.Operations {
		if o.Method != "GET" || o.RequiresBody {
			continue
		}
		n.index[o.Key] = len(n.Executable)
		n.Executable = append(n.Executable, o)
	}
	list, ok := n.named(t.ListOperation)
	if !ok && t.ListOperation == "" {
		list, ok = doc.ListCandidate()
		switch {
		case !ok && t.WantsFunding():
			list, ok = doc.DescribedListCandidate()
		case !ok:
			list, ok = doc.AnyListCandidate()
		}
	}
	if ok {
		n.List = list.Key
	}
	detail, found := n.named(t.DetailOperation)
	if !found && t.DetailOperation == "" && ok {
		detail, found = doc.DetailCandidate(list)
	}
	if found {
		n.Detail = detail.Key
	}
	n.readSites()
	n.findOtherLists()
	return n
}

// named finds an operation by operationId, key, "GET /path" or path.
func (n Node) named(name string) (openapi.Operation, bool) {
	return n.first(func(o openapi.Operation) bool { return o.Named(name) })
}

// operation returns the executable operation of a resource.
func (n Node) operation(r evidence.Resource) (openapi.Operation, bool) {
	key, isOperation := strings.CutPrefix(string(r), string(evidence.OperationResource("")))
	if !isOperation {
		return openapi.Operation{}, false
	}
	return n.Operation(key)
}

// Operation returns the executable operation with that key.
func (n Node) Operation(key string) (openapi.Operation, bool) {
	i, ok := n.index[key]
	if !ok {
		return openapi.Operation{}, false
	}
	return n.Executable[i], true
}

// Bases lists where an operation may be served, best guess first.
func (n Node) Bases(o openapi.Operation) []Base {
	if len(n.sites) == 0 {
		return nil
	}
	return n.sites[n.siteIndex(o)].bases
}

// SameServers reports whether two operations have the same servers.
func (n Node) SameServers(a, b openapi.Operation) bool { return n.siteIndex(a) == n.siteIndex(b) }

// first returns the first executable operation that fits.
func (n Node) first(fits func(openapi.Operation) bool) (openapi.Operation, bool) {
	i := slices.IndexFunc(n.Executable, fits)
	if i < 0 {
		return openapi.Operation{}, false
	}
	return n.Executable[i], true
}

// Parameterless reports whether an operation can be called without any parameter.
func Parameterless(o openapi.Operation) bool {
	return !isTemplated(o) && !slices.ContainsFunc(o.Parameters, func(p openapi.Parameter) bool { return p.Required })
}

func isTemplated(o openapi.Operation) bool { return strings.Contains(o.Path, "{") }

// Collection returns the operation whose answer lists the ids in the path of o: for the detail operation the list, for others the operation above it.
func (n Node) Collection(o openapi.Operation) (openapi.Operation, bool) {
	list, ok := n.Operation(n.List)
	if o.Key == n.Detail && ok && !isTemplated(list) {
		return list, true
	}
	if n.Document == nil {
		return openapi.Operation{}, false
	}
	return n.Document.Collection(o)
}

// source returns the operation whose answer lists the values of one parameter in the path of o.
func (n Node) source(o openapi.Operation, parameter string) (openapi.Operation, bool) {
	names := o.TemplateParameters()
	if len(names) > 0 && names[len(names)-1] == parameter {
		return n.Collection(o)
	}
	if n.Document == nil {
		return openapi.Operation{}, false
	}
	return n.Document.Source(o, parameter)
}

// maxOtherLists is how many lists, besides the main one, a run tests like the main one.
const maxOtherLists = 3

// otherList is a list besides the main one, such as the funders, or the documents of a call.
type otherList struct {
	list, detail openapi.Operation // the key of detail is empty if the list has no detail
}

// findOtherLists finds the other lists. It leaves out try-out operations.
func (n *Node) findOtherLists() {
	for _, o := range n.Executable {
		if o.Key == n.List || o.Key == n.Detail || !o.ListsRecords() || isTryOut(o) || len(n.otherLists) == maxOtherLists {
			continue
		}
		other := otherList{list: o}
		if d, ok := n.Document.DetailCandidate(o); ok && d.Key != n.Detail {
			other.detail, _ = n.Operation(d.Key)
		}
		n.otherLists = append(n.otherLists, other)
	}
}

// isTryOut reports whether an operation answers without a token by design (NET-R4).
func isTryOut(o openapi.Operation) bool {
	places := append(strings.Split(strings.ToLower(o.Path), "/"), strings.Split(strings.ToLower(strings.Join(o.Servers, "/")), "/")...)
	return slices.ContainsFunc(places, func(segment string) bool {
		return slices.Contains([]string{"try-out", "tryout", "try_out", "tryitout"}, segment)
	})
}

// isList reports whether an operation is the main list or one of the other lists.
func (n Node) isList(o openapi.Operation) bool {
	return o.Key == n.List || slices.ContainsFunc(n.otherLists, func(other otherList) bool { return other.list.Key == o.Key })
}

// isDetail reports whether an operation is the detail of the main list or of one of the other lists.
func (n Node) isDetail(o openapi.Operation) bool {
	return o.Key == n.Detail || slices.ContainsFunc(n.otherLists, func(other otherList) bool { return other.detail.Key == o.Key })
}

// Refused reports whether a status is a refusal: any 4xx except 429, which says nothing about authorization.
func Refused(status int) bool { return status/100 == 4 && status != 429 }

// InfoIsTarget reports whether the info endpoint is the probe target: it refused the anonymous call and answered the authorized one.
func InfoIsTarget(anonymous, authorized int) bool {
	return Refused(anonymous) && authorized/100 == 2
}

// ProbeTarget chooses the protected resource that the bearer rules are tried on, by the status of each call, 0 for a call without an answer. It prefers a
// resource that refused the anonymous call and answered the authorized one: the info endpoint, or the first parameterless operation that is not declared
// public. Otherwise it chooses one that refused the anonymous call, unless another operation answered without a token: then a route that refuses everybody
// is not representative.
func (n Node) ProbeTarget(status func(evidence.Label) int) (evidence.Resource, bool) {
	anonymous := func(r evidence.Resource) int { return status(r.With(evidence.NoToken)) }
	if InfoIsTarget(anonymous(evidence.Info), status(evidence.Info.With(evidence.OK))) {
		return evidence.Info, true
	}
	var refusing evidence.Resource
	open := false
	for _, o := range n.Executable {
		r := evidence.OperationResource(o.Key)
		if !Parameterless(o) || n.Document.Public(o) {
			continue
		}
		open = open || anonymous(r)/100 == 2
		if !Refused(anonymous(r)) {
			continue
		}
		if status(r.With(evidence.OK))/100 == 2 {
			return r, true
		}
		if refusing == "" {
			refusing = r
		}
	}
	if open {
		return "", false
	}
	if s := anonymous(evidence.Info); s == 401 || s == 403 {
		return evidence.Info, true
	}
	return refusing, refusing != ""
}
