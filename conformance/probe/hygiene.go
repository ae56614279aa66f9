package probe

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// sanitary plans other ways in, error shapes and unknown versions (SEC, ERR, VER).
func sanitary() theme {
	return theme{
		forTarget: func(t target.Target) Plan {
			var p Plan
			p.lane(stageRest, []Stage{stageToken}, evidence.TokenEndpoint, "preflight")
			if wantsFunding(t) {
				p.lane(stageRest, []Stage{opened(evidence.Info)}, evidence.Info, "unknown-version")
			}
			return p
		},
		forProbeTarget: func(_ target.Target, r evidence.Resource) Plan {
			var p Plan
			after := []Stage{opened(r)}
			p.each(tried(r), after, r, "session-cookie", "foreign-origin", "lookalike-origin", "origin-alone")
			p.lane(tried(r), after, r, append([]evidence.Case{"identity-headers"}, singleIdentity()...)...)
			return p
		},
		forDocument: func(Node) Plan {
			var p Plan
			p.lane(stageRest, []Stage{stageBase, stageSession}, evidence.API, "unknown-path")
			return p
		},
		probe: (*run).sanitaryProbe,
	}
}

// singleIdentity are the cases that find out which identity header it was that got data.
func singleIdentity() []evidence.Case {
	return []evidence.Case{"forwarded-user", "remote-user", "forwarded-for", "original-url", "auth-request-user", "real-ip"}
}

// foreignOrigin is the origin of a page that no node can know (RFC 6761 §6.4).
const foreignOrigin = "https://conformance.invalid"

func (r *run) sanitaryProbe(l evidence.Label) (probe, bool) {
	name := l.Resource()
	ask := func(prepare func(ctx context.Context) (recorder.Request, *unsent)) (probe, bool) {
		return probe{prepare: prepare}, true
	}
	switch c := l.Case(); c {
	case "session-cookie":
		return ask(func(context.Context) (recorder.Request, *unsent) { return r.withCookies(name) })
	case "identity-headers", "forwarded-user", "remote-user", "forwarded-for", "original-url", "auth-request-user", "real-ip":
		return ask(func(context.Context) (recorder.Request, *unsent) { return r.withIdentity(name, c) })
	case "foreign-origin":
		return ask(func(ctx context.Context) (recorder.Request, *unsent) { return r.fromElsewhere(ctx, name) })
	case "lookalike-origin":
		return ask(func(ctx context.Context) (recorder.Request, *unsent) { return r.fromLookalike(ctx, name) })
	case "origin-alone":
		return ask(func(context.Context) (recorder.Request, *unsent) { return r.anonymousFromElsewhere(name) })
	case "preflight":
		return ask(func(context.Context) (recorder.Request, *unsent) { return r.preflight(), nil })
	case "unknown-path":
		return ask(r.unknownPath)
	case "unknown-version":
		return ask(r.unknownVersion)
	}
	return probe{}, false
}

// cookieName is the name of cookies among credentials.
const cookieName = "cookie"

