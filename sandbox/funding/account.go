package funding

import (
	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/auth"
)

// Account is the permission setting of one service account (NET-R17).
type Account struct {
	// Role must be EXTERNAL_API_CLIENT to read fundings.
	Role string
	// Affiliation is the client's affiliation ID, an opaque string; it must be set.
	Affiliation string
}

// AccountKey names an account: by its service account user ID for the node's own tokens, by issuer and client id for
// those of a foreign issuer.
type AccountKey struct {
	// ForeignIssuer is empty for the node's own authorization server.
	ForeignIssuer string
	// Name is the subject of own tokens, the client id of foreign ones.
	Name string
}

// Accounts is the funding service's book of service accounts.
type Accounts map[AccountKey]Account

// of returns the account of the principal.
func (a Accounts) of(p auth.Principal) (Account, bool) {
	key := AccountKey{ForeignIssuer: p.ForeignIssuer, Name: p.Subject}
	if p.ForeignIssuer != "" {
		key.Name = p.ClientID
	}
	account, ok := a[key]
	return account, ok
}

// denial says why an account may not read fundings and who mends it; it is empty when the account may.
type denial struct{ detail, hint string }

func (a Accounts) check(p auth.Principal) (Account, denial) {
	account, known := a.of(p)
	switch {
	case !known:
		return account, denial{"the service account of the token is not known to the funding service",
			"the operator of the funding service adds the account, with role " + model.RoleExternalAPIClient + " and its affiliation ID"}
	case account.Role != model.RoleExternalAPIClient:
		return account, denial{"the service account lacks the role " + model.RoleExternalAPIClient,
			"the token is good; the operator of the funding service grants the role to the service account"}
	case account.Affiliation == "":
		return account, denial{"the service account has no affiliation ID",
			"the token is good; the operator of the funding service sets the affiliation ID of the service account"}
	}
	return account, denial{}
}
