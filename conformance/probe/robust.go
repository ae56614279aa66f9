package probe

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// stageOddForms is the stage of the odd token requests that come after the session's token.
const stageOddForms Stage = "odd token requests"

// odd is the stage of odd input to a resource.
func odd(r evidence.Resource) Stage { return Stage(r) + ", odd input" }

// robust plans odd input (ROB). A quick run does without it.
//
// Each group ends with the normal request, which is sent only when an odd one found the node broken: a 5xx counts only if the node
// works otherwise. Odd bearer values, ids and queries come last on their URL, because a firewall may ban whoever sends them.
func robust() theme {
	return theme{
		forTarget: func(t target.Target) Plan {
			var p Plan
			if !t.Quick {
				p.oddForms(t)
			}
			return p
		},
		forProbeTarget: func(t target.Target, r evidence.Resource) Plan {
			var p Plan
			p.each(stageRest, []Stage{opened(r)}, r, "strict", "strict-head")
			if !t.Quick {
				p.oddInput(r, oddBearers(), "ok-after-bearers")
			}
			return p
		},
		forDocument: func(n Node) Plan {
			var p Plan
			if n.Target.Quick {
				return p
			}
			if _, ok := n.Operation(n.Detail); ok {
				p.oddInput(evidence.OperationResource(n.Detail), oddIDs(), "ok-after-ids")
			}
			if _, ok := n.Operation(n.List); ok {
				p.oddInput(evidence.OperationResource(n.List), oddQueries(), "ok-after-queries")
			}
			return p
		},
		probe: (*run).robustProbe,
	}
}

// oddForms plans the odd token requests one after the other, in two halves with the session's token request between them: an
// authorization server that counts failures in a row must not lock this machine out.
func (p *Plan) oddForms(t target.Target) {
	before, after := oddForms(t.Polite)
	p.lane(stageTokens, []Stage{stageToken}, evidence.TokenEndpoint, before...)
	p.lane(stageOddForms, []Stage{stageSession}, evidence.TokenEndpoint, append(after, "ok-after-form")...)
}

// oddForms are the odd token requests before and after the session's token; a polite run makes two.
func oddForms(polite bool) (before, after []evidence.Case) {
	if polite {
		return []evidence.Case{"form-json"}, []evidence.Case{"form-bytes"}
	}
	return []evidence.Case{"form-empty", "form-json", "form-percent", "form-bytes"},
		[]evidence.Case{"form-long", "form-parts", "form-text"}
}

func (p *Plan) oddInput(r evidence.Resource, cases []evidence.Case, control evidence.Case) {
	p.each(odd(r), []Stage{opened(r), cached(r)}, r, cases...)
	p.lane(stageRest, []Stage{odd(r)}, r, control)
}

func oddBearers() []evidence.Case {
	return []evidence.Case{"bearer-long", "bearer-three", "bearer-dots", "bearer-bad-header", "bearer-bytes", "bearer-joined"}
}

func oddIDs() []evidence.Case {
	return []evidence.Case{"id-quote", "id-nul", "id-bytes", "id-parent", "id-long", "id-umlauts", "id-braces"}
}

func oddQueries() []evidence.Case {
	return []evidence.Case{"query-bytes", "query-nameless", "query-blank", "query-long", "query-repeated",
		"query-size-nul", "odd-accept"}
}

func (r *run) robustProbe(l evidence.Label) (probe, bool) {
	name, c := l.Resource(), l.Case()
	before, after := oddForms(false)
	forms := slices.Concat(before, after)
	var prepare func(ctx context.Context) (recorder.Request, *unsent)
	switch {
	case slices.Contains(oddBearers(), c):
		prepare = func(context.Context) (recorder.Request, *unsent) { return r.oddBearer(name, c) }
	case slices.Contains(oddIDs(), c):
		prepare = func(ctx context.Context) (recorder.Request, *unsent) { return r.oddID(ctx, name, c) }
	case slices.Contains(oddQueries(), c):
		prepare = func(ctx context.Context) (recorder.Request, *unsent) { return r.oddQuery(ctx, name, c) }
	case slices.Contains(forms, c):
		prepare = func(context.Context) (recorder.Request, *unsent) { return r.oddForm(c, forms) }
	case c == "ok-after-form":
		return probe{prepare: func(context.Context) (recorder.Request, *unsent) { return r.tokenAfter(forms) }, learn: r.learnAfter}, true
	case c == "ok-after-bearers":
		prepare = func(ctx context.Context) (recorder.Request, *unsent) { return r.goodAfter(ctx, name, c, oddBearers()) }
	case c == "ok-after-ids":
		prepare = func(ctx context.Context) (recorder.Request, *unsent) { return r.goodAfter(ctx, name, c, oddIDs()) }
	case c == "ok-after-queries":
		prepare = func(ctx context.Context) (recorder.Request, *unsent) { return r.goodAfter(ctx, name, c, oddQueries()) }
	case c == "strict", c == "strict-head":
		prepare = func(ctx context.Context) (recorder.Request, *unsent) { return r.strict(ctx, name, c) }
	default:
		return probe{}, false
	}
	return probe{prepare: prepare}, true
}

