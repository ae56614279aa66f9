package sandbox

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/web"
)

// pages returns the routes of the pages for people.
func (s *Server) pages(onLoopback bool) []Route {
	resources := append(web.Reference(s.webNode(), s.documents), web.Start(s.places.Home(), s.places, onLoopback, s.welcome))
	all := make([]Route, len(resources))
	for i, r := range resources {
		all[i] = get(r.Path, r)
	}
	return all
}

// documents lists the documents of the reference page. The try-out document comes first, because it needs no credentials. The document of a
// configured API replaces the node's own at the same path.
func (s *Server) documents() []web.Document {
	further := s.api.pages()
	own := []web.Document{
		{ID: "try-out", Name: "Try-out", Note: "Sample data without a token: every operation can be called as it is.", Path: s.places.TryOut().Spec()},
		{ID: "protected", Name: "Protected API", Note: "Needs an access token: Authorize takes client id and secret and fetches one.", Path: s.places.Spec()},
	}
	own = slices.DeleteFunc(own, func(d web.Document) bool {
		return slices.ContainsFunc(further, func(f web.Document) bool { return f.Path == d.Path })
	})
	return append(own, further...)
}

// webNode returns the names and paths of the node, for its pages.
func (s *Server) webNode() web.Node {
	return web.Node{ID: s.member.ID, Acronym: s.member.Acronym, Name: strings.TrimSpace(s.member.Name), Places: s.places}
}

// subtitle returns acronym and id of the node, and its preset.
func (s *Server) subtitle() string {
	text := s.member.Acronym + ", " + s.member.ID + " in the registry"
	if s.preset.Name != "" {
		text += ", " + s.preset.Name + " flavour"
	}
	return text
}

// welcome returns the content of the start page.
func (s *Server) welcome() web.Welcome {
	self, places := s.webNode(), s.places
	token := places.ListedEndpoint().Token
	open := func(name, path, note string) web.Place {
		return web.Place{Name: name, Method: http.MethodGet, Path: path, Note: note, Open: true}
	}
	w := web.Welcome{
		Title: self.Name, Subtitle: s.subtitle(), Node: &self, Token: token, Control: s.control,
		Places: []web.Place{
			open("reference", places.Docs(), "every operation, to be tried out"),
			open("registry", places.Registry(), "the nodes of the network"),
			{Name: "token", Method: http.MethodPost, Path: token, Note: "form fields grant_type=client_credentials, client_id, client_secret"},
			{Name: "info", Method: http.MethodGet, Path: places.Info(), Note: "needs a token"},
			open("document", places.Spec(), "the OpenAPI document of the protected API"),
			{Name: "funding", Method: http.MethodGet, Path: places.Fundings(), Note: "needs a token, a role and an affiliation"},
			open("try-out", places.TryOut().Fundings(), "the same without a token"),
			open("try-out document", places.TryOut().Spec(), ""),
			{Name: "elsewhere", Method: http.MethodPost, Path: places.Elsewhere().Token(), Note: "another environment, whose tokens are refused here"},
			{Name: "elsewhere info", Method: http.MethodGet, Path: places.Elsewhere().Info(), Note: "accepts the tokens of the other environment, and no others"},
		},
	}
	w.Places = append(w.Places, s.api.welcome()...)
	for _, e := range places.Endpoints()[1:] {
		w.Places = slices.Insert(w.Places, 3, web.Place{Name: "other token path", Method: http.MethodPost, Path: e.Token, Note: "for the same clients"})
	}
	for _, d := range s.api.pages() {
		w.Places = append(w.Places, open("API document", d.Path, d.Note))
	}
	for _, c := range s.generatedCredentials() {
		w.Clients = append(w.Clients, web.Client{ID: c.ClientID, Secret: c.Secret, Token: token, Notes: c.permissions()})
	}
	other := s.elsewhere.client
	w.Clients = append(w.Clients, web.Client{ID: other.ClientID, Secret: other.Secret, Token: places.Elsewhere().Token(),
		Notes: []string{"registered elsewhere, in an environment whose tokens are refused here"}})
	for _, node := range s.networkNodes {
		if node != s {
			w.Others = append(w.Others, node.webNode())
		}
	}
	return w
}

// generatedCredentials lists the clients whose secret was generated here and has not changed. The owners of
// configured secrets know them already.
func (s *Server) generatedCredentials() []Credential {
	var all []Credential
	for _, c := range s.credentials {
		if current, ok := credentialOf(s.books, c.ClientID, c.Secret); ok && current.Secret != "" && !c.Configured {
			all = append(all, current)
		}
	}
	return all
}

// startPage returns the start page of the network: a list of the nodes, without secrets. The first node serves its assets.
func (n *Network) startPage() Route {
	resource := web.Start("/", n.nodes[0].places, false, func() web.Welcome {
		places := n.nodes[0].places
		w := web.Welcome{Title: "Research-information network", Subtitle: strconv.Itoa(len(n.nodes)) + " nodes in one sandbox", Control: n.control, Places: []web.Place{
			{Name: "registry", Method: http.MethodGet, Path: places.Registry(), Note: "the nodes with their token and info endpoints", Open: true},
		}}
		for _, node := range n.nodes {
			w.Others = append(w.Others, node.webNode())
		}
		return w
	})
	return get(resource.Path, resource)
}

// permissions describes in words what a client may do.
func (c Credential) permissions() []string {
	var text []string
	switch {
	case c.Role == "":
		text = append(text, "no role: gets tokens, and no fundings")
	case c.Affiliation == "":
		text = append(text, "role "+c.Role+", no affiliation")
	default:
		text = append(text, "role "+c.Role+", affiliation "+c.Affiliation)
	}
	if c.Audience != "" {
		text = append(text, "its tokens are for "+c.Audience)
	}
	return text
}
