package fault

import (
	"net/http"
	"slices"
	"sync"
)

// wrap is the type of [Deviation.Wrap]: a middleware that puts a deviation before the handler of a node.
type wrap = func(next http.Handler, env Env) http.Handler

// handle serves a request: it answers in place of the node, or calls next.
type handle func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request)

// intercept makes a wrap that calls serve for requests of the kinds, and passes all others to the node.
//
// It is not inlined, and neither are the other helpers that many rows of the tables call: a copy of their closures for each row takes 1.6 MB of the
// program.
//
//go:noinline
func intercept(serve handle, kinds ...Kind) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !slices.Contains(kinds, env.Classify(r)) {
				next.ServeHTTP(w, r)
				return
			}
			serve(next, env, w, r)
		})
	}
}

// interceptIf is [intercept] for requests for which fits holds.
//
//go:noinline
func interceptIf(fits func(r *http.Request) bool, serve handle, kinds ...Kind) wrap {
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		if !fits(r) {
			next.ServeHTTP(w, r)
			return
		}
		serve(next, env, w, r)
	}, kinds...)
}

// interceptPath is [intercept] for one path below the base of the API, which the node itself does not serve.
func interceptPath(path string, serve handle) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != env.Places.API()+path {
				next.ServeHTTP(w, r)
				return
			}
			serve(next, env, w, r)
		})
	}
}

// stateful makes a wrap that calls begin for each node, so that nodes do not share state.
func stateful(begin func() wrap) wrap {
	return func(next http.Handler, env Env) http.Handler { return begin()(next, env) }
}

// both makes one wrap of two. Requests meet outer first.
//
//go:noinline
func both(outer, inner wrap) wrap {
	return func(next http.Handler, env Env) http.Handler { return outer(inner(next, env), env) }
}

// rewrite makes a wrap that changes the answers to requests of the kinds.
//
//go:noinline
func rewrite(alter change, kinds ...Kind) wrap {
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		a.env = env
		alter(a)
		a.send(w, r)
	}, kinds...)
}

// rewriteSuccess is [rewrite] for successful answers.
func rewriteSuccess(alter change, kinds ...Kind) wrap {
	return rewrite(when(isSuccess, alter), kinds...)
}

// rewriteRefusals makes a wrap that changes error answers, of status 400 and above. Unlike [rewrite] it streams all other answers, and keeps
// their conditions and compression.
func rewriteRefusals(alter change, kinds ...Kind) wrap {
	return intercept(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		recorded := &recorder{answer: newAnswer(r), to: w}
		next.ServeHTTP(recorded, r)
		recorded.finish()
		if !recorded.passing {
			alter(recorded.answer)
			recorded.answer.send(w, r)
		}
	}, kinds...)
}

// replaceRequest makes a wrap that passes the request that replace returns to the node.
//
//go:noinline
func replaceRequest(replace func(r *http.Request, env Env) *http.Request, kinds ...Kind) wrap {
	return intercept(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, replace(r, env))
	}, kinds...)
}

// refuseEarly makes a wrap that answers fitting requests before the node sees them.
func refuseEarly(fits func(r *http.Request) bool, answer change, kinds ...Kind) wrap {
	return interceptIf(fits, func(_ http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := newAnswer(r)
		answer(a)
		a.send(w, r)
	}, kinds...)
}

// admitIf makes a wrap that serves fitting requests although the node refuses their credentials.
func admitIf(fits func(r *http.Request) bool, kinds ...Kind) wrap {
	return interceptIf(fits, func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		if a.Status == http.StatusUnauthorized || a.Status == http.StatusBadRequest { // 400 for a malformed Authorization header
			a = capture(next, env.admit(r))
		}
		a.send(w, r)
	}, kinds...)
}

// withPath returns r with another path.
func withPath(r *http.Request, path string) *http.Request {
	changed := r.Clone(r.Context())
	changed.URL.Path, changed.URL.RawPath = path, ""
	return changed
}

// withMethod returns r with another method.
func withMethod(r *http.Request, method string) *http.Request {
	changed := r.Clone(r.Context())
	changed.Method = method
	return changed
}

// when limits a change to the answers that fit.
//
//go:noinline
func when(fits func(a *answer) bool, alter change) change {
	return func(a *answer) {
		if fits(a) {
			alter(a)
		}
	}
}

// whenRequest limits a change to the answers to requests that fit.
func whenRequest(fits func(r *http.Request) bool, alter change) change {
	return when(func(a *answer) bool { return fits(a.request) }, alter)
}

func isSuccess(a *answer) bool { return a.ok() }

func isFailure(a *answer) bool { return a.Status >= http.StatusBadRequest }

// hasStatus returns a condition that holds for answers with the status.
func hasStatus(code int) func(a *answer) bool {
	return func(a *answer) bool { return a.Status == code }
}

// isAnonymousRefusal holds for refusals of requests without credentials.
func isAnonymousRefusal(a *answer) bool {
	return a.Status == http.StatusUnauthorized && isAnonymous(a.request)
}

// isTokenRefusal holds for refusals of a bearer token.
func isTokenRefusal(a *answer) bool {
	return a.Status == http.StatusUnauthorized && bearer(a.request) != ""
}

// isRoleRefusal holds for refusals of a caller who lacks the role.
func isRoleRefusal(a *answer) bool { return a.Status == http.StatusForbidden }

func isNotFound(a *answer) bool { return a.Status == http.StatusNotFound }

func isMethodNotAllowed(a *answer) bool { return a.Status == http.StatusMethodNotAllowed }

// isAnonymous holds for requests without credentials.
func isAnonymous(r *http.Request) bool { return r.Header.Get("Authorization") == "" }

// hasToken holds for requests with a bearer token, good or bad.
func hasToken(r *http.Request) bool { return bearer(r) != "" }

func isHead(r *http.Request) bool { return r.Method == http.MethodHead }

// hasMethod returns a condition that holds for requests with the method.
func hasMethod(method string) func(r *http.Request) bool {
	return func(r *http.Request) bool { return r.Method == method }
}

// memory is what a deviation remembers between requests. It is bounded and safe for concurrent use. The zero value is empty.
type memory[V any] struct {
	mu sync.Mutex
	// newer has up to memorySize entries; when it is full, it becomes older. So an entry is kept until at least memorySize others have been added.
	newer, older map[string]V
}

// memorySize is large enough for a run of the suite, and small enough for a sandbox that runs for weeks.
const memorySize = 256

func (m *memory[V]) get(key string) (value V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.find(key)
}

// find is [memory.get] for callers that hold the lock.
func (m *memory[V]) find(key string) (value V, known bool) {
	if value, known = m.newer[key]; !known {
		value, known = m.older[key]
	}
	return value, known
}

func (m *memory[V]) has(key string) bool {
	_, known := m.get(key)
	return known
}

// put stores a value and returns the one that it replaces.
func (m *memory[V]) put(key string, value V) (before V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known = m.find(key)
	if m.newer == nil || len(m.newer) >= memorySize {
		m.newer, m.older = map[string]V{}, m.newer
	}
	m.newer[key] = value
	return before, known
}
