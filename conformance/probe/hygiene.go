package probe

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
)

// hygieneCases are requests with credentials other than a token, for unknown paths and for unknown versions (SEC, ERR, VER).
func hygieneCases() []row {
	oddCredentials := in(stageOddCredentials, stageAuthorized)
	identity := oddCredentials.inLane("identity")
	out := []row{
		{Label: "token.preflight", Words: "as a preflight from a page elsewhere", Plan: in(stageRest, stageToken), Send: preflight},
		{Label: "info.unknown-version", Words: "in a version that does not exist", Plan: in(stageRest, stageAuthorized).onlyIf(withDocument), Send: controlled(unknownVersion)},
		{Label: "P.session-cookie", Words: "with the cookies of a good call and without a token", Plan: oddCredentials, Send: withCookies},
		{Label: "P.foreign-origin", Words: "with the Origin of a page elsewhere", Plan: oddCredentials, Send: fromElsewhere},
		{Label: "P.lookalike-origin", Words: "with an Origin that begins like the node's own", Plan: oddCredentials, Send: controlled(fromLookalike)},
		// This row does not depend on P.foreign-origin, because CORS may refuse its Origin.
		{Label: "P.origin-alone", Words: "without a token and with the Origin of a page elsewhere", Plan: oddCredentials, Send: withoutToken(func(r *run, q *recorder.Request) {
			q.Header = append(q.Header, evidence.Field{Name: "Origin", Value: r.drawn.origin()})
		})},
		{Label: "P.identity-headers", Words: "without a token and with the headers of a proxy", Plan: identity, Send: withIdentity(identityHeaders()...)},
	}
	// Each header is also tried alone, to find the one that got data.
	for _, h := range identityHeaders() {
		name := evidence.Case(strings.ToLower(strings.TrimPrefix(h.name, "X-")))
		out = append(out, row{Label: evidence.ProbeTarget.With(name), Words: "without a token and with " + h.name, Plan: identity, Send: withOneIdentity(h)})
	}
	return append(out, row{
		Label: "api.unknown-path", Words: "of a path that no operation has",
		Plan: in(stageRest, stageBase, stageSession).onceKnown(documentRead), Send: unknownPath,
	})
}

// origin returns the origin of a page that no node can know.
func (d drawn) origin() string { return "https://" + d.host }

// cookieName is the name of cookies among credentials.
const cookieName = "cookie"

// withCookies sends no token, but the cookies that the good call of the resource set, or else those of the info endpoint.
func withCookies(_ context.Context, r *run, name evidence.Resource) (recorder.Request, *unsent) {
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
	if source, _ := r.facts.resource(from); !evidence.SameOrigin(source.URL, res.URL) {
		return recorder.Request{}, notApplicable("the cookies of %s belong to another origin", from)
	}
	var names, pairs []string
	for _, c := range cookies {
		names, pairs = append(names, c.Name), append(pairs, c.Name+"="+c.Value)
	}
	q := res.Get()
	q.Header = append(q.Header, evidence.Field{Name: "Cookie", Value: strings.Join(pairs, "; ")})
	q.Credential, q.Given = cookieName, map[string]string{"cookies": strings.Join(names, ", ")}
	return q, nil
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

// identityHeader is a header in which proxies name the caller and which backends may trust, with the function that draws its value.
type identityHeader struct {
	name  string
	value func(s draw.Source, r *run, q *recorder.Request) string
}

func identityHeaders() []identityHeader {
	address := func(s draw.Source, _ *run, _ *recorder.Request) string {
		return draw.One(s, loopbackAddress, privateAddress)(s)
	}
	return []identityHeader{
		{"X-Forwarded-User", userName}, {"X-Remote-User", userName}, {"X-Forwarded-For", address},
		{"X-Original-URL", publicPath}, {"X-Auth-Request-User", userName}, {"X-Real-IP", address},
	}
}

// withIdentity sends the headers of a proxy and no token. A header has the same value alone as together with others.
func withIdentity(headers ...identityHeader) sender {
	return controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		q := res.Get()
		for _, h := range headers {
			q.Header = append(q.Header, evidence.Field{Name: h.name, Value: h.value(r.source(res.Name, h.name), r, &q)})
		}
		return q, nil
	})
}

// withOneIdentity is [withIdentity] with one header, sent only if all headers together got data.
func withOneIdentity(header identityHeader) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		q, reason := withIdentity(header)(ctx, r, at)
		if reason == nil && !r.facts.good(at.With("identity-headers")) {
			reason = notApplicable("all identity headers together got nothing")
		}
		return q, reason
	}
}

// fromElsewhere makes the good call as a page of another origin.
func fromElsewhere(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	res, ok := r.facts.resource(at)
	if !ok {
		return recorder.Request{}, r.unlocated(at)
	}
	q, reason := r.authorized(ctx, res)
	q.Header = append(q.Header, evidence.Field{Name: "Origin", Value: r.drawn.origin()})
	return q, reason
}

// fromLookalike makes the good call as a page whose origin begins like the node's: https://node.example.other.example.
func fromLookalike(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	u, err := url.Parse(res.URL)
	if err != nil || strings.Contains(u.Hostname(), ":") { // a host name cannot begin with an IPv6 address
		return recorder.Request{}, notApplicable("no host name begins like that of %s", res.Name)
	}
	q, reason := r.authorized(ctx, res)
	q.Header = append(q.Header, evidence.Field{Name: "Origin", Value: u.Scheme + "://" + u.Hostname() + "." + r.drawn.host})
	return q, reason
}

// preflight sends the CORS preflight by which a page of another origin finds out what it may send to the token endpoint.
func preflight(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	return recorder.Request{
		Method: http.MethodOptions, URL: r.Target.TokenURL,
		Header: []evidence.Field{
			{Name: "Origin", Value: r.drawn.origin()},
			{Name: "Access-Control-Request-Method", Value: http.MethodPost},
			{Name: "Access-Control-Request-Headers", Value: "authorization"},
		},
	}, nil
}

// unknownPath sends a token to a path that no operation can have.
func unknownPath(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	base, ok := r.base()
	if !ok {
		return recorder.Request{}, unmet("the place of the operations is not known")
	}
	res, _ := r.facts.resource(evidence.Info)
	res.Name, res.URL, res.JSONType = at, base.URL("/"+r.drawn.word+"-"+r.drawn.id), false
	return r.authorized(ctx, res)
}

// unknownVersion requests the info resource in a version that does not exist.
func unknownVersion(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	other, ok := otherVersion(res.URL, "v"+strconv.Itoa(r.source(res.Name, "version").Between(40, 999)))
	if !ok {
		return recorder.Request{}, notApplicable("the path of the info URL has no v<major> segment")
	}
	res.URL = other
	return r.authorized(ctx, res)
}

// otherVersion replaces the first segment v<major> of a path.
func otherVersion(text, version string) (string, bool) {
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
	parts[at] = version
	return withPath(u, strings.Join(parts, "/")), true
}
