package address

import (
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

// Class is what a path is for.
type Class struct {
	Operation journal.Operation
	// API reports that the path is below the service prefix, where an API from a document may be, too.
	API bool
	// TryOut reports that it is in the try-out space, which is below the service prefix.
	TryOut bool
	// Elsewhere reports that it belongs to the other environment beside the node.
	Elsewhere bool
}

// Classify tells what a path is for, for any method of the request. A slash at its end makes no difference. The journal, the metrics, the rate
// limit and the faults all ask here.
func (m Map) Classify(path string) Class {
	path = strings.TrimSuffix(path, "/")
	switch path {
	case registryPath:
		return Class{Operation: journal.Registry}
	case healthPath:
		return Class{Operation: journal.Health}
	case "/favicon.ico":
		return Class{Operation: journal.Docs}
	}
	if issuer, ok := strings.CutPrefix(path, metadataPath); ok {
		switch issuer {
		case m.Root, m.RealmIssuer():
			return Class{Operation: journal.Metadata}
		case m.Elsewhere().Root:
			return Class{Operation: journal.Metadata, Elsewhere: true}
		}
	}
	path, ok := below(path, m.Root)
	if !ok {
		return Class{Operation: journal.Other}
	}
	if own, known := m.classifyServer(path); known {
		return Class{Operation: own}
	}
	if rest, ok := below(path, "/"+m.Prefix); ok {
		return classifyAPI(rest)
	}
	if rest, ok := below(path, elsewherePath); ok {
		return Class{Operation: m.classifyElsewhere(rest), Elsewhere: true}
	}
	if strings.HasSuffix(path, openIDPath) {
		return Class{Operation: journal.Metadata}
	}
	return Class{Operation: journal.Other}
}

// classifyElsewhere classifies the paths of the other environment, without its root.
func (m Map) classifyElsewhere(path string) journal.Operation {
	operation, known := m.Elsewhere().classifyServer(path)
	switch {
	case operation == journal.Token:
		return journal.ElsewhereToken
	case operation == journal.Docs: // it has no pages
		return journal.Other
	case known:
		return operation
	case strings.HasSuffix(path, openIDPath):
		return journal.Metadata
	}
	if rest, ok := below(path, "/"+m.Prefix); ok && classifyAPI(rest).Operation == journal.Info {
		return journal.ElsewhereInfo
	}
	return journal.Other
}

// classifyServer classifies the paths of an authorization server and of the pages for people, without the root; known is false for all others.
func (m Map) classifyServer(path string) (o journal.Operation, known bool) {
	if _, docs := below(path, docsPath); docs || path == "" {
		return journal.Docs, true
	}
	if path == tokenPath && m.Grants != AtRealm {
		return journal.Token, true
	}
	inRealm, ok := below(path, m.Provider)
	for _, segment := range []string{realmsPath, "/" + m.Realm} {
		if ok {
			inRealm, ok = below(inRealm, segment)
		}
	}
	switch {
	case ok && inRealm == certsPath:
		return journal.Keys, true
	case ok && inRealm == realmTokenPath && m.Grants != AtPlain:
		return journal.Token, true
	}
	return journal.Other, false
}

// classifyAPI classifies what follows the service prefix.
func classifyAPI(path string) Class {
	c := Class{Operation: journal.Other, API: true}
	if rest, ok := below(path, tryOutPath); ok {
		c.TryOut, path = true, rest
	}
	switch path {
	case strings.TrimSuffix(infoPath, "/"):
		c.Operation = journal.Info
	case specPath:
		c.Operation = journal.Document
	case fundingsPath:
		c.Operation = journal.List
	default:
		if _, ok := below(path, fundingsPath); ok {
			c.Operation = journal.Detail
		}
	}
	return c
}

// below returns what follows place in a path that is place or below it.
func below(path, place string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, place)
	return rest, ok && (rest == "" || rest[0] == '/')
}
