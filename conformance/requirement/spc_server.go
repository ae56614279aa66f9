package requirement

import (
	"fmt"
	"net/netip"
	"net/url"
	"strings"
)

const proxyHint = "write the public address of the operations into servers; behind a TLS proxy springdoc takes it from the forwarded headers with server.forward-headers-strategy=framework, or from springdoc's @Server"

func serversCover(e Evidence) Judgement {
	if e.Spec == nil {
		return unread()
	}
	base := e.Roles.OperationBase
	if base == "" {
		base = e.Run.BaseURL
	}
	if base == "" {
		return Missing("where the operations of this node live is not known")
	}
	declared := e.Spec.Servers
	if len(declared) == 0 {
		declared = []string{"/"} // the default of the specification
	}
	var faults []Subject
	for i, server := range declared {
		fault := serverFault(e, server, base)
		if fault == "" {
			j := Passed(described(e))
			if i > 0 {
				j = j.Noting(fmt.Sprintf("the server that was tested is entry %d of %d; most clients take the first, %s", i+1, len(declared), clip(declared[0])))
			}
			return j
		}
		faults = append(faults, Subject{Name: fmt.Sprintf("server %d", i+1), Label: described(e), Expected: clip(base), Got: clip(server) + ": " + fault})
	}
	first := strings.SplitN(faults[0].Got, ": ", 2)
	reason := "no server of the document is the place that was tested: the first " + serverFault(e, declared[0], base)
	if len(e.Spec.Servers) == 0 {
		reason = "the document names no server, so clients look for the operations at the root of its host"
	}
	return Warned(reason, clip(base), first[0]).Hinting(proxyHint).Blaming(NodeDocument).About(faults...).bounded()
}

// serverFault says why a server, relative to the address of the document, is not the place where the operations are; empty when it is.
func serverFault(e Evidence, server, base string) string {
	if strings.ContainsAny(server, "{}") {
		return "holds a variable without a default"
	}
	full := resolved(e, server)
	u, err := url.Parse(full)
	b, errB := url.Parse(base)
	switch {
	case err != nil || errB != nil || u.Host == "":
		return "is not a URL that clients can resolve"
	case sameAddress(e, full, base):
		return ""
	case u.Scheme == "http" && !e.Run.Loopback:
		return "has the scheme http, which would send tokens unencrypted"
	case !sameOrigin(e, full, base):
		return "is on another host or port"
	case e.Roles.OperationBase == "" && (below(u.Path, b.Path) || below(b.Path, u.Path)):
		return "" // the base is the operator's word, which says less than operations that answered
	}
	return "is another path of the same host"
}

// below reports that a path begins with the segments of another.
func below(path, top string) bool {
	return strings.HasPrefix(strings.TrimRight(path, "/")+"/", strings.TrimRight(top, "/")+"/")
}

// resolved is a URL of the document against the address that the document was read from (OAS 3.0.3 Server Object).
func resolved(e Evidence, raw string) string {
	at, err := url.Parse(e.Run.SpecURL)
	if err != nil {
		return raw
	}
	u, err := at.Parse(raw)
	if err != nil {
		return raw
	}
	return u.String()
}

// sameAddress reports that two URLs lead to the same place, whatever their last slash, one of them as the document writes it.
func sameAddress(e Evidence, written, known string) bool {
	a, errA := url.Parse(resolved(e, written))
	b, errB := url.Parse(known)
	return errA == nil && errB == nil && sameOrigin(e, a.String(), known) && a.RawQuery == b.RawQuery &&
		strings.TrimRight(a.EscapedPath(), "/") == strings.TrimRight(b.EscapedPath(), "/")
}

// sameOrigin compares scheme, host and port; on loopback the names of this machine are one.
func sameOrigin(e Evidence, a, b string) bool {
	a, b = origin(a), origin(b)
	if e.Run.Loopback {
		a, b = thisMachine(a), thisMachine(b)
	}
	return a != "" && a == b
}

func thisMachine(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return origin
	}
	ip, err := netip.ParseAddr(u.Hostname())
	if u.Hostname() == "localhost" || err == nil && ip.IsLoopback() {
		return u.Scheme + "://localhost:" + u.Port()
	}
	return origin
}
