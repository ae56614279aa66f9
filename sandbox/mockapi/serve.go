package mockapi

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// Space is a place where an API is served.
type Space struct {
	// Base is the path before the API's own paths, such as "/ris-synergy".
	Base string
	// Guard wraps operations that need a token; nil makes all operations public.
	Guard func(http.Handler) http.Handler
	// Origin returns the origin at which a request reaches the node; nil for links without one.
	Origin func(*http.Request) string
}

// isGuarded reports whether an operation needs a token: in a guarded space all do, except those that the document declares public.
func (s Space) isGuarded(o *operation) bool { return s.Guard != nil && !o.Open }

// Handler returns the handler of a request to the space; nil if the API does not have the path.
func (a *API) Handler(s Space, r *http.Request) http.Handler {
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), s.Base)
	if !ok {
		return nil
	}
	resource, values, ok := a.resources.Find(path)
	if !ok {
		return nil
	}
	o := resource.operation(r.Method)
	if o == nil {
		return refuseMethod(resource)
	}
	var h http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, s, o, path, values) })
	if s.isGuarded(o) {
		h = s.Guard(h)
	}
	o.noteKind(r.Context())
	return h
}

// Serves reports whether the space has a path, or a path below it.
func (a *API) Serves(s Space, path string) bool {
	if below, ok := strings.CutPrefix(path, s.Base); ok {
		if _, _, found := a.resources.Find(below); found {
			return true
		}
	}
	return slices.ContainsFunc(a.all, func(r *resource) bool { return strings.HasPrefix(s.Base+r.path, path+"/") }) ||
		strings.HasPrefix(s.Base+a.DocumentPath()+"/", path+"/")
}

// SimilarPaths returns up to three paths of the API that share the longest beginning with an unknown path, for a hint.
func (a *API) SimilarPaths(s Space, path string) []string {
	const limit = 3
	best, found := 0, []string(nil)
	for _, r := range a.all {
		at := s.Base + r.path
		n := 0
		for n < min(len(at), len(path)) && at[n] == path[n] {
			n++
		}
		if n > best {
			best, found = n, nil
		}
		if n == best && len(found) < limit {
			found = append(found, at)
		}
	}
	return found
}

// operation returns the operation of a method; GET serves HEAD, too.
func (r *resource) operation(method string) *operation {
	if o := r.operations[method]; o != nil || method != http.MethodHead {
		return o
	}
	return r.operations[http.MethodGet]
}

// methods lists the methods of a resource, for Allow (RFC 9110 §10.2.1).
func (r *resource) methods() []string {
	all := []string{http.MethodOptions}
	for method := range r.operations {
		all = append(all, method)
	}
	if r.operations[http.MethodGet] != nil {
		all = append(all, http.MethodHead)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// refuseMethod answers OPTIONS, and refuses methods that the document does not describe.
func refuseMethod(r *resource) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Allow", strings.Join(r.methods(), ", "))
		if q.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		p := content.MethodNotAllowed(q.Method, r.methods())
		p.Hint = "use " + strings.Join(r.methods(), " or ") + "; the document describes no other method here"
		p.Write(w, q)
	})
}

// serve answers a request that has passed the guard.
func (a *API) serve(w http.ResponseWriter, r *http.Request, s Space, o *operation, path string, values map[string]string) {
	if o.fault != nil {
		content.NotImplemented(o.fault.Error()).Write(w, r)
		return
	}
	preferred, err := preferenceOf(r.Header.Values("Prefer"))
	if err != nil {
		content.BadRequest("Prefer: "+err.Error(), "write Prefer: code=404, example=NAME").Write(w, r)
		return
	}
	if preferred.changesAnswer(o) {
		a.servePreferred(w, r, s, o, path, preferred)
		return
	}
	q, refusal := a.read(o, path, values, r)
	if refusal != nil {
		refusal.Write(w, r)
		return
	}
	result, err := a.answer(q)
	if err != nil {
		content.NotImplemented(err.Error()).Write(w, r)
		return
	}
	if result.refusal != nil {
		result.refusal.Write(w, r)
		return
	}
	if result.page != nil {
		journal.FromContext(r.Context()).Serve(*result.page)
	}
	if result.status >= http.StatusMultipleChoices {
		journal.FromContext(r.Context()).Describe()
	}
	a.localize(result, s, q.media, r).write(w, r, s.isGuarded(o))
}

