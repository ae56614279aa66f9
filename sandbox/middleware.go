package sandbox

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/edge"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/journal"
)

// layer is a middleware: it wraps a handler.
type layer func(next http.Handler) http.Handler

// layers lists the layers that a request passes on its way to the routes, the outermost first. The answer passes the
// same layers in reverse order.
func (s *Server) layers(c Config, origins edge.CORSPolicy) []layer {
	return []layer{
		func(next http.Handler) http.Handler { return content.WithErrorShape(c.ErrorShape, next) }, // the form of all error bodies
		s.observer.wrap, // the Date header, metrics, log, recovery from panics
		func(next http.Handler) http.Handler { return c.Journal.Watch(journalPlace(c, s.places), next) }, // the record of requests and answers
		func(next http.Handler) http.Handler { return origins.Handler(next, c.Logger) },                  // pages of other origins
		s.limits.wrap, // the rate limit
		s.faults.Wrap, // deviations and scenarios that the request names, running scenarios, deviations in force, habits of the preset
		s.api.wrap,    // an API from a document
	}
}

// chain makes the layers, wraps the routes in them, and stores the result as s.handler.
func (s *Server) chain(c Config, guard *auth.Guard) error {
	var err error
	if s.faults, err = s.newFaults(c, guard); err != nil {
		return err
	}
	if s.limits, err = newLimits(c, s.places, guard, s.authority); err != nil {
		return err
	}
	origins, err := edge.ParseOrigins(c.CORS)
	if err != nil {
		return fmt.Errorf("CORS: %w", err)
	}
	s.observer = newObserver(c, s.places)
	s.handler = newMux(s.routes, s.places, http.HandlerFunc(s.authority.WrongRealm), s.api)
	for _, wrap := range slices.Backward(s.layers(c, origins)) {
		s.handler = wrap(s.handler)
	}
	return nil
}

// limits answers callers who exceed the rate limit with 429 (RFC 6585 §4). Requests with a valid token count for the client of the token, from any
// address. All others count for their address: also token requests, whose client is not known yet.
type limits struct {
	limiter *edge.Limiter
	guard   *auth.Guard
	server  *auth.Server
	places  address.Map
	now     func() time.Time
	refused atomic.Uint64
}

// newLimits makes the limits of a node; nil without a rate limit.
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

