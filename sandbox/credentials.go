package sandbox

import (
	"encoding/hex"
	"fmt"
	"io"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/auth"
)

// The ids of the demo clients that a sandbox has when none are configured.
const (
	// DemoClient has the role EXTERNAL_API_CLIENT and an affiliation.
	DemoClient = "demo-client"
	// DemoClientWithoutRole has an affiliation and no role.
	DemoClientWithoutRole = "demo-client-without-role"
	// DemoClientElsewhere has role and affiliation, and tokens that are meant for DemoAudience: the API refuses them.
	DemoClientElsewhere = "demo-client-elsewhere"
	// DemoAudience is the audience of a service that shares the authorization server and nothing else.
	DemoAudience = "https://projects.example/api"
	// DemoStagingClient is registered at the authorization server of the staging environment only.
	DemoStagingClient = "demo-staging-client"
	// DemoAffiliation is the affiliation ID of the demo clients.
	DemoAffiliation = "AFF-MUST-0001"
)

// DemoClients are the clients of a node that has none configured, with the suffix at the end of their ids: one with role and affiliation,
// one without a role, and one whose tokens are meant for another service.
func DemoClients(suffix string) []ClientConfig {
	return []ClientConfig{
		{ID: DemoClient + suffix, Role: model.RoleExternalAPIClient, Affiliation: DemoAffiliation},
		{ID: DemoClientWithoutRole + suffix, Affiliation: DemoAffiliation},
		{ID: DemoClientElsewhere + suffix, Role: model.RoleExternalAPIClient, Affiliation: DemoAffiliation, Audience: DemoAudience},
	}
}

// register completes the configured clients with secrets and subjects.
func register(c Config) ([]Credential, error) {
	clients := c.Clients
	if clients == nil {
		clients = DemoClients("")
	}
	credentials := make([]Credential, 0, len(clients))
	for _, client := range clients {
		credential := Credential{ClientID: client.ID, Secret: client.Secret, Subject: client.Subject, Role: client.Role, Affiliation: client.Affiliation, Audience: client.Audience}
		var err error
		switch {
		case credential.Secret == "":
			credential.Secret, err = auth.NewSecret(c.Random)
		case !c.Loopback && auth.SecretBits(credential.Secret) < auth.MinimalSecretBits:
			err = fmt.Errorf("the secret of client %q is weaker than %d bits: use 22 or more random letters and digits, or bind to loopback",
				client.ID, auth.MinimalSecretBits)
		}
		if err == nil && credential.Subject == "" {
			credential.Subject, err = newUserID(c.Random)
		}
		if err != nil {
			return nil, err
		}
		credentials = append(credentials, credential)
	}
	return credentials, nil
}

// newUserID draws a Service Account User ID in the form of a UUID of version 4 (RFC 9562 §5.4).
func newUserID(random io.Reader) (string, error) {
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("draw a service account user id: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	x := hex.EncodeToString(b[:])
	return x[:8] + "-" + x[8:12] + "-" + x[12:16] + "-" + x[16:20] + "-" + x[20:], nil
}
