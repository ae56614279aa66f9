package recorder

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// tokenMember finds tokens in bodies that are no good JSON, too, because those must not leak either. A value in quotes is taken up to
// the closing one, any other up to a blank.
func tokenMember() *regexp.Regexp {
	return regexp.MustCompile(`(?i)["']?((?:access|refresh|id)_?token)["']?\s*[:=]\s*` +
		`(?:"((?:[^"\\\x00-\x1f]|\\.)+)|'((?:[^'\\\x00-\x1f]|\\.)+)|((?:[^"'\\&\s]|\\.)+))`)
}

// Bounds of the tokens of one answer. What is beyond them is of no use to anybody, and to look for it in every later answer would take
// more time and memory than there is.
const (
	maxToken  = HeaderLimit // bytes: no header is larger
	maxTokens = 20
)

// excessive says why the tokens of an answer are too much, empty when they are not. One alone may stand several times.
func excessive(found [][]string) string {
	different := map[string]bool{}
	for _, m := range found {
		value := m[2] + m[3] + m[4]
		if len(value) > maxToken {
			return fmt.Sprintf("a token of %d bytes is larger than any header (%d bytes); the answer is not kept", len(value), maxToken)
		}
		if different[value] = true; len(different) > maxTokens {
			return fmt.Sprintf("more than %d tokens in one answer; it is not kept", maxTokens)
		}
	}
	return ""
}

// conceal takes the tokens of a token answer out of reach: it adds them to the redactor, notes the facts about the access token,
// and returns that.
func (r *Recorder) conceal(ask Request, x *evidence.Exchange, body []byte) string {
	name := ask.Issues
	if c := ask.Label.Case(); ask.Label == "" {
		name += ".renewed"
	} else if c != evidence.OK {
		name += "." + string(c)
	}
	var answer struct {
		AccessToken string `json:"access_token"`
	}
	_ = json.Unmarshal(body, &answer) // what is no JSON is searched below
	found := tokenMember().FindAllStringSubmatch(withPlainLetters(body), 100)
	if why := excessive(append(found, []string{"", "", answer.AccessToken, "", ""})); why != "" {
		x.Response.Body, x.Response.BodyError, x.Response.Withheld = nil, why, true
		return ""
	}
	if answer.AccessToken != "" {
		x.Tokens = append(x.Tokens, evidence.RedactToken(r.options.Redactor, name, answer.AccessToken))
	}
	isJSON := json.Valid(body)
	for _, m := range found {
		value := unquote(m[2] + m[3] + m[4])
		if m[4] != "" && isJSON {
			value = bare(m[4])
		}
		r.hide(memberMarker(m[1], name), value)
	}
	return answer.AccessToken
}

// withPlainLetters is a JSON text in which letters and underscores that are written as escapes, such as \u005f, are themselves: a name is
// found however it is written. Other escapes stay, an escaped backslash among them.
func withPlainLetters(text []byte) string {
	escape := regexp.MustCompile(`\\u00(?:[46][1-9a-fA-F]|[57][0-9aA]|5[fF])|\\.`)
	return escape.ReplaceAllStringFunc(string(text), func(s string) string {
		if len(s) > len(`\n`) {
			return unquote(s)
		}
		return s
	})
}

// bare is a value without quotes in JSON; empty for one that is no token, such as null: hidden, it would take its place in every
// answer, and leave no JSON behind.
func bare(value string) string {
	switch value, _, _ = strings.Cut(value, ","); strings.TrimRight(value, "]}") {
	case "null", "true", "false", "[", "{", "":
		return ""
	}
	return strings.TrimRight(value, "]}")
}

// hide adds a whole token to the redactor, and its last word where there are several: some nodes put the scheme before the token.
// That word is no secret, and many answers hold it.
func (r *Recorder) hide(name, token string) {
	words := strings.Fields(token)
	if len(words) == 0 || strings.EqualFold(words[len(words)-1], "Bearer") {
		return
	}
	r.options.Redactor.Secret(name, token)
	r.options.Redactor.Secret(name, words[len(words)-1])
}

// memberMarker keeps the given name for access tokens, and the member's own for the others.
func memberMarker(member, name string) string {
	member = strings.ToLower(member)
	if strings.HasPrefix(member, "access") {
		return name
	}
	return member + strings.TrimPrefix(name, "access_token")
}

// unquote reads JSON escapes; what cannot be read stays as it is.
func unquote(s string) string {
	var out string
	if json.Unmarshal([]byte(`"`+s+`"`), &out) != nil {
		return s
	}
	return out
}
