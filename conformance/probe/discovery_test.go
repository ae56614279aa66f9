package probe_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/target"
)

const specURL = `{"openapi":"3.0.1","info":{"title":"t","version":"1"},"servers":[{"url":"https://x.example/ris"}],"paths":{
"/v1/health":{"get":{"operationId":"health","security":[],"responses":{"200":{"description":"ok"}}}},
"/v1/fundings":{"get":{"operationId":"findAll","responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","items":{"type":"object"}}}}}}},
  "post":{"operationId":"create","responses":{"201":{"description":"ok"}}}},
"/v1/fundings/{id}":{"get":{"operationId":"findByKey","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}},
"/v1/orgUnits":{"get":{"operationId":"orgUnits","responses":{"200":{"description":"ok"}}}},
"/v1/orgUnits/{id}":{"get":{"operationId":"orgUnit","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}},
"/v1/fundings/{id}/documents":{"get":{"operationId":"documents","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}},
"/v1/fundings/{id}/documents/{number}":{"get":{"operationId":"numbered","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}},{"name":"number","in":"path","required":true,"schema":{"type":"integer"}}],"responses":{"200":{"description":"ok"}}}},
"/v1/fundings/{id}.pdf":{"get":{"operationId":"printed","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}},
"/v1/search":{"get":{"operationId":"search","parameters":[{"name":"q","in":"query","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`

var _ = Describe("A node", func() {
	node := func(change ...func(*target.Target)) probe.Node {
		doc, err := openapi.Parse([]byte(specURL))
		Expect(err).NotTo(HaveOccurred())
		t := target.Target{}
		for _, c := range change {
			c(&t)
		}
		return probe.NewNode(t, doc)
	}
	keys := func(list []openapi.Operation) []string {
		var out []string
		for _, o := range list {
			out = append(out, o.Key)
		}
		return out
	}

	It("has the GET operations of its document, and the funding operations among them", func() {
		n := node()
		Expect(keys(n.Executable)).To(Equal([]string{"health", "findAll", "findByKey", "orgUnits", "orgUnit", "documents", "numbered", "printed", "search"}))
		Expect(n.List).To(Equal("findAll"))
		Expect(n.Detail).To(Equal("findByKey"))
	})

	DescribeTable("has the funding operations that the operator names",
		func(list, detail, wantList, wantDetail string) {
			n := node(func(t *target.Target) { t.ListOperation, t.DetailOperation = list, detail })
			Expect(n.List).To(Equal(wantList))
			Expect(n.Detail).To(Equal(wantDetail))
		},
		Entry("by operationId", "orgUnits", "", "orgUnits", "orgUnit"),
		Entry("by path", "/v1/orgUnits", "/v1/fundings/{id}", "orgUnits", "findByKey"),
		Entry("by method and path", "get /v1/orgUnits", "", "orgUnits", "orgUnit"),
		Entry("none if the name is unknown", "nothing", "", "", ""),
	)

	It("has none without a document", func() {
		n := probe.NewNode(target.Target{}, nil)
		Expect(n.Executable).To(BeEmpty())
		Expect(n.Bases(openapi.Operation{})).To(BeEmpty())
		_, ok := n.Scout()
		Expect(ok).To(BeFalse())
	})

	It("takes ids for a detail operation from its collection", func() {
		n := node()
		for detail, want := range map[string]string{"findByKey": "findAll", "orgUnit": "orgUnits", "documents": "findAll", "numbered": "documents"} {
			o, _ := n.Operation(detail)
			c, ok := n.Collection(o)
			Expect(ok).To(BeTrue())
			Expect(c.Key).To(Equal(want))
		}
		for _, none := range []string{"search", "printed", "findAll"} {
			o, _ := n.Operation(none)
			_, ok := n.Collection(o)
			Expect(ok).To(BeFalse(), none)
		}
	})

	It("finds its base URL with the list, or with the first operation that needs no parameter and is not about the service", func() {
		o, ok := node().Scout()
		Expect(ok).To(BeTrue())
		Expect(o.Key).To(Equal("findAll"))
		o, ok = node(func(t *target.Target) { t.ListOperation = "search" }).Scout()
		Expect(ok).To(BeTrue())
		Expect(o.Key).To(Equal("findAll"))
	})

	DescribeTable("chooses the probe target",
		func(want string, statuses map[evidence.Label]int) {
			got, ok := node().ProbeTarget(func(l evidence.Label) int { return statuses[l] })
			Expect(got).To(Equal(evidence.Resource(want)))
			Expect(ok).To(Equal(want != ""))
		},
		Entry("info", "info", map[evidence.Label]int{"info.no-token": 401, "info.ok": 200, "op/findAll.no-token": 401, "op/findAll.ok": 200}),
		Entry("info that refuses in another way", "info", map[evidence.Label]int{"info.no-token": 404, "info.ok": 200}),
		Entry("an operation when info is open, but none that is declared public or has parameters", "op/orgUnits", map[evidence.Label]int{
			"info.no-token": 200, "info.ok": 200, "op/health.no-token": 401, "op/health.ok": 200, "op/findAll.no-token": 200, "op/findAll.ok": 200,
			"op/findByKey.no-token": 401, "op/findByKey.ok": 200, "op/orgUnits.no-token": 403, "op/orgUnits.ok": 200}),
		Entry("an operation that works, when info refuses the good token, too", "op/orgUnits", map[evidence.Label]int{
			"info.no-token": 401, "info.ok": 401, "op/findAll.no-token": 401, "op/findAll.ok": 500, "op/orgUnits.no-token": 401, "op/orgUnits.ok": 200}),
		Entry("info when every call is refused", "info", map[evidence.Label]int{"info.no-token": 403, "info.ok": 500, "op/findAll.no-token": 401, "op/findAll.ok": 401}),
		Entry("an operation that refuses calls without a token, when no good call works", "op/findAll", map[evidence.Label]int{"info.no-token": 404, "info.ok": 404, "op/findAll.no-token": 401}),
		Entry("nothing when info and an operation refuse every call and the others refuse none", "", map[evidence.Label]int{
			"info.no-token": 401, "info.ok": 401, "op/findAll.no-token": 200, "op/findAll.ok": 200, "op/orgUnits.no-token": 404, "op/orgUnits.ok": 404}),
		Entry("nothing that limits the rate", "", map[evidence.Label]int{"info.no-token": 429, "info.ok": 200, "op/findAll.no-token": 429, "op/findAll.ok": 200}),
		Entry("nothing that did not answer", "", map[evidence.Label]int{}),
		Entry("nothing that answers with a fault", "", map[evidence.Label]int{"info.no-token": 500, "info.ok": 200}),
	)
})
