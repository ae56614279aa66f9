package openapi_test

import (
	"fmt"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = DescribeTable("A document says of the total",
	func(place, answer string, says bool) {
		d := parsed(`{"openapi":"3.0.3","paths":{"/calls":{"get":{"responses":{"200":` + answer + `}}}},"components":{"schemas":{
			"Total":{"description":"An estimate.","type":"integer"},
			"Budget":{"properties":{"total":{"$ref":"#/components/schemas/Total"}}},
			"Page":{"properties":{"total":{"$ref":"#/components/schemas/Total"}}}}}}`)
		Expect(d.SaysOfTotal(d.Operations[0], place, regexp.MustCompile("estimate"))).To(Equal(says))
	},
	Entry("in its header field", "X-Total-Count", `{"headers":{"x-total-count":{"description":"An estimate."}}}`, true),
	Entry("not in another header field", "X-Total-Count", `{"headers":{"X-Total-Count":{},"X-Total-Budget":{"description":"An estimate."}}}`, false),
	Entry("in the envelope", "$.total", `{"content":{"application/json":{"schema":{"allOf":[{"$ref":"#/components/schemas/Page"}]}}}}`, true),
	Entry("in the envelope of Swagger 2.0", "$.total", `{"schema":{"$ref":"#/components/schemas/Page"}}`, true),
	Entry("in a part of the envelope", "$.meta.total", `{"content":{"application/json":{"schema":{"properties":{"meta":{"$ref":"#/components/schemas/Page"}}}}}}`, true),
	Entry("not in another part", "$.meta.total", `{"content":{"application/json":{"schema":{"properties":{"meta":{},"total":{"description":"An estimate."}}}}}}`, false),
	Entry("not of a total in the items", "$.total", `{"content":{"application/json":{"schema":{"properties":{"total":{},"items":{"items":{"properties":{"budget":{"$ref":"#/components/schemas/Budget"}}}}}}}}}`, false),
	Entry("not of a total in the items, for a header field", "X-Total-Count", `{"content":{"application/json":{"schema":{"items":{"properties":{"budget":{"$ref":"#/components/schemas/Budget"}}}}}}}`, false),
	Entry("not in a circle", "$.total", `{"schema":{"$ref":"#/paths/~1calls/get/responses/200/schema"}}`, false),
)

var _ = Describe("What a document says of a member", func() {
	const head = `{"openapi":"3.0.3","paths":{"/calls":{"get":{"responses":{"200":{"content":{"application/json":{"schema":`

	It("is found below properties, behind references that were followed before", func() {
		d := parsed(head + `{"properties":{"a":{"$ref":"#/components/schemas/Link"},"links":{"$ref":"#/components/schemas/Link"}}}}}}}}}},
			"components":{"schemas":{"Link":{"properties":{"self":{"description":"A web page."}}}}}}`)
		Expect(d.SaysOfMember(d.Operations[0], "links", regexp.MustCompile("web page"))).To(BeTrue())
		Expect(d.SaysOfMember(d.Operations[0], "self", regexp.MustCompile("web page"))).To(BeTrue())
		Expect(d.SaysOfMember(d.Operations[0], "next", regexp.MustCompile("web page"))).To(BeFalse())
	})

	It("costs no more than one search of the document", func() {
		var parts, schemas strings.Builder
		for i := range 900 {
			fmt.Fprintf(&parts, `{"properties":{"self":{"$ref":"#/components/schemas/Many"}}},`)
			fmt.Fprintf(&schemas, `"p%d":{"description":"%s"},`, i, strings.Repeat("no word of it ", 20))
		}
		d := parsed(head + `{"oneOf":[` + parts.String() + `{}]}}}}}}}},"components":{"schemas":{"Many":{"properties":{` + schemas.String() + `"z":{}}}}}}`)
		start := time.Now()
		for range 5 {
			Expect(d.SaysOfMember(d.Operations[0], "self", regexp.MustCompile("(?i)web page|browser"))).To(BeFalse())
		}
		Expect(time.Since(start)).To(BeNumerically("<", 2*time.Second))
	})
})
