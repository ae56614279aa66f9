package exchange

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
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

// Piece is a part of a text: a marker as a whole, or what stands between two of them.
type Piece struct {
	Text   string
	Marker bool
}

// Pieces cuts a text at its markers, for who shows secrets apart from the rest.
func Pieces(text string) []Piece {
	if !slices.ContainsFunc(forms[:], func(form string) bool { return strings.Contains(text, ":"+form+"]]") }) {
		return []Piece{{Text: text}}
	}
	var pieces []Piece
	at := 0
	for _, m := range markerPattern().FindAllStringIndex(text, -1) {
		if m[0] > at {
			pieces = append(pieces, Piece{Text: text[at:m[0]]})
		}
		pieces = append(pieces, Piece{text[m[0]:m[1]], true})
		at = m[1]
	}
	if at < len(text) || at == 0 {
		pieces = append(pieces, Piece{Text: text[at:]})
	}
	return pieces
}
