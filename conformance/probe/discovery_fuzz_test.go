package probe_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// FuzzBases checks that operations are called only on the hosts that the operator named, whatever servers and paths the document has.
func FuzzBases(f *testing.F) {
	for _, server := range []string{"https://evil.example/ris", "//evil.example", "/funding/v3", "..\\..", "https:evil", "javascript:x", "{a}", "%2f%2fevil.example", "?x#y", "http://[::1", "@evil.example", "/\t/evil"} {
		f.Add(server, "/fundings/%2e%2e/@evil.example")
	}
	f.Add("/a", "//evil.example/x")
	f.Add("\\\\evil.example", "?q=#f")
	f.Fuzz(func(t *testing.T, server, path string) {
		node := target.Target{BaseURL: "https://node.example/ris", SpecURL: "https://docs.example:8443/ris/api-docs"}
		bases, _ := probe.Bases(node, []string{server}, path)
		for _, b := range bases {
			u, err := url.Parse(b.URL(path))
			if err != nil {
				continue // it is not sent
			}
			if u.Host != "node.example" && u.Host != "docs.example:8443" || u.Scheme != "https" || u.User != nil {
				t.Fatalf("server %q and path %q lead to %s", server, path, u)
			}
		}
	})
}

// FuzzReadToken checks that the life of a token is at most 24 hours, and that a new token is not stale.
func FuzzReadToken(f *testing.F) {
	for _, seed := range []string{`{"expires_in":300}`, `{"expires_in":"1e309"}`, `{"expires_in":-1}`, `{"expires_in":"NaN"}`, `{"expires_in":"Inf"}`, `{"expires_in":1e-300}`, `{"expires_in":{}}`, `{`} {
		f.Add([]byte(seed), "1e308")
	}
	f.Add([]byte(`{}`), "-0")
	f.Fuzz(func(t *testing.T, body []byte, exp string) {
		now := time.Unix(0, 0)
		a := recorder.Answer{Status: 200, Token: "t", Body: body, Exchange: evidence.Exchange{Tokens: []evidence.TokenFacts{
			{JWT: &evidence.JWTFacts{Claims: map[string]any{"iat": json.Number("0"), "exp": json.Number(exp)}}},
		}}}
		token, ok := probe.ReadToken(a, now)
		if !ok || token.Life < 0 || token.Life > 24*time.Hour {
			t.Fatalf("%q makes a token of %s", body, token.Life)
		}
		if token.Stale(now) && token.Life > time.Nanosecond {
			t.Fatalf("%q makes a token that is stale when it comes", body)
		}
		if life, _ := probe.Life(a); life < 0 || life > 24*time.Hour {
			t.Fatalf("%q and exp %q live %s", body, exp, life)
		}
	})
}

// FuzzDerive checks that the URLs that are derived from an info URL are on its host.
func FuzzDerive(f *testing.F) {
	for _, seed := range []string{"https://node.example/ris/info/v1/oauth/info/", "https://node.example", "//x", "https://a@b/info/v1/info", "file:///info/v1/info", "\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, info string) {
		base, spec, ok := probe.Derive(info)
		from, err := url.Parse(info)
		if !ok || err != nil {
			return
		}
		for _, text := range []string{base, spec} {
			if u, err := url.Parse(text); err != nil || u.Host != from.Host || u.Scheme != from.Scheme || !strings.HasPrefix(text, from.Scheme+"://") {
				t.Fatalf("%q leads to %q", info, text)
			}
		}
	})
}
