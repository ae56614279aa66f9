package requirement

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file names calls for people: a reader of a report knows operations and credentials, not labels.

// callName is method and path of a request: "GET /ris/funding/v3/fundings".
func callName(x evidence.Exchange) string {
	path := x.Request.URL
	if u, err := url.Parse(x.Request.URL); err == nil {
		path = u.EscapedPath()
	}
	return clip(x.Request.Method + " " + path)
}

// callInWords is [callName] with what was particular about the call, so that two calls of one URL can be told apart.
func callInWords(x evidence.Exchange) string {
	if manner := mannerOf(x); manner != "" {
		return clip(callName(x) + ", " + manner)
	}
	return callName(x)
}

// mannerOf says what was particular about a call; empty for the good one.
func mannerOf(x evidence.Exchange) string {
	c := x.Label.Case()
	if words := peculiarity(c); words != "" {
		return words
	}
	if x.Label.Resource() == evidence.TokenEndpoint {
		if c == evidence.OK || c == "get" {
			return ""
		}
		return attempt(c)
	}
	if x.Given["try"] == string(evidence.Absent) {
		return "without " + x.Given["parameter"]
	}
	if name := x.Given["parameter"]; name != "" {
		return name + "=" + shortened(x.Given["value"])
	}
	return manner(c)
}

// shortened keeps a long value from hiding what stands beside it.
func shortened(value string) string {
	const most, start = 60, 20
	if n := utf8.RuneCountInString(value); n > most {
		return fmt.Sprintf("%s… (%d characters)", string([]rune(value)[:start]), n)
	}
	return value
}

// manner says in words what was particular about a call of a protected resource.
func manner(c evidence.Case) string {
	if words := peculiarity(c); words != "" {
		return words
	}
	switch c {
	case evidence.NoToken, "head", "path-slash", "path-double-slash", "path-dot", "path-upper", "path-suffix",
		"path-encoded", "path-extension":
		return "without a token"
	case "garbage":
		return "with a garbage token"
	case "tampered":
		return "with a tampered token"
	case "empty-bearer":
		return "with Bearer and nothing behind it"
	case "blank-bearer":
		return "with Bearer and a blank behind it"
	case "basic-scheme":
		return "with Basic and a random secret"
	case "token-scheme":
		return "with the scheme Token"
	case "lower-scheme":
		return "with the scheme bearer"
	case "upper-scheme":
		return "with the scheme BEARER"
	case "two-blanks":
		return "with two blanks after Bearer"
	case "method-override":
		return "without a token and with X-HTTP-Method-Override: OPTIONS"
	case "as-browser":
		return "without a token and with the Accept header of a browser"
	case "cached-ok":
		return "with a query of its own"
	case "cached-no-token":
		return "without a token and with a query that came with a token before"
	case "page-no-token":
		return "without a token and for a page"
	case "first-token":
		return "with the first token of the run"
	case "no-role":
		return "by the client without the role"
	case "without-content-type":
		return "without Content-Type"
	case evidence.OK, "head-ok", "post", "item-first", "item-middle", "item-last", "unknown-id":
		return ""
	}
	if m := forgedManner(c); m != "" {
		return m
	}
	return strings.ReplaceAll(string(c), "-", " ")
}

// Asked says in words what the exchange of a label asks, for a reader who knows no labels.
func (e Evidence) Asked(label evidence.Label) string { return e.asked(label) }

