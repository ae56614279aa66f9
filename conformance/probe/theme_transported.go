package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
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
	name exchange.Resource
	url  string
}

// origins lists the distinct https origins of a target; of URLs that share one the first lends its name.
func origins(t target.Target) []origin {
	var out []origin
	seen := map[string]bool{}
	for _, o := range []origin{
		{exchange.TokenOrigin, t.TokenURL}, {exchange.InfoOrigin, t.InfoURL}, {exchange.SpecOrigin, t.SpecURL}, {exchange.BaseOrigin, t.BaseURL},
	} {
		u, err := url.Parse(o.url)
		if err != nil || u.Scheme != "https" || seen[exchange.Origin(u)] {
			continue
		}
		seen[exchange.Origin(u)] = true
		out = append(out, o)
	}
	return out
}

// forTransport plans handshakes and cleartext requests. The dummy credentials go out in cleartext after the tokens: who bans
// addresses for unknown clients has answered the good requests by then.
func forTransport(t target.Target) Plan {
	var p Plan
	for _, o := range origins(t) {
		p.lane(stageRest, nil, o.name, exchange.Modern, exchange.TLS11, exchange.TLS10)
	}
	p.lane(stageRest, []Stage{stageSession}, exchange.CleartextToken, cleartextPorts(t.TokenURL)...)
	p.lane(stageRest, []Stage{anonymous(exchange.Info)}, exchange.CleartextInfo, cleartextPorts(t.InfoURL)...)
	return p
}

// forCleartextList plans the same for the list operation.
func forCleartextList(n discover.Node) Plan {
	var p Plan
	if bases := n.Bases(); n.List != "" && len(bases) > 0 {
		p.lane(stageRest, []Stage{anonymous(exchange.OperationResource(n.List))}, exchange.CleartextList, cleartextPorts(bases[0].Prefix)...)
	}
	return p
}

// cleartextPorts are the ports to ask without TLS: the URL's own and, except on this machine, where it belongs to somebody else,
// that of plain HTTP.
func cleartextPorts(given string) []exchange.Case {
	u, err := url.Parse(given)
	switch {
	case err != nil || u.Scheme != "https":
		return nil
	case target.LoopbackHost(u.Hostname()):
		return []exchange.Case{exchange.SamePort}
	}
	return []exchange.Case{exchange.SamePort, exchange.StandardPort}
}

func (r *run) transportProbe(l exchange.Label) (probe, bool) {
	switch name := l.Resource(); name {
	case exchange.TokenOrigin, exchange.InfoOrigin, exchange.SpecOrigin, exchange.BaseOrigin:
		return probe{greet: func() (record.Greeting, *unsent) { return r.greeting(name, l.Case()) }}, true
	case exchange.CleartextToken:
		return r.inCleartext(l.Case(), func() (string, *unsent) { return r.Target.TokenURL, nil }, true), true
	case exchange.CleartextInfo:
		return r.inCleartext(l.Case(), func() (string, *unsent) { return r.Target.InfoURL, nil }, false), true
	case exchange.CleartextList:
		return r.inCleartext(l.Case(), func() (string, *unsent) {
			res, reason := r.locateResource(exchange.OperationResource(r.node.List))
			return res.URL, reason
		}, false), true
	}
	return probe{}, false
}

// greeting is the handshake of a case.
func (r *run) greeting(name exchange.Resource, c exchange.Case) (record.Greeting, *unsent) {
	for _, o := range origins(r.Target) {
		if o.name != name {
			continue
		}
		switch c {
		case exchange.TLS11:
			return record.Greeting{URL: o.url, Oldest: tls.VersionTLS11, Newest: tls.VersionTLS11}, nil
		case exchange.TLS10:
			return record.Greeting{URL: o.url, Oldest: tls.VersionTLS10, Newest: tls.VersionTLS10}, nil
		}
		return record.Greeting{URL: o.url, Oldest: tls.VersionTLS12, Newest: tls.VersionTLS13}, nil
	}
	return record.Greeting{}, notApplicable("the node has no such origin")
}

// inCleartext asks an https URL over plain HTTP, once: silence is an answer here. Neither secret nor token goes with it; a token request
// carries credentials that are none.
func (r *run) inCleartext(c exchange.Case, locate func() (string, *unsent), token bool) probe {
	return probe{prepare: func(context.Context) (record.Ask, *unsent) {
		secure, reason := locate()
		if reason != nil {
			return record.Ask{}, reason
		}
		u, err := url.Parse(secure)
		if err != nil || u.Scheme != "https" {
			return record.Ask{}, notApplicable("its URL is not https")
		}
		port := u.Port()
		switch {
		case c == exchange.StandardPort && port == "80", c == exchange.StandardPort && target.LoopbackHost(u.Hostname()):
			return record.Ask{}, notApplicable("port 80 is asked already, or belongs to somebody else on this machine")
		case c == exchange.StandardPort:
			port = "80"
		case port == "":
			port = "443"
		}
		u.Scheme, u.Host = "http", net.JoinHostPort(u.Hostname(), port)
		ask := record.Ask{URL: u.String(), Timeout: cleartextTimeout, Once: true, Header: []exchange.Field{{Name: "Accept", Value: "application/json"}}}
		if token {
			ask.Method = http.MethodPost
			ask.Header = append([]exchange.Field{{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}}, ask.Header...)
			ask.Body = discover.Form(
				discover.Field{Name: "grant_type", Value: "client_credentials"},
				discover.Field{Name: "client_id", Value: "conformance-probe"},
				discover.Field{Name: "client_secret", Value: "not-a-secret"},
			)
		}
		return ask, nil
	}}
}
