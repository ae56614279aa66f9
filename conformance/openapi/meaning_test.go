package openapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("A parameter selects otherwise than by the member of its name",
	func(text string, otherwise bool) {
		Expect(openapi.Operation{}.SelectsOtherwise(openapi.Parameter{Name: "status", Description: text})).To(Equal(otherwise))
	},
	Entry("not by the number of its values", "Filters by status. Up to five values, separated by commas.", false),
	Entry("not by its length", "Only calls with this status; at most 20 characters.", false),
	Entry("not by its least length", "Only calls with this status (at least 3 characters).", false),
	Entry("not by its length in German", "Nur dieser Status, höchstens 10 Zeichen.", false),
	Entry("not by letters", "Only calls with this status, regardless of upper and lower case.", false),
	Entry("not by letters in other words", "Only calls with this status, regardless of case.", false),
	Entry("not by the form of its values", "The code of the status; it starts with FWF-.", false),
	Entry("not by a first letter", "The code of the status. It begins with a letter.", false),
	Entry("not by what a value leaves out", "Country code without prefix.", false),
	Entry("not by an empty value", "Only calls with this status. An empty value does not filter.", false),
	Entry("not by its absence", "Only calls with this status. Without a value it does not restrict the list.", false),
	Entry("not by unknown values", "Only calls with this status. Unknown values do not change the result.", false),
	Entry("not by unknown values in German", "Nur dieser Status. Ein leerer Wert filtert nicht.", false),
	Entry("not by an empty value, in other words", "Only calls with this status. If the value is empty, it does not filter.", false),
	Entry("not by its absence, in other words", "Only calls with this status. It does not restrict the list when it is omitted.", false),
	Entry("not by a spelling", "Only calls with this status. The preferred form is upper case.", false),
	Entry("not by parameters of pages", "Only calls with this status. Paging parameters are ignored.", false),
	Entry("not by the order of the list", "Only calls with this status, newest come first.", false),
	Entry("not by the order in other words", "Only calls with this status. The call with the nearest deadline is listed first.", false),
	Entry("at least a level", "Calls of at least this level.", true),
	Entry("at least a level, with a length", "Calls of at least this level (at most 3 characters).", true),
	Entry("up to a level", "All levels up to this one.", true),
	Entry("a hierarchy, with a number of values", "Records of this level and of all levels below it, up to five values.", true),
	Entry("a bound in German", "Mindestens diese Stufe.", true),
	Entry("a beginning", "Sources that start with this text.", true),
	Entry("a beginning, with an example", "FWF gives all sources that start with FWF.", true),
	Entry("a prefix", "A prefix of the code.", true),
	Entry("codes with a prefix", "Calls whose code has this prefix.", true),
	Entry("no filter", "Does not filter the list.", true),
	Entry("no filter, with and without a value", "The answer is the same with and without it.", true),
	Entry("no filter, with or without the parameter", "With or without the parameter the list is the same.", true),
	Entry("no filter, and empty values", "Does not filter. An empty value is refused.", true),
	Entry("no filter, for a feature that is missing", "Reserved for a missing feature and does not filter.", true),
	Entry("ignored", "Ignored since version 3.0.", true),
	Entry("parameters that are ignored", "For old clients; both parameters are ignored.", true),
	Entry("ignored in German", "Wird seit 3.0 ignoriert.", true),
	Entry("an order", "Calls of this source come first.", true),
	Entry("an order, by what is preferred", "The preferred source.", true),
	Entry("an order, by preference", "Calls of this source are preferred.", true),
	Entry("everywhere", "Calls of this region, and nationwide ones regardless of it.", true),
)
