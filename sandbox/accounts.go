package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/funding"
)

// The ids of the demo clients that a sandbox has when none are configured.
const (
	// DemoClient has the role EXTERNAL_API_CLIENT and an affiliation.
	DemoClient = "demo-client"
	// DemoClientWithoutRole has an affiliation and no role.
	DemoClientWithoutRole = "demo-client-without-role"
	// DemoClientOtherAudience has role and affiliation. Its tokens are meant for DemoAudience, and the API refuses them.
	DemoClientOtherAudience = "demo-client-other-audience"
	// DemoAudience is the audience of another service, which shares only the authorization server with the node.
	DemoAudience = "https://projects.example/api"
	// DemoElsewhereClient is registered only in the other environment beside the node, whose tokens the node refuses.
	DemoElsewhereClient = "demo-elsewhere-client"
	// DemoAffiliation is the affiliation ID of the demo clients.
	DemoAffiliation = "AFF-MUST-0001"
)

// DemoClients returns the clients of a node without configured clients, with suffix appended to their ids: one with role and affiliation, one
// without a role, and one whose tokens are meant for another service.
func DemoClients(suffix string) []ClientConfig {
	return []ClientConfig{
		{ID: DemoClient + suffix, Role: model.RoleExternalAPIClient, Affiliation: DemoAffiliation},
		{ID: DemoClientWithoutRole + suffix, Affiliation: DemoAffiliation},
		{ID: DemoClientOtherAudience + suffix, Role: model.RoleExternalAPIClient, Affiliation: DemoAffiliation, Audience: DemoAudience},
	}
}

// openBooks opens the books of a node, enters the configured clients, and returns the credentials of those that are not revoked.
func openBooks(c Config) (*account.Books, []Credential, error) {
	books, err := account.Open(account.Config{Store: c.store(), Now: c.Clock, Random: c.Random})
	if err != nil {
		return nil, nil, err
	}
	clients := c.Clients
	if clients == nil {
		clients = DemoClients("")
	}
	registrations := make([]account.Registration, len(clients))
	for i, client := range clients {
		if registrations[i], err = registration(c, books, client); err != nil {
			return nil, nil, err
		}
	}
	if err := books.Enter(registrations); err != nil {
		return nil, nil, err
	}
	var credentials []Credential
	for _, r := range registrations {
		if credential, ok := credentialOf(books, r.Client.ID, r.Secret); ok {
			credential.Configured = !r.Generated && credential.Secret != ""
			if !r.Generated && credential.Secret == "" {
				c.Logger.Warn("the configured secret is not used: the ledger already has this client with another secret", "client", r.Client.ID)
			}
			credentials = append(credentials, credential)
		}
	}
	return books, credentials, nil
}

// registration converts a configured client for the books. It generates a secret if the configuration has none, and no earlier start has shown one.
func registration(c Config, books *account.Books, client ClientConfig) (r account.Registration, err error) {
	r = account.Registration{
		Client: account.NewClient{ID: client.ID, Audience: client.Audience}, Secret: client.Secret, Generated: client.Secret == "", Subject: client.Subject,
		Permission: account.Permission{Role: client.Role, Affiliation: client.Affiliation},
	}
	entry, known := books.Entry(client.ID)
	switch {
	case r.Generated && (!known || entry.Unseen):
		r.Secret, err = account.NewSecret(c.secretSource("secret " + client.ID))
	case !r.Generated && !c.Loopback && account.SecretBits(client.Secret) < account.MinimalSecretBits:
		err = fmt.Errorf("the secret of client %q is weaker than %d bits: use 22 or more random letters and digits, or bind to loopback",
			client.ID, account.MinimalSecretBits)
	}
	if err == nil && r.Subject == "" && !known {
		r.Subject, err = account.NewSubject(c.secretSource("subject " + client.ID))
	}
	return r, err
}

// secretSource returns the source of a secret: derived from SecretSeed if it is set, else from Seed if Derived is set, else random. A derived source is
// a function of the seed, the node and the purpose.
func (c Config) secretSource(purpose string) io.Reader {
	switch {
	case len(c.SecretSeed) > 0:
		return derive(hex.EncodeToString(c.SecretSeed), c.Member.ID, purpose)
	case c.Derived:
		return derive(fmt.Sprint(c.Seed), c.Member.ID, purpose)
	}
	return c.Random
}

// keySource returns the source of signing keys: derived from KeySeed if it is set, else derived like the secrets if Derived is set, else random.
// SecretSeed alone does not derive the keys.
func (c Config) keySource(purpose string) io.Reader {
	switch {
	case len(c.KeySeed) > 0:
		return auth.Derived{Reader: derive(hex.EncodeToString(c.KeySeed), c.Member.ID, purpose)}
	case c.Derived:
		return auth.Derived{Reader: c.secretSource(purpose)}
	}
	return c.Random
}

// derive returns a source that is a function of a seed, a node and a purpose.
func derive(seed, node, purpose string) io.Reader {
	return rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "rin sandbox %s %q %q", seed, node, purpose)))
}

// credentialOf returns the credential of a client; ok is false for an unknown or revoked client. The secret is included only if it is still valid.
func credentialOf(books *account.Books, id, secret string) (c Credential, ok bool) {
	e, known := books.Entry(id)
	if !known || e.State == account.Revoked {
		return Credential{}, false
	}
	c = Credential{ClientID: id, Subject: e.Subject, Role: e.Role, Affiliation: e.Affiliation, Audience: e.Audience}
	if _, _, valid := books.Clients().Authenticate(id, secret); valid {
		c.Secret = secret
	}
	return c, true
}

// Ledger keeps the books of several nodes, each in its own store.
type Ledger interface {
	// Store returns the store of the node with this member id.
	Store(member string) account.Store
}

// store returns the store of the node's books; nil if they are in memory only.
func (c Config) store() account.Store {
	if c.Ledger == nil {
		return nil
	}
	return c.Ledger.Store(c.Member.ID)
}

// permissions implements [funding.Accounts]. It has the accounts in the node's books, and the configured accounts of the clients of foreign issuers.
type permissions struct {
	own     *account.Accounts
	foreign map[funding.AccountKey]funding.Account
}

func newPermissions(own *account.Accounts, issuers []IssuerConfig) permissions {
	p := permissions{own: own, foreign: map[funding.AccountKey]funding.Account{}}
	for _, issuer := range issuers {
		for client, permission := range issuer.Accounts {
			p.foreign[funding.AccountKey{ForeignIssuer: issuer.Issuer, Name: client}] = permission
		}
	}
	return p
}

// Account implements funding.Accounts.
func (p permissions) Account(key funding.AccountKey) (funding.Account, bool) {
	if key.ForeignIssuer != "" {
		permission, known := p.foreign[key]
		return permission, known
	}
	permission, known := p.own.Permission(key.Name)
	return funding.Account(permission), known
}
