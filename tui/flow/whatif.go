package flow

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// Mistake is a typical mistake of a client that the tour makes on purpose.
type Mistake struct {
	// Name is the value of the flag --what-if.
	Name string
	// Title completes "What if …".
	Title string
	// Lesson says how a client handles the answer.
	Lesson string
	// Warning is shown before the request is sent, and the person has to confirm; empty for most mistakes.
	Warning string
	rules   []requirement.ID
	// send sends the request. If ok is false, there is no answer to judge, and the result says why.
	send func(w *Walk, ctx context.Context, result *Result) (answer recorder.Answer, ok bool)
}

// Mistakes returns all mistakes, in the order of the tour.
func Mistakes() []Mistake {
	return []Mistake{
		{Name: "no-token", Title: "the token is missing", rules: []requirement.ID{"BRR-01", "BRR-02", "BRR-03", "BRR-04"},
			Lesson: "401 without an error code: the request had no token. Send one; the registration of your client is fine.",
			send: func(w *Walk, ctx context.Context, result *Result) (recorder.Answer, bool) {
				return w.exchange(ctx, result, probe.Labelled("info.no-token", w.info().Get()), connectionTrouble)
			}},
		{Name: "garbage", Title: "the token is garbage", rules: []requirement.ID{"BRR-06", "BRR-07", "BRR-08"},
			Lesson: "401 with error=\"invalid_token\": fetch a new token once and try again. If that fails, too, stop: more attempts do not help.",
			send: func(w *Walk, ctx context.Context, result *Result) (recorder.Answer, bool) {
				return w.exchange(ctx, result, probe.Labelled("info.garbage", w.info().GetWith("", "Bearer conformance.invalid.token")), connectionTrouble)
			}},
		{Name: "expired", Title: "the token has expired", rules: []requirement.ID{"BRR-10"},
			Lesson: "The same 401: for a client an expired token is an invalid one. Fetch a new token shortly before the time in expires_in ends, and you never see this answer.", send: (*Walk).sendExpired},
		{Name: "tampered", Title: "somebody changed a letter of the token", rules: []requirement.ID{"BRR-09"},
			Lesson: "One letter of the signature differs, and the node refuses the token: this is what the signature is for.", send: (*Walk).sendTampered},
		{Name: "wrong-secret", Title: "the secret is wrong", rules: []requirement.ID{"TER-01", "TER-02"},
			Lesson: "invalid_client, from the authorization server: the credentials are wrong, so do not repeat the request. Some servers lock a client after a few attempts.", send: (*Walk).sendWrongSecret},
		{Name: "no-role", Title: "the account lacks the role", rules: []requirement.ID{"BRR-18", "BRR-19"},
			Lesson: "403, although the token is good: the authorization server knows the client, but the funding service gives it no access. Ask the operator of the service for role and affiliation.", send: (*Walk).sendWithoutRole},
		{Name: "token-in-url", Title: "the token is in the URL", rules: []requirement.ID{"BRR-14"},
			Lesson:  "A URL ends up in logs, histories and Referer headers, and reveals the token there (RFC 6750 §5.3). So a node refuses it.",
			Warning: "The access log of the node will show the token. It is a new one that is used for nothing else.", send: (*Walk).sendInURL},
	}
}

// MakeMistake makes a mistake and judges the answer.
func (w *Walk) MakeMistake(ctx context.Context, m Mistake) Result {
	result := Result{Step: WhatIf}
	// A refusal proves nothing unless the same request succeeds with a good token.
	if control, ok := w.latest(evidence.Info.With(evidence.OK)); !ok || control.Status()/100 != 2 {
		if control := w.CallInfo(ctx); !control.OK() {
			result.Exchanges, result.Trouble = control.Exchanges, control.Trouble
			return result
		}
	}
	answer, ok := m.send(w, ctx, &result)
	if !ok {
		return result
	}
	if answer.Status/100 == 2 {
		result.Notes = append(result.Notes, fmt.Sprintf("Status %d: the node accepts the request as if nothing were wrong.", answer.Status))
	} else {
		result.Notes = append(result.Notes, fmt.Sprintf("Status %d %s.", answer.Status, http.StatusText(answer.Status)), m.Lesson)
	}
	result.Verdicts = w.judge(m.rules...)
	return result
}

func (w *Walk) sendTampered(ctx context.Context, result *Result) (answer recorder.Answer, ok bool) {
	token, ok := w.bearer(ctx, result)
	if !ok {
		return recorder.Answer{}, false
	}
	changed := tokenforge.Tamper(token)
	request := probe.Labelled("info.tampered", w.info().GetWith("tampered_token", "Bearer "+changed))
	request.Conceal = map[string]string{"tampered_token": changed}
	return w.exchange(ctx, result, request, connectionTrouble)
}

