package requirement

import (
	"bytes"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// sweep groups the recorded answers for the rules that apply to all answers of a kind. The log is read once for all of these rules, because reading it
// again for each rule takes long.
type sweep struct {
	// tokens are the answers with a token to requests that may yield one, including the first.
	tokens []evidence.Exchange
	// refusals are the error answers of the token endpoint in JSON.
	refusals []evidence.Exchange
	// unauthorized are the 401 answers of the guard of the API, whatever was sent.
	unauthorized []evidence.Exchange
	// granted are the 2xx answers of guarded resources of the API to requests with a token of the run.
	granted []evidence.Exchange
	// dated are the answers that must have a Date header.
	dated []evidence.Exchange
}

// sweepOf groups the answers of a log.
func sweepOf(e Evidence) *sweep {
	s := &sweep{}
	guarded, _ := guardedOperations(e)
	own := ownTokenRequests()
	for _, x := range e.Exchanges {
		if x.Response == nil {
			continue
		}
		if len(x.Tokens) > 0 && own[x.Label] {
			s.tokens = append(s.tokens, x)
		}
		if isTokenRequest(x) && clientError(x) && !rateLimited(x) && jsonMedia(mediaType(x)) && len(x.Response.Body) > 0 {
			s.refusals = append(s.refusals, x)
		}
		r, odd := x.Label.Resource(), mayFailBeforeRouting(x)
		isOfAPI := r == evidence.Info || r == evidence.Specification || r == evidence.API || slices.Contains(e.Roles.Operations, r)
		if isOfAPI && x.Status() == 401 && isAnsweredByGuard(e, x) {
			s.unauthorized = append(s.unauthorized, x)
		}
		if success(x) && (r == evidence.Info || slices.Contains(guarded, r)) && !lacksGoodToken(x) {
			s.granted = append(s.granted, x)
		}
		isCleartext := strings.HasPrefix(string(r), "cleartext/") // a TLS server refuses those before it speaks HTTP
		if isNodeAnswer(x) && x.Status() < 500 && !odd && !isCleartext && !x.Request.Raw && !answeredInFront(x) {
			s.dated = append(s.dated, x)
		}
	}
	return s
}

// isTokenRequest reports whether any client of the run sent the request to the token endpoint of the node.
func isTokenRequest(x evidence.Exchange) bool {
	switch x.Label.Resource() {
	case evidence.TokenEndpoint, evidence.SecondClient, evidence.OtherClient, evidence.SpareClient:
		return true
	}
	return false
}

// sendsCredentials reports whether a request has an Authorization header.
func sendsCredentials(x evidence.Exchange) bool {
	return len(evidence.Values(x.Request.Header, "Authorization")) > 0
}

func sendsNoCredentials(x evidence.Exchange) bool { return !sendsCredentials(x) }

// isAnsweredByGuard reports whether a 401 is the answer of the guard of the API. A server in front of the application may have sent a page of its own. That
// server is the guard if it answers the plain call without a token with such a page, too. Another spelling of the path may lead to another application,
// unless its answer is like the plain refusal.
func isAnsweredByGuard(e Evidence, x evidence.Exchange) bool {
	plain := e.exchange(x.Label.Resource().With(evidence.NoToken))
	switch {
	case answeredInFront(x):
		return plain.Status() == 401 && answeredInFront(plain)
	case hasOtherPath(x, plain):
		return plain.Status() == 401 && isAlike(x, plain)
	}
	return true
}

// hasOtherPath reports whether a call has another spelling of the path than the plain call.
func hasOtherPath(x, plain evidence.Exchange) bool {
	if slices.Contains(pathVariants(), x.Label.Case()) || x.Family == evidence.PathDetours || callsOtherVersion(x) || x.Label.Case() == otherSlash {
		return true
	}
	return x.Family == evidence.RoleDetours && pathOf(x.Request.URL) != pathOf(plain.Request.URL)
}

// pathOf returns the path of a URL as it was sent, or "" if the URL cannot be parsed.
func pathOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.EscapedPath()
}

