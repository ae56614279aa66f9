package exchange

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
