package probe

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// infoCases are the calls of the info endpoint and of the node's document.
func infoCases() []row {
	authorized := in(stageAuthorized, stageAnonymous, stageSession)
	amongOthers := in(stageRest, stageSecond, stageAuthorized).inLane("callers").onlyIf(withSecond).onlyIf(notQuick)
	out := []row{
		{Label: "info.no-token", Words: "without a token", Plan: in(stageAnonymous), Send: anonymousCall},
		{Label: "info.ok", Plan: authorized.inLane("info"), Send: goodCall, Learn: learnGood},
		{Label: "info.without-content-type", Words: "without Content-Type", Plan: authorized.inLane("info").onDemand(), Send: infoWithoutContentType},
		// This call is the control of BRR-18: a refusal by the list shows that the role is missing only if info accepts the same token.
		{Label: "info.second-client", Words: "with the token of the second client", Plan: in(stageRest, stageSecond, stageAuthorized).onlyIf(withSecond).onlyIf(withDocument), Send: callWithoutRole},
		// A node may keep the caller in a global variable: the client that got a token last, that called last, or that calls at the same time.
		{Label: "info.caller-own", Words: "just after the second client got a token and called, and while it calls again", Plan: amongOthers, Send: goodCallAmongOthers},
		{Label: "info.post", Plan: in(stageRest, stageAuthorized), Send: controlled(infoPost)},
		{Label: "spec.no-token", Words: "without a token", Plan: in(stageAnonymous).onlyIf(withDocument), Send: specAnonymously, Learn: learnDocument},
		{Label: "spec.ok", Plan: authorized.onlyIf(withDocument), Send: specAuthorized, Learn: learnDocument},
	}
	for _, c := range evidence.OwnInfoCases()[1:] {
		// A node that confuses callers still answers about half of such calls right.
		out = append(out, row{Label: evidence.Info.With(c), Words: "while the second client calls", Plan: amongOthers.onDemand(), Send: goodCallMeanwhile})
	}
	return out
}

// goodCallAmongOthers makes the good call after the second client got a token and called, and while it calls again. The requests of that client have no
// label, because no requirement needs them.
func goodCallAmongOthers(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	if a := r.recorder.Send(ctx, r.secondRequest()); a.Status/100 == 2 {
		if t, ok := ReadToken(a, r.Clock()); ok {
			r.facts.keep(SecondAccessToken, t)
		}
	}
	other, reason := callWithoutRole(ctx, r, at)
	if reason != nil {
		return other, reason
	}
	other.NoRetry = true
	r.recorder.Send(ctx, other)
	return r.goodCallBeside(ctx, other, at)
}

// goodCallMeanwhile makes the good call while the second client calls.
func goodCallMeanwhile(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	other, reason := callWithoutRole(ctx, r, at)
	switch {
	case reason != nil:
		return other, reason
	case r.recorder.Burst() == 1:
		return other, noBurst()
	}
	other.NoRetry = true
	return r.goodCallBeside(ctx, other, at)
}

// goodCallBeside makes the good call and sends another one several times at the same time.
func (r *run) goodCallBeside(ctx context.Context, other recorder.Request, at evidence.Resource) (recorder.Request, *unsent) {
	good, reason := goodCall(ctx, r, at)
	good.Beside = slices.Repeat([]recorder.Request{other}, r.recorder.Burst()-1)
	return good, reason
}

// noBurst is the reason why requests that show something only at the same time as others are not sent.
func noBurst() *unsent {
	return notApplicable("the run sends no requests at the same time: its rate or concurrency is low, or the node refused requests for load")
}

// infoWithoutContentType finds out whether the Content-Type header is the reason why the good call was refused: some servers refuse
// the header on a request without content.
func infoWithoutContentType(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	res, _ := r.facts.resource(at)
	good := at.With(evidence.OK)
	if status := r.facts.status(good); status == 0 || status/100 == 2 {
		return recorder.Request{}, notApplicable("it would show the cause of a refused %s (status %d)", good, status)
	}
	res.JSONType = false
	return r.authorized(ctx, res)
}

func infoPost(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	res.JSONType = false
	q, reason := r.authorized(ctx, res)
	q.Method, q.FollowSameOrigin = http.MethodPost, false
	return q, reason
}

// specification returns the URL of the node's document.
func (r *run) specification() (Resource, *unsent) {
	if r.Target.SpecURL == "" {
		return Resource{}, unmet("the URL of the specification is not known, and does not follow from the info URL (--spec-url)")
	}
	return Resource{Name: evidence.Specification, URL: r.Target.SpecURL}, nil
}

func specAnonymously(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	res, reason := r.specification()
	return res.Get(), reason
}

func specAuthorized(ctx context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	res, reason := r.specification()
	if reason != nil {
		return recorder.Request{}, reason
	}
	return r.authorized(ctx, res)
}

// learnDocument reads the document from a good answer.
func learnDocument(r *run, _ evidence.Resource, a recorder.Answer) {
	if a.Status/100 == 2 {
		r.readDocument(a.Body)
	}
}

// readDocument keeps a body as the document of the node, unless an accepted document was kept before.
func (r *run) readDocument(body []byte) {
	r.facts.mu.Lock()
	have := r.facts.document
	r.facts.mu.Unlock()
	if have != nil && have.Refused == "" {
		return
	}
	guarded := r.Guard(body)
	guarded.Reduced = r.Redactor.Bytes(guarded.Reduced)
	guarded.Refused = r.Redactor.Text(guarded.Refused)
	r.facts.with(func(f *facts) { f.document = &guarded })
}

