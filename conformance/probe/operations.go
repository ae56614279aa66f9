package probe

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// maxParameters bounds the described query parameters that are tried on an operation.
const maxParameters = 16

// maxBases bounds the candidates for the base URLs of the operations, see [Bases].
const maxBases = 12

// operationCases are the calls of every operation: without a token, with a good one, and with one that was never issued. Before them come the calls that
// find the base URL of the operations.
func operationCases() []row {
	var out []row
	for i := range maxBases {
		needed := func(n Node) bool { return i < len(n.candidates()) }
		out = append(out, row{
			Label: evidence.BaseResource(i + 1).With(evidence.OK), Send: callBase(i), Learn: learnBase(i),
			// These calls wait for the session token, because its issue may have revoked earlier ones.
			Plan: in(stageBase, stageSession).inLane("bases").onceKnown(documentRead).onlyIf(needed),
		})
	}
	return append(out,
		row{Label: "op/*.no-token", Words: "without a token", Plan: in(stageAnonymous, stageIDs).alsoOn(onOperations), Send: anonymousCall},
		row{Label: "op/*.ok", Plan: in(stageAuthorized, stageAnonymous, stageSession).alsoOn(onOperations), Send: goodCall, Learn: learnGood},
		row{Label: "op/*.garbage", Words: "with a garbage token", Plan: in(stageOddCredentials, stageAuthorized).alsoOn(onOperations), Send: garbageToken()},
	)
}

// anonymousCall sends no token. For an operation it is the first call, which determines its URL.
func anonymousCall(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	res, reason := r.locateResource(at)
	return res.Get(), reason
}

// goodCall makes the call that a client of the network makes.
func goodCall(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	res, reason := r.locateResource(at)
	if reason != nil {
		return recorder.Request{}, reason
	}
	q, reason := r.authorized(ctx, res)
	q.Annotate = r.annotate(at)
	return q, reason
}

// learnGood keeps facts from a good answer, such as items and links.
func learnGood(r *run, at evidence.Resource, a recorder.Answer) {
	if a.Status/100 != 2 {
		return
	}
	r.settle(at, a.Exchange.Redirects)
	learnValidators(r, at, a)
	r.facts.with(func(f *facts) { f.cookies[at] = cookiesOf(a.Header) })
	if at == evidence.Info {
		found := readEndpoints(a.Body)
		r.facts.with(func(f *facts) { f.endpoints = found })
		return
	}
	list, listed := openapi.ReadList(a.Body)
	o, ok := r.operation(at)
	if r.needsItems(at) {
		r.learnItems(at, o, list.Items)
	}
	if ok && r.node.isList(o) {
		listPage := openapi.ListPage{Total: -1}
		if listed {
			listPage = r.listPage(at, a)
		}
		w := r.newWalk(o, listPage.Items)
		r.facts.with(func(f *facts) { f.walks[walkKey{at, evidence.FirstWalk}], f.listPages[at] = w, listPage })
		r.learnNext(at, a, listPage)
		r.learnItemLinks(at, a, list.Items)
		if o.Key == r.node.List {
			r.learnSamples(o, list.Items)
		}
	}
}