// wrap puts the limits before a node. Health checks are not counted.
func (l *limits) wrap(next http.Handler) http.Handler {
	if l == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		operation := l.places.Classify(r.URL.Path).Operation
		if operation == journal.Health {
			next.ServeHTTP(w, r)
			return
		}
		caller, r := l.caller(r)
		wait, admitted := l.limiter.Admit(caller.key, l.now())
		if !admitted {
			l.refuse(w, r, operation, caller.name, seconds(wait))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse answers 429 with the time to wait, in the error format of the requested operation.
func (l *limits) refuse(w http.ResponseWriter, r *http.Request, operation journal.Operation, name string, wait int) {
	l.refused.Add(1)
	w.Header().Set("Retry-After", strconv.Itoa(wait))
	detail := fmt.Sprintf("%s sends more than %s", name, l.limiter.Rate())
	hint := fmt.Sprintf("wait %d s, as Retry-After says, and repeat the request then", wait)
	if operation == journal.Token || operation == journal.ElsewhereToken {
		l.server.TemporarilyUnavailable(w, r, http.StatusTooManyRequests, detail+"; "+hint+"; a token serves for many calls until it expires")
		return
	}
	content.TooManyRequests(detail, hint).Write(w, r)
}

// caller is a client or an address whose requests are counted.
type caller struct{ key, name string } // name is for people

// caller returns the caller of a request, and the request with the verification of its token.
func (l *limits) caller(r *http.Request) (caller, *http.Request) {
	principal, ok, verified := l.guard.Identify(r)
	if ok {
		return caller{"client " + principal.ForeignIssuer + " " + principal.ClientID, "the client of this token"}, verified
	}
	return caller{"address " + callerAddress(r.RemoteAddr), "this address"}, verified
}

// callerAddress returns the part of a remote address that one caller controls: the address, or the /64 of IPv6.
func callerAddress(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	address, err := netip.ParseAddr(host)
	if err != nil || address.Unmap().Is4() {
		return host
	}
	// The error is always nil: 64 is a valid prefix length for every IPv6 address.
	prefix, _ := address.WithZone("").Prefix(64)
	return prefix.String()
}

// seconds rounds a wait up to whole seconds, because a caller who comes a moment too early would be refused again (RFC 9110 §10.2.3).
func seconds(wait time.Duration) int { return int((wait + time.Second - 1) / time.Second) }

// reset forgets all callers.
func (l *limits) reset() {
	if l != nil {
		l.limiter.Reset()
	}
}

// newFaults makes the injector of the configured scenarios and deviations, and of the habits of the preset.
func (s *Server) newFaults(c Config, guard *auth.Guard) (*fault.Injector, error) {
	setup := fault.Setup{Scenarios: c.Scenarios, FaultHeaders: c.FaultHeaders}
	var err error
	if setup.Habits, err = fault.FindDeviations(c.Preset.Habits); err != nil {
		return nil, fmt.Errorf("flavour %q: %w", c.Preset.Name, err)
	}
	if setup.Deviations, err = fault.FindDeviations(c.Deviations); err != nil {
		return nil, err
	}
	return fault.NewInjector(s.faultEnv(c, guard), setup)
}

// faultEnv returns the functions and data of the node that faults use.
func (s *Server) faultEnv(c Config, guard *auth.Guard) fault.Env {
	return fault.Env{
		Seed: c.Seed, Places: s.places, Now: c.Clock, Pause: c.Pause, Serves: s.serves,
		IsForeign: func(client string) bool {
			return slices.ContainsFunc(c.Issuers, func(i IssuerConfig) bool { _, known := i.Accounts[client]; return known })
		},
		Clients: s.clientsInUse, Sign: s.issuer.Sign, Issue: s.issueFor,
		Caller: func(r *http.Request) (string, *http.Request) {
			caller, _, verified := guard.Identify(r) // a caller without a valid token has no id
			return caller.ClientID, verified
		},
		Refuse: guard.Refuse, TokenUnavailable: s.authority.TemporarilyUnavailable, Rotate: s.issuer.Rotate,
	}
}

// issueFor makes a valid access token for a client, as the token endpoint in the registry would for the origin of r.
func (s *Server) issueFor(r *http.Request, clientID string) (string, error) {
	subject, ok := s.books.Clients().Subject(clientID)
	if !ok {
		return "", fmt.Errorf("client %q is unknown", clientID)
	}
	origin := s.places.Origin(r)
	return s.issuer.Issue(origin+s.places.ListedEndpoint().Issuer, origin+s.places.API(), clientID, subject, auth.Scope)
}

// clientsInUse lists the clients that are not revoked: the configured ones in their order, with secrets, then all
// others without secrets.
func (s *Server) clientsInUse() []fault.Client {
	var clients []fault.Client
	for _, configured := range s.credentials {
		if current, ok := credentialOf(s.books, configured.ClientID, configured.Secret); ok {
			clients = append(clients, fault.Client{ID: current.ClientID, Secret: current.Secret, Subject: current.Subject})
		}
	}
	for _, e := range s.books.List() {
		known := slices.ContainsFunc(clients, func(c fault.Client) bool { return c.ID == e.ID })
		if e.State != account.Revoked && !known {
			clients = append(clients, fault.Client{ID: e.ID, Subject: e.Subject})
		}
	}
	return clients
}

// Deviations lists the names of the deviations in force, the outermost first.
func (s *Server) Deviations() []string { return s.faults.Deviations() }

// Deviate replaces the deviations from the next request on. Without names the node has no deviations. A deviation that is already in force loses
// its state. Nothing changes if a name is unknown, or if a deviation changes connections and the node was not configured with it.
func (s *Server) Deviate(names ...string) error { return s.faults.Deviate(names...) }

// Play begins a scenario, which sees requests after the running ones. A scenario that already runs for the same client and path restarts.
func (s *Server) Play(p fault.Play) error { return s.faults.Play(p) }

// Stop ends the named scenarios, or all without names. It ends nothing if one of them is not running.
func (s *Server) Stop(names ...string) error { return s.faults.Stop(names...) }

// Scenarios lists the running scenarios, in the order in which they see requests, and the number of faults of each.
func (s *Server) Scenarios() []fault.PlayStatus { return s.faults.Plays() }
