package walk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/exchange"
)

// Claim is a part of a token's header or of its claims, as a person reads it.
type Claim struct {
	Name, Value string
	// Meaning says what it is to a client.
	Meaning string
	// Header tells a part of the header, which says how the token is signed.
	Header bool
	// Until is the end of the token, for the claim that says it; else zero.
	Until time.Time
}

// meaning is what a name says.
type meaning struct{ name, text string }

// meanings are what the registered names say (RFC 7519 §4.1, RFC 7515 §4.1, RFC 9068 §2.2), in the order that a person asks for them.
func meanings() []meaning {
	return []meaning{
		{"iss", "who issued it"},
		{"aud", "for which API; another one refuses it"},
		{"sub", "the account that it speaks for"},
		{"client_id", "the client that asked for it"},
		{"azp", "the client that asked for it"},
		{"iat", "when it was issued"},
		{"nbf", "not good before"},
		{"exp", "when it is over"},
		{"scope", "what it may be used for"},
		{"roles", "what the account may do"},
		{"realm_access", "roles, as Keycloak writes them"},
		{"resource_access", "roles by API, as Keycloak writes them"},
		{"jti", "its number: no two are the same"},
	}
}

// headerMeanings are the same for the header.
func headerMeanings() []meaning {
	return []meaning{
		{"typ", "what kind of token it is"},
		{"alg", "how it is signed"},
		{"kid", "which of the published keys signed it"},
	}
}

// Claims are the header and the claims of the token, the ones that most tokens have first; none of an opaque token.
func (w *Walk) Claims() []Claim {
	token, ok := w.Issued()
	if !ok || token.Facts.JWT == nil {
		return nil
	}
	return append(claims(token.Facts.JWT.Header, headerMeanings(), true), claims(token.Facts.JWT.Claims, meanings(), false)...)
}

func claims(values map[string]any, known []meaning, header bool) []Claim {
	var out []Claim
	for _, k := range known {
		if v, ok := values[k.name]; ok {
			out = append(out, claim(k.name, v, k.text, header))
		}
	}
	var others []string
	for name := range values {
		if !slices.ContainsFunc(out, func(c Claim) bool { return c.Name == name }) {
			others = append(others, name)
		}
	}
	slices.Sort(others)
	for _, name := range others {
		out = append(out, claim(name, values[name], "the node's own", header))
	}
	return out
}

func claim(name string, value any, meaning string, header bool) Claim {
	c := Claim{Name: name, Value: inOneLine(value), Meaning: meaning, Header: header}
	if at, ok := timeOf(value); ok && !header && slices.Contains([]string{"iat", "nbf", "exp"}, name) {
		c.Value = fmt.Sprintf("%s (%s)", at.UTC().Format("15:04:05 UTC"), c.Value)
		if name == "exp" {
			c.Until = at
		}
	}
	return c
}

// inOneLine is a value as a person reads it; of an object the JSON.
func inOneLine(v any) string {
	switch v := v.(type) {
	case map[string]any:
		text, err := json.Marshal(v)
		if err != nil {
			return fmt.Sprint(v)
		}
		return string(text)
	case []any:
		words := make([]string, 0, len(v))
		for _, one := range v {
			words = append(words, inOneLine(one))
		}
		return strings.Join(words, ", ")
	}
	return oneLine(v)
}

// Signature says what came of the check of the signature; nil when no keys were read.
func (s Scene) Signature() *exchange.Verification {
	for _, x := range slices.Backward(s.Exchanges) {
		if x.Verification != nil {
			return x.Verification
		}
	}
	return nil
}
