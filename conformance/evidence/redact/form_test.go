package redact_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

const opaque = "q7Zk2LmP9xR4vT8wB1nC6dF3gH5jK0sA2eY7uXo"

// These tokens of 256 random bits look less random than most.
const (
	oneDigit     = "o-UUKlixuqVAZgADPWxuMwDWjRhdCIwGlfXFON4p_Fw"
	noDigit      = "FZwFUDXWaRy_mdhViTJrlliyDZHkTOstG-QPzvbkrhs"
	longRuns     = "IxXIDIYzeRN2ap0KBVeMEBYadbmIRaiyufcin12IHJk"
	manyCapitals = "CHHVCPWGYGMTS7KBMRSOcFwhCUgyXr4BdZucZJkndmY"
)

// answerTo returns the answer to a request, as it is recorded.
func answerTo(label evidence.Label, status int, body string, header ...evidence.Field) evidence.Exchange {
	return evidence.Exchange{Label: label, Request: evidence.Request{Method: "GET", URL: "https://node.example/x"},
		Response: &evidence.Response{Proto: "HTTP/1.1", Status: status, Header: header, Body: evidence.Body(body), Size: int64(len(body))}}
}

func written(x evidence.Exchange) string {
	text, err := json.Marshal(x.Redacted(redact.New([]byte("salt"))))
	ExpectWithOffset(1, err).NotTo(HaveOccurred())
	return string(text)
}

