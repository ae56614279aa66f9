package sandbox

import (
	"net/http"

	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/scenario"
)

// newStage makes the stage of a node, with the plays that it is configured with.
func newStage(c Config, places address.Map, server *auth.Server, guard *auth.Guard, issuer *auth.Issuer) (*scenario.Stage, error) {
	return scenario.NewStage(scenario.Env{
		Places: places, Now: c.Clock, Pause: c.Pause,
		Caller: func(r *http.Request) string {
			caller, _ := guard.Identify(r) // nobody has no id
			return caller.ClientID
		},
		Refuse: guard.Refuse, Later: server.Later, Rotate: issuer.Rotate,
	}, c.Scenarios)
}

// Play begins a scenario, or begins it anew. Others go on.
func (s *Server) Play(p scenario.Play) error { return s.stage.Play(p) }

// Stop ends the scenarios of the names, all when none is given. It ends nothing when one of them is not on.
func (s *Server) Stop(names ...string) error { return s.stage.Stop(names...) }

// Scenarios lists the scenarios that are on, in the order in which they see requests, and how often each has struck.
func (s *Server) Scenarios() []scenario.Status { return s.stage.Playing() }
