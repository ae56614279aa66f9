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

// Resources of credentials beyond the first client's.
const (
	OtherClient     Resource = "token-other"   // the token endpoint, as the client whose tokens are meant for another audience
	StagingEndpoint Resource = "token-staging" // the token endpoint of the staging environment, as its own client
	KeySet          Resource = "jwks"          // the authorization server's published keys
)

// MetadataResource names the n-th place, from 1, where the authorization server may publish its metadata; Given says the issuer that
// the place was made from.
func MetadataResource(n int) Resource { return Resource("metadata/" + strconv.Itoa(n)) }

// Cases of a protected resource with a token that its node did not issue for it. Forged tokens copy the claims of a good one and
// live as long. What differs stands in the exchange's Given and facts.
const (
	AlgNone       Case = "alg-none"       // JWT-09: header alg "none", empty signature
	AlgNoneTitle  Case = "alg-none-title" // alg "None"
	AlgNoneUpper  Case = "alg-none-upper" // alg "NONE"
	SignatureCut  Case = "signature-cut"  // JWT-09: the good token without its signature, its alg kept
	SignatureZero Case = "signature-zero" // JWT-09: the good token with a signature of zero bytes, its alg kept

	HMACPEM     Case = "hmac-pem"      // JWT-10: HS256 with the published key as PEM, its last newline included
	HMACPEMTrim Case = "hmac-pem-trim" // the same without the last newline
	HMACJWK     Case = "hmac-jwk"      // with the published key as JWK, as it was published

	EmbeddedKey Case = "embedded-jwk" // JWT-11: signed with the key that stands in the token's own header
	NamedKeySet Case = "jku"          // the header names a key set on a host that does not exist (RFC 2606)
	BorrowedKID Case = "borrowed-kid" // signed with an own key under the kid of the node's key

	ForeignKey    Case = "foreign-key"    // ISO-01: claims copied, iss included, own key under a kid that nobody knows
	ForeignIssuer Case = "foreign-issuer" // the same with iss "https://conformance.invalid"
	StagingToken  Case = "staging-token"  // ISO-02: a token of the staging environment
	OtherAudience Case = "other-audience" // ISO-03: a token of the other client

	Expired      Case = "expired"        // BRR-10: a token that has expired; Given says whether it was waited for or given
	ExpiredAgain Case = "expired-again"  // only if the first was answered 2xx: the same a minute later, for caches of introspection
	TokenInQuery Case = "token-in-query" // BRR-14: a throw-away token in the parameter access_token, no Authorization
)

// Cases of the token endpoint, of metadata and of the key set.
const (
	SecretInURL Case = "secret-in-url" // SEC-05: client_id and client_secret in the query
	Throwaway   Case = "throw-away"    // the good request; its token is used for TokenInQuery and for nothing else
	ToExpire    Case = "to-expire"     // the good request; its token is used for Expired and for nothing else
	Published   Case = "published"     // metadata and key set: the anonymous request
	Refetched   Case = "refetched"     // JWT-08: the key set once more, only if the first one lacks the key of the token
)

// API is the place where operations live as a whole; it is asked for what belongs to no operation.
const API Resource = "api"

// Cases of other ways in, error shapes and versions.
const (
	SessionCookie   Case = "session-cookie"    // SEC-01: the cookies of the good call, no Authorization; Given cookies, their names
	IdentityHeaders Case = "identity-headers"  // SEC-02: all headers below together, no Authorization
	ForwardedUser   Case = "forwarded-user"    // SEC-02: X-Forwarded-User alone; this and the next only when all together got data
	RemoteUser      Case = "remote-user"       // SEC-02: X-Remote-User alone
	ForwardedFor    Case = "forwarded-for"     // SEC-02: X-Forwarded-For alone
	OriginalURL     Case = "original-url"      // SEC-02: X-Original-URL alone
	AuthRequestUser Case = "auth-request-user" // SEC-02: X-Auth-Request-User alone
	RealIP          Case = "real-ip"           // SEC-02: X-Real-IP alone
	OriginAlone     Case = "origin-alone"      // SEC-02: the Origin of a page elsewhere, no Authorization; sent in any case, since CORS may refuse it
	ForeignOrigin   Case = "foreign-origin"    // SEC-03: the good call with the Origin of a page elsewhere
	LookalikeOrigin Case = "lookalike-origin"  // SEC-03: the good call with an Origin that begins like the node's own
	Preflight       Case = "preflight"         // SEC-03: OPTIONS of the token endpoint from that page, without credentials
	UnknownPath     Case = "unknown-path"      // ERR-01: a path that no operation has
	UnknownVersion  Case = "unknown-version"   // VER-02: the info URL with v999 in place of its version
)

