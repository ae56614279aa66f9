package scenario

import (
	"strings"

	"github.com/rin-network/rin/sandbox/address"
)

// Kind is what a request is for.
type Kind string

// The kinds of requests.
const (
	Other    Kind = ""
	Token    Kind = "token"
	Keys     Kind = "keys"
	Metadata Kind = "metadata"
	Registry Kind = "registry"
	Info     Kind = "info"
	Document Kind = "document"
	List     Kind = "list"
	Detail   Kind = "detail"
	TryOut   Kind = "try-out" // whatever is below it
	API      Kind = "api"     // whatever else is below the service prefix
)

// protected lists the kinds that ask for an access token, or may.
func protected() []Kind { return []Kind{Info, List, Detail, API} }

// open lists the kinds that do not.
func open() []Kind { return []Kind{Token, Keys, Metadata, Registry, Document, TryOut} }

// kindOf tells what a request to a path is for; a slash at its end makes no difference.
func kindOf(places address.Map, path string) Kind {
	path = strings.TrimSuffix(path, "/")
	switch path {
	case places.Token(), places.RealmToken():
		return Token
	case places.Certs():
		return Keys
	case places.Registry():
		return Registry
	case strings.TrimSuffix(places.Info(), "/"):
		return Info
	case places.Spec():
		return Document
	case places.Fundings():
		return List
	case places.Metadata(places.Root), places.Metadata(places.RealmIssuer()):
		return Metadata
	}
	switch {
	case strings.HasSuffix(path, "/.well-known/openid-configuration"):
		return Metadata
	case below(path, places.Fundings()):
		return Detail
	case below(path, places.TryOut().API()):
		return TryOut
	case below(path, places.API()):
		return API
	}
	return Other
}

// below tells whether a path is that of a place, or below it.
func below(path, place string) bool {
	rest, ok := strings.CutPrefix(path, place)
	return ok && (rest == "" || rest[0] == '/')
}
