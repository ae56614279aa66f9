package page

import (
	"bytes"
	"html/template"
	"net/http"
	"net/url"
	"sync"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// Document is an OpenAPI document that a reference page offers.
type Document struct {
	// ID chooses the document in the address of the page; letters, digits and hyphens.
	ID string
	// Name is what it is called, Note what a reader should know before a first call.
	Name, Note string
	// Path is where the node serves it.
	Path string
}

// Node is what pages say of the node that they belong to.
type Node struct {
	Acronym, Name string
	Places        address.Map
}

// Reference is the reference page of a node with all files that it needs. documents is asked for each answer, since documents change; the
// first is shown unless the address chooses another.
func Reference(node Node, documents func() []Document) []Resource {
	parsed := sync.OnceValues(func() (*template.Template, error) { return template.ParseFS(web, "web/reference.html") })
	draw := func(w http.ResponseWriter, r *http.Request) {
		t, err := parsed()
		var page bytes.Buffer
		if err == nil {
			err = t.Execute(&page, chosen(node, documents(), r.URL.Query().Get("document")))
		}
		if err != nil {
			problem.Internal().Write(w, r)
			return
		}
		representation.New(html, page.Bytes()).Serve(w, r, representation.Open())
	}
	return append([]Resource{{Path: node.Places.Docs(), Handler: protected(http.HandlerFunc(draw))}}, Assets(node.Places)...)
}

// referencePage is what the template of the reference shows.
type referencePage struct {
	Node       Node
	Base, Home string // paths of the assets and of the start page, as the browser sees them
	Tabs       []tab
	Chosen     tab
}

// tab is a document with its addresses as the browser sees them.
type tab struct {
	Document
	Spec, Page string
	Current    bool
}

// chosen is the page that shows the document with an id; the first document when there is none.
func chosen(node Node, documents []Document, id string) referencePage {
	before := mount(node.Places)
	page := referencePage{Node: node, Base: before + node.Places.Docs(), Home: before + node.Places.Home()}
	at := 0
	for i, d := range documents {
		if d.ID == id {
			at = i
		}
		page.Tabs = append(page.Tabs, tab{Document: d, Spec: before + d.Path, Page: page.Base + "?document=" + url.QueryEscape(d.ID)})
	}
	if len(page.Tabs) > 0 {
		page.Tabs[at].Current = true
		page.Chosen = page.Tabs[at]
	}
	return page
}

// mount is the path before all paths of the node in its public URL, as behind a proxy that takes it away.
func mount(places address.Map) string {
	if u, err := url.Parse(places.PublicURL); err == nil {
		return u.EscapedPath()
	}
	return ""
}
