package probe

import (
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/target"
)

// maxDeclared is how many servers of a document are tried.
const maxDeclared = 4

// site is a group of operations with the same servers.
type site struct {
	// scout is the operation whose calls find out which of the bases is right.
	scout openapi.Operation
	// scoutable is true if scout can be called without parameters.
	scoutable bool
	// bases are the URLs under which the operations may be served, best guess first.
	bases []Base
	// otherOrigins are the origins of the servers, if the run may not call any of them.
	otherOrigins []string
	// own is true if operations or paths name the servers. A document that was made behind a proxy names the wrong server for all operations, but servers of
	// single operations are written by hand, and are probably right.
	own bool
}

// readSites groups the executable operations into sites. The site of the list comes first, because its base is used for the whole node.
func (n *Node) readSites() {
	n.siteOf = map[string]int{}
	known := map[string]int{}
	operations := slices.Clone(n.Executable)
	slices.SortStableFunc(operations, func(a, b openapi.Operation) int { // the list and operations without parameters come first
		return n.scoutRank(b) - n.scoutRank(a)
	})
	for _, o := range operations {
		key := strings.Join(o.Servers, "\n")
		at, ok := known[key]
		if !ok {
			at = len(n.sites)
			known[key] = at
			s := site{scout: o, scoutable: Parameterless(o), own: o.OwnServers}
			s.bases, s.otherOrigins = Bases(n.Target, o.Servers, o.Path)
			n.sites = append(n.sites, s)
		}
		n.siteOf[o.Key] = at
	}
}

// scoutRank ranks operations by how well their answers show where operations are served.
func (n *Node) scoutRank(o openapi.Operation) int {
	switch {
	case !Parameterless(o):
		return 0
	case o.Key == n.List:
		return 3
	case !o.AboutService(): // many places answer a health check
		return 2
	}
	return 1
}

// siteIndex returns the index of the site of an operation, or 0 if the operation is unknown.
func (n Node) siteIndex(o openapi.Operation) int { return n.siteOf[o.Key] }

// candidate is a base that is tried for a site.
type candidate struct {
	site int
	base Base
}

// candidates lists the bases that are tried. It leaves out sites whose scout needs parameters, and sites with one base at most, unless the servers are on other
// origins: then the one base may be wrong.
func (n Node) candidates() []candidate {
	var out []candidate
	for i, s := range n.sites {
		if !s.scoutable || len(s.bases) < 2 && len(s.otherOrigins) == 0 {
			continue
		}
		for _, b := range s.bases {
			out = append(out, candidate{i, b})
		}
	}
	return out[:min(len(out), maxBases)]
}

// Bases lists where operations with these servers may be served, best guess first:
//
//   - the servers themselves, if they are on an origin of the target
//   - for documents that were made behind a proxy: the base URL with the path of the first server, the base URL without it, and the parent of the
//     specification URL
//
// Other origins are never called, because a third party would get the token. If all servers are on other origins, otherOrigins lists those. operationPath is
// the path of one of the operations. If several bases give it the same URL, only the first is listed.
func Bases(t target.Target, servers []string, operationPath string) (bases []Base, otherOrigins []string) {
	spec, err := url.Parse(t.SpecURL)
	if err != nil {
		spec = &url.URL{}
	}
	base, err := url.Parse(t.BaseURL)
	if err != nil || base.Host == "" {
		base = &url.URL{Scheme: spec.Scheme, Host: spec.Host}
	}
	if base.Host == "" {
		return nil, nil
	}
	add := func(b Base) {
		b.Prefix = strings.TrimRight(b.Prefix, "/")
		if !slices.ContainsFunc(bases, func(known Base) bool { return known.URL(operationPath) == b.URL(operationPath) }) {
			bases = append(bases, b)
		}
	}
	declared, relative, otherOrigins := declaredBases(t, servers, spec)
	if spec.Host == base.Host {
		declared, relative = append(declared, relative...), nil
	}
	for _, b := range declared {
		add(b)
	}
	if path := serverPath(servers, spec); path != "" {
		add(Base{Prefix: schemeAndHost(base) + Join(base.EscapedPath(), path), How: "base URL with the path of servers[0]"})
	}
	add(Base{Prefix: schemeAndHost(base) + base.EscapedPath(), How: "base URL"})
	for _, b := range relative {
		add(b)
	}
	if spec.Host != "" {
		path := strings.TrimRight(spec.EscapedPath(), "/")
		add(Base{Prefix: schemeAndHost(spec) + path[:max(0, strings.LastIndexByte(path, '/'))], How: "parent of the specification URL"})
	}
	return bases, otherOrigins
}

