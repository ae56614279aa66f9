package requirement

import (
	"cmp"

	"github.com/rin-network/rin/conformance/exchange"
)

// peculiarity says in words what was particular about the calls of SEC, ERR, VER and ROB; empty for the others.
func peculiarity(c exchange.Case) string { return cmp.Or(oddInWords(c), sanitaryInWords(c)) }

// oddInWords says what is odd about a request; empty for the others.
func oddInWords(c exchange.Case) string {
	switch c {
	case exchange.BearerLong:
		return "with a token of 6 kB"
	case exchange.BearerThree:
		return "with the token a.b.c"
	case exchange.BearerDots:
		return "with a token of two dots"
	case exchange.BearerBadHeader:
		return "with a JWT whose header is not JSON"
	case exchange.BearerBytes:
		return "with a token of bytes outside of ASCII"
	case exchange.BearerJoined:
		return "with three JWTs joined"
	case exchange.FormEmpty:
		return "without content"
	case exchange.FormJSON:
		return "with JSON in place of a form"
	case exchange.FormPercent:
		return "with %zz in a value"
	case exchange.FormBytes:
		return "with %FF in a value"
	case exchange.FormLong:
		return "with a value of 64 kB"
	case exchange.FormParts:
		return "as multipart/form-data"
	case exchange.FormText:
		return "as text/plain"
	case exchange.IDQuote:
		return "with a quote in the id"
	case exchange.IDNul:
		return "with the id %00"
	case exchange.IDBytes:
		return "with the id %FF"
	case exchange.IDParent:
		return "with ..%2F in the id"
	case exchange.IDLong:
		return "with an id of 2 kB"
	case exchange.IDUmlauts:
		return "with umlauts in the id"
	case exchange.IDBraces:
		return "with braces in the id"
	case exchange.QueryBytes:
		return "with ?a=%FF"
	case exchange.QueryNameless:
		return "with ?="
	case exchange.QueryBlank:
		return "with ?&&"
	case exchange.QueryLong:
		return "with a value of 6 kB in the query"
	case exchange.QueryRepeated:
		return "with 200 parameters of one name"
	case exchange.QuerySizeNul:
		return "with %00 as the page size"
	case exchange.OddAccept:
		return "with Accept: application/x-conformance"
	}
	return ""
}

// sanitaryInWords says what was particular about the calls of SEC, ERR, VER and ROB that are not odd.
func sanitaryInWords(c exchange.Case) string {
	switch c {
	case exchange.SessionCookie:
		return "with the cookies of a good call and without a token"
	case exchange.IdentityHeaders:
		return "without a token and with the headers of a proxy"
	case exchange.ForwardedUser:
		return "without a token and with X-Forwarded-User"
	case exchange.RemoteUser:
		return "without a token and with X-Remote-User"
	case exchange.ForwardedFor:
		return "without a token and with X-Forwarded-For"
	case exchange.OriginalURL:
		return "without a token and with X-Original-URL"
	case exchange.AuthRequestUser:
		return "without a token and with X-Auth-Request-User"
	case exchange.RealIP:
		return "without a token and with X-Real-IP"
	case exchange.OriginAlone:
		return "without a token and with the Origin of a page elsewhere"
	case exchange.LookalikeOrigin:
		return "with an Origin that begins like the node's own"
	case exchange.ForeignOrigin:
		return "with the Origin of a page elsewhere"
	case exchange.Preflight:
		return "as a preflight from a page elsewhere"
	case exchange.UnknownPath:
		return "of a path that no operation has"
	case exchange.UnknownVersion:
		return "in version 999"
	case exchange.Strict, exchange.StrictHead:
		return "without content coding"
	case exchange.OKAfterBearers, exchange.OKAfterForm, exchange.OKAfterIDs, exchange.OKAfterQueries:
		return "after odd ones"
	}
	return ""
}
