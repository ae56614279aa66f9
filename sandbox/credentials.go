package sandbox

import (
	"fmt"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/account"
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

// openBooks opens the books of a node, enters the configured clients, and lists those of them that are in use, as their owners know them.
func openBooks(c Config) (*account.Books, []Credential, error) {
	books, err := account.Open(account.Config{Store: c.store(), Now: c.Clock, Random: c.Random})
	if err != nil {
		return nil, nil, err
	}
	clients := c.Clients
	if clients == nil {
		clients = DemoClients("")
	}
	registrations := make([]account.Registration, 0, len(clients))
	for _, client := range clients {
		drawn := client.Secret == ""
		if drawn {
			if kept, known := books.Entry(client.ID); !known || kept.Unseen {
				if client.Secret, err = account.NewSecret(c.Random); err != nil {
					return nil, nil, err
				}
			}
		} else if !c.Loopback && account.SecretBits(client.Secret) < account.MinimalSecretBits {
			return nil, nil, fmt.Errorf("the secret of client %q is weaker than %d bits: use 22 or more random letters and digits, or bind to loopback",
				client.ID, account.MinimalSecretBits)
		}
		registrations = append(registrations, account.Registration{
			Client: account.NewClient{ID: client.ID, Audience: client.Audience}, Secret: client.Secret, Unseen: drawn, Subject: client.Subject,
			Permission: account.Permission{Role: client.Role, Affiliation: client.Affiliation},
		})
	}
	if err := books.Enter(registrations); err != nil {
		return nil, nil, err
	}
	var credentials []Credential
	for _, r := range registrations {
		if credential, ok := credentialOf(books, r.Client.ID, r.Secret); ok {
			credential.Given = !r.Unseen && credential.Secret != ""
			credentials = append(credentials, credential)
		}
	}
	return books, credentials, nil
}

// credentialOf is what the owner of a client holds. The secret is that given, if it is still the client's, and unknown otherwise; ok is
// false for a client that is not in use.
func credentialOf(books *account.Books, id, secret string) (c Credential, ok bool) {
	e, known := books.Entry(id)
	if !known || e.State == account.Revoked {
		return Credential{}, false
	}
	c = Credential{ClientID: id, Subject: e.Subject, Role: e.Role, Affiliation: e.Affiliation, Audience: e.Audience}
	if _, _, good := books.Clients().Authenticate(id, secret); good {
		c.Secret = secret
	}
	return c, true
}
