package sandbox

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/fault"
)

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
		Places: s.places, Now: c.Clock, Pause: c.Pause,
		Clients: s.clientsInUse, Sign: s.issuer.Sign, Issue: s.issueFor,
		Caller: func(r *http.Request) (string, *http.Request) {
			caller, _, verified := guard.Identify(r) // a caller without a good token has no id
			return caller.ClientID, verified
		},
		Refuse: guard.Refuse, Later: s.authority.Later, Rotate: s.issuer.Rotate,
	}
}

// issueFor makes a valid access token for a client, as the token endpoint in the registry would for the origin of r.
func (s *Server) issueFor(r *http.Request, clientID string) (string, error) {
	subject, ok := s.books.Clients().Subject(clientID)
	if !ok {
		return "", fmt.Errorf("client %q is unknown", clientID)
	}
	origin := s.places.Origin(r)
	return s.issuer.Issue(origin+s.places.Listed().Issuer, origin+s.places.API(), clientID, subject, auth.Scope)
}

// clientsInUse lists the clients that are not revoked: the configured ones in their order, then all others.
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

// Deviations names the deviations in force, the outermost first.
func (s *Server) Deviations() []string { return s.faults.Deviations() }

// Deviate replaces the deviations from the next request on. Without names the node has no deviations. A deviation that was in force already starts
// again without its state. Nothing changes if a name is unknown, or if a deviation changes connections and the node was not configured with it.
func (s *Server) Deviate(names ...string) error { return s.faults.Deviate(names...) }

// Play begins a scenario after the running ones. A scenario that runs for the same client and path restarts.
func (s *Server) Play(p fault.Play) error { return s.faults.Play(p) }

// Stop ends the named scenarios, or all without names. It ends nothing if one of them is not running.
func (s *Server) Stop(names ...string) error { return s.faults.Stop(names...) }

// Scenarios lists the running scenarios, in the order in which they see requests, and how often each has struck.
func (s *Server) Scenarios() []fault.PlayStatus { return s.faults.Playing() }