// isAlike reports whether two refusals may come from one application: they have the same media type, and the same members or the same text.
func isAlike(a, b evidence.Exchange) bool {
	if mediaType(a) != mediaType(b) {
		return false
	}
	one, isObject := jsonObject(a)
	other, isOtherObject := jsonObject(b)
	if isObject && isOtherObject {
		return maps.EqualFunc(one, other, func(any, any) bool { return true })
	}
	return bytes.Equal(a.Response.Body, b.Response.Body)
}

// withoutOddInput returns a filter that also leaves out requests with odd input. Their answers need only some challenge, which BRR-02 and BRR-07 judge.
func withoutOddInput(fits func(evidence.Exchange) bool) func(evidence.Exchange) bool {
	return func(x evidence.Exchange) bool { return !mayFailBeforeRouting(x) && fits(x) }
}

// anyRequest is a filter that leaves out no request.
func anyRequest(evidence.Exchange) bool { return true }

// withoutEvidence adapts a check that needs only the answer.
func withoutEvidence(check func(x evidence.Exchange) Judgement) func(Evidence, evidence.Exchange) Judgement {
	return func(_ Evidence, x evidence.Exchange) Judgement { return check(x) }
}

// sendsNoAuthentication reports whether a request has no authentication information. Cookies, secrets in the URL and headers of a proxy count as such.
func sendsNoAuthentication(x evidence.Exchange) bool {
	c := x.Label.Case()
	hasCookie := len(evidence.Values(x.Request.Header, "Cookie")) > 0
	hasSecretInURL := strings.Contains(x.Request.URL, markerStart) // a redacted value
	hasProxyHeader := c == "identity-headers" || x.Family == evidence.HeaderDetours ||
		slices.ContainsFunc(identityHeaders(), func(h identityHeader) bool { return h.c == c })
	return !sendsCredentials(x) && !hasCookie && !hasSecretInURL && !hasProxyHeader
}

// sendsToken reports whether a request has a good or bad token in the right place and form. It leaves out other spellings of the scheme, which BRR-13
// judges; values that are not a b64token, because the node may call the request invalid; and tokens that lack only the role.
func sendsToken(x evidence.Exchange) bool {
	scheme, token, _ := strings.Cut(strings.Join(evidence.Values(x.Request.Header, "Authorization"), ","), " ")
	isRedacted := strings.HasPrefix(token, markerStart) && !strings.Contains(token, ",")
	return scheme == "Bearer" && (isRedacted || isB64Token(token)) && !sendsRolelessToken(x)
}

// isB64Token reports whether text is a b64token (RFC 6750 §2.1).
func isB64Token(text string) bool {
	text = strings.TrimRight(text, "=")
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~+/", r)
	})
}

// onEvery401 returns a check that judges the case c on the probe target with first, and every other 401 of the API to a fitting request with other.
func onEvery401(c evidence.Case, fits func(x evidence.Exchange) bool, first func(x evidence.Exchange) Judgement, other func(e Evidence, x evidence.Exchange) Judgement) func(Evidence) Judgement {
	return func(e Evidence) Judgement {
		x := e.exchange(evidence.ProbeTarget.With(c))
		return onEvery(first(x), x.Label, e.sweep().unauthorized, func(x evidence.Exchange) Judgement {
			if !fits(x) {
				return Judgement{Outcome: Pass}
			}
			return other(e, x)
		})
	}
}

// onEvery adds the faults of other answers to the judgement of the first one. Without a fault the first judgement stays.
func onEvery(first Judgement, label evidence.Label, answers []evidence.Exchange, check func(x evidence.Exchange) Judgement) Judgement {
	parts := []Judgement{first}
	for _, x := range answers {
		if x.Label == label {
			continue
		}
		if j := check(x); j.Outcome == Fail || j.Outcome == Warn {
			parts = append(parts, j)
		}
	}
	if j := gather(withoutRepeats(parts)...); j.Outcome != Pass {
		return j
	}
	return first
}
