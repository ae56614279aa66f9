package requirement

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file judges every refusal of the token endpoint, whatever the request was sent for: a rule that holds for one wrong request is often forgotten
// for another, or for another client.

// furtherRefusals returns the refusals of forms that any server can read, without those that TER-03 and TER-04 judge one by one. A lock after wrong
// secrets and a limit of the rate say nothing about the request.
func furtherRefusals(e Evidence) []evidence.Exchange {
	var out []evidence.Exchange
	judged := append(judgedRefusals(), evidence.TokenEndpoint.With("preflight"))
	for _, x := range e.Exchanges {
		c := x.Label.Case()
		readable := x.Request.Method == "POST" && !slices.Contains(oddForms(), c) && !slices.Contains([]evidence.Case{"secret-null", "secret-padded", "secret-not", "secret-list"}, c)
		if isTokenRequest(x) && x.Answered() && !hasToken(x) && !rateLimited(x) && !wafPage(x) && readable && !slices.Contains(judged, x.Label) {
			out = append(out, x)
		}
	}
	return out
}

// judgeFurtherStatus judges the status of any refusal. TER-09 and TER-12 judge a crash on a scope that the server names, or on a repeated parameter.
func judgeFurtherStatus(e Evidence, x evidence.Exchange) Judgement {
	c := string(x.Label.Case())
	code, want := oauthError(x), expect(x, "400 or 401")
	request := "a token request " + x.Words
	if strings.HasPrefix(x.Words, "the ") {
		request = x.Words
	}
	switch {
	case x.Status() == 500 && !strings.Contains(c, "scope") && !strings.HasPrefix(c, "repeated"): // 502 to 504 come from a server in front
		reason := request + " crashes the token endpoint"
		if isWrongSecret(x) {
			reason = "a wrong secret crashes the token endpoint"
		}
		if !crashesAgain(e, x) {
			return want.warned(reason+"; rin did not repeat the request, so this may be chance", describe(x)).Hinting(crashHint)
		}
		return want.failed(reason, describe(x)).
			Hinting("compare secrets as bytes, in UTF-8: encoders for ASCII and Latin-1, and databases that take no NUL, fail on what a client may send; expect any value, or none, in each parameter")
	case success(x) && code != "":
		return want.failed("a refusal has a status of success: "+request+" is answered "+fmt.Sprint(x.Status()), describeError(x))
	case x.Status() == 401 && slices.Contains([]string{"unsupported_grant_type", "invalid_scope"}, code):
		return expect(x, "400").failed("401 is only for a failed authentication of the client, but "+request+" is refused with 401 and "+code, describeError(x))
	}
	return Judgement{Outcome: Pass}
}

// crashHint is the fix for a crash that was seen once.
const crashHint = "look for this request in the log of the authorization server, and repeat the run"

// crashesAgain reports whether the token endpoint crashed twice: on the same request, or on another wrong one.
func crashesAgain(e Evidence, x evidence.Exchange) bool {
	return x.Attempts > 1 || slices.ContainsFunc(e.Exchanges, func(y evidence.Exchange) bool {
		return isTokenRequest(y) && y.Label != x.Label && y.Status() == 500
	})
}

// isWrongSecret reports whether a client that exists presents a secret that is not its own.
func isWrongSecret(x evidence.Exchange) bool {
	drawn := x.Label.Resource() == evidence.SpareClient && x.Family == evidence.WrongSecrets
	return drawn || slices.Contains([]evidence.Label{evidence.SecondClient.With("wrong-secret"), evidence.SecondClient.With("secret-blanks"), evidence.SecondClient.With("crossed")}, x.Label)
}

// judgeFurtherBody judges the form of any refusal of a request with an id and a secret. Without these, a filter in front of the token endpoint may answer.
func judgeFurtherBody(e Evidence, x evidence.Exchange) Judgement {
	if !namesClient(x) || x.Status() != 400 && x.Status() != 401 {
		return Judgement{Outcome: Pass}
	}
	if sendsCredentials(x) && len(x.Response.Body) == 0 { // as Spring Authorization Server answers
		return Judgement{Outcome: Pass}
	}
	if sendsCredentials(x) && !isTokenAnswer(e.exchange(evidence.TokenEndpoint.With("basic"))) { // without HTTP Basic, a server in front may refuse the request
		return Judgement{Outcome: Pass}
	}
	return judgeTokenError(x)
}

// namesClient reports whether a request has an id and a secret in its form, or authenticates by HTTP Basic.
func namesClient(x evidence.Exchange) bool {
	form, _ := url.ParseQuery(string(x.Request.Body)) // keeps the pairs that can be read
	return form.Get("client_id") != "" && form.Get("client_secret") != "" || authenticatesByBasic(x)
}

// authenticatesByBasic reports whether a request authenticates by HTTP Basic.
func authenticatesByBasic(x evidence.Exchange) bool {
	return slices.ContainsFunc(evidence.Values(x.Request.Header, "Authorization"), func(value string) bool {
		return len(value) > 6 && strings.EqualFold(value[:6], "basic ")
	})
}

