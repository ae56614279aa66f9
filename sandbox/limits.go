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
	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/limit"
	"github.com/rin-network/rin/sandbox/problem"
)

// limits answers callers who ask too often with 429 (RFC 6585 §4). A good token counts for its client wherever that calls from, everything
// else for the address that it comes from: at the token endpoint nobody is known yet.
type limits struct {
	limiter *limit.Limiter
	guard   *auth.Guard
	server  *auth.Server
	places  address.Map
	now     func() time.Time
	// asksToken tells whether a path is that of a token endpoint.
	asksToken func(path string) bool
	refused   atomic.Uint64
}

// newLimits makes the limits of a node; nil when it has none.
func newLimits(c Config, places address.Map, guard *auth.Guard, server *auth.Server) (*limits, error) {
	if c.RateLimit == (limit.Rate{}) {
		return nil, nil
	}
	limiter, err := limit.New(c.RateLimit)
	if err != nil {
		return nil, err
	}
	purpose := purposes(places).of
	asksToken := func(path string) bool {
		operation, _ := purpose(path)
		return operation == journal.Token || operation == journal.Staging
	}
	return &limits{limiter: limiter, guard: guard, server: server, places: places, now: c.Clock, asksToken: asksToken}, nil
}

// handler puts the limits before a node. Whoever looks whether it is up is not counted.
func (l *limits) handler(next http.Handler) http.Handler {
	if l == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == l.places.Health() {
			next.ServeHTTP(w, r)
			return
		}
		caller := l.caller(r)
		wait, admitted := l.limiter.Admit(caller.key, l.now())
		if !admitted {
			l.refuse(w, r, caller.name, seconds(wait))
			return
		}
		next.ServeHTTP(w, r)
	})
}

// refuse tells the caller how long to wait, in the error format of what was asked.
func (l *limits) refuse(w http.ResponseWriter, r *http.Request, name string, wait int) {
	l.refused.Add(1)
	w.Header().Set("Retry-After", strconv.Itoa(wait))
	detail := fmt.Sprintf("%s asks more often than %s", name, l.limiter.Rate())
	hint := fmt.Sprintf("wait %d s, as Retry-After says, and repeat the request then", wait)
	if l.asksToken(r.URL.Path) {
		l.server.Later(w, r, http.StatusTooManyRequests, detail+"; "+hint+"; a token serves for many calls until it expires")
		return
	}
	problem.TooManyRequests(detail, hint).Write(w, r)
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
