package sandbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/spec"
)

// routes returns the route table.
func routes(places address.Map, describe describer, server *auth.Server, guard *auth.Guard, fundings *funding.Service, api *mockAPI, entries func(string) model.Registry) []Route {
	tryOut := places.TryOut()
	protected := func(path string, h http.Handler) Route {
		return Route{Method: http.MethodGet, Path: path, Protected: true, handler: guard.Protect(h)}
	}
	return append(authorizationRoutes(places, server),
		protected(places.Info(), funding.InfoResource(places, false, api.endpoints)),
		get(places.Spec(), spec.Resource(places.Origin, describe.describe(places, false))),
		protected(places.Fundings(), fundings.List()),
		protected(places.Funding(), fundings.Detail()),

		get(tryOut.Info(), funding.InfoResource(tryOut, true, api.endpoints)),
		get(tryOut.Spec(), spec.Resource(tryOut.Origin, describe.describe(tryOut, true))),
		get(tryOut.Fundings(), fundings.OpenList()),
		get(tryOut.Funding(), fundings.OpenDetail()),

		get(places.Registry(), funding.RegistryDocument(places, entries)),
		get(places.Health(), http.HandlerFunc(health)),
	)
}

// authorizationRoutes returns the routes of an authorization server: token endpoints, metadata and keys.
func authorizationRoutes(places address.Map, server *auth.Server) []Route {
	var all []Route
	for _, e := range places.Endpoints() {
		metadata := server.Metadata(e.Issuer, e.Token)
		all = append(all,
			Route{Method: http.MethodPost, Path: e.Token, handler: server.Token(e.Issuer), methodNotAllowed: http.HandlerFunc(server.MethodNotAllowed)},
			get(places.Metadata(e.Issuer), metadata),
			get(places.OpenIDMetadata(e.Issuer), metadata),
		)
	}
	return append(all, get(places.Certs(), http.HandlerFunc(server.Certs)))
}

// get returns a route that needs no token.
func get(path string, h http.Handler) Route {
	return Route{Method: http.MethodGet, Path: path, handler: h}
}

// elsewhere is another environment beside the node: an authorization server with its own issuer, keys and client, and an info resource that accepts
// its tokens. The node refuses those tokens, and that info resource refuses the node's tokens, so that a client that confuses the environments gets an
// error.
type elsewhere struct {
	client Credential
	server *auth.Server
	guard  *auth.Guard
	places address.Map
}

// newElsewhere makes the other environment with one client.
func newElsewhere(c Config, places address.Map) (elsewhere, error) {
	e := elsewhere{client: Credential{ClientID: DemoElsewhereClient}, places: places.Elsewhere()}
	var err error
	if e.client.Secret, err = account.NewSecret(c.secretSource("secret elsewhere")); err != nil {
		return e, err
	}
	subject, err := account.NewSubject(c.secretSource("subject elsewhere"))
	if err != nil {
		return e, err
	}
	books, err := account.Open(account.Config{Now: c.Clock, Random: c.Random})
	if err == nil {
		err = books.Enter([]account.Registration{{Client: account.NewClient{ID: e.client.ClientID}, Secret: e.client.Secret, Subject: subject}})
	}
	if err != nil {
		return e, fmt.Errorf("register the client of the other environment: %w", err)
	}
	e.client.Subject, _ = books.Clients().Subject(e.client.ClientID)
	issuer, err := auth.NewIssuer(c.TokenFormat, c.TokenTTL, c.Clock, c.keySource("keys elsewhere"), c.Random)
	if err != nil {
		return e, fmt.Errorf("make the issuer of the other environment: %w", err)
	}
	e.server = auth.NewServer(books.Clients(), issuer, e.places, c.Logger)
	e.guard = auth.NewGuard(auth.NewVerifier(issuer, books.Clients(), nil, e.places, c.Clock, c.VerifiedTokens), e.places)
	return e, nil
}

// routes returns the routes of the other environment: token endpoint, keys, metadata and info.
func (e elsewhere) routes() []Route {
	return append(authorizationRoutes(e.places, e.server),
		Route{Method: http.MethodGet, Path: e.places.Info(), Protected: true, handler: e.guard.Protect(http.HandlerFunc(e.info))})
}

