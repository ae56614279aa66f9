package probe

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

// foreignOrigin is the origin of a page that no node can know (RFC 6761 §6.4).
const foreignOrigin = "https://conformance.invalid"

func (r *run) sanitaryProbe(l exchange.Label) (probe, bool) {
	name := l.Resource()
	ask := func(prepare func(ctx context.Context) (record.Ask, *unsent)) (probe, bool) {
		return probe{prepare: prepare}, true
	}
	switch c := l.Case(); c {
	case exchange.SessionCookie:
		return ask(func(context.Context) (record.Ask, *unsent) { return r.withCookies(name) })
	case exchange.IdentityHeaders, exchange.ForwardedUser, exchange.RemoteUser, exchange.ForwardedFor, exchange.OriginalURL, exchange.AuthRequestUser, exchange.RealIP:
		return ask(func(context.Context) (record.Ask, *unsent) { return r.withIdentity(name, c) })
	case exchange.ForeignOrigin:
		return ask(func(ctx context.Context) (record.Ask, *unsent) { return r.fromElsewhere(ctx, name) })
	case exchange.LookalikeOrigin:
		return ask(func(ctx context.Context) (record.Ask, *unsent) { return r.fromLookalike(ctx, name) })
	case exchange.OriginAlone:
		return ask(func(context.Context) (record.Ask, *unsent) { return r.anonymousFromElsewhere(name) })
	case exchange.Preflight:
		return ask(func(context.Context) (record.Ask, *unsent) { return r.preflight(), nil })
	case exchange.UnknownPath:
		return ask(r.unknownPath)
	case exchange.UnknownVersion:
		return ask(r.unknownVersion)
	}
	return probe{}, false
}

// cookieName is the name of cookies among credentials.
const cookieName = "cookie"

// withCookies asks without a token, with the cookies that the good call of the resource set, or else that of the info endpoint.
func (r *run) withCookies(name exchange.Resource) (record.Ask, *unsent) {
	res, ok := r.facts.resource(name)
	if !ok {
		return record.Ask{}, r.unlocated(name)
	}
	from := name
	cookies := r.facts.cookiesOf(name)
	if len(cookies) == 0 {
		from = exchange.Info
		cookies = r.facts.cookiesOf(from)
	}
	if len(cookies) == 0 {
		return record.Ask{}, notApplicable("no good call set a cookie")
	}
	if source, _ := r.facts.resource(from); !sameOrigin(source.URL, res.URL) {
		return record.Ask{}, notApplicable("the cookies of %s belong to another origin", from)
	}
	var names, pairs []string
	for _, c := range cookies {
		names, pairs = append(names, c.Name), append(pairs, c.Name+"="+c.Value)
	}
	ask := res.Get(exchange.SessionCookie)
	ask.Header = append(ask.Header, exchange.Field{Name: "Cookie", Value: strings.Join(pairs, "; ")})
	ask.Credential, ask.Given = cookieName, map[string]string{"cookies": strings.Join(names, ", ")}
	return ask, nil
}

// maxCookies is how many cookies of an answer are sent back.
const maxCookies = 10

// cookiesOf reads the cookies that an answer sets and does not delete.
func cookiesOf(h http.Header) []*http.Cookie {
	cookies := (&http.Response{Header: h}).Cookies()
	cookies = slices.DeleteFunc(cookies, func(c *http.Cookie) bool {
		return c.Value == "" || c.MaxAge < 0 || strings.ContainsAny(c.Value, ";\r\n")
	})
	return cookies[:min(len(cookies), maxCookies)]
}

// identityHeaders are what proxies tell of a caller, and backends may believe.
func identityHeaders(c exchange.Case) []exchange.Field {
	all := map[exchange.Case]exchange.Field{
		exchange.ForwardedUser:   {Name: "X-Forwarded-User", Value: "admin"},
		exchange.RemoteUser:      {Name: "X-Remote-User", Value: "admin"},
		exchange.ForwardedFor:    {Name: "X-Forwarded-For", Value: "127.0.0.1"},
		exchange.OriginalURL:     {Name: "X-Original-URL", Value: "/"},
		exchange.AuthRequestUser: {Name: "X-Auth-Request-User", Value: "admin"},
		exchange.RealIP:          {Name: "X-Real-IP", Value: "127.0.0.1"},
	}
	if one, single := all[c]; single {
		return []exchange.Field{one}
	}
	var out []exchange.Field
	for _, c := range singleIdentity() {
		out = append(out, all[c])
	}
	return out
}

