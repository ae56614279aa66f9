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

// Resource is the part of the label before the last dot.
func (l Label) Resource() Resource {
	if i := strings.LastIndexByte(string(l), '.'); i >= 0 {
		return Resource(l[:i])
	}
	return Resource(l)
}

// Case is the part of the label after the last dot.
func (l Label) Case() Case {
	if i := strings.LastIndexByte(string(l), '.'); i >= 0 {
		return Case(l[i+1:])
	}
	return ""
}

// Resource names the place that a request goes to.
type Resource string

// With makes the label of one case on the resource.
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

// The cases that the others are compared with.
const (
	OK      Case = "ok"       // the good request
	NoToken Case = "no-token" // the good request without its credentials
)

// ParameterCase is the call of an operation with one valid value of one described parameter (API-01).
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
	StagingEndpoint Resource = "token-staging" // the token endpoint of the staging environment, as its own client
	KeySet          Resource = "jwks"          // the authorization server's published keys
)

// MetadataResource names the n-th candidate, from 1, for the authorization server's metadata; Given has the issuer.
func MetadataResource(n int) Resource { return Resource("metadata/" + strconv.Itoa(n)) }

// API is the base of all operations, for requests that do not belong to one of them.
const API Resource = "api"

// WalkCase is the n-th page of the list, from 1 (PAG-03); Given has parameter, value, and sizeParameter and size if known.
func WalkCase(n int) Case { return Case("walk-" + strconv.Itoa(n)) }

// WalkAgainCase is the n-th page in the repeated walk, for a list that may have changed during the first one.
func WalkAgainCase(n int) Case { return Case("walk-again-" + strconv.Itoa(n)) }

// FilterCase tries the n-th value, from 1, of a described filter (PAG-07); Given has parameter, member, value and seen.
func FilterCase(name string, n int) Case {
	return Case("filter-" + Slug(name) + "-" + strconv.Itoa(n))
}

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

// NthValue is the n-th value, from 1, of a vocabulary; a boolean has true and false.
func NthValue(n int) Try { return Try("value-" + strconv.Itoa(n)) }

// TryCase is the call of an operation with one parameter tried; in is the parameter's location.
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
