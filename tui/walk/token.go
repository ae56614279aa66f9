package walk

import (
	"context"
	"fmt"
	"time"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
)

func registryAsk(url string) record.Ask { return discover.RegistryRequest(url) }

// FetchToken asks the authorization server for an access token.
func (w *Walk) FetchToken(ctx context.Context) Scene {
	scene := Scene{Step: Token}
	if !w.locate(ctx, &scene) {
		return scene
	}
	t := w.Target()
	ask := discover.TokenRequest(t, exchange.OK, discover.ClientSecret, discover.Credentialed(t.Credentials)...)
	ask.Issues = discover.AccessToken
	answer, err := w.send(ctx, ask)
	if err != nil {
		return troubled(scene, err)
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = refusedToken(answer); scene.Trouble != nil {
		return scene
	}
	token, _ := discover.ReadToken(answer, w.Now())
	issued := &Issued{Token: token}
	if len(answer.Exchange.Tokens) > 0 {
		issued.Facts = answer.Exchange.Tokens[0]
	}
	w.mu.Lock()
	w.token = issued
	w.mu.Unlock()
	scene.Says = []string{"The authorization server has issued an access token."}
	if life, known := discover.Life(answer); known {
		scene.Says = append(scene.Says, fmt.Sprintf("It is good for %s: keep it and use it for every call until then. A token for each call costs the node a signature, and you a round trip.", life.Round(time.Second)))
	} else {
		scene.Says = append(scene.Says, "The answer does not say for how long. Use it until a call is answered with 401, then fetch another one.")
	}
	scene.Verdicts = w.judge("TOK-01", "TOK-02", "TOK-03", "TOK-05", "TOK-06", "TOK-08", "TOK-09", "TOK-10", "TOK-11", "TOK-12")
	return scene
}

// bearer is the token to send, fetched anew when the one at hand is about to expire.
func (w *Walk) bearer(ctx context.Context, scene *Scene) (string, bool) {
	if token, ok := w.Issued(); ok && !token.Stale(w.Now()) {
		return token.Value, true
	}
	fetched := w.FetchToken(ctx)
	scene.Exchanges = append(scene.Exchanges, fetched.Exchanges...)
	scene.Trouble = fetched.Trouble
	token, ok := w.Issued()
	return token.Value, ok && fetched.Well()
}

// secondBearer is a token of the client without the role.
func (w *Walk) secondBearer(ctx context.Context, scene *Scene) (string, bool) {
	w.mu.Lock()
	known := w.second
	w.mu.Unlock()
	if known != "" {
		return known, true
	}
	t := w.Target()
	ask := discover.TokenRequest(t, exchange.OK, discover.SecondSecret, discover.Credentialed(*t.Second)...)
	ask.Label, ask.Issues = exchange.SecondClient.With(exchange.OK), discover.SecondAccessToken
	answer, err := w.send(ctx, ask)
	if err != nil {
		*scene = troubled(*scene, err)
		return "", false
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = refusedToken(answer); scene.Trouble != nil {
		return "", false
	}
	w.mu.Lock()
	w.second = answer.Token
	w.mu.Unlock()
	return answer.Token, true
}
