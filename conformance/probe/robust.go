package probe

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/recorder"
)

// robustnessCases are odd input (ROB). A quick run leaves it out.
//
// Each group ends with the normal request, which is sent only if an odd request got a 5xx or no answer: such a failure counts only if the
// normal request works. Odd bearer values, ids and queries come last on their URL, because a firewall may ban their sender.
func robustnessCases() []row {
	rest := in(stageRest, stageAuthorized)
	return slices.Concat(oddForms(), oddBearers(), oddIDs(), oddQueries(), []row{
		// These rows read the connection to its end.
		{Label: "P.strict", Words: "without content coding", Plan: rest, Send: strict(http.MethodGet)},
		{Label: "P.strict-head", Words: "without content coding", Plan: rest, Send: strict(http.MethodHead)},
	})
}

// oddInput plans odd input to a resource.
func oddInput() timing { return in(stageOddInput, stageAuthorized, stageFreshURL).onlyIf(notQuick) }

// afterOdd plans the normal request after odd input.
func afterOdd() timing { return in(stageRest, stageOddInput).onlyIf(notQuick) }

// text makes the odd part of a request.
type text func(s draw.Source) string

// oddBearers are bearer values that no token resembles.
func oddBearers() []row {
	segment := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	claims := func(s draw.Source) string {
		return segment(`{"iss":"https://` + s.Host() + `","sub":"` + s.Word() + `"}`)
	}
	signature := func(s draw.Source) string { return s.Text(draw.Base64, 80) }
	token := func(s draw.Source) string {
		return segment(`{"alg":"ES256","typ":"JWT"}`) + "." + claims(s) + "." + signature(s)
	}
	bearer := func(label evidence.Label, words string, value text) row {
		return row{Label: label, Words: words, Plan: oddInput(), Send: withoutToken(func(r *run, q *recorder.Request) {
			authorize(q, "Bearer "+value(r.source(label.Resource(), words)))
			if q.Raw = label.Case() == "bearer-bytes"; q.Raw { // HTTP/2 and net/http treat these bytes in different ways
				q.FollowSameOrigin = false
			}
		})}
	}
	rows := []row{
		bearer("P.bearer-long", "with a token of 6 kB", func(s draw.Source) string { return strings.Repeat(s.Text(draw.Letters, 1), 6<<10) }),
		bearer("P.bearer-three", "with a token of three letters and two dots", func(s draw.Source) string {
			return s.Text(draw.Lower, 1) + "." + s.Text(draw.Lower, 1) + "." + s.Text(draw.Lower, 1)
		}),
		bearer("P.bearer-dots", "with a token of dots", func(s draw.Source) string { return draw.One(s, "..", "...", ".", "....") }),
		bearer("P.bearer-bad-header", "with a JWT whose header is not JSON", func(s draw.Source) string {
			return segment("{") + "." + claims(s) + "." + signature(s)
		}),
		bearer("P.bearer-bytes", "with a token of bytes outside of ASCII", func(s draw.Source) string { return draw.One(s, "\xe4\xf6", "\xfc\xe9", "\xdf\xe0") }),
		bearer("P.bearer-joined", "with three JWTs joined", func(s draw.Source) string { return token(s) + "." + token(s) + "." + token(s) }),
	}
	return append(rows, row{Label: "P.ok-after-bearers", Words: "after odd ones", Plan: afterOdd(), Send: goodAfter(rows)})
}

// oddIDs are ids that no record has. They are percent-encoded if RFC 3986 requires it, or if the encoding itself is odd.
func oddIDs() []row {
	id := func(label evidence.Label, words string, value text) row {
		return row{Label: label, Words: words, Plan: oddInput(), Send: oddID(words, value)}
	}
	rows := []row{
		id("detail.id-quote", "with a quote in the id", func(s draw.Source) string { return s.Text(draw.Upper, 1) + "'" + s.Word() }),
		id("detail.id-nul", "with a NUL in the id", func(s draw.Source) string { return draw.One(s, "", s.Word()) + "%00" + draw.One(s, "", s.Word()) }),
		id("detail.id-bytes", "with an id that is not UTF-8", func(s draw.Source) string { return draw.One(s, "%FF", "%FE", "%C0%AF", "%80") }),
		id("detail.id-parent", "with ..%2F in the id", func(s draw.Source) string { return "..%2F..%2F" + s.Word() }),
		id("detail.id-long", "with an id of 2 kB", func(s draw.Source) string { return strings.Repeat(s.Text(draw.Lower, 1), 2<<10) }),
		id("detail.id-umlauts", "with umlauts in the id", func(s draw.Source) string {
			return draw.One(s, "%C3%84%C3%96%C3%9C", "%C3%A9%C3%A8", "%C3%B8%C3%A5") + s.Word()
		}),
		id("detail.id-braces", "with braces in the id", func(s draw.Source) string { return "%7B" + s.Word() + "%7D" }),
	}
	return append(rows, row{Label: "detail.ok-after-ids", Words: "after odd ones", Plan: afterOdd(), Send: goodAfter(rows)})
}

