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

var _ = DescribeTable("What a sentence says of the members that it names",
	func(sentence string, differ ...string) {
		d := describedAPI(sentence)
		forms := d.FormsInList(d.Operations[0], d.Operations[0])
		found := []string{}
		for _, member := range []string{"status", "title", "type", "volume", "description", "contactEmail"} {
			if form := forms.Of(member); form.Differs || form.Rounded {
				found = append(found, member)
			}
		}
		Expect(found).To(Equal(differ))
	},
	Entry("not the full text of another", "The list shows the id, type and title of each call, but not the full description.", "description"),
	Entry("without a comma", "The list shows type and title but not the full description.", "description"),
	Entry("without the text", "The list holds title and status, without the full text."),
	Entry("a list that does not show it", "The list has type and title and does not show the whole description.", "description"),
	Entry("in two statements", "In the list, status and title come first, and long descriptions are shortened.", "description"),
	Entry("in two statements without a comma", "In the list status and title are complete and the description is shortened.", "description"),
	Entry("a shortened one", "The list shows status and a shortened description.", "description"),
	Entry("shortened ones after a comma", "The list shows title, status, and shortened descriptions.", "description"),
	Entry("with shortened ones", "The list has title and status, with abbreviated descriptions.", "description"),
	Entry("in German", "In der Liste stehen Status und type, die description ist gekürzt.", "description"),
	Entry("one value that is selected", "Only one status can be selected in the list."),
	Entry("the time of the request", "The status in the list and in the detail is as of the time of the request."),
	Entry("an enumeration", "In the list, status, title and volume are rounded or cut.", "status", "title", "volume"),
	Entry("an enumeration with a last comma", "In the list, status, title, and volume are masked.", "status", "title", "volume"),
	Entry("after a colon", "Shortened in the list: title and description.", "title", "description"),
	Entry("a clause without a subject", "The list has the volume, rounded to thousands.", "volume"),
	Entry("a relative clause", "The list shows contactEmail, which is masked.", "contactEmail"),
	Entry("after brackets", "In the list, contactEmail (and nothing else) is masked.", "contactEmail"),
	Entry("present, but", "In the list contactEmail is present, but masked.", "contactEmail"),
	Entry("and masked", "contactEmail is shown in the list and is masked there.", "contactEmail"),
	Entry("only a part of it", "In the list contactEmail is given, but only the first letter.", "contactEmail"),
	Entry("not in full", "The list shows the description, but not in full.", "description"),
	Entry("not all of them", "In the list type does not hold all values.", "type"),
	Entry("of last night", "The list shows status and volume, as of last night.", "status", "volume"),
	Entry("in both", "The volume may differ between the list and the detail.", "volume"),
	Entry("a pronoun", "The list shows the description and the title; they are cut after 80 characters, see the detail."),
)
