package openapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("The records of a list are known by one member",
	func(parameter, description, records, member string, guessed bool) {
		list, ok := openapi.ReadList([]byte(records))
		Expect(ok).To(BeTrue())
		found := openapi.IdentityIn(list.Items, openapi.Parameter{Name: parameter, In: "path", Description: description}, "/v3/calls")
		Expect(found).To(Equal(openapi.IdentityMember{Member: member, Guessed: guessed}))
	},
	Entry("their id, whatever else they have", "callId", "", `[{"id":"a","nummer":"1"},{"id":"b","nummer":"2"}]`, "id", false),
	Entry("the member of the parameter's name beside an id", "nummer", "", `[{"id":"a","nummer":"1"},{"id":"b","nummer":"2"}]`, "nummer", false),
	Entry("their id if the description says so", "nummer", "The id of the call.", `[{"id":"a","nummer":"1"},{"id":"b","nummer":"2"}]`, "id", false),
	Entry("their id if one record shows too little", "nummer", "", `[{"id":"a","nummer":"1"}]`, "id", false),
	Entry("their id if other members with the parameter's name are equal", "nummer", "", `[{"id":"a","nummer":"1"},{"id":"b","nummer":"1"}]`, "id", false),
	Entry("the member of the parameter's name", "nummer", "", `[{"code":"a","nummer":"1"},{"code":"b","nummer":"2"}]`, "nummer", false),
	Entry("the member in the parameter's description", "id", "The kennung of the call.", `[{"kennung":"a","uuid":"1"},{"kennung":"b","uuid":"2"}]`, "kennung", false),
	Entry("a usual name, as a guess", "id", "", `[{"callId":"a","title":"1"},{"callId":"b","title":"2"}]`, "callId", true),
	Entry("not a member with equal values", "nummer", "", `[{"nummer":"1"},{"nummer":"1"}]`, "id", false),
	Entry("not a member that some records lack", "nummer", "", `[{"nummer":"1"},{"title":"b"}]`, "id", false),
	Entry("not a member if the description names two", "id", "The code or the kennung.", `[{"kennung":"a","code":"1"},{"kennung":"b","code":"2"}]`, "kennung", true),
)
