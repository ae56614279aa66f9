package requirement

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file names calls for people: a reader of a report knows operations and credentials, not labels.

// callName is method and path of a request: "GET /ris/funding/v3/fundings".
func callName(x evidence.Exchange) string {
	path := x.Request.URL
	if u, err := url.Parse(x.Request.URL); err == nil {
		path = u.EscapedPath()
	}
	return clip(x.Request.Method + " " + path)
}

// callInWords is [callName] with what was particular about the call, so that two calls of one URL can be told apart.
func callInWords(x evidence.Exchange) string {
	if manner := mannerOf(x); manner != "" {
		return clip(callName(x) + ", " + manner)
	}
	return callName(x)
}

// mannerOf says what was particular about a call; empty for the good one.
func mannerOf(x evidence.Exchange) string {
	c := x.Label.Case()
	if words := peculiarity(c); words != "" {
		return words
	}
	if x.Label.Resource() == evidence.TokenEndpoint {
		if c == evidence.OK || c == evidence.Get {
			return ""
		}
		return attempt(c)
	}
	if x.Given["try"] == string(evidence.Absent) {
		return "without " + x.Given["parameter"]
	}
	if name := x.Given["parameter"]; name != "" {
		return name + "=" + shortened(x.Given["value"])
	}
	return manner(c)
}

// shortened keeps a long value from hiding what stands beside it.
func shortened(value string) string {
	const most, start = 60, 20
	if n := utf8.RuneCountInString(value); n > most {
		return fmt.Sprintf("%s… (%d characters)", string([]rune(value)[:start]), n)
	}
	return value
}

// manner says in words what was particular about a call of a protected resource.
func manner(c evidence.Case) string {
	if words := peculiarity(c); words != "" {
		return words
	}
	switch c {
	case evidence.NoToken, evidence.Head, evidence.PathSlash, evidence.PathDouble, evidence.PathDot, evidence.PathUpper, evidence.PathSuffix,
		evidence.PathEncoded, evidence.PathExtension:
		return "without a token"
	case evidence.Garbage:
		return "with a garbage token"
	case evidence.Tampered:
		return "with a tampered token"
	case evidence.EmptyBearer:
		return "with Bearer and nothing behind it"
	case evidence.BlankBearer:
		return "with Bearer and a blank behind it"
	case evidence.BasicScheme:
		return "with Basic and a random secret"
	case evidence.TokenScheme:
		return "with the scheme Token"
	case evidence.LowerScheme:
		return "with the scheme bearer"
	case evidence.UpperScheme:
		return "with the scheme BEARER"
	case evidence.TwoBlanks:
		return "with two blanks after Bearer"
	case evidence.MethodOverride:
		return "without a token and with X-HTTP-Method-Override: OPTIONS"
	case evidence.AsBrowser:
		return "without a token and with the Accept header of a browser"
	case evidence.CachedOK:
		return "with a query of its own"
	case evidence.CachedNoToken:
		return "without a token and with a query that came with a token before"
	case evidence.PageNoToken:
		return "without a token and for a page"
	case evidence.FirstToken:
		return "with the first token of the run"
	case evidence.NoRole:
		return "by the client without the role"
	case evidence.WithoutContentType:
		return "without Content-Type"
	case evidence.OK, evidence.HeadOK, evidence.Post, evidence.ItemFirst, evidence.ItemMiddle, evidence.ItemLast, evidence.UnknownID:
		return ""
	}
	if m := forgedManner(c); m != "" {
		return m
	}
	return strings.ReplaceAll(string(c), "-", " ")
}

// Asked says in words what the exchange of a label asks, for a reader who knows no labels.
func (e Evidence) Asked(label evidence.Label) string { return e.asked(label) }

