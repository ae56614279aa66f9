package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/sandbox/journal"
)

// maxFormBytes limits the body of a token request.
const maxFormBytes = 32 << 10

const formType = "application/x-www-form-urlencoded"

// tokenRequest is the content of a well-formed token request.
type tokenRequest struct {
	clientID, secret string
	// basic reports that the client used HTTP Basic.
	basic bool
	scope string
}

// readTokenRequest reads a token request from its headers, the query of its URL and its body. It reports the first mistake in the
// order in which beginners make them.
func readTokenRequest(header http.Header, query string, body []byte, realm string) (tokenRequest, *refusal) {
	if refused := checkQuery(query); refused != nil {
		return tokenRequest{}, refused
	}
	form, refused := readForm(header, body)
	if refused != nil {
		return tokenRequest{}, refused
	}
	switch form["grant_type"] {
	case "client_credentials":
	case "":
		return tokenRequest{}, invalidRequest("grant_type is missing: the body must be the form " + exampleForm)
	default:
		return tokenRequest{}, unsupportedGrant()
	}
	request := tokenRequest{clientID: form["client_id"], secret: form["client_secret"], scope: form["scope"]}
	if !isValidScope(request.scope) {
		return tokenRequest{}, invalidScope("scope holds a character that a scope cannot have; leave the parameter out")
	}
	if fields := header.Values("Authorization"); len(fields) > 0 {
		return request.withBasic(fields, realm)
	}
	switch {
	case form["client_assertion"] != "":
		return tokenRequest{}, invalidClient("client_assertion is not supported; send client_id and client_secret", false, realm)
	case request.clientID == "" && request.secret == "":
		return tokenRequest{}, invalidClient("client authentication is missing: send client_id and client_secret in the form, or use HTTP Basic", false, realm)
	case request.clientID == "":
		return tokenRequest{}, invalidClient("client_id is missing beside client_secret", false, realm)
	case request.secret == "":
		return tokenRequest{}, invalidClient("client_secret is missing: a client id alone does not authenticate", false, realm)
	}
	return request, nil
}

// checkQuery refuses parameters of the token request in the URL, because URLs end up in logs (RFC 6749 §2.3.1).
func checkQuery(query string) *refusal {
	// ParseQuery also returns the parts that it could decode; those are searched even if it fails.
	values, _ := url.ParseQuery(query)
	for _, name := range []string{"client_secret", "client_id", "grant_type"} {
		if values.Has(name) {
			return invalidRequest(name + " is in the URL: URLs end up in logs; send it in the body as the form " + exampleForm)
		}
	}
	return nil
}

// readForm decodes the body. Parameters without a value count as omitted, repeated ones are an error (RFC 6749 §3.2); "resource" may be repeated
// (RFC 8707 §2). Unknown parameters are ignored, and so is "resource".
func readForm(header http.Header, body []byte) (map[string]string, *refusal) {
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil && header.Get("Content-Type") != "" || len(header.Values("Content-Type")) > 1 {
		return nil, invalidRequest("the Content-Type cannot be read: send " + formType)
	}
	if mediaType != formType {
		return nil, wrongMediaType(mediaType, len(body) == 0)
	}
	if coding := strings.Join(header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		refused := invalidRequest("the form has a content coding: send it as it is, without Content-Encoding")
		refused.status = http.StatusUnsupportedMediaType
		return nil, refused
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, invalidRequest("the form cannot be decoded: percent-encode each name and value (& as %26, % as %25, ; as %3B)")
	}
	form := make(map[string]string, len(values))
	for name, all := range values {
		given := 0
		for _, value := range all {
			if value == "" {
				continue
			}
			given++
			form[name] = value
			if !utf8.ValidString(value) {
				return nil, invalidRequest("a value in the form is not UTF-8")
			}
		}
		if given > 1 && name != "resource" {
			return nil, invalidRequest("a parameter is given more than once: send each parameter once")
		}
	}
	return form, nil
}

// wrongMediaType refuses a body that is not declared as a form.
func wrongMediaType(mediaType string, empty bool) *refusal {
	switch {
	case mediaType == "application/json" || strings.HasSuffix(mediaType, "+json"):
		return invalidRequest("the body is declared as JSON; the token endpoint takes a form: Content-Type " + formType + ", body " + exampleForm)
	case mediaType == "multipart/form-data":
		return invalidRequest("the body is multipart/form-data; the token endpoint takes the plain form: Content-Type " + formType + ", body " + exampleForm)
	case mediaType == "" && empty:
		return invalidRequest("the request has no body: send the form " + exampleForm + " with Content-Type " + formType)
	case mediaType == "":
		return invalidRequest("the Content-Type is missing: send " + formType)
	}
	return invalidRequest("the Content-Type is not that of a form: send " + formType)
}

