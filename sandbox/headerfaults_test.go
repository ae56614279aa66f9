package sandbox_test

import (
	"net/http"
	"net/url"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/fault"
)

// withFault returns a copy of a header in which the field names deviations or scenarios.
func withFault(header http.Header, field, names string) http.Header {
	named := header.Clone()
	named.Set(field, names)
	return named
}

var _ = Describe("A request", func() {
	It("cannot name faults unless the node allows it", func() {
		p := play(sandbox.Config{})
		header := withFault(withFault(bearer(p.tokens[0]), fault.DeviateHeader, "list-id-missing"), fault.ScenarioHeader, "html-error")
		got := get(p, fundingsPath, header)
		Expect(got.status).To(Equal(http.StatusOK))
		Expect(got.header).NotTo(HaveKey(fault.ScenarioHeader))
		for _, item := range items(got) {
			Expect(item).To(HaveKey("id"))
		}
	})

	It("can name deviations for itself only, in front of those in force", func() {
		p := play(sandbox.Config{FaultHeaders: true, Deviations: []string{"list-id-missing"}})
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"one"}, "client_secret": {p.clients[0].Secret}}.Encode()
		both := postForm(p, stagingToken, form, http.Header{fault.DeviateHeader: {"token-status-201,token-text-plain"}})
		Expect(both.status).To(Equal(http.StatusCreated))
		Expect(both.header.Get("Content-Type")).To(HavePrefix("text/plain"))
		plain := postForm(p, stagingToken, form, nil)
		Expect(plain.status).To(Equal(http.StatusOK))
		Expect(plain.header.Get("Content-Type")).To(Equal("application/json"))
		Expect(items(get(p, fundingsPath, withFault(bearer(p.tokens[0]), fault.DeviateHeader, "token-status-201")))[2]).NotTo(HaveKey("id"))
	})

	It("meets the state that a named deviation kept from an earlier request, until the node is reset", func() {
		p := play(sandbox.Config{FaultHeaders: true})
		form := url.Values{"grant_type": {"client_credentials"}, "client_id": {"one"}, "client_secret": {p.clients[0].Secret}}.Encode()
		named := http.Header{fault.DeviateHeader: {"iss-missing"}}
		var granted struct {
			AccessToken string `json:"access_token"`
		}
		decode(postForm(p, stagingToken, form, named), &granted)
		_, claims := decodeJWT(granted.AccessToken)
		Expect(claims).NotTo(HaveKey("iss"))
		with := withFault(bearer(granted.AccessToken), fault.DeviateHeader, "iss-missing")
		Expect(get(p, infoPath, bearer(granted.AccessToken)).status).To(Equal(http.StatusUnauthorized))
		Expect(get(p, infoPath, with).status).To(Equal(http.StatusOK))
		p.Reset()
		Expect(get(p, infoPath, with).status).To(Equal(http.StatusUnauthorized))
	})

	It("can name scenarios, which apply to it each time", func() {
		p := play(sandbox.Config{FaultHeaders: true})
		for range 4 {
			got := get(p, fundingsPath, withFault(bearer(p.tokens[0]), fault.ScenarioHeader, "503-twice"))
			Expect(got.status).To(Equal(http.StatusServiceUnavailable))
			Expect(got.header.Get(fault.ScenarioHeader)).To(Equal("503-twice"))
		}
		both := get(p, fundingsPath+"?page[size]=2", withFault(bearer(p.tokens[0]), fault.ScenarioHeader, "duplicate-items, extra-fields"))
		Expect(both.header.Values(fault.ScenarioHeader)).To(Equal([]string{"extra-fields, duplicate-items"}))
		Expect(items(both)).To(SatisfyAll(HaveLen(3), HaveEach(HaveKey("addedInALaterVersion"))))
		Expect(p.list(0).status).To(Equal(http.StatusOK))

		early := withFault(bearer(p.tokens[0]), fault.ScenarioHeader, "token-expires-early")
		Expect(get(p, infoPath, early).status).To(Equal(http.StatusOK))
		Expect(get(p, infoPath, early).status).To(Equal(http.StatusUnauthorized))
		p.Reset()
		Expect(get(p, infoPath, early).status).To(Equal(http.StatusOK))
	})

	DescribeTable("is refused when it names an unknown or unsuitable fault", func(field, names, want string) {
		p := play(sandbox.Config{FaultHeaders: true})
		got := get(p, fundingsPath, withFault(bearer(p.tokens[0]), field, names))
		Expect(got.status).To(Equal(http.StatusBadRequest))
		Expect(got.header.Get("Content-Type")).To(Equal("application/problem+json"))
		Expect(got.body).To(ContainSubstring(want))
	},
		Entry(nil, fault.DeviateHeader, "list-id-missing, lst-id-missing", "did you mean list-id-missing"),
		Entry(nil, fault.DeviateHeader, "certificate-expired", "at the start"),
		Entry(nil, fault.DeviateHeader, "a b c d e f g h i", "8 at most"),
		Entry(nil, fault.ScenarioHeader, "503-twise", "did you mean 503-twice"),
		Entry(nil, fault.ScenarioHeader, "wrong-aud", "expected one of token"),
		Entry(nil, fault.ScenarioHeader, "a,b,c,d,e,f,g,h,i", "8 at most"),
	)
})
