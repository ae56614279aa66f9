package openapi_test

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("What a document says of a member in the list",
	func(ofMember, ofList string, want openapi.ListForm) {
		quoted := func(text string) []byte {
			out, err := json.Marshal(text)
			Expect(err).NotTo(HaveOccurred())
			return out
		}
		d := parsed(fmt.Sprintf(`{"openapi":"3.0.3","paths":{"/calls":{"get":{"description":%s,"responses":{"200":{"content":{"application/json":{"schema":{"items":{"properties":{
			"contactEmail":{"description":%s}}}}}}}}}},"/calls/{id}":{"get":{"responses":{"200":{}}}}}}`, quoted(ofList), quoted(ofMember)))
		Expect(d.FormsInList(d.Operations[0], d.Operations[1]).Of("contactEmail")).To(Equal(want))
	},
	Entry("nothing", "The address.", "The list of calls.", openapi.ListForm{}),
	Entry("masked", "In the list its local part is masked (m***@ikn.example); the detail has the whole address.", "", openapi.ListForm{Differs: true}),
	Entry("masked, in German", "Mailadresse, in der Liste unkenntlich gemacht (nur der erste Buchstabe und die Domain).", "", openapi.ListForm{Differs: true}),
	Entry("rounded", "In the list volume is rounded to whole thousands; only the detail has the exact amount.", "", openapi.ListForm{Rounded: true}),
	Entry("rounded, in German", "Fördervolumen in Euro, in der Liste auf volle Tausend gerundet.", "", openapi.ListForm{Rounded: true}),
	Entry("in steps", "Volume in euros. Lists show it in steps of one thousand, details to the euro.", "", openapi.ListForm{Rounded: true}),
	Entry("in another unit", "Volume: in the list in thousands of euros, in the detail in euros.", "", openapi.ListForm{Differs: true}),
	Entry("the first one only", "In the list, targetGroups holds the first group only; see the detail for all of them.", "", openapi.ListForm{Differs: true}),
	Entry("by the operation", "", "In the list, contact e-mail and contactEmail are shortened.", openapi.ListForm{Differs: true}),
	Entry("by two sentences", "", "The list is a snapshot that is taken every night. So status and contactEmail of both may differ.", openapi.ListForm{Differs: true, Stale: true}),
	Entry("an earlier state, without a name", "", "The list is cached for a minute.", openapi.ListForm{Stale: true}),
	Entry("not masked", "In the list it is not masked.", "", openapi.ListForm{}),
	Entry("the same", "The same in the list and in the detail, shortened to 80 characters.", "", openapi.ListForm{}),
	Entry("one unit", "Volume in euros, in the list and in the detail.", "", openapi.ListForm{}),
	Entry("another list", "A list of addresses, shortened by their domain.", "", openapi.ListForm{}),
	Entry("another member", "", "In the list, names are shortened.", openapi.ListForm{}),
	Entry("another reason", "", "The list is sorted by contactEmail. contactEmail may differ between languages.", openapi.ListForm{}),
)
