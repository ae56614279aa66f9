package probe

import (
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/tokenforge"
)

// metadataCases returns the requests for the authorization server's metadata and keys (SEC-06, JWT-08). They have no token, and follow the first token
// request, because the location of the metadata depends on the issuer of the token.
func metadataCases() []row {
	var out []row
	for i := range maxPlaces {
		out = append(out, row{
			Label: evidence.MetadataResource(i + 1).With("published"), Words: "the request for the metadata",
			Plan: in(stageMetadata, stageToken).inLane("metadata"), Send: fetchMetadata(i), Learn: learnMetadata,
		})
	}
	keys := in(stageKeys, stageMetadata).inLane("keys").onlyIf(withKeys)
	return append(out,
		row{Label: "jwks.published", Words: "the request for the published keys", Plan: keys, Send: fetchKeys, Learn: learnKeys},
		// This row is sent only if the first key set does not verify the token.
		row{Label: "jwks.refetched", Words: "the request for the published keys", Plan: keys, Learn: learnKeys,
			Send: func(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
				q, reason := fetchKeys(ctx, r, at)
				if known := r.facts.issuerFacts(); known.jwksURI != "" && known.verified {
					return recorder.Request{}, notApplicable("the first key set verifies the token")
				}
				return q, reason
			}},
		// This row is sent only if a token that was issued meanwhile names another key.
		row{Label: "jwks.later", Words: "the later request for the published keys", Send: fetchKeysOfOthers,
			Plan: in(stageRest, stageKeys, stageTokens, stageSecond, stageOther, stageSpare).onlyIf(withKeys).onDemand()},
	)
}

// These are the stages of the metadata and of the published keys.
const (
	stageMetadata Stage = "metadata"
	stageKeys     Stage = "published keys"
)

// maxPlaces bounds the places where metadata is looked for.
const maxPlaces = 3

// wantsKeys reports whether the run fetches the published keys: some forgeries use them as secrets.
func wantsKeys(t target.Target) bool { return !t.Quick() }

// issuerFacts is what the authorization server published.
type issuerFacts struct {
	metadata string // the resource of the answer with the metadata; empty until it was found
	jwksURI  string
	// revocation is the URL of the revocation endpoint (RFC 8414 §2).
	revocation string
	keys       []tokenforge.Published
	verified   bool // one of the keys verifies the run's token
}

// place is a URL where metadata may be, the issuer that the metadata would be for, and the source of that issuer.
type place struct{ url, issuer, from string }

// places returns the places to try: those of the issuer that the token names (OpenID Connect Discovery 1.0 §4, RFC 8414 §3.1), then those of the realm in a
// token URL of Keycloak. Without such places it guesses the issuer from the token URL.
func (r *run) places() []place {
	var out []place
	add := func(issuer, from string) {
		for _, address := range MetadataURLs(issuer) {
			p := place{address, issuer, from}
			if len(out) < maxPlaces && !slices.ContainsFunc(out, func(o place) bool { return o.url == p.url }) {
				out = append(out, p)
			}
		}
	}
	if t, ok := tokenforge.Read(r.current().Value); ok {
		add(t.Issuer(), "the claim iss")
	}
	if realm, found := strings.CutSuffix(r.Target.TokenURL, "/protocol/openid-connect/token"); found {
		add(realm, "the token URL")
	}
	if len(out) == 0 { // opaque tokens do not name an issuer
		for _, suffix := range []string{"/oauth/token", "/oauth2/token", "/oauth/v2/token", "/connect/token", "/token"} {
			if issuer, found := strings.CutSuffix(r.Target.TokenURL, suffix); found {
				add(issuer, evidence.GuessedIssuer)
				break
			}
		}
	}
	return out
}

func fetchMetadata(i int) sender {
	return func(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
		found := r.facts.issuerFacts().metadata
		places := r.places()
		switch {
		case found != "":
			return recorder.Request{}, notApplicable("the metadata was found at another place (%s)", found)
		case len(places) == 0:
			return recorder.Request{}, notApplicable("neither the token nor the token URL says who the issuer is")
		case i >= len(places):
			return recorder.Request{}, notApplicable("there is no further place for metadata")
		}
		p := places[i]
		if reason := r.checkOrigin(p.url); reason != nil {
			return recorder.Request{}, reason
		}
		q := recorder.AnonymousGet(p.url)
		q.Given = map[string]string{"issuer": p.issuer, "from": p.from}
		return q, nil
	}
}

