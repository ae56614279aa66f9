package requirement

import (
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// sweep holds the recorded answers by the rules that apply to all answers of a kind. The log is sorted once for all of these rules: judging would
// take longer with each rule if every rule read the whole log.
type sweep struct {
	// tokens are the answers with a token that had to come, the first one among them.
	tokens []evidence.Exchange
	// refusals are the error answers of the token endpoint in JSON.
	refusals []evidence.Exchange
	// unauthorized are the 401s of the API that the node itself wrote, without those to odd input.
	unauthorized []evidence.Exchange
	// granted are the 2xx answers of guarded resources of the API to requests with a token of the run.
	granted []evidence.Exchange
	// dated are the answers in which the node has to send its time.
	dated []evidence.Exchange
}

// sweepOf sorts the answers of a log.
func sweepOf(e Evidence) *sweep {
	s := &sweep{}
	guarded, _ := guardedOperations(e)
	for _, x := range e.Exchanges {
		if x.Response == nil {
			continue
		}
		if len(x.Tokens) > 0 && tokenDue(x.Label) {
			s.tokens = append(s.tokens, x)
		}
		if ofTokenEndpoint(x) && clientError(x) && !rateLimited(x) && jsonMedia(mediaType(x)) && len(x.Response.Body) > 0 {
			s.refusals = append(s.refusals, x)
		}
		r, odd := x.Label.Resource(), beforeRouting(x)
		ofAPI := r == evidence.Info || r == evidence.Specification || r == evidence.API || slices.Contains(e.Roles.Operations, r)
		if ofAPI && x.Status() == 401 && !odd && !inFront(x) {
			s.unauthorized = append(s.unauthorized, x)
		}
		if success(x) && (r == evidence.Info || slices.Contains(guarded, r)) && !withoutGoodCredential(x) {
			s.granted = append(s.granted, x)
		}
		inTheClear := strings.HasPrefix(string(r), "cleartext/") // a TLS server refuses those before it speaks HTTP
		if ofNode(x) && x.Status() < 500 && !odd && !inTheClear && !x.Request.Raw && !inFront(x) {
			s.dated = append(s.dated, x)
		}
	}
	return s
}

// ofTokenEndpoint reports a request to the token endpoint of the node, by whichever client.
func ofTokenEndpoint(x evidence.Exchange) bool {
	switch x.Label.Resource() {
	case evidence.TokenEndpoint, evidence.SecondClient, evidence.OtherClient, evidence.SpareClient:
		return true
	}
	return false
}

// sendsCredentials reports a request with an Authorization header.
func sendsCredentials(x evidence.Exchange) bool {
	return len(evidence.Values(x.Request.Header, "Authorization")) > 0
}

func sendsNoCredentials(x evidence.Exchange) bool { return !sendsCredentials(x) }

func always(evidence.Exchange) bool { return true }

// sameForEach is a check of the first answer for the others.
func sameForEach(check func(x evidence.Exchange) Judgement) func(Evidence, evidence.Exchange) Judgement {
	return func(_ Evidence, x evidence.Exchange) Judgement { return check(x) }
}

// sendsNothing reports a request without any authentication information. The headers of a proxy and cookies may be some.
func sendsNothing(x evidence.Exchange) bool {
	c := x.Label.Case()
	return !sendsCredentials(x) && len(evidence.Values(x.Request.Header, "Cookie")) == 0 && !strings.Contains(x.Request.URL, "[[") && c != "identity-headers" && x.Family != evidence.HeaderDetours &&
		!slices.ContainsFunc(identityHeaders(), func(h identityHeader) bool { return h.c == c })
}

// sendsToken reports a request with a token in the right place and form, good or bad. It leaves out other spellings of the scheme, which BRR-13
// judges; values that are no b64token, because the node may call the request invalid; and tokens that lack only the role.
func sendsToken(x evidence.Exchange) bool {
	scheme, token, _ := strings.Cut(strings.Join(evidence.Values(x.Request.Header, "Authorization"), ","), " ")
	return scheme == "Bearer" && token != "" && (strings.HasPrefix(token, "[[") && !strings.Contains(token, ",") || isB64Token(token)) && !sendsRoleless(x)
}

// isB64Token reports a b64token (RFC 6750 §2.1).
func isB64Token(text string) bool {
	text = strings.TrimRight(text, "=")
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-._~+/", r)
	})
}

// onEvery401 makes a check of one case on the probe target with first, and of every other 401 of the API to a request that fits with other.
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
	if j := gather(distinct(parts)...); j.Outcome != Pass {
		return j
	}
	return first
}