// asked says in words what the exchange of a label asks: "GET /fundings with a garbage token", "the token request with the wrong secret".
func (e Evidence) asked(label evidence.Label) string {
	if words := askedElsewhere(label); words != "" {
		return words
	}
	resource, c := label.Resource(), label.Case()
	with := manner(c)
	if c == evidence.OK || c == "head-ok" {
		with = "with a good token"
	}
	switch resource {
	case evidence.API:
		return "the request " + with
	case evidence.TokenEndpoint:
		if words := peculiarity(c); words != "" {
			return "the token request " + words
		}
		switch c {
		case evidence.OK, "repeat-1", "repeat-2", "repeat-3":
			return "the good token request"
		case "ok-after-wrong-secret", "ok-after-id-only":
			return "the good token request after " + attempt(evidence.Case(strings.TrimPrefix(string(c), "ok-after-")))
		case "get":
			return "the GET of the token endpoint"
		}
		return "the token request with " + attempt(c)
	case evidence.SecondClient:
		return "the token request of the second client"
	case evidence.Info:
		return strings.TrimSpace("the info request " + with)
	case evidence.Specification:
		return strings.TrimSpace("the request for the specification " + with)
	}
	switch room, _, _ := strings.Cut(string(resource), "/"); room {
	case "tls":
		return "the TLS handshake " + string(label)
	case "cleartext":
		return "the call over plain HTTP " + string(label)
	}
	if _, known := operation(e, resource); !known {
		return string(label)
	}
	if c == "head" || c == "head-ok" {
		with = strings.TrimSpace("as HEAD " + with)
	}
	return strings.TrimSpace(resourceName(e, resource) + " " + with)
}

// inWords replaces the good call's label in the reason why another call of its resource was not sent.
func (e Evidence) inWords(label evidence.Label, because string) string {
	good := label.Resource().With(evidence.OK)
	return strings.Replace(because, "the good call "+string(good)+" ", e.asked(good)+" ", 1)
}

// peculiarity says in words what was particular about the calls of SEC, ERR, VER and ROB; empty for the others.
func peculiarity(c evidence.Case) string { return cmp.Or(oddInWords(c), sanitaryInWords(c)) }

// oddInWords says what is odd about a request; empty for the others.
func oddInWords(c evidence.Case) string {
	switch c {
	case "bearer-long":
		return "with a token of 6 kB"
	case "bearer-three":
		return "with the token a.b.c"
	case "bearer-dots":
		return "with a token of two dots"
	case "bearer-bad-header":
		return "with a JWT whose header is not JSON"
	case "bearer-bytes":
		return "with a token of bytes outside of ASCII"
	case "bearer-joined":
		return "with three JWTs joined"
	case "form-empty":
		return "without content"
	case "form-json":
		return "with JSON in place of a form"
	case "form-percent":
		return "with %zz in a value"
	case "form-bytes":
		return "with %FF in a value"
	case "form-long":
		return "with a value of 64 kB"
	case "form-parts":
		return "as multipart/form-data"
	case "form-text":
		return "as text/plain"
	case "id-quote":
		return "with a quote in the id"
	case "id-nul":
		return "with the id %00"
	case "id-bytes":
		return "with the id %FF"
	case "id-parent":
		return "with ..%2F in the id"
	case "id-long":
		return "with an id of 2 kB"
	case "id-umlauts":
		return "with umlauts in the id"
	case "id-braces":
		return "with braces in the id"
	case "query-bytes":
		return "with ?a=%FF"
	case "query-nameless":
		return "with ?="
	case "query-blank":
		return "with ?&&"
	case "query-long":
		return "with a value of 6 kB in the query"
	case "query-repeated":
		return "with 200 parameters of one name"
	case "query-size-nul":
		return "with %00 as the page size"
	case "odd-accept":
		return "with Accept: application/x-conformance"
	}
	return ""
}

