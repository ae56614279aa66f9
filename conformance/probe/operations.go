package probe

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// maxEndpoints is how many of the URLs that the info endpoint lists are called (INF-05).
const maxEndpoints = 10

// maxParameters is how many described query parameters of the list operation are tried.
const maxParameters = 16

// ForDocument plans the calls of all operations of a node's document, within room requests. What does not fit is returned as
// left: the operations that stand last. The odd credentials on operations beyond the funding operations go before.
func ForDocument(n Node, room int) (p Plan, left []evidence.Label) {
	if bases := n.Bases(); len(bases) > 1 {
		if _, ok := n.Scout(); ok {
			// The session's token: an earlier one may have been revoked by those that were issued since.
			lane := Lane{Stage: stageBase, After: []Stage{stageSession}}
			for i := range bases {
				lane.Labels = append(lane.Labels, evidence.BaseResource(i+1).With(evidence.OK))
			}
			p.Lanes = append(p.Lanes, lane)
		}
	}
	p = p.With(forFunding(n))
	p = p.With(forThemes(n))
	for _, o := range n.Executable {
		own := forOperation(n, o)
		if p.Requests()+own.Requests() > room && o.Key != n.List && o.Key != n.Detail {
			left = append(left, own.Labels()...)
			continue
		}
		p = p.With(own)
	}
	if !everywhere(n.Target) {
		return p, left
	}
	for _, o := range n.Executable {
		if !p.has(evidence.OperationResource(o.Key).With(evidence.OK)) {
			continue
		}
		if own := latticeOf(n, o); p.Requests()+own.Requests() <= room {
			p = p.With(own)
		}
	}
	return p, left
}

func forThemes(n Node) Plan {
	var p Plan
	for _, th := range themes() {
		if th.forDocument != nil {
			p = p.With(th.forDocument(n))
		}
	}
	return p
}

// forOperation plans what is asked of every operation: anonymous, authorized, with a token that is none.
func forOperation(n Node, o openapi.Operation) Plan {
	var p Plan
	r := evidence.OperationResource(o.Key)
	known := stageBase
	if c, ok := n.Collection(o); ok {
		known = opened(evidence.OperationResource(c.Key)) // its answer holds the ids
	}
	p.lane(anonymous(r), []Stage{known}, r, evidence.NoToken)
	p.lane(opened(r), []Stage{anonymous(r), stageSession}, r, evidence.OK)
	p.lane(tried(r), []Stage{opened(r)}, r, "garbage")
	return p
}

// latticeOf plans all that must not get in, the client without the role included: whether an operation needs the role is for the
// requirement to say.
func latticeOf(n Node, o openapi.Operation) Plan {
	var p Plan
	r := evidence.OperationResource(o.Key)
	p.lattice(r)
	p.noRole(n, r)
	return p
}

// forFunding plans what is asked of the list and the detail operation beyond every operation.
func forFunding(n Node) Plan {
	var p Plan
	if o, ok := n.Operation(n.List); ok {
		p = p.With(forOperation(n, o)).With(forList(n, o))
		if !n.Target.Quick {
			p = p.With(latticeOf(n, o))
		}
	}
	if o, ok := n.Operation(n.Detail); ok {
		p = p.With(forOperation(n, o)).With(forDetail(n, o))
		if !n.Target.Quick {
			p = p.With(latticeOf(n, o))
		}
	}
	return p
}

func forList(n Node, o openapi.Operation) Plan {
	var p Plan
	r := evidence.OperationResource(o.Key)
	after := []Stage{opened(r)}
	p.lane(stageRest, after, r, "size-2", "page-no-token")
	p.each(stageRest, after, r, "filter-seen", "filter-other")
	for _, q := range queryParameters(o) {
		p.lane(stageRest, after, r, evidence.ParameterCase(q.Name))
	}
	p.noRole(n, r)
	return p
}

// noRole plans the call of the client without the role.
func (p *Plan) noRole(n Node, r evidence.Resource) {
	if n.Target.Second != nil {
		p.lane(stageRest, []Stage{stageSecond, opened(r)}, r, "no-role")
	}
}

func forDetail(n Node, o openapi.Operation) Plan {
	var p Plan
	r := evidence.OperationResource(o.Key)
	p.each(stageRest, []Stage{opened(r)}, r, "item-first", "item-middle", "item-last", "unknown-id")
	p.noRole(n, r)
	return p
}

