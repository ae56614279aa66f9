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

// site is the place of the operations with the same servers.
type site struct {
	// scout is the operation whose calls find out which of the bases is right.
	scout openapi.Operation
	// scoutable is true if scout can be called without parameters.
	scoutable bool
	// bases are the candidates, best guess first.
	bases []Base
	// elsewhere are the origins of its servers, if the run may not call any of them.
	elsewhere []string
	// own is true if operations or paths name the servers. A document that was made behind a proxy names the wrong server for all operations, but servers of
	// single operations are written by hand, and are probably right.
	own bool
}

// readSites finds the sites of the executable operations: first that of the list, which is used for the whole node.
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
			p := site{scout: o, scoutable: Parameterless(o), own: o.OwnServers}
			p.bases, p.elsewhere = Bases(n.Target, o.Servers, o.Path)
			n.sites = append(n.sites, p)
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

// candidates lists the bases that are tried. It leaves out a site with only one base.
func (n Node) candidates() []candidate {
	var out []candidate
	for i, p := range n.sites {
		if !p.scoutable || len(p.bases) < 2 && len(p.elsewhere) == 0 {
			continue
		}
		for _, b := range p.bases {
			out = append(out, candidate{i, b})
		}
	}
	return out[:min(len(out), maxBases)]
}

// Bases lists where operations with these servers may be served, best guess first: the servers themselves, if their origin is the target's; then, for documents
// that were made behind a proxy, the base URL with the path of the first server, the base URL without it, and the parent of the specification URL. Other
// origins are never called, because a third party would get the token; if all servers are on other origins, elsewhere lists these. path is the path of an
// operation: of bases that give it the same URL, only the first is listed.
func Bases(t target.Target, servers []string, path string) (bases []Base, elsewhere []string) {
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
		if !slices.ContainsFunc(bases, func(known Base) bool { return known.URL(path) == b.URL(path) }) {
			bases = append(bases, b)
		}
	}
	declared, relative, elsewhere := declaredBases(t, servers, spec)
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
	return bases, elsewhere
}

// declaredBases returns the servers on origins of the target. Relative ones are separate, resolved against the document's URL: if the document is on a host of
// its own, they may be relative to the base URL. Without servers it returns the root of the document's host (OAS 3.0.3 OpenAPI Object). If no server is on
// an origin of the target, elsewhere lists their origins.
func declaredBases(t target.Target, servers []string, spec *url.URL) (absolute, relative []Base, elsewhere []string) {
	if len(servers) == 0 {
		servers = []string{"/"}
	}
	for _, server := range servers {
		u, err := spec.Parse(server)
		if err != nil || u.Opaque != "" || u.Host == "" || strings.ContainsAny(server, "{}") {
			continue
		}
		origin, named := namedOrigin(t, u)
		declared := Base{Prefix: origin + u.EscapedPath(), How: "server of the document", Exact: true}
		given, _ := url.Parse(server)
		switch {
		case !named && !slices.Contains(elsewhere, evidence.Origin(u)):
			elsewhere = append(elsewhere, evidence.Origin(u))
		case !named || len(absolute)+len(relative) == maxDeclared:
		case given.Host == "":
			relative = append(relative, declared)
		default:
			absolute = append(absolute, declared)
		}
	}
	if len(absolute)+len(relative) > 0 {
		elsewhere = nil
	}
	return absolute, relative, elsewhere
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
	p, tried := r.node.sites[at], r.attempts(at)
	for _, fits := range []func(attempt) bool{
		func(a attempt) bool { return a.wasFound() && !a.page },
		attempt.wasFound,
		func(a attempt) bool { return a.status != 0 && a.status != 404 && a.status != 405 },
	} {
		if i := slices.IndexFunc(tried, fits); i >= 0 {
			return tried[i].base, nil
		}
	}
	missing := len(tried) > 0 && !slices.ContainsFunc(tried, func(a attempt) bool { return a.status == 0 })
	switch {
	case len(p.elsewhere) > 0 && (missing || p.own):
		return Base{}, notApplicable("its server %.200s is on another origin, which is not called: allow it with --allow-origin %[1]s, or name the place of the operations with --base-url", p.elsewhere[0])
	case len(p.bases) == 0:
		return Base{}, unmet("the place of the operations is not known")
	}
	return p.bases[0], nil
}
