package requirement

import (
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file names calls for readers of a report, who know operations and credentials, not labels.

// callName returns the method and path of a request: "GET /ris/funding/v3/fundings".
func callName(x evidence.Exchange) string {
	path := x.Request.URL
	if u, err := url.Parse(x.Request.URL); err == nil {
		path = u.EscapedPath()
	}
	return clip(x.Request.Method + " " + path)
}

// callInWords is [callName] with the words of the request, so that two calls of one URL differ.
func callInWords(x evidence.Exchange) string {
	if manner := mannerOf(x); manner != "" {
		return clip(callName(x) + ", " + manner)
	}
	return callName(x)
}

// mannerOf says how a call differed from the good one. It returns "" for the good one.
func mannerOf(x evidence.Exchange) string {
	switch {
	case strings.HasPrefix(x.Words, "the "):
		return ""
	case x.Given["try"] == string(evidence.Absent):
		return "without " + x.Given["parameter"]
	case x.Given["or"] != "":
		return x.Given["parameter"] + "=" + shortened(x.Given["value"]) + " or " + shortened(x.Given["or"])
	case x.Given["parameter"] != "":
		return x.Given["parameter"] + "=" + shortened(x.Given["value"])
	}
	return x.Words
}

// tokenRequestName names a token request by its difference from the good one: "the wrong secret", "the request without credentials".
func tokenRequestName(x evidence.Exchange) string {
	if what, found := strings.CutPrefix(x.Words, "with "); found {
		return what
	}
	return "the request " + x.Words
}

// shortened cuts a long value, so that it does not hide the text beside it.
func shortened(value string) string {
	const most, start = 60, 20
	if n := utf8.RuneCountInString(value); n > most {
		return fmt.Sprintf("%s… (%d characters)", string([]rune(value)[:start]), n)
	}
	return value
}

// words returns the words of a request, whether it was sent or not; see [evidence.Exchange].
func (e Evidence) words(label evidence.Label) string {
	if x, sent := e.Get(label); sent {
		return x.Words
	}
	n, _ := e.Skipped(label)
	return n.Words
}

// RequestName names the request of a label for people: "GET /fundings with a garbage token", "the token request with the wrong secret".
func (e Evidence) RequestName(label evidence.Label) string {
	resource, c, words := label.Resource(), label.Case(), e.words(label)
	if strings.HasPrefix(words, "the ") {
		return words
	}
	if c == evidence.OK || c == "head-ok" {
		words = "with a good token"
	}
	name := string(label)
	switch kind, _, _ := strings.Cut(string(resource), "/"); {
	case label == evidence.TokenEndpoint.With(evidence.OK):
		return "the good token request"
	case resource == evidence.TokenEndpoint && strings.HasPrefix(words, "after "):
		name = "the good token request"
	case resource == evidence.TokenEndpoint, resource == evidence.SpareClient:
		name = "the token request"
	case resource == evidence.Info:
		name = "the info request"
	case resource == evidence.Specification:
		name = "the request for the specification"
	case resource == evidence.API:
		name = "the request"
	case kind == "tls":
		return "the TLS handshake " + name
	case kind == "cleartext":
		return "the call over plain HTTP " + name
	default:
		if _, known := operation(e, resource); !known {
			return name
		}
		name = resourceName(e, resource)
		if c == "head" || c == "head-ok" {
			name += " as HEAD"
		}
	}
	return strings.TrimSpace(name + " " + words)
}

// inWords replaces the good call's label in the reason why another call of its resource was not sent.
func (e Evidence) inWords(label evidence.Label, because string) string {
	good := label.Resource().With(evidence.OK)
	return strings.Replace(because, "the good call "+string(good)+" ", e.RequestName(good)+" ", 1)
}
