package address

import (
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

// Class is what a path is for.
type Class struct {
	Operation journal.Operation
	// API reports that the path is below the service prefix. There the node may also serve another API, from an OpenAPI document.
	API bool
	// TryOut reports that the path is in the try-out space, which is below the service
	// prefix.
	TryOut bool
	// Elsewhere reports that the path belongs to the other environment beside the node.
	Elsewhere bool
}

// Classify returns what a path is for, whatever the method. It ignores a trailing slash. The journal, the metrics, the rate limit and the faults use
// it, so that they agree on what a request is.
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
	if operation, known := m.classifyServer(path); known {
		return Class{Operation: operation}
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

// classifyElsewhere classifies a path of the other environment, given without its root.
func (m Map) classifyElsewhere(path string) journal.Operation {
	operation, known := m.Elsewhere().classifyServer(path)
	switch {
	case operation == journal.Token:
		return journal.ElsewhereToken
	case operation == journal.Docs: // the other environment has no pages for people
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

// classifyServer classifies a path of an authorization server or of the pages for people, given without the root; known is false for other paths.
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

// below returns what follows base in a path; ok is false unless the path is base itself or below it.
func below(path, base string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(path, base)
	return rest, ok && (rest == "" || rest[0] == '/')
}
