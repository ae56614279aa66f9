package control

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/content"
)

// Document is the OpenAPI 3.1 document of the control listener.
//
//go:embed openapi.json
var Document []byte

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

const mediaHTML, mediaJSON = "text/html", "application/json"

// prefersHTML reports whether a caller is a browser that shows a page to a person.
func prefersHTML(r *http.Request) bool {
	return content.Preferred(r.Header.Values("Accept"), mediaJSON, mediaHTML) == mediaHTML
}

// newHome answers at the root: with the document for programs, with a page for people.
func newHome(network *sandbox.Network) http.Handler {
	page := template.Must(template.New("page").Funcs(template.FuncMap{"clock": clockTime, "query": url.QueryEscape}).Parse(pageHTML))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Vary", "Accept")
		if !prefersHTML(r) {
			serveDocument(w, r)
			return
		}
		var b bytes.Buffer
		p := newPage(network)
		p.Live = r.URL.Query().Has("live") // only on request: a page that reloads itself takes a reader back to its beginning
		if err := page.Execute(&b, p); err != nil {
			content.Internal().Write(w, r)
			return
		}
		writePage(w, b.Bytes(), pageCSS)
	})
}

func serveDocument(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/vnd.oai.openapi+json;version=3.1")
	_, _ = w.Write(Document) // fails only if the caller is gone
}

// writePage sends a page for people. The page loads no files and has no scripts.
func writePage(w http.ResponseWriter, page []byte, css string) {
	sum := sha256.Sum256([]byte(css))
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Security-Policy", "default-src 'none'; img-src data:; style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(page) // fails only if the caller is gone
}

// pageEntries is the number of journal entries on the page.
const pageEntries = 50

// page is the state of a network, as the page shows it.
type page struct {
	CSS   template.CSS
	Clock Clock
	// Live reports that the page reloads itself.
	Live    bool
	Nodes   []pageNode
	Clients []pageClient
	Journal Journal
	// EntryCount is the number of entries on the page.
	EntryCount int
	// HasJournal reports that the sandbox has a journal.
	HasJournal bool
}

// pageNode is a node on the page, with its accounts.
type pageNode struct {
	Node
	Accounts []Account
}

// pageClient is a client on the page, with the number of its findings of each level.
type pageClient struct {
	clientrules.ClientReport
	Faults, Waste, Notes int
}

// newPage returns the present state of a network for the page.
func newPage(network *sandbox.Network) page {
	p := page{CSS: template.CSS(pageCSS), Clock: Clock{Now: network.Clock().Now().UTC(), Offset: network.Clock().Offset().String()}}
	for _, n := range network.Nodes() {
		p.Nodes = append(p.Nodes, pageNode{describe(n), accountsOf(n).Accounts})
	}
	if network.Journal() == nil {
		return p
	}
	record := network.Journal().Record(0)
	p.HasJournal = true
	p.Journal = selectEntries(record, Range{Last: true, Limit: pageEntries})
	slices.Reverse(p.Journal.Entries)
	p.EntryCount = len(p.Journal.Entries)
	for _, c := range clientrules.Judge(record).Clients {
		p.Clients = append(p.Clients, pageClient{c, c.Count(clientrules.Fault), c.Count(clientrules.Waste), c.Count(clientrules.Note)})
	}
	return p
}

func clockTime(t time.Time) string { return t.UTC().Format("15:04:05.000") }
