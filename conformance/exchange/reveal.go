package exchange

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
)

// Reveal puts the secrets back into a text, each where its marker stands and in the form that the marker names. value knows secrets by
// their fingerprints; markers of others stay. It is for the person at whose screen the secret was typed, and for nothing that is kept.
func Reveal(text string, value func(fingerprint string) (string, bool)) string {
	return markerPattern().ReplaceAllStringFunc(text, func(marker string) string {
		parts := markerPattern().FindStringSubmatch(marker)
		secret, known := value(parts[2])
		if !known {
			return marker
		}
		switch parts[3] {
		case formPlain:
			return secret
		case formPercent:
			return url.QueryEscape(secret)
		case formJSON:
			var quoted strings.Builder
			enc := json.NewEncoder(&quoted)
			enc.SetEscapeHTML(false)
			_ = enc.Encode(secret) // strings always encode
			return quoted.String()[1 : quoted.Len()-2]
		case formBase64:
			return base64.StdEncoding.EncodeToString([]byte(secret))
		case formHex:
			return hex.EncodeToString([]byte(secret))
		}
		return marker
	})
}

// Masked names the secrets of a text in short, for a person's eye: "‹client_secret›".
func Masked(text string) string {
	return markerPattern().ReplaceAllStringFunc(text, func(marker string) string {
		return "‹" + markerPattern().FindStringSubmatch(marker)[1] + "›"
	})
}