// oddQueries are queries without a meaning.
func oddQueries() []row {
	query := func(label evidence.Label, words string, value text) row {
		return row{Label: label, Words: words, Plan: oddInput(), Send: oddQuery(words, value)}
	}
	rows := []row{
		query("list.query-bytes", "with a query that is not UTF-8", func(s draw.Source) string { return s.Word() + "=" + draw.One(s, "%FF", "%FE") }),
		query("list.query-nameless", "with fields without a name", func(s draw.Source) string { return draw.One(s, "", "&") + "=" + draw.One(s, "", "&=", s.Word()) }),
		query("list.query-blank", "with ?&&", func(draw.Source) string { return "&&" }),
		query("list.query-long", "with a value of 6 kB in the query", func(s draw.Source) string { return s.Word() + "=" + strings.Repeat(s.Text(draw.Lower, 1), 6<<10) }),
		query("list.query-repeated", "with 200 parameters of one name", func(s draw.Source) string {
			return strings.TrimSuffix(strings.Repeat(s.Word()[:3]+"=1&", 200), "&")
		}),
		{Label: "list.query-size-nul", Words: "with %00 as the page size", Plan: oddInput(), Send: oddSize()},
		{Label: "list.odd-accept", Words: "with an Accept header that nothing matches", Plan: oddInput(), Send: oddAccept},
	}
	return append(rows, row{Label: "list.ok-after-queries", Words: "after odd ones", Plan: afterOdd(), Send: goodAfter(rows)})
}

// oddForms are token requests by an unknown client, one after the other, in two halves with the request for the session token between them, so that an
// authorization server that counts consecutive failures does not lock this machine out. A polite run makes two.
func oddForms() []row {
	before := in(stageTokens, stageToken).inLane("odd forms").onlyIf(notQuick)
	after := in(stageOddForms, stageSession).inLane("more odd forms").onlyIf(notQuick)
	impolite := func(n Node) bool { return !n.Target.Polite }
	grant := func(client, secret string) string {
		return "grant_type=client_credentials&client_id=" + client + "&client_secret=" + secret
	}
	// form adds the odd text to the form.
	form := func(odd text) content {
		return func(s draw.Source, client, secret string) (string, string) {
			return formType, grant(client, secret) + odd(s)
		}
	}
	var rows []row
	group := func() []row { return rows }
	odd := func(label evidence.Label, words string, plan timing, c content) row {
		return row{Label: label, Words: words, Plan: plan, Send: oddForm(group, c)}
	}
	bytesForm := form(func(s draw.Source) string { return "&scope=" + draw.One(s, "%FF", "%FE", "%80") })
	rows = []row{
		odd("token.form-empty", "without content", before.onlyIf(impolite), func(draw.Source, string, string) (string, string) { return formType, "" }),
		odd("token.form-json", "with JSON in place of a form", before, func(_ draw.Source, client, secret string) (string, string) {
			return "application/json", `{"grant_type":"client_credentials","client_id":"` + client + `","client_secret":"` + secret + `"}`
		}),
		odd("token.form-percent", "with a broken escape in a value", before.onlyIf(impolite), form(func(s draw.Source) string { return "&scope=%" + s.Text("ghijkz", 2) })),
		odd("token.form-bytes", "with a value that is not UTF-8", before.onlyIf(impolite), bytesForm),
		odd("token.form-bytes", "with a value that is not UTF-8", after.onlyIf(func(n Node) bool { return n.Target.Polite }), bytesForm),
		odd("token.form-long", "with a value of 64 kB", after.onlyIf(impolite), form(func(s draw.Source) string { return "&scope=" + strings.Repeat(s.Text(draw.Lower, 1), 64<<10) })),
		odd("token.form-parts", "as multipart/form-data", after.onlyIf(impolite), inParts),
		odd("token.form-text", "as text/plain", after.onlyIf(impolite), func(_ draw.Source, client, secret string) (string, string) {
			return "text/plain", grant(client, secret)
		}),
	}
	return append(rows, row{Label: "token.ok-after-form", Words: "after odd ones", Plan: after, Learn: keepTokenAs(AccessToken),
		// The run continues with this token, because its issue may have revoked earlier ones.
		Send: func(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
			if !r.isBroken(at, rows) {
				return recorder.Request{}, notApplicable("the node answered the odd requests, so there is nothing to compare")
			}
			return r.request(r.goodForm()), nil
		}})
}