// answered is the resource if its good call was answered: otherwise odd input proves nothing.
func (r *run) answered(name evidence.Resource) (Resource, *unsent) {
	res, ok := r.facts.resource(name)
	if !ok {
		return res, r.unlocated(name)
	}
	if good := name.With(evidence.OK); !r.facts.good(good) {
		return res, unmet("the good call %s was not answered with 2xx", good)
	}
	return res, nil
}

// oddBearer asks with a bearer value that no token looks like.
func (r *run) oddBearer(name evidence.Resource, c evidence.Case) (recorder.Request, *unsent) {
	res, reason := r.answered(name)
	ask := res.GetWith(c, "", "Bearer "+oddToken(c))
	if c == "bearer-bytes" { // outside of ASCII, which HTTP/2 and net/http treat each in their own way
		ask.Raw, ask.FollowSameOrigin = true, false
	}
	return ask, reason
}

func oddToken(c evidence.Case) string {
	segment := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	claims, signature := segment(`{"iss":"https://conformance.invalid","sub":"conformance"}`), segment(strings.Repeat("conformance.", 5))
	token := segment(`{"alg":"ES256","typ":"JWT"}`) + "." + claims + "." + signature
	switch c {
	case "bearer-long":
		return strings.Repeat("A", 6<<10)
	case "bearer-three":
		return "a.b.c"
	case "bearer-dots":
		return ".."
	case "bearer-bad-header":
		return segment("{") + "." + claims + "." + signature
	case "bearer-bytes":
		return "\xe4\xf6"
	}
	return token + "." + token + "." + token
}

// oddID asks for an item whose id no record has.
func (r *run) oddID(ctx context.Context, name evidence.Resource, c evidence.Case) (recorder.Request, *unsent) {
	res, reason := r.answered(name)
	if reason != nil {
		return recorder.Request{}, reason
	}
	o, _ := r.operation(name)
	before, rest, ok := strings.Cut(o.Path, "{")
	_, after, closed := strings.Cut(rest, "}")
	if !ok || !closed || strings.Contains(after, "{") {
		return recorder.Request{}, notApplicable("the path %.200s has no id alone", o.Path)
	}
	base, _ := r.base()
	id := oddIDText(c)
	res.URL = base.URL(before + id + after)
	ask, reason := r.authorized(ctx, res, c)
	if c != "id-long" {
		ask.Given = map[string]string{"id": id}
	}
	return ask, reason
}

// oddIDText is the id as it stands in the path, percent-encoded where RFC 3986 asks for it or where the encoding is what is odd.
func oddIDText(c evidence.Case) string {
	switch c {
	case "id-quote":
		return "O'Brien"
	case "id-nul":
		return "%00"
	case "id-bytes":
		return "%FF"
	case "id-parent":
		return "..%2F..%2Fconformance"
	case "id-long":
		return strings.Repeat("a", 2<<10)
	case "id-umlauts":
		return "%C3%84%C3%96%C3%9C"
	}
	return "%7Bid%7D"
}

// oddQuery asks for the list with a query that means nothing, and for small pages where there are any.
func (r *run) oddQuery(ctx context.Context, name evidence.Resource, c evidence.Case) (recorder.Request, *unsent) {
	res, reason := r.answered(name)
	if reason != nil {
		return recorder.Request{}, reason
	}
	o, _ := r.operation(name)
	size := pageSize
	if p, ok := sizeParameter(o); ok {
		size = p.Name
	}
	if query := oddQueryText(c); query != "" {
		sign := "?"
		if strings.Contains(res.URL, "?") {
			sign = "&"
		}
		res.URL += sign + query
	}
	tried := ""
	if c == "query-size-nul" {
		tried = size
		res.URL = withQuery(res.URL, pair{size, "\x00"})
	}
	res.URL = r.sized(o, res.URL, tried, sizeOfParameter)
	ask, reason := r.authorized(ctx, res, c)
	if c == "odd-accept" {
		for i, f := range ask.Header {
			if f.Name == "Accept" {
				ask.Header[i].Value = "application/x-conformance"
			}
		}
	}
	return ask, reason
}