// judgeFurtherCode judges the code with which other clients are refused: those that do not exist, and the wrong secrets of those that do.
func judgeFurtherCode(x evidence.Exchange) Judgement {
	unknown := slices.Contains([]evidence.Label{evidence.TokenEndpoint.With("unknown-form"), evidence.TokenEndpoint.With("basic-unknown-client")}, x.Label)
	if !unknown && !isWrongSecret(x) || !slices.Contains([]string{"unsupported_grant_type", "invalid_scope", "server_error", "access_denied"}, oauthError(x)) {
		return Judgement{Outcome: Pass} // servers have codes of their own for clients that are locked or closed
	}
	return expect(x, "error: \"invalid_client\"").failed("a client that fails to authenticate is refused with a code that means something else", describeError(x))
}

// judgeDescription judges the characters of error and error_description. Quotes and line breaks are common: Azure and Authlib send them.
func judgeDescription(x evidence.Exchange) Judgement {
	o, _ := jsonObject(x)
	for _, name := range []string{"error", "error_description"} {
		text, _ := o[name].(string)
		foreign := strings.ContainsFunc(text, func(r rune) bool { return (r < 0x20 || r > 0x7e) && !strings.ContainsRune("\t\r\n", r) })
		if fault, _ := encodingFault(x); foreign && fault == "" {
			return expect(x, "printable ASCII (RFC 6749 §5.2)").failed(name+" of a refusal has characters outside ASCII", name+": "+quote(text)).
				Hinting("write error and error_description in English, and put what people read into a member of its own or into a page behind error_uri")
		}
	}
	return Judgement{Outcome: Pass}
}

// basicFailures returns the failed authentications by HTTP Basic alone, which must all be answered alike.
func basicFailures(e Evidence) []evidence.Exchange {
	return slices.DeleteFunc(furtherRefusals(e), func(x evidence.Exchange) bool {
		alone := isWrongSecret(x) && x.Label.Case() != "secret-empty" || x.Label == evidence.TokenEndpoint.With("basic-unknown-client")
		code := oauthError(x)
		return !alone || !authenticatesByBasic(x) || x.Status() != 401 && (x.Status() != 400 || code != "invalid_client")
	})
}

// judgeBasicChallenges compares the failures by HTTP Basic. Some servers never send a challenge; a server that sends it in some answers forgot it in the
// others.
func judgeBasicChallenges(e Evidence) []Judgement {
	var right, wrong []evidence.Exchange
	for _, x := range basicFailures(e) {
		challenges, _ := evidence.ParseChallenges(header(x, "WWW-Authenticate"))
		asks := slices.ContainsFunc(challenges, func(c evidence.Challenge) bool { return strings.EqualFold(c.Scheme, "Basic") })
		if asks && x.Status() == 401 {
			right = append(right, x)
		} else {
			wrong = append(wrong, x)
		}
	}
	if len(right) == 0 {
		return nil
	}
	var parts []Judgement
	for _, x := range wrong {
		parts = append(parts, expect(x, "401 with WWW-Authenticate: Basic …, as after "+e.RequestName(right[0].Label)).
			failed("a failed authentication by HTTP Basic is not answered 401 with a challenge, as others are", fmt.Sprintf("%s, %s", describeError(x), headerText(x, "WWW-Authenticate"))))
	}
	return parts
}

// repeatedLabels returns the requests that repeat one parameter each.
func repeatedLabels() []evidence.Label {
	return atToken("repeated-grant-type", "repeated-client-id", "repeated-client-secret", "repeated-scope")
}

// judgeRepetitions judges each repeated parameter, and compares them. Spring Authorization Server takes a repeated grant_type, and oauthlib a
// repeated id and secret.
func judgeRepetitions(e Evidence) Judgement {
	parts := []Judgement{judgeRepeatedParameter(e.exchange(repeatedLabels()[0]))}
	refused, accepted := map[evidence.Case]bool{}, map[evidence.Case]bool{}
	for _, l := range repeatedLabels() {
		x, sent := e.Get(l)
		if !sent || !x.Answered() {
			continue
		}
		refused[l.Case()] = !hasToken(x) && oauthError(x) == "invalid_request"
		accepted[l.Case()] = hasToken(x)
		if l != repeatedLabels()[0] && (hasToken(x) || serverError(x)) {
			parts = append(parts, judgeRepeatedParameter(x))
		}
	}
	const grant, id, secret, scope = "repeated-grant-type", "repeated-client-id", "repeated-client-secret", "repeated-scope"
	// addIfForgotten adds a failure if one repeated parameter is accepted, although the others are refused.
	addIfForgotten := func(c evidence.Case, others ...evidence.Case) {
		if !accepted[c] || slices.ContainsFunc(others, func(other evidence.Case) bool { return !refused[other] }) {
			return
		}
		x := e.exchange(evidence.TokenEndpoint.With(c))
		parts = append(parts, expect(x, "400 with error invalid_request").failed("a repeated parameter is accepted, and others are refused: "+e.RequestName(x.Label), describeError(x)))
	}
	addIfForgotten(secret, id)
	addIfForgotten(id, secret)
	addIfForgotten(scope, grant, id, secret)
	return gather(withoutRepeats(parts)...)
}
