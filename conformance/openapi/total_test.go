package openapi_test

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("What a document says that the total counts",
	func(description string, want openapi.TotalMeaning) {
		text, err := json.Marshal(description)
		Expect(err).NotTo(HaveOccurred())
		d := parsed(fmt.Sprintf(`{"openapi":"3.0.3","paths":{"/calls":{"get":{"responses":{"200":{"headers":{"X-Total-Count":{"description":%s,"schema":{"type":"integer"}}}}}}}}}`, text))
		Expect(d.MeaningOfTotal(d.Operations[0], "X-Total-Count")).To(Equal(want))
	},
	Entry("the list", "Number of calls that fit the filters.", openapi.TotalMeaning{}),
	Entry("up to a number", "total counts all calls that fit the filters up to 100; where more fit, it is 100 and more is true.", openapi.TotalMeaning{Caps: []int{100}}),
	Entry("capped", "The number of hits, capped at 10,000.", openapi.TotalMeaning{Caps: []int{10000}}),
	Entry("capped, in German", "Anzahl der Treffer, höchstens 10.000. Darüber wird nicht gezählt.", openapi.TotalMeaning{Caps: []int{10000}}),
	Entry("shown as a number", "Calls that match; more than 100 are not counted and shown as 100.", openapi.TotalMeaning{Caps: []int{100}}),
	Entry("capped, in words", "Gezählt wird bis hundert.", openapi.TotalMeaning{Caps: []int{100}}),
	Entry("not the cap of a page", "Number of all calls. A page holds at most 100 calls.", openapi.TotalMeaning{}),
	Entry("not the cap of a rate", "Number of all calls, counted up to 10 times per second.", openapi.TotalMeaning{}),
	Entry("the page", "Number of calls on this page, not of all that fit.", openapi.TotalMeaning{OfPage: true}),
	Entry("the page, as a total", "Total number of records on this page.", openapi.TotalMeaning{OfPage: true}),
	Entry("the page, in German", "Anzahl der Aufrufe auf dieser Seite.", openapi.TotalMeaning{OfPage: true}),
	Entry("not the page", "Number of all calls, not of those on this page.", openapi.TotalMeaning{}),
	Entry("not the page either", "Number of calls that fit. The number of calls on this page is count.", openapi.TotalMeaning{}),
	Entry("nor the page", "Anzahl aller Aufrufe (nicht die Anzahl auf dieser Seite).", openapi.TotalMeaning{}),
	Entry("archived ones as well", "Anzahl aller Aufrufe des Bestands, unabhängig von Filtern; archivierte zählen mit, obwohl sie nicht gelistet werden.", openapi.TotalMeaning{Others: true}),
	Entry("drafts as well", "All calls, including drafts.", openapi.TotalMeaning{Others: true}),
	Entry("records that are not listed", "Counts also those that are not listed.", openapi.TotalMeaning{Others: true}),
	Entry("not each page", "Total number of calls that is repeated in each response.", openapi.TotalMeaning{}),
	Entry("not each answer", "Total number of calls returned in each response.", openapi.TotalMeaning{}),
	Entry("a query whose results are on several pages", "The total number of results of the query of which some are on this page.", openapi.TotalMeaning{}),
	Entry("records of other pages", "Total number of calls, including those not returned on this page.", openapi.TotalMeaning{}),
	Entry("records that this page lacks", "All calls, also those that are not shown here.", openapi.TotalMeaning{}),
	Entry("records of other pages, in German", "Anzahl aller Aufrufe, auch der nicht gezeigten.", openapi.TotalMeaning{}),
	Entry("no drafts", "All calls, not including drafts.", openapi.TotalMeaning{}),
	Entry("no archived ones", "Anzahl der Aufrufe; archivierte zählen nicht mit.", openapi.TotalMeaning{}),
)

var _ = Describe("A declared maximum of the total", func() {
	It("is where the node may stop counting", func() {
		d := parsed(`{"openapi":"3.0.3","paths":{"/calls":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"properties":{"total":{"type":"integer","maximum":100}}}}}}}}}}}`)
		m := d.MeaningOfTotal(d.Operations[0], "$.total")
		Expect(m.Counts(100)).To(BeFalse())
		Expect(m.Counts(99)).To(BeTrue())
	})
})
