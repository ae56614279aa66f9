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

var _ = DescribeTable("The description of an operation names an order",
	func(text, by string) {
		order, _, ok := openapi.Operation{Description: text}.OrderAsked(nil)
		Expect(ok).To(Equal(by != ""))
		Expect(order.By).To(Equal(by))
	},
	Entry("that the list has", "The calls are sorted by deadline.", "deadline"),
	Entry("with a negation elsewhere", "Closed calls are not listed. The calls are sorted by deadline.", "deadline"),
	Entry("with a negation after it", "The calls are sorted by deadline, not by title.", "deadline"),
	Entry("with a negation of something else before it", "The calls, which are not paged: they are sorted by deadline.", "deadline"),
	Entry("that it does not have", "Lists the calls by id. They are not sorted by deadline or title.", ""),
	Entry("that it no longer has", "They are no longer sorted by deadline.", ""),
	Entry("that it had", "Until version 2 they were sorted by deadline; now their order is that of the ids.", ""),
	Entry("instead of another", "The calls come by id rather than sorted by deadline.", ""),
	Entry("but not another", "They are not sorted by deadline but by budget, the largest first; equal budgets by id.", "budget"),
	Entry("beside one that it does not have", "The calls are sorted by budget. They are not ordered by deadline.", "budget"),
)
