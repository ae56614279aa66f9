package probe

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/recorder"
)

// This file hides made-up credentials in evidence and reports. A reader cannot tell a made-up secret from a real one, and neither can a program that
// searches a report for secrets. Words shorter than [concealedLength] bytes stay readable.

// Names of made-up credentials in evidence, beside [UnknownSecret]. An answer may repeat such credentials, but never a client secret.
const (
	drawnKey       = "drawn_key"
	drawnAssertion = "drawn_assertion"
)

// concealDrawn registers the made-up credentials of a request with the redactor before the request is sent. A request with a Recipient contains only the
// credential that it names.
func (r *run) concealDrawn(q recorder.Request) {
	if q.Recipient != "" {
		return
	}
	for name, values := range drawnCredentials(q) {
		for _, value := range values {
			concealedByRecorder := value == q.Presents || slices.Contains(slices.Collect(maps.Values(q.Conceal)), value)
			known := r.Redactor.Text(value) != value // a real credential, or a copy of one
			if !concealedByRecorder && !known {
				r.Redactor.Secret(name, value)
			}
		}
	}
}

// drawnCredentials returns the words of a request that may be made-up credentials, by their name in evidence. The name depends on the place of the word.
func drawnCredentials(q recorder.Request) map[string][]string {
	out := map[string][]string{}
	add := func(name, text string) {
		for _, word := range concealedWords(text) {
			if redact.IsOpaque(word) && !slices.Contains(out[name], word) {
				out[name] = append(out[name], word)
			}
		}
	}
	for _, f := range q.Header {
		switch name := strings.ToLower(f.Name); {
		case name == "authorization":
			scheme, rest, _ := strings.Cut(f.Value, " ")
			if plain, err := base64.StdEncoding.DecodeString(rest); err == nil && strings.EqualFold(scheme, "Basic") {
				_, secret, _ := strings.Cut(string(plain), ":")
				add(UnknownSecret, secret)
			} else {
				add(drawnToken, rest)
			}
		case name == "cookie", strings.HasSuffix(name, "key"), strings.HasSuffix(name, "-token"):
			add(drawnKey, f.Value)
		}
	}
	if u, err := url.Parse(q.URL); err == nil {
		addParameters(u.Query(), add)
	}
	if slices.ContainsFunc(evidence.Values(q.Header, "Content-Type"), func(media string) bool { return strings.HasPrefix(media, formType) }) {
		if form, err := url.ParseQuery(string(q.Body)); err == nil {
			addParameters(form, add)
		}
	}
	return out
}

// concealedWords returns the words of a text that are as long as a credential, in the alphabet of tokens (RFC 6750 §2.1) with up to two "=" at the end.
func concealedWords(text string) (out []string) {
	for text != "" {
		n := strings.IndexFunc(text, func(r rune) bool { return !isTokenLetter(r) })
		if n < 0 {
			n = len(text)
		}
		end := n
		for end < len(text) && end < n+2 && text[end] == '=' {
			end++
		}
		if n >= concealedLength {
			out = append(out, text[:end])
		}
		text = text[min(max(end, 1), len(text)):]
	}
	return out
}

func isTokenLetter(r rune) bool {
	return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || strings.ContainsRune("._~+/-", r)
}

// addParameters adds the credentials of a query or a form. It ignores other names, which are parameters of the node's operations.
func addParameters(parameters url.Values, add func(name, text string)) {
	for parameter, values := range parameters {
		name := ""
		switch parameter {
		case "client_secret", "password":
			name = UnknownSecret
		case "access_token", "refresh_token", "subject_token", "token":
			name = drawnToken
		case "client_assertion", "assertion", "code", "device_code":
			name = drawnAssertion
		case "api_key", "apikey":
			name = drawnKey
		default:
			continue
		}
		add(name, strings.Join(values, " "))
	}
}
