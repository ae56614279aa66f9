// Package web makes the pages of a node for people: the reference of its APIs with try-out (NET-R3, NET-R4), and the start page with all addresses.
//
// The pages work offline and under a strict Content-Security-Policy: each script and style is a file from this node. The reference is Swagger UI,
// unchanged, with an index page, a style and a start script of this project.
package web

import (
	"bytes"
	htmltemplate "html/template"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"text/template"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/content"
)

// Place is a resource of a node.
type Place struct {
	Name, Method, Path, Note string
	// Open reports that a browser can read the resource: it takes GET and needs no token.
	Open bool
}

// Client is a registered client, with its credentials.
type Client struct {
	ID, Secret string
	// Token is the path of the token endpoint where the client gets tokens.
	Token string
	// Notes say what the client may do.
	Notes []string
}

// Welcome is the content of a start page.
type Welcome struct {
	// Title and Subtitle name the node, or the network.
	Title, Subtitle string
	// Node is the node itself; nil on the page of a network that has no node at the root of its host.
	Node *Node
	// Token is the path of the token endpoint that the registry lists for the node.
	Token string
	// Control is the base URL of the control listener, whose page shows what happens; empty without one. Only a person at this machine sees it.
	Control string
	// Places are the resources of the node, in the order in which a client needs them.
	Places []Place
	// Clients are the clients whose secret is known; the commands use the first that gets its tokens at Token.
	Clients []Client
	// Others are the other nodes of the network.
	Others []Node
}

// Start returns the start page at a path; places has the paths of the node that serves its assets. welcome is called for each answer,
// because clients may change. The page shows clients and secrets only if the node listens on loopback, to a person at this machine.
func Start(path string, places address.Map, onLoopback bool, welcome func() Welcome) Resource {
	s := &start{places: places, onLoopback: onLoopback, welcome: welcome}
	s.templates = sync.OnceValues(s.parse)
	return Resource{Path: path, Handler: isolate(s)}
}

// start serves a start page.
type start struct {
	places     address.Map
	onLoopback bool
	welcome    func() Welcome
	templates  func() (startTemplates, error)
}

// startTemplates are the HTML and the text form of the page.
type startTemplates struct {
	markup *htmltemplate.Template
	plain  *template.Template
}

func (*start) parse() (d startTemplates, err error) {
	if d.markup, err = htmltemplate.ParseFS(files, "web/start.html"); err != nil {
		return d, err
	}
	d.plain, err = template.ParseFS(files, "web/start.txt")
	return d, err
}

// ServeHTTP answers with HTML for browsers, with text for terminals, and with a 404 for programs that prefer JSON.
func (s *start) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const mediaHTML, mediaText = "text/html", "text/plain"
	form := content.Preferred(r.Header.Values("Accept"), mediaText, mediaHTML, "application/json", content.ProblemMediaType)
	if form != mediaHTML && form != mediaText {
		w.Header().Set("Vary", "Accept")
		content.NotFound("there is no resource at this path", "the start page is for people, as text/html or text/plain; "+s.hint()).Write(w, r)
		return
	}
	payload := s.content(r)
	t, err := s.templates()
	var page bytes.Buffer
	mediaType := html
	if err == nil && form == mediaText {
		mediaType, err = plainText, t.plain.Execute(&page, payload)
	} else if err == nil {
		err = t.markup.Execute(&page, payload)
	}
	if err != nil {
		content.Internal().Write(w, r)
		return
	}
	headers := content.Headers{CacheControl: "no-cache", Vary: "Accept"}
	if payload.Secret {
		headers.CacheControl = "no-store"
	}
	content.NewBody(mediaType, page.Bytes()).Serve(w, r, headers)
}

// hint lists the names and paths of the resources, for programs.
func (s *start) hint() string {
	var places []string
	for _, p := range s.welcome().Places {
		places = append(places, p.Name+": "+p.Path)
	}
	return strings.Join(places, "; ")
}

// startPage is the data of the templates.
type startPage struct {
	Welcome
	Origin, Mount, Base string // Mount comes before all paths of links, Base before the names of assets
	Secret              bool   // the page holds secrets
	TLS                 bool
	Commands            []command
}

