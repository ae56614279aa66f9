package probe

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// bearerCases are the requests for the rules of bearer tokens: calls that must be refused, the good calls that are their positive controls, and
// two calls of a new URL that find shared caches, the first with a token and the second without one.
func bearerCases() []row {
	// Odd credentials come after the good call, because a node may ban a client that sends them.
	oddCredentials := in(stageOddCredentials, stageAuthorized)
	guarded := oddCredentials.alsoOn(onGuarded)
	caching := in(stageFreshURL, stageOddCredentials).alsoOn(onGuarded).inLane("cache")
	const noToken = "without a token"
	return []row{
		{Label: "P.garbage", Words: "with a garbage token", Plan: guarded, Send: garbageToken()},
		{Label: "P.tampered", Words: "with a tampered token", Plan: guarded, Send: withToken(func(_ *run, q *recorder.Request, token string) {
			forged := tokenforge.Tamper(token)
			q.Header[0].Value, q.Credential = "Bearer "+forged, "tampered_token"
			q.Conceal = map[string]string{"tampered_token": forged}
		})},
		{Label: "P.empty-bearer", Words: "with Bearer and nothing behind it", Plan: guarded, Send: rawAuthorization("Bearer")},
		{Label: "P.blank-bearer", Words: "with Bearer and a blank behind it", Plan: guarded, Send: rawAuthorization("Bearer ")},
		{Label: "P.basic-scheme", Words: "with Basic and a random secret", Plan: guarded, Send: presentOtherCredentials()},
		{Label: "P.token-scheme", Words: "with the scheme Token", Plan: guarded, Send: scheme("Token ")},
		{Label: "P.garbage-scheme", Words: "with a garbage token under the scheme Token", Plan: guarded, Send: presentRandom("Token ")},
		{Label: "P.head-ok", Plan: guarded, Send: withToken(func(_ *run, q *recorder.Request, _ string) { q.Method = http.MethodHead })},
		{Label: "P.head", Words: noToken, Plan: guarded, Send: withoutToken(func(_ *run, q *recorder.Request) { q.Method = http.MethodHead })},
		{Label: "P.method-override", Words: "without a token and with X-HTTP-Method-Override: OPTIONS", Plan: guarded, Send: withoutToken(func(r *run, q *recorder.Request) {
			value := draw.One(r.source(evidence.ProbeTarget, q.URL), "OPTIONS", "options", "Options")       // frameworks take any case
			for _, name := range []string{"X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"} { // one for each family of frameworks
				q.Header = append(q.Header, evidence.Field{Name: name, Value: value})
			}
		})},
		{Label: "P.as-browser", Words: "without a token and with the Accept header of a browser", Plan: guarded, Send: withoutToken(func(_ *run, q *recorder.Request) {
			q.Header = append(slices.DeleteFunc(q.Header, func(f evidence.Field) bool { return f.Name == "Accept" }),
				evidence.Field{Name: "Accept", Value: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"})
		})},
		{Label: "P.path-slash", Words: noToken, Plan: guarded, Send: underPath(otherSlash)},
		{Label: "P.path-double-slash", Words: noToken, Plan: guarded, Send: underPath(doubledSlash)},
		{Label: "P.path-dot", Words: noToken, Plan: guarded, Send: underPath(dotSegment)},
		{Label: "P.path-upper", Words: noToken, Plan: guarded, Send: underOtherCase},
		{Label: "P.path-suffix", Words: noToken, Plan: guarded, Send: underDrawnPath(pathParameter)},
		{Label: "P.path-encoded", Words: noToken, Plan: guarded, Send: underEncodedPath},
		{Label: "P.path-extension", Words: noToken, Plan: guarded, Send: underPath(extension)},
		{Label: "P.cached-ok", Words: "with a query that no earlier call had", Plan: caching, Send: withToken(func(r *run, q *recorder.Request, _ string) { q.URL = r.withRunQuery(q.URL) })},
		{Label: "P.cached-no-token", Words: "without a token, for a URL that was requested with a token before", Plan: caching, Send: controlled(cachedWithoutToken)},
		{Label: "P.lower-scheme", Words: "with the scheme bearer", Plan: oddCredentials, Send: scheme("bearer ")},
		{Label: "P.upper-scheme", Words: "with the scheme BEARER", Plan: oddCredentials, Send: scheme("BEARER ")},
		{Label: "P.two-blanks", Words: "with two blanks after Bearer", Plan: oddCredentials, Send: scheme("Bearer  ")},
		// The first token of the run must still work after the repeated token requests.
		{Label: "P.first-token", Words: "with the first token of the run", Plan: in(stageRest, stageAuthorized, stageTokens).onlyIf(notQuick), Send: controlled(firstTokenAgain)},
	}
}

// presentOtherCredentials sends credentials that are not a token. On the probe target they are a random id and secret by HTTP Basic. On operations they
// are real ones that only the token endpoint may accept: a client id or a client secret in place of the token, or both by HTTP Basic. An API may log what
// it refuses, so the only secret that is sent is that of the spare client, and only to the origin of the token endpoint. Other origins get the random pair.
func presentOtherCredentials() sender {
	return controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		q, id, spare := res.Get(), r.Target.Credentials.ClientID, r.Target.Spare
		q.NoRetry = true
		isToken := func(text string) bool { return strings.Trim(text, draw.Letters+draw.Digits+"-._~+/") == "" } // RFC 6750 §2.1
		kind := r.source(res.Name, "own credentials").Below(4)
		switch {
		case !r.isProbeTarget(res.Name) && kind == 0 && isToken(id):
			q.Words = "with the client id as a token"
			authorize(&q, "Bearer "+id)
		case r.isProbeTarget(res.Name) || spare == nil || evidence.OriginOf(q.URL) != evidence.OriginOf(r.Target.TokenURL):
			authorize(&q, basic(r.drawn.clientID, r.drawn.unknownSecret))
		case kind == 1 && isToken(spare.ClientSecret.Reveal()):
			q.Words, q.Credential = "with a client secret as a token", SpareSecret
			authorize(&q, "Bearer "+spare.ClientSecret.Reveal())
		default:
			q.Words, q.Credential = "with Basic and the credentials of a client", SpareSecret
			authorize(&q, basic(url.QueryEscape(spare.ClientID), url.QueryEscape(spare.ClientSecret.Reveal())))
		}
		return q, nil
	})
}

