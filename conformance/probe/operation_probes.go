package probe

import (
	"context"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// attempt is what came of a place where operations may live.
type attempt struct {
	base   discover.Base
	status int
}

// baseProbe calls the scout operation at the n-th candidate, until one answers with 2xx. The call has a query of its own, so that
// no cache holds the URL that is asked without a token later.
func (r *run) baseProbe(key string) probe {
	n, _ := strconv.Atoi(key)
	bases := r.node.Bases()
	scout, ok := r.node.Scout()
	return probe{
		prepare: func(ctx context.Context) (record.Ask, *unsent) {
			if n < 1 || n > len(bases) || !ok {
				return record.Ask{}, unmet("there is no such place")
			}
			for _, a := range r.attempts() {
				switch {
				case a.status/100 == 2:
					return record.Ask{}, notApplicable("operations were found under %s", a.base.Prefix)
				case a.status == 0 && sameOrigin(a.base.Prefix, bases[n-1].Prefix): // each silence costs the whole time of a request
					return record.Ask{}, unmet("%s gave no answer, and this place is on the same origin", a.base.Prefix)
				}
			}
			extra := pair{"conformance", r.drawn.id}
			if size, ok := sizeParameter(scout); ok {
				extra = pair{size.Name, strconv.Itoa(atLeast(size.Schema, 1))}
			}
			res := discover.Resource{Name: exchange.BaseResource(n), URL: withQuery(bases[n-1].URL(scout.Path), extra)}
			ask, reason := r.authorized(ctx, res, exchange.OK)
			ask.Given = map[string]string{"base": bases[n-1].Prefix, "how": bases[n-1].How}
			return ask, reason
		},
		learn: func(a record.Answer) {
			r.facts.with(func(f *facts) { f.bases = append(f.bases, attempt{bases[n-1], a.Status}) })
		},
	}
}

func sameOrigin(a, b string) bool {
	x, errX := url.Parse(a)
	y, errY := url.Parse(b)
	return errX == nil && errY == nil && exchange.Origin(x) == exchange.Origin(y)
}

func (r *run) attempts() []attempt {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.bases
}

// base is where operations live: the candidate that answered with 2xx, else the first that knew the path, else the best guess.
func (r *run) base() (discover.Base, bool) {
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
		return discover.Base{}, false
	}
	return bases[0], true
}

// locateResource finds the URL of a resource once and keeps to it: all cases of a resource ask the same URL.
func (r *run) locateResource(name exchange.Resource) (discover.Resource, *unsent) {
	if res, ok := r.facts.resource(name); ok {
		return res, nil
	}
	o, ok := r.operation(name)
	if !ok {
		return discover.Resource{Name: name}, unmet("the URL of %s is not known", name)
	}
	res, reason := r.fill(o, nil)
	if reason == nil {
		r.facts.with(func(f *facts) { f.urls[name] = res })
	}
	return res, reason
}

// unlocated says why the URL of a resource is not known, such as a list without items to take an id from.
func (r *run) unlocated(name exchange.Resource) *unsent {
	if o, ok := r.operation(name); ok {
		if _, reason := r.fill(o, nil); reason != nil {
			return &unsent{exchange.Unmet, reason.because}
		}
	}
	return unmet("the URL of %s is not known", name)
}

// operation is the described operation behind a resource. Others are asked while the document is still being read.
func (r *run) operation(name exchange.Resource) (document.Operation, bool) {
	if !isOperation(name) {
		return document.Operation{}, false
	}
	return r.node.Operation(strings.TrimPrefix(string(name), string(exchange.OperationResource(""))))
}

// fill makes the call of an operation with sample values for what it requires. change gives parameters another value, by "in name", or
// leaves them out with nil.
func (r *run) fill(o document.Operation, change map[string]*string) (discover.Resource, *unsent) {
	res := discover.Resource{Name: exchange.OperationResource(o.Key)}
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
			res.Header = append(res.Header, exchange.Field{Name: p.Name, Value: *value})
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
func (r *run) sample(o document.Operation, p document.Parameter) (string, *unsent) {
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
func (r *run) ids(o document.Operation) []string {
	c, ok := r.node.Collection(o)
	if !ok {
		return nil
	}
	return sampleIDs(r.facts.itemsOf(exchange.OperationResource(c.Key)))
}

// samples reports that items of the resource's answer are needed: it is the list or the collection of a detail operation.
func (r *run) samples(name exchange.Resource) bool {
	if name == exchange.OperationResource(r.node.List) {
		return true
	}
	for _, o := range r.node.Executable {
		if c, ok := r.node.Collection(o); ok && exchange.OperationResource(c.Key) == name {
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
func (r *run) roles(protected exchange.Resource) exchange.Roles {
	roles := exchange.Roles{ProbeTarget: protected}
	if r.node.List != "" {
		roles.List = exchange.OperationResource(r.node.List)
	}
	if r.node.Detail != "" {
		roles.Detail = exchange.OperationResource(r.node.Detail)
	}
	for _, o := range r.node.Executable {
		name := exchange.OperationResource(o.Key)
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