// withBasic adds the client credentials of HTTP Basic to the request: id and secret are form-encoded before they are joined and put into base64
// (RFC 6749 §2.3.1). Each refusal of the credentials has a challenge, because the client used the header.
func (q tokenRequest) withBasic(fields []string, realm string) (tokenRequest, *refusal) {
	refuse := func(description string) (tokenRequest, *refusal) {
		return tokenRequest{}, invalidClient(description, true, realm)
	}
	if len(fields) > 1 {
		return refuse("the Authorization header is given more than once")
	}
	scheme, encoded, _ := strings.Cut(strings.TrimSpace(fields[0]), " ")
	if !strings.EqualFold(scheme, "Basic") {
		return refuse("the Authorization header at the token endpoint must be Basic: the access token is what you get here, it is sent to the API")
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded))
	if err != nil {
		return refuse("the Basic credentials are not base64 of client_id:client_secret")
	}
	id, secret, found := strings.Cut(string(raw), ":")
	if !found {
		return refuse("the Basic credentials have no colon between client_id and client_secret")
	}
	id, errID := url.QueryUnescape(id)
	secret, errSecret := url.QueryUnescape(secret)
	if errID != nil || errSecret != nil {
		return refuse("the Basic credentials are not form-encoded: percent-encode client_id and client_secret before joining them")
	}
	if id == "" || secret == "" {
		return refuse("the Basic credentials lack the client_id or the client_secret")
	}
	if q.secret != "" || q.clientID != "" && q.clientID != id {
		return tokenRequest{}, invalidRequest("two ways of client authentication in one request: use the form or HTTP Basic, not both")
	}
	q.clientID, q.secret, q.basic = id, secret, true
	return q, nil
}

// isValidScope reports whether scope is empty or a list of scope-tokens (RFC 6749 §3.3).
func isValidScope(scope string) bool {
	for _, c := range scope {
		if c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}

// ClaimedClient returns the client id that a token request names, by HTTP Basic or in its form, without authenticating the client. The
// returned request has the complete body.
func ClaimedClient(r *http.Request) (string, *http.Request) {
	if scheme, encoded, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " "); strings.EqualFold(scheme, "Basic") {
		pair, _ := base64.StdEncoding.DecodeString(strings.TrimSpace(encoded)) // a malformed value names no client
		id, _, _ := strings.Cut(string(pair), ":")
		id, _ = url.QueryUnescape(id)
		return id, r
	}
	if r.Body == nil {
		return "", r
	}
	beginning, _ := io.ReadAll(io.LimitReader(r.Body, maxFormBytes+1)) // an error is ignored: the token endpoint meets it again and reports it
	replayed := r.WithContext(r.Context())
	replayed.Body = replayedBody{io.MultiReader(bytes.NewReader(beginning), r.Body), r.Body}
	form, _ := url.ParseQuery(string(beginning)) // parts that cannot be decoded are ignored
	return form.Get("client_id"), replayed
}

// replayedBody returns the part of a body that was already read, and then the rest.
type replayedBody struct {
	io.Reader
	io.Closer
}

// refusal is an error answer of the token endpoint (RFC 6749 §5.2).
type refusal struct {
	status      int
	code        string
	description string
	// challenge is the value of WWW-Authenticate; empty for a refusal without a challenge.
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

// invalidClient refuses the authentication of a client. basic reports whether the client used the Authorization header; the answer then needs a
// matching challenge (RFC 6749 §5.2).
func invalidClient(description string, basic bool, realm string) *refusal {
	r := &refusal{status: http.StatusUnauthorized, code: "invalid_client", description: description}
	if basic {
		r.challenge = "Basic realm=" + quote(realm)
	}
	return r
}

// serverError refuses a request because the sandbox itself failed. It does not name the cause, which the caller of serverError must log.
func serverError() *refusal {
	return &refusal{status: http.StatusInternalServerError, code: "server_error",
		description: "the sandbox failed to answer; its log names the cause"}
}

// write sends the refusal as JSON, and notes it in the journal.
func (refused *refusal) write(w http.ResponseWriter, r *http.Request) {
	journal.FromContext(r.Context()).Refuse(journal.Refusal{Code: refused.code, Detail: refused.description})
	h := w.Header()
	if refused.challenge != "" {
		h.Set("WWW-Authenticate", refused.challenge)
	}
	if refused.status == http.StatusUnsupportedMediaType {
		h.Set("Accept-Encoding", "identity") // the only content coding that is accepted (RFC 9110 §12.5.3)
	}
	writeJSON(w, r, refused.status, struct {
		Error       string `json:"error"`
		Description string `json:"error_description,omitempty"`
	}{refused.code, printable(refused.description)})
}

// writeJSON sends an answer of the authorization server: caches do not store it, not even those of HTTP/1.0
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
		// A failed write means that the caller is gone.
		_, _ = w.Write(body)
	}
}

// printable replaces characters outside the alphabet of error_description, %x20-21 / %x23-5B / %x5D-7E (RFC 6749 §5.2, RFC 6750 §3).
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

// quote makes a quoted-string (RFC 9110 §5.6.4). It needs no escapes, because printable replaces quotes and backslashes.
func quote(text string) string { return `"` + printable(text) + `"` }
