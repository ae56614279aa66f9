package probe

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// robustnessCases are odd input (ROB). A quick run does without it.
//
// Each group ends with the normal request, which is sent only if an odd request got a 5xx or no answer: such a failure counts only if the
// normal request works. Odd bearer values, ids and queries come last on their URL, because a firewall may ban their sender.
func robustnessCases() []row {
	whole := in(stageRest, stageAuthorized)
	return slices.Concat(oddForms(), oddBearers(), oddIDs(), oddQueries(), []row{
		// Without content coding; the connection is read to its end.
		{Label: "P.strict", Words: "without content coding", Plan: whole, Send: strict(http.MethodGet)},
		{Label: "P.strict-head", Words: "without content coding", Plan: whole, Send: strict(http.MethodHead)},
	})
}

// oddInput plans odd input to a resource.
func oddInput() timing { return in(stageOddInput, stageAuthorized, stageFreshURL).onlyIf(notQuick) }

// afterOdd plans the normal request after odd input.
func afterOdd() timing { return in(stageRest, stageOddInput).onlyIf(notQuick) }

// oddBearers are bearer values that no token looks like.
func oddBearers() []row {
	segment := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	claims, signature := segment(`{"iss":"https://conformance.invalid","sub":"conformance"}`), segment(strings.Repeat("conformance.", 5))
	token := segment(`{"alg":"ES256","typ":"JWT"}`) + "." + claims + "." + signature
	bearer := func(value string) sender {
		return withoutToken(func(_ *run, q *recorder.Request) { authorize(q, "Bearer "+value) })
	}
	rows := []row{
		{Label: "P.bearer-long", Words: "with a token of 6 kB", Plan: oddInput(), Send: bearer(strings.Repeat("A", 6<<10))},
		{Label: "P.bearer-three", Words: "with the token a.b.c", Plan: oddInput(), Send: bearer("a.b.c")},
		{Label: "P.bearer-dots", Words: "with a token of two dots", Plan: oddInput(), Send: bearer("..")},
		{Label: "P.bearer-bad-header", Words: "with a JWT whose header is not JSON", Plan: oddInput(), Send: bearer(segment("{") + "." + claims + "." + signature)},
		// HTTP/2 and net/http treat these bytes each in their own way.
		{Label: "P.bearer-bytes", Words: "with a token of bytes outside of ASCII", Plan: oddInput(), Send: rawAuthorization("Bearer \xe4\xf6")},
		{Label: "P.bearer-joined", Words: "with three JWTs joined", Plan: oddInput(), Send: bearer(token + "." + token + "." + token)},
	}
	return append(rows, row{Label: "P.ok-after-bearers", Words: "after odd ones", Plan: afterOdd(), Send: goodAfter(rows)})
}

// oddIDs are ids that no record has, percent-encoded where RFC 3986 asks for it or where the encoding is what is odd.
func oddIDs() []row {
	rows := []row{
		{Label: "detail.id-quote", Words: "with a quote in the id", Plan: oddInput(), Send: oddID("O'Brien")},
		{Label: "detail.id-nul", Words: "with the id %00", Plan: oddInput(), Send: oddID("%00")},
		{Label: "detail.id-bytes", Words: "with the id %FF", Plan: oddInput(), Send: oddID("%FF")},
		{Label: "detail.id-parent", Words: "with ..%2F in the id", Plan: oddInput(), Send: oddID("..%2F..%2Fconformance")},
		{Label: "detail.id-long", Words: "with an id of 2 kB", Plan: oddInput(), Send: oddID(strings.Repeat("a", 2<<10))},
		{Label: "detail.id-umlauts", Words: "with umlauts in the id", Plan: oddInput(), Send: oddID("%C3%84%C3%96%C3%9C")},
		{Label: "detail.id-braces", Words: "with braces in the id", Plan: oddInput(), Send: oddID("%7Bid%7D")},
	}
	return append(rows, row{Label: "detail.ok-after-ids", Words: "after odd ones", Plan: afterOdd(), Send: goodAfter(rows)})
}