// info serves an info resource without endpoints: the other environment has no data.
func (e elsewhere) info(w http.ResponseWriter, r *http.Request) {
	body, err := json.Marshal(model.Info{Endpoints: map[string][]model.Endpoint{"funding": {}}})
	if err != nil {
		content.Internal().Write(w, r)
		return
	}
	content.NewBody("application/json", body).Serve(w, r, content.ProtectedHeaders())
}

// Route is one row of the route table.
type Route struct {
	// Method is GET, which includes HEAD, or POST. Every route also answers OPTIONS.
	Method string
	// Path is the path, with "{id}" for the id of a funding. The node serves it with and without a slash at its end.
	Path string
	// Protected reports that the route needs an access token.
	Protected bool

	handler http.Handler
	// methodNotAllowed answers other methods, after the Allow header is set; when nil, the answer is a problem body.
	methodNotAllowed http.Handler
}

// methods lists the methods of the route for Allow (RFC 9110 §10.2.1).
func (r Route) methods() []string {
	if r.Method == http.MethodGet {
		return []string{http.MethodGet, http.MethodHead, http.MethodOptions}
	}
	return []string{r.Method, http.MethodOptions}
}

// ServeHTTP answers the methods of the route, OPTIONS, and 405 to all others.
func (r Route) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	switch {
	case q.Method == r.Method, r.Method == http.MethodGet && q.Method == http.MethodHead:
		r.handler.ServeHTTP(w, q)
		return
	case q.Method == http.MethodOptions:
		w.Header().Set("Allow", strings.Join(r.methods(), ", "))
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Allow", strings.Join(r.methods(), ", "))
	if r.methodNotAllowed != nil {
		r.methodNotAllowed.ServeHTTP(w, q)
		return
	}
	content.MethodNotAllowed(q.Method, r.methods()).Write(w, q)
}

// newMux makes a handler of the routes. It serves each with and without a slash at its end and does not redirect, because clients use both forms.
func newMux(routes []Route, places address.Map, wrongRealm http.Handler, api *mockAPI) http.Handler {
	mux := http.NewServeMux()
	for _, route := range routes {
		path := strings.TrimSuffix(route.Path, "/")
		if path != "" {
			mux.Handle(path, route)
		}
		mux.Handle(path+"/{$}", route)
	}
	if places.Grants != address.AtPlain {
		mux.Handle(places.Realms()+"/", wrongRealm)
	}
	mux.Handle("/", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		hint := locationHint(places, r)
		if apiHint := api.locationHint(r); apiHint != "" {
			hint += "; " + apiHint
		}
		content.NotFound("there is no resource at this path", hint).Write(w, r)
	}))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/") { // CONNECT, and "*" with another method than OPTIONS
			content.BadRequest("the request names no path", "this is not a proxy: "+locationHint(places, r)).Write(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// serves reports whether the node serves a path, or a path below it.
func (s *Server) serves(path string) bool {
	path = strings.TrimSuffix(path, "/")
	for _, route := range s.routes {
		known := strings.TrimSuffix(route.Path, "/")
		if known == path || strings.HasPrefix(known, path+"/") {
			return true
		}
		// A route with "{id}" serves every path that has one segment in its place.
		if before, _, template := strings.Cut(known, "{"); template && strings.HasPrefix(path, before) && !strings.Contains(path[len(before):], "/") {
			return true
		}
	}
	return s.api.serves(path)
}

// locationHint lists the paths of the node, for a caller with an unknown path. For the path of a realm it also says where the realm is.
func locationHint(places address.Map, r *http.Request) string {
	hint := "token: POST " + places.ListedEndpoint().Token + "; info: GET " + places.Info() + "; document: GET " + places.Spec() +
		"; fundings: GET " + places.Fundings() + "; registry: GET " + places.Registry()
	if strings.Contains(r.URL.Path, "/realms/") && places.Grants != address.AtPlain {
		prefix := "without /auth before it; "
		if places.Provider != "" {
			prefix = "with " + places.Provider + " before it; "
		}
		hint = "the realm is at " + places.RealmIssuer() + ", " + prefix + hint
	}
	return hint
}

// health answers 200 while the node serves.
func health(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method == http.MethodHead {
		return
	}
	// A failed write means that the caller is gone.
	_, _ = w.Write([]byte(`{"status":"ok"}`))
}
