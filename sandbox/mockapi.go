package sandbox

import (
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/mockapi"
	"github.com/rin-network/rin/sandbox/web"
)

// APIConfig configures an API that a node serves from its OpenAPI document, besides its own API.
type APIConfig struct {
	// File is the document, OpenAPI 3.0 or 3.1, JSON or YAML. A changed file is served within a second; an invalid change is logged and ignored.
	File string
	// Text is the document, if it was read already. File is only its name then, and is not read.
	Text string
	// Items is the number of items of each list; mockapi.DefaultItems when 0.
	Items int
	// Lists selects how list operations that declare a single object answer; as declared when empty.
	Lists mockapi.Lists
	// Examples says whether answers show the examples of the document; preferred when empty.
	Examples mockapi.Examples
	// State keeps what POST, PUT, PATCH and DELETE change, until a reset or until the document changes.
	State bool
	// Recorded has the answers of a real node to give instead of generated ones; nil without a recording.
	Recorded *mockapi.Recorded
	// Open lets callers without a token use the API below the service prefix. In the try-out space they always may.
	Open bool
}

// API describes an API that a node serves from a document.
type API struct {
	// File is the document; empty for a node without one. Recorded reports that the API comes from a recording; the node then serves no other API.
	File     string
	Recorded bool
	// Document is the URL of the API's document, TryOut that of the document for the try-out space, which needs no token.
	Document, TryOut string
	// Base is the base URL of the API that needs a token.
	Base string
	// Operations counts the served operations; NotServed lists the parts that are not served, with reasons.
	Operations int
	NotServed  []string
	// Fault says why the newest version of the file is not served; an older version is served instead. It is empty when the newest is served.
	Fault string
}

// API describes the API from a document for callers who reach the node at origin.
func (s *Server) API(origin string) API {
	if s.api == nil {
		return API{}
	}
	if s.places.PublicURL != "" {
		origin = s.places.PublicURL
	}
	current, fault := s.api.live.Current(), s.api.live.Fault()
	a := API{File: s.api.live.File(), Recorded: s.api.recorded, Operations: current.Operations()}
	a.TryOut, a.Document = origin+s.api.spaces[tryOutSpace].Base+current.DocumentPath(), origin+s.api.spaces[ownSpace].Base+current.DocumentPath()
	a.Base = origin + s.api.spaces[ownSpace].Base
	for _, part := range current.Omissions() {
		a.NotServed = append(a.NotServed, part.String())
	}
	if fault != nil {
		a.Fault = fault.Error()
	}
	return a
}

// mockAPI serves an API from a document. It takes precedence over the node's own resources. It is nil for a node without such an API.
type mockAPI struct {
	live   *mockapi.Live
	places address.Map
	// spaces has the try-out space and the node's own space, at the indexes tryOutSpace and ownSpace.
	spaces    [2]mockapi.Space
	documents *content.Cache[documentKey, *content.Body]
	// recorded reports that the API comes from a recording. The node then serves no other API.
	recorded bool
}

// The spaces of a mockAPI, by their index.
const (
	tryOutSpace = iota
	ownSpace
)

// documentKey identifies a version of the document, the space that it is served in, and the origin of its readers.
type documentKey struct {
	api    *mockapi.API
	space  int
	origin string
}

// documentBudget limits the bytes of cached documents.
const documentBudget = 4 << 20

// newMockAPI reads the document; the result is nil if none is configured. protect admits callers with a valid token and the right role.
func newMockAPI(c Config, places address.Map, protect func(http.Handler) http.Handler) (*mockAPI, error) {
	if c.API.File == "" {
		return nil, nil
	}
	options := mockapi.Options{Seed: c.Seed, Items: c.API.Items, Lists: c.API.Lists, Examples: c.API.Examples, State: c.API.State, Recorded: c.API.Recorded, PageIsOffset: c.Paging == funding.PagingOffset}
	live, err := mockapi.Open(c.API.File, c.API.Text, func(d *mockapi.Document) (*mockapi.API, error) {
		return mockapi.New(d, places.API(), options)
	}, c.Clock, c.Logger)
	if err != nil {
		return nil, fmt.Errorf("API: %w", err)
	}
	d := &mockAPI{live: live, places: places, recorded: c.API.Recorded != nil, documents: content.NewCache[documentKey, *content.Body](documentBudget)}
	d.spaces = [2]mockapi.Space{{Base: places.TryOut().API(), Origin: places.Origin}, {Base: places.API(), Origin: places.Origin}}
	if !c.API.Open {
		d.spaces[ownSpace].Guard = protect
	}
	return d, nil
}