// withCookies asks without a token, with the cookies that the good call of the resource set, or else that of the info endpoint.
func (r *run) withCookies(name evidence.Resource) (recorder.Request, *unsent) {
	res, ok := r.facts.resource(name)
	if !ok {
		return recorder.Request{}, r.unlocated(name)
	}
	from := name
	cookies := r.facts.cookiesOf(name)
	if len(cookies) == 0 {
		from = evidence.Info
		cookies = r.facts.cookiesOf(from)
	}
	if len(cookies) == 0 {
		return recorder.Request{}, notApplicable("no good call set a cookie")
	}
	if source, _ := r.facts.resource(from); !sameOrigin(source.URL, res.URL) {
		return recorder.Request{}, notApplicable("the cookies of %s belong to another origin", from)
	}
	var names, pairs []string
	for _, c := range cookies {
		names, pairs = append(names, c.Name), append(pairs, c.Name+"="+c.Value)
	}
	ask := res.Get("session-cookie")
	ask.Header = append(ask.Header, evidence.Field{Name: "Cookie", Value: strings.Join(pairs, "; ")})
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
func identityHeaders(c evidence.Case) []evidence.Field {
	all := map[evidence.Case]evidence.Field{
		"forwarded-user":    {Name: "X-Forwarded-User", Value: "admin"},
		"remote-user":       {Name: "X-Remote-User", Value: "admin"},
		"forwarded-for":     {Name: "X-Forwarded-For", Value: "127.0.0.1"},
		"original-url":      {Name: "X-Original-URL", Value: "/"},
		"auth-request-user": {Name: "X-Auth-Request-User", Value: "admin"},
		"real-ip":           {Name: "X-Real-IP", Value: "127.0.0.1"},
	}
	if one, single := all[c]; single {
		return []evidence.Field{one}
	}
	var out []evidence.Field
	for _, c := range singleIdentity() {
		out = append(out, all[c])
	}
	return out
}

// withIdentity asks without a token and with the headers of a proxy: with all of them, then with single ones if all got data.
func (r *run) withIdentity(name evidence.Resource, c evidence.Case) (recorder.Request, *unsent) {
	res, ok := r.facts.resource(name)
	if good := name.With(evidence.OK); !ok || !r.facts.good(good) {
		return recorder.Request{}, unmet("the good call %s was not answered with 2xx", good)
	}
	if c != "identity-headers" && !r.facts.good(name.With("identity-headers")) {
		return recorder.Request{}, notApplicable("all identity headers together got nothing")
	}
	ask := res.Get(c)
	ask.Header = append(ask.Header, identityHeaders(c)...)
	return ask, nil
}

// fromElsewhere is the good call as a page of another origin makes it.
func (r *run) fromElsewhere(ctx context.Context, name evidence.Resource) (recorder.Request, *unsent) {
	res, ok := r.facts.resource(name)
	if !ok {
		return recorder.Request{}, r.unlocated(name)
	}
	ask, reason := r.authorized(ctx, res, "foreign-origin")
	ask.Header = append(ask.Header, evidence.Field{Name: "Origin", Value: foreignOrigin})
	return ask, reason
}

// fromLookalike is the good call as a page makes it whose origin only begins like the node's: https://node.example.conformance.invalid.
func (r *run) fromLookalike(ctx context.Context, name evidence.Resource) (recorder.Request, *unsent) {
	res, reason := r.controlled(name)
	if reason != nil {
		return recorder.Request{}, reason
	}
	u, err := url.Parse(res.URL)
	if err != nil || strings.Contains(u.Hostname(), ":") { // an IPv6 address begins no name
		return recorder.Request{}, notApplicable("no host name begins like that of %s", name)
	}
	ask, reason := r.authorized(ctx, res, "lookalike-origin")
	ask.Header = append(ask.Header, evidence.Field{Name: "Origin", Value: u.Scheme + "://" + u.Hostname() + ".conformance.invalid"})
	return ask, reason
}

// anonymousFromElsewhere asks as a page of another origin does that has no token.
func (r *run) anonymousFromElsewhere(name evidence.Resource) (recorder.Request, *unsent) {
	res, reason := r.controlled(name)
	ask := res.Get("origin-alone")
	ask.Header = append(ask.Header, evidence.Field{Name: "Origin", Value: foreignOrigin})
	return ask, reason
}

// preflight asks what a page of another origin may send to the token endpoint.
func (r *run) preflight() recorder.Request {
	return recorder.Request{
		Method: http.MethodOptions, URL: r.Target.TokenURL,
		Header: []evidence.Field{
			{Name: "Origin", Value: foreignOrigin},
			{Name: "Access-Control-Request-Method", Value: http.MethodPost},
			{Name: "Access-Control-Request-Headers", Value: "authorization"},
		},
	}
}

// unknownPath asks with a token for what no operation can be called.
func (r *run) unknownPath(ctx context.Context) (recorder.Request, *unsent) {
	base, ok := r.base()
	if !ok {
		return recorder.Request{}, unmet("where operations live is not known")
	}
	res, _ := r.facts.resource(evidence.Info)
	res.Name, res.URL, res.JSONType = evidence.API, base.URL("/conformance-unknown-"+r.drawn.id), false
	return r.authorized(ctx, res, "unknown-path")
}

// unknownVersion asks for the info resource in a version that there cannot be.
func (r *run) unknownVersion(ctx context.Context) (recorder.Request, *unsent) {
	res, ok := r.facts.resource(evidence.Info)
	if good := evidence.Info.With(evidence.OK); !ok || !r.facts.good(good) {
		return recorder.Request{}, unmet("the good call %s was not answered with 2xx", good)
	}
	other, ok := otherVersion(res.URL)
	if !ok {
		return recorder.Request{}, notApplicable("the path of the info URL has no v<major> segment")
	}
	res.URL = other
	return r.authorized(ctx, res, "unknown-version")
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