// sendExpired sends the expired token of the account, or the token of the walk once it has expired.
func (w *Walk) sendExpired(ctx context.Context, result *Result) (answer recorder.Answer, ok bool) {
	token := w.Target().ExpiredToken.Reveal()
	if issued, ok := w.Token(); token == "" && ok {
		if remaining := issued.Remaining(w.Now()); remaining > 0 {
			result.Notes = []string{fmt.Sprintf("Your token is valid for another %s: come back later, or start with --expired-token.", evidence.Duration(remaining))}
			return recorder.Answer{}, false
		}
		token = issued.Value
	}
	request := probe.Labelled("info.expired", w.info().GetWith(probe.ExpiredToken, "Bearer "+token))
	request.Presents = token
	return w.exchange(ctx, result, request, connectionTrouble)
}

func (w *Walk) sendWrongSecret(ctx context.Context, result *Result) (answer recorder.Answer, ok bool) {
	t := w.Target()
	wrong, err := tokenforge.Misspell(t.Credentials.ClientSecret.Reveal(), w.options.Random)
	if err != nil {
		result.Trouble = localTrouble(fmt.Errorf("generate a wrong secret: %w", err))
		return recorder.Answer{}, false
	}
	good := probe.Credentialed(t.Credentials)
	request := probe.Labelled("token.wrong-secret",
		probe.TokenRequest(t, probe.ClientSecret, good[0], good[1], probe.Field{Name: "client_secret", Value: wrong}))
	request.NoRetry, request.Conceal = true, map[string]string{"wrong_secret": wrong}
	return w.exchange(ctx, result, request, connectionTrouble)
}

func (w *Walk) sendWithoutRole(ctx context.Context, result *Result) (answer recorder.Answer, ok bool) {
	if w.Target().Second == nil {
		result.Notes = []string{"This needs a second client, one without the role: start with --client-id2 and --client-secret2."}
		return recorder.Answer{}, false
	}
	list, ok := w.list()
	listed := false
	if ok {
		_, listed = w.latest(evidence.OperationResource(list.Key).With(evidence.OK))
	}
	if !listed { // the first client must succeed where the second one is refused
		if read := w.ListCalls(ctx, Query{}); !read.OK() {
			result.Trouble = read.Trouble
			return recorder.Answer{}, false
		}
	}
	if list, ok = w.list(); !ok {
		result.Notes = []string{"The document describes no list of funding calls, which is what the role protects."}
		return recorder.Answer{}, false
	}
	token, ok := w.secondBearer(ctx, result)
	if !ok {
		return recorder.Answer{}, false
	}
	// The info endpoint must accept the token, or else the refusal would prove nothing.
	control := probe.Labelled("info.second-client", w.info().GetWith(probe.SecondAccessToken, "Bearer "+token))
	if _, err := w.send(ctx, control); err != nil {
		result.Trouble = localTrouble(err)
		return recorder.Answer{}, false
	}
	resource := probe.Resource{Name: evidence.OperationResource(list.Key), URL: w.bases(list)[0].URL(list.Path)}
	return w.exchange(ctx, result, probe.Labelled(resource.Name.With("no-role"), resource.GetWith(probe.SecondAccessToken, "Bearer "+token)), connectionTrouble)
}

// sendInURL fetches a token that is used for nothing else, and sends it in the query string.
func (w *Walk) sendInURL(ctx context.Context, result *Result) (answer recorder.Answer, ok bool) {
	t := w.Target()
	request := probe.Labelled("token.throw-away", probe.TokenRequest(t, probe.ClientSecret, probe.Credentialed(t.Credentials)...))
	request.Issues = probe.AccessToken
	fetched, err := w.send(ctx, request)
	if err != nil {
		result.Trouble = localTrouble(err)
		return fetched, false
	}
	if result.Trouble = tokenTrouble(fetched); result.Trouble != nil {
		result.Exchanges = append(result.Exchanges, fetched.Exchange)
		return fetched, false
	}
	resource := w.info()
	u, err := url.Parse(resource.URL)
	if err != nil {
		result.Trouble = localTrouble(fmt.Errorf("parse info URL: %w", err))
		return fetched, false
	}
	query := u.Query()
	query.Set("access_token", fetched.Token)
	u.RawQuery = query.Encode()
	resource.URL = u.String()
	request = probe.Labelled("info.token-in-query", resource.Get())
	request.Credential, request.FollowSameOrigin = probe.AccessToken, false
	return w.exchange(ctx, result, request, connectionTrouble)
}
