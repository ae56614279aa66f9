package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// transported makes TLS handshakes with each origin, and asks the same paths in cleartext (TLS).
func transported() theme {
	return theme{forTarget: forTransport, forDocument: forCleartextList, probe: (*run).transportProbe}
}

// cleartextTimeout is how long an answer in cleartext is waited for: most of the time there is none.
const cleartextTimeout = 5 * time.Second

// origin is a place to shake hands with, under its name in the evidence.
type origin struct {
	name evidence.Resource
	url  string
}

// origins lists the distinct https origins of a target; of URLs that share one the first lends its name.
func origins(t target.Target) []origin {
	var out []origin
	seen := map[string]bool{}
	for _, o := range []origin{
		{evidence.TokenOrigin, t.TokenURL}, {evidence.InfoOrigin, t.InfoURL}, {evidence.SpecOrigin, t.SpecURL}, {evidence.BaseOrigin, t.BaseURL},
	} {
		u, err := url.Parse(o.url)
		if err != nil || u.Scheme != "https" || seen[evidence.Origin(u)] {
			continue
		}
		seen[evidence.Origin(u)] = true
		out = append(out, o)
	}
	return out
}

// forTransport plans handshakes and cleartext requests. The dummy credentials go out in cleartext after the tokens: who bans
// addresses for unknown clients has answered the good requests by then.
func forTransport(t target.Target) Plan {
	var p Plan
	for _, o := range origins(t) {
		p.lane(stageRest, nil, o.name, "modern", "tls11", "tls10")
	}
	p.lane(stageRest, []Stage{stageSession}, evidence.CleartextToken, cleartextPorts(t.TokenURL)...)
	p.lane(stageRest, []Stage{anonymous(evidence.Info)}, evidence.CleartextInfo, cleartextPorts(t.InfoURL)...)
	return p
}

// forCleartextList plans the same for the list operation.
func forCleartextList(n Node) Plan {
	var p Plan
	if bases := n.Bases(); n.List != "" && len(bases) > 0 {
		p.lane(stageRest, []Stage{anonymous(evidence.OperationResource(n.List))}, evidence.CleartextList, cleartextPorts(bases[0].Prefix)...)
	}
	return p
}

// cleartextPorts are the ports to ask without TLS: the URL's own and, except on this machine, where it belongs to somebody else,
// that of plain HTTP.
func cleartextPorts(given string) []evidence.Case {
	u, err := url.Parse(given)
	switch {
	case err != nil || u.Scheme != "https":
		return nil
	case target.LoopbackHost(u.Hostname()):
		return []evidence.Case{"same-port"}
	}
	return []evidence.Case{"same-port", "port-80"}
}

func (r *run) transportProbe(l evidence.Label) (probe, bool) {
	switch name := l.Resource(); name {
	case evidence.TokenOrigin, evidence.InfoOrigin, evidence.SpecOrigin, evidence.BaseOrigin:
		return probe{greet: func() (recorder.HandshakeRequest, *unsent) { return r.greeting(name, l.Case()) }}, true
	case evidence.CleartextToken:
		return r.inCleartext(l.Case(), func() (string, *unsent) { return r.Target.TokenURL, nil }, true), true
	case evidence.CleartextInfo:
		return r.inCleartext(l.Case(), func() (string, *unsent) { return r.Target.InfoURL, nil }, false), true
	case evidence.CleartextList:
		return r.inCleartext(l.Case(), func() (string, *unsent) {
			res, reason := r.locateResource(evidence.OperationResource(r.node.List))
			return res.URL, reason
		}, false), true
	}
	return probe{}, false
}

// greeting is the handshake of a case.
func (r *run) greeting(name evidence.Resource, c evidence.Case) (recorder.HandshakeRequest, *unsent) {
	for _, o := range origins(r.Target) {
		if o.name != name {
			continue
		}
		switch c {
		case "tls11":
			return recorder.HandshakeRequest{URL: o.url, Oldest: tls.VersionTLS11, Newest: tls.VersionTLS11}, nil
		case "tls10":
			return recorder.HandshakeRequest{URL: o.url, Oldest: tls.VersionTLS10, Newest: tls.VersionTLS10}, nil
		}
		return recorder.HandshakeRequest{URL: o.url, Oldest: tls.VersionTLS12, Newest: tls.VersionTLS13}, nil
	}
	return recorder.HandshakeRequest{}, notApplicable("the node has no such origin")
}

// inCleartext asks an https URL over plain HTTP, once: silence is an answer here. Neither secret nor token goes with it; a token request
// carries credentials that are none.
func (r *run) inCleartext(c evidence.Case, locate func() (string, *unsent), token bool) probe {
	return probe{prepare: func(context.Context) (recorder.Request, *unsent) {
		secure, reason := locate()
		if reason != nil {
			return recorder.Request{}, reason
		}
		u, err := url.Parse(secure)
		if err != nil || u.Scheme != "https" {
			return recorder.Request{}, notApplicable("its URL is not https")
		}
		port := u.Port()
		switch {
		case c == "port-80" && port == "80", c == "port-80" && target.LoopbackHost(u.Hostname()):
			return recorder.Request{}, notApplicable("port 80 is asked already, or belongs to somebody else on this machine")
		case c == "port-80":
			port = "80"
		case port == "":
			port = "443"
		}
		u.Scheme, u.Host = "http", net.JoinHostPort(u.Hostname(), port)
		ask := recorder.Request{URL: u.String(), Timeout: cleartextTimeout, Once: true, Header: []evidence.Field{{Name: "Accept", Value: "application/json"}}}
		if token {
			ask.Method = http.MethodPost
			ask.Header = append([]evidence.Field{{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}}, ask.Header...)
			ask.Body = Form(
				Field{Name: "grant_type", Value: "client_credentials"},
				Field{Name: "client_id", Value: "conformance-probe"},
				Field{Name: "client_secret", Value: "not-a-secret"},
			)
		}
		return ask, nil
	}}
}
