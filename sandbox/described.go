package sandbox

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"github.com/rin-network/rin/fixtures/schema"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/described"
	"github.com/rin-network/rin/sandbox/described/document"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/info"
	"github.com/rin-network/rin/sandbox/page"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// APIConfig is an API that a node serves as its OpenAPI document describes it, beside its own.
type APIConfig struct {
	// File is the document, OpenAPI 3.0 or 3.1, JSON or YAML. A change is served within a second; a bad one is logged, and leaves what was there.
	File string
	// Items is the number of items of each list; described.DefaultItems when 0.
	Items int
	// Lists says how list operations that declare a single object answer; as declared when empty.
	Lists described.Lists
	// Open serves the API without a token at its own place, too, as the try-out space does anyhow.
	Open bool
}

// API is what a node tells of an API that it serves from a document.
type API struct {
	// File is the document; empty for a node without one.
	File string
	// Document and TryOut are the addresses of the document as it is served with a token and without.
	Document, TryOut string
	// Operations counts those that are served; NotServed says which parts are not, and why.
	Operations int
	NotServed  []string
	// Fault says why the newest version of the file is not served, but the one before it; empty when it is.
	Fault string
}

// API tells of the API that the node serves from a document, for callers who reach the node at origin.
func (s *Server) API(origin string) API {
	if s.api == nil {
		return API{}
	}
	if s.places.PublicURL != "" {
		origin = s.places.PublicURL
	}
	current, fault := s.api.live.Current(), s.api.live.Fault()
	a := API{File: s.api.live.File(), Operations: current.Operations()}
	a.TryOut, a.Document = origin+s.api.spaces[0].Base+current.Document(), origin+s.api.spaces[1].Base+current.Document()
	for _, part := range current.Faults() {
		a.NotServed = append(a.NotServed, part.String())
	}
	if fault != nil {
		a.Fault = fault.Error()
	}
	return a
}

// describedAPI puts an API from a document before the node's own resources. It is nil for a node without one.
type describedAPI struct {
	live   *described.Live
	places address.Map
	// spaces are the try-out space and the node's own, in this order: the path of the first is below that of the second.
	spaces    [2]described.Space
	documents *representation.Cache[documentKey, *representation.Body]
}

// documentKey tells versions of the document, where it is served, and who sees it where.
type documentKey struct {
	api    *described.API
	space  int
	origin string
}

// documentBudget bounds the bytes of documents that are kept.
const documentBudget = 4 << 20

// newDescribed reads the document. protect lets callers with a good token and the right role pass.
func newDescribed(c Config, places address.Map, protect func(http.Handler) http.Handler) (*describedAPI, error) {
	if c.API.File == "" {
		return nil, nil
	}
	options := described.Options{Seed: c.Seed, Items: c.API.Items, Lists: c.API.Lists, PageIsOffset: c.Paging == funding.PagingOffset}
	live, err := described.Open(c.API.File, func(d *document.Document) (*described.API, error) {
		return described.New(d, samples{schema.New(d.Schemas, c.Seed)}, places.API(), options)
	}, c.Clock, c.Logger)
	if err != nil {
		return nil, fmt.Errorf("API: %w", err)
	}
	d := &describedAPI{live: live, places: places, documents: representation.NewCache[documentKey, *representation.Body](documentBudget)}
	d.spaces = [2]described.Space{{Base: places.TryOut().API()}, {Base: places.API()}}
	if !c.API.Open {
		d.spaces[1].Guard = protect
	}
	return d, nil
}

// samples draws values for answers.
type samples struct{ *schema.Generator }

// Value implements described.Samples.
func (s samples) Value(pointer, key string) (any, error) {
	return s.Generator.Value(pointer, key, schema.Options{Direction: schema.Response})
}

// before serves the API where it is, and leaves all else to next. The info resource is never taken: it leads to all others.
func (d *describedAPI) before(next http.Handler) http.Handler {
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

func (d *describedAPI) find(r *http.Request) http.Handler {
	path := strings.TrimSuffix(r.URL.Path, "/") + "/"
	for i, space := range d.spaces {
		if !strings.HasPrefix(path, space.Base+"/") {
			continue
		}
		if strings.HasPrefix(path, space.Base+"/info/v1/oauth/info/") {
			return nil
		}
		api := d.live.Current()
		if path == space.Base+api.Document()+"/" {
			return Route{Method: http.MethodGet, handler: d.document(api, i)}
		}
		return api.Handler(space, r)
	}
	return nil
}

// near names places of the API for a caller who is lost near them.
func (d *describedAPI) near(r *http.Request) string {
	if d == nil {
		return ""
	}
	for _, space := range d.spaces {
		if strings.HasPrefix(r.URL.Path, space.Base+"/") {
			api := d.live.Current()
			return "; described: " + strings.Join(append(api.Near(space, r.URL.Path), space.Base+api.Document()), ", ")
		}
	}
	return ""
}

// document serves the document of the API as it holds in a space.
func (d *describedAPI) document(api *described.API, space int) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		origin := d.places.Origin(r)
		body, err := d.documents.Get(documentKey{api, space, origin}, func() (*representation.Body, error) {
			text, err := api.Published(d.spaces[space], origin, origin+d.places.Listed().Token)
			if err != nil {
				return nil, err
			}
			return representation.New("application/json", text), nil
		})
		if err != nil {
			problem.Internal().Write(w, r)
			return
		}
		body.Serve(w, r, representation.Open())
	})
}

// pages are what the reference page offers of the API.
func (d *describedAPI) pages() []page.Document {
	if d == nil {
		return nil
	}
	api := d.live.Current()
	return []page.Document{
		{ID: "described-try-out", Name: api.Title() + " (try-out)", Note: "From " + filepath.Base(d.live.File()) + ", without a token.", Path: d.spaces[0].Base + api.Document()},
		{ID: "described", Name: api.Title(), Note: "From " + filepath.Base(d.live.File()) + ".", Path: d.spaces[1].Base + api.Document()},
	}
}

// welcome is what the start page tells of the API.
func (d *describedAPI) welcome() []page.Place {
	if d == nil {
		return nil
	}
	at := d.live.Current().Document()
	return []page.Place{
		{Name: "described", Method: http.MethodGet, Path: d.spaces[1].Base + at, Note: "the document of the API from " + filepath.Base(d.live.File()), Open: true},
		{Name: "described try-out", Method: http.MethodGet, Path: d.spaces[0].Base + at, Note: "the same without a token", Open: true},
	}
}

// further are the endpoints of the API for the info resource.
func (d *describedAPI) further() ([]info.Endpoint, any) {
	if d == nil {
		return nil, nil
	}
	api := d.live.Current()
	var all []info.Endpoint
	for _, e := range api.Endpoints() {
		all = append(all, info.Endpoint(e))
	}
	return all, api
}
