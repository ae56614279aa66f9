package sandbox

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/journal"
)

// injector puts deviations before a node, which may be replaced while it serves. A request that has begun meets the same deviations to its end.
type injector struct {
	env     fault.Env
	initial []fault.Deviation
	// journaled makes the journal name the deviations. The habits of a preset are no deviations of the node.
	journaled bool
	node      http.Handler
	current   atomic.Pointer[faultyNode]
}

// faultyNode is a node behind deviations.
type faultyNode struct {
	http.Handler
	names []string // the outermost first
}

// newInjector finds the deviations, which begin with wrap.
func newInjector(env fault.Env, journaled bool, names []string) (*injector, error) {
	initial, err := findDeviations(names)
	return &injector{env: env, journaled: journaled, initial: initial}, err
}

func findDeviations(names []string) ([]fault.Deviation, error) {
	chosen := make([]fault.Deviation, 0, len(names))
	for _, name := range names {
		d, err := fault.FindDeviation(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, d)
	}
	return chosen, nil
}

// wrap puts the deviations before a node.
func (i *injector) wrap(node http.Handler) http.Handler {
	i.node = node
	i.replace(i.initial)
	return i
}

// replace puts other deviations before the node. Those of connections are the listener's business.
func (i *injector) replace(chosen []fault.Deviation) {
	next := &faultyNode{Handler: i.node}
	for _, d := range slices.Backward(chosen) {
		next.names = append(next.names, d.Name)
		if d.Wrap != nil {
			next.Handler = d.Wrap(next.Handler, i.env)
		}
	}
	slices.Reverse(next.names)
	i.current.Store(next)
}

// ServeHTTP implements http.Handler.
func (i *injector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	chosen := i.current.Load()
	if i.journaled {
		journal.Of(r.Context()).Deviate(chosen.names...)
	}
	chosen.ServeHTTP(w, r)
}

// Deviations names the deviations that are in force, the outermost first.
func (s *Server) Deviations() []string { return slices.Clone(s.deviations.current.Load().names) }

// Deviate replaces the deviations from the next request on; without names the node has no deviations. Deviations remember nothing from before.
// Nothing changes when a name is unknown, or is of a deviation of connections, which a running node cannot take on.
func (s *Server) Deviate(names ...string) error {
	chosen, err := findDeviations(names)
	if err != nil {
		return err
	}
	for _, d := range chosen {
		if d.Transport != nil && !slices.Contains(s.configured, d.Name) {
			return &NeedsStartError{Deviation: d.Name}
		}
	}
	s.deviations.replace(chosen)
	return nil
}

// DeviateHeader is the field in which a request asks for deviations, by name, separated by commas.
const DeviateHeader = "Rin-Deviate"

// maxHeaderFaults is the number of deviations that one request may ask for.
const maxHeaderFaults = 8

// headerFaults puts before a node the deviations that a request asks for in its header, the first outermost, before those that are in force. One
// instance of each deviation serves all requests, because some deviations remember earlier requests.
type headerFaults struct {
	node       http.Handler
	env        fault.Env
	deviations atomic.Pointer[map[string]func() http.Handler] // by name
}

func newHeaderFaults(env fault.Env) *headerFaults {
	f := &headerFaults{env: env}
	f.reset()
	return f
}

// wrap puts the deviations before a node.
func (f *headerFaults) wrap(node http.Handler) http.Handler {
	if f == nil {
		return node
	}
	f.node = node
	return f
}

// reset makes all deviations forget.
func (f *headerFaults) reset() {
	if f == nil {
		return
	}
	deviations := map[string]func() http.Handler{}
	for _, name := range fault.DeviationNames() {
		deviations[name] = sync.OnceValue(func() http.Handler {
			d, err := fault.FindDeviation(name)
			if err != nil || d.Wrap == nil {
				return nil
			}
			return d.Wrap(http.HandlerFunc(f.proceed), f.env)
		})
	}
	f.deviations.Store(&deviations)
}

// ServeHTTP implements http.Handler.
func (f *headerFaults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fields := r.Header.Values(DeviateHeader)
	if len(fields) == 0 {
		f.node.ServeHTTP(w, r)
		return
	}
	names := strings.FieldsFunc(strings.Join(fields, ","), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	chain, err := f.chain(names)
	if err != nil {
		content.BadRequest(DeviateHeader+": "+err.Error(), "rin sandbox --deviations lists them").Write(w, r)
		return
	}
	journal.Of(r.Context()).Deviate(names...)
	f.proceed(w, withChain(r, chain))
}

// chain finds the deviations of the names.
func (f *headerFaults) chain(names []string) ([]http.Handler, error) {
	if len(names) > maxHeaderFaults {
		return nil, fmt.Errorf("%d deviations for one request: expected %d at most", len(names), maxHeaderFaults)
	}
	deviations := *f.deviations.Load()
	var chain []http.Handler
	for _, name := range names {
		if _, err := fault.FindDeviation(name); err != nil {
			return nil, err
		}
		deviation := deviations[name]()
		if deviation == nil {
			return nil, &NeedsStartError{Deviation: name}
		}
		chain = append(chain, deviation)
	}
	return chain, nil
}

type chainKey struct{}

func withChain(r *http.Request, chain []http.Handler) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), chainKey{}, chain))
}

// proceed hands a request to the next of its deviations, and after the last to the node.
func (f *headerFaults) proceed(w http.ResponseWriter, r *http.Request) {
	chain, _ := r.Context().Value(chainKey{}).([]http.Handler)
	if len(chain) == 0 {
		f.node.ServeHTTP(w, r)
		return
	}
	chain[0].ServeHTTP(w, withChain(r, chain[1:]))
}

// newScenarios makes the scenarios of a node, with those that it is configured with.
func newScenarios(c Config, places address.Map, server *auth.Server, guard *auth.Guard, issuer *auth.Issuer) (*fault.Injector, error) {
	return fault.NewInjector(fault.ScenarioEnv{
		Places: places, Now: c.Clock, Pause: c.Pause,
		Caller: func(r *http.Request) (string, *http.Request) {
			caller, _, verified := guard.Identify(r) // a caller without a good token has no id
			return caller.ClientID, verified
		},
		Refuse: guard.Refuse, Later: server.Later, Rotate: issuer.Rotate,
	}, c.Scenarios)
}

// Play begins a scenario, or begins it again. Others continue.
func (s *Server) Play(p fault.Play) error { return s.scenarios.Play(p) }

// Stop ends the named scenarios, all when none is named. It ends nothing when one of them is not running.
func (s *Server) Stop(names ...string) error { return s.scenarios.Stop(names...) }

// Scenarios lists the running scenarios, in the order in which they see requests, and how often each has struck.
func (s *Server) Scenarios() []fault.PlayStatus { return s.scenarios.Playing() }