// oddQueries are queries that mean nothing.
func oddQueries() []row {
	rows := []row{
		{Label: "list.query-bytes", Words: "with ?a=%FF", Plan: oddInput(), Send: oddQuery("a=%FF")},
		{Label: "list.query-nameless", Words: "with ?=", Plan: oddInput(), Send: oddQuery("=")},
		{Label: "list.query-blank", Words: "with ?&&", Plan: oddInput(), Send: oddQuery("&&")},
		{Label: "list.query-long", Words: "with a value of 6 kB in the query", Plan: oddInput(), Send: oddQuery("conformance=" + strings.Repeat("a", 6<<10))},
		{Label: "list.query-repeated", Words: "with 200 parameters of one name", Plan: oddInput(), Send: oddQuery(strings.TrimSuffix(strings.Repeat("conformance=1&", 200), "&"))},
		{Label: "list.query-size-nul", Words: "with %00 as the page size", Plan: oddInput(), Send: oddSize()},
		{Label: "list.odd-accept", Words: "with Accept: application/x-conformance", Plan: oddInput(), Send: oddAccept},
	}
	return append(rows, row{Label: "list.ok-after-queries", Words: "after odd ones", Plan: afterOdd(), Send: goodAfter(rows)})
}

// oddForms are token requests by an unknown client, one after the other, in two halves with the session's token request between
// them: an authorization server that counts failures in a row must not lock this machine out. A polite run makes two.
func oddForms() []row {
	before := in(stageTokens, stageToken).inLane("odd forms").onlyIf(notQuick)
	after := in(stageOddForms, stageSession).inLane("more odd forms").onlyIf(notQuick)
	impolite := func(n Node) bool { return !n.Target.Polite }
	grant := func(client, secret string) string {
		return "grant_type=client_credentials&client_id=" + client + "&client_secret=" + secret
	}
	form := func(value string) func(client, secret string) string {
		return func(client, secret string) string { return grant(client, secret) + value }
	}
	var rows []row
	group := func() []row { return rows }
	rows = []row{
		{Label: "token.form-empty", Words: "without content", Plan: before.onlyIf(impolite), Send: oddForm(group, formType, func(string, string) string { return "" })},
		{Label: "token.form-json", Words: "with JSON in place of a form", Plan: before, Send: oddForm(group, "application/json", func(client, secret string) string {
			return `{"grant_type":"client_credentials","client_id":"` + client + `","client_secret":"` + secret + `"}`
		})},
		{Label: "token.form-percent", Words: "with %zz in a value", Plan: before.onlyIf(impolite), Send: oddForm(group, formType, form("&scope=%zz"))},
		{Label: "token.form-bytes", Words: "with %FF in a value", Plan: before.onlyIf(impolite), Send: oddForm(group, formType, form("&scope=%FF"))},
		{Label: "token.form-bytes", Words: "with %FF in a value", Plan: after.onlyIf(func(n Node) bool { return n.Target.Polite }), Send: oddForm(group, formType, form("&scope=%FF"))},
		{Label: "token.form-long", Words: "with a value of 64 kB", Plan: after.onlyIf(impolite), Send: oddForm(group, formType, form("&scope="+strings.Repeat("a", 64<<10)))},
		{Label: "token.form-parts", Words: "as multipart/form-data", Plan: after.onlyIf(impolite), Send: oddForm(group, "multipart/form-data; boundary="+boundary, inParts)},
		{Label: "token.form-text", Words: "as text/plain", Plan: after.onlyIf(impolite), Send: oddForm(group, "text/plain", grant)},
	}
	return append(rows, row{Label: "token.ok-after-form", Words: "after odd ones", Plan: after, Learn: keepTokenAs(AccessToken),
		// The run goes on with this token: issuing it may have revoked the earlier ones.
		Send: func(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
			if !r.broken(at, rows) {
				return recorder.Request{}, notApplicable("the node answered the odd requests, so there is nothing to compare")
			}
			return r.request(r.goodForm()), nil
		}})
}

const boundary = "conformance-boundary"

// inParts is the good form as multipart/form-data.
func inParts(client, secret string) string {
	var b strings.Builder
	for _, f := range [][2]string{{"grant_type", "client_credentials"}, {"client_id", client}, {"client_secret", secret}} {
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + f[0] + "\"\r\n\r\n" + f[1] + "\r\n")
	}
	return b.String() + "--" + boundary + "--\r\n"
}

