package probe

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/target"
)

// tlsCases are the TLS handshakes with each origin, and the requests for the same paths in cleartext. The token request in cleartext has made-up credentials
// and comes after the good token requests, because a node may ban addresses for unknown clients.
func tlsCases() []row {
	var out []row
	for _, o := range []evidence.Resource{evidence.TokenOrigin, evidence.InfoOrigin, evidence.SpecOrigin, evidence.BaseOrigin} {
		distinct := func(n Node) bool {
			return slices.ContainsFunc(origins(n.Target), func(x origin) bool { return x.name == o })
		}
		handshakes := in(stageRest).inLane(string(o)).onlyIf(distinct)
		out = append(out,
			row{Label: o.With("modern"), Plan: handshakes, Shake: handshake(tls.VersionTLS12, tls.VersionTLS13)},
			row{Label: o.With("tls11"), Plan: handshakes, Shake: handshake(tls.VersionTLS11, tls.VersionTLS11)},
			row{Label: o.With("tls10"), Plan: handshakes, Shake: handshake(tls.VersionTLS10, tls.VersionTLS10)},
		)
	}
	for _, place := range []struct {
		name evidence.Resource
		plan timing
		url  func(Node) string
		send func(samePort bool) sender
	}{
		{evidence.CleartextToken, in(stageRest, stageSession), func(n Node) string { return n.Target.TokenURL }, tokenInCleartext},
		{evidence.CleartextInfo, in(stageRest, stageAnonymous.of(evidence.Info)), func(n Node) string { return n.Target.InfoURL }, infoInCleartext},
		{evidence.CleartextList, in(stageRest, stageAfterList).onceKnown(documentRead), Node.listBase, listInCleartext},
	} {
		lane := place.plan.inLane(string(place.name))
		out = append(out,
			row{Label: place.name.With("same-port"), Send: place.send(true), Plan: lane.onlyIf(func(n Node) bool { return isHTTPS(place.url(n)) })},
			row{Label: place.name.With("port-80"), Send: place.send(false), Plan: lane.onlyIf(func(n Node) bool {
				return isHTTPS(place.url(n)) && !evidence.LoopbackHost(evidence.HostOf(place.url(n))) // on this machine, port 80 belongs to another server
			})},
		)
	}
	return out
}

func isHTTPS(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Scheme == "https"
}

// listBase returns the URL under which the list operation is looked for first, or "".
func (n Node) listBase() string {
	list, ok := n.Operation(n.List)
	if bases := n.Bases(list); ok && len(bases) > 0 {
		return bases[0].Prefix
	}
	return ""
}

// cleartextTimeout bounds the wait for an answer in cleartext. Most nodes do not answer.
const cleartextTimeout = 5 * time.Second

// origin is an origin for handshakes, with its name in the evidence.
type origin struct {
	name evidence.Resource
	url  string
}

// origins lists the distinct https origins of a target. An origin of several URLs has the name of the first one.
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

func handshake(oldest, newest uint16) func(*run, evidence.Resource) (recorder.HandshakeRequest, *unsent) {
	return func(r *run, at evidence.Resource) (recorder.HandshakeRequest, *unsent) {
		for _, o := range origins(r.Target) {
			if o.name == at {
				return recorder.HandshakeRequest{URL: o.url, Oldest: oldest, Newest: newest}, nil
			}
		}
		return recorder.HandshakeRequest{}, notApplicable("the node has no such origin")
	}
}

func tokenInCleartext(samePort bool) sender {
	return func(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
		q, reason := inCleartext(r.Target.TokenURL, samePort)
		q.Method = http.MethodPost
		q.Header = append([]evidence.Field{{Name: "Content-Type", Value: formType}}, q.Header...)
		q.Body = Form(append([]Field{{Name: "grant_type", Value: "client_credentials"}}, r.unknownClient()...)...)
		q.Credential, q.Recipient = UnknownSecret, evidence.OriginOf(q.URL)
		return q, reason
	}
}

func infoInCleartext(samePort bool) sender {
	return func(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
		return inCleartext(r.Target.InfoURL, samePort)
	}
}

func listInCleartext(samePort bool) sender {
	return func(_ context.Context, r *run, _ evidence.Resource) (recorder.Request, *unsent) {
		res, reason := r.locateResource(evidence.OperationResource(r.node.List))
		if reason != nil {
			return recorder.Request{}, reason
		}
		return inCleartext(res.URL, samePort)
	}
}

// inCleartext requests an https URL over plain HTTP, and does not repeat it, because a missing answer is a result here. The request contains neither a secret nor
// a token.
func inCleartext(secure string, samePort bool) (recorder.Request, *unsent) {
	u, err := url.Parse(secure)
	if err != nil || u.Scheme != "https" {
		return recorder.Request{}, notApplicable("its URL is not https")
	}
	port := u.Port()
	switch {
	case !samePort && port == "80", !samePort && evidence.LoopbackHost(u.Hostname()):
		return recorder.Request{}, notApplicable("port 80 is requested already, or belongs to another server on this machine")
	case !samePort:
		port = "80"
	case port == "":
		port = "443"
	}
	u.Scheme, u.Host = "http", net.JoinHostPort(u.Hostname(), port)
	return recorder.Request{URL: u.String(), Timeout: cleartextTimeout, Once: true,
		Header: []evidence.Field{{Name: "Accept", Value: "application/json"}}}, nil
}
