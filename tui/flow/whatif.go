package flow

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// Mistake is one that a client can make, made on purpose.
type Mistake struct {
	// Name is its word on the command line.
	Name string
	// Title completes "What if …".
	Title string
	// Lesson says what a client does about the answer.
	Lesson string
	// Question says that it is sent after a question only, and what to ask; empty for the others.
	Question string
	// rules judge the answer.
	rules []requirement.ID
	// send asks for it; unsent says why it could not be, in a sentence.
	send func(w *Walk, ctx context.Context, scene *Result) (answer recorder.Answer, unsent string, err error)
}

// Mistakes are all of them, in the order in which they teach best.
func Mistakes() []Mistake {
	return []Mistake{
		{Name: "no-token", Title: "the token is forgotten", rules: []requirement.ID{"BRR-01", "BRR-02", "BRR-03", "BRR-04"},
			Lesson: "401 without an error code: the request lacked a token. Send one; nothing is wrong with your client's registration.", send: simpleMistake(func(r probe.Resource) recorder.Request { return r.Get(evidence.NoToken) })},
		{Name: "garbage", Title: "the token is garbage", rules: []requirement.ID{"BRR-06", "BRR-07", "BRR-08"},
			Lesson: "401 with error=\"invalid_token\": fetch a new token, once, and try again. If that fails too, stop: more attempts change nothing.",
			send: simpleMistake(func(r probe.Resource) recorder.Request {
				return r.GetWith("garbage", "", "Bearer conformance.invalid.token")
			})},
		{Name: "expired", Title: "the token has expired", rules: []requirement.ID{"BRR-10"},
			Lesson: "The same 401: to a client an expired token is an invalid one. Fetch another shortly before expires_in is over, and you never see it.", send: (*Walk).sendExpired},
		{Name: "tampered", Title: "somebody changed a letter of the token", rules: []requirement.ID{"BRR-09"},
			Lesson: "One letter of the signature differs, and the node refuses: that is what the signature is for.", send: (*Walk).sendTampered},
		{Name: "wrong-secret", Title: "the secret is wrong", rules: []requirement.ID{"TER-01", "TER-02"},
			Lesson: "invalid_client, from the authorization server: the credentials are wrong, so don't repeat it. Some servers lock a client after a few attempts.", send: (*Walk).sendWrongSecret},
		{Name: "no-role", Title: "the account lacks the role", rules: []requirement.ID{"BRR-18", "BRR-19"},
			Lesson: "403, although the token is good: the authorization server knows the client, the funding service does not let it in. Ask its operator for role and affiliation.", send: (*Walk).sendWithoutRole},
		{Name: "token-in-url", Title: "the token stands in the URL", rules: []requirement.ID{"BRR-14"},
			Lesson:   "A URL ends up in logs, histories and Referer headers, and a token in it is given away (RFC 6750 §5.3). A node refuses it.",
			Question: "The token will stand in the node's access log. It is one that is used for nothing else.", send: (*Walk).sendInURL},
	}
}

