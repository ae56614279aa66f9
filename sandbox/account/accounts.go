package account

import "github.com/rin-network/rin/fixtures/model"

// Permission is the setting of a service account in the funding service (NET-R17).
type Permission struct {
	// Role must be EXTERNAL_API_CLIENT to read fundings.
	Role string `json:"role"`
	// Affiliation is the client's affiliation ID, an opaque string; it must be set.
	Affiliation string `json:"affiliation"`
}

// suffices tells whether fundings may be read with it.
func (p Permission) suffices() bool {
	return p.Role == model.RoleExternalAPIClient && p.Affiliation != ""
}

// Accounts is the funding service's book of service accounts. It is safe for concurrent use.
type Accounts struct {
	entries table[Permission]
}

// Permission returns the setting of a service account; ok is false for one that is not in the book.
func (a *Accounts) Permission(subject string) (p Permission, ok bool) { return a.entries.get(subject) }
