package evidence

import (
	"strconv"
	"strings"
)

// Label names one planned exchange of a run as "<resource>.<case>": "token.ok", "info.no-token", "op/listFundings.garbage". A label
// never changes its meaning between versions, because evidence is judged again later.
//
// A request that is not evidence, such as the renewal of a token during the run, has no label.
//
// Requirements may also use roles in place of a resource, which a [Log] resolves: "P" (the probe target), "list" and
// "detail" (the funding operations), "op/*" (every executed operation). "*" alone is the whole run.
type Label string

// Resource returns the part of the label before the last dot.
func (l Label) Resource() Resource {
	if i := strings.LastIndexByte(string(l), '.'); i >= 0 {
		return Resource(l[:i])
	}
	return Resource(l)
}

// Case returns the part of the label after the last dot.
func (l Label) Case() Case {
	if i := strings.LastIndexByte(string(l), '.'); i >= 0 {
		return Case(l[i+1:])
	}
	return ""
}

// Resource names the place that a request goes to.
type Resource string

// With makes the label of one case on the resource. It is not inlined at its 900 calls, which keeps the program smaller.
//
//go:noinline
func (r Resource) With(c Case) Label { return Label(string(r) + "." + string(c)) }

// The fixed resources.
const (
	TokenEndpoint Resource = "token"  // the token endpoint, as the first client
	SecondClient  Resource = "token2" // the token endpoint, as the client without the role
	Info          Resource = "info"
	Specification Resource = "spec"
	Registry      Resource = "registry"
)

// Roles stand for resources that differ from run to run.
const (
	ProbeTarget     Resource = "P"
	ListOperation   Resource = "list"
	DetailOperation Resource = "detail"
	EveryOperation  Resource = "op/*"
)

// WholeRun is the label of requirements about every exchange.
const WholeRun Label = "*"

// OperationResource names an operation of the node's document by its key (see openapi.Operation).
func OperationResource(key string) Resource { return Resource("op/" + key) }

// BaseResource names the n-th candidate, from 1, for the base URL of the operations; Given has the URL and how it was found.
func BaseResource(n int) Resource { return Resource("base/" + strconv.Itoa(n)) }

// EndpointResource names an endpoint URL of the info answer; the key is its number, from 1.
func EndpointResource(key string) Resource { return Resource("endpoint/" + key) }

// Case names the variant of a request, such as "ok", "no-token" or "wrong-secret". The table of all cases is in package probe.
type Case string

// Includes reports whether another case is this one, or begins like it if this one ends with a star: "roleless-*" includes "roleless-next".
func (c Case) Includes(other Case) bool {
	beginning, all := strings.CutSuffix(string(c), "*")
	return c == other || all && strings.HasPrefix(string(other), beginning)
}

// The cases that the others are compared with.
const (
	OK      Case = "ok"       // the good request
	NoToken Case = "no-token" // the good request without its credentials
	// GoodAgain begins the cases of good requests that come after the same URL was refused to others.
	GoodAgain Case = "again"
	// RolelessHead is HEAD by the client without the role.
	RolelessHead Case = "roleless-head"
)

// ParameterCase names the call of an operation with one valid value of one described parameter (API-01).
func ParameterCase(name string) Case { return Case("param-" + Slug(name)) }

// Slug makes a text safe inside a label: letters, digits, '-' and '_' stay, everything else becomes '-'.
func Slug(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, s)
}

// Resources of further credentials and of the authorization server's keys.
const (
	OtherClient     Resource = "token-other"   // the token endpoint, as the client whose tokens are meant for another audience
	SpareClient     Resource = "token-spare"   // the token endpoint, as the client that may be locked out
	StagingEndpoint Resource = "token-staging" // the token endpoint of the staging environment, as its own client
	KeySet          Resource = "jwks"          // the authorization server's published keys
	Revocation      Resource = "revocation"    // the authorization server's revocation endpoint (RFC 7009)
)

// StagingClient is the token request of the staging client to the token endpoint of production.
const StagingClient Label = "token-staging.at-production"

// GuessedIssuer is the source of an issuer that nothing names: rin guessed it from the URL of the token endpoint.
const GuessedIssuer = "the place of the token endpoint"

// MetadataResource names the n-th candidate, from 1, for the authorization server's metadata; Given has the issuer.
func MetadataResource(n int) Resource { return Resource("metadata/" + strconv.Itoa(n)) }

// API is the base of all operations, for requests that do not belong to one of them.
const API Resource = "api"

// WalkCase names the n-th page of the list, from 1 (PAG-03); Given has parameter, value, and sizeParameter and size if known.
func WalkCase(n int) Case { return Case("walk-" + strconv.Itoa(n)) }

// Walk is one reading of the whole list and of its pages. A list may change while it is read, so it is read up to three times.
type Walk int