// asked says in words what the exchange of a label asks: "GET /fundings with a garbage token", "the token request with the wrong secret".
func (e Evidence) asked(label evidence.Label) string {
	if words := askedElsewhere(label); words != "" {
		return words
	}
	resource, c := label.Resource(), label.Case()
	with := manner(c)
	if c == evidence.OK || c == evidence.HeadOK {
		with = "with a good token"
	}
	switch resource {
	case evidence.API:
		return "the request " + with
	case evidence.TokenEndpoint:
		if words := peculiarity(c); words != "" {
			return "the token request " + words
		}
		switch c {
		case evidence.OK, evidence.Repeat1, evidence.Repeat2, evidence.Repeat3:
			return "the good token request"
		case evidence.OKAfterWrongSecret, evidence.OKAfterIDOnly:
			return "the good token request after " + attempt(evidence.Case(strings.TrimPrefix(string(c), "ok-after-")))
		case evidence.Get:
			return "the GET of the token endpoint"
		}
		return "the token request with " + attempt(c)
	case evidence.SecondClient:
		return "the token request of the second client"
	case evidence.Info:
		return strings.TrimSpace("the info request " + with)
	case evidence.Specification:
		return strings.TrimSpace("the request for the specification " + with)
	}
	switch room, _, _ := strings.Cut(string(resource), "/"); room {
	case "tls":
		return "the TLS handshake " + string(label)
	case "cleartext":
		return "the call over plain HTTP " + string(label)
	}
	if _, known := operation(e, resource); !known {
		return string(label)
	}
	if c == evidence.Head || c == evidence.HeadOK {
		with = strings.TrimSpace("as HEAD " + with)
	}
	return strings.TrimSpace(resourceName(e, resource) + " " + with)
}

// inWords replaces the good call's label in the reason why another call of its resource was not sent.
func (e Evidence) inWords(label evidence.Label, because string) string {
	good := label.Resource().With(evidence.OK)
	return strings.Replace(because, "the good call "+string(good)+" ", e.asked(good)+" ", 1)
}

// peculiarity says in words what was particular about the calls of SEC, ERR, VER and ROB; empty for the others.
func peculiarity(c evidence.Case) string { return cmp.Or(oddInWords(c), sanitaryInWords(c)) }

// oddInWords says what is odd about a request; empty for the others.
func oddInWords(c evidence.Case) string {
	switch c {
	case evidence.BearerLong:
		return "with a token of 6 kB"
	case evidence.BearerThree:
		return "with the token a.b.c"
	case evidence.BearerDots:
		return "with a token of two dots"
	case evidence.BearerBadHeader:
		return "with a JWT whose header is not JSON"
	case evidence.BearerBytes:
		return "with a token of bytes outside of ASCII"
	case evidence.BearerJoined:
		return "with three JWTs joined"
	case evidence.FormEmpty:
		return "without content"
	case evidence.FormJSON:
		return "with JSON in place of a form"
	case evidence.FormPercent:
		return "with %zz in a value"
	case evidence.FormBytes:
		return "with %FF in a value"
	case evidence.FormLong:
		return "with a value of 64 kB"
	case evidence.FormParts:
		return "as multipart/form-data"
	case evidence.FormText:
		return "as text/plain"
	case evidence.IDQuote:
		return "with a quote in the id"
	case evidence.IDNul:
		return "with the id %00"
	case evidence.IDBytes:
		return "with the id %FF"
	case evidence.IDParent:
		return "with ..%2F in the id"
	case evidence.IDLong:
		return "with an id of 2 kB"
	case evidence.IDUmlauts:
		return "with umlauts in the id"
	case evidence.IDBraces:
		return "with braces in the id"
	case evidence.QueryBytes:
		return "with ?a=%FF"
	case evidence.QueryNameless:
		return "with ?="
	case evidence.QueryBlank:
		return "with ?&&"
	case evidence.QueryLong:
		return "with a value of 6 kB in the query"
	case evidence.QueryRepeated:
		return "with 200 parameters of one name"
	case evidence.QuerySizeNul:
		return "with %00 as the page size"
	case evidence.OddAccept:
		return "with Accept: application/x-conformance"
	}
	return ""
}