// ForEndpoints plans the calls of the n URLs that the info endpoint lists, after the stages given.
func ForEndpoints(n int, after []Stage) Plan {
	var p Plan
	for i := range min(n, maxEndpoints) {
		p.lane(stageRest, after, evidence.EndpointResource(strconv.Itoa(i+1)), evidence.OK)
	}
	return p
}

// queryParameters lists the query parameters that are tried one by one.
func queryParameters(o openapi.Operation) []openapi.Parameter {
	var out []openapi.Parameter
	seen := map[evidence.Case]bool{}
	for _, p := range o.Parameters {
		if c := evidence.ParameterCase(p.Name); p.In == "query" && !seen[c] && len(out) < maxParameters {
			seen[c] = true
			out = append(out, p)
		}
	}
	return out
}

func (p Plan) has(label evidence.Label) bool {
	for _, l := range p.Labels() {
		if l == label {
			return true
		}
	}
	return false
}

// attempt is what came of a place where operations may live.
type attempt struct {
	base   Base
	status int
}

// baseProbe calls the scout operation at the n-th candidate, until one answers with 2xx. The call has a query of its own, so that
// no cache holds the URL that is asked without a token later.
func (r *run) baseProbe(key string) probe {
	n, _ := strconv.Atoi(key)
	bases := r.node.Bases()
	scout, ok := r.node.Scout()
	return probe{
		prepare: func(ctx context.Context) (recorder.Request, *unsent) {
			if n < 1 || n > len(bases) || !ok {
				return recorder.Request{}, unmet("there is no such place")
			}
			for _, a := range r.attempts() {
				switch {
				case a.status/100 == 2:
					return recorder.Request{}, notApplicable("operations were found under %s", a.base.Prefix)
				case a.status == 0 && sameOrigin(a.base.Prefix, bases[n-1].Prefix): // each silence costs the whole time of a request
					return recorder.Request{}, unmet("%s gave no answer, and this place is on the same origin", a.base.Prefix)
				}
			}
			extra := pair{"conformance", r.drawn.id}
			if size, ok := sizeParameter(scout); ok {
				extra = pair{size.Name, strconv.Itoa(atLeast(size.Schema, 1))}
			}
			res := Resource{Name: evidence.BaseResource(n), URL: withQuery(bases[n-1].URL(scout.Path), extra)}
			ask, reason := r.authorized(ctx, res, evidence.OK)
			ask.Given = map[string]string{"base": bases[n-1].Prefix, "how": bases[n-1].How}
			return ask, reason
		},
		learn: func(a recorder.Answer) {
			r.facts.with(func(f *facts) { f.bases = append(f.bases, attempt{bases[n-1], a.Status}) })
		},
	}
}

func sameOrigin(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && evidence.Origin(x) == evidence.Origin(y)
}

func (r *run) attempts() []attempt {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.bases
}

// base is where operations live: the candidate that answered with 2xx, else the first that knew the path, else the best guess.
func (r *run) base() (Base, bool) {
	tried := r.attempts()
	for _, a := range tried {
		if a.status/100 == 2 {
			return a.base, true
		}
	}
	for _, a := range tried {
		if a.status != 0 && a.status != 404 && a.status != 405 {
			return a.base, true
		}
	}
	bases := r.node.Bases()
	if len(bases) == 0 {
		return Base{}, false
	}
	return bases[0], true
}

// locateResource finds the URL of a resource once and keeps to it: all cases of a resource ask the same URL.
func (r *run) locateResource(name evidence.Resource) (Resource, *unsent) {
	if res, ok := r.facts.resource(name); ok {
		return res, nil
	}
	o, ok := r.operation(name)
	if !ok {
		return Resource{Name: name}, unmet("the URL of %s is not known", name)
	}
	res, reason := r.fill(o, nil)
	if reason == nil {
		r.facts.with(func(f *facts) { f.urls[name] = res })
	}
	return res, reason
}

// unlocated says why the URL of a resource is not known, such as a list without items to take an id from.
func (r *run) unlocated(name evidence.Resource) *unsent {
	if o, ok := r.operation(name); ok {
		if _, reason := r.fill(o, nil); reason != nil {
			return &unsent{evidence.Unmet, reason.because}
		}
	}
	return unmet("the URL of %s is not known", name)
}