// The walks.
const (
	FirstWalk Walk = iota
	SecondWalk
	ThirdWalk
)

// List names the call that reads the whole list at the beginning of a walk.
func (w Walk) List() Case { return [...]Case{OK, "list-again", "list-third"}[w] }

// Page names the call that reads the n-th page of a walk.
func (w Walk) Page(n int) Case {
	return [...]Case{"walk-", "walk-again-", "walk-third-"}[w] + Case(strconv.Itoa(n))
}

// ReadingCase names the n-th page, from 1, of a list that is read to its end (PAG-03): as whole in large pages, as small in small ones, as filtered, or
// in an order; Given has reading, what was asked for, and sizeParameter and size if known.
func ReadingCase(name string, n int) Case { return Case(name + "-" + strconv.Itoa(n)) }

// BoundCase tries the n-th value, from 1, of a parameter that bounds a number or a date (PAG-07); Given has parameter, member, value and bound.
func BoundCase(name string, n int) Case { return Case("bound-" + Slug(name) + "-" + strconv.Itoa(n)) }

// MomentCase tries the n-th day, from 1, of a parameter with a day between two dates of an item (PAG-07); Given has both as a pair of bounds.
func MomentCase(name string, n int) Case { return Case("moment-" + Slug(name) + "-" + strconv.Itoa(n)) }

// FilterCase tries the n-th value, from 1, of a described filter (PAG-07); Given has parameter, member, value and seen.
func FilterCase(name string, n int) Case {
	return Case("filter-" + Slug(name) + "-" + strconv.Itoa(n))
}

// SeveralCase asks for two values of a filter at once (PAG-07); Given has parameter, member, value, or (the second value) and seen.
func SeveralCase(name string) Case { return Case("filter-several-" + Slug(name)) }

// EffectCase tries one of two values at the far ends of what a parameter may be (PAG-07); Given has parameter and value.
func EffectCase(name string, n int) Case { return Case("effect-" + Slug(name) + "-" + strconv.Itoa(n)) }

// UnmatchedCase tries the n-th value, from 1, of a filter without a member of the same name in the items (PAG-07); Given has parameter, value and unmatched:
// "listed" for a value of the vocabulary, "made-up" for a word that no item has, or "seen" for one that an item has.
func UnmatchedCase(name string, n int) Case {
	return Case("unmatched-" + Slug(name) + "-" + strconv.Itoa(n))
}

// DefaultCase sends the documented default of a parameter (PAG-07); Given has parameter and value.
func DefaultCase(name string) Case { return Case("default-" + Slug(name)) }

// InstantCase writes one instant in the n-th way, from 1, for a parameter of the format date-time (PAG-07): first in UTC, then with other offsets. Given has
// parameter and value.
func InstantCase(name string, n int) Case {
	return Case("instant-" + Slug(name) + "-" + strconv.Itoa(n))
}

// SearchCase searches a list for a word (PAG-07); Given has parameter, value and search (the kind of the value). Unless no item has the word, Given also has
// word (as the data spells it), id (of an item with it) and of (the member with it).
func SearchCase(name, kind string) Case { return Case("search-" + Slug(name) + "-" + kind) }

// Try is a way to try one described parameter of an operation within or outside its bounds (API-01, PAG-06). Given has parameter, in,
// value, try, and legal: whether the document allows the value.
type Try string

// Values that the document allows.
const (
	Plain     Try = "plain"      // a valid value of a parameter outside the query; see [ParameterCase]
	AtMinimum Try = "at-minimum" // minimum, or the next number above an exclusive one
	AtMaximum Try = "at-maximum"
	Shortest  Try = "shortest" // as long as minLength
	Longest   Try = "longest"  // as long as maxLength
)

// Values that the document does not allow.
const (
	BelowMinimum   Try = "below-minimum"
	AboveMaximum   Try = "above-maximum" // or above the range of the format int32
	TooShort       Try = "too-short"
	TooLong        Try = "too-long"
	OutsideEnum    Try = "outside-enum"
	AgainstPattern Try = "against-pattern"
	WrongType      Try = "wrong-type" // a word for a number, boolean, date or UUID
	Absent         Try = "absent"     // a required parameter is left out
)

// NthValue names the n-th value, from 1, of a vocabulary; a boolean has true and false.
func NthValue(n int) Try { return Try("value-" + strconv.Itoa(n)) }

// TryCase names the call of an operation that tries one parameter; in is the parameter's location.
func TryCase(t Try, in, name string) Case {
	if in != "query" {
		name = in + " " + name
	}
	return Case(string(t) + "-" + Slug(name))
}