// adopt records the document and reads the operations of the node from it. From then on answers are compared with its schemas.
func (r *run) adopt(ctx context.Context) {
	r.facts.mu.Lock()
	guarded := r.facts.document
	r.facts.mu.Unlock()
	if guarded == nil {
		return
	}
	r.Journal.Document(guarded)
	if guarded.Refused != "" || len(guarded.Reduced) == 0 {
		return
	}
	doc, err := openapi.Parse(guarded.Reduced)
	if err != nil {
		return // the requirements on the document will say what is wrong
	}
	r.withoutFunding(ctx, doc)
	r.node = NewNode(r.planned, doc)
	if r.Annotator != nil {
		if judge, err := r.Annotator(*guarded); err == nil {
			r.judge = judge
		}
	}
}

// annotate returns a function that compares answers of an operation with the document; nil for other resources, or without a document.
func (r *run) annotate(name evidence.Resource) func(evidence.Exchange) []evidence.SchemaFindings {
	o, known := r.operation(name)
	if !known || r.judge == nil {
		return nil
	}
	return func(x evidence.Exchange) []evidence.SchemaFindings {
		if !x.Answered() {
			return nil
		}
		return []evidence.SchemaFindings{judgeRecovering(r.judge, x, o)}
	}
}

// judgeRecovering judges an answer. It turns a panic of judge into a finding, so that the exchange is still recorded.
func judgeRecovering(judge func(evidence.Exchange, openapi.Operation) evidence.SchemaFindings, x evidence.Exchange, o openapi.Operation) (f evidence.SchemaFindings) {
	defer func() {
		if fault := recover(); fault != nil {
			f = evidence.SchemaFindings{Label: x.Label, Why: fmt.Sprintf("the schema could not be applied: %v", fault), Undecided: true}
		}
	}()
	return judge(x, o)
}

// maxEndpoints is how many of the URLs that the info endpoint lists are called (INF-05).
const maxEndpoints = 10

// endpoint is a URL that the info endpoint lists and that can be called without changes.
type endpoint struct{ name, url string }

// readEndpoints returns the callable URLs in an info answer: absolute and without a template, each once, with the groups in the order of their names.
func readEndpoints(body []byte) []endpoint {
	info, _ := evidence.ParseObject(body)
	endpoints, _ := evidence.ParseObject(info["endpoints"])
	var out []endpoint
	for _, group := range slices.Sorted(maps.Keys(endpoints)) {
		for _, e := range endpoints.Objects(group) { // requirements report a group that is not a list of objects
			name := e.Text("name")
			found := endpoint{name[:min(len(name), 80)], strings.TrimSpace(e.Text("url"))}
			same := func(x endpoint) bool { return x.url == found.url }
			if isCallable(found.url) && !slices.ContainsFunc(out, same) && len(out) < maxEndpoints {
				out = append(out, found)
			}
		}
	}
	return out
}

func isCallable(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") && u.User == nil && !strings.ContainsAny(text, "{}")
}

// endpointCases are the calls of the URLs that the info endpoint lists.
func endpointCases() []row {
	var out []row
	for i := range maxEndpoints {
		label := evidence.EndpointResource(strconv.Itoa(i + 1)).With(evidence.OK)
		listed := func(n Node) bool { return i < n.endpoints }
		out = append(out, row{Label: label, Plan: in(stageRest).onceKnown(infoRead).onlyIf(listed), Send: callEndpoint(i)})
	}
	return out
}

func callEndpoint(i int) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		r.facts.mu.Lock()
		listed := r.facts.endpoints
		r.facts.mu.Unlock()
		if i >= len(listed) {
			return recorder.Request{}, unmet("the info endpoint lists no such URL")
		}
		e := listed[i]
		u, err := url.Parse(e.url)
		if err != nil || !slices.Contains(r.Target.Origins(), evidence.Origin(u)) {
			return recorder.Request{}, notApplicable("%.200s is on another origin, which may not receive the token (--allow-origin)", e.url)
		}
		q, reason := r.authorized(ctx, Resource{Name: at, URL: withQuery(e.url, r.onePage(e)...)})
		q.Given = map[string]string{"name": e.name, "url": e.url}
		return q, reason
	}
}

// onePage returns the query that keeps the answer of a listed URL small: with the page size that the document describes, or else with the usual one of the
// network if the URL seems to be a list.
func (r *run) onePage(e endpoint) []pair {
	for _, o := range r.node.Executable {
		base, reason := r.baseOf(o)
		if reason != nil || strings.TrimSuffix(base.URL(o.Path), "/") != strings.TrimSuffix(e.url, "/") {
			continue
		}
		if size, ok := sizeParameter(o); ok {
			return []pair{{size.Name, strconv.Itoa(atLeast(size.Schema, 1))}}
		}
		return nil
	}
	if isList(e) {
		return []pair{{pageSize, "1"}}
	}
	return nil
}

// isList guesses from the name or the path of an endpoint whether it is a list: FUNDINGS, /projects.
func isList(e endpoint) bool {
	path, _, _ := strings.Cut(e.url, "?")
	return strings.HasSuffix(strings.ToLower(e.name), "s") || strings.HasSuffix(strings.ToLower(strings.TrimRight(path, "/")), "s")
}
