package walk

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/forge"
)

// ReadToken looks into the token and verifies its signature with the keys that the authorization server publishes.
func (w *Walk) ReadToken(ctx context.Context) Scene {
	scene := Scene{Step: Reading}
	token, ok := w.Issued()
	if !ok {
		scene.Trouble = &Trouble{"there is no access token yet", []string{"the step before did not reach its aim"}, []string{"ask for a token (step 3)"}}
		return scene
	}
	parsed, isJWT := forge.Read(token.Value)
	if !isJWT {
		scene.Says = []string{
			fmt.Sprintf("The token is opaque: %d characters that mean something to the node alone. That is fine: a client sends a token, and does not read it.", len(token.Value)),
			"How long it is good for, the answer of the step before says (expires_in).",
		}
		return scene
	}
	scene.Says = claimsInWords(token.Facts.JWT, w.Now())
	keys, found := w.findKeys(ctx, &scene, parsed.Issuer())
	switch {
	case scene.Trouble != nil:
	case !found:
		scene.Says = append(scene.Says, "Where the keys are published could not be found, so the signature was not checked. A client need not: the API does.")
	default:
		w.verify(ctx, &scene, keys, token)
	}
	scene.Verdicts = w.judge("JWT-01", "JWT-02", "JWT-03", "JWT-04", "JWT-05", "JWT-06", "JWT-07", "JWT-08")
	return scene
}

// claimsInWords says what the claims mean to a client.
func claimsInWords(facts *exchange.JWTFacts, now time.Time) []string {
	if facts == nil {
		return nil
	}
	var out []string
	say := func(name, format string) {
		if value, ok := facts.Claims[name]; ok {
			out = append(out, fmt.Sprintf(format, oneLine(value)))
		}
	}
	say("iss", "It was issued by %s (iss).")
	say("aud", "It is meant for %s (aud): another API has to refuse it.")
	say("sub", "It speaks for the account %s (sub).")
	for _, name := range []string{"client_id", "azp"} {
		if _, ok := facts.Claims[name]; ok {
			say(name, "The client is %s ("+name+").")
			break
		}
	}
	if until, ok := timeOf(facts.Claims["exp"]); ok {
		if left := until.Sub(now); left > 0 {
			out = append(out, fmt.Sprintf("It is over at %s (exp), in %s.", until.UTC().Format("15:04:05 UTC"), left.Round(time.Second)))
		} else {
			out = append(out, fmt.Sprintf("It was over at %s (exp): by this machine's clock it has expired.", until.UTC().Format("15:04:05 UTC")))
		}
	}
	return out
}

func timeOf(v any) (time.Time, bool) {
	n, ok := v.(json.Number)
	if !ok {
		return time.Time{}, false
	}
	seconds, err := n.Float64()
	if err != nil || seconds < 0 || seconds > 1e11 {
		return time.Time{}, false
	}
	return time.Unix(int64(seconds), 0), true
}

func oneLine(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		words := make([]string, 0, len(v))
		for _, one := range v[:min(len(v), 8)] {
			words = append(words, oneLine(one))
		}
		return strings.Join(words, ", ")
	}
	return fmt.Sprint(v)
}

// findKeys finds where the issuer publishes its keys, on the node's own origins only: nothing is fetched elsewhere on a token's word.
func (w *Walk) findKeys(ctx context.Context, scene *Scene, issuer string) (string, bool) {
	issuers := []string{issuer}
	if realm, ok := strings.CutSuffix(w.Target().TokenURL, "/protocol/openid-connect/token"); ok {
		issuers = append(issuers, realm)
	}
	n := 0
	for _, issuer := range issuers {
		for _, address := range discover.MetadataURLs(issuer) {
			if !w.ours(address) {
				continue
			}
			n++
			ask := anonymously(address)
			ask.Label = exchange.MetadataResource(n).With(exchange.Published)
			ask.Given = map[string]string{"issuer": issuer, "from": "the claim iss"}
			answer, err := w.send(ctx, ask)
			if err != nil {
				*scene = troubled(*scene, err)
				return "", false
			}
			var metadata struct {
				JWKSURI any `json:"jwks_uri"`
			}
			if !answer.OK() || json.Unmarshal(answer.Body, &metadata) != nil {
				continue // it is published at one of these places only
			}
			scene.Exchanges = append(scene.Exchanges, answer.Exchange)
			keys, _ := metadata.JWKSURI.(string)
			return keys, w.ours(keys)
		}
	}
	return "", false
}

// verify fetches the keys and tries them on the token.
func (w *Walk) verify(ctx context.Context, scene *Scene, keys string, token Issued) {
	ask := anonymously(keys)
	ask.Label = exchange.KeySet.With(exchange.Published)
	ask.Verify = func(body []byte) *exchange.Verification {
		return forge.Verify(token.Value, token.Facts.Fingerprint, body)
	}
	answer, err := w.send(ctx, ask)
	if err != nil {
		*scene = troubled(*scene, err)
		return
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = failed(answer); scene.Trouble != nil {
		return
	}
	switch v := answer.Exchange.Verification; {
	case v == nil:
		scene.Says = append(scene.Says, "The keys could not be read, so the signature was not checked.")
	case v.Verified:
		scene.Says = append(scene.Says, "The signature is good: a key of the authorization server made it, so nobody else wrote this token.")
	default:
		scene.Says = append(scene.Says, "The signature does not verify with the published keys: "+v.Why+".")
	}
}

// ours tells whether a URL is on an origin that the operator or the registry named.
func (w *Walk) ours(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && u.User == nil && slices.Contains(w.Target().Origins(), exchange.Origin(u))
}

func anonymously(address string) record.Ask {
	return record.Ask{Method: http.MethodGet, URL: address, FollowSameOrigin: true, Header: []exchange.Field{{Name: "Accept", Value: "application/json"}}}
}