// write sends an answer.
func (m *answer) write(w http.ResponseWriter, r *http.Request, guarded bool) {
	h := w.Header()
	for name, values := range m.header {
		h[name] = values
	}
	headers := content.OpenHeaders()
	if guarded {
		headers = content.ProtectedHeaders()
	}
	if m.negotiated {
		headers.Vary = strings.TrimPrefix(headers.Vary+", Accept", ", ")
	}
	if m.recorded {
		headers.CacheControl, headers.ETag = cmp.Or(m.header.Get("Cache-Control"), headers.CacheControl), m.header.Get("Etag")
	}
	if m.body != nil && m.status == http.StatusOK && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		m.body.Serve(w, r, headers)
		return
	}
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if m.body != nil {
		h.Set("Content-Type", m.media)
		h.Set("Content-Length", strconv.Itoa(len(m.content)))
	}
	w.WriteHeader(m.status)
	if m.body != nil && r.Method != http.MethodHead {
		// A failed write means that the caller is gone.
		_, _ = w.Write(m.content)
	}
}

// DocumentPath returns the path of the document below the node's service prefix: after the path of its server, and after the version if all
// operations begin with one ("/funding/v1/api-docs").
func (a *API) DocumentPath() string { return a.ownPath }

func (a *API) chooseDocumentPath() string {
	at := belowPrefix(a.prefix, a.document.Server)
	if a.options.Recorded != nil && a.options.Recorded.Document != "" {
		return at + a.options.Recorded.Document
	}
	version := ""
	for i, r := range a.all {
		first, _, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(r.path, at), "/"), "/")
		if !isVersion(first) || i > 0 && first != version {
			return at + "/api-docs"
		}
		version = first
	}
	return at + "/" + version + "/api-docs"
}

