package probe

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
	"github.com/rin-network/rin/conformance/forge"
	"github.com/rin-network/rin/conformance/target"
)

// credited plans what the authorization server says of itself: metadata and keys (SEC-06, JWT-08).
func credited() theme {
	return theme{
		forTarget: publications,
		probe: func(r *run, l exchange.Label) (probe, bool) {
			kind, key, _ := strings.Cut(string(l.Resource()), "/")
			switch {
			case kind == "metadata":
				return r.metadataProbe(key), true
			case l.Resource() == exchange.KeySet:
				return r.keySetProbe(l.Case()), true
			}
			return probe{}, false
		},
	}
}

// The stages of what is published.
const (
	stageMetadata Stage = "metadata"
	stageKeys     Stage = "published keys"
)

// maxPlaces is how many places are asked for metadata.
const maxPlaces = 3

// publications plans the anonymous requests for metadata and keys. They come after the first token, whose issuer tells where.
func publications(t target.Target) Plan {
	lane := Lane{Stage: stageMetadata, After: []Stage{stageToken}}
	for n := range maxPlaces {
		lane.Labels = append(lane.Labels, exchange.MetadataResource(n+1).With(exchange.Published))
	}
	p := Plan{Lanes: []Lane{lane}}
	if wantsKeys(t) {
		p.lane(stageKeys, []Stage{stageMetadata}, exchange.KeySet, exchange.Published, exchange.Refetched)
	}
	return p
}

// wantsKeys reports that the run looks at the published keys.
func wantsKeys(t target.Target) bool { return t.Profile == "full" }

// issuerFacts is what the authorization server said of itself.
type issuerFacts struct {
	metadata string // the label's resource that held it; empty while none did
	jwksURI  string
	keys     []forge.Published
	verified bool // one of the keys verifies the run's token
}

// place is where metadata may be.
type place struct{ url, issuer, from string }

// places lists them: those of the issuer that the token names (OpenID Connect Discovery 1.0 §4, RFC 8414 §3.1), then that of the
// realm in a token URL as Keycloak has it.
func (r *run) places() []place {
	var out []place
	add := func(issuer, from string) {
		for _, address := range discover.MetadataURLs(issuer) {
			p := place{address, issuer, from}
			if len(out) < maxPlaces && !slices.ContainsFunc(out, func(o place) bool { return o.url == p.url }) {
				out = append(out, p)
			}
		}
	}
	if t, ok := forge.Read(r.current().Value); ok {
		add(t.Issuer(), "the claim iss")
	}
	if realm, found := strings.CutSuffix(r.Target.TokenURL, "/protocol/openid-connect/token"); found {
		add(realm, "the token URL")
	}
	return out
}

func (r *run) metadataProbe(number string) probe {
	return probe{
		prepare: func(context.Context) (record.Ask, *unsent) {
			n, err := strconv.Atoi(number)
			found := r.facts.issued().metadata
			places := r.places()
			switch {
			case err != nil || n < 1:
				return record.Ask{}, cutShort("this version of rin does not know how to ask it")
			case found != "":
				return record.Ask{}, notApplicable("the metadata was found at another place (%s)", found)
			case len(places) == 0:
				return record.Ask{}, notApplicable("neither the token nor the token URL says who the issuer is")
			case n > len(places):
				return record.Ask{}, notApplicable("there is no further place for metadata")
			}
			p := places[n-1]
			if reason := r.asksNothingOf(p.url); reason != nil {
				return record.Ask{}, reason
			}
			ask := anonymousGet(p.url)
			ask.Given = map[string]string{"issuer": p.issuer, "from": p.from}
			return ask, nil
		},
		learn: func(a record.Answer) {
			var m struct {
				Issuer   any `json:"issuer"`
				Endpoint any `json:"token_endpoint"`
				JWKSURI  any `json:"jwks_uri"`
			}
			if !a.OK() || json.Unmarshal(a.Body, &m) != nil || m.Issuer == nil && m.Endpoint == nil {
				return
			}
			uri, _ := m.JWKSURI.(string)
			r.facts.with(func(f *facts) { f.issuer.metadata, f.issuer.jwksURI = "metadata/"+number, uri })
		},
	}
}

func (r *run) keySetProbe(c exchange.Case) probe {
	return probe{
		prepare: func(context.Context) (record.Ask, *unsent) {
			known := r.facts.issued()
			switch {
			case known.metadata == "":
				return record.Ask{}, notApplicable("the authorization server publishes no metadata, so its keys are not known")
			case known.jwksURI == "":
				return record.Ask{}, notApplicable("the metadata names no jwks_uri")
			case c == exchange.Refetched && known.verified:
				return record.Ask{}, notApplicable("the first key set verifies the token")
			}
			if reason := r.asksNothingOf(known.jwksURI); reason != nil {
				return record.Ask{}, reason
			}
			token := r.current().Value
			if _, isJWT := forge.Read(token); !isJWT {
				return record.Ask{}, notApplicable("the access token is no JWT")
			}
			ask := anonymousGet(known.jwksURI)
			ask.Verify = func(body []byte) *exchange.Verification {
				return forge.Verify(token, r.Redactor.Secret(discover.AccessToken, token), body)
			}
			return ask, nil
		},
		learn: func(a record.Answer) {
			keys, err := forge.Keys(a.Body)
			if err != nil || !a.OK() {
				return
			}
			v := a.Exchange.Verification
			r.facts.with(func(f *facts) { f.issuer.keys, f.issuer.verified = keys, v != nil && v.Verified })
		},
	}
}

// asksNothingOf keeps to the origins of the node: nothing is fetched elsewhere because an answer says so, with or without a token.
func (r *run) asksNothingOf(address string) *unsent {
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Host == "" || u.User != nil:
		return notApplicable("%.200q is no URL that can be asked", address)
	case !slices.Contains(r.Target.Origins(), exchange.Origin(u)):
		return notApplicable("%.200s is on another origin, of which nothing is asked on the node's word (--allow-origin)", address)
	}
	return nil
}

func anonymousGet(address string) record.Ask {
	return record.Ask{
		Method: http.MethodGet, URL: address, FollowSameOrigin: true,
		Header: []exchange.Field{{Name: "Accept", Value: "application/json"}},
	}
}

func (f *facts) issued() issuerFacts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.issuer
}

// originOf is the origin of a URL that was checked before.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return exchange.Origin(u)
}
