package probe_test

import (
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

var _ = Describe("A list that is described as CSV, too", func() {
	const list = evidence.Resource("op/listFundings")

	It("is requested as JSON and then as CSV, with one URL for many items and without content coding", func() {
		n := newNode(func(n *node) {
			n.document = strings.Replace((&node{}).spec(), `"application/json":`, `"Text/CSV; charset=utf-8":{"schema":{"type":"string"}},"application/json":`, 1)
			n.before = func(_ *node, w http.ResponseWriter, q *http.Request) bool {
				if q.Header.Get("Accept") != "text/csv" || q.Header.Get("Authorization") == "" {
					return false
				}
				w.Header().Set("Content-Type", "text/csv")
				_, _ = w.Write([]byte("id\r\nf-0\r\n"))
				return true
			}
		})
		log := certify(targetOf(n))
		asJSON, _ := log.Get(list.With("csv-json"))
		asCSV, sent := log.Get(list.With("csv"))
		Expect(sent).To(BeTrue())
		Expect(asCSV.Request.URL).To(And(Equal(asJSON.Request.URL), HaveSuffix("page%5Bsize%5D=100")))
		Expect(evidence.Values(asJSON.Request.Header, "Accept")).To(HaveExactElements("application/json"))
		Expect(evidence.Values(asCSV.Request.Header, "Accept")).To(HaveExactElements("text/csv"))
		Expect(evidence.Values(asCSV.Request.Header, "Accept-Encoding")).To(HaveExactElements("identity"))
		Expect(string(asCSV.Response.Body)).To(Equal("id\r\nf-0\r\n"))
		Expect(asCSV.Started).NotTo(BeTemporally("<", asJSON.Started))
	})

	It("is not requested as CSV if the document describes JSON alone", func() {
		log := certify(targetOf(newNode()))
		_, sent := log.Get(list.With("csv"))
		Expect(sent).To(BeFalse())
		_, skipped := log.Skipped(list.With("csv"))
		Expect(skipped).To(BeFalse(), "it is not planned")
	})
})
