package sandbox

import (
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/rin-network/rin/sandbox/deviation"
	"github.com/rin-network/rin/sandbox/journal"
)

// seam is the one place where a node's behaviour is changed: the deviations stand before the node here, and may be exchanged while it
// serves. A request that has begun goes its way to the end.
type seam struct {
	node    http.Handler
	env     deviation.Env
	current atomic.Pointer[deviating]
}

// deviating is a node behind the deviations of the given names.
type deviating struct {
	names []string
	http.Handler
}

func newSeam(node http.Handler, env deviation.Env, names []string) (*seam, error) {
	s := &seam{node: node, env: env}
	chosen, err := find(names)
	if err != nil {
		return nil, err
	}
	s.put(chosen)
	return s, nil
}

func find(names []string) ([]deviation.Deviation, error) {
	chosen := make([]deviation.Deviation, 0, len(names))
	for _, name := range names {
		d, err := deviation.Find(name)
		if err != nil {
			return nil, err
		}
		chosen = append(chosen, d)
	}
	return chosen, nil
}

// put places the deviations before the node, the first outermost. Those of connections are the listener's business.
func (s *seam) put(chosen []deviation.Deviation) {
	next := &deviating{Handler: s.node}
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
func (s *seam) noted() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		chosen := s.current.Load()
		journal.Of(r.Context()).Deviate(chosen.names...)
		chosen.ServeHTTP(w, r)
	})
}

// ServeHTTP implements http.Handler.
func (s *seam) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.current.Load().ServeHTTP(w, r)
}

// Deviations names the deviations that are in force, the outermost first.
func (s *Server) Deviations() []string { return slices.Clone(s.seam.current.Load().names) }

// Deviate puts other deviations in force from the next request on; none makes a good node of it. They begin afresh, whatever they
// remembered. Nothing changes when a name is unknown, or is of a deviation of connections, which a running node cannot take on.
func (s *Server) Deviate(names ...string) error {
	chosen, err := find(names)
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
