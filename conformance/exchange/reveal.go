package exchange

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
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
			quoted, _ := json.Marshal(secret) // strings always encode
			return string(quoted[1 : len(quoted)-1])
		case formBase64:
			return base64.StdEncoding.EncodeToString([]byte(secret))
		case formHex:
			return hex.EncodeToString([]byte(secret))
		}
		return marker
	})
}