// isProbeTarget reports whether the bearer rules are tried on a resource.
func (r *run) isProbeTarget(at evidence.Resource) bool {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return r.facts.protected == at
}

// garbageToken sends a token that was never issued.
func garbageToken() sender { return presentRandom("Bearer ") }

// presentRandom sends a random value that has the shape of the good token. scheme comes before it, with its space.
func presentRandom(scheme string) sender {
	return controlled(func(ctx context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		good, reason := r.token(ctx)
		value := r.source(res.Name, scheme).Like(good)
		q := res.GetWith(drawnToken, scheme+value)
		q.Presents = value
		return q, reason
	})
}

// authorize gives a request an Authorization header, before the other fields.
func authorize(q *recorder.Request, value string) {
	q.Header = append([]evidence.Field{{Name: "Authorization", Value: value}}, q.Header...)
}

// rawAuthorization sends a value that net/http would change.
func rawAuthorization(value string) sender {
	return withoutToken(func(_ *run, q *recorder.Request) {
		authorize(q, value)
		q.Raw, q.FollowSameOrigin = true, false
	})
}

// scheme sends the good token under another scheme.
func scheme(prefix string) sender {
	return withToken(func(_ *run, q *recorder.Request, token string) { q.Header[0].Value = prefix + token })
}

// cachedWithoutToken sends the request of the case cached-ok again, without its token.
func cachedWithoutToken(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	good := res.Name.With("cached-ok")
	switch {
	case r.facts.good(good):
		res.URL = r.withRunQuery(res.URL)
		return res.Get(), nil
	case isStrictAboutQueries(r.facts.status(good)): // the URL without the query was called with the token before, too
		return res.Get(), nil
	}
	return recorder.Request{}, unmet("the same URL with a token (%s) was not answered with 2xx", good)
}