// oddForm sends a token request with odd content. The first answer that looks like a ban ends the group.
func oddForm(group func() []row, media string, content func(client, secret string) string) sender {
	return func(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		if r.facts.status("token.ok") == 0 {
			return recorder.Request{}, unmet("the token endpoint did not answer the good request")
		}
		for _, earlier := range group() {
			switch status := r.facts.status(earlier.Label); {
			case status == http.StatusForbidden || status == http.StatusTooManyRequests:
				return recorder.Request{}, notApplicable("%s was answered %d, after which no more odd token requests are sent", earlier.Label, status)
			case r.facts.refusedConnection(earlier.Label):
				return recorder.Request{}, notApplicable("%s was refused its connection, after which no more odd token requests are sent", earlier.Label)
			}
		}
		q := TokenRequest(r.Target, "")
		q.Header[0].Value, q.Body = media, []byte(content("conformance-"+r.drawn.id, r.drawn.unknownSecret))
		return q, nil
	}
}

// oddID asks for an item whose id no record has.
func oddID(id string) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		o, _ := r.operation(res.Name)
		before, rest, ok := strings.Cut(o.Path, "{")
		_, after, closed := strings.Cut(rest, "}")
		if !ok || !closed || strings.Contains(after, "{") {
			return recorder.Request{}, notApplicable("the path %.200s has no id alone", o.Path)
		}
		base, _ := r.baseOf(o)
		res.URL = base.URL(before + id + after)
		q, reason := r.authorized(ctx, res)
		if len(id) <= maxScalar {
			q.Given = map[string]string{"id": id}
		}
		return q, reason
	})
}

// oddQuery asks for the list with a query, and for small pages where there are any.
func oddQuery(query string) sender {
	return oddCall(func(_ openapi.Operation, text string) (address, tried string) {
		sign := "?"
		if strings.Contains(text, "?") {
			sign = "&"
		}
		return text + sign + query, ""
	})
}

// oddSize asks for the list with a page size that is not a character of any text.
func oddSize() sender {
	return oddCall(func(o openapi.Operation, text string) (address, tried string) {
		size := pageSize
		if p, ok := sizeParameter(o); ok {
			size = p.Name
		}
		return withQuery(text, pair{size, "\x00"}), size
	})
}

func oddAccept(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	q, reason := oddCall(func(_ openapi.Operation, text string) (address, tried string) { return text, "" })(ctx, r, at)
	for i, f := range q.Header {
		if f.Name == "Accept" {
			q.Header[i].Value = "application/x-conformance"
		}
	}
	return q, reason
}

func oddCall(change func(o openapi.Operation, text string) (address, tried string)) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		o, _ := r.operation(res.Name)
		address, tried := change(o, res.URL)
		res.URL = r.sized(o, address, tried, sizeOfParameter)
		return r.authorized(ctx, res)
	})
}

// broken reports that one of the calls of a resource got a 5xx or no answer at all.
func (r *run) broken(at evidence.Resource, rows []row) bool {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return slices.ContainsFunc(rows, func(c row) bool {
		status, sent := r.facts.statuses[at.With(c.Label.Case())]
		return sent && (status == 0 || status >= 500)
	})
}

// goodAfter is the normal call after odd ones, when one of them found the node broken.
func goodAfter(rows []row) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		if !r.broken(at, rows) {
			return recorder.Request{}, notApplicable("the node answered the odd requests, so there is nothing to compare")
		}
		res, ok := r.facts.resource(at)
		if !ok {
			return recorder.Request{}, r.unlocated(at)
		}
		return r.authorized(ctx, res)
	}
}

// strict asks for an answer without content coding and reads the connection to its end.
func strict(method string) sender {
	return withToken(func(_ *run, q *recorder.Request, _ string) {
		q.Header = append(q.Header, evidence.Field{Name: "Accept-Encoding", Value: "identity"})
		q.Raw, q.ToEnd, q.FollowSameOrigin, q.Method = true, true, false, method
	})
}
