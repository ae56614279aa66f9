package evidence

// Family is a set of kinds of requests that a rule allows or forbids alike, named in words for reports. A run draws some kinds of each.
type Family string

// The families that requirements name. The table of cases has their kinds.
const (
	// RandomBearers and WordBearers are bearer values that nobody was issued.
	RandomBearers Family = "random bearer values in the shape of the token"
	WordBearers   Family = "bearer values that are words of programs"
	// NeighbourTokens differ little from the good token.
	NeighbourTokens Family = "neighbours of the good token"
	// UnsignedTokens have no signature, or one that belongs to something else. ChangedClaims have the signature of the good token, but other claims.
	UnsignedTokens Family = "tokens without a valid signature"
	ChangedClaims  Family = "the good token with other claims"
	// PublicSecrets are tokens under HMAC with a key that everybody knows. NamedKeys are tokens whose header says which key to use.
	PublicSecrets Family = "tokens under keys that are not secret"
	NamedKeys     Family = "tokens that name their key"
	// ForeignTokens are signed with a key that the authorization server does not know.
	ForeignTokens Family = "tokens under a foreign key"
	// UnknownClients, BareGrants and WrongSecrets are token requests that must not yield a token.
	UnknownClients Family = "clients that do not exist"
	BareGrants     Family = "grants that are not offered"
	WrongSecrets   Family = "wrong secrets of a client that may be locked out"
	// TokensElsewhere are valid for another purpose, such as another audience.
	TokensElsewhere Family = "tokens that are good elsewhere"
	// Detours are requests without a token that a guard may overlook.
	PathDetours   Family = "spellings of a path"
	MethodDetours Family = "methods and ways to ask for another one"
	HeaderDetours Family = "headers that proxies and gateways set"
	TraitDetours  Family = "traits of a request"
	// RoleDetours are the same requests with the token of a client that lacks the role.
	RoleDetours Family = "ways around the role"
	// BrokenCursors and BrokenValues are values of query parameters that a node must refuse or ignore.
	BrokenCursors Family = "cursors that decode to something else"
	BrokenValues  Family = "broken values of parameters"
)

// FamilyKinds are the kinds of a family, each the case of its label.
type FamilyKinds struct {
	Family Family `json:"family"`
	Kinds  []Case `json:"kinds"`
	// Earlier are the kinds that earlier runs at this node drew, as far as they are known.
	Earlier []Case `json:"earlier,omitempty"`
}

// IsDetour reports whether a server in front of the application may refuse the requests of the family.
func (f Family) IsDetour() bool {
	return f == PathDetours || f == MethodDetours || f == HeaderDetours || f == TraitDetours || f == RoleDetours
}
