package requirement

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file names calls for readers of a report, who know operations and credentials, not labels. For a request without an answer it names the address
// that did not answer, and the input that names that address.

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
		return x.Given["parameter"] + "=" + shorten(x.Given["value"]) + " or " + shorten(x.Given["or"])
	case x.Given["parameter"] != "":
		return x.Given["parameter"] + "=" + shorten(x.Given["value"])
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

// shorten cuts a long value, so that the value does not hide the text beside it.
func shorten(value string) string {
	const maxLength, start = 60, 20
	if n := utf8.RuneCountInString(value); n > maxLength {
		return fmt.Sprintf("%s… (%d characters)", string([]rune(value)[:start]), n)
	}
	return value
}

// words returns the words that describe a request, whether it was sent or not; see [evidence.Exchange].
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

// reachHint returns the fix for a request without an answer, or "" if only another run can help.
func (e Evidence) reachHint(x evidence.Exchange) string {
	origin := clip(evidence.OriginOf(x.Request.URL))
	if origin == "" {
		return ""
	}
	switch x.Failure.Kind {
	case evidence.FailureResolve:
		return fmt.Sprintf("give %s an address in DNS, or correct %s", clip(evidence.HostOf(x.Request.URL)), e.namingInput(x))
	case evidence.FailureConnect:
		return fmt.Sprintf("make %s answer this machine, or correct %s; is its server running, and does every firewall let this machine through?", origin, e.namingInput(x))
	case evidence.FailureTLS:
		return fmt.Sprintf("correct TLS at %s, or name the authority of its certificate with --cacert", origin)
	case evidence.FailureReset, evidence.FailureProtocol:
		return fmt.Sprintf("find out why %s does not answer in HTTP, or correct %s", origin, e.namingInput(x))
	case evidence.FailureTimeout:
		if e.originStopped(x) {
			return restart(origin)
		}
		return fmt.Sprintf("find out why %s does not answer in time", origin)
	}
	return ""
}

// brokenTLS returns the judgement that follows if a request had no answer because of a fault of the server's TLS, which the group TLS judges.
func (e Evidence) brokenTLS(x evidence.Exchange) (j Judgement, broken bool) {
	if x.Failure.Kind != evidence.FailureTLS || strings.HasPrefix(string(x.Label), "tls/") {
		return Judgement{}, false
	}
	for _, id := range []ID{"TLS-03", "TLS-04"} {
		if j := e.judge(id); j.Outcome == Fail {
			return Judgement{Outcome: Blocked, BlockedBy: id, Reason: fmt.Sprintf("no answer to %s: needs %s, which is fail", e.RequestName(x.Label), id), Hint: j.Hint}, true
		}
	}
	return Judgement{}, false
}

// namingInput returns the input that names the URL of a request.
func (e Evidence) namingInput(x evidence.Exchange) string {
	if x.Label.Resource() == evidence.Registry {
		return "--registry"
	}
	for _, input := range []struct{ flag, url string }{
		{"--token-url", e.Run.TokenURL}, {"--info-url", e.Run.InfoURL}, {"--spec-url", e.Run.SpecURL},
		{"--staging-token-url", e.Run.StagingTokenURL}, {"--base-url", e.Run.BaseURL},
	} {
		switch {
		case input.url == "" || !evidence.SameOrigin(input.url, x.Request.URL):
		case e.Run.NodeID != "" && input.flag != "--staging-token-url":
			return "its entry in the registry"
		default:
			return input.flag
		}
	}
	return "the URL"
}

// originStopped reports whether a request timed out at an origin that stopped answering in this run.
func (e Evidence) originStopped(x evidence.Exchange) bool {
	origin := evidence.OriginOf(x.Request.URL)
	return x.Failure.Kind == evidence.FailureTimeout && slices.ContainsFunc(e.Outages(), func(o evidence.Outage) bool { return o.Origin == origin })
}

// restart returns the fix for an origin that stopped answering.
func restart(origin string) string {
	return fmt.Sprintf("find out why %s stopped answering: look into its log at the time of the first request without an answer, and at what is in front of it (a proxy, "+
		"a connection pool, a database that waits); restart it if necessary, then repeat the run", origin)
}
