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
	Entry("not if ties have another order", "", "Ties are not ordered by id ascending but by title.", false),
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
	Entry("neither of two", "Calls in the order in which they were entered. Neither sorted by deadline nor by title.", ""),
	Entry("that a parameter gives", "Lists the calls by id. To get them sorted by deadline, use sort.", ""),
	Entry("that it can have", "Lists the calls by id. They can be sorted by deadline.", ""),
	Entry("of groups", "They are grouped by status and sorted by deadline within each group.", ""),
	Entry("of parts", "Sorted by deadline: first those still to come, the nearest first, then those that have passed.", ""),
)

var _ = DescribeTable("A word of a sort parameter without a minus",
	func(text string, down bool) {
		o := openapi.Operation{Parameters: []openapi.Parameter{{Name: "sort", In: "query", Description: text,
			Schema: openapi.Schema{Declared: true, Type: "string", Enum: []string{"budget", "-budget"}}}}}
		orders := o.Orders()
		Expect([]bool{orders[0].Down, orders[1].Down}).To(Equal([]bool{down, !down}))
	},
	Entry("means ascending", "With a leading minus in descending order.", false),
	Entry("means descending", "Sort key: descending; with a leading minus ascending.", true),
	Entry("means descending in German", "Absteigend, mit vorangestelltem Minus aufsteigend.", true),
	Entry("means descending, unlike elsewhere", "A leading minus means ascending and its absence descending order.", true),
	Entry("means ascending, as without a minus", "With a leading minus descending, without ascending.", false),
	Entry("means descending, and ascending with a hyphen", "budget (descending), -budget (ascending).", true),
	Entry("sorts in descending order", "budget sorts in descending order, -budget in ascending order.", true),
	Entry("is descending without a prefix", "Descending; prefix with - for ascending order.", true),
	Entry("has no minus for ascending", "With a minus in descending order, without a minus in ascending order.", false),
	Entry("has no minus for ascending, in German", "Ohne Minus aufsteigend, mit Minus absteigend.", false),
	Entry("has no hyphen for ascending", "Without hyphen ascending, with hyphen descending.", false),
	Entry("says what no minus means", "A leading minus sorts in descending order; no minus: ascending.", false),
	Entry("names a last day", "budget sorts by the last day of submission with the earliest first, a minus reverses this.", false),
	Entry("puts the largest first", "budget puts the largest budget first, opens the earliest day; a leading minus reverses either (so -budget begins with the smallest).", true),
	Entry("puts the largest first in German", "Bei budget steht das größte Budget vorn, bei opens der früheste Tag; ein vorangestelltes Minus kehrt beides um.", true),
	Entry("puts the smallest first, and the largest with a minus", "budget: the smallest first. A minus reverses the order: -budget puts the largest budget first.", false),
	Entry("and the default puts the newest first", "The key. By default the newest budget first; a minus reverses the order.", false),
)

var _ = DescribeTable("Some items stand apart in each order",
	func(text string, apart bool) {
		o := openapi.Operation{Parameters: []openapi.Parameter{{Name: "sort", In: "query", Description: text,
			Schema: openapi.Schema{Declared: true, Type: "string", Enum: []string{"budget", "-budget"}}}}}
		Expect(o.Orders()[0].Apart).To(Equal(apart))
	},
	Entry("first", "Highlighted calls come first, however the list is sorted.", true),
	Entry("at the top", "Sort key. Highlighted calls stay at the top in any case.", true),
	Entry("last", "Closed calls come after all others in any order; within both parts by the key.", true),
	Entry("in German", "Hervorgehobene Calls stehen stets oben.", true),
	Entry("whichever key is chosen", "Highlighted calls come first, whichever key is chosen.", true),
	Entry("with an order among them", "Highlighted calls always come first, newest on top of them.", true),
	Entry("whatever the direction", "New calls stand first, whatever the direction of the order.", true),
	Entry("but not new ones, which an order may begin with", "New calls are always shown first.", false),
	Entry("but not the newest", "Newest calls are always shown first.", false),
	Entry("but not after however, which says but", "However, calls with an early deadline come first.", false),
	Entry("but not those of one key, after but", "However, highlighted calls of this year come first.", false),
	Entry("but not by a key in other words", "Calls that end soon always come first.", false),
	Entry("but not by a key in German", "Die neuesten Calls stehen immer oben.", false),
	Entry("but not without a value", "Calls without a deadline always come last.", false),
	Entry("but not by the order itself", "The newest calls come first, whatever is filtered.", false),
	Entry("but not in one order only", "With opens, new calls come first.", false),
)

var _ = DescribeTable("The values of a sort key are compared otherwise",
	func(text string, otherwise bool) {
		o := openapi.Operation{Parameters: []openapi.Parameter{{Name: "sort", In: "query", Description: text,
			Schema: openapi.Schema{Declared: true, Type: "string", Enum: []string{"budget", "-budget"}}}}}
		_, _, ok := o.OrderAsked(map[string][]string{"sort": {"budget"}})
		Expect(ok).To(Equal(!otherwise))
	},
	Entry("as texts", "Budgets are sorted as texts: 1000000 stands before 300000.", true),
	Entry("in steps", "The order is not strict: budgets are compared in steps of 100,000 euros.", true),
	Entry("but not those of another key", "Titles are sorted as texts.", false),
	Entry("but not if it is denied", "Budgets are not compared as texts.", false),
)
