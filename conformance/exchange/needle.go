package exchange

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// The forms that a marker names.
const (
	formPlain   = "plain"
	formPercent = "percent"
	formJSON    = "json"
	formHTML    = "html"
	formBase64  = "base64"
	formHex     = "hex"
)

var forms = [...]string{formPlain, formPercent, formJSON, formHTML, formBase64, formHex}

func formRank(form string) int { return slices.Index(forms[:], form) }

// needle is one text to look for.
type needle struct {
	text   string
	secret *secret
	form   string
	// before and after say that the encoding of the secret reaches into the neighbouring character.
	before, after bool
}

// needlesOf lists the value and its encodings that no undoing of escapes shows.
func needlesOf(s *secret) []needle {
	out := []needle{{text: s.value, secret: s, form: formPlain}}
	low := hex.EncodeToString([]byte(s.value))
	for _, t := range distinct(low, strings.ToUpper(low)) {
		out = append(out, needle{text: t, secret: s, form: formHex})
	}
	// HTTP Basic carries form-encoded credentials (RFC 6749 §2.3.1), so their encodings are looked for, too.
	query, path := url.QueryEscape(s.value), url.PathEscape(s.value)
	for _, v := range distinct(s.value, query, path, lowerEscapes(query), lowerEscapes(path)) {
		for offset := range 3 {
			out = append(out, base64Needles(s, v, offset)...)
		}
	}
	return out
}

// base64Needles encode the value as it stands offset bytes after a group of three. Only the characters that the value alone
// decides are part of the needle.
func base64Needles(s *secret, value string, offset int) []needle {
	padded := append(make([]byte, offset), value...)
	skip := (offset*8 + 5) / 6
	keep := len(padded) * 8 / 6
	std := base64.RawStdEncoding.EncodeToString(padded)
	alt := base64.RawURLEncoding.EncodeToString(padded)
	if keep-skip < 2 {
		return nil
	}
	var out []needle
	for _, t := range distinct(std[skip:keep], alt[skip:keep]) {
		out = append(out, needle{text: t, secret: s, form: formBase64, before: offset > 0, after: len(padded)%3 != 0})
	}
	return out
}

// extend widens a base64 or hex hit to the whole encoded value, so that nothing of its ends stays readable.
func (n *needle) extend(text string, at int) (from, to int) {
	from, to = at, at+len(n.text)
	if n.form != formBase64 {
		return from, to
	}
	if n.before && from > 0 && base64Char(text[from-1]) {
		from--
	}
	for from > 0 && base64Char(text[from-1]) && text[from-1] != '/' { // a slash may as well part a path
		from--
	}
	if n.after && to < len(text) && base64Char(text[to]) {
		to++
	}
	for to < len(text) && base64Char(text[to]) && text[to] != '/' {
		to++
	}
	for range 2 {
		if to < len(text) && text[to] == '=' {
			to++
		}
	}
	return from, to
}

// lowerEscapes writes %2B as %2b and leaves the letters between escapes alone.
func lowerEscapes(escaped string) string {
	b := []byte(escaped)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:i+3], bytes.ToLower(b[i+1:i+3]))
		}
	}
	return string(b)
}

func base64Char(c byte) bool {
	return alphanumeric(c) || c == '+' || c == '/' || c == '-' || c == '_'
}

// wholeWord reports that a short secret stands alone in text[from:to]; for base64, that it stands alone in what is encoded.
func (n *needle) wholeWord(text string, from, to int) bool {
	if n.form == formBase64 {
		std := strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(text[from:to], "="))
		raw, err := base64.RawStdEncoding.DecodeString(std)
		if err != nil {
			return false
		}
		k := strings.Index(string(raw), n.secret.value)
		return k >= 0 && alone(string(raw), k, k+len(n.secret.value))
	}
	return alone(text, from, to)
}

func alone(text string, from, to int) bool {
	return (from == 0 || !wordChar(text[from-1])) && (to == len(text) || !wordChar(text[to]))
}

func wordChar(c byte) bool { return alphanumeric(c) || c == '_' || c == '-' }

func distinct(list ...string) []string {
	var out []string
	for _, s := range list {
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
