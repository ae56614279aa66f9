package openapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("Ascending ids of equal items are promised for each direction",
	func(operation, parameter string, want bool) {
		o := openapi.Operation{Description: operation, Parameters: []openapi.Parameter{{Name: "sort", In: "query", Description: parameter,
			Schema: openapi.Schema{Declared: true, Type: "string", Enum: []string{"budget", "-budget"}}}}}
		orders := o.Orders()
		Expect(orders).To(HaveLen(2))
		Expect(orders[1].TiesUp).To(Equal(want))
	},
	Entry("by the parameter", "", "A minus sorts in descending order. Ties go by id, ascending.", true),
	Entry("in German", "", "Bei gleichem Betrag nach Kennung aufsteigend.", true),
	Entry("not by the default order of the operation", "Without sort the calls are sorted by deadline, then by id ascending.", "The order.", false),
	Entry("not if the whole list is turned around", "", "Equal budgets go by id, ascending. A minus turns the whole list around.", false),
	Entry("not if it is denied", "", "Equal amounts are not sorted by id ascending.", false),
	Entry("not if everything is reversed", "", "Ties go by id, ascending; with desc everything is reversed.", false),
)
