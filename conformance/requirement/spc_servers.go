package requirement

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// proxyHint is the fix for a document that names another server than the one that was tested.
const proxyHint = "write the public address of the operations into servers; behind a TLS proxy springdoc takes it from the forwarded headers with server.forward-headers-strategy=framework, or from springdoc's @Server"

// judgeServers is the check of SPC-10: each operation answered at a server that the document names for it.
func judgeServers(e Evidence) Judgement {
	var ownMissed []openapi.Operation // operations that answered elsewhere than at the servers that they or their paths name
	var missed []openapi.Operation    // operations that answered elsewhere than at the servers of the document
	answered := false
	highest := 0 // the highest index of a tested server in its list
	for _, r := range e.Roles.Operations {
		o, known := operation(e, r)
		x := e.exchange(r.With(evidence.OK))
		if !known || !success(x) {
			continue
		}
		answered = true
		switch at, covered := serverOf(e, o, x.Request.URL); {
		case covered:
			highest = max(highest, at)
		case o.OwnServers:
			ownMissed = append(ownMissed, o)
		default:
			missed = append(missed, o)
		}
	}
	switch {
	case !answered:
		return judgeServersByBase(e, cmp.Or(e.Roles.OperationBase, e.Run.BaseURL))
	case len(missed) > 0:
		return warnOfServers(e, cmp.Or(e.Roles.OperationBase, e.Run.BaseURL))
	case len(ownMissed) > 0:
		return warnOfOwnServers(e, ownMissed)
	}
	j := Passed(documentLabel(e))
	if highest > 0 && len(e.Spec.Servers) > highest {
		j = j.Noting(fmt.Sprintf("the server that was tested is entry %d of %d; most clients take the first, %s", highest+1, len(e.Spec.Servers), clip(e.Spec.Servers[0])))
	}
	return j
}

// serverOf returns the index of the server of an operation whose URL, with the path of the operation after it, is the one that was called.
func serverOf(e Evidence, o openapi.Operation, called string) (at int, ok bool) {
	u, err := url.Parse(called)
	if err != nil {
		return 0, false
	}
	at = slices.IndexFunc(declaredServers(o.Servers), func(server string) bool {
		s, err := url.Parse(resolveInDocument(e, server))
		return err == nil && sameOrigin(e, s.String(), called) && fitsTemplate(strings.TrimRight(s.EscapedPath(), "/")+o.Path, u.EscapedPath())
	})
	return at, at >= 0
}

// declaredServers returns the servers, or the default of the specification.
func declaredServers(servers []string) []string {
	if len(servers) == 0 {
		return []string{"/"}
	}
	return servers
}

// fitsTemplate reports whether a path is the template with any values in it.
func fitsTemplate(template, path string) bool {
	return slices.EqualFunc(strings.Split(template, "/"), strings.Split(path, "/"), func(expected, got string) bool {
		plain, err := url.PathUnescape(expected)
		value, errV := url.PathUnescape(got)
		return strings.Contains(expected, "{") && got != "" || err == nil && errV == nil && plain == value
	})
}

// warnOfOwnServers returns the judgement on operations that answered elsewhere than at the servers that they, or their paths, name.
func warnOfOwnServers(e Evidence, missed []openapi.Operation) Judgement {
	var faults []Subject
	for _, o := range missed {
		called, _, _ := strings.Cut(e.exchange(evidence.OperationResource(o.Key).With(evidence.OK)).Request.URL, "?")
		faults = append(faults, Subject{Name: operationName(o), Label: documentLabel(e), Expected: clip(called), Got: clip("the server " + o.Servers[0])})
	}
	return Warned(fmt.Sprintf("%s answered elsewhere than at its own server", faults[0].Name), faults[0].Expected, faults[0].Got).
		Hinting("correct the servers of the operation or of its path, or leave them out: those of the document then apply").
		Blaming(NodeDocument).About(faults...).bounded()
}

// judgeServersByBase judges the servers of a document by the base URL, for a run in which no operation answered.
func judgeServersByBase(e Evidence, base string) Judgement {
	if base == "" {
		return Inapplicable("the base URL of the operations is not known")
	}
	for i, server := range declaredServers(e.Spec.Servers) {
		if serverFault(e, server, base) == "" {
			j := Passed(documentLabel(e))
			if i > 0 {
				j = j.Noting(fmt.Sprintf("the server that was tested is entry %d of %d; most clients take the first, %s", i+1, len(e.Spec.Servers), clip(e.Spec.Servers[0])))
			}
			return j
		}
	}
	return warnOfServers(e, base)
}

// warnOfServers returns the judgement on a document whose operations are elsewhere than at its servers.
func warnOfServers(e Evidence, base string) Judgement {
	declared := declaredServers(e.Spec.Servers)
	var faults []Subject
	for i, server := range declared {
		fault := cmp.Or(serverFault(e, server, base), "does not lead to the operations, whose paths are appended to it")
		faults = append(faults, Subject{Name: fmt.Sprintf("server %d", i+1), Label: documentLabel(e), Expected: clip(base), Got: clip(server) + ": " + fault})
	}
	got, fault, _ := strings.Cut(faults[0].Got, ": ")
	reason := "no server of the document is the place that was tested: the first " + fault
	if len(e.Spec.Servers) == 0 {
		reason = "the document names no server, so clients look for the operations at the root of its host"
	}
	return Warned(reason, clip(base), got).Hinting(proxyHint).Blaming(NodeDocument).About(faults...).bounded()
}

// serverFault says why a server, relative to the address of the document, is not the place of the operations. It returns "" if it is.
func serverFault(e Evidence, server, base string) string {
	if strings.ContainsAny(server, "{}") {
		return "holds a variable without a default"
	}
	full := resolveInDocument(e, server)
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
	case e.Roles.OperationBase == "" && (isBelow(u.Path, b.Path) || isBelow(b.Path, u.Path)):
		return "" // the base was given by the operator and is less certain than operations that answered
	}
	return "is another path of the same host"
}

// isBelow reports whether a path begins with the segments of another.
func isBelow(path, top string) bool {
	return strings.HasPrefix(strings.TrimRight(path, "/")+"/", strings.TrimRight(top, "/")+"/")
}

// resolveInDocument resolves a URL of the document against the address of the document (OAS 3.0.3 Server Object).
func resolveInDocument(e Evidence, raw string) string {
	return cmp.Or(resolve(e.Run.SpecURL, raw), raw)
}

// sameAddress compares a URL of the document with a known one; a slash at the end does not matter.
func sameAddress(e Evidence, written, known string) bool {
	a, errA := url.Parse(resolveInDocument(e, written))
	b, errB := url.Parse(known)
	return errA == nil && errB == nil && sameOrigin(e, a.String(), known) && a.RawQuery == b.RawQuery &&
		strings.TrimRight(a.EscapedPath(), "/") == strings.TrimRight(b.EscapedPath(), "/")
}

// sameOrigin compares scheme, host and port; on loopback all names of this machine count as one host.
func sameOrigin(e Evidence, a, b string) bool {
	a, b = evidence.OriginOf(a), evidence.OriginOf(b)
	if e.Run.Loopback {
		a, b = unifyLoopback(a), unifyLoopback(b)
	}
	return a != "" && a == b
}

// unifyLoopback replaces each name and address of this machine in an origin by localhost.
func unifyLoopback(origin string) string {
	u, err := url.Parse(origin)
	if err != nil || !evidence.LoopbackHost(u.Hostname()) {
		return origin
	}
	return u.Scheme + "://localhost:" + u.Port()
}
