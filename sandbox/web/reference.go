package web

import (
	"bytes"
	"embed"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/swaggest/swgui/v5/static"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/content"
)

// Document is an OpenAPI document that a reference page offers.
type Document struct {
	// ID selects the document in the URL of the page; letters, digits and hyphens.
	ID string
	// Name is the title of the document, Note what a reader should know before a first call.
	Name, Note string
	// Path is the path at which the node serves the document.
	Path string
}

// Node describes the node of a page.
type Node struct {
	ID, Acronym, Name string // ID is that of the registry
	Places            address.Map
}

// Reference returns the reference page of a node with all files that it needs. documents is called for each answer, because documents may
// change. The page shows the first one unless the URL selects another.
func Reference(node Node, documents func() []Document) []Resource {
	parsed := sync.OnceValues(func() (*template.Template, error) { return template.ParseFS(files, "web/reference.html") })
	render := func(w http.ResponseWriter, r *http.Request) {
		t, err := parsed()
		var page bytes.Buffer
		if err == nil {
			err = t.Execute(&page, newReferencePage(node, documents(), r.URL.Query().Get("document")))
		}
		if err != nil {
			content.Internal().Write(w, r)
			return
		}
		content.NewBody(html, page.Bytes()).Serve(w, r, content.OpenHeaders())
	}
	return append([]Resource{{Path: node.Places.Docs(), Handler: isolate(http.HandlerFunc(render))}}, Assets(node.Places)...)
}

// referencePage is the data of the template of the reference.
type referencePage struct {
	Node       Node
	Base, Home string // paths of the assets and of the start page, as the browser sees them
	Tabs       []tab
	Chosen     tab
}

// tab is a document with its URLs as the browser sees them.
type tab struct {
	Document
	Spec, Page string
	Current    bool
}

// newReferencePage makes the page that shows the document with an id, or the first document if the id is unknown.
func newReferencePage(node Node, documents []Document, id string) referencePage {
	prefix := mount(node.Places)
	page := referencePage{Node: node, Base: prefix + node.Places.Docs(), Home: prefix + node.Places.Home()}
	chosen := 0
	for i, d := range documents {
		if d.ID == id {
			chosen = i
		}
		page.Tabs = append(page.Tabs, tab{Document: d, Spec: prefix + d.Path, Page: page.Base + "?document=" + url.QueryEscape(d.ID)})
	}
	if len(page.Tabs) > 0 {
		page.Tabs[chosen].Current = true
		page.Chosen = page.Tabs[chosen]
	}
	return page
}

// mount returns the path of the node's public URL. A proxy removes it from requests, so links on pages must begin with it.
func mount(places address.Map) string {
	if u, err := url.Parse(places.PublicURL); err == nil {
		return u.EscapedPath()
	}
	return ""
}

// files holds the templates of the pages, and the scripts and styles of this project.
//
//go:embed web
var files embed.FS

// The media types of the files.
const (
	html      = "text/html; charset=utf-8"
	plainText = "text/plain; charset=utf-8"
	script    = "text/javascript; charset=utf-8"
	style     = "text/css; charset=utf-8"
)

// gzipSuffix ends the names of gzip files.
const gzipSuffix = ".gz"

// asset is a file that a page loads.
type asset struct {
	name, mediaType string
	from            fs.FS
	file            string // the name in from; a name that ends in gzipSuffix is a gzip file
}

func assets() []asset {
	return []asset{
		{"page.css", style, files, "web/page.css"},
		{"reference.css", style, files, "web/reference.css"},
		{"night.css", style, files, "web/night.css"},
		{"reference.js", script, files, "web/reference.js"},
		{"start.css", style, files, "web/start.css"},
		{"start.js", script, files, "web/start.js"},
		{"swagger-ui.css", style, static.FS, "swagger-ui.css.gz"},
		{"swagger-ui-bundle.js", script, static.FS, "swagger-ui-bundle.js.gz"},
		{"licences.txt", plainText, files, "web/licences.txt"},
	}
}

// Resource is a handler of GET requests, and its path.
type Resource struct {
	Path string
	http.Handler
}

// Assets returns the files that the pages of the node at places load, all below its reference
// page.
func Assets(places address.Map) []Resource {
	var all []Resource
	for _, a := range assets() {
		all = append(all, Resource{Path: places.Docs() + "/" + a.name, Handler: isolate(a.handler())})
	}
	return all
}

func (a asset) handler() http.Handler {
	if strings.HasSuffix(a.file, gzipSuffix) {
		file := content.NewGzipFile(a.mediaType, a.from, a.file)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if file.Serve(w, r, content.OpenHeaders()) != nil {
				content.Internal().Write(w, r)
			}
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		payload, err := fs.ReadFile(a.from, a.file)
		if err != nil {
			content.Internal().Write(w, r)
			return
		}
		content.NewBody(a.mediaType, payload).Serve(w, r, content.OpenHeaders())
	})
}

// policy is the Content-Security-Policy of all pages (CSP Level 3): everything is loaded from the node itself, inline code does not run, and
// browsers do not submit forms: without its script, a form would put a secret into a URL. Images may be data URLs, because Swagger UI's icons are.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// isolate protects a page: it sets the policy, sends no referrer, and keeps windows of other origins out.
func isolate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", policy)
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		next.ServeHTTP(w, r)
	})
}
