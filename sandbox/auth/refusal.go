package auth

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/journal"
)

// refusal is an error answer of the token endpoint (RFC 6749 §5.2).
type refusal struct {
	status      int
	code        string
	description string
	// challenge is the WWW-Authenticate value, empty for none.
	challenge string
}

const exampleForm = "grant_type=client_credentials&client_id=...&client_secret=..."

func invalidRequest(description string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "invalid_request", description: description}
}

func unsupportedGrant() *refusal {
	return &refusal{status: http.StatusBadRequest, code: "unsupported_grant_type",
		description: "the only grant_type here is client_credentials"}
}

func invalidScope(description string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "invalid_scope", description: description}
}

// invalidClient is a failed client authentication; basic tells whether the Authorization header was used, which is
// when the answer owes a matching challenge (RFC 6749 §5.2).
func invalidClient(description string, basic bool, realm string) *refusal {
	r := &refusal{status: http.StatusUnauthorized, code: "invalid_client", description: description}
	if basic {
		r.challenge = "Basic realm=" + quote(realm)
	}
	return r
}

func serverError() *refusal {
	return &refusal{status: http.StatusInternalServerError, code: "server_error",
		description: "the sandbox failed to make a token; its log names the cause"}
}

// write sends the refusal as JSON that nobody stores.
func (f *refusal) write(w http.ResponseWriter, r *http.Request) {
	journal.Of(r.Context()).Refuse(journal.Refusal{Code: f.code, Detail: f.description})
	h := w.Header()
	if f.challenge != "" {
		h.Set("WWW-Authenticate", f.challenge)
	}
	if f.status == http.StatusUnsupportedMediaType {
		h.Set("Accept-Encoding", "identity") // what would have been read (RFC 9110 §12.5.3)
	}
	writeJSON(w, r, f.status, struct {
		Error       string `json:"error"`
		Description string `json:"error_description,omitempty"`
	}{f.code, printable(f.description)})
}

// writeJSON sends an answer of the authorization server: never stored, and no-cache for caches of HTTP/1.0
// (RFC 6749 §5.1).
func writeJSON(w http.ResponseWriter, r *http.Request, status int, value any) {
	body, err := json.Marshal(value)
	if err != nil {
		status, body = http.StatusInternalServerError, []byte(`{"error":"server_error"}`)
	}
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		// A failed write means that the caller is gone; nobody is left to tell.
		_, _ = w.Write(body)
	}
}

// printable keeps the alphabet of error_description, %x20-21 / %x23-5B / %x5D-7E (RFC 6749 §5.2, RFC 6750 §3).
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		switch {
		case c == '"':
			return '\''
		case c == '\\':
			return '/'
		case c < 0x20 || c > 0x7e:
			return '?'
		}
		return c
	}, text)
}

// quote makes a quoted-string that needs no escapes (RFC 9110 §5.6.4).
func quote(text string) string { return `"` + printable(text) + `"` }
