//go:build e2e

package e2e_test

// client is one service account at an authorization server.
type client struct{ name, id, secret string }

// The clients of every authorization server that has clients of its own. The secrets guard nothing: the servers live as long as a test.
var (
	consumer   = client{"CLIENT", "e2e-client", "e2e-5ab1f0c37d2e4946a1c0ffee"}          // may read the funding service
	visitor    = client{"VISITOR", "e2e-visitor", "e2e-91d2c0ffee5ab1f0c37d2e49"}        // has no role there
	elsewhere  = client{"ELSEWHERE", "e2e-elsewhere", "e2e-0c37d2e4946a1c0ffee5ab"}      // its tokens are for another API of the same server
	shortLived = client{"SHORTLIVED", "e2e-short-lived", "e2e-4946a1c0ffee5ab1f0c37d2e"} // may read; its tokens last a second
	rehearsal  = client{"REHEARSAL", "e2e-rehearsal", "e2e-ee5ab1f0c37d2e4946a1c0ff"}    // is known in the staging environment alone
)

// audience is what the API calls itself in tokens.
const audience = "urn:rin:e2e"

// clientVariables puts clients into the environment of an authorization server.
func clientVariables(clients ...client) []string {
	env := []string{"AUDIENCE=" + audience}
	for _, c := range clients {
		env = append(env, c.name+"_ID="+c.id, c.name+"_SECRET="+c.secret)
	}
	return env
}