// settle replaces the URL of a resource by the one that the good call was redirected to, if it has the same origin. Raw requests do not follow redirects, and
// a redirect for each call would double the requests.
func (r *run) settle(name evidence.Resource, hops []evidence.Hop) {
	for _, hop := range hops {
		from, err := url.Parse(hop.URL)
		if err != nil || strings.Contains(hop.Location, redact.MarkerStart) { // the location was redacted, so its real value is not known here
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

// callBase calls the scout of a site at one candidate, unless an earlier candidate answered with data. The call has a query of its own, so that no cache
// stores the URL that is later requested without a token.
func callBase(i int) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		c := r.node.candidates()[i]
		scout := r.node.sites[c.site].scout
		for _, a := range r.attempts(c.site) {
			switch {
			case a.wasFound() && !a.page:
				return recorder.Request{}, notApplicable("operations were found under %s", a.base.Prefix)
			case a.status == 0 && evidence.SameOrigin(a.base.Prefix, c.base.Prefix): // each missing answer takes a whole timeout
				return recorder.Request{}, unmet("%s gave no answer, and this place is on the same origin", a.base.Prefix)
			}
		}
		extra := pair{r.drawn.word, r.drawn.id}
		if size, ok := sizeParameter(scout); ok {
			extra = pair{size.Name, strconv.Itoa(atLeast(size.Schema, 1))}
		}
		q, reason := r.authorized(ctx, Resource{Name: at, URL: withQuery(c.base.URL(scout.Path), extra), Accept: scout.Accept()})
		q.Given = map[string]string{"base": c.base.Prefix, "how": c.base.How}
		return q, reason
	}
}

func learnBase(i int) learner {
	return func(r *run, _ evidence.Resource, a recorder.Answer) {
		page := strings.HasPrefix(strings.ToLower(a.Header.Get("Content-Type")), "text/html")
		r.facts.with(func(f *facts) { f.attempts = append(f.attempts, attempt{r.node.candidates()[i], a.Status, page}) })
	}
}

// locateResource finds the URL of a resource once; all rows of a resource use the same URL.
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

// unlocated returns the reason why the URL of a resource is not known, for example that the list has no item to take an id from.
func (r *run) unlocated(name evidence.Resource) *unsent {
	if o, ok := r.operation(name); ok {
		if _, reason := r.fill(o, nil); reason != nil {
			return &unsent{evidence.Unmet, reason.because}
		}
	}
	return unmet("the URL of %s is not known", name)
}

// operation returns the described operation of a resource. It does not read r.node for other resources, because they are requested while the document is
// still being read.
func (r *run) operation(name evidence.Resource) (openapi.Operation, bool) {
	if !isOperation(name) {
		return openapi.Operation{}, false
	}
	return r.node.operation(name)
}

// fill makes the call of an operation, with sample values for required parameters. change replaces values, by [parameterKey]; nil leaves a parameter out.
func (r *run) fill(o openapi.Operation, change map[string]*string) (Resource, *unsent) {
	res := Resource{Name: evidence.OperationResource(o.Key), Accept: o.Accept()}
	base, reason := r.baseOf(o)
	if reason != nil {
		return res, reason
	}
	path, query := o.Path, []pair(nil)
	for _, p := range o.Parameters {
		value, changed := change[parameterKey(p)]
		switch {
		case changed && value == nil, !changed && !p.Required && p.In != "path", isClientHeader(p):
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
	for _, name := range o.TemplateParameters() { // parameters that the document does not declare
		if value, given := r.Target.Values[name]; given {
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(value))
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

// sample returns a valid value of a required parameter: for a path parameter an id from the collection, else the operator's value, else one that its schema
// allows.
func (r *run) sample(o openapi.Operation, p openapi.Parameter) (string, *unsent) {
	if p.In == "path" {
		if ids := r.idsOf(o, p.Name); len(ids) > 0 {
			return ids[0], nil
		}
	}
	if value, given := r.Target.Values[p.Name]; given && sendsAs(p, value) {
		return value, nil
	}
	if value, ok := r.facts.sample(o, p); ok && sendsAs(p, value) {
		return value, nil
	}
	if p.In == "path" {
		if c, ok := r.node.source(o, p.Name); ok && len(p.Schema.Enum) == 0 {
			if status := r.facts.status(evidence.OperationResource(c.Key).With(evidence.OK)); status != 0 && status/100 != 2 {
				return "", unmet("the list %s was answered %d, so no %s is known", c.Path, status, p.Name)
			}
			return "", unmet("the list %s holds no item to take the %s from", c.Path, p.Name)
		}
	}
	if value, ok := pagingValue(o, p); ok {
		return value, nil
	}
	if value, ok := valueOf(p.Schema, r.Clock()); ok && sendsAs(p, value) {
		return value, nil
	}
	if value, ok := anyText(p); ok && sendsAs(p, value) {
		return value, nil
	}
	return "", notApplicable("no sample for the required %s parameter %.80q", p.In, p.Name)
}

// ids returns sample ids for an operation's last template segment.
func (r *run) ids(o openapi.Operation) []string {
	c, ok := r.node.Collection(o)
	if !ok {
		return nil
	}
	return sampleIDs(r.facts.itemsOf(evidence.OperationResource(c.Key)))
}

// idsOf returns sample ids for a parameter in an operation's path. Calls of the operation use the first one.
func (r *run) idsOf(o openapi.Operation, parameter string) []string {
	c, ok := r.node.source(o, parameter)
	if !ok {
		return nil
	}
	return sampleIDs(r.facts.itemsOf(evidence.OperationResource(c.Key)))
}

// controlled returns a resource whose good call was answered with 2xx: otherwise neither a refusal nor an answer to odd input would prove anything.
func (r *run) controlled(name evidence.Resource) (Resource, *unsent) {
	res, ok := r.facts.resource(name)
	if !ok {
		return res, r.unlocated(name)
	}
	if good := name.With(evidence.OK); !r.facts.good(good) {
		return res, unmet("the good call %s was not answered with 2xx", good)
	}
	return res, nil
}

// needsItems reports whether later calls need the items of a resource: it is a list, or the collection of a detail operation.
func (r *run) needsItems(name evidence.Resource) bool {
	if o, ok := r.operation(name); ok && r.node.isList(o) {
		return true
	}
	return slices.ContainsFunc(r.node.Executable, func(o openapi.Operation) bool {
		c, ok := r.node.Collection(o)
		return ok && evidence.OperationResource(c.Key) == name
	})
}

// fillTemplate puts an id, percent-encoded, into the only template segment of a path.
func fillTemplate(path, id string) string {
	open, end := strings.IndexByte(path, '{'), strings.IndexByte(path, '}')
	if open < 0 || end < open {
		return path
	}
	return path[:open] + url.PathEscape(id) + path[end+1:]
}

// roles lists the resources that were found, for the evidence.
func (r *run) roles(protected evidence.Resource) evidence.Roles {
	roles := evidence.Roles{ProbeTarget: protected}
	if r.node.List != "" {
		roles.List = evidence.OperationResource(r.node.List)
	}
	if r.node.Detail != "" {
		roles.Detail = evidence.OperationResource(r.node.Detail)
	}
	for _, other := range r.node.otherLists {
		found := evidence.ListRoles{List: evidence.OperationResource(other.list.Key)}
		if other.detail.Key != "" {
			found.Detail = evidence.OperationResource(other.detail.Key)
		}
		roles.OtherLists = append(roles.OtherLists, found)
	}
	for _, o := range r.node.Executable {
		name := evidence.OperationResource(o.Key)
		if _, called := r.facts.resource(name); called {
			roles.Operations = append(roles.Operations, name)
		}
	}
	if base, ok := r.base(); ok {
		roles.OperationBase = r.Redactor.Text(base.Prefix)
	}
	for at := range r.node.sites {
		for _, a := range r.attempts(at) {
			roles.BaseTried = append(roles.BaseTried, r.Redactor.Text(fmt.Sprintf("%s (%s): %s", a.base.Prefix, a.base.How, statusInWords(a.status))))
		}
	}
	return roles
}

func statusInWords(status int) string {
	if status == 0 {
		return "no answer"
	}
	return strconv.Itoa(status)
}
