package sandbox_test

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	. "github.com/onsi/gomega/gstruct"

	"github.com/rin-network/rin/sandbox"
)

const (
	stagingToken = "/oauth/token"
	realmToken   = "/realms/ris/protocol/openid-connect/token"
)

type oauthError struct {
	Error       string `json:"error"`
	Description string `json:"error_description"`
}

func basic(id, secret string) http.Header {
	pair := url.QueryEscape(id) + ":" + url.QueryEscape(secret)
	return http.Header{"Authorization": {"Basic " + base64.StdEncoding.EncodeToString([]byte(pair))}}
}

var _ = Describe("the token endpoint", func() {
	var (
		node   runningNode
		client sandbox.Credential
		form   string
	)

	BeforeEach(func() {
		node = newNode(sandbox.Config{})
		client = node.Credentials()[0]
		form = "grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret=" + client.Secret
	})

	DescribeTable("issues a token", func(path string, change func() (string, http.Header)) {
		sent, header := change()
		got := postForm(node, path, sent, header)
		Expect(got.status).To(Equal(200), got.body)
		Expect(got.header.Get("Content-Type")).To(Equal("application/json"))
		Expect(got.header.Get("Cache-Control")).To(Equal("no-store"))
		Expect(got.header.Get("Pragma")).To(Equal("no-cache"))
		var granted map[string]any
		decode(got, &granted)
		Expect(granted).To(MatchAllKeys(Keys{
			"access_token": MatchRegexp(`^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$`),
			"token_type":   Equal("Bearer"),
			"expires_in":   BeEquivalentTo(300),
		}))
	},
		Entry("for the form (TOK-01)", stagingToken, func() (string, http.Header) { return form, nil }),
		Entry("at the realm's path", realmToken, func() (string, http.Header) { return form, nil }),
		Entry("at a path with a slash", stagingToken+"/", func() (string, http.Header) { return form, nil }),
		Entry("for HTTP Basic (TOK-13)", stagingToken, func() (string, http.Header) {
			return "grant_type=client_credentials", basic(client.ClientID, client.Secret)
		}),
		Entry("with an unknown parameter (TOK-14)", stagingToken, func() (string, http.Header) { return form + "&x_probe=1", nil }),
		Entry("with an empty scope (TOK-15)", stagingToken, func() (string, http.Header) { return form + "&scope=", nil }),
		Entry("with an empty parameter beside one of the same name with a value", stagingToken, func() (string, http.Header) {
			return "grant_type=&client_secret=&" + form, nil
		}),
		Entry("with a form that is encoded more than necessary (TOK-16)", stagingToken, func() (string, http.Header) {
			return strings.Replace(form, "client_credentials", "%63lient_credentials", 1), http.Header{"Content-Type": {"application/x-www-form-urlencoded; charset=UTF-8"}}
		}),
	)

	It("names the granted scope if the client requested another (TER-09)", func() {
		got := postForm(node, stagingToken, form+"&scope=conformance.unknown", nil)
		Expect(got.status).To(Equal(200))
		var granted struct{ Scope string }
		decode(got, &granted)
		Expect(granted.Scope).To(Equal("api"))
	})

	It("keeps earlier tokens valid when it issues new ones (TOK-18)", func() {
		first := fetchToken(node, stagingToken, client)
		fetchToken(node, stagingToken, client)
		Expect(fetchToken(node, stagingToken, client)).NotTo(Equal(first))
		Expect(get(node, infoPath, bearer(first)).status).To(Equal(200))
	})

	DescribeTable("refuses", func(status int, code, hint string, change func() (string, http.Header)) {
		sent, header := change()
		got := postForm(node, stagingToken, sent, header)
		Expect(got.status).To(Equal(status), got.body)
		Expect(got.header.Get("Content-Type")).To(Equal("application/json"))
		Expect(got.header.Get("Cache-Control")).To(Equal("no-store"))
		var refusal oauthError
		decode(got, &refusal)
		Expect(refusal.Error).To(Equal(code))
		Expect(refusal.Description).To(ContainSubstring(hint))
		Expect(refusal.Description).To(MatchRegexp(`^[\x20-\x21\x23-\x5b\x5d-\x7e]+$`))
		Expect(got.body).NotTo(ContainSubstring(client.Secret))
		Expect(got.header.Get("WWW-Authenticate") != "").To(Equal(header.Get("Authorization") != "" && status == 401))
	},
		Entry("a wrong secret (TER-01, TER-02)", 401, "invalid_client", "do not belong together", func() (string, http.Header) {
			half := len(client.Secret) / 2
			swapped := strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' {
					return r - 32
				}
				if r >= 'A' && r <= 'Z' {
					return r + 32
				}
				return r
			}, client.Secret[half:])
			return "grant_type=client_credentials&client_id=" + client.ClientID + "&client_secret=" + client.Secret[:half] + swapped, nil
		}),
		Entry("no client authentication (TER-05)", 401, "invalid_client", "client authentication is missing", func() (string, http.Header) {
			return "grant_type=client_credentials", nil
		}),
		Entry("an id without a secret (TER-06)", 401, "invalid_client", "client_secret is missing", func() (string, http.Header) {
			return "grant_type=client_credentials&client_id=" + client.ClientID, nil
		}),
		Entry("a missing grant type (TER-07)", 400, "invalid_request", "grant_type is missing", func() (string, http.Header) {
			return "client_id=" + client.ClientID + "&client_secret=" + client.Secret, nil
		}),
		Entry("an unknown grant type (TER-08)", 400, "unsupported_grant_type", "client_credentials", func() (string, http.Header) {
			return strings.Replace(form, "client_credentials", "urn:example:none", 1), nil
		}),
		Entry("a failed HTTP Basic (TER-10)", 401, "invalid_client", "do not belong together", func() (string, http.Header) {
			return "grant_type=client_credentials", basic("unknown", "unknown")
		}),
		Entry("HTTP Basic that is not base64", 401, "invalid_client", "base64", func() (string, http.Header) {
			return "grant_type=client_credentials", http.Header{"Authorization": {"Basic %%%"}}
		}),
		Entry("an access token in place of client credentials", 401, "invalid_client", "must be Basic", func() (string, http.Header) {
			return form, http.Header{"Authorization": {"Bearer abc"}}
		}),
		Entry("two ways of authentication at once", 400, "invalid_request", "not both", func() (string, http.Header) {
			return form, basic(client.ClientID, client.Secret)
		}),
		Entry("a repeated parameter (TER-12)", 400, "invalid_request", "more than once", func() (string, http.Header) {
			return form + "&grant_type=client_credentials", nil
		}),
		Entry("a scope with an invalid character", 400, "invalid_scope", "scope", func() (string, http.Header) {
			return form + "&scope=%22", nil
		}),
		Entry("JSON in place of the form", 400, "invalid_request", "takes a form", func() (string, http.Header) {
			return `{"grant_type":"client_credentials"}`, http.Header{"Content-Type": {"application/json"}}
		}),
		Entry("multipart", 400, "invalid_request", "multipart", func() (string, http.Header) {
			return form, http.Header{"Content-Type": {"multipart/form-data; boundary=x"}}
		}),
		Entry("an empty body", 400, "invalid_request", "grant_type is missing", func() (string, http.Header) { return "", nil }),
		Entry("a broken percent escape", 400, "invalid_request", "percent-encode", func() (string, http.Header) { return form + "&a=%zz", nil }),
		Entry("a value that is not UTF-8", 400, "invalid_request", "UTF-8", func() (string, http.Header) { return form + "&a=%FF", nil }),
		Entry("a body beyond the limit", 413, "invalid_request", "32 KiB", func() (string, http.Header) {
			// Only one byte beyond: if the server left more unread, it might reset the connection before a slow client has read the answer.
			padded := form + "&a="
			return padded + strings.Repeat("a", 32<<10+1-len(padded)), nil
		}),
	)

	It("refuses credentials in the URL, and says where they belong (SEC-05)", func() {
		got := postForm(node, stagingToken+"?client_id="+client.ClientID+"&client_secret="+client.Secret, "grant_type=client_credentials", nil)
		Expect(got.status).To(Equal(400))
		Expect(got.body).To(And(ContainSubstring("in the URL"), Not(ContainSubstring(client.Secret))))
	})

	It("takes POST only (TER-11)", func() {
		for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodDelete} {
			got := send(node, method, stagingToken, "", nil)
			Expect(got.status).To(Equal(405))
			Expect(got.header.Get("Allow")).To(Equal("POST, OPTIONS"))
			Expect(got.body).To(ContainSubstring(`"error":"invalid_request"`))
		}
	})

	It("names the known realm when a client uses another", func() {
		got := postForm(node, "/realms/master/protocol/openid-connect/token", form, nil)
		Expect(got.status).To(Equal(404))
		Expect(got.body).To(ContainSubstring("the realm here is ris"))
	})
})
