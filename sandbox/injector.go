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

// injector is the one place where a node's behaviour is changed: the deviations stand before the node here, and may be exchanged while it
// serves. A request that has begun goes its way to the end.
type injector struct {
	node    http.Handler
	env     fault.Env
	current atomic.Pointer[faultyNode]
}

// faultyNode is a node behind the deviations of the given names.
type faultyNode struct {
	names []string
	http.Handler
}

func newInjector(node http.Handler, env fault.Env, names []string) (*injector, error) {
	s := &injector{node: node, env: env}
	chosen, err := findDeviations(names)
	if err != nil {
		return nil, err
	}
	s.put(chosen)
	return s, nil
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

// put places the deviations before the node, the first outermost. Those of connections are the listener's business.
func (s *injector) put(chosen []fault.Deviation) {
	next := &faultyNode{Handler: s.node}
	for _, d := range slices.Backward(chosen) {
		next.names = append(next.names, d.Name)
		if d.Wrap != nil {
			next.Handler = d.Wrap(next.Handler, s.env)
		}
	}
	slices.Reverse(next.names)
	s.current.Store(next)
}

// noted is the seam with its deviations told to the journal. The habits of a make are no deviations of the node.
func (s *injector) noted() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chosen := s.current.Load()
		journal.Of(r.Context()).Deviate(chosen.names...)
		chosen.ServeHTTP(w, r)
	})
}

// ServeHTTP implements http.Handler.
func (s *injector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.current.Load().ServeHTTP(w, r)
}

// Deviations names the deviations that are in force, the outermost first.
func (s *Server) Deviations() []string { return slices.Clone(s.seam.current.Load().names) }

// Deviate puts other deviations in force from the next request on; none makes a good node of it. They begin afresh, whatever they
// remembered. Nothing changes when a name is unknown, or is of a deviation of connections, which a running node cannot take on.
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
	s.seam.put(chosen)
	return nil
}

// DeviateHeader is the field in which a request asks for deviations, by name, separated by commas.
const DeviateHeader = "Rin-Deviate"

// maxHeaderFaults is the number of deviations that one request may ask for.
const maxHeaderFaults = 8

// headerFaults puts before a node the deviations that a request asks for itself, the first outermost, in front of those that are in force. Each
// deviation is made once, not for each request: what it remembers of one request that asked for it, it knows at the next.
type headerFaults struct {
	node    http.Handler
	env     fault.Env
	current atomic.Pointer[map[string]func() http.Handler]
}

func newHeaderFaults(node http.Handler, env fault.Env) *headerFaults {
	a := &headerFaults{node: node, env: env}
	a.reset()
	return a
}

// reset lets all deviations forget.
func (a *headerFaults) reset() {
	if a == nil {
		return
	}
	made := map[string]func() http.Handler{}
	for _, name := range fault.DeviationNames() {
		made[name] = sync.OnceValue(func() http.Handler {
			d, err := fault.FindDeviation(name)
			if err != nil || d.Wrap == nil {
				return nil
			}
			return d.Wrap(http.HandlerFunc(a.proceed), a.env)
		})
	}
	a.current.Store(&made)
}

// ServeHTTP implements http.Handler.
func (a *headerFaults) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	fields := r.Header.Values(DeviateHeader)
	if len(fields) == 0 {
		a.node.ServeHTTP(w, r)
		return
	}
	names := strings.FieldsFunc(strings.Join(fields, ","), func(c rune) bool { return c == ',' || c == ' ' || c == '\t' })
	chain, err := a.chain(names)
	if err != nil {
		content.BadRequest(DeviateHeader+": "+err.Error(), "rin sandbox --deviations lists them").Write(w, r)
		return
	}
	journal.Of(r.Context()).Deviate(names...)
	a.proceed(w, withChain(r, chain))
}

// chain finds the deviations of the names.
func (a *headerFaults) chain(names []string) ([]http.Handler, error) {
	if len(names) > maxHeaderFaults {
		return nil, fmt.Errorf("%d deviations for one request: expected %d at most", len(names), maxHeaderFaults)
	}
	made := *a.current.Load()
	var chain []http.Handler
	for _, name := range names {
		if _, err := fault.FindDeviation(name); err != nil {
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
func (a *headerFaults) proceed(w http.ResponseWriter, r *http.Request) {
	chain, _ := r.Context().Value(chainKey{}).([]http.Handler)
	if len(chain) == 0 {
		a.node.ServeHTTP(w, r)
		return
	}
	chain[0].ServeHTTP(w, withChain(r, chain[1:]))
}

// newStage makes the stage of a node, with the plays that it is configured with.
func newStage(c Config, places address.Map, server *auth.Server, guard *auth.Guard, issuer *auth.Issuer) (*fault.Injector, error) {
	return fault.NewInjector(fault.ScenarioEnv{
		Places: places, Now: c.Clock, Pause: c.Pause,
		Caller: func(r *http.Request) string {
			caller, _ := guard.Identify(r) // nobody has no id
			return caller.ClientID
		},
		Refuse: guard.Refuse, Later: server.Later, Rotate: issuer.Rotate,
	}, c.Scenarios)
}

// Play begins a scenario, or begins it anew. Others go on.
func (s *Server) Play(p fault.Play) error { return s.stage.Play(p) }

// Stop ends the scenarios of the names, all when none is given. It ends nothing when one of them is not on.
func (s *Server) Stop(names ...string) error { return s.stage.Stop(names...) }

// Scenarios lists the scenarios that are on, in the order in which they see requests, and how often each has struck.
func (s *Server) Scenarios() []fault.PlayStatus { return s.stage.Playing() }
