package sandbox

import (
	"fmt"
	"net/http"

	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/address"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/deviation"
	"github.com/rin-network/rin/sandbox/funding"
)

// Ledger holds the stores of several nodes.
type Ledger interface {
	// Of is the store of the node with this member id.
	Of(member string) account.Store
}

// store is where the node keeps its books; nil for memory alone.
func (c Config) store() account.Store {
	if c.Ledger == nil {
		return nil
	}
	return c.Ledger.Of(c.Member.ID)
}

// permissions is the book that the funding service reads: its own, and the accounts that it has configured for foreign issuers.
type permissions struct {
	own     *account.Accounts
	foreign map[funding.AccountKey]funding.Account
}

func newPermissions(own *account.Accounts, issuers []IssuerConfig) permissions {
	p := permissions{own: own, foreign: map[funding.AccountKey]funding.Account{}}
	for _, issuer := range issuers {
		for client, setting := range issuer.Accounts {
			p.foreign[funding.AccountKey{ForeignIssuer: issuer.Issuer, Name: client}] = setting
		}
	}
	return p
}

// Account implements funding.Accounts.
func (p permissions) Account(key funding.AccountKey) (funding.Account, bool) {
	if key.ForeignIssuer != "" {
		setting, known := p.foreign[key]
		return setting, known
	}
	setting, known := p.own.Permission(key.Name)
	return funding.Account(setting), known
}

// newEnv is what deviations may know of the node.
func newEnv(c Config, places address.Map, issuer *auth.Issuer, books *account.Books, configured []Credential) deviation.Env {
	return deviation.Env{
		Places: places, Now: c.Clock, Pause: c.Pause, Sign: issuer.Sign,
		Clients: func() []deviation.Client { return clientsInUse(books, configured) },
		Issue: func(r *http.Request, clientID string) (string, error) {
			subject, ok := books.Clients().Subject(clientID)
			if !ok {
				return "", fmt.Errorf("client %q is unknown", clientID)
			}
			origin := places.Origin(r)
			return issuer.Issue(origin+places.Listed().Issuer, origin+places.API(), clientID, subject, auth.Scope)
		},
	}
}

// clientsInUse are the configured clients, in their order, and then all others.
func clientsInUse(books *account.Books, configured []Credential) []deviation.Client {
	var clients []deviation.Client
	named := map[string]bool{}
	for _, k := range configured {
		if now, ok := credentialOf(books, k.ClientID, k.Secret); ok {
			named[k.ClientID] = true
			clients = append(clients, deviation.Client{ID: now.ClientID, Secret: now.Secret, Subject: now.Subject})
		}
	}
	for _, e := range books.List() {
		if e.State != account.Revoked && !named[e.ID] {
			clients = append(clients, deviation.Client{ID: e.ID, Subject: e.Subject})
		}
	}
	return clients
}
