package described

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// Space is where an API is served, and to whom.
type Space struct {
	// Base is the path before the API's own paths, such as "/ris-synergy".
	Base string
	// Guard stands before operations that need a token; nil opens all of them to anybody.
	Guard func(http.Handler) http.Handler
}

// guarded tells whether an operation needs a token: all do in a guarded space, but for those whose document says that they need none.
func (s Space) guarded(o *operation) bool { return s.Guard != nil && !o.Open }

// Handler is what answers a request of the space; nil when the API has no such path.
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
	if s.guarded(o) {
		h = s.Guard(h)
	}
	o.enter(r.Context())
	return h
}

// Near names paths of the API for a caller who found none: those with the longest beginning in common.
func (a *API) Near(s Space, path string) []string {
	const most = 3
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
		if n == best && len(found) < most {
			found = append(found, at)
		}
	}
	return found
}

// operation is the one for a method; HEAD comes with GET.
func (r *resource) operation(method string) *operation {
	if o := r.operations[method]; o != nil || method != http.MethodHead {
		return o
	}
	return r.operations[http.MethodGet]
}

// methods lists what a resource takes, for Allow (RFC 9110 §10.2.1).
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

func refuseMethod(r *resource) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Allow", strings.Join(r.methods(), ", "))
		if q.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		p := problem.MethodNotAllowed(q.Method, r.methods())
		p.Hint = "use " + strings.Join(r.methods(), " or ") + "; the document describes no other method here"
		p.Write(w, q)
	})
}

// serve answers a request whose caller may ask.
func (a *API) serve(w http.ResponseWriter, r *http.Request, s Space, o *operation, path string, values map[string]string) {
	if o.fault != nil {
		problem.NotImplemented(o.fault.Error()).Write(w, r)
		return
	}
	q, refusal := a.read(o, path, values, r)
	if refusal != nil {
		refusal.Write(w, r)
		return
	}
	made, err := a.answer(q)
	if err != nil {
		problem.NotImplemented(err.Error()).Write(w, r)
		return
	}
	if made.refusal != nil {
		made.refusal.Write(w, r)
		return
	}
	if made.page != nil {
		journal.Of(r.Context()).Serve(*made.page)
	}
	made.write(w, r, s.guarded(o))
}

// write sends an answer.
func (m *answer) write(w http.ResponseWriter, r *http.Request, guarded bool) {
	h := w.Header()
	for name, values := range m.header {
		h[name] = values
	}
	headers := representation.Open()
	if guarded {
		headers = representation.Guarded()
	}
	if m.negotiated {
		headers.Vary = strings.TrimPrefix(headers.Vary+", Accept", ", ")
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
		// A failed write means that the caller is gone; nobody is left to tell.
		_, _ = w.Write(m.content)
	}
}
