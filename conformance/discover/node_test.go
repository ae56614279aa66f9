package discover_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
)

const spec = `{"openapi":"3.0.1","info":{"title":"t","version":"1"},"servers":[{"url":"https://x.example/ris"}],"paths":{
"/v1/health":{"get":{"operationId":"health","security":[],"responses":{"200":{"description":"ok"}}}},
"/v1/fundings":{"get":{"operationId":"findAll","responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","items":{"type":"object"}}}}}}},
  "post":{"operationId":"create","responses":{"201":{"description":"ok"}}}},
"/v1/fundings/{id}":{"get":{"operationId":"findByKey","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}},
"/v1/orgUnits":{"get":{"operationId":"orgUnits","responses":{"200":{"description":"ok"}}}},
"/v1/orgUnits/{id}":{"get":{"operationId":"orgUnit","parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}},
"/v1/search":{"get":{"operationId":"search","parameters":[{"name":"q","in":"query","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok"}}}}}}`

var _ = Describe("A node", func() {
	node := func(change ...func(*target.Target)) discover.Node {
		doc, err := document.Parse([]byte(spec))
		Expect(err).NotTo(HaveOccurred())
		t := target.Target{}
		for _, c := range change {
			c(&t)
		}
		return discover.NewNode(t, doc)
	}
	keys := func(list []document.Operation) []string {
		var out []string
		for _, o := range list {
			out = append(out, o.Key)
		}
		return out
	}

	It("has the GET operations of its document, and the funding operations among them", func() {
		n := node()
		Expect(keys(n.Executable)).To(Equal([]string{"health", "findAll", "findByKey", "orgUnits", "orgUnit", "search"}))
		Expect(n.List).To(Equal("findAll"))
		Expect(n.Detail).To(Equal("findByKey"))
	})

	DescribeTable("takes the operator's word for the funding operations",
		func(list, detail, wantList, wantDetail string) {
			n := node(func(t *target.Target) { t.ListOperation, t.DetailOperation = list, detail })
			Expect(n.List).To(Equal(wantList))
			Expect(n.Detail).To(Equal(wantDetail))
		},
		Entry("by operationId", "orgUnits", "", "orgUnits", "orgUnit"),
		Entry("by path", "/v1/orgUnits", "/v1/fundings/{id}", "orgUnits", "findByKey"),
		Entry("by method and path", "get /v1/orgUnits", "", "orgUnits", "orgUnit"),
		Entry("also when it is wrong", "nothing", "", "", ""),
	)

	It("has none without a document", func() {
		n := discover.NewNode(target.Target{}, nil)
		Expect(n.Executable).To(BeEmpty())
		Expect(n.Bases()).To(BeEmpty())
		_, ok := n.Scout()
		Expect(ok).To(BeFalse())
	})

	It("takes ids for a detail operation from its collection", func() {
		n := node()
		for detail, want := range map[string]string{"findByKey": "findAll", "orgUnit": "orgUnits"} {
			o, _ := n.Operation(detail)
			c, ok := n.Collection(o)
			Expect(ok).To(BeTrue())
			Expect(c.Key).To(Equal(want))
		}
		search, _ := n.Operation("search")
		_, ok := n.Collection(search)
		Expect(ok).To(BeFalse())
	})

	It("scouts with the list, or with the first operation that needs nothing", func() {
		o, ok := node().Scout()
		Expect(ok).To(BeTrue())
		Expect(o.Key).To(Equal("findAll"))
		o, ok = node(func(t *target.Target) { t.ListOperation = "search" }).Scout()
		Expect(ok).To(BeTrue())
		Expect(o.Key).To(Equal("health"))
	})

	It("finds the probe target among operations that refuse, those declared open aside", func() {
		statuses := map[exchange.Resource]int{"op/health": 401, "op/findAll": 200, "op/findByKey": 401, "op/orgUnits": 429, "op/search": 401}
		n := node()
		_, ok := n.TargetOperation(func(r exchange.Resource) int { return statuses[r] })
		Expect(ok).To(BeFalse())
		statuses["op/orgUnits"] = 403
		r, ok := n.TargetOperation(func(r exchange.Resource) int { return statuses[r] })
		Expect(ok).To(BeTrue())
		Expect(r).To(Equal(exchange.Resource("op/orgUnits")))
	})

	DescribeTable("has info for its probe target when that refused",
		func(anonymous, authorized int, want bool) {
			Expect(discover.InfoIsTarget(anonymous, authorized)).To(Equal(want))
		},
		Entry(nil, 401, 200, true), Entry("even when nobody gets in", 403, 500, true),
		Entry("in another way", 404, 200, true), Entry("but not when it is not there", 404, 404, false),
		Entry("open", 200, 200, false), Entry("too many requests say nothing", 429, 200, false), Entry("no answer", 0, 200, false),
		Entry("a fault", 500, 200, false),
	)
})
