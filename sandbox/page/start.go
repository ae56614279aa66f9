package page

import (
	"bytes"
	htmltemplate "html/template"
	"net/http"
	"sync"
	"text/template"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// Place is something to be found at a node.
type Place struct {
	Name, Method, Path, Note string
	// Open tells that a browser may go there: it is read with GET and needs no token.
	Open bool
}

// Client is a registered client, with what its owner holds.
type Client struct {
	ID, Secret string
	// Token is the path where it gets tokens.
	Token string
	// Notes say what it may do.
	Notes []string
}

// Welcome is what a start page tells.
type Welcome struct {
	// Title and Subtitle name the node, or the network.
	Title, Subtitle string
	// Node is the node itself; nil on the page of a network that has no node at the root of its host.
	Node *Node
	// Token is the path of the token endpoint that the registry lists for the node.
	Token string
	// Places are where everything is, in the order in which a client needs it.
	Places []Place
	// Clients are those whose secret is known; the first that gets its tokens at Token is that of the commands.
	Clients []Client
	// Others are the other nodes of the network.
	Others []Node
}

// Start is the start page at a path, with the assets of the node at places. tell is asked for each answer, since clients come and go.
// Clients and secrets are told only when the node is on loopback, and only to a person at this machine.
func Start(path string, places address.Map, onLoopback bool, tell func() Welcome) Resource {
	s := &start{places: places, onLoopback: onLoopback, tell: tell}
	s.templates = sync.OnceValues(s.parse)
	return Resource{Path: path, Handler: protected(s)}
}

type start struct {
	places     address.Map
	onLoopback bool
	tell       func() Welcome
	templates  func() (drawings, error)
}

// drawings are the two forms of the page.
type drawings struct {
	markup *htmltemplate.Template
	plain  *template.Template
}

func (*start) parse() (d drawings, err error) {
	if d.markup, err = htmltemplate.ParseFS(web, "web/start.html"); err != nil {
		return d, err
	}
	d.plain, err = template.ParseFS(web, "web/start.txt")
	return d, err
}

// ServeHTTP answers with a page for browsers, with text for terminals, and with a 404 for programs that read JSON: to them the root of
// a host is a path that has nothing.
func (s *start) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const asHTML, asText = "text/html", "text/plain"
	form := representation.Preferred(r.Header.Values("Accept"), asText, asHTML, "application/json", problem.MediaType)
	if form != asHTML && form != asText {
		w.Header().Set("Vary", "Accept")
		problem.NotFound("there is no resource at this path", "the start page is for people, as text/html or text/plain; "+s.hint()).Write(w, r)
		return
	}
	content := s.content(r)
	t, err := s.templates()
	var page bytes.Buffer
	mediaType := html
	if err == nil && form == asText {
		mediaType, err = plainText, t.plain.Execute(&page, content)
	} else if err == nil {
		err = t.markup.Execute(&page, content)
	}
	if err != nil {
		problem.Internal().Write(w, r)
		return
	}
	headers := representation.Headers{CacheControl: "no-cache", Vary: "Accept"}
	if content.Secret {
		headers.CacheControl = "no-store"
	}
	representation.New(mediaType, page.Bytes()).Serve(w, r, headers)
}

// hint names the places for a program that came here.
func (s *start) hint() string {
	hint := ""
	for i, p := range s.tell().Places {
		if i > 0 {
			hint += "; "
		}
		hint += p.Name + ": " + p.Path
	}
	return hint
}

// startPage is what the templates show.
type startPage struct {
	Welcome
	Origin, Mount, Base string // Mount comes before all paths of links, Base before the names of assets
	Secret              bool   // the page holds secrets
	TLS                 bool
	Commands            []command
}

func (s *start) content(r *http.Request) startPage {
	before := mount(s.places)
	c := startPage{Welcome: s.tell(), Origin: s.places.Origin(r), Mount: before, Base: before + s.places.Docs(), TLS: r.TLS != nil}
	if !s.onLoopback || !forPersonHere(r, s.places.PublicURL) {
		c.Clients = nil
	}
	c.Secret = len(c.Clients) > 0
	c.Commands = c.commands()
	return c
}