// declaredBases returns the servers on origins of the target. Relative servers are resolved against the document's URL. They are separate, because they may be
// relative to the base URL instead if the document is on a host of its own. Without servers it returns the root of the document's host (OAS 3.0.3 OpenAPI
// Object). If no server is on an origin of the target, otherOrigins lists the origins of the servers.
func declaredBases(t target.Target, servers []string, spec *url.URL) (absolute, relative []Base, otherOrigins []string) {
	if len(servers) == 0 {
		servers = []string{"/"}
	}
	for _, server := range servers {
		u, err := spec.Parse(server)
		if err != nil || u.Opaque != "" || u.Host == "" || strings.ContainsAny(server, "{}") {
			continue
		}
		origin, named := namedOrigin(t, u)
		if !named {
			if other := evidence.Origin(u); !slices.Contains(otherOrigins, other) {
				otherOrigins = append(otherOrigins, other)
			}
			continue
		}
		if len(absolute)+len(relative) == maxDeclared {
			continue
		}
		declared := Base{Prefix: origin + u.EscapedPath(), How: "server of the document", Exact: true}
		if unresolved, _ := url.Parse(server); unresolved.Host == "" {
			relative = append(relative, declared)
		} else {
			absolute = append(absolute, declared)
		}
	}
	if len(absolute)+len(relative) > 0 {
		otherOrigins = nil
	}
	return absolute, relative, otherOrigins
}

// namedOrigin returns scheme and host of a URL if the target names its origin. All names of this machine count as the same host.
func namedOrigin(t target.Target, u *url.URL) (schemeHost string, ok bool) {
	for _, origin := range t.Origins() {
		if origin == evidence.Origin(u) {
			return schemeAndHost(u), true
		}
		named, err := url.Parse(origin)
		if err == nil && named.Scheme == u.Scheme && named.Port() == u.Port() && evidence.LoopbackHost(named.Hostname()) && evidence.LoopbackHost(u.Hostname()) {
			return origin, true
		}
	}
	return "", false
}

// attempt is the result of a candidate.
type attempt struct {
	candidate
	status int
	page   bool // the answer is a page for people
}

func (a attempt) wasFound() bool { return a.status/100 == 2 }

// attempts returns the attempts for a site.
func (r *run) attempts(at int) []attempt {
	r.facts.mu.Lock()
	defer r.facts.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.facts.attempts), func(a attempt) bool { return a.site != at })
}

// base returns the base URL of the node's operations.
func (r *run) base() (Base, bool) {
	if len(r.node.sites) == 0 {
		return Base{}, false
	}
	b, reason := r.baseAt(0)
	return b, reason == nil
}

// baseOf returns the base URL of an operation.
func (r *run) baseOf(o openapi.Operation) (Base, *unsent) {
	if len(r.node.sites) == 0 {
		return Base{}, unmet("the place of the operations is not known")
	}
	return r.baseAt(r.node.siteIndex(o))
}

// baseAt returns the base URL of a site: the candidate that answered with data, else with 2xx, else the first that did not answer 404 or 405, else the best
// guess. A site on another origin is not called.
func (r *run) baseAt(at int) (Base, *unsent) {
	s, tried := r.node.sites[at], r.attempts(at)
	for _, fits := range []func(attempt) bool{
		func(a attempt) bool { return a.wasFound() && !a.page },
		attempt.wasFound,
		func(a attempt) bool { return a.status != 0 && a.status != 404 && a.status != 405 },
	} {
		if i := slices.IndexFunc(tried, fits); i >= 0 {
			return tried[i].base, nil
		}
	}
	// Each answer was 404 or 405. If each attempt had an answer, the operation is surely not below these bases.
	allRefused := len(tried) > 0 && !slices.ContainsFunc(tried, func(a attempt) bool { return a.status == 0 })
	switch {
	case len(s.otherOrigins) > 0 && (allRefused || s.own):
		return Base{}, notApplicable("its server %.200s is on another origin, which is not called: allow it with --allow-origin %[1]s, or name the place of the operations with --base-url", s.otherOrigins[0])
	case len(s.bases) == 0:
		return Base{}, unmet("the place of the operations is not known")
	}
	return s.bases[0], nil
}