// firstTokenAgain sends the first token of the run, after others were issued.
func firstTokenAgain(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
	if !r.facts.good("token.repeat-3") {
		return recorder.Request{}, unmet("the repeated token requests yielded no token")
	}
	r.facts.mu.Lock()
	first := r.facts.first
	r.facts.mu.Unlock()
	if r.Clock().Sub(first.Obtained) >= first.Life {
		return recorder.Request{}, notApplicable("the first token of the run has expired by itself")
	}
	return res.Authorized(first.Value), nil
}

// isStrictAboutQueries reports whether a node refuses unknown query parameters: status is its answer to a good call with such a parameter.
func isStrictAboutQueries(status int) bool {
	return status == http.StatusBadRequest || status == http.StatusForbidden || status == http.StatusNotFound || status == http.StatusUnprocessableEntity
}

// withRunQuery adds a query parameter that is drawn for each run, so that caches have no earlier answer.
func (r *run) withRunQuery(text string) string {
	return withQuery(text, pair{r.drawn.word, r.drawn.id})
}

// pathParts is a path in three parts: what comes before the last segment, the last segment, and the slashes after it.
type pathParts struct{ parent, last, slash string }

// underPath requests a variant of the path without a token. Servers and gateways may treat the variant and the path as the same (RFC 3986 §6.2).
func underPath(variant func(pathParts) string) sender {
	return controlled(func(_ context.Context, r *run, res Resource) (recorder.Request, *unsent) {
		text, ok := pathVariant(res.URL, variant)
		if !ok {
			return recorder.Request{}, notApplicable("the path of %s has no such variant", res.Name)
		}
		res.URL = text
		return res.Get(), nil
	})
}

// underDrawnPath is [underPath] for a variant that is drawn.
func underDrawnPath(variant func(s draw.Source) func(pathParts) string) sender {
	return func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
		return underPath(variant(r.source(at, "path variant")))(ctx, r, at)
	}
}

// pathVariant replaces the path of a URL and keeps its query. ok is false if the path has no such variant.
func pathVariant(text string, variant func(pathParts) string) (other string, ok bool) {
	u, err := url.Parse(text)
	if err != nil {
		return "", false
	}
	path := u.EscapedPath()
	bare := strings.TrimRight(path, "/")
	if bare == "" {
		return "", false
	}
	cut := strings.LastIndexByte(bare, '/') + 1
	path = variant(pathParts{bare[:cut], bare[cut:], path[len(bare):]})
	if path == "" {
		return "", false
	}
	return withPath(u, path), true
}

// withPath returns a URL with another path, which must be escaped.
func withPath(u *url.URL, path string) string {
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	return schemeAndHost(u) + path
}

// otherSlash adds a slash at the end, or removes the slashes there.
func otherSlash(p pathParts) string {
	if p.slash == "" {
		return p.parent + p.last + "/"
	}
	return p.parent + p.last
}

func doubledSlash(p pathParts) string { return p.parent + "/" + p.last + p.slash }
func dotSegment(p pathParts) string   { return p.parent + "./" + p.last + p.slash }
func extension(p pathParts) string    { return p.parent + p.last + ".json" + p.slash }

// pathParameter adds a parameter to the last segment.
func pathParameter(s draw.Source) func(pathParts) string {
	parameter := ";" + s.Word() + "=" + s.Text(draw.Digits, 2)
	return func(p pathParts) string { return p.parent + p.last + parameter + p.slash }
}

