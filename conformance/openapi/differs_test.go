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
	Entry("a German participle", "In der Liste ist die contactEmail nur gekürzt angegeben.", "contactEmail"),
	Entry("rounded, in German", "Die Liste zeigt volume auf volle Tausend gerundet.", "volume"),
	Entry("before a colon", "contactEmail: masked in the list.", "contactEmail"),
	Entry("with a reason between", "In the list, for reasons of data protection, contactEmail is masked.", "contactEmail"),
	Entry("a reason at the end", "In the list contactEmail is masked, because it is personal.", "contactEmail"),
	Entry("in a masked form", "The list shows contactEmail in a masked form.", "contactEmail"),
	Entry("a version of it", "The list has a shortened version of the description.", "description"),
	Entry("only the first of them", "The list shows only the first type of each call.", "type"),
	Entry("the full one in the detail only", "In the list the description is truncated, and the full text is in the detail.", "description"),
	Entry("two forms", "In the list volume is rounded and contactEmail masked; the detail has both.", "volume", "contactEmail"),
	Entry("a semicolon in brackets", "In the list (an overview) title and description are cut to 80 characters.", "title", "description"),
	Entry("with dashes", "In the list the description – a long text – is cut.", "description"),
	Entry("unlike the detail", "Unlike in the detail, in the list the title and the description are abbreviated.", "title", "description"),
	Entry("to save space", "To save space, descriptions are shortened in the list.", "description"),
	Entry("an enumeration after a verb", "The list masks nothing but gives title, type and description in shortened form.", "title", "type", "description"),
	Entry("an enumeration with an aside", "In the list, title (German only), volume, and description are truncated.", "title", "volume", "description"),
	Entry("and in the list", "The detail has all values of type, and the list only the first.", "type"),
	Entry("relative clause in the middle", "In the list the contactEmail, which is personal, is masked.", "contactEmail"),
	Entry("a dash", "contactEmail – in the list only the first letter is shown.", "contactEmail"),
	Entry("a name in brackets", "In the list the address (contactEmail) is masked.", "contactEmail"),
	Entry("a pronoun", "The list shows the description and the title; they are cut after 80 characters, see the detail."),
)