// wrap serves the requests to the API and passes all others to next. The API cannot replace the info resource, which names all other resources.
func (d *mockAPI) wrap(next http.Handler) http.Handler {
	if d == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := d.find(r); h != nil {
			h.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// find returns the handler of a request; nil if the request is not for the API.
func (d *mockAPI) find(r *http.Request) http.Handler {
	class := d.places.Classify(r.URL.Path)
	if !class.API || class.Operation == journal.Info {
		return nil
	}
	space, api := ownSpace, d.live.Current()
	if class.TryOut {
		space = tryOutSpace
	}
	if strings.TrimSuffix(r.URL.Path, "/") == d.spaces[space].Base+api.DocumentPath() {
		return Route{Method: http.MethodGet, handler: d.document(api, space)}
	}
	if h := api.Handler(d.spaces[space], r); h != nil || !d.recorded {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		content.NotFound("the document of the recorded node has no resource at this path", d.locationHint(r)).Write(w, r)
	})
}

// serves reports whether the API has a path, or a path below it.
func (d *mockAPI) serves(path string) bool {
	return d != nil && slices.ContainsFunc(d.spaces[:], func(s mockapi.Space) bool { return d.live.Current().Serves(s, path) })
}

// locationHint lists paths of the API that resemble the path of a request, for the hint of a 404; "" if the path is not below the service prefix.
func (d *mockAPI) locationHint(r *http.Request) string {
	if d == nil {
		return ""
	}
	class := d.places.Classify(r.URL.Path)
	if !class.API {
		return ""
	}
	space, api := d.spaces[ownSpace], d.live.Current()
	if class.TryOut {
		space = d.spaces[tryOutSpace]
	}
	return "API from the document: " + strings.Join(append(api.SimilarPaths(space, r.URL.Path), space.Base+api.DocumentPath()), ", ")
}

// document serves the document of the API for a space.
func (d *mockAPI) document(api *mockapi.API, space int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := d.places.Origin(r)
		body, err := d.documents.Get(documentKey{api, space, origin}, func() (*content.Body, error) {
			text, err := api.SpaceDocument(d.spaces[space], origin, origin+d.places.ListedEndpoint().Token)
			if err != nil {
				return nil, err
			}
			return content.NewBody("application/json", text), nil
		})
		if err != nil {
			content.Internal().Write(w, r)
			return
		}
		body.Serve(w, r, content.OpenHeaders())
	})
}

// pages lists the documents for the reference page.
func (d *mockAPI) pages() []web.Document {
	if d == nil {
		return nil
	}
	api := d.live.Current()
	return []web.Document{
		{ID: "described-try-out", Name: api.Title() + " (try-out)", Note: "From " + filepath.Base(d.live.File()) + ", without a token.", Path: d.spaces[tryOutSpace].Base + api.DocumentPath()},
		{ID: "described", Name: api.Title(), Note: "From " + filepath.Base(d.live.File()) + ".", Path: d.spaces[ownSpace].Base + api.DocumentPath()},
	}
}

// welcome lists the documents for the start page.
func (d *mockAPI) welcome() []web.Place {
	if d == nil {
		return nil
	}
	document := d.live.Current().DocumentPath()
	return []web.Place{
		{Name: "API document", Method: http.MethodGet, Path: d.spaces[ownSpace].Base + document, Note: "the document of the API from " + filepath.Base(d.live.File()), Open: true},
		{Name: "API try-out document", Method: http.MethodGet, Path: d.spaces[tryOutSpace].Base + document, Note: "the same without a token", Open: true},
	}
}

// replacesNode reports whether the API replaces the resources of the node itself.
func (d *mockAPI) replacesNode() bool { return d != nil && d.recorded }

// endpoints lists the endpoints for the info resource.
func (d *mockAPI) endpoints() funding.MoreEndpoints {
	if d == nil {
		return funding.MoreEndpoints{}
	}
	api := d.live.Current()
	var all []funding.InfoEndpoint
	for _, e := range api.Endpoints() {
		all = append(all, funding.InfoEndpoint(e))
	}
	return funding.MoreEndpoints{List: all, Version: api, ReplacesOwn: d.recorded}
}
