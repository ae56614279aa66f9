package redact

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// MarkerStart begins each marker. Data may contain it, too; see [HasMarker].
const MarkerStart = "[["

// The forms that a marker names.
const (
	FormPlain   = "plain"
	formPercent = "percent"
	formJSON    = "json"
	formHTML    = "html"
	formBase64  = "base64"
	formHex     = "hex"
)

var forms = [...]string{FormPlain, formPercent, formJSON, formHTML, formBase64, formHex}

func formRank(form string) int { return slices.Index(forms[:], form) }

// Piece is a part of a text: a marker, or what is between two of them.
type Piece struct {
	Text   string
	Marker bool
	// Name, Fingerprint and Form are the parts of a marker.
	Name, Fingerprint, Form string
}

// Split cuts a text at its markers.
func Split(text string) []Piece {
	if !strings.Contains(text, MarkerStart) {
		return []Piece{{Text: text}}
	}
	var pieces []Piece
	at := 0
	pattern := regexp.MustCompile(`\[\[([A-Za-z0-9_.-]+):([0-9a-f]{8}):(plain|percent|json|html|base64|hex)\]\]`)
	for _, m := range pattern.FindAllStringSubmatchIndex(text, -1) {
		if m[0] > at {
			pieces = append(pieces, Piece{Text: text[at:m[0]]})
		}
		pieces = append(pieces, Piece{text[m[0]:m[1]], true, text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]]})
		at = m[1]
	}
	if at < len(text) {
		pieces = append(pieces, Piece{Text: text[at:]})
	}
	return pieces
}

// maxMarker is longer than any marker.
const maxMarker = 256

// HasMarker reports whether a text holds a marker. Data may have double brackets, too.
func HasMarker(text []byte) bool {
	if !bytes.Contains(text, []byte(MarkerStart)) {
		return false // most texts have no brackets
	}
	marker := regexp.MustCompile(`^\[\[[A-Za-z0-9_.-]+:[0-9a-f]{8}:[a-z0-9]+\]\]`)
	for {
		i := bytes.Index(text, []byte(MarkerStart))
		if i < 0 {
			return false
		}
		text = text[i:]
		if marker.Match(text[:min(len(text), maxMarker)]) {
			return true
		}
		text = text[2:]
	}
}

// Names lists the names of the markers in a redacted text, each once, in order.
func Names(text string) []string {
	var names []string
	for _, p := range Split(text) {
		if p.Marker && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Mask replaces the markers of a text by short ones for people: "‹client_secret›".
func Mask(text string) string {
	return replaceMarkers(text, func(p Piece) string { return "‹" + p.Name + "›" })
}

// Reveal puts secrets back into a text in place of their markers, in the form that each marker names. value finds a secret by its
// fingerprint; unknown markers stay. The result is for the person who typed the secret, and must not be stored.
func Reveal(text string, value func(fingerprint string) (string, bool)) string {
	return replaceMarkers(text, func(p Piece) string {
		secret, known := value(p.Fingerprint)
		if !known {
			return p.Text
		}
		return p.encode(secret)
	})
}

func replaceMarkers(text string, with func(Piece) string) string {
	var b strings.Builder
	for _, p := range Split(text) {
		if p.Marker {
			p.Text = with(p)
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// encode writes a secret in the marker's form; a form that has several spellings stays a marker.
func (p Piece) encode(secret string) string {
	switch p.Form {
	case FormPlain:
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
	return p.Text
}
