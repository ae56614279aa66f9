package flow

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// FetchToken asks the authorization server for an access token.
func (w *Walk) FetchToken(ctx context.Context) Result {
	result := Result{Step: Token}
	if !w.ensureNode(ctx, &result) {
		return result
	}
	t := w.Target()
	request := probe.Labelled("token.ok", probe.TokenRequest(t, probe.ClientSecret, probe.Credentialed(t.Credentials)...))
	request.Issues = probe.AccessToken
	answer, ok := w.exchange(ctx, &result, request, tokenTrouble)
	if !ok {
		return result
	}
	token, _ := probe.ReadToken(answer, w.Now())
	issued := &IssuedToken{Token: token}
	if len(answer.Exchange.Tokens) > 0 {
		issued.Facts = answer.Exchange.Tokens[0]
	}
	w.mu.Lock()
	w.token = issued
	w.mu.Unlock()
	result.Notes = []string{"The authorization server has issued an access token."}
	if life, known := probe.Life(answer); known {
		result.Notes = append(result.Notes, fmt.Sprintf("It is valid for %s: keep it, and use it for every call until then. A new token for each call costs the node a signature and you a round trip.", evidence.Duration(life)))
	} else {
		result.Notes = append(result.Notes, "The answer does not say how long it is valid. Use it until a call is answered with 401, then fetch a new one.")
	}
	result.Verdicts = w.judge("TOK-01", "TOK-02", "TOK-03", "TOK-05", "TOK-06", "TOK-08", "TOK-09", "TOK-10", "TOK-11", "TOK-12")
	return result
}

// bearer returns the access token, and fetches a new one if the current one is about to expire. If ok is false, the result says why.
func (w *Walk) bearer(ctx context.Context, result *Result) (value string, ok bool) {
	if token, ok := w.Token(); ok && !token.Stale(w.Now()) {
		return token.Value, true
	}
	fetched := w.FetchToken(ctx)
	result.Exchanges = append(result.Exchanges, fetched.Exchanges...)
	result.Trouble = fetched.Trouble
	token, ok := w.Token()
	return token.Value, ok && fetched.OK()
}

// secondBearer returns an access token of the client without the role. If ok is false, the result says why.
func (w *Walk) secondBearer(ctx context.Context, result *Result) (value string, ok bool) {
	w.mu.Lock()
	known := w.secondToken
	w.mu.Unlock()
	if known != "" {
		return known, true
	}
	t := w.Target()
	request := probe.Labelled("token2.ok", probe.TokenRequest(t, probe.SecondSecret, probe.Credentialed(*t.Second)...))
	request.Issues = probe.SecondAccessToken
	answer, ok := w.exchange(ctx, result, request, tokenTrouble)
	if !ok {
		return "", false
	}
	w.mu.Lock()
	w.secondToken = answer.Token
	w.mu.Unlock()
	return answer.Token, true
}

// ReadToken decodes the token and verifies its signature with the keys that the authorization server publishes. It fetches a token if the walk
// has none.
func (w *Walk) ReadToken(ctx context.Context) Result {
	if _, ok := w.Token(); !ok {
		if fetched := w.FetchToken(ctx); !fetched.OK() {
			return fetched
		}
	}
	result := Result{Step: Reading}
	token, _ := w.Token()
	parsed, isJWT := tokenforge.Read(token.Value)
	if !isJWT {
		result.Notes = []string{
			fmt.Sprintf("The token is opaque: %d characters that only the node can interpret. That is fine: a client sends its token and does not read it.", len(token.Value)),
			"The answer of the previous step says how long it is valid (expires_in).",
		}
		return result
	}
	result.Notes = describeClaims(token.Facts.JWT, w.Now())
	keysURL, found := w.findKeysURL(ctx, &result, parsed.Issuer())
	switch {
	case !result.OK(): // result.Trouble says why
	case !found:
		result.Notes = append(result.Notes, "The published keys were not found, so rin did not check the signature. A client does not have to: the API does.")
	default:
		w.verify(ctx, &result, keysURL, token)
	}
	result.Verdicts = w.judge("JWT-01", "JWT-02", "JWT-03", "JWT-04", "JWT-05", "JWT-06", "JWT-07", "JWT-08")
	return result
}

// describeClaims explains what the claims mean to a client.
func describeClaims(facts *evidence.JWTFacts, now time.Time) []string {
	if facts == nil {
		return nil
	}
	var notes []string
	addNote := func(name, format string) bool {
		value, ok := facts.Claims[name]
		if list, isList := value.([]any); isList {
			value = list[:min(len(list), 8)]
		}
		if ok {
			notes = append(notes, fmt.Sprintf(format, claimText(value)))
		}
		return ok
	}
	addNote("iss", "The token was issued by %s (iss).")
	addNote("aud", "It is meant for %s (aud): another API has to refuse it.")
	addNote("sub", "It represents the account %s (sub).")
	if !addNote("client_id", "The client is %s (client_id).") {
		addNote("azp", "The client is %s (azp).")
	}
	if expiry, ok := claimTime(facts.Claims["exp"]); ok {
		at := expiry.UTC().Format("15:04:05 UTC")
		if remaining := expiry.Sub(now); remaining > 0 {
			notes = append(notes, fmt.Sprintf("It expires at %s (exp), in %s.", at, evidence.Duration(remaining)))
		} else {
			notes = append(notes, fmt.Sprintf("It expired at %s (exp), by the clock of this machine.", at))
		}
	}
	return notes
}

