package scenario

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/spelling"
)

// Stage is the plays of one node. It is safe for concurrent use; a request that has begun goes its way to the end.
type Stage struct {
	env        Env
	configured []Play
	changing   sync.Mutex
	plays      atomic.Pointer[[]*running]
	named      atomic.Pointer[map[string]*running] // for requests that ask for them
}

// NewStage makes a stage with the plays that a node is configured with.
func NewStage(env Env, configured []Play) (*Stage, error) {
	s := &Stage{env: env}
	s.plays.Store(&[]*running{})
	for _, p := range configured {
		if err := s.Play(p); err != nil {
			return nil, err
		}
	}
	s.configured = slices.Clone(configured)
	s.forget()
	return s, nil
}

// Play begins a play, or begins it anew when one of this name for the same client and path is on. It comes after those that are on.
func (s *Stage) Play(p Play) error {
	p, scenario, err := p.complete(s.env.Places)
	if err != nil {
		return err
	}
	s.change(func(on []*running) []*running {
		on = slices.DeleteFunc(on, func(r *running) bool {
			return r.play.Name == p.Name && r.play.Client == p.Client && r.play.Path == p.Path
		})
		return append(on, begin(p, scenario))
	})
	return nil
}

// Stop ends the plays of the names, or all when none is given. It refuses names of scenarios that are not on, and then ends nothing.
func (s *Stage) Stop(names ...string) error {
	var on []string
	for _, p := range *s.plays.Load() {
		on = append(on, p.play.Name)
	}
	for _, name := range names {
		if !slices.Contains(on, name) {
			return fmt.Errorf("scenario %q is not on: %s", name, spelling.Suggest(name, on))
		}
	}
	s.change(func(on []*running) []*running {
		return slices.DeleteFunc(on, func(r *running) bool { return len(names) == 0 || slices.Contains(names, r.play.Name) })
	})
	return nil
}

// Reset begins the plays that the node was configured with anew, and ends all others.
func (s *Stage) Reset() {
	s.forget()
	s.change(func([]*running) []*running { return nil })
	for _, p := range s.configured {
		_ = s.Play(p) // was good when the node was made
	}
}

// Playing lists the plays in the order in which they see requests.
func (s *Stage) Playing() []Status {
	all := []Status{}
	for _, p := range *s.plays.Load() {
		all = append(all, p.status())
	}
	return all
}

func (s *Stage) change(to func(on []*running) []*running) {
	s.changing.Lock()
	defer s.changing.Unlock()
	on := to(slices.Clone(*s.plays.Load()))
	s.plays.Store(&on)
}

// Before puts the stage before a node.
func (s *Stage) Before(node http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		on := *s.plays.Load()
		if len(on) == 0 {
			node.ServeHTTP(w, r)
			return
		}
		s.enter(on, node, w, r)
	})
}

// enter lets a request meet the plays that it fits.
func (s *Stage) enter(on []*running, node http.Handler, w http.ResponseWriter, r *http.Request) {
	kind := kindOf(s.env.Places, r.URL.Path)
	var fit []*running
	for _, p := range on {
		if p.play.fits(p.scenario, kind, r.URL.Path) {
			fit = append(fit, p)
		}
	}
	s.strike(fit, kind, node, w, r)
}

// strike puts plays before a node for one request, the first of them outermost. OPTIONS is asked by browsers, not by clients.
func (s *Stage) strike(plays []*running, kind Kind, node http.Handler, w http.ResponseWriter, r *http.Request) {
	if len(plays) == 0 || r.Method == http.MethodOptions {
		node.ServeHTTP(w, r)
		return
	}
	client, r := s.client(kind, r)
	note := journal.Of(r.Context())
	next := node
	for _, p := range slices.Backward(plays) {
		if p.play.Client == "" || p.play.Client == client {
			after := next
			next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				p.act(&turn{running: p, env: s.env, kind: kind, note: note, client: client}, after, w, r)
			})
		}
	}
	next.ServeHTTP(w, r)
}

// client tells which client a request comes from.
func (s *Stage) client(kind Kind, r *http.Request) (string, *http.Request) {
	if kind == Token {
		return auth.ClaimedClient(r)
	}
	return s.env.Caller(r), r
}