// withIdentity asks without a token and with the headers of a proxy: with all of them, then with single ones if all got data.
func (r *run) withIdentity(name exchange.Resource, c exchange.Case) (record.Ask, *unsent) {
	res, ok := r.facts.resource(name)
	if good := name.With(exchange.OK); !ok || !r.facts.good(good) {
		return record.Ask{}, unmet("the good call %s was not answered with 2xx", good)
	}
	if c != exchange.IdentityHeaders && !r.facts.good(name.With(exchange.IdentityHeaders)) {
		return record.Ask{}, notApplicable("all identity headers together got nothing")
	}
	ask := res.Get(c)
	ask.Header = append(ask.Header, identityHeaders(c)...)
	return ask, nil
}

// fromElsewhere is the good call as a page of another origin makes it.
func (r *run) fromElsewhere(ctx context.Context, name exchange.Resource) (record.Ask, *unsent) {
	res, ok := r.facts.resource(name)
	if !ok {
		return record.Ask{}, r.unlocated(name)
	}
	ask, reason := r.authorized(ctx, res, exchange.ForeignOrigin)
	ask.Header = append(ask.Header, exchange.Field{Name: "Origin", Value: foreignOrigin})
	return ask, reason
}

// fromLookalike is the good call as a page makes it whose origin only begins like the node's: https://node.example.conformance.invalid.
func (r *run) fromLookalike(ctx context.Context, name exchange.Resource) (record.Ask, *unsent) {
	res, reason := r.controlled(name)
	if reason != nil {
		return record.Ask{}, reason
	}
	u, err := url.Parse(res.URL)
	if err != nil || strings.Contains(u.Hostname(), ":") { // an IPv6 address begins no name
		return record.Ask{}, notApplicable("no host name begins like that of %s", name)
	}
	ask, reason := r.authorized(ctx, res, exchange.LookalikeOrigin)
	ask.Header = append(ask.Header, exchange.Field{Name: "Origin", Value: u.Scheme + "://" + u.Hostname() + ".conformance.invalid"})
	return ask, reason
}

// anonymousFromElsewhere asks as a page of another origin does that has no token.
func (r *run) anonymousFromElsewhere(name exchange.Resource) (record.Ask, *unsent) {
	res, reason := r.controlled(name)
	ask := res.Get(exchange.OriginAlone)
	ask.Header = append(ask.Header, exchange.Field{Name: "Origin", Value: foreignOrigin})
	return ask, reason
}

// preflight asks what a page of another origin may send to the token endpoint.
func (r *run) preflight() record.Ask {
	return record.Ask{
		Method: http.MethodOptions, URL: r.Target.TokenURL,
		Header: []exchange.Field{
			{Name: "Origin", Value: foreignOrigin},
			{Name: "Access-Control-Request-Method", Value: http.MethodPost},
			{Name: "Access-Control-Request-Headers", Value: "authorization"},
		},
	}
}

// unknownPath asks with a token for what no operation can be called.
func (r *run) unknownPath(ctx context.Context) (record.Ask, *unsent) {
	base, ok := r.base()
	if !ok {
		return record.Ask{}, unmet("where operations live is not known")
	}
	res, _ := r.facts.resource(exchange.Info)
	res.Name, res.URL, res.JSONType = exchange.API, base.URL("/conformance-unknown-"+r.drawn.id), false
	return r.authorized(ctx, res, exchange.UnknownPath)
}

// unknownVersion asks for the info resource in a version that there cannot be.
func (r *run) unknownVersion(ctx context.Context) (record.Ask, *unsent) {
	res, ok := r.facts.resource(exchange.Info)
	if good := exchange.Info.With(exchange.OK); !ok || !r.facts.good(good) {
		return record.Ask{}, unmet("the good call %s was not answered with 2xx", good)
	}
	other, ok := otherVersion(res.URL)
	if !ok {
		return record.Ask{}, notApplicable("the path of the info URL has no v<major> segment")
	}
	res.URL = other
	return r.authorized(ctx, res, exchange.UnknownVersion)
}

// otherVersion replaces the first segment v<major> of a path by v999.
func otherVersion(text string) (string, bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	parts := strings.Split(u.EscapedPath(), "/")
	at := slices.IndexFunc(parts, func(s string) bool {
		digits, found := strings.CutPrefix(s, "v")
		return found && digits != "" && strings.Trim(digits, "0123456789") == ""
	})
	if at < 0 {
		return "", false
	}
	parts[at] = "v999"
	query := ""
	if u.RawQuery != "" {
		query = "?" + u.RawQuery
	}
	return u.Scheme + "://" + u.Host + strings.Join(parts, "/") + query, true
}
