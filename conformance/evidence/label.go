package evidence

import (
	"strconv"
	"strings"
)

// Label names one planned exchange of a run as "<resource>.<case>": "token.ok", "info.no-token",
// "op/listFundings.garbage". A label never changes its meaning between versions, because evidence is judged again later.
//
// A request without a label is no evidence of its own: a token that is renewed while the run goes on.
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

// Resource names what is asked.
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

// Roles stand for a resource that only the run decides.
const (
	ProbeTarget     Resource = "P"
	ListOperation   Resource = "list"
	DetailOperation Resource = "detail"
	EveryOperation  Resource = "op/*"
)

// WholeRun is the label of a requirement that looks at every exchange.
const WholeRun Label = "*"

// OperationResource names an operation of the node's document by its key (see document.Operation.Key).
func OperationResource(key string) Resource { return Resource("op/" + key) }

// BaseResource names the n-th place, from 1, where the operations of the node's document may live; it is asked as "base/1.ok". Given
// says base, the URL before the paths, and how it was found.
func BaseResource(n int) Resource { return Resource("base/" + strconv.Itoa(n)) }

// EndpointResource names the n-th endpoint URL of the info answer.
func EndpointResource(key string) Resource { return Resource("endpoint/" + key) }

// Case names how a resource is asked, such as "ok", "no-token" or "wrong-secret". The table of all cases is in package probe.
type Case string

// The calls that the others are compared with.
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

// Resources of credentials beyond the first client's.
const (
	OtherClient     Resource = "token-other"   // the token endpoint, as the client whose tokens are meant for another audience
	StagingEndpoint Resource = "token-staging" // the token endpoint of the staging environment, as its own client
	KeySet          Resource = "jwks"          // the authorization server's published keys
)

// MetadataResource names the n-th place, from 1, where the authorization server may publish its metadata; Given says the issuer that
// the place was made from.
func MetadataResource(n int) Resource { return Resource("metadata/" + strconv.Itoa(n)) }

// API is the place where operations live as a whole; it is asked for what belongs to no operation.
const API Resource = "api"

// WalkCase is the n-th page of the list that is asked for, from 1 (PAG-03): Given parameter, value, and sizeParameter, size where
// one is known. Which pages they are depends on what the page parameter turns out to count.
func WalkCase(n int) Case { return Case("walk-" + strconv.Itoa(n)) }

// WalkAgainCase is the same in the repeated walk, for a list that may have changed during the first one.
func WalkAgainCase(n int) Case { return Case("walk-again-" + strconv.Itoa(n)) }

// FilterCase is the n-th value, from 1, that the described filter of that name is tried with (PAG-07): Given parameter, member,
// value, and whether the value was seen in the data.
func FilterCase(name string, n int) Case {
	return Case("filter-" + Slug(name) + "-" + strconv.Itoa(n))
}

// Try is a manner of trying one described parameter of an operation at its bounds or outside of them (API-01, PAG-06). Given says
// parameter, in, value, try, and legal: whether the document allows the value.
type Try string

// What the document allows.
const (
	Plain     Try = "plain"      // a valid value of a parameter that is not in the query; for those see [ParameterCase]
	AtMinimum Try = "at-minimum" // minimum, or the next number above an exclusive one
	AtMaximum Try = "at-maximum"
	Shortest  Try = "shortest" // as long as minLength
	Longest   Try = "longest"  // as long as maxLength
)

// What the document does not allow.
const (
	BelowMinimum   Try = "below-minimum"
	AboveMaximum   Try = "above-maximum" // or above what the format int32 holds
	TooShort       Try = "too-short"
	TooLong        Try = "too-long"
	OutsideEnum    Try = "outside-enum"
	AgainstPattern Try = "against-pattern"
	WrongType      Try = "wrong-type" // a word in place of a number, boolean, date or UUID
	Absent         Try = "absent"     // a required parameter is left out
)

// NthValue is the n-th value, from 1, of a vocabulary, which the document allows; a boolean has true and false.
func NthValue(n int) Try { return Try("value-" + strconv.Itoa(n)) }

// TryCase is the call of an operation with one described parameter tried in that manner; in is where the parameter stands.
func TryCase(t Try, in, name string) Case {
	if in != "query" {
		name = in + " " + name
	}
	return Case(string(t) + "-" + Slug(name))
}

// Resources of the themes registry and transport. They are no part of the node's API: rows that look at all calls of a resource do
// not meet them.
const (
	// RecordedToken and RecordedInfo are the URLs of the registry entry, asked when the operator gave others of the same origin.
	RecordedToken Resource = "entry/token"
	RecordedInfo  Resource = "entry/info"
	// CleartextToken, CleartextInfo and CleartextList are the same paths over plain HTTP, without any real credential.
	CleartextToken Resource = "cleartext/token"
	CleartextInfo  Resource = "cleartext/info"
	CleartextList  Resource = "cleartext/list"
)

// Handshakes are asked of each distinct origin, under the name of the first URL that has it.
const (
	TokenOrigin Resource = "tls/token"
	InfoOrigin  Resource = "tls/info"
	SpecOrigin  Resource = "tls/spec"
	BaseOrigin  Resource = "tls/base"
)
