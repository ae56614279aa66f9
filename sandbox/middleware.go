package sandbox

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/edge"
	"github.com/rin-network/rin/sandbox/journal"
)

// openWay puts before the routes what a request passes on its way to them, innermost first: the make of the node, deviations, scenarios, what
// a request asks for itself, limits, pages of other origins, the journal with log and figures, and the shape of errors.
func (s *Server) openWay(c Config, guard *auth.Guard) error {
	env := newEnv(c, s.places, s.issuer, s.books, s.credentials)
	// The make of the node is behind the seam: it stays, whatever deviations come and go.
	made, err := newInjector(s.api.before(newMux(s.routes, s.places, http.HandlerFunc(s.authority.WrongRealm), s.api)), env, c.Flavour.Habits)
	if err != nil {
		return fmt.Errorf("flavour %q: %w", c.Flavour.Name, err)
	}
	if s.seam, err = newInjector(made, env, c.Deviations); err != nil {
		return err
	}
	if s.stage, err = newStage(c, s.places, s.authority, guard, s.issuer); err != nil {
		return err
	}
	s.handler = s.stage.Before(s.seam.noted())
	if c.AskedByHeader {
		s.asked = newHeaderFaults(s.stage.Asked(s.handler), env)
		s.handler = s.asked
	}
	if s.limits, err = newLimits(c, s.places, guard, s.authority); err != nil {
		return err
	}
	pages, err := edge.ParseOrigins(c.CORS)
	if err != nil {
		return fmt.Errorf("CORS: %w", err)
	}
	s.handler = pages.Handler(s.limits.handler(s.handler), c.Logger)
	s.watch = &observer{
		next: c.Journal.Watch(journalPlace(c, s.places), s.handler), node: c.Member.ID, log: c.Logger, now: c.Clock,
		places: s.places, requests: edge.NewRequestCounts(countedOperations()...),
	}
	s.handler = s.watch
	if c.ErrorShape != content.ShapeProblem {
		s.handler = content.WithErrorShape(c.ErrorShape, s.handler)
	}
	return nil
}

// limits answers callers who ask too often with 429 (RFC 6585 §4). A good token counts for its client wherever that calls from, everything
// else for the address that it comes from: at the token endpoint nobody is known yet.
type limits struct {
	limiter *edge.Limiter
	guard   *auth.Guard
	server  *auth.Server
	places  address.Map
	now     func() time.Time
	refused atomic.Uint64
}

// newLimits makes the limits of a node; nil when it has none.
func newLimits(c Config, places address.Map, guard *auth.Guard, server *auth.Server) (*limits, error) {
	if c.RateLimit == (edge.Rate{}) {
		return nil, nil
	}
	limiter, err := edge.NewLimiter(c.RateLimit)
	if err != nil {
		return nil, err
	}
	return &limits{limiter: limiter, guard: guard, server: server, places: places, now: c.Clock}, nil
}

// handler puts the limits before a node. Whoever looks whether it is up is not counted.
func (l *limits) handler(next http.Handler) http.Handler {
	if l == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := l.places.Classify(r.URL.Path).Operation
		if operation == journal.Health {
			next.ServeHTTP(w, r)
			return
		}
		caller := l.caller(r)
		wait, admitted := l.limiter.Admit(caller.key, l.now())
		if !admitted {
			l.refuse(w, r, operation, caller.name, seconds(wait))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse tells the caller how long to wait, in the error format of what was asked.
func (l *limits) refuse(w http.ResponseWriter, r *http.Request, operation journal.Operation, name string, wait int) {
	l.refused.Add(1)
	w.Header().Set("Retry-After", strconv.Itoa(wait))
	detail := fmt.Sprintf("%s asks more often than %s", name, l.limiter.Rate())
	hint := fmt.Sprintf("wait %d s, as Retry-After says, and repeat the request then", wait)
	if operation == journal.Token || operation == journal.Staging {
		l.server.Later(w, r, http.StatusTooManyRequests, detail+"; "+hint+"; a token serves for many calls until it expires")
		return
	}
	content.TooManyRequests(detail, hint).Write(w, r)
}

// caller is who is counted.
type caller struct{ key, name string }

func (l *limits) caller(r *http.Request) caller {
	if principal, ok := l.guard.Identify(r); ok {
		return caller{"client " + principal.ForeignIssuer + " " + principal.ClientID, "the client of this token"}
	}
	return caller{"address " + network(r.RemoteAddr), "this address"}
}

// network is the part of a remote address that one caller commands: the address, or the /64 of IPv6.
func network(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	address, err := netip.ParseAddr(host)
	if err != nil || address.Unmap().Is4() {
		return host
	}
	// 64 is a length that every address of IPv6 has.
	prefix, _ := address.WithZone("").Prefix(64)
	return prefix.String()
}

// seconds rounds a wait up: who comes a moment too early is refused again (RFC 9110 §10.2.3).
func seconds(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }

// reset forgets who has asked.
func (l *limits) reset() {
	if l != nil {
		l.limiter.Reset()
	}
}