// sanitaryInWords says what was particular about the calls of SEC, ERR, VER and ROB that are not odd.
func sanitaryInWords(c evidence.Case) string {
	switch c {
	case evidence.SessionCookie:
		return "with the cookies of a good call and without a token"
	case evidence.IdentityHeaders:
		return "without a token and with the headers of a proxy"
	case evidence.ForwardedUser:
		return "without a token and with X-Forwarded-User"
	case evidence.RemoteUser:
		return "without a token and with X-Remote-User"
	case evidence.ForwardedFor:
		return "without a token and with X-Forwarded-For"
	case evidence.OriginalURL:
		return "without a token and with X-Original-URL"
	case evidence.AuthRequestUser:
		return "without a token and with X-Auth-Request-User"
	case evidence.RealIP:
		return "without a token and with X-Real-IP"
	case evidence.OriginAlone:
		return "without a token and with the Origin of a page elsewhere"
	case evidence.LookalikeOrigin:
		return "with an Origin that begins like the node's own"
	case evidence.ForeignOrigin:
		return "with the Origin of a page elsewhere"
	case evidence.Preflight:
		return "as a preflight from a page elsewhere"
	case evidence.UnknownPath:
		return "of a path that no operation has"
	case evidence.UnknownVersion:
		return "in version 999"
	case evidence.Strict, evidence.StrictHead:
		return "without content coding"
	case evidence.OKAfterBearers, evidence.OKAfterForm, evidence.OKAfterIDs, evidence.OKAfterQueries:
		return "after odd ones"
	}
	return ""
}

// forgedManner says in words what was particular about a token that its node did not issue for the call; empty for other cases.
func forgedManner(c evidence.Case) string {
	switch c {
	case evidence.AlgNone:
		return "with a token rewritten to alg none"
	case evidence.AlgNoneTitle:
		return "with a token rewritten to alg None"
	case evidence.AlgNoneUpper:
		return "with a token rewritten to alg NONE"
	case evidence.SignatureCut:
		return "with the token without its signature"
	case evidence.SignatureZero:
		return "with the token under a signature of zero bytes"
	case evidence.HMACPEM:
		return "with a token under HS256 and the public key in PEM"
	case evidence.HMACPEMTrim:
		return "with a token under HS256 and the public key in PEM without its last newline"
	case evidence.HMACJWK:
		return "with a token under HS256 and the public key as JWK"
	case evidence.EmbeddedKey:
		return "with a forged token and its key in the header (jwk)"
	case evidence.NamedKeySet:
		return "with a forged token and a key set named in the header (jku)"
	case evidence.BorrowedKID:
		return "with a forged token under the kid of the node's key"
	case evidence.ForeignKey:
		return "with a forged token that copies all claims"
	case evidence.ForeignIssuer:
		return "with a forged token of the issuer https://conformance.invalid"
	case evidence.StagingToken:
		return "with a staging token"
	case evidence.OtherAudience:
		return "with a token meant for another audience"
	case evidence.Expired:
		return "with an expired token"
	case evidence.ExpiredAgain:
		return "with an expired token, a minute later"
	case evidence.TokenInQuery:
		return "with the token in the query"
	}
	return ""
}

// askedElsewhere names requests to other endpoints than those of the node's API; empty for other resources.
func askedElsewhere(l evidence.Label) string {
	switch l {
	case evidence.TokenEndpoint.With(evidence.Throwaway):
		return "the request for a throw-away token"
	case evidence.TokenEndpoint.With(evidence.ToExpire):
		return "the request for a token that is to expire"
	}
	switch l.Resource() {
	case evidence.OtherClient:
		return "the token request of the client of another audience"
	case evidence.StagingEndpoint:
		return "the token request to the staging environment"
	case evidence.KeySet:
		return "the request for the published keys"
	}
	for _, m := range metadataLabels() {
		if l == m {
			return "the request for the metadata"
		}
	}
	return ""
}
