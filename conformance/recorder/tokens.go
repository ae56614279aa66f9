package recorder

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
)

// tokenMember finds tokens in bodies that are not valid JSON, too, because those must not leak either. A quoted value ends at its closing
// quote, any other at a blank.
func tokenMember() *regexp.Regexp {
	return regexp.MustCompile(`(?i)["']?((?:access|refresh|id)_?token)["']?\s*[:=]\s*` +
		`(?:"((?:[^"\\\x00-\x1f]|\\.)+)|'((?:[^'\\\x00-\x1f]|\\.)+)|((?:[^"'\\&\s]|\\.)+))`)
}

// matchedValue returns the value in a match of [tokenMember]: one of its groups for double quotes, single quotes and no quotes has text.
func matchedValue(match []string) string { return match[2] + match[3] + match[4] }

// Bounds of the tokens of one answer. The redactor searches every later answer for them, which takes time and memory.
const (
	maxToken  = HeaderLimit // bytes: no header is larger
	maxTokens = 20
)

// checkTokenLimits returns the reason why the tokens of an answer are too many or too long, or "". Repetitions count once.
func checkTokenLimits(values []string) string {
	distinct := map[string]bool{}
	for _, value := range values {
		if len(value) > maxToken {
			return fmt.Sprintf("a token of %d bytes is larger than any header (%d bytes); the answer is not kept", len(value), maxToken)
		}
		if distinct[value] = true; len(distinct) > maxTokens {
			return fmt.Sprintf("more than %d tokens in one answer; it is not kept", maxTokens)
		}
	}
	return ""
}

// conceal adds the tokens of a token answer to the redactor, records the facts about the access token, and returns that token.
func (r *Recorder) conceal(req Request, x *evidence.Exchange, body []byte) string {
	name := req.Issues
	if c := req.Label.Case(); req.Label == "" { // such as the renewal of the session token
		name += ".renewed"
	} else if c != evidence.OK {
		name += "." + string(c)
	}
	token := accessToken(body) // "" unless the body is a JSON object; the pattern below also finds tokens in other bodies
	found := tokenMember().FindAllStringSubmatch(unescapeLetters(body), 100)
	var values []string
	for _, m := range found {
		values = append(values, matchedValue(m))
	}
	if why := checkTokenLimits(append(values, token)); why != "" {
		x.Response.Body, x.Response.BodyError, x.Response.Withheld = nil, why, true
		return ""
	}
	if token != "" {
		facts := evidence.RedactToken(r.options.Redactor, name, token)
		if facts.JWT == nil {
			facts.Chance = evidence.Chance(token, r.firstToken(req.Issues, token)) // what two tokens share is not random
		}
		x.Tokens = append(x.Tokens, facts)
	}
	isJSON := json.Valid(body)
	for _, m := range found {
		value := unquote(matchedValue(m))
		if unquoted := m[4]; unquoted != "" && isJSON {
			value = unquotedToken(unquoted)
		}
		r.concealToken(markerName(m[1], name), value)
	}
	return token
}

// firstToken returns the first token that was issued under a name. Without an earlier token it keeps and returns the given one.
func (r *Recorder) firstToken(name, token string) string {
	first, _ := r.first.LoadOrStore(name, token)
	text, _ := first.(string)
	return text
}

// accessToken returns the last member access_token of a JSON object that is a string, or "". The name is compared exactly.
func accessToken(body []byte) (token string) {
	if !json.Valid(body) {
		return ""
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return ""
	}
	for d.More() {
		name, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return ""
		}
		if name == "access_token" && bytes.HasPrefix(value, []byte(`"`)) {
			_ = json.Unmarshal(value, &token) // a string, as checked
		}
	}
	return token
}

// unescapeLetters replaces the JSON escapes of letters and underscores, such as \u005f, so that a name is found however it is written. Other
// escapes stay, also an escaped backslash.
func unescapeLetters(text []byte) string {
	escape := regexp.MustCompile(`\\u00(?:[46][1-9a-fA-F]|[57][0-9aA]|5[fF])|\\.`)
	return escape.ReplaceAllStringFunc(string(text), func(s string) string {
		if len(s) > len(`\n`) { // \u and four digits
			return unquote(s)
		}
		return s
	})
}

// unquotedToken returns an unquoted value in JSON, or "" if it cannot be a token, such as null: redacting "null" would break every later
// JSON body.
func unquotedToken(value string) string {
	value, _, _ = strings.Cut(value, ",")
	value = strings.TrimRight(value, "]}")
	if slices.Contains([]string{"null", "true", "false", "[", "{"}, value) {
		return ""
	}
	return value
}

// concealToken adds a whole token to the redactor, and its last word, because some nodes put the scheme before the token. The word "Bearer"
// itself is not a secret.
func (r *Recorder) concealToken(name, token string) {
	words := strings.Fields(token)
	if len(words) == 0 || strings.EqualFold(words[len(words)-1], "Bearer") {
		return
	}
	r.options.Redactor.Secret(name, token)
	r.options.Redactor.Secret(name, words[len(words)-1])
}

// markerName returns the given name for access tokens, and the member's own name for others.
func markerName(member, name string) string {
	member = strings.ToLower(member)
	if strings.HasPrefix(member, "access") {
		return name
	}
	return member + strings.TrimPrefix(name, "access_token")
}

// unquote decodes JSON escapes; a text with an invalid escape stays as it is.
func unquote(s string) string {
	var out string
	if json.Unmarshal([]byte(`"`+s+`"`), &out) != nil {
		return s
	}
	return out
}
