package auth

import (
	"strings"
)

// credential is what the Authorization fields of a request hold, seen as a bearer credential.
type credential struct {
	token string
	// detail and hint say what is wrong when token is empty.
	detail, hint string
	// code is the error code for the challenge; empty when no bearer credential was presented at all
	// (RFC 6750 §3.1).
	code string
}

// The error codes of RFC 6750 §3.1.
const (
	codeInvalidRequest = "invalid_request"
	codeInvalidToken   = "invalid_token"
	codeScope          = "insufficient_scope"
)

const rightForm = "send the header 'Authorization: Bearer <access token>'"

// readCredential reads the Authorization fields of a request. The scheme's case does not matter (RFC 9110 §11.1), nor
// does the number of blanks behind it (RFC 6750 §2.1). It is pure and quotes nothing of the fields.
func readCredential(fields []string) credential {
	switch {
	case len(fields) == 0:
		return credential{detail: "the request has no access token", hint: rightForm}
	case len(fields) > 1:
		return credential{detail: "the Authorization header is given more than once", hint: rightForm + " once", code: codeInvalidRequest}
	}
	value := strings.Trim(fields[0], " \t")
	scheme, rest, found := strings.Cut(value, " ")
	token := strings.Trim(rest, " \t")
	switch {
	case value == "":
		return credential{detail: "the Authorization header is empty", hint: rightForm}
	case !strings.EqualFold(scheme, "Bearer"):
		return foreignScheme(scheme, found)
	case token == "":
		return credential{detail: "no access token follows the word Bearer", hint: rightForm, code: codeInvalidRequest}
	case len(token) > len("bearer ") && strings.EqualFold(token[:len("bearer ")], "bearer "):
		return credential{detail: "the word Bearer is there twice", hint: rightForm, code: codeInvalidToken}
	case !isToken68(token):
		return credential{detail: "the access token holds a character that no bearer token has",
			hint: "send the value of access_token as it was received, without quotes, blanks or line ends", code: codeInvalidToken}
	}
	return credential{token: token}
}

// foreignScheme explains a value that does not begin with Bearer. A lone word with the two dots of a JWT, or longer
// than any scheme, is a token whose prefix was forgotten.
func foreignScheme(scheme string, more bool) credential {
	switch {
	case !more && (strings.Count(scheme, ".") == 2 || len(scheme) > 32):
		return credential{detail: "the Authorization header holds a token without the word Bearer before it", hint: rightForm}
	case strings.EqualFold(scheme, "Basic"):
		return credential{detail: "client credentials do not open the API",
			hint: "exchange them for an access token at the token endpoint, then " + rightForm}
	}
	return credential{detail: "the Authorization header uses a scheme other than Bearer", hint: rightForm}
}

// isToken68 tells whether token has the syntax of a bearer token (RFC 6750 §2.1, b64token).
func isToken68(token string) bool {
	body := strings.TrimRight(token, "=")
	for _, c := range []byte(body) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !letter && !strings.ContainsRune("-._~+/", rune(c)) {
			return false
		}
	}
	return body != ""
}

// challenge formats a Bearer challenge (RFC 6750 §3). Without a code it carries the realm alone.
func challenge(realm, code, description string) string {
	value := "Bearer realm=" + quote(realm)
	if code != "" {
		value += ", error=" + quote(code) + ", error_description=" + quote(description)
	}
	return value
}
