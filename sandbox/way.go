package sandbox

import (
	"fmt"
	"net/http"

	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/cors"
	"github.com/rin-network/rin/sandbox/metrics"
	"github.com/rin-network/rin/sandbox/problem"
)

// openWay puts before the routes what a request passes on its way to them, innermost first: the make of the node, deviations, scenarios, what
// a request asks for itself, limits, pages of other origins, the journal with log and figures, and the shape of errors.
func (s *Server) openWay(c Config, guard *auth.Guard) error {
	env := newEnv(c, s.places, s.issuer, s.books, s.credentials)
	// The make of the node is behind the seam: it stays, whatever deviations come and go.
	made, err := newSeam(s.api.before(newMux(s.routes, s.places, http.HandlerFunc(s.authority.WrongRealm), s.api)), env, c.Flavour.Habits)
	if err != nil {
		return fmt.Errorf("flavour %q: %w", c.Flavour.Name, err)
	}
	if s.seam, err = newSeam(made, env, c.Deviations); err != nil {
		return err
	}
	if s.stage, err = newStage(c, s.places, s.authority, guard, s.issuer); err != nil {
		return err
	}
	s.handler = s.stage.Before(s.seam.noted())
	if c.AskedByHeader {
		s.asked = newAsked(s.stage.Asked(s.handler), env)
		s.handler = s.asked
	}
	if s.limits, err = newLimits(c, s.places, guard, s.authority); err != nil {
		return err
	}
	pages, err := cors.Parse(c.CORS)
	if err != nil {
		return fmt.Errorf("CORS: %w", err)
	}
	s.handler = pages.Handler(s.limits.handler(s.handler), c.Logger)
	s.watch = &watch{
		next: c.Journal.Watch(watched(c, s.places), s.handler), node: c.Member.ID, log: c.Logger, now: c.Clock,
		classify: purposes(s.places).of, api: s.places.API() + "/", requests: metrics.NewRequests(operations()...),
	}
	s.handler = s.watch
	if c.ErrorShape != problem.ShapeProblem {
		s.handler = problem.In(c.ErrorShape, s.handler)
	}
	return nil
}