// sanitaryInWords says what was particular about the calls of SEC, ERR, VER and ROB that are not odd.
func sanitaryInWords(c evidence.Case) string {
	switch c {
	case "session-cookie":
		return "with the cookies of a good call and without a token"
	case "identity-headers":
		return "without a token and with the headers of a proxy"
	case "forwarded-user":
		return "without a token and with X-Forwarded-User"
	case "remote-user":
		return "without a token and with X-Remote-User"
	case "forwarded-for":
		return "without a token and with X-Forwarded-For"
	case "original-url":
		return "without a token and with X-Original-URL"
	case "auth-request-user":
		return "without a token and with X-Auth-Request-User"
	case "real-ip":
		return "without a token and with X-Real-IP"
	case "origin-alone":
		return "without a token and with the Origin of a page elsewhere"
	case "lookalike-origin":
		return "with an Origin that begins like the node's own"
	case "foreign-origin":
		return "with the Origin of a page elsewhere"
	case "preflight":
		return "as a preflight from a page elsewhere"
	case "unknown-path":
		return "of a path that no operation has"
	case "unknown-version":
		return "in version 999"
	case "strict", "strict-head":
		return "without content coding"
	case "ok-after-bearers", "ok-after-form", "ok-after-ids", "ok-after-queries":
		return "after odd ones"
	}
	return ""
}

// forgedManner says in words what was particular about a token that its node did not issue for the call; empty for other cases.
func forgedManner(c evidence.Case) string {
	switch c {
	case "alg-none":
		return "with a token rewritten to alg none"
	case "alg-none-title":
		return "with a token rewritten to alg None"
	case "alg-none-upper":
		return "with a token rewritten to alg NONE"
	case "signature-cut":
		return "with the token without its signature"
	case "signature-zero":
		return "with the token under a signature of zero bytes"
	case "hmac-pem":
		return "with a token under HS256 and the public key in PEM"
	case "hmac-pem-trim":
		return "with a token under HS256 and the public key in PEM without its last newline"
	case "hmac-jwk":
		return "with a token under HS256 and the public key as JWK"
	case "embedded-jwk":
		return "with a forged token and its key in the header (jwk)"
	case "jku":
		return "with a forged token and a key set named in the header (jku)"
	case "borrowed-kid":
		return "with a forged token under the kid of the node's key"
	case "foreign-key":
		return "with a forged token that copies all claims"
	case "foreign-issuer":
		return "with a forged token of the issuer https://conformance.invalid"
	case "staging-token":
		return "with a staging token"
	case "other-audience":
		return "with a token meant for another audience"
	case "expired":
		return "with an expired token"
	case "expired-again":
		return "with an expired token, a minute later"
	case "token-in-query":
		return "with the token in the query"
	}
	return ""
}

// askedElsewhere names requests to other endpoints than those of the node's API; empty for other resources.
func askedElsewhere(l evidence.Label) string {
	switch l {
	case evidence.TokenEndpoint.With("throw-away"):
		return "the request for a throw-away token"
	case evidence.TokenEndpoint.With("to-expire"):
		return "the request for a token that is to expire"
	}
	switch l.Resource() {
	case evidence.OtherClient:
		return "the token request of the client of another audience"
	case evidence.StagingEndpoint:
		return "the token request to the staging environment"
	case evidence.KeySet:
		return "the request for the published keys"
	}
	for _, m := range metadataLabels() {
		if l == m {
			return "the request for the metadata"
		}
	}
	return ""
}

// attempt says in words what a refused request of the token endpoint tried.
func attempt(c evidence.Case) string {
	switch c {
	case "wrong-secret":
		return "the wrong secret"
	case "no-client":
		return "the request without credentials"
	case "id-only":
		return "the client id alone"
	case "no-grant-type":
		return "the request without grant_type"
	case "unknown-grant-type":
		return "the unknown grant type"
	case "unknown-scope":
		return "the unknown scope"
	case "repeated-grant-type":
		return "the repeated parameter"
	case "basic", "basic-unencoded":
		return "HTTP Basic"
	case "basic-unknown-client":
		return "HTTP Basic of an unknown client"
	case "unknown-parameter":
		return "the unknown parameter"
	case "empty-scope":
		return "the empty scope"
	case "percent-encoded":
		return "percent-encoded values"
	case "secret-in-url":
		return "the credentials in the URL"
	}
	return strings.ReplaceAll(string(c), "-", " ")
}