// isVersion reports whether a segment has the form v<major> (NET-R20).
func isVersion(segment string) bool {
	digits, ok := strings.CutPrefix(segment, "v")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// Endpoint is an operation of the API that the info resource of a node names.
type Endpoint struct {
	// Family is funding, project or orgUnit; for other APIs the first word of the path.
	Family string
	// Name is the kind of records in capitals, such as FUNDINGS.
	Name string
	// Major is the version in the path; 1 without one.
	Major int
	// Path is below the node's service prefix; the path of a detail ends in {id}.
	Path string
}

// Endpoints lists the lists of the API with their details.
func (a *API) Endpoints() []Endpoint {
	var all []Endpoint
	add := func(r *resource, name string) {
		path := r.path
		if parameter := strings.LastIndex(path, "{"); parameter >= 0 {
			path = path[:parameter] + "{id}"
		}
		all = append(all, Endpoint{Family: a.family(r), Name: name, Major: major(r), Path: path})
	}
	for _, r := range a.all {
		o := r.operations["GET"]
		if o == nil || o.list == nil || strings.Contains(r.path, "{") {
			continue
		}
		name := strings.ToUpper(canonical(lastSegment(r.segments)))
		add(r, name)
		if o.list.detail != nil {
			add(o.list.detail.resource, singular(name))
		}
	}
	return all
}

func lastSegment(segments []string) string { return segments[len(segments)-1] }

func singular(name string) string {
	if stem, ok := strings.CutSuffix(name, "IES"); ok {
		return stem + "Y"
	}
	return strings.TrimSuffix(name, "S")
}

// major returns the version in a path; 1 without one.
func major(r *resource) int {
	for _, segment := range r.segments {
		if isVersion(segment) {
			n, _ := strconv.Atoi(segment[1:min(len(segment), 6)])
			return n
		}
	}
	return 1
}

// family returns the family of the network that path or title name (NET-R20: /ris-synergy/funding/v3), or the first word of the path.
func (a *API) family(r *resource) string {
	text := canonical(r.path + " " + a.document.Title)
	for _, known := range [][2]string{{"funding", "funding"}, {"project", "project"}, {"orgunit", "orgUnit"}, {"organigram", "orgUnit"}} {
		if strings.Contains(text, known[0]) {
			return known[1]
		}
	}
	segments := slices.DeleteFunc(slices.Clone(r.segments), func(s string) bool { return isVersion(s) || strings.Contains(s, "{") })
	if len(segments) == 0 {
		return "api"
	}
	return segments[0]
}

// SpaceDocument returns the document with the servers and the security of the space. Everything else is as its author wrote it.
func (a *API) SpaceDocument(s Space, origin, tokenURL string) ([]byte, error) {
	tree := maps.Clone(a.document.Root)
	tree["servers"] = []any{map[string]any{"url": origin + s.Base + belowPrefix(a.prefix, a.document.Server)}}
	a.rewritePaths(tree, s, origin)
	if s.Guard == nil {
		tree["security"] = []any{}
	} else {
		tree["security"] = []any{map[string]any{scheme: []any{}}, map[string]any{scheme + "ClientCredentials": []any{}}}
		secure(tree, tokenURL)
	}
	return json.MarshalIndent(tree, "", "  ")
}

// scheme names the security schemes that secure adds.
const scheme = "rinBearer"

// secure adds the security schemes of the node to a document.
func secure(tree map[string]any, tokenURL string) {
	components := clone(tree["components"])
	schemes := clone(components["securitySchemes"])
	schemes[scheme] = map[string]any{"type": "http", "scheme": "bearer", "description": "An access token that you fetched yourself. This form alone is enough."}
	schemes[scheme+"ClientCredentials"] = map[string]any{"type": "oauth2", "description": "Fetches an access token with client ID and secret. This form alone is enough.",
		"flows": map[string]any{"clientCredentials": map[string]any{"tokenUrl": tokenURL, "scopes": map[string]any{}}}}
	components["securitySchemes"] = schemes
	tree["components"] = components
}

func clone(value any) map[string]any {
	object, _ := value.(map[string]any)
	if object == nil {
		return map[string]any{}
	}
	return maps.Clone(object)
}

// rewritePaths replaces the servers of paths and operations, and removes the security of operations unless they are public in a guarded space.
func (a *API) rewritePaths(tree map[string]any, s Space, origin string) {
	paths := clone(tree["paths"])
	for name, value := range paths {
		item, ok := value.(map[string]any)
		if !ok || strings.HasPrefix(name, "x-") {
			continue
		}
		item = maps.Clone(item)
		a.moveServers(item, s, origin)
		for member, inner := range item {
			operation, ok := inner.(map[string]any)
			if !ok || !isMethod(member) {
				continue
			}
			operation = maps.Clone(operation)
			a.moveServers(operation, s, origin)
			if _, declared := operation["security"]; declared && !(s.Guard != nil && a.isPublic(name, member)) {
				delete(operation, "security")
			}
			item[member] = operation
		}
		paths[name] = item
	}
	tree["paths"] = paths
}

// moveServers replaces the servers of a path or an operation with the one of the space.
func (a *API) moveServers(holder map[string]any, s Space, origin string) {
	if servers, ok := holder["servers"].([]any); ok && len(servers) > 0 {
		holder["servers"] = []any{map[string]any{"url": origin + s.Base + belowPrefix(a.prefix, serverPath(holder))}}
	}
}

// isPublic reports whether the document declares an operation public.
func (a *API) isPublic(path, method string) bool {
	for _, o := range a.document.Operations {
		if o.Path == path && strings.EqualFold(o.Method, method) {
			return o.Open
		}
	}
	return false
}

func isMethod(member string) bool {
	return slices.ContainsFunc(methods(), func(method string) bool { return strings.EqualFold(method, member) })
}
