package requirement

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file reads the markers that stand for secrets in evidence (see exchange.Redactor).

// leak is a secret found in an answer.
type leak struct {
	name, fingerprint, form string
	place                   string // "body", "header X-Debug", "Location"
}

// marker matches "[[name:fingerprint:form]]".
func marker() *regexp.Regexp {
	return regexp.MustCompile(`\[\[([A-Za-z0-9_.-]+):([0-9a-f]{8}):([a-z0-9]+)\]\]`)
}

// secretsKept checks SEC-04.
func secretsKept(e Evidence) Judgement {
	known := knownSecrets(e)
	markers := marker()
	var parts []Judgement
	searched := 0
	for _, x := range e.All(exchange.WholeRun) {
		if x.Response == nil {
			continue
		}
		searched++
		for _, l := range leaksOf(markers, x) {
			short, secret := known[l.fingerprint]
			if !secret || owed(x, l) {
				continue
			}
			parts = append(parts, leaked(x, l, short))
		}
	}
	switch {
	case searched == 0:
		return Unclear("the run has no answer that could be searched")
	case len(parts) == 0:
		return Passed()
	}
	return gather(parts...)
}

func leaked(x exchange.Exchange, l leak, short bool) Judgement {
	what := "an access token"
	if strings.HasPrefix(l.name, "client_secret") {
		what = "the client secret"
	} else if !strings.HasPrefix(l.name, "access_token") {
		what = "a secret (" + strings.ReplaceAll(l.name, "_", " ") + ")"
	}
	got := what + " in the " + l.place
	if l.form != "plain" {
		got += ", as " + l.form
	}
	const expected = "an answer without credentials"
	if short {
		return Warned(fmt.Sprintf("an answer holds a word that is %s, which is so short that this may be chance", what), expected, got).
			Hinting("issue secrets and tokens of at least 128 bits, then repeat the run").about(x, expected, got)
	}
	return Failed("an answer holds "+got, expected, got).about(x, expected, got)
}

// knownSecrets lists the fingerprints of the credentials that the run sent or was issued, and whether they are so short that finding
// one may be chance. What else looks like a marker was invented by the node. Forged tokens and cookies are left out.
func knownSecrets(e Evidence) map[string]bool {
	out := map[string]bool{}
	markers := marker()
	for _, x := range e.All(exchange.WholeRun) {
		for _, text := range append(headerTexts(x.Request.Header), x.Request.URL, string(x.Request.Body)) {
			for _, m := range markers.FindAllStringSubmatch(text, -1) {
				if credentialMarker(m[1]) {
					out[m[2]] = out[m[2]] || e.Run.ShortSecret && strings.HasPrefix(m[1], "client_secret")
				}
			}
		}
		for _, t := range x.Tokens {
			out[t.Fingerprint] = t.Length > 0 && t.Length < exchange.ShortSecret
		}
	}
	return out
}

// credentialMarker reports the names of real credentials. A wrong secret and a tampered token are made of the real ones, and are
// no credentials; a cookie is the node's own.
func credentialMarker(name string) bool {
	for _, real := range []string{"client_secret", "access_token", "refresh_token", "id_token"} {
		if strings.HasPrefix(name, real) {
			return true
		}
	}
	return false
}

// maxLeaks is how many markers of one text are looked at.
const maxLeaks = 1000

// leaksOf lists the markers of an answer, redirects that were followed included, each once for a place.
func leaksOf(markers *regexp.Regexp, x exchange.Exchange) []leak {
	var out []leak
	look := func(place string, text []byte) {
		if !bytes.Contains(text, []byte("[[")) {
			return
		}
		for _, m := range markers.FindAllSubmatch(text, maxLeaks) {
			l := leak{string(m[1]), string(m[2]), string(m[3]), place}
			if credentialMarker(l.name) && !slices.Contains(out, l) {
				out = append(out, l)
			}
		}
	}
	fields := func(h []exchange.Field) {
		for _, f := range h {
			look("header "+clip(f.Name), []byte(f.Name+" "+f.Value))
		}
	}
	for _, hop := range x.Redirects {
		fields(hop.Header)
		if len(exchange.Values(hop.Header, "Location")) == 0 {
			look("header Location", []byte(hop.Location))
		}
	}
	fields(x.Response.Header)
	look("body", x.Response.Body)
	return out
}

// owed reports a credential where it belongs: a token in the answer that issues one, and a Location that repeats a URL with it.
func owed(x exchange.Exchange, l leak) bool {
	if len(x.Tokens) > 0 && !strings.HasPrefix(l.name, "client_secret") {
		return slices.ContainsFunc(x.Tokens, func(t exchange.TokenFacts) bool { return t.Fingerprint == l.fingerprint }) ||
			!strings.HasPrefix(l.name, "access_token")
	}
	return l.place == "header Location" && strings.Contains(x.Request.URL, ":"+l.fingerprint+":")
}

func headerTexts(h []exchange.Field) []string {
	var out []string
	for _, f := range h {
		out = append(out, f.Value)
	}
	return out
}
