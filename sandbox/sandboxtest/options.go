package sandboxtest

import (
	"time"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/flavour"
	"github.com/rin-network/rin/sandbox/transport"
)

// Option changes the sandbox that New makes.
type Option func(*settings)

// settings are what the options are about.
type settings struct {
	nodes int
	first sandbox.Config
	start time.Time
	err   error // of an option, told by New
}

// Seed chooses data, keys and secrets; 1 unless given.
func Seed(seed uint64) Option { return func(s *settings) { s.first.Seed = seed } }

// Nodes makes a network of n nodes, as rin sandbox --nodes does.
func Nodes(n int) Option { return func(s *settings) { s.nodes = n } }

// Calls is the number of funding calls of each node.
func Calls(n int) Option { return func(s *settings) { s.first.Calls = n } }

// Flavour makes nodes of some make, such as "keycloak".
func Flavour(name string) Option {
	return func(s *settings) {
		made, err := flavour.Find(name)
		if err != nil {
			s.err = err
			return
		}
		s.first.Flavour = made
	}
}

// TLS serves https, with an authority of its own that the HTTP clients of the sandbox trust.
func TLS() Option {
	return func(s *settings) { s.first.TLS = &transport.Settings{Clock: time.Now} } // clients look at the real time
}

// At is the time at which the sandbox begins. It stands still there but for [Sandbox.Advance]; without At it is the real time.
func At(start time.Time) Option { return func(s *settings) { s.start = start } }

// Configure changes the configuration that the nodes are made of, in whatever has no option of its own.
func Configure(change func(*sandbox.Config)) Option {
	return func(s *settings) { change(&s.first) }
}
