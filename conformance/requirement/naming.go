package requirement

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/exchange"
)

// This file names calls for people: a reader of a report knows operations and credentials, not labels.

// callName is method and path of a request: "GET /ris/funding/v3/fundings".
func callName(x exchange.Exchange) string {
	path := x.Request.URL
	if u, err := url.Parse(x.Request.URL); err == nil {
		path = u.EscapedPath()
	}
	return clip(x.Request.Method + " " + path)
}

// callInWords is [callName] with what was particular about the call, so that two calls of one URL can be told apart.
func callInWords(x exchange.Exchange) string {
	if manner := mannerOf(x); manner != "" {
		return clip(callName(x) + ", " + manner)
	}
	return callName(x)
}

// mannerOf says what was particular about a call; empty for the good one.
func mannerOf(x exchange.Exchange) string {
	c := x.Label.Case()
	if words := peculiarity(c); words != "" {
		return words
	}
	if x.Label.Resource() == exchange.TokenEndpoint {
		if c == exchange.OK || c == exchange.Get {
			return ""
		}
		return attempt(c)
	}
	if x.Given["try"] == string(exchange.Absent) {
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
func manner(c exchange.Case) string {
	if words := peculiarity(c); words != "" {
		return words
	}
	switch c {
	case exchange.NoToken, exchange.Head, exchange.PathSlash, exchange.PathDouble, exchange.PathDot, exchange.PathUpper, exchange.PathSuffix,
		exchange.PathEncoded, exchange.PathExtension:
		return "without a token"
	case exchange.Garbage:
		return "with a garbage token"
	case exchange.Tampered:
		return "with a tampered token"
	case exchange.EmptyBearer:
		return "with Bearer and nothing behind it"
	case exchange.BlankBearer:
		return "with Bearer and a blank behind it"
	case exchange.BasicScheme:
		return "with Basic and a random secret"
	case exchange.TokenScheme:
		return "with the scheme Token"
	case exchange.LowerScheme:
		return "with the scheme bearer"
	case exchange.UpperScheme:
		return "with the scheme BEARER"
	case exchange.TwoBlanks:
		return "with two blanks after Bearer"
	case exchange.MethodOverride:
		return "without a token and with X-HTTP-Method-Override: OPTIONS"
	case exchange.AsBrowser:
		return "without a token and with the Accept header of a browser"
	case exchange.CachedOK:
		return "with a query of its own"
	case exchange.CachedNoToken:
		return "without a token and with a query that came with a token before"
	case exchange.PageNoToken:
		return "without a token and for a page"
	case exchange.FirstToken:
		return "with the first token of the run"
	case exchange.NoRole:
		return "by the client without the role"
	case exchange.WithoutContentType:
		return "without Content-Type"
	case exchange.OK, exchange.HeadOK, exchange.Post, exchange.ItemFirst, exchange.ItemMiddle, exchange.ItemLast, exchange.UnknownID:
		return ""
	}
	if m := forgedManner(c); m != "" {
		return m
	}
	return strings.ReplaceAll(string(c), "-", " ")
}

// Asked says in words what the exchange of a label asks, for a reader who knows no labels.
func (e Evidence) Asked(label exchange.Label) string { return e.asked(label) }

// asked says in words what the exchange of a label asks: "GET /fundings with a garbage token", "the token request with the wrong secret".
func (e Evidence) asked(label exchange.Label) string {
	if words := askedElsewhere(label); words != "" {
		return words
	}
	resource, c := label.Resource(), label.Case()
	with := manner(c)
	if c == exchange.OK || c == exchange.HeadOK {
		with = "with a good token"
	}
	switch resource {
	case exchange.API:
		return "the request " + with
	case exchange.TokenEndpoint:
		if words := peculiarity(c); words != "" {
			return "the token request " + words
		}
		switch c {
		case exchange.OK, exchange.Repeat1, exchange.Repeat2, exchange.Repeat3:
			return "the good token request"
		case exchange.OKAfterWrongSecret, exchange.OKAfterIDOnly:
			return "the good token request after " + attempt(exchange.Case(strings.TrimPrefix(string(c), "ok-after-")))
		case exchange.Get:
			return "the GET of the token endpoint"
		}
		return "the token request with " + attempt(c)
	case exchange.SecondClient:
		return "the token request of the second client"
	case exchange.Info:
		return strings.TrimSpace("the info request " + with)
	case exchange.Specification:
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
	if c == exchange.Head || c == exchange.HeadOK {
		with = strings.TrimSpace("as HEAD " + with)
	}
	return strings.TrimSpace(resourceName(e, resource) + " " + with)
}

// inWords replaces the good call's label in the reason why another call of its resource was not sent.
func (e Evidence) inWords(label exchange.Label, because string) string {
	good := label.Resource().With(exchange.OK)
	return strings.Replace(because, "the good call "+string(good)+" ", e.asked(good)+" ", 1)
}
