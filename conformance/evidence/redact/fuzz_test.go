package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"github.com/rin-network/rin/conformance/evidence/redact"
)

// FuzzHidden checks that a secret is found in every form and pair of forms, at any position.
func FuzzHidden(f *testing.F) {
	f.Add("Bearer ", "!", byte(0))
	f.Add(`{"a":"`, `"}`, byte(9))
	f.Add("%", "%41&#", byte(18))
	f.Add("\\u00", "=\xff", byte(33))
	const secret = "s3cr3t/+Value=~42"
	every := func(format string) func(string) string {
		return func(s string) string {
			var b strings.Builder
			for i := range len(s) {
				fmt.Fprintf(&b, format, s[i])
			}
			return b.String()
		}
	}
	forms := []func(string) string{
		func(s string) string { return s },
		url.QueryEscape, every("%%%02x"), every("%%%02X"),
		func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
		func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte("x" + s)) },
		func(s string) string { return hex.EncodeToString([]byte(s)) },
		every(`\u%04x`), every(`&#%d;`), html.EscapeString,
	}
	f.Fuzz(func(t *testing.T, before, after string, form byte) {
		hidden := forms[int(form)%len(forms)](secret)
		r := redact.New(nil)
		r.Secret("s", secret)
		if out := r.Text(before + " " + hidden + " " + after); strings.Contains(out, hidden) {
			t.Fatalf("%q is still in %q", hidden, out)
		}
	})
}
