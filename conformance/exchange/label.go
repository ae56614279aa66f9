package exchange

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

// Case names how a resource is asked.
type Case string

// Cases of the token endpoint.
const (
	OK                 Case = "ok"                    // the good request, also used on every other resource
	WrongSecret        Case = "wrong-secret"          // TER-01: one letter near the middle in the other case
	OKAfterWrongSecret Case = "ok-after-wrong-secret" // proves that no lockout happened
	IDOnly             Case = "id-only"               // TER-06
	OKAfterIDOnly      Case = "ok-after-id-only"
	Basic              Case = "basic"             // TOK-13, form-encoded id and secret
	BasicUnencoded     Case = "basic-unencoded"   // only if Basic failed and the encoding changes the credentials
	UnknownParameter   Case = "unknown-parameter" // TOK-14
	EmptyScope         Case = "empty-scope"       // TOK-15
	PercentEncoded     Case = "percent-encoded"   // TOK-16
	Repeat1            Case = "repeat-1"          // TOK-18
	Repeat2            Case = "repeat-2"
	Repeat3            Case = "repeat-3"
	NoClient           Case = "no-client"            // TER-05
	NoGrantType        Case = "no-grant-type"        // TER-07
	UnknownGrantType   Case = "unknown-grant-type"   // TER-08
	UnknownScope       Case = "unknown-scope"        // TER-09
	BasicUnknownClient Case = "basic-unknown-client" // TER-10
	Get                Case = "get"                  // TER-11
	RepeatedGrantType  Case = "repeated-grant-type"  // TER-12
)

// Cases of a protected resource.
const (
	NoToken        Case = "no-token"        // no Authorization, before the first authorized call
	Garbage        Case = "garbage"         // "Bearer conformance.invalid.token"
	Tampered       Case = "tampered"        // one character in the middle of the last segment replaced
	EmptyBearer    Case = "empty-bearer"    // "Bearer", raw
	BlankBearer    Case = "blank-bearer"    // "Bearer " with the blank on the wire, raw
	BasicScheme    Case = "basic-scheme"    // Basic with random id and secret
	TokenScheme    Case = "token-scheme"    // "Token <access token>"
	LowerScheme    Case = "lower-scheme"    // "bearer <access token>"
	UpperScheme    Case = "upper-scheme"    // "BEARER <access token>"
	TwoBlanks      Case = "two-blanks"      // "Bearer  <access token>"
	Head           Case = "head"            // HEAD without a token
	HeadOK         Case = "head-ok"         // HEAD with a token: its positive control
	MethodOverride Case = "method-override" // X-HTTP-Method-Override, X-HTTP-Method and X-Method-Override: OPTIONS, no token
	AsBrowser      Case = "as-browser"      // BRR-15: the Accept header of a browser, no token
	PathSlash      Case = "path-slash"      // BRR-16: trailing slash added or removed, no token
	PathDouble     Case = "path-double-slash"
	PathDot        Case = "path-dot"
	PathUpper      Case = "path-upper"
	PathSuffix     Case = "path-suffix"
	PathEncoded    Case = "path-encoded"    // a letter of the path percent-encoded
	PathExtension  Case = "path-extension"  // .json behind the last segment
	CachedOK       Case = "cached-ok"       // BRR-17: fresh query parameter, with a token
	CachedNoToken  Case = "cached-no-token" // the same URL at once without
	FirstToken     Case = "first-token"     // TOK-18: the run's first token after the repeated requests
	NoRole         Case = "no-role"         // BRR-18: the second client's token
)

// Cases of the info resource, of operations and of the document.
const (
	Post               Case = "post"                 // INF-07, empty body, with a token
	WithoutContentType Case = "without-content-type" // only if the good call failed: finds the cause
	SizeTwo            Case = "size-2"               // PAG-02: Given parameter, value; 1 for a list of two, or the declared minimum
	UnknownID          Case = "unknown-id"           // PAG-09
	ItemFirst          Case = "item-first"           // PAG-08
	ItemMiddle         Case = "item-middle"
	ItemLast           Case = "item-last"
	FilterSeen         Case = "filter-seen"  // PAG-07: Given parameter, member, value
	FilterOther        Case = "filter-other" // PAG-07: a value of the vocabulary not seen in the data
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
