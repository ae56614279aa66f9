package requirement

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// This file judges the form of registered claims (RFC 7519 §4.1) in every token of the run: libraries that check types refuse a token whose sub is a
// number or whose iat is a text, and a list of revoked tokens is useless if two tokens share a jti.

// judgeTimeClaims judges the claims other than exp that hold a time; [judgeExpiry] judges exp. JWT-03 judges an iat in milliseconds.
func judgeTimeClaims(x evidence.Exchange, t evidence.JWTFacts) Judgement {
	for _, name := range []string{"iat", "nbf", "auth_time"} {
		value := t.Claims[name]
		if value == nil {
			continue
		}
		want := expect(x, name+": seconds since 1970")
		n, isNumber := number(value)
		switch {
		case !isNumber:
			return want.failed(name+" is not a JSON number", name+": "+openapi.JSONType(value))
		case name != "iat" && n > millisecondLike:
			return want.failed(name+" is in milliseconds, thousands of years from now", clip(fmt.Sprintf("%s: %v", name, value)))
		}
	}
	return Passed(x.Label)
}

// judgeTextClaims judges the claims that must be texts.
func judgeTextClaims(x evidence.Exchange, t evidence.JWTFacts) Judgement {
	for _, name := range []string{"iss", "sub", "jti", "client_id", "azp"} {
		if _, isText := t.Claims[name].(string); !isText && t.Claims[name] != nil {
			return expect(x, name+": a text").failed(name+" of the token is not a text, so that libraries refuse it", name+": "+openapi.JSONType(t.Claims[name])).
				Hinting("write identifiers as JSON strings, numeric ids of a database, too")
		}
	}
	return Passed(x.Label)
}

// judgeAudienceForm judges the type of aud, which is a text or a list of texts.
func judgeAudienceForm(x evidence.Exchange, t evidence.JWTFacts) Judgement {
	want := expect(x, "aud: a text, or a list of texts")
	switch aud := t.Claims["aud"].(type) {
	case nil, string:
		return Passed(x.Label)
	case []any:
		if i := slices.IndexFunc(aud, func(one any) bool { _, isText := one.(string); return !isText }); i >= 0 {
			return want.failed("aud of the token has a member that is not a text", "in aud: "+openapi.JSONType(aud[i]))
		}
		return Passed(x.Label)
	default:
		return want.failed("aud of the token is neither a text nor a list", "aud: "+openapi.JSONType(aud))
	}
}

// judgeIdentifiers finds a jti that names two tokens. A token that is handed out again, and a second signature of the same claims, are one token.
func judgeIdentifiers(e Evidence) Judgement {
	type token struct {
		x evidence.Exchange
		t evidence.JWTFacts
	}
	first := map[string]token{}
	for _, x := range e.sweep().tokens {
		facts, known := tokenFacts(x)
		if !known || facts.JWT == nil {
			continue
		}
		id, _ := facts.JWT.Claims["jti"].(string)
		issuer, _ := facts.JWT.Claims["iss"].(string)
		if id == "" {
			continue
		}
		before, seen := first[issuer+"\n"+id]
		if !seen {
			first[issuer+"\n"+id] = token{x, *facts.JWT}
			continue
		}
		if !reflect.DeepEqual(before.t.Claims, facts.JWT.Claims) {
			return expect(x, "a jti that no other token has").failed("two tokens with different claims have the same jti, so that they cannot be distinguished when one is revoked or replayed", "jti "+quote(id)).
				Hinting("draw jti for each token: a UUID, or 128 random bits").Seen(before.x.Label)
		}
	}
	return Judgement{Outcome: Pass}
}