// oddQueryText is what stands after the question mark.
func oddQueryText(c evidence.Case) string {
	switch c {
	case "query-bytes":
		return "a=%FF"
	case "query-nameless":
		return "="
	case "query-blank":
		return "&&"
	case "query-long":
		return "conformance=" + strings.Repeat("a", 6<<10)
	case "query-repeated":
		return strings.TrimSuffix(strings.Repeat("conformance=1&", 200), "&")
	}
	return ""
}

// broken reports that one of the calls of a resource got a 5xx or no answer at all.
func (r *run) broken(name evidence.Resource, cases []evidence.Case) bool {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return slices.ContainsFunc(cases, func(c evidence.Case) bool {
		status, sent := r.facts.statuses[name.With(c)]
		return sent && (status == 0 || status >= 500)
	})
}

// goodAfter is the normal call after odd ones, when one of them found the node broken.
func (r *run) goodAfter(ctx context.Context, name evidence.Resource, c evidence.Case, odd []evidence.Case) (recorder.Request, *unsent) {
	if !r.broken(name, odd) {
		return recorder.Request{}, notApplicable("the node answered the odd requests, so there is nothing to compare")
	}
	res, ok := r.facts.resource(name)
	if !ok {
		return recorder.Request{}, r.unlocated(name)
	}
	return r.authorized(ctx, res, c)
}

// tokenAfter is the same for the token endpoint.
func (r *run) tokenAfter(odd []evidence.Case) (recorder.Request, *unsent) {
	if !r.broken(evidence.TokenEndpoint, odd) {
		return recorder.Request{}, notApplicable("the node answered the odd requests, so there is nothing to compare")
	}
	return TokenRequest(r.Target, "ok-after-form", ClientSecret, Credentialed(r.Target.Credentials)...), nil
}

// learnAfter goes on with the token that came last: an earlier one may be revoked by it.
func (r *run) learnAfter(a recorder.Answer) {
	if t, ok := ReadToken(a, r.Clock()); ok {
		r.facts.keep(t)
	}
}

// oddForm is a token request that is no proper one, by a client that nobody knows. The first answer that looks like a ban ends the
// group.
func (r *run) oddForm(c evidence.Case, group []evidence.Case) (recorder.Request, *unsent) {
	if r.facts.status(evidence.TokenEndpoint.With(evidence.OK)) == 0 {
		return recorder.Request{}, unmet("the token endpoint did not answer the good request")
	}
	for _, earlier := range group {
		label := evidence.TokenEndpoint.With(earlier)
		switch status := r.facts.status(label); {
		case status == http.StatusForbidden || status == http.StatusTooManyRequests:
			return recorder.Request{}, notApplicable("%s was answered %d, after which no more odd token requests are sent", label, status)
		case r.facts.refusedConnection(label):
			return recorder.Request{}, notApplicable("%s was refused its connection, after which no more odd token requests are sent", label)
		}
	}
	media, body := oddContent(c, "conformance-"+r.drawn.id)
	ask := TokenRequest(r.Target, c, "")
	ask.Header[0].Value, ask.Body = media, body
	return ask, nil
}

// oddContent is the media type and the content of an odd token request.
func oddContent(c evidence.Case, client string) (media string, body []byte) {
	const form = "application/x-www-form-urlencoded"
	grant := "grant_type=client_credentials&client_id=" + client + "&client_secret=conformance"
	switch c {
	case "form-empty":
		return form, nil
	case "form-json":
		return "application/json", []byte(`{"grant_type":"client_credentials","client_id":"` + client + `","client_secret":"conformance"}`)
	case "form-percent":
		return form, []byte(grant + "&scope=%zz")
	case "form-bytes":
		return form, []byte(grant + "&scope=%FF")
	case "form-long":
		return form, []byte(grant + "&scope=" + strings.Repeat("a", 64<<10))
	case "form-parts":
		const boundary = "conformance-boundary"
		var b strings.Builder
		for _, f := range [][2]string{{"grant_type", "client_credentials"}, {"client_id", client}, {"client_secret", "conformance"}} {
			b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + f[0] + "\"\r\n\r\n" + f[1] + "\r\n")
		}
		return "multipart/form-data; boundary=" + boundary, []byte(b.String() + "--" + boundary + "--\r\n")
	}
	return "text/plain", []byte(grant)
}

// strict asks for an answer without content coding and reads the connection to its end.
func (r *run) strict(ctx context.Context, name evidence.Resource, c evidence.Case) (recorder.Request, *unsent) {
	res, reason := r.answered(name)
	if reason != nil {
		return recorder.Request{}, reason
	}
	ask, reason := r.authorized(ctx, res, c)
	ask.Header = append(ask.Header, evidence.Field{Name: "Accept-Encoding", Value: "identity"})
	ask.Raw, ask.ToEnd, ask.FollowSameOrigin = true, true, false
	if c == "strict-head" {
		ask.Method = http.MethodHead
	}
	return ask, reason
}
