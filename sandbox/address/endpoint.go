package address

// Endpoint is a token endpoint with its issuer, by their paths.
type Endpoint struct{ Issuer, Token string }

// Grants says at which of its two token endpoints (NET-R10) a node grants tokens.
type Grants int

// The choices.
const (
	// AtBoth is the staging path of the interface document, and the identity provider's realm.
	AtBoth Grants = iota
	AtPlain
	AtRealm
)

// Endpoints are the token endpoints of the node; the first is the one to name where there is room for one.
func (m Map) Endpoints() []Endpoint {
	plain, realm := Endpoint{m.Root, m.Token()}, Endpoint{m.RealmIssuer(), m.RealmToken()}
	switch m.Grants {
	case AtPlain:
		return []Endpoint{plain}
	case AtRealm:
		return []Endpoint{realm}
	}
	return []Endpoint{plain, realm}
}

// Listed is the token endpoint that the registry lists, the first one if it lists both.
func (m Map) Listed() Endpoint { return m.Endpoints()[0] }
