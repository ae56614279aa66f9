package auth

import (
	"encoding/base64"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// maxFormBytes bounds the body of a token request.
const maxFormBytes = 32 << 10

const formType = "application/x-www-form-urlencoded"

// tokenRequest is what a well-formed token request says.
type tokenRequest struct {
	clientID, secret string
	// basic tells that the client used HTTP Basic.
	basic bool
	scope string
}

// readTokenRequest reads a token request from its header fields, the query of its URL and its body. It is pure:
// nothing is looked up. The order of the checks puts first what a beginner gets wrong first.
func readTokenRequest(header http.Header, query string, body []byte, realm string) (tokenRequest, *refusal) {
	if f := checkQuery(query); f != nil {
		return tokenRequest{}, f
	}
	form, f := readForm(header, body)
	if f != nil {
		return tokenRequest{}, f
	}
	switch form["grant_type"] {
	case "client_credentials":
	case "":
		return tokenRequest{}, invalidRequest("grant_type is missing: the body must be the form " + exampleForm)
	default:
		return tokenRequest{}, unsupportedGrant()
	}
	request := tokenRequest{clientID: form["client_id"], secret: form["client_secret"], scope: form["scope"]}
	if !validScope(request.scope) {
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
		return tokenRequest{}, invalidClient("client_secret is missing: a client id alone authenticates nobody", false, realm)
	}
	return request, nil
}

// checkQuery refuses parameters of the request in its URL, where they end up in logs (RFC 6749 §2.3.1).
func checkQuery(query string) *refusal {
	// A query that cannot be decoded in part is still searched in the part that can.
	values, _ := url.ParseQuery(query)
	for _, name := range []string{"client_secret", "client_id", "grant_type"} {
		if values.Has(name) {
			return invalidRequest(name + " is in the URL: URLs end up in logs; send it in the body as the form " + exampleForm)
		}
	}
	return nil
}

// readForm decodes the body. Parameters without a value count as omitted, repeated ones are an error
// (RFC 6749 §3.2); RFC 8707 §2 makes "resource" an exception, which is ignored here with all unknown parameters.
func readForm(header http.Header, body []byte) (map[string]string, *refusal) {
	mediaType, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil && header.Get("Content-Type") != "" || len(header.Values("Content-Type")) > 1 {
		return nil, invalidRequest("the Content-Type cannot be read: send " + formType)
	}
	if mediaType != formType {
		return nil, wrongMediaType(mediaType, len(body) == 0)
	}
	if coding := strings.Join(header.Values("Content-Encoding"), ", "); coding != "" && !strings.EqualFold(coding, "identity") {
		f := invalidRequest("the form has a content coding: send it as it is, without Content-Encoding")
		f.status = http.StatusUnsupportedMediaType
		return nil, f
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

// withBasic authenticates by HTTP Basic: id and secret are form-encoded before they are joined and put into base64
// (RFC 6749 §2.3.1). Each failure owes a challenge, because the header was used.
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
		return refuse("the Basic credentials are no base64 of client_id:client_secret")
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

// validScope tells whether scope is empty or a list of scope-tokens (RFC 6749 §3.3).
func validScope(scope string) bool {
	for _, c := range scope {
		if c < 0x20 || c > 0x7e || c == '"' || c == '\\' {
			return false
		}
	}
	return true
}
