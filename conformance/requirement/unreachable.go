package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file says what to do about a request without an answer: which address did not answer, and which input names it.

// reachHint returns the fix for a request without an answer, or "" if only another run can help.
func (e Evidence) reachHint(x evidence.Exchange) string {
	origin := clip(evidence.OriginOf(x.Request.URL))
	if origin == "" {
		return ""
	}
	switch x.Failure.Kind {
	case evidence.FailureResolve:
		return fmt.Sprintf("give %s an address in DNS, or correct %s", clip(evidence.HostOf(x.Request.URL)), e.naming(x))
	case evidence.FailureConnect:
		return fmt.Sprintf("make %s answer this machine, or correct %s; is its server running, and does every firewall let this machine through?", origin, e.naming(x))
	case evidence.FailureTLS:
		return fmt.Sprintf("correct TLS at %s, or name the authority of its certificate with --cacert", origin)
	case evidence.FailureReset, evidence.FailureProtocol:
		return fmt.Sprintf("find out why %s does not answer in HTTP, or correct %s", origin, e.naming(x))
	case evidence.FailureTimeout:
		if e.stopped(x) {
			return restart(origin)
		}
		return fmt.Sprintf("find out why %s does not answer in time", origin)
	}
	return ""
}

// brokenTLS says that a request had no answer because of a fault of the server's TLS, which the group TLS judges.
func (e Evidence) brokenTLS(x evidence.Exchange) (Judgement, bool) {
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

// naming returns the input that names the URL of a request.
func (e Evidence) naming(x evidence.Exchange) string {
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

// stopped reports whether a request timed out at an origin that stopped answering in this run.
func (e Evidence) stopped(x evidence.Exchange) bool {
	origin := evidence.OriginOf(x.Request.URL)
	return x.Failure.Kind == evidence.FailureTimeout && slices.ContainsFunc(e.Outages(), func(o evidence.Outage) bool { return o.Origin == origin })
}

// restart returns the fix for an origin that stopped answering.
func restart(origin string) string {
	return fmt.Sprintf("find out why %s stopped answering: look into its log at the time of the first request without an answer, and at what is in front of it (a proxy, "+
		"a connection pool, a database that waits); restart it if necessary, then repeat the run", origin)
}