// Cases of paging, filters and links (PAG).
const (
	BeyondEnd    Case = "beyond-end"    // PAG-04: a page far behind the end, Given parameter, value
	PageNoToken  Case = "page-no-token" // API-08: what size-2 asks for, right after it and without a token
	SizeRaw      Case = "size-raw"      // PAG-05: what size-2 asks for, with raw brackets
	SizeNegative Case = "size-negative" // PAG-06: Given parameter, value, as in the next ones
	SizeZero     Case = "size-zero"
	SizeText     Case = "size-text"
	SizeHuge     Case = "size-huge"
	PageNegative Case = "page-negative"
	PageText     Case = "page-text"
	FilterBad    Case = "filter-bad"     // PAG-06: a value that is not in the vocabulary
	UnknownQuery Case = "unknown-query"  // PAG-06: a parameter that nobody knows
	FilterPaged  Case = "filter-paged"   // PAG-07: what filter-seen asks for, with a page parameter
	FilterBoth   Case = "filter-both"    // PAG-07: two filters at once, Given also andParameter, andMember, andValue
	RunningTrue  Case = "filter-running" // PAG-07: runningCalls=true
	RunningFalse Case = "filter-not-running"
	LinkNext     Case = "link-next"  // PAG-10: the link to the next page, followed
	ListAgain    Case = "list-again" // the list once more at the end, if items seem to have vanished
)

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

// Cases of odd bearer values (ROB-01), each sent where a good token would stand.
const (
	BearerLong      Case = "bearer-long"       // 6 kB of A
	BearerThree     Case = "bearer-three"      // a.b.c
	BearerDots      Case = "bearer-dots"       // ..
	BearerBadHeader Case = "bearer-bad-header" // a JWT whose header is {
	BearerBytes     Case = "bearer-bytes"      // the bytes E4 F6, raw
	BearerJoined    Case = "bearer-joined"     // three JWTs joined by dots
	OKAfterBearers  Case = "ok-after-bearers"  // the good call after them, sent only when one of them got no answer or a 5xx
)

// Cases of odd token requests (ROB-02), with a client id that nobody has.
const (
	FormEmpty   Case = "form-empty"   // no content
	FormJSON    Case = "form-json"    // JSON in place of a form
	FormPercent Case = "form-percent" // %zz in a value
	FormBytes   Case = "form-bytes"   // %FF in a value
	FormLong    Case = "form-long"    // a value of 64 kB
	FormParts   Case = "form-parts"   // multipart/form-data
	FormText    Case = "form-text"    // text/plain
	OKAfterForm Case = "ok-after-form"
)

// Cases of odd ids in the path of the detail operation (ROB-03), percent-encoded where they must be.
const (
	IDQuote    Case = "id-quote"   // O'Brien
	IDNul      Case = "id-nul"     // %00
	IDBytes    Case = "id-bytes"   // %FF
	IDParent   Case = "id-parent"  // ..%2F..%2Fconformance
	IDLong     Case = "id-long"    // 2 kB of a
	IDUmlauts  Case = "id-umlauts" // ÄÖÜ in UTF-8
	IDBraces   Case = "id-braces"  // {id}
	OKAfterIDs Case = "ok-after-ids"
)

// Cases of odd queries of the list operation (ROB-04).
const (
	QueryBytes     Case = "query-bytes"    // ?a=%FF
	QueryNameless  Case = "query-nameless" // ?=
	QueryBlank     Case = "query-blank"    // ?&&
	QueryLong      Case = "query-long"     // a value of 6 kB
	QueryRepeated  Case = "query-repeated" // 200 parameters of one name
	QuerySizeNul   Case = "query-size-nul" // page[size]=%00
	OddAccept      Case = "odd-accept"     // Accept: application/x-conformance
	OKAfterQueries Case = "ok-after-queries"
)

// Cases of message framing (ROB-06), raw, in which the connection is read to its end.
const (
	Strict     Case = "strict"      // GET with a token and Accept-Encoding: identity
	StrictHead Case = "strict-head" // HEAD with a token
)

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

// Cases of those resources.
const (
	Modern       Case = "modern"    // a handshake that offers TLS 1.2 and 1.3
	TLS11        Case = "tls11"     // a handshake that offers TLS 1.1 alone
	TLS10        Case = "tls10"     // a handshake that offers TLS 1.0 alone
	SamePort     Case = "same-port" // plain HTTP on the port of the https URL
	StandardPort Case = "port-80"   // plain HTTP on its own port
)