// Resources of the groups REG and TLS. They are not part of the node's API, so requirements about every call of the API do not concern them.
const (
	// RecordedToken and RecordedInfo are the URLs of the registry entry, if the operator gave other URLs of the same origin.
	RecordedToken Resource = "entry/token"
	RecordedInfo  Resource = "entry/info"
	// CleartextToken, CleartextInfo and CleartextList are the paths of these resources over plain HTTP, without a real credential.
	CleartextToken Resource = "cleartext/token"
	CleartextInfo  Resource = "cleartext/info"
	CleartextList  Resource = "cleartext/list"
)

// The TLS handshakes with each distinct origin have the resource of the first URL with that origin.
const (
	TokenOrigin Resource = "tls/token"
	InfoOrigin  Resource = "tls/info"
	SpecOrigin  Resource = "tls/spec"
	BaseOrigin  Resource = "tls/base"
)

// drawnItems is how many items of a list are drawn for their details.
const drawnItems = 9

// moreItems is how many further items are drawn, if the run has room for them.
const moreItems = 30

// LateCase is the nth record that is read again at the end of a run.
func LateCase(n int) Case { return Case("late-" + strconv.Itoa(n)) }

// ParallelTokenCase calls the list with the n-th token, from 1, that was requested while another client requested one.
func ParallelTokenCase(n int) Case { return Case("parallel-token-" + strconv.Itoa(n)) }

// OtherWay calls the list with a token that the client requested in another way than the one in use.
const OtherWay Case = "other-way"

// ParallelTokenRequests are the token requests of two clients that are sent at the same time, burst by burst (TOK-18).
func ParallelTokenRequests() [][]Label {
	const bursts, size = 2, 3
	out := make([][]Label, bursts)
	for b := range out {
		for n := range size {
			client := []Resource{TokenEndpoint, SecondClient}[(b+n)%2]
			out[b] = append(out[b], client.With(Case("parallel-"+strconv.Itoa(b+1)+"-"+strconv.Itoa(n+1))))
		}
	}
	return out
}

// BesideLock is the token request of the first client right after the spare client was locked out for its wrong secrets.
const BesideLock Label = "token.beside-lock"

// LoneTokenRequest is the token request after [ParallelTokenRequests].
const LoneTokenRequest Label = "token.alone"

// DrawnItems names the calls of the detail operation with drawn items.
func DrawnItems() []Case {
	var out []Case
	for n := range drawnItems {
		out = append(out, Case("item-drawn-"+strconv.Itoa(n+1)))
	}
	return out
}

// MoreItems names the calls of the detail operation with further drawn items.
func MoreItems() []Case {
	var out []Case
	for n := range moreItems {
		out = append(out, Case("item-more-"+strconv.Itoa(n+1)))
	}
	return out
}

// LikeIDCase asks for the n-th id, from 1, that no record has and that resembles a listed id (PAG-09); Given has asked, known (the listed id), and even:
// whether a node may take one for the other.
func LikeIDCase(n int) Case { return Case("like-id-" + strconv.Itoa(n)) }

// GapIDCase asks for the n-th id, from 1, that the list leaves out of a sequence of numbers (PAG-09); Given has asked.
func GapIDCase(n int) Case { return Case("gap-id-" + strconv.Itoa(n)) }

// NamedIDCase asks for the n-th id, from 1, that no list has and that another record names (PAG-09); Given has asked.
func NamedIDCase(n int) Case { return Case("named-id-" + strconv.Itoa(n)) }

// ForeignIDCase names the call of the first client with the n-th id, from 1, that only the list of another client has (PAG-09); Given has asked.
func ForeignIDCase(n int) Case { return Case("caller-foreign-" + strconv.Itoa(n)) }

// OwnInfoCases are the good calls of info while another client calls it (INF-01).
func OwnInfoCases() []Case {
	return []Case{"caller-own", "caller-own-1", "caller-own-2"}
}

// OwnIDCase names the call of the other client with the n-th id, from 1, that only the list of the first client has (PAG-09); Given has asked.
func OwnIDCase(n int) Case { return Case("caller-own-" + strconv.Itoa(n)) }

// ForeignList is the list as the client that may be locked out gets it, OwnList the same list by the first client just after that.
const (
	ForeignList Case = "caller-list"
	OwnList     Case = "caller-own-list"
)

// LinkedReading names the reading of the first two pages of a list with one parameter. UnlinkedCase asks for all its items at once.
func LinkedReading(parameter string) string { return "linked-" + Slug(parameter) }

// IsLinkedReading reports whether [LinkedReading] made the name.
func IsLinkedReading(name string) bool { return strings.HasPrefix(name, "linked-") }

// UnlinkedCase asks for all items with the value of a parameter whose first pages were read (PAG-10).
func UnlinkedCase(parameter string) Case { return Case("unlinked-" + Slug(parameter)) }

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