var _ = Describe("Secrets known by their form", func() {
	pemBlock := func() string {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		Expect(err).NotTo(HaveOccurred())
		der, err := x509.MarshalPKCS8PrivateKey(key)
		Expect(err).NotTo(HaveOccurred())
		return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
	}

	DescribeTable("are hidden",
		func(x evidence.Exchange, secrets ...string) {
			text := written(x)
			for _, s := range secrets {
				Expect(text).NotTo(ContainSubstring(s[:len(s)/2]))
				Expect(text).NotTo(ContainSubstring(s[len(s)/2:]))
			}
		},
		Entry("a signed token under any name", answerTo("token.ok", 200, `{"xyz":{"deep":["`+tokenValue+`"]}}`), tokenValue),
		Entry("an opaque token under a name of its own", answerTo("token.ok", 200, `{"token":"`+opaque+`"}`), opaque),
		Entry("a token like a UUID under a name of its own", answerTo("token.ok", 200, `{"token":"6f1c1c9e-8a51-4f6e-9d6b-0a3f4f1f2e11"}`), "6f1c1c9e-8a51-4f6e-9d6b-0a3f4f1f2e11"),
		Entry("a random value of a token answer", answerTo("token.ok", 200, `{"data":{"value":"`+opaque+`"}}`), opaque),
		Entry("a random value with one digit", answerTo("token.ok", 200, `{"data":{"session":[{"value":"`+oneDigit+`"}]}}`), oneDigit),
		Entry("a random value without a digit", answerTo("token.ok", 200, `{"value":"`+noDigit+`"}`), noDigit),
		Entry("a random value with longer runs", answerTo("token.ok", 200, `{"value":"`+longRuns+`"}`), longRuns),
		Entry("a random value with many capitals", answerTo("token.ok", 200, `{"data":{"session":[{"value":"`+manyCapitals+`"}]}}`), manyCapitals),
		Entry("a token as the whole answer", answerTo("token.ok", 200, opaque), opaque),
		Entry("a signed token in an error", answerTo("info.ok", 500, `{"trace":"at verify(`+tokenValue+`)"}`), tokenValue),
		Entry("an opaque token in an error", answerTo("info.ok", 401, `{"debug":{"bearerToken":"`+opaque+`"}}`), opaque),
		Entry("a signed token in a list item", answerTo("op/listFundings.ok", 200, `[{"id":"1","note":"`+tokenValue+`"}]`), tokenValue),
		Entry("a token in the document", answerTo("spec.ok", 200, `{"example":{"access_token":"`+opaque+`","x":"`+tokenValue+`"}}`), opaque, tokenValue),
		Entry("a token in a header of any name", answerTo("info.ok", 200, "", evidence.Field{Name: "X-Debug", Value: "user=a; t=" + opaque}, evidence.Field{Name: "ETag", Value: tokenValue}), opaque, tokenValue),
		Entry("a short key in a header with its name", answerTo("info.ok", 200, "", evidence.Field{Name: "X-Api-Key", Value: "0123456789abcdef"}), "0123456789abcdef"),
		Entry("a token in a link", answerTo("info.ok", 200, "", evidence.Field{Name: "Link", Value: `</a?jwt=` + opaque + `>; rel="next"`}), opaque),
		Entry("a token in the target of a redirect", answerTo("info.ok", 302, "", evidence.Field{Name: "Location", Value: "/login#id=" + tokenValue + "&access_token=" + opaque}), opaque, tokenValue),
		Entry("a session in the target of a redirect", answerTo("info.ok", 302, "", evidence.Field{Name: "Location", Value: "https://sso.example/cb?code=0123456789abcdef0123&state=x"}), "0123456789abcdef0123"),
		Entry("an elliptic private key in a key set", answerTo("jwks.published", 200, `{"keys":[{"d":"c2VjcmV0LXNjYWxhci1vZi10aGUta2V5","kty":"EC","x":"eA"}]}`), "c2VjcmV0LXNjYWxhci1vZi10aGUta2V5"),
		Entry("an RSA private key in a key set", answerTo("jwks.published", 200, `{"kty":"RSA","n":"bW9kdWx1cw","p":"cHJpbWUtb25lLW9uZQ","q":"cHJpbWUtdHdvLXR3bw","dp":"ZXhwb25lbnQtb25lZQ","dq":"ZXhwb25lbnQtdHdvbw","qi":"Y29lZmZpY2llbnQtMQ","d":"ZXhwb25lbnQtcHJpdg"}`),
			"cHJpbWUtb25lLW9uZQ", "cHJpbWUtdHdvLXR3bw", "ZXhwb25lbnQtb25lZQ", "ZXhwb25lbnQtdHdvbw", "Y29lZmZpY2llbnQtMQ", "ZXhwb25lbnQtcHJpdg"),
		Entry("a private key in a key set that does not name its type", answerTo("jwks.published", 200, `{"keys":[{"kid":"a","d":"c2VjcmV0LXNjYWxhci1vZi10aGUta2V5"}]}`), "c2VjcmV0LXNjYWxhci1vZi10aGUta2V5"),
		Entry("a symmetric key in a key set", answerTo("jwks.published", 200, `{"keys":[{"kty":"oct","k":"c3ltbWV0cmljLWtleS0x"}]}`), "c3ltbWV0cmljLWtleS0x"),
	)

	It("are hidden in the form of PEM, in JSON and outside", func() {
		block := pemBlock()
		quoted, err := json.Marshal(map[string]string{"key": block})
		Expect(err).NotTo(HaveOccurred())
		for _, body := range []string{string(quoted), block, "an error\n" + block[:150]} {
			text := written(answerTo("info.ok", 500, body))
			for _, line := range strings.Split(block, "\n")[1:3] {
				Expect(text).NotTo(ContainSubstring(line[10:40]))
			}
		}
	})

	It("are hidden wherever else they are", func() {
		r := redact.New([]byte("salt"))
		answerTo("token.ok", 200, `{"token":"`+opaque+`"}`).Redacted(r)
		Expect(r.Text("again: " + opaque)).To(MatchRegexp(`^again: \[\[token:[0-9a-f]{8}:plain\]\]$`))
	})

	It("are hidden when there are too many to remember", func() {
		var list []string
		for i := range 1000 {
			list = append(list, fmt.Sprintf(`{"t":"%s%04d"}`, tokenValue, i))
		}
		Expect(written(answerTo("op/listFundings.ok", 200, "["+strings.Join(list, ",")+"]"))).NotTo(ContainSubstring(tokenValue[:30]))
	})

	It("are hidden each time when a list with too many comes again", func() {
		var list []string
		for i := range 1000 {
			list = append(list, fmt.Sprintf(`{"t":"%s%04d"}`, tokenValue, i))
		}
		r, x := redact.New([]byte("salt")), answerTo("op/listFundings.ok", 200, "["+strings.Join(list, ",")+"]")
		for range 2 {
			Expect(string(x.Redacted(r).Response.Body)).NotTo(ContainSubstring(tokenValue[:30]))
		}
	})

	DescribeTable("do not include what only resembles them",
		func(x evidence.Exchange) { Expect(written(x)).NotTo(ContainSubstring("[[")) },
		Entry("a UUID, a hash and an id in a token answer", answerTo("token.ok", 200,
			`{"session_state":"6f1c1c9e-8a51-4f6e-9d6b-0a3f4f1f2e11","digest":"2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae","id":"XA-2026-000123","token_type":"Bearer","scope":"funding.read openid","expires_in":300}`)),
		Entry("long names in a token answer", answerTo("token.ok", 200,
			`{"scope":"ReadFundingsOfAnyOrgUnitByIdForAppUsers openid.ReadAPIForExternalAPIClientsOfRISNodes NSNonRetainedObjectMapValueCallBacks","line":"----------------------------------------"}`)),
		Entry("ids, links and words in a list", answerTo("op/listFundings.ok", 200,
			`[{"id":"Zk3qP9xR4vT8wB1nC6dF","url":"https://node.example/fundings/Zk3qP9xR4vT8wB1nC6dF?cursor=eyJpZCI6MTIzNDU2Nzg5MDEyMzQ1Njc4OTB9","k":"a value of no key at all","d":"2026-03-01"}]`)),
		Entry("metadata of an authorization server", answerTo("metadata/1.ok", 200,
			`{"token_endpoint":"https://sso.example/token","token_endpoint_auth_methods_supported":["client_secret_basic","private_key_jwt"],"jwks_uri":"https://sso.example/keys"}`)),
		Entry("a public key set", answerTo("jwks.published", 200,
			`{"keys":[{"kty":"RSA","kid":"Zk3qP9xR4vT8wB1nC6dFZk3qP9xR4vT8wB1nC6dF12345","n":"`+strings.Repeat("aB3dE5", 57)+`","e":"AQAB"}]}`)),
		Entry("a refusal", answerTo("token.wrong-secret", 401, `{"error":"invalid_client","error_description":"Client secret is wrong","errorCode":"INVALID_CLIENT_SECRET_12345","traceId":"0af7651916cd43dd8448eb211c80319c"}`,
			evidence.Field{Name: "WWW-Authenticate", Value: `Bearer realm="node", error="invalid_token"`})),
		Entry("headers", answerTo("info.ok", 200, "",
			evidence.Field{Name: "ETag", Value: `W/"q7Zk2LmP9xR4vT8wB1nC6dF3gH5jK0sA2eY7uXo"`}, evidence.Field{Name: "X-Request-Id", Value: "q7Zk2LmP9xR4vT8wB1nC6dF3gH5jK0sA2eY7uXo"},
			evidence.Field{Name: "Traceparent", Value: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}, evidence.Field{Name: "X-Correlation", Value: "6f1c1c9e-8a51-4f6e-9d6b-0a3f4f1f2e11"},
			evidence.Field{Name: "Content-Digest", Value: "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"}, evidence.Field{Name: "Server", Value: "Apache-Coyote/1.1-Funding-Call-2026-Digital-Humanities"},
			evidence.Field{Name: "Strict-Transport-Security", Value: "max-age=63072000; includeSubDomains"}, evidence.Field{Name: "X-RateLimit-Remaining", Value: "4999"},
			evidence.Field{Name: "Location", Value: "https://node.example/fundings/q7Zk2LmP9xR4vT8wB1nC6dF3gH5jK0sA2eY7uXo?page%5Bsize%5D=20&pageToken=0123456789abcdefXYZ&next=q7Zk2LmP9xR4vT8wB1nC6dF3gH5jK0sA2eY7uXo"})),
		Entry("a public certificate", answerTo("info.ok", 200, `{"pem":"-----BEGIN CERTIFICATE-----\nMIIBszCCAVmgAwIBAgIUc2VjcmV0LXNjYWxhci1vZi10aGUta2V5MAoGCCqGSM49\n-----END CERTIFICATE-----"}`)),
	)
})