func (s *start) content(r *http.Request) startPage {
	prefix := mount(s.places)
	c := startPage{Welcome: s.welcome(), Origin: s.places.Origin(r), Mount: prefix, Base: prefix + s.places.Docs(), TLS: r.TLS != nil}
	isLocal := isForLocalPerson(r, s.places.PublicURL)
	if !isLocal {
		c.Control = ""
	}
	if !s.onLoopback || !isLocal {
		c.Clients = nil
	}
	c.Secret = len(c.Clients) > 0
	c.Commands = c.commands()
	return c
}

// isForLocalPerson reports whether only a person at this machine can read the answer to r, so that it may show the secrets of demo clients. The caller
// has checked that the listener is on loopback. This function excludes a proxy that forwards the answer, a foreign name that resolves to loopback (DNS
// rebinding), and a page of another origin that reads or frames it.
func isForLocalPerson(r *http.Request, publicURL string) bool {
	if !address.IsLoopback(address.Hostname(r.RemoteAddr)) || !address.IsLoopback(address.Hostname(r.Host)) {
		return false
	}
	if u, err := url.Parse(publicURL); publicURL != "" && (err != nil || !address.IsLoopback(u.Hostname())) {
		return false
	}
	for _, name := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-Ip"} {
		if r.Header.Get(name) != "" {
			return false
		}
	}
	// A browser that navigates to the page sends no Origin, and names the document as the destination.
	destination := r.Header.Get("Sec-Fetch-Dest")
	return r.Header.Get("Origin") == "" && (destination == "" || destination == "document")
}

// command is a command to copy into a terminal.
type command struct{ Title, Line string }

// secretVariable holds the client secret in the commands: no list of processes shows it there.
const secretVariable = "RIN_CLIENT_SECRET"

// commands returns the commands for all steps of a client: registry, token, info, list, the list without a token, and the certification of the node. They
// work unchanged if the page may show the secret; else they have placeholders.
func (c startPage) commands() []command {
	curl, trust := "curl -sg", "" // -g: brackets in a URL are literal
	if c.TLS {
		trust = "--cacert rin-sandbox-ca.pem"
		curl += " " + trust
	}
	if c.Node == nil {
		return nil
	}
	places := c.Node.Places
	id, secret := "CLIENT_ID", "CLIENT_SECRET"
	if i := slices.IndexFunc(c.Clients, func(k Client) bool { return k.Token == c.Token }); i >= 0 {
		id, secret = c.Clients[i].ID, c.Clients[i].Secret
	}
	word := func(path string) string { return content.ShellWord(c.Origin + path) }
	show := curl + ` -w '\n'` // a line break after the answer
	bearer := show + ` -H "Authorization: Bearer $TOKEN" \` + "\n  "
	certify := []string{"rin certify --registry " + word(places.Registry()), "--node " + content.ShellWord(c.Node.ID) + " --client-id " + content.ShellWord(id), "--client-secret env:" + secretVariable}
	if trust != "" {
		certify = append(certify, trust)
	}
	return []command{
		{"The registry", show + " " + word(places.Registry())},
		{"The client secret, for the commands below", "export " + secretVariable + "=" + content.ShellWord(secret)},
		{"An access token", `TOKEN=$(printf %s "$` + secretVariable + `" | ` + curl + " " + word(c.Token) + " \\\n" +
			"  -d grant_type=client_credentials -d client_id=" + content.ShellWord(url.QueryEscape(id)) + " \\\n" +
			"  --data-urlencode client_secret@- |\n" + `  sed 's/.*"access_token":"\([^"]*\)".*/\1/')`},
		{"Does it work?", bearer + word(places.Info())},
		{"Two open calls", bearer + word(places.Fundings()+"?runningCalls=true&page[size]=2")},
		{"The same without a token, to try out", show + " \\\n  " + word(places.TryOut().Fundings()+"?runningCalls=true&page[size]=2")},
		{"Certify this node", strings.Join(certify, " \\\n  ")},
	}
}