// otherCase changes the case of the first letter in the last segment that begins with a letter. It leaves escaped bytes alone, because their case has no
// meaning.
func otherCase(p pathParts) string {
	path, cut := p.parent+p.last, len(p.parent)
	for cut > 0 && cut < len(path) {
		if c := path[cut]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			return path[:cut] + string(c^0x20) + path[cut+1:] + p.slash
		}
		cut = strings.LastIndexByte(path[:cut-1], '/') + 1
	}
	return ""
}

// otherCaseBefore changes the case of the first letter of each segment before the last: a guard may look for the exact prefix of an API, and the router
// ignores case. Without such segments it is [otherCase].
func otherCaseBefore(p pathParts) string {
	segments := strings.Split(p.parent, "/")
	for i, segment := range segments {
		if segment != "" {
			segments[i] = swapFirstLetter(segment)
		}
	}
	if parent := strings.Join(segments, "/"); parent != p.parent {
		return parent + p.last + p.slash
	}
	return otherCase(p)
}

// drawnCase is [otherCase] or [otherCaseBefore].
func drawnCase(s draw.Source) func(pathParts) string { return draw.One(s, otherCase, otherCaseBefore) }

// underOtherCase sends [otherCase] to one of the list and the detail, and [otherCaseBefore] to the other. For info, kinds of the family
// [evidence.PathDetours] change other segments.
func underOtherCase(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	before := r.Target.Seed.Source("case of paths").Below(2) == 0
	if at == evidence.OperationResource(r.node.Detail) {
		before = !before
	}
	if before && at != evidence.Info {
		return underPath(otherCaseBefore)(ctx, r, at)
	}
	return underPath(otherCase)(ctx, r, at)
}

// encodedLetter percent-encodes a letter or digit of the last segment, which does not change the meaning of the URL (RFC 3986 §6.2.2.2). It leaves a segment
// with escapes alone.
func encodedLetter(s draw.Source) func(pathParts) string {
	return func(p pathParts) string {
		encoded := escapeOne(s, p.last)
		if encoded == p.last {
			return ""
		}
		return p.parent + encoded + p.slash
	}
}

// encodedLetters percent-encodes a letter or digit of each segment, also of the prefix that a guard may compare.
func encodedLetters(s draw.Source) func(pathParts) string {
	return func(p pathParts) string {
		segments := strings.Split(p.parent+p.last, "/")
		for i, segment := range segments {
			segments[i] = escapeOne(s, segment)
		}
		if encoded := strings.Join(segments, "/"); encoded != p.parent+p.last {
			return encoded + p.slash
		}
		return ""
	}
}

// underEncodedPath requests the path with one encoded letter in each segment, or in the last one alone. The list gets one form, and the detail the other.
func underEncodedPath(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	each := r.source(evidence.ListOperation, "encoded path").Below(2) == 0
	if at == evidence.OperationResource(r.node.Detail) {
		each = !each
	}
	if each {
		return underDrawnPath(encodedLetters)(ctx, r, at)
	}
	return underDrawnPath(encodedLetter)(ctx, r, at)
}

// pair is one query parameter.
type pair struct{ name, value string }

// withQuery sets parameters in the query of a URL, percent-encoded. A parameter replaces one of the same name, such as a required one; others are
// appended in their order.
func withQuery(text string, pairs ...pair) string {
	address, query, hasQuery := strings.Cut(text, "?")
	var fields []string
	if hasQuery && query != "" {
		fields = strings.Split(query, "&")
	}
	for _, p := range pairs {
		field := url.QueryEscape(p.name) + "=" + url.QueryEscape(p.value)
		if i := slices.IndexFunc(fields, p.names); i >= 0 {
			fields[i] = field
		} else {
			fields = append(fields, field)
		}
	}
	if len(fields) == 0 {
		return text
	}
	return address + "?" + strings.Join(fields, "&")
}

// names reports whether a field of a query has the name of the parameter.
func (p pair) names(field string) bool {
	name, _, _ := strings.Cut(field, "=")
	plain, err := url.QueryUnescape(name)
	return err == nil && plain == p.name
}