// learnMetadata keeps the metadata that an answer contains.
func learnMetadata(r *run, at evidence.Resource, a recorder.Answer) {
	m, isObject := evidence.ParseObject(a.Body)
	if !a.OK() || !isObject || m.Value("issuer") == nil && m.Value("token_endpoint") == nil {
		return
	}
	if a.Exchange.Given["from"] == evidence.GuessedIssuer && m.Text("token_endpoint") != r.Target.TokenURL {
		return // this is the metadata of another server
	}
	uri := m.Text("jwks_uri")
	var scopes []string
	_ = json.Unmarshal(m["scopes_supported"], &scopes) // other values are not scopes
	r.facts.with(func(f *facts) { f.scopes = append(f.scopes, scopes...) })
	r.facts.with(func(f *facts) {
		f.issuer.metadata, f.issuer.jwksURI, f.issuer.revocation = string(at), uri, m.Text("revocation_endpoint")
	})
}

func fetchKeys(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
	known := r.facts.issuerFacts()
	switch {
	case known.metadata == "":
		return recorder.Request{}, notApplicable("the authorization server publishes no metadata, so its keys are not known")
	case known.jwksURI == "":
		return recorder.Request{}, notApplicable("the metadata names no jwks_uri")
	}
	if reason := r.checkOrigin(known.jwksURI); reason != nil {
		return recorder.Request{}, reason
	}
	token := r.current().Value
	if _, isJWT := tokenforge.Read(token); !isJWT {
		return recorder.Request{}, notApplicable("the access token is not a JWT")
	}
	q := recorder.AnonymousGet(known.jwksURI)
	q.Verify = func(body []byte) *evidence.Verification {
		return tokenforge.Verify(token, r.Redactor.Secret(AccessToken, token), body)
	}
	return q, nil
}

// fetchKeysOfOthers fetches the key set again if a token of the issuer names a key that the set lacked: the keys may have changed, or another replica signs
// with its own key.
func fetchKeysOfOthers(ctx context.Context, r *run, at evidence.Resource) (recorder.Request, *unsent) {
	own, isJWT := tokenforge.Read(r.current().Value)
	known := map[string]bool{"": true}
	for _, key := range r.facts.issuerFacts().keys {
		known[key.ID] = true
	}
	isOther := func(t evidence.TokenFacts) bool {
		if t.JWT == nil || t.JWT.Claims["iss"] != own.Issuer() {
			return false
		}
		kid, _ := t.JWT.Header["kid"].(string)
		return !known[kid]
	}
	if !isJWT || len(known) == 1 || !slices.ContainsFunc(r.Journal.Log().Exchanges, func(x evidence.Exchange) bool { return slices.ContainsFunc(x.Tokens, isOther) }) {
		return recorder.Request{}, notApplicable("no token names a key that the first key set lacks")
	}
	q, reason := fetchKeys(ctx, r, at)
	q.Verify = nil // this request is for the other tokens
	return q, reason
}

// learnKeys keeps the keys of a key set, and whether they verify the token.
func learnKeys(r *run, _ evidence.Resource, a recorder.Answer) {
	keys, err := tokenforge.Keys(a.Body)
	if err != nil || !a.OK() {
		return
	}
	v := a.Exchange.Verification
	r.facts.with(func(f *facts) { f.issuer.keys, f.issuer.verified = keys, v != nil && v.Verified })
}

// checkOrigin returns nil if a URL from an answer may be fetched, or else the reason: it is not a valid URL, or its origin is not allowed.
func (r *run) checkOrigin(address string) *unsent {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return notApplicable("%.200q is not a URL that can be called", address)
	case !slices.Contains(r.Target.Origins(), evidence.Origin(u)):
		return notApplicable("%.200s is on another origin, which rin does not call just because the node names it (--allow-origin)", address)
	}
	return nil
}

// issuerFacts returns a copy of the issuer's facts.
func (f *facts) issuerFacts() issuerFacts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.issuer
}

// MetadataURLs lists where an issuer publishes its metadata: below its URL (OpenID Connect Discovery 1.0 §4), then where RFC 8414 §3.1
// inserts it. Only an issuer that is a URL without query and fragment has metadata.
func MetadataURLs(issuer string) []string {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Scheme != "https" && u.Scheme != "http" {
		return nil
	}
	origin, path := schemeAndHost(u), strings.TrimRight(u.EscapedPath(), "/")
	return []string{origin + path + "/.well-known/openid-configuration", origin + "/.well-known/oauth-authorization-server" + path}
}
