package sandbox

import (
	"strings"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/journal"
)

// journalPlace is what the journal knows of a node.
func journalPlace(c Config, places address.Map) journal.Place {
	return journal.Place{Node: c.Member.ID, TokenPath: places.Listed().Token, Now: c.Clock, Origin: places.Origin, Classify: newClassifier(places).of}
}

// purpose is what a path is for.
type purpose struct {
	operation journal.Operation
	tryOut    bool
}

// classifier tells the purpose of each path, given without the slash at its end.
type classifier struct {
	exact map[string]purpose
	// details are the paths below which single fundings are.
	details map[string]purpose
	docs    string
	tryOut  string
}

func newClassifier(places address.Map) classifier {
	tryOut, staging := places.TryOut(), places.Staging()
	s := classifier{exact: map[string]purpose{}, details: map[string]purpose{}, docs: places.Docs(), tryOut: tryOut.API() + "/"}
	for operation, paths := range map[journal.Operation][]string{
		journal.Staging:  {staging.Token()},
		journal.Keys:     {places.Certs(), staging.Certs()},
		journal.Metadata: {places.Metadata(places.Root), places.Metadata(places.RealmIssuer()), places.Metadata(staging.Root)},
		journal.Registry: {places.Registry()},
		journal.Info:     {places.Info()},
		journal.Document: {places.Spec()},
		journal.List:     {places.Fundings()},
		journal.Health:   {places.Health()},
		journal.Docs:     {places.Home(), s.docs, "/favicon.ico"},
	} {
		for _, path := range paths {
			s.exact[strings.TrimSuffix(path, "/")] = purpose{operation, false}
		}
	}
	for operation, path := range map[journal.Operation]string{journal.Info: tryOut.Info(), journal.Document: tryOut.Spec(), journal.List: tryOut.Fundings()} {
		s.exact[strings.TrimSuffix(path, "/")] = purpose{operation, true}
	}
	for _, e := range places.Endpoints() {
		s.exact[e.Token] = purpose{journal.Token, false}
	}
	s.details[places.Fundings()], s.details[tryOut.Fundings()] = purpose{journal.Detail, false}, purpose{journal.Detail, true}
	return s
}

func (s classifier) of(path string) (journal.Operation, bool) {
	path = strings.TrimSuffix(path, "/")
	if p, ok := s.exact[path]; ok {
		return p.operation, p.tryOut
	}
	if end := strings.LastIndexByte(path, '/'); end > 0 {
		if p, ok := s.details[path[:end]]; ok {
			return p.operation, p.tryOut
		}
	}
	switch {
	case strings.HasPrefix(path, s.docs+"/"):
		return journal.Docs, false
	case strings.HasPrefix(path, s.tryOut):
		return journal.Other, true
	case strings.HasSuffix(path, "/.well-known/openid-configuration"):
		return journal.Metadata, false
	}
	return journal.Other, false
}

// classifyOutside is the purpose of paths of no node, which has a start page of the network at most.
func classifyOutside(path string) (journal.Operation, bool) {
	if path == "/" {
		return journal.Docs, false
	}
	return journal.Other, false
}

// mockOperation is what is below the service prefix and not the node's own: an API that is served from its document.
const mockOperation journal.Operation = "described"

// countedOperations are the names under which requests are counted; the last one is for all others.
func countedOperations() []string {
	var names []string
	for _, o := range []journal.Operation{
		journal.Token, journal.Staging, journal.Keys, journal.Metadata, journal.Registry, journal.Info, journal.Document, journal.List, journal.Detail,
		journal.Health, journal.Docs, mockOperation, journal.Other,
	} {
		names = append(names, string(o))
	}
	return names
}
