//go:build unix

package conformance_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
)

// archiveDocument describes, beside two lists and their details, an operation whose id no list names.
func archiveDocument() string {
	const archive = `"/archive/{type}/{name}":{"get":{"operationId":"archive","parameters":[` +
		`{"name":"type","in":"path","required":true,"type":"string","enum":["archive"]},{"name":"name","in":"path","required":true,"type":"string"},` +
		`{"name":"reason","in":"query","required":true,"type":"string"}],` +
		`"responses":{"200":{"description":"ok","schema":{"$ref":"#/definitions/Item"}},"401":{"description":"no"},"403":{"description":"no"},"404":{"description":"none"}}}},`
	return strings.Replace(swaggerDocument(), `"paths":{`, `"paths":{`+archive, 1)
}

var _ = Describe("A described operation whose values nobody knows", func() {
	// The archive is open to everybody.
	run := func(operations int, change func(*target.Target)) conformance.Result {
		GinkgoHelper()
		open := func(path string, _ *http.Request, _ bool) bool { return strings.HasPrefix(path, "/api/v1/archive/") }
		return certifiedRun(&broadNode{document: archiveDocument(), hole: open, opened: map[string]bool{}}, operations, change)
	}
	about := []requirement.ID{"API-01", "API-02", "API-03", "API-04", "API-05", "API-08"}

	It("leaves open whether it is protected and what it returns, and the report says which input to give", func() {
		r := run(4, func(*target.Target) {}).Report
		for _, id := range about {
			found := byID(r)[id]
			Expect(found.Outcome).To(Equal(requirement.Inconclusive), "%s: %s", id, found.Reason)
			Expect(found.Reason).To(HavePrefix("GET /archive/{type}/{name} was not called"))
			Expect(found.Fix).To(ContainSubstring("--value name=VALUE"))
		}
		Expect(r.Verdict.Decision).NotTo(Equal(verdict.Certified))
		Expect(byID(r)["PAG-01"].Outcome).NotTo(Equal(requirement.Blocked), "the pages are judged all the same")
	})

	It("is called with the operator's value, and found open", func() {
		found := byID(run(5, func(t *target.Target) { t.Values = map[string]string{"name": "closed-1"} }).Report)
		Expect(found["API-08"].Outcome).To(Equal(requirement.Fail), found["API-08"].Reason)
		Expect(found["API-08"].Reason).To(ContainSubstring("GET /archive/{type}/{name}"))
		Expect(found["API-01"].Outcome).NotTo(Equal(requirement.Inconclusive), found["API-01"].Reason)
	})

	It("may be a gap that the operator accepts, which the report prints", func() {
		r := run(4, func(t *target.Target) {
			t.Gaps = []evidence.Gap{{Operation: "/archive/{type}/{name}", Reason: "it opens next year"}}
		}).Report
		for _, id := range about {
			Expect(byID(r)[id].Outcome).To(Equal(requirement.Pass), "%s: %s", id, byID(r)[id].Reason)
		}
		Expect(r.Notes).To(ContainElement(ContainSubstring("The operator accepts that /archive/{type}/{name} was not called: it opens next year.")))
	})
})
