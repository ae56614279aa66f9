package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/tokenforge"
)

func registryAsk(url string) recorder.Request { return probe.RegistryRequest(url) }

// FetchToken asks the authorization server for an access token.
func (w *Walk) FetchToken(ctx context.Context) Result {
	scene := Result{Step: Token}
	if !w.locate(ctx, &scene) {
		return scene
	}
	t := w.Target()
	ask := probe.TokenRequest(t, evidence.OK, probe.ClientSecret, probe.Credentialed(t.Credentials)...)
	ask.Issues = probe.AccessToken
	answer, err := w.send(ctx, ask)
	if err != nil {
		return troubled(scene, err)
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = tokenTrouble(answer); scene.Trouble != nil {
		return scene
	}
	token, _ := probe.ReadToken(answer, w.Now())
	issued := &IssuedToken{Token: token}
	if len(answer.Exchange.Tokens) > 0 {
		issued.Facts = answer.Exchange.Tokens[0]
	}
	w.mu.Lock()
	w.token = issued
	w.mu.Unlock()
	scene.Notes = []string{"The authorization server has issued an access token."}
	if life, known := probe.Life(answer); known {
		scene.Notes = append(scene.Notes, fmt.Sprintf("It is good for %s: keep it and use it for every call until then. A token for each call costs the node a signature, and you a round trip.", life.Round(time.Second)))
	} else {
		scene.Notes = append(scene.Notes, "The answer does not say for how long. Use it until a call is answered with 401, then fetch another one.")
	}
	scene.Verdicts = w.judge("TOK-01", "TOK-02", "TOK-03", "TOK-05", "TOK-06", "TOK-08", "TOK-09", "TOK-10", "TOK-11", "TOK-12")
	return scene
}

// bearer is the token to send, fetched anew when the one at hand is about to expire.
func (w *Walk) bearer(ctx context.Context, scene *Result) (string, bool) {
	if token, ok := w.Token(); ok && !token.Stale(w.Now()) {
		return token.Value, true
	}
	fetched := w.FetchToken(ctx)
	scene.Exchanges = append(scene.Exchanges, fetched.Exchanges...)
	scene.Trouble = fetched.Trouble
	token, ok := w.Token()
	return token.Value, ok && fetched.OK()
}

// secondBearer is a token of the client without the role.
func (w *Walk) secondBearer(ctx context.Context, scene *Result) (string, bool) {
	w.mu.Lock()
	known := w.second
	w.mu.Unlock()
	if known != "" {
		return known, true
	}
	t := w.Target()
	ask := probe.TokenRequest(t, evidence.OK, probe.SecondSecret, probe.Credentialed(*t.Second)...)
	ask.Label, ask.Issues = evidence.SecondClient.With(evidence.OK), probe.SecondAccessToken
	answer, err := w.send(ctx, ask)
	if err != nil {
		*scene = troubled(*scene, err)
		return "", false
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = tokenTrouble(answer); scene.Trouble != nil {
		return "", false
	}
	w.mu.Lock()
	w.second = answer.Token
	w.mu.Unlock()
	return answer.Token, true
}

// ReadToken looks into the token and verifies its signature with the keys that the authorization server publishes.
func (w *Walk) ReadToken(ctx context.Context) Result {
	scene := Result{Step: Reading}
	token, ok := w.Token()
	if !ok {
		scene.Trouble = &Trouble{"there is no access token yet", []string{"the step before did not reach its aim"}, []string{"ask for a token (step 3)"}}
		return scene
	}
	parsed, isJWT := tokenforge.Read(token.Value)
	if !isJWT {
		scene.Notes = []string{
			fmt.Sprintf("The token is opaque: %d characters that mean something to the node alone. That is fine: a client sends a token, and does not read it.", len(token.Value)),
			"How long it is good for, the answer of the step before says (expires_in).",
		}
		return scene
	}
	scene.Notes = describeClaims(token.Facts.JWT, w.Now())
	keys, found := w.findKeys(ctx, &scene, parsed.Issuer())
	switch {
	case scene.Trouble != nil:
	case !found:
		scene.Notes = append(scene.Notes, "Where the keys are published could not be found, so the signature was not checked. A client need not: the API does.")
	default:
		w.verify(ctx, &scene, keys, token)
	}
	scene.Verdicts = w.judge("JWT-01", "JWT-02", "JWT-03", "JWT-04", "JWT-05", "JWT-06", "JWT-07", "JWT-08")
	return scene
}

// describeClaims says what the claims mean to a client.
func describeClaims(facts *evidence.JWTFacts, now time.Time) []string {
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
	if until, ok := claimTime(facts.Claims["exp"]); ok {
		if left := until.Sub(now); left > 0 {
			out = append(out, fmt.Sprintf("It is over at %s (exp), in %s.", until.UTC().Format("15:04:05 UTC"), left.Round(time.Second)))
		} else {
			out = append(out, fmt.Sprintf("It was over at %s (exp): by this machine's clock it has expired.", until.UTC().Format("15:04:05 UTC")))
		}
	}
	return out
}

func claimTime(v any) (time.Time, bool) {
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
func (w *Walk) findKeys(ctx context.Context, scene *Result, issuer string) (string, bool) {
	issuers := []string{issuer}
	if realm, ok := strings.CutSuffix(w.Target().TokenURL, "/protocol/openid-connect/token"); ok {
		issuers = append(issuers, realm)
	}
	n := 0
	for _, issuer := range issuers {
		for _, address := range probe.MetadataURLs(issuer) {
			if !w.ours(address) {
				continue
			}
			n++
			ask := anonymousRequest(address)
			ask.Label = evidence.MetadataResource(n).With("published")
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
func (w *Walk) verify(ctx context.Context, scene *Result, keys string, token IssuedToken) {
	ask := anonymousRequest(keys)
	ask.Label = evidence.KeySet.With("published")
	ask.Verify = func(body []byte) *evidence.Verification {
		return tokenforge.Verify(token.Value, token.Facts.Fingerprint, body)
	}
	answer, err := w.send(ctx, ask)
	if err != nil {
		*scene = troubled(*scene, err)
		return
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = connectionTrouble(answer); scene.Trouble != nil {
		return
	}
	switch v := answer.Exchange.Verification; {
	case v == nil:
		scene.Notes = append(scene.Notes, "The keys could not be read, so the signature was not checked.")
	case v.Verified:
		scene.Notes = append(scene.Notes, "The signature is good: a key of the authorization server made it, so nobody else wrote this token.")
	default:
		scene.Notes = append(scene.Notes, "The signature does not verify with the published keys: "+v.Why+".")
	}
}

// ours tells whether a URL is on an origin that the operator or the registry named.
func (w *Walk) ours(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && u.User == nil && slices.Contains(w.Target().Origins(), evidence.Origin(u))
}

func anonymousRequest(address string) recorder.Request {
	return recorder.Request{Method: http.MethodGet, URL: address, FollowSameOrigin: true, Header: []evidence.Field{{Name: "Accept", Value: "application/json"}}}
}

// Claim is a part of a token's header or of its claims, as a person reads it.
type Claim struct {
	Name, Value string
	// Meaning says what it is to a client.
	Meaning string
	// Header tells a part of the header, which says how the token is signed.
	Header bool
	// Until is the end of the token, for the claim that says it; else zero.
	Until time.Time
}

// claimMeaning is what a name says.
type claimMeaning struct{ name, text string }

// claimMeanings are what the registered names say (RFC 7519 §4.1, RFC 7515 §4.1, RFC 9068 §2.2), in the order that a person asks for them.
func claimMeanings() []claimMeaning {
	return []claimMeaning{
		{"iss", "who issued it"},
		{"aud", "for which API; another one refuses it"},
		{"sub", "the account that it speaks for"},
		{"client_id", "the client that asked for it"},
		{"azp", "the client that asked for it"},
		{"iat", "when it was issued"},
		{"nbf", "not good before"},
		{"exp", "when it is over"},
		{"scope", "what it may be used for"},
		{"roles", "what the account may do"},
		{"realm_access", "roles, as Keycloak writes them"},
		{"resource_access", "roles by API, as Keycloak writes them"},
		{"jti", "its number: no two are the same"},
	}
}

// headerMeanings are the same for the header.
func headerMeanings() []claimMeaning {
	return []claimMeaning{
		{"typ", "what kind of token it is"},
		{"alg", "how it is signed"},
		{"kid", "which of the published keys signed it"},
	}
}

// Claims are the header and the claims of the token, the ones that most tokens have first; none of an opaque token.
func (w *Walk) Claims() []Claim {
	token, ok := w.Token()
	if !ok || token.Facts.JWT == nil {
		return nil
	}
	return append(claims(token.Facts.JWT.Header, headerMeanings(), true), claims(token.Facts.JWT.Claims, claimMeanings(), false)...)
}

func claims(values map[string]any, known []claimMeaning, header bool) []Claim {
	var out []Claim
	for _, k := range known {
		if v, ok := values[k.name]; ok {
			out = append(out, claim(k.name, v, k.text, header))
		}
	}
	var others []string
	for name := range values {
		if !slices.ContainsFunc(out, func(c Claim) bool { return c.Name == name }) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	for _, name := range others {
		out = append(out, claim(name, values[name], "the node's own", header))
	}
	return out
}

func claim(name string, value any, meaning string, header bool) Claim {
	c := Claim{Name: name, Value: inOneLine(value), Meaning: meaning, Header: header}
	if at, ok := claimTime(value); ok && !header && slices.Contains([]string{"iat", "nbf", "exp"}, name) {
		c.Value = fmt.Sprintf("%s (%s)", at.UTC().Format("15:04:05 UTC"), c.Value)
		if name == "exp" {
			c.Until = at
		}
	}
	return c
}

// inOneLine is a value as a person reads it; of an object the JSON.
func inOneLine(v any) string {
	switch v := v.(type) {
	case map[string]any:
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(text)
	case []any:
		words := make([]string, 0, len(v))
		for _, one := range v {
			words = append(words, inOneLine(one))
		}
		return strings.Join(words, ", ")
	}
	return oneLine(v)
}

// Signature says what came of the check of the signature; nil when no keys were read.
func (s Result) Signature() *evidence.Verification {
	for _, x := range slices.Backward(s.Exchanges) {
		if x.Verification != nil {
			return x.Verification
		}
	}
	return nil
}
