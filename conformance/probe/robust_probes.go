package probe

import (
	"context"
	"encoding/base64"
	"net/http"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

func (r *run) robustProbe(l exchange.Label) (probe, bool) {
	name, c := l.Resource(), l.Case()
	before, after := oddForms(false)
	forms := slices.Concat(before, after)
	var prepare func(ctx context.Context) (record.Ask, *unsent)
	switch {
	case slices.Contains(oddBearers(), c):
		prepare = func(context.Context) (record.Ask, *unsent) { return r.oddBearer(name, c) }
	case slices.Contains(oddIDs(), c):
		prepare = func(ctx context.Context) (record.Ask, *unsent) { return r.oddID(ctx, name, c) }
	case slices.Contains(oddQueries(), c):
		prepare = func(ctx context.Context) (record.Ask, *unsent) { return r.oddQuery(ctx, name, c) }
	case slices.Contains(forms, c):
		prepare = func(context.Context) (record.Ask, *unsent) { return r.oddForm(c, forms) }
	case c == exchange.OKAfterForm:
		return probe{prepare: func(context.Context) (record.Ask, *unsent) { return r.tokenAfter(forms) }, learn: r.learnAfter}, true
	case c == exchange.OKAfterBearers:
		prepare = func(ctx context.Context) (record.Ask, *unsent) { return r.goodAfter(ctx, name, c, oddBearers()) }
	case c == exchange.OKAfterIDs:
		prepare = func(ctx context.Context) (record.Ask, *unsent) { return r.goodAfter(ctx, name, c, oddIDs()) }
	case c == exchange.OKAfterQueries:
		prepare = func(ctx context.Context) (record.Ask, *unsent) { return r.goodAfter(ctx, name, c, oddQueries()) }
	case c == exchange.Strict, c == exchange.StrictHead:
		prepare = func(ctx context.Context) (record.Ask, *unsent) { return r.strict(ctx, name, c) }
	default:
		return probe{}, false
	}
	return probe{prepare: prepare}, true
}

// answered is the resource if its good call was answered: otherwise odd input proves nothing.
func (r *run) answered(name exchange.Resource) (discover.Resource, *unsent) {
	res, ok := r.facts.resource(name)
	if !ok {
		return res, r.unlocated(name)
	}
	if good := name.With(exchange.OK); !r.facts.good(good) {
		return res, unmet("the good call %s was not answered with 2xx", good)
	}
	return res, nil
}

// oddBearer asks with a bearer value that no token looks like.
func (r *run) oddBearer(name exchange.Resource, c exchange.Case) (record.Ask, *unsent) {
	res, reason := r.answered(name)
	ask := res.GetWith(c, "", "Bearer "+oddToken(c))
	if c == exchange.BearerBytes { // outside of ASCII, which HTTP/2 and net/http treat each in their own way
		ask.Raw, ask.FollowSameOrigin = true, false
	}
	return ask, reason
}

func oddToken(c exchange.Case) string {
	segment := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	claims, signature := segment(`{"iss":"https://conformance.invalid","sub":"conformance"}`), segment(strings.Repeat("conformance.", 5))
	token := segment(`{"alg":"ES256","typ":"JWT"}`) + "." + claims + "." + signature
	switch c {
	case exchange.BearerLong:
		return strings.Repeat("A", 6<<10)
	case exchange.BearerThree:
		return "a.b.c"
	case exchange.BearerDots:
		return ".."
	case exchange.BearerBadHeader:
		return segment("{") + "." + claims + "." + signature
	case exchange.BearerBytes:
		return "\xe4\xf6"
	}
	return token + "." + token + "." + token
}

// oddID asks for an item whose id no record has.
func (r *run) oddID(ctx context.Context, name exchange.Resource, c exchange.Case) (record.Ask, *unsent) {
	res, reason := r.answered(name)
	if reason != nil {
		return record.Ask{}, reason
	}
	o, _ := r.operation(name)
	before, rest, ok := strings.Cut(o.Path, "{")
	_, after, closed := strings.Cut(rest, "}")
	if !ok || !closed || strings.Contains(after, "{") {
		return record.Ask{}, notApplicable("the path %.200s has no id alone", o.Path)
	}
	base, _ := r.base()
	id := oddIDText(c)
	res.URL = base.URL(before + id + after)
	ask, reason := r.authorized(ctx, res, c)
	if c != exchange.IDLong {
		ask.Given = map[string]string{"id": id}
	}
	return ask, reason
}

// oddIDText is the id as it stands in the path, percent-encoded where RFC 3986 asks for it or where the encoding is what is odd.
func oddIDText(c exchange.Case) string {
	switch c {
	case exchange.IDQuote:
		return "O'Brien"
	case exchange.IDNul:
		return "%00"
	case exchange.IDBytes:
		return "%FF"
	case exchange.IDParent:
		return "..%2F..%2Fconformance"
	case exchange.IDLong:
		return strings.Repeat("a", 2<<10)
	case exchange.IDUmlauts:
		return "%C3%84%C3%96%C3%9C"
	}
	return "%7Bid%7D"
}

// oddQuery asks for the list with a query that means nothing, and for small pages where there are any.
func (r *run) oddQuery(ctx context.Context, name exchange.Resource, c exchange.Case) (record.Ask, *unsent) {
	res, reason := r.answered(name)
	if reason != nil {
		return record.Ask{}, reason
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
	if c == exchange.QuerySizeNul {
		tried = size
		res.URL = withQuery(res.URL, pair{size, "\x00"})
	}
	res.URL = r.sized(o, res.URL, tried, sizeOfParameter)
	ask, reason := r.authorized(ctx, res, c)
	if c == exchange.OddAccept {
		for i, f := range ask.Header {
			if f.Name == "Accept" {
				ask.Header[i].Value = "application/x-conformance"
			}
		}
	}
	return ask, reason
}

// oddQueryText is what stands after the question mark.
func oddQueryText(c exchange.Case) string {
	switch c {
	case exchange.QueryBytes:
		return "a=%FF"
	case exchange.QueryNameless:
		return "="
	case exchange.QueryBlank:
		return "&&"
	case exchange.QueryLong:
		return "conformance=" + strings.Repeat("a", 6<<10)
	case exchange.QueryRepeated:
		return strings.TrimSuffix(strings.Repeat("conformance=1&", 200), "&")
	}
	return ""
}

// broken reports that one of the calls of a resource got a 5xx or no answer at all.
func (r *run) broken(name exchange.Resource, cases []exchange.Case) bool {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return slices.ContainsFunc(cases, func(c exchange.Case) bool {
		status, sent := r.facts.statuses[name.With(c)]
		return sent && (status == 0 || status >= 500)
	})
}

// goodAfter is the normal call after odd ones, when one of them found the node broken.
func (r *run) goodAfter(ctx context.Context, name exchange.Resource, c exchange.Case, odd []exchange.Case) (record.Ask, *unsent) {
	if !r.broken(name, odd) {
		return record.Ask{}, notApplicable("the node answered the odd requests, so there is nothing to compare")
	}
	res, ok := r.facts.resource(name)
	if !ok {
		return record.Ask{}, r.unlocated(name)
	}
	return r.authorized(ctx, res, c)
}

// tokenAfter is the same for the token endpoint.
func (r *run) tokenAfter(odd []exchange.Case) (record.Ask, *unsent) {
	if !r.broken(exchange.TokenEndpoint, odd) {
		return record.Ask{}, notApplicable("the node answered the odd requests, so there is nothing to compare")
	}
	return discover.TokenRequest(r.Target, exchange.OKAfterForm, discover.ClientSecret, discover.Credentialed(r.Target.Credentials)...), nil
}

// learnAfter goes on with the token that came last: an earlier one may be revoked by it.
func (r *run) learnAfter(a record.Answer) {
	if t, ok := discover.ReadToken(a, r.Clock()); ok {
		r.facts.keep(t)
	}
}

// oddForm is a token request that is no proper one, by a client that nobody knows. The first answer that looks like a ban ends the
// group.
func (r *run) oddForm(c exchange.Case, group []exchange.Case) (record.Ask, *unsent) {
	if r.facts.status(exchange.TokenEndpoint.With(exchange.OK)) == 0 {
		return record.Ask{}, unmet("the token endpoint did not answer the good request")
	}
	for _, earlier := range group {
		label := exchange.TokenEndpoint.With(earlier)
		switch status := r.facts.status(label); {
		case status == http.StatusForbidden || status == http.StatusTooManyRequests:
			return record.Ask{}, notApplicable("%s was answered %d, after which no more odd token requests are sent", label, status)
		case r.facts.refusedConnection(label):
			return record.Ask{}, notApplicable("%s was refused its connection, after which no more odd token requests are sent", label)
		}
	}
	media, body := oddContent(c, "conformance-"+r.drawn.id)
	ask := discover.TokenRequest(r.Target, c, "")
	ask.Header[0].Value, ask.Body = media, body
	return ask, nil
}

// oddContent is the media type and the content of an odd token request.
func oddContent(c exchange.Case, client string) (media string, body []byte) {
	const form = "application/x-www-form-urlencoded"
	grant := "grant_type=client_credentials&client_id=" + client + "&client_secret=conformance"
	switch c {
	case exchange.FormEmpty:
		return form, nil
	case exchange.FormJSON:
		return "application/json", []byte(`{"grant_type":"client_credentials","client_id":"` + client + `","client_secret":"conformance"}`)
	case exchange.FormPercent:
		return form, []byte(grant + "&scope=%zz")
	case exchange.FormBytes:
		return form, []byte(grant + "&scope=%FF")
	case exchange.FormLong:
		return form, []byte(grant + "&scope=" + strings.Repeat("a", 64<<10))
	case exchange.FormParts:
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
func (r *run) strict(ctx context.Context, name exchange.Resource, c exchange.Case) (record.Ask, *unsent) {
	res, reason := r.answered(name)
	if reason != nil {
		return record.Ask{}, reason
	}
	ask, reason := r.authorized(ctx, res, c)
	ask.Header = append(ask.Header, exchange.Field{Name: "Accept-Encoding", Value: "identity"})
	ask.Raw, ask.ToEnd, ask.FollowSameOrigin = true, true, false
	if c == exchange.StrictHead {
		ask.Method = http.MethodHead
	}
	return ask, reason
}
