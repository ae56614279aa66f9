package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rin-network/rin/sandbox/deviation"
	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/problem"
)

// DeviateHeader is the field in which a request asks for deviations, by name, separated by commas.
const DeviateHeader = "Rin-Deviate"

// maxAsked is the number of deviations that one request may ask for.
const maxAsked = 8

// asked puts before a node the deviations that a request asks for itself, the first outermost, in front of those that are in force. Each
// deviation is made once, not for each request: what it remembers of one request that asked for it, it knows at the next.
type asked struct {
	node    http.Handler
	env     deviation.Env
	current atomic.Pointer[map[string]func() http.Handler]
}

func newAsked(node http.Handler, env deviation.Env) *asked {
	a := &asked{node: node, env: env}
	a.reset()
	return a
}

// reset lets all deviations forget.
func (a *asked) reset() {
	if a == nil {
		return
	}
	made := map[string]func() http.Handler{}
	for _, name := range deviation.Names() {
		made[name] = sync.OnceValue(func() http.Handler {
			d, err := deviation.Find(name)
			if err != nil || d.Wrap == nil {
				return nil
			}
			return d.Wrap(http.HandlerFunc(a.proceed), a.env)
		})
	}
	a.current.Store(&made)
}

// ServeHTTP implements http.Handler.
func (a *asked) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fields := r.Header.Values(DeviateHeader)
	if len(fields) == 0 {
		a.node.ServeHTTP(w, r)
		return
	}
	names := strings.FieldsFunc(strings.Join(fields, ","), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	chain, err := a.chain(names)
	if err != nil {
		problem.BadRequest(DeviateHeader+": "+err.Error(), "rin sandbox --deviations lists them").Write(w, r)
		return
	}
	journal.Of(r.Context()).Deviate(names...)
	a.proceed(w, withChain(r, chain))
}

// chain finds the deviations of the names.
func (a *asked) chain(names []string) ([]http.Handler, error) {
	if len(names) > maxAsked {
		return nil, fmt.Errorf("%d deviations for one request: expected %d at most", len(names), maxAsked)
	}
	made := *a.current.Load()
	var chain []http.Handler
	for _, name := range names {
		if _, err := deviation.Find(name); err != nil {
			return nil, err
		}
		one := made[name]()
		if one == nil {
			return nil, &NeedsStartError{Deviation: name}
		}
		chain = append(chain, one)
	}
	return chain, nil
}

type chainKey struct{}

func withChain(r *http.Request, chain []http.Handler) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), chainKey{}, chain))
}

// proceed hands a request to the next of its deviations, and after the last to the node.
func (a *asked) proceed(w http.ResponseWriter, r *http.Request) {
	chain, _ := r.Context().Value(chainKey{}).([]http.Handler)
	if len(chain) == 0 {
		a.node.ServeHTTP(w, r)
		return
	}
	chain[0].ServeHTTP(w, withChain(r, chain[1:]))
}
