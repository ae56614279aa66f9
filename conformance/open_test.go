//go:build unix && !race

package conformance_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

// make race leaves these specs out. They take minutes there, and differ from guards_test.go only in what the node answers: the goroutines are the same.

var _ = Describe("A node with thirty operations, one of which is open", func() {
	const forgotten = "/api/v1/things11/"
	token := conformancetest.BearerToken
	DescribeTable("fails if it does not protect one detail operation",
		func(open func(r *http.Request, opened bool) bool) {
			found := judged(func(path string, r *http.Request, opened bool) bool {
				return strings.HasPrefix(path, forgotten) && open(r, opened)
			})
			Expect(found["API-08"].Outcome).To(Equal(requirement.Fail), found["API-08"].Reason)
			Expect(found["API-08"].Reason).To(ContainSubstring("GET /things11/{id}"))
			Expect(found["API-08"].Curl).To(ContainSubstring(forgotten))
			for _, id := range []requirement.ID{"BRR-01", "BRR-06", "BRR-15", "BRR-16", "BRR-17"} {
				Expect(found[id].Outcome).To(Equal(requirement.Pass), "%s is about the probe target: %s", id, found[id].Reason)
			}
		},
		Entry("open to all", func(*http.Request, bool) bool { return true }),
		Entry("any token is accepted", func(r *http.Request, _ bool) bool { return token(r) != "" }),
		Entry("open for HEAD", func(r *http.Request, _ bool) bool { return r.Method == http.MethodHead }),
		Entry("open with a slash at the end", func(r *http.Request, _ bool) bool { return strings.HasSuffix(r.URL.Path, "/") }),
		Entry("open with any query parameter", func(r *http.Request, _ bool) bool { return r.URL.RawQuery != "" }),
		Entry("open after a call with a good token", func(_ *http.Request, opened bool) bool { return opened }),
		Entry("tokens are compared by their beginning", func(r *http.Request, _ bool) bool { return strings.HasPrefix(token(r), accessToken[:12]) }),
		Entry("any token is accepted under another scheme", func(r *http.Request, _ bool) bool {
			return strings.HasPrefix(r.Header.Get("Authorization"), "Token ")
		}),
		Entry("the word Bearer is enough", func(r *http.Request, _ bool) bool { return r.Header.Get("Authorization") == "Bearer" }),
	)
})

// costs returns the requirements that keep a certificate back, with what was found.
func costs(r report.Report) map[requirement.ID]string {
	found := map[requirement.ID]string{}
	for _, row := range r.Requirements {
		if row.Costs {
			found[row.ID] = fmt.Sprint(row.Outcome, row.Reason, row.Subjects)
		}
	}
	return found
}

// Data of an operation or of info that comes without a good token costs the certificate, whatever the request was sent for. The test gives the data to one refused
// call after the other. Tokens of another audience are not tried: ISO-03 judges them in the profile full.
var _ = Describe("A call that an operation or info refused", func() {
	It("costs the certificate if it gets the data, whatever its credentials", func() {
		encode := base64.RawURLEncoding.EncodeToString
		jwt := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode([]byte(`{"iss":"https://as.example","sub":"client"}`)) + "." + encode(make([]byte, 32))
		run := certifiedRun(&broadNode{document: swaggerDocument(), access: jwt, opened: map[string]bool{}}, 4, func(t *target.Target) {
			t.ExpiredToken = target.NewSecret("an-expired-token-of-this-node-0192837465")
		})
		before := costs(run.Report)
		cases, infos := map[evidence.Case]bool{}, 0
		for i, x := range run.Log.Exchanges {
			at := x.Label.Resource()
			refused := x.Status() == http.StatusUnauthorized || x.Status() == http.StatusForbidden
			goodToken := []evidence.Case{"token-scheme", "lower-scheme", "upper-scheme", "two-blanks"} // written in another way; advice judges these
			if !refused || slices.Contains(goodToken, x.Label.Case()) || at != evidence.Info && !slices.Contains(run.Log.Roles.Operations, at) {
				continue
			}
			if at == evidence.Info && x.Label.Case() == "expired" {
				continue // BRR-10 judges two calls
			}
			good, ok := run.Log.Get(at.With(evidence.OK))
			Expect(ok).To(BeTrue(), "%s has no good call", at)
			answer := *good.Response
			if x.Request.Method == http.MethodHead {
				answer.Body, answer.Size = nil, 0
			}
			log := *run.Log
			log.Exchanges = slices.Clone(log.Exchanges)
			log.Exchanges[i].Response = &answer
			Expect(costs(conformance.Judge(&log, "test"))).NotTo(Equal(before), "no requirement judges %s", x.Label)
			cases[x.Label.Case()] = true
			if at == evidence.Info {
				infos++
			}
		}
		Expect(infos).To(BeNumerically(">", 20), "info refuses calls of many kinds")
		for _, c := range []evidence.Case{evidence.NoToken, "garbage-scheme", "path-slash", "page-no-token", "alg-none", "expired", "no-role"} {
			Expect(cases).To(HaveKey(c), "the node refuses a call of each kind")
		}
	})
})
