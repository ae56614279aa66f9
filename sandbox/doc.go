// Package sandbox is a node of a research-information network that runs anywhere: an authorization server, the info
// resource, the funding service with believable data, the OpenAPI document that describes it and a registry that
// lists it. It behaves as the rules of the network and the RFCs behind them ask, unless it is told to deviate,
// for good or for some requests (package scenario).
//
// A request takes this way:
//
//	request -> watch -> journal -> CORS -> rate limit -> scenario.Stage -> deviation.Wrap -> auth.Guard (try-out paths pass) -> handler -> store -> response
//
// Watch dates, counts and logs; the journal remembers what was asked and answered, and package conduct judges clients by it. CORS and
// rate limit are there when they are configured.
//
// Package sandboxtest runs a whole network inside a Go test. New makes the http.Handler of one node:
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