// claimTime returns the time of a claim such as exp; ok is false unless the value is a plausible number of seconds.
func claimTime(v any) (at time.Time, ok bool) {
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

// findKeysURL finds the URL of the issuer's keys in its metadata. It sends requests to known origins only, even if the token names another one. found is
// false without metadata, and if the keys are at another origin.
func (w *Walk) findKeysURL(ctx context.Context, result *Result, issuer string) (keysURL string, found bool) {
	issuers := []string{issuer}
	if realm, ok := strings.CutSuffix(w.Target().TokenURL, "/protocol/openid-connect/token"); ok {
		issuers = append(issuers, realm)
	}
	n := 0
	for _, issuer := range issuers {
		for _, address := range probe.MetadataURLs(issuer) {
			if !w.isKnownOrigin(address) {
				continue
			}
			n++
			request := probe.Labelled(evidence.MetadataResource(n).With("published"), recorder.AnonymousGet(address))
			request.Given = map[string]string{"issuer": issuer, "from": "the claim iss"}
			answer, err := w.send(ctx, request)
			if err != nil {
				result.Trouble = localTrouble(err)
				return "", false
			}
			metadata, isObject := evidence.ParseObject(answer.Body)
			if !answer.OK() || !isObject {
				continue // an issuer publishes its metadata at one of these URLs only
			}
			result.Exchanges = append(result.Exchanges, answer.Exchange)
			keysURL = metadata.Text("jwks_uri")
			return keysURL, w.isKnownOrigin(keysURL)
		}
	}
	return "", false
}

// verify fetches the keys and verifies the token with them.
func (w *Walk) verify(ctx context.Context, result *Result, keysURL string, token IssuedToken) {
	request := probe.Labelled("jwks.published", recorder.AnonymousGet(keysURL))
	request.Verify = func(body []byte) *evidence.Verification {
		return tokenforge.Verify(token.Value, token.Facts.Fingerprint, body)
	}
	answer, ok := w.exchange(ctx, result, request, connectionTrouble)
	if !ok {
		return
	}
	note := "The signature is valid: it was made with a key of the authorization server, so nobody else wrote this token."
	switch v := answer.Exchange.Verification; {
	case v == nil:
		note = "rin could not read the keys, so it did not check the signature."
	case !v.Verified:
		note = "The signature does not verify with the published keys: " + v.Why + "."
	}
	result.Notes = append(result.Notes, note)
}

// isKnownOrigin reports whether the origin of a URL was given by the person who runs rin, or by the registry.
func (w *Walk) isKnownOrigin(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Host != "" && u.User == nil && slices.Contains(w.Target().Origins(), evidence.Origin(u))
}

// Signature returns the verification of the token's signature; nil if the keys were not read.
func (r Result) Signature() *evidence.Verification {
	for _, x := range slices.Backward(r.Exchanges) {
		if x.Verification != nil {
			return x.Verification
		}
	}
	return nil
}

// Claim is a member of a token's header or payload.
type Claim struct {
	Name, Value string
	// Meaning explains the claim to the developer of a client.
	Meaning string
	// Header reports whether this is a member of the header, which describes the signature.
	Header bool
	// Expiry is the time in the claim exp; zero for other claims.
	Expiry time.Time
}

type claimMeaning struct{ name, text string }

// claimMeanings explains the registered claims (RFC 7519 §4.1, RFC 9068 §2.2), the most useful first.
func claimMeanings() []claimMeaning {
	return []claimMeaning{
		{"iss", "who issued it"},
		{"aud", "for which API; other APIs refuse it"},
		{"sub", "the account that it represents"},
		{"client_id", "the client that asked for it"},
		{"azp", "the client that asked for it"},
		{"iat", "when it was issued"},
		{"nbf", "not valid before"},
		{"exp", "when it expires"},
		{"scope", "what it may be used for"},
		{"roles", "what the account may do"},
		{"realm_access", "roles, as Keycloak writes them"},
		{"resource_access", "roles by API, as Keycloak writes them"},
		{"jti", "its unique ID"},
	}
}

// headerMeanings explains the members of the header (RFC 7515 §4.1).
func headerMeanings() []claimMeaning {
	return []claimMeaning{
		{"typ", "what kind of token it is"},
		{"alg", "the signature algorithm"},
		{"kid", "the ID of the key that signed it"},
	}
}

// Claims returns the header and the claims of the token, common ones first; nil for an opaque token.
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
			out = append(out, newClaim(k.name, v, k.text, header))
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
		out = append(out, newClaim(name, values[name], "specific to this node", header))
	}
	return out
}

// newClaim formats a claim. For iat, nbf and exp the value shows the time.
func newClaim(name string, value any, meaning string, header bool) Claim {
	c := Claim{Name: name, Value: claimText(value), Meaning: meaning, Header: header}
	if at, ok := claimTime(value); ok && !header && slices.Contains([]string{"iat", "nbf", "exp"}, name) {
		c.Value = fmt.Sprintf("%s (%s)", at.UTC().Format("15:04:05 UTC"), c.Value)
		if name == "exp" {
			c.Expiry = at
		}
	}
	return c
}

// claimText formats a value: a list as words, an object as JSON.
func claimText(v any) string {
	switch v := v.(type) {
	case map[string]any:
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(text)
	case []any:
		words := make([]string, 0, len(v))
		for _, item := range v {
			words = append(words, claimText(item))
		}
		return strings.Join(words, ", ")
	}
	return fmt.Sprint(v)
}
