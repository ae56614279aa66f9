package sandbox

import (
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/journal"
)

// journalPlace describes the node to the journal.
func journalPlace(c Config, places address.Map) journal.Place {
	return journal.Place{Node: c.Member.ID, TokenPath: places.Listed().Token, Now: c.Clock, Origin: places.Origin, Classify: func(path string) (journal.Operation, bool) {
		class := places.Classify(path)
		return class.Operation, class.TryOut
	}}
}

// classifyOutside classifies the paths outside all nodes of a network, which has a start page at most.
func classifyOutside(path string) (journal.Operation, bool) {
	if path == "/" {
		return journal.Docs, false
	}
	return journal.Other, false
}

// mockOperation is the operation of requests below the service prefix that are not for the node's own resources: they are for an API from a
// document.
const mockOperation journal.Operation = "described"

// countedAs is the operation that a request is counted under in the metrics.
func countedAs(c address.Class) journal.Operation {
	if c.Operation == journal.Other && c.API {
		return mockOperation
	}
	return c.Operation
}

// countedOperations lists the names under which requests are counted; the last one is for all others.
func countedOperations() []string {
	var names []string
	for _, o := range []journal.Operation{
		journal.Token, journal.ElsewhereToken, journal.ElsewhereInfo, journal.Keys, journal.Metadata, journal.Registry, journal.Info, journal.Document, journal.List, journal.Detail,
		journal.Health, journal.Docs, mockOperation, journal.Other,
	} {
		names = append(names, string(o))
	}
	return names
}
