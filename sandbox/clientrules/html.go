package clientrules

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// WriteHTML writes the report as one self-contained page without scripts, fonts or pictures. Its
// Content-Security-Policy forbids the browser to load other resources.
func WriteHTML(w io.Writer, r Report) error {
	page, err := template.New("page").Funcs(template.FuncMap{
		"printable": printable, "clientTitle": clientTitle, "levelCounts": levelCounts, "requestCounts": requestCounts, "timeSpan": timeSpan,
		"eventLine": eventLine, "headline": headline, "remainder": remainder,
	}).Parse(pageHTML)
	if err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(pageCSS))
	return page.Execute(w, struct {
		Report
		CSS    template.CSS
		Policy string
	}{r, template.CSS(pageCSS), "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'"})
}

//go:embed page.html
var pageHTML string

//go:embed page.css
var pageCSS string

// WriteJSON writes a report, or any other value, as indented JSON. Characters that control a terminal are written as \u escapes.
func WriteJSON(w io.Writer, value any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	if err := enc.Encode(value); err != nil {
		return fmt.Errorf("encode as JSON: %w", err)
	}
	_, err := w.Write(escapeUnprintable(b.Bytes()))
	return err
}

// escapeUnprintable escapes the unprintable characters of a JSON text. Apart from line ends, they occur in its strings only.
func escapeUnprintable(text []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r == '\n' || !isUnprintable(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// printable replaces characters that move a cursor, hide or reorder text with escapes, such as \x1b and \u202e.
func printable(text string) string {
	if strings.IndexFunc(text, isUnprintable) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < 0x80 && isUnprintable(r):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case isUnprintable(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// isUnprintable reports whether a reader cannot recognize a character: a control or format character, an unusual space, or a combining mark.
func isUnprintable(r rune) bool { return !unicode.IsPrint(r) || unicode.In(r, unicode.Me, unicode.Mn) }
