package walk

import (
	"encoding/base64"
	"regexp"
	"strings"

	"github.com/rin-network/rin/conformance/target"
)

// Cautions are the usual mistakes that credentials show before they are sent; none for those that look right. They hold nothing of the
// secret.
func Cautions(c target.Credentials) []string {
	var out []string
	id, secret := c.ClientID, c.ClientSecret.Reveal()
	say := func(wrong bool, text string) {
		if wrong {
			out = append(out, text)
		}
	}
	say(id == "", "The client ID is empty.")
	say(secret == "", "The client secret is empty.")
	say(strings.TrimSpace(id) != id, "The client ID begins or ends with a blank or a line end.")
	say(strings.TrimSpace(secret) != secret, "The client secret begins or ends with a blank or a line end; many editors and echo add one.")
	say(quoted(id) || quoted(secret), "One of the two stands in quotation marks; they are not part of it.")
	say(secret != "" && id == secret, "ID and secret are the same text.")
	say(looksRandom(id) && !looksRandom(secret) && secret != "", "The ID looks like a secret and the secret like an ID: they may be swapped.")
	say(strings.HasPrefix(secret, "eyJ") && strings.Count(secret, ".") == 2, "The secret looks like an access token (a JWT). A token is what you get for the secret.")
	say(strings.HasPrefix(strings.ToLower(secret), "basic ") || encodedPair(secret, id), "The secret looks like an encoded Authorization header; give the secret itself.")
	say(strings.HasPrefix(secret, "env:") || strings.HasPrefix(secret, "file:"), "The secret is the name of a place, not what stands there.")
	say(len(secret) > 0 && len(secret) < 8, "The secret is very short.")
	return out
}

func quoted(s string) bool {
	return len(s) > 1 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0]
}

// looksRandom tells a text of many kinds of characters and no words.
func looksRandom(s string) bool {
	if len(s) < 20 || strings.ContainsAny(s, " ") || regexp.MustCompile(`^[a-z]+([-_.][a-z]+)+$`).MatchString(s) {
		return false
	}
	kinds := 0
	for _, set := range []string{"abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789"} {
		if strings.ContainsAny(s, set) {
			kinds++
		}
	}
	return kinds >= 2 && !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-`).MatchString(s)
}

// encodedPair tells base64 of "id:secret".
func encodedPair(secret, id string) bool {
	decoded, err := base64.StdEncoding.DecodeString(secret)
	return err == nil && id != "" && strings.HasPrefix(string(decoded), id+":")
}
