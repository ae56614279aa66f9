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

// Accounts is the funding service's book of service accounts, as the service reads it. It may change while it does, is safe for
// concurrent use, and is quick to answer: the service asks for each call.
type Accounts interface {
	// Account returns the setting of an account; known is false for one that is not in the book.
	Account(key AccountKey) (account Account, known bool)
}

func keyOf(p auth.Principal) AccountKey {
	if p.ForeignIssuer != "" {
		return AccountKey{ForeignIssuer: p.ForeignIssuer, Name: p.ClientID}
	}
	return AccountKey{Name: p.Subject}
}

// denial says why an account may not read fundings and who mends it; it is empty when the account may.
type denial struct{ detail, hint string }

func check(accounts Accounts, p auth.Principal) (Account, denial) {
	account, known := accounts.Account(keyOf(p))
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
