// Package sandbox is a node of a research-information network that runs anywhere: an authorization server, the info
// resource, the funding service with believable data, the OpenAPI document that describes it and a registry that
// lists it. It behaves as the rules of the network and the RFCs behind them ask, unless it is told to deviate,
// for good or for some requests (package scenario).
//
// A request takes this way:
//
//	request -> scenario.Stage -> deviation.Wrap -> auth.Guard (try-out paths pass) -> handler -> store -> response
//
// The journal stands before all of it, and remembers what was asked and answered; package conduct judges clients by it.
//
// New makes an http.Handler, to be used in a test with httptest:
//
//	node, err := sandbox.New(sandbox.Config{})
//	server := httptest.NewServer(node)
//	client := node.Credentials()[0] // id, secret, and what the client may do
//
// NewNetwork makes a handler of several nodes below roots of their own, with one registry and one clock; package flavour has the makes that
// a node may be of, package setup makes their configurations.
//
// Serve runs either on a listener. Everything that a Config leaves out has a default that makes a good node; clock and
// randomness come from it, nothing is read from the environment.
package sandbox