// content makes the content of a token request and its media type.
type content func(s draw.Source, client, secret string) (media, body string)

// inParts returns the good form as multipart/form-data (RFC 7578).
func inParts(s draw.Source, client, secret string) (media, body string) {
	boundary := s.Text(draw.Letters+draw.Digits, 24)
	var b strings.Builder
	for _, f := range [][2]string{{"grant_type", "client_credentials"}, {"client_id", client}, {"client_secret", secret}} {
		b.WriteString("--" + boundary + "\r\nContent-Disposition: form-data; name=\"" + f[0] + "\"\r\n\r\n" + f[1] + "\r\n")
	}
	return "multipart/form-data; boundary=" + boundary, b.String() + "--" + boundary + "--\r\n"
}

// oddForm sends a token request with odd content, unless an earlier answer of the group indicates a ban.
func oddForm(group func() []row, make content) sender {
	return func(_ context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		if r.facts.status("token.ok") == 0 {
			return recorder.Request{}, unmet("the token endpoint did not answer the good request")
		}
		for _, earlier := range group() {
			switch status := r.facts.status(earlier.Label); {
			case status == http.StatusForbidden || status == http.StatusTooManyRequests:
				return recorder.Request{}, notApplicable("%s was answered %d, after which no more odd token requests are sent", earlier.Label, status)
			case r.facts.isConnectionRefused(earlier.Label):
				return recorder.Request{}, notApplicable("%s was refused its connection, after which no more odd token requests are sent", earlier.Label)
			}
		}
		q := TokenRequest(r.Target, "")
		media, body := make(r.source(at, "odd form"), r.drawn.clientID, r.drawn.unknownSecret)
		q.Header[0].Value, q.Body = media, []byte(body)
		return q, nil
	}
}

// oddID requests a detail with an id that no record has.
func oddID(purpose string, value text) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		o, _ := r.operation(res.Name)
		id := value(r.source(res.Name, purpose))
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

// oddQuery requests the list with a query, in small pages if the list has pages.
func oddQuery(purpose string, query text) sender {
	return oddCall(func(r *run, o openapi.Operation, url string) (address, tried string) {
		sign := "?"
		if strings.Contains(url, "?") {
			sign = "&"
		}
		return url + sign + query(r.source(evidence.OperationResource(o.Key), purpose)), ""
	})
}

// oddSize requests the list with a page size that contains a NUL.
func oddSize() sender {
	return oddCall(func(r *run, o openapi.Operation, url string) (address, tried string) {
		size := pageSize
		if p, ok := sizeParameter(o); ok {
			size = p.Name
		}
		return withQuery(url, pair{size, draw.One(r.source(evidence.OperationResource(o.Key), "size"), "", "1", "2", "10", "5") + "\x00"}), size
	})
}

func oddAccept(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	q, reason := oddCall(func(_ *run, _ openapi.Operation, url string) (address, tried string) { return url, "" })(ctx, r, at)
	for i, f := range q.Header {
		if f.Name == "Accept" {
			q.Header[i].Value = "application/" + r.drawn.word
		}
	}
	return q, reason
}

func oddCall(change func(r *run, o openapi.Operation, url string) (address, tried string)) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		o, _ := r.operation(res.Name)
		address, tried := change(r, o, res.URL)
		res.URL = r.sized(o, address, tried, sizeOfParameter)
		return r.authorized(ctx, res)
	})
}

// isBroken reports whether one of the calls of a resource got a 5xx or no answer.
func (r *run) isBroken(at evidence.Resource, rows []row) bool {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return slices.ContainsFunc(rows, func(c row) bool {
		status, sent := r.facts.statuses[at.With(c.Label.Case())]
		return sent && (status == 0 || status >= 500)
	})
}

// goodAfter makes the normal call after odd ones, if one of them got a 5xx or no answer.
func goodAfter(rows []row) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		if !r.isBroken(at, rows) {
			return recorder.Request{}, notApplicable("the node answered the odd requests, so there is nothing to compare")
		}
		res, ok := r.facts.resource(at)
		if !ok {
			return recorder.Request{}, r.unlocated(at)
		}
		return r.authorized(ctx, res)
	}
}

// strict requests an answer without content coding and reads the connection to its end.
func strict(method string) sender {
	return withToken(func(_ *run, q *recorder.Request, _ string) {
		q.Header = append(q.Header, evidence.Field{Name: "Accept-Encoding", Value: "identity"})
		q.Raw, q.ToEnd, q.FollowSameOrigin, q.Method = true, true, false, method
	})
}
