package fault

import (
	"net/http"
	"slices"
	"sync"
)

// wrap is what Deviation.Wrap holds.
type wrap = func(next http.Handler, env Env) http.Handler

// change alters the node's answer to r.
type change func(r *http.Request, a *editableAnswer)

// handle answers a request in the node's place, or lets next do so.
type handle func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request)

// around makes a Wrap that hands requests of the kinds to do, and all others to the node.
func around(do handle, kinds ...Kind) wrap {
	return func(next http.Handler, env Env) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !slices.Contains(kinds, env.Classify(r)) {
				next.ServeHTTP(w, r)
				return
			}
			do(next, env, w, r)
		})
	}
}

// rewrite makes a Wrap that changes the answers to requests of the kinds.
func rewrite(alter change, kinds ...Kind) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		a := capture(next, r)
		alter(r, a)
		a.send(w, r)
	}, kinds...)
}

// readmit makes a Wrap that lets replace put another request in the place of those of the kinds.
func readmit(replace func(r *http.Request, env Env) *http.Request, kinds ...Kind) wrap {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		next.ServeHTTP(w, replace(r, env))
	}, kinds...)
}

// admit makes a Wrap that serves the requests of the kinds that fit, although the node refuses their credentials.
func admit(fits func(r *http.Request) bool, kinds ...Kind) wrap {
	return around(func(next http.Handler, env Env, w http.ResponseWriter, r *http.Request) {
		if !fits(r) {
			next.ServeHTTP(w, r)
			return
		}
		a := capture(next, r)
		if a.Status == http.StatusUnauthorized || a.Status == http.StatusBadRequest {
			a = capture(next, env.admit(r))
		}
		a.send(w, r)
	}, kinds...)
}

// protected lists the kinds that ask for an access token.
func protected() []Kind { return []Kind{Info, FundingList, FundingDetail} }

// when changes the answers that fit.
func when(fits func(r *http.Request, a *editableAnswer) bool, alter change) change {
	return func(r *http.Request, a *editableAnswer) {
		if fits(r, a) {
			alter(r, a)
		}
	}
}

// succeeded holds for successes.
func succeeded(_ *http.Request, a *editableAnswer) bool { return a.ok() }

// refusedAnonymous holds for refusals of requests without credentials.
func refusedAnonymous(r *http.Request, a *editableAnswer) bool {
	return a.Status == http.StatusUnauthorized && anonymous(r)
}

// refusedToken holds for refusals of a bearer token that is no good.
func refusedToken(r *http.Request, a *editableAnswer) bool {
	return a.Status == http.StatusUnauthorized && bearer(r) != ""
}

// refusedRole holds for refusals of a caller who lacks the role.
func refusedRole(_ *http.Request, a *editableAnswer) bool { return a.Status == http.StatusForbidden }

// anonymous holds for requests without credentials.
func anonymous(r *http.Request) bool { return r.Header.Get("Authorization") == "" }

// reword makes a Wrap that changes the refusals among the answers to requests of the kinds. Other answers go their way untouched, in the
// time and with the conditions and the compression that they have.
func reword(alter change, kinds ...Kind) wrap {
	return around(func(next http.Handler, _ Env, w http.ResponseWriter, r *http.Request) {
		kept := &refusalWriter{to: w, answer: editableAnswer{Answer{Header: http.Header{}}}}
		next.ServeHTTP(kept, r)
		kept.WriteHeader(http.StatusOK)
		if kept.passing {
			return
		}
		kept.answer.Header = Canonical(kept.answer.Header)
		alter(r, &kept.answer)
		kept.answer.send(w, r)
	}, kinds...)
}

// refusalWriter keeps an error, and passes everything else on.
type refusalWriter struct {
	to               http.ResponseWriter
	answer           editableAnswer
	started, passing bool
}

// Header implements http.ResponseWriter.
func (w *refusalWriter) Header() http.Header {
	if w.passing {
		return w.to.Header()
	}
	return w.answer.Header
}

// WriteHeader implements http.ResponseWriter.
func (w *refusalWriter) WriteHeader(status int) {
	if w.started {
		return
	}
	w.started, w.answer.Status = status >= http.StatusOK, status
	if status >= http.StatusBadRequest {
		return
	}
	for name, values := range w.answer.Header {
		w.to.Header()[name] = values
	}
	w.passing = w.started
	w.to.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *refusalWriter) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.passing {
		return w.to.Write(b)
	}
	w.answer.Body = append(w.answer.Body, b...)
	return len(b), nil
}

// Unwrap lets http.ResponseController reach the connection, of an answer that is passed on.
func (w *refusalWriter) Unwrap() http.ResponseWriter { return w.to }

// memory is what a deviation remembers between requests. It is bounded, and safe for concurrent use. The zero value is
// an empty memory.
type memory[V any] struct {
	mu   sync.Mutex
	kept map[string]V
}

// memorySize is the number of entries at which a memory starts over: enough for a run, little for a sandbox that
// serves for weeks.
const memorySize = 256

func (m *memory[V]) get(key string) (value V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, known = m.kept[key]
	return value, known
}

// put keeps a value and returns the one before.
func (m *memory[V]) put(key string, value V) (before V, known bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before, known = m.kept[key]
	if m.kept == nil || len(m.kept) >= memorySize && !known {
		m.kept = map[string]V{}
	}
	m.kept[key] = value
	return before, known
}