// Make makes a mistake on purpose and says by which rule the answer is judged.
func (w *Walk) MakeMistake(ctx context.Context, m Mistake) Result {
	scene := Result{Step: WhatIf}
	// A refusal proves nothing unless the same request with a good token is answered.
	if good, ok := w.latestOf(evidence.Info.With(evidence.OK)); !ok || good.Status()/100 != 2 {
		if control := w.CallInfo(ctx); !control.OK() {
			scene.Exchanges, scene.Trouble = control.Exchanges, control.Trouble
			return scene
		}
	}
	answer, unsent, err := m.send(w, ctx, &scene)
	switch {
	case err != nil:
		return troubled(scene, err)
	case scene.Trouble != nil:
		return scene
	case unsent != "":
		scene.Notes = []string{unsent}
		return scene
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = connectionTrouble(answer); scene.Trouble != nil {
		return scene
	}
	if answer.Status/100 == 2 {
		scene.Notes = append(scene.Notes, fmt.Sprintf("Status %d: the node answered as if nothing were wrong.", answer.Status))
	} else {
		scene.Notes = append(scene.Notes, fmt.Sprintf("Status %d %s.", answer.Status, http.StatusText(answer.Status)), m.Lesson)
	}
	scene.Verdicts = w.judge(m.rules...)
	return scene
}

// simpleMistake sends what needs no good token.
func simpleMistake(make func(probe.Resource) recorder.Request) func(*Walk, context.Context, *Result) (recorder.Answer, string, error) {
	return func(w *Walk, ctx context.Context, _ *Result) (recorder.Answer, string, error) {
		answer, err := w.send(ctx, make(w.info()))
		return answer, "", err
	}
}

func (w *Walk) sendTampered(ctx context.Context, scene *Result) (recorder.Answer, string, error) {
	token, ok := w.bearer(ctx, scene)
	if !ok {
		return recorder.Answer{}, "", nil
	}
	changed := tokenforge.Tamper(token)
	ask := w.info().GetWith("tampered", "tampered_token", "Bearer "+changed)
	ask.Conceal = map[string]string{"tampered_token": changed}
	answer, err := w.send(ctx, ask)
	return answer, "", err
}

// sendExpired sends the expired token that was given, or the first one of the walk once it is over.
func (w *Walk) sendExpired(ctx context.Context, _ *Result) (recorder.Answer, string, error) {
	token := w.Target().ExpiredToken.Reveal()
	if issued, ok := w.Token(); token == "" && ok {
		left := issued.Remaining(w.Now())
		if left > 0 {
			return recorder.Answer{}, fmt.Sprintf("Your token is good for another %s; come back then, or start with --expired-token.", left.Round(time.Second)), nil
		}
		token = issued.Value
	}
	ask := w.info().GetWith("expired", probe.ExpiredToken, "Bearer "+token)
	ask.Presents = token
	answer, err := w.send(ctx, ask)
	return answer, "", err
}

func (w *Walk) sendWrongSecret(ctx context.Context, _ *Result) (recorder.Answer, string, error) {
	t := w.Target()
	wrong, err := tokenforge.Misspell(t.Credentials.ClientSecret.Reveal(), w.options.Random)
	if err != nil {
		return recorder.Answer{}, "", fmt.Errorf("draw a wrong secret: %w", err)
	}
	good := probe.Credentialed(t.Credentials)
	ask := probe.TokenRequest(t, "wrong-secret", probe.ClientSecret, good[0], good[1], probe.Field{Name: "client_secret", Value: wrong})
	ask.NoRetry, ask.Conceal = true, map[string]string{"wrong_secret": wrong}
	answer, err := w.send(ctx, ask)
	return answer, "", err
}

func (w *Walk) sendWithoutRole(ctx context.Context, scene *Result) (recorder.Answer, string, error) {
	if w.Target().Second == nil {
		return recorder.Answer{}, "This needs a second client, one without the role: start with --client-id2 and --client-secret2.", nil
	}
	if _, listed := w.latestOf(w.listLabel()); !listed {
		if read := w.ListCalls(ctx, Query{}); !read.OK() { // the positive control
			scene.Trouble = read.Trouble
			return recorder.Answer{}, "", nil
		}
	}
	list, ok := w.list()
	if !ok {
		return recorder.Answer{}, "The document describes no list of funding calls, which is where the role counts.", nil
	}
	token, ok := w.secondBearer(ctx, scene)
	if !ok {
		return recorder.Answer{}, "", nil
	}
	resource := probe.Resource{Name: evidence.OperationResource(list.Key), URL: w.bases()[0].URL(list.Path)}
	answer, err := w.send(ctx, resource.GetWith("no-role", probe.SecondAccessToken, "Bearer "+token))
	return answer, "", err
}

func (w *Walk) listLabel() evidence.Label {
	if list, ok := w.list(); ok {
		return evidence.OperationResource(list.Key).With(evidence.OK)
	}
	return ""
}

// sendInURL uses a token that nothing else is asked with.
func (w *Walk) sendInURL(ctx context.Context, scene *Result) (recorder.Answer, string, error) {
	t := w.Target()
	ask := probe.TokenRequest(t, "throw-away", probe.ClientSecret, probe.Credentialed(t.Credentials)...)
	ask.Issues = probe.AccessToken
	spare, err := w.send(ctx, ask)
	if err != nil {
		return spare, "", err
	}
	if scene.Trouble = tokenTrouble(spare); scene.Trouble != nil {
		scene.Exchanges = append(scene.Exchanges, spare.Exchange)
		return spare, "", nil
	}
	resource := w.info()
	u, err := url.Parse(resource.URL)
	if err != nil {
		return recorder.Answer{}, "", fmt.Errorf("read the info URL: %w", err)
	}
	query := u.Query()
	query.Set("access_token", spare.Token)
	u.RawQuery = query.Encode()
	resource.URL = u.String()
	ask = resource.Get("token-in-query")
	ask.Credential, ask.FollowSameOrigin = probe.AccessToken, false
	answer, err := w.send(ctx, ask)
	return answer, "", err
}
