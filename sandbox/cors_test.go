package sandbox_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("CORS", func() {
	const page = "http://localhost:5173"
	asPage := func(more http.Header) http.Header {
		all := http.Header{"Origin": {page}}
		for name, values := range more {
			all[name] = values
		}
		return all
	}

	It("lets a page read every answer, errors included", func() {
		node := newNode(sandbox.Config{CORS: []string{page}})
		token := fetchToken(node, stagingToken, node.Credentials()[0])
		other := fetchToken(node, stagingToken, node.Credentials()[1])
		for want, got := range map[int]answer{
			200: get(node, infoPath, asPage(bearer(token))),
			304: get(node, fundingsPath, asPage(http.Header{"Authorization": {"Bearer " + token}, "If-None-Match": {"*"}})),
			400: postForm(node, stagingToken, "grant_type=password", asPage(nil)),
			401: get(node, infoPath, asPage(nil)),
			403: get(node, fundingsPath, asPage(bearer(other))),
			404: get(node, "/nowhere", asPage(nil)),
			405: send(node, http.MethodDelete, fundingsPath, "", asPage(nil)),
		} {
			Expect(got.status).To(Equal(want))
			Expect(got.header).To(HaveKeyWithValue("Access-Control-Allow-Origin", []string{page}), "%d", want)
			Expect(got.header.Values("Vary")).To(ContainElement(ContainSubstring("Origin")), "%d", want)
		}
		Expect(get(node, fundingsPath, asPage(bearer(token))).header["Vary"]).To(Equal([]string{"Accept-Encoding, Authorization, Origin"}))
	})

	It("lets a page read redirects, and answers preflights before the guard", func() {
		node := newNode(sandbox.Config{CORS: []string{"*"}, Deviations: []string{"other-slash-redirected"}})
		redirected := get(node, infoPath[:len(infoPath)-1], asPage(nil))
		Expect(redirected.status).To(BeNumerically("~", 300, 99))
		Expect(redirected.header).To(HaveKeyWithValue("Access-Control-Allow-Origin", []string{"*"}))
		preflight := asPage(http.Header{"Access-Control-Request-Method": {"GET"}, "Access-Control-Request-Headers": {"authorization"}})
		allowed := send(node, http.MethodOptions, fundingsPath, "", preflight)
		Expect(allowed.status).To(Equal(204))
		Expect(allowed.header.Get("Access-Control-Allow-Headers")).To(ContainSubstring("Authorization"))
	})

	It("is off by default", func() {
		node := newNode(sandbox.Config{})
		preflight := asPage(http.Header{"Access-Control-Request-Method": {"GET"}})
		for _, got := range []answer{get(node, infoPath, asPage(nil)), send(node, http.MethodOptions, infoPath, "", preflight)} {
			Expect(got.header).NotTo(Or(HaveKey("Access-Control-Allow-Origin"), HaveKey("Access-Control-Expose-Headers")))
		}
		_, err := sandbox.New(sandbox.Config{CORS: []string{"localhost"}})
		Expect(err).To(MatchError(ContainSubstring("CORS")))
	})
})