// operation is the described operation behind a resource. Others are asked while the document is still being read.
func (r *run) operation(name evidence.Resource) (openapi.Operation, bool) {
	if !isOperation(name) {
		return openapi.Operation{}, false
	}
	return r.node.Operation(strings.TrimPrefix(string(name), string(evidence.OperationResource(""))))
}

// fill makes the call of an operation with sample values for what it requires. change gives parameters another value, by "in name", or
// leaves them out with nil.
func (r *run) fill(o openapi.Operation, change map[string]*string) (Resource, *unsent) {
	res := Resource{Name: evidence.OperationResource(o.Key)}
	base, ok := r.base()
	if !ok {
		return res, unmet("where operations live is not known")
	}
	path, query := o.Path, []pair(nil)
	for _, p := range o.Parameters {
		value, changed := change[placeOf(p)]
		switch {
		case changed && value == nil, !changed && !p.Required && p.In != "path", clientsField(p):
			continue
		case !changed:
			sample, reason := r.sample(o, p)
			if reason != nil {
				return res, reason
			}
			value = &sample
		}
		switch p.In {
		case "query":
			query = append(query, pair{p.Name, *value})
		case "path":
			path = strings.ReplaceAll(path, "{"+p.Name+"}", url.PathEscape(*value))
		case "header":
			res.Header = append(res.Header, evidence.Field{Name: p.Name, Value: *value})
		}
	}
	if strings.ContainsAny(path, "{}") {
		ids := r.ids(o)
		if len(ids) == 0 || strings.Count(path, "{") != 1 {
			return res, notApplicable("no sample for the path %.200s", o.Path)
		}
		path = fillTemplate(path, ids[0])
	}
	res.URL = withQuery(base.URL(path), query...)
	return res, nil
}

// sample is a valid value of a required parameter: an id from the collection for a path parameter, else what its schema tells.
func (r *run) sample(o openapi.Operation, p openapi.Parameter) (string, *unsent) {
	if p.In == "path" {
		if ids := r.ids(o); len(ids) > 0 {
			return ids[0], nil
		}
		if c, ok := r.node.Collection(o); ok && len(p.Schema.Enum) == 0 {
			return "", unmet("the list %s holds no item to take the %s from", c.Path, p.Name)
		}
	}
	if value, ok := pagingValue(o, p); ok {
		return value, nil
	}
	if value, ok := valueOf(p.Schema, r.Clock()); ok && sendsAs(p, value) {
		return value, nil
	}
	return "", notApplicable("no sample for the required %s parameter %.80q", p.In, p.Name)
}

// ids are sample ids for an operation's last template segment.
func (r *run) ids(o openapi.Operation) []string {
	c, ok := r.node.Collection(o)
	if !ok {
		return nil
	}
	return sampleIDs(r.facts.itemsOf(evidence.OperationResource(c.Key)))
}

// samples reports that items of the resource's answer are needed: it is the list or the collection of a detail operation.
func (r *run) samples(name evidence.Resource) bool {
	if name == evidence.OperationResource(r.node.List) {
		return true
	}
	for _, o := range r.node.Executable {
		if c, ok := r.node.Collection(o); ok && evidence.OperationResource(c.Key) == name {
			return true
		}
	}
	return false
}

// fillTemplate puts an id, percent-encoded, into the only template segment of a path.
func fillTemplate(path, id string) string {
	open, end := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
	if open < 0 || end < open {
		return path
	}
	return path[:open] + url.PathEscape(id) + path[end+1:]
}

// roles says what was found, for the evidence.
func (r *run) roles(protected evidence.Resource) evidence.Roles {
	roles := evidence.Roles{ProbeTarget: protected}
	if r.node.List != "" {
		roles.List = evidence.OperationResource(r.node.List)
	}
	if r.node.Detail != "" {
		roles.Detail = evidence.OperationResource(r.node.Detail)
	}
	for _, o := range r.node.Executable {
		name := evidence.OperationResource(o.Key)
		if _, called := r.facts.resource(name); called {
			roles.Operations = append(roles.Operations, name)
		}
	}
	if base, ok := r.base(); ok {
		roles.OperationBase = r.Redactor.Text(base.Prefix)
		for _, a := range r.attempts() {
			roles.BaseTried = append(roles.BaseTried, r.Redactor.Text(fmt.Sprintf("%s (%s): %s", a.base.Prefix, a.base.How, outcome(a.status))))
		}
	}
	return roles
}

func outcome(status int) string {
	if status == 0 {
		return "no answer"
	}
	return strconv.Itoa(status)
}
