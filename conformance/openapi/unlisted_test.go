package openapi_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("A document says that the detail serves records beyond the list",
	func(description string, kinds ...string) {
		o := openapi.Operation{Description: description}
		Expect(parsed(`{"openapi":"3.0.3","paths":{}}`).ServedUnlisted(o)).To(ConsistOf(kinds))
	},
	Entry("for previews", "Drafts are not listed. Their detail is open to every client that knows the id, for previews; it says status draft.", "draft"),
	Entry("in German", "Entwürfe stehen nicht in der Liste, sind aber über ihre Kennung abrufbar, damit Fördergeber sie ansehen können.", "draft"),
	Entry("by another operation", "The list leaves drafts out. This operation does not: it returns drafts as well, unless they have been withdrawn (404).", "draft"),
	Entry("for a time", "Withdrawn calls are not part of the list; here they are answered with 410, but for thirty days after their withdrawal still with 200 and published=false.", "published"),
	Entry("before a day", "Calls whose publication date lies in the future are missing from the list until that day; here they can be read beforehand by those who know the id.", "published"),
	Entry("not", "Drafts are not listed. They are not found by their id either."),
	Entry("not, in German", "Entwürfe stehen nicht in der Liste und sind auch über ihre Kennung nicht abrufbar."),
	Entry("for some", "Drafts are not listed. They can be read by their id with the role editor."),
	Entry("for a few", "Drafts can be read here by their authors only."),
	Entry("listed ones", "Drafts are not listed. A record has a status."),
	Entry("no kind", "Each listed call is available by its id."),
	Entry("of two kinds", "Drafts and deleted calls are available by their id.", "draft", "deleted"),
	Entry("without a comma", "Drafts are not listed but can be read by their id.", "draft"),
	Entry("not yet published", "Calls that are not yet published are in no list, but can be read by their id.", "published"),
	Entry("in German, with a relative clause", "Aufrufe, die noch nicht veröffentlicht sind, sind über ihre Kennung abrufbar.", "published"),
	Entry("in German, with a pronoun", "Entwürfe fehlen in der Liste. Über ihre Kennung sind sie abrufbar.", "draft"),
	Entry("others than these", "Drafts and deleted calls are not served. Every other call is available by its id."),
	Entry("all but these", "Deleted calls give 404. Everything else is available by its id."),
	Entry("calls in general", "Drafts are not listed. Calls are available by their id."),
	Entry("published ones", "Drafts are internal. Each published call can be read by its id."),
	Entry("others in one sentence", "Drafts are not listed, but every published call can be read by its id."),
	Entry("others than the listed ones before", "Drafts are not listed, only published calls are. They can be read by their id."),
	Entry("once published", "Drafts are not listed. They are available by their id as soon as they are published."),
	Entry("once they are no drafts", "Every call that has left the draft state is available by its id."),
	Entry("a date", "The date of publication is available in the detail."),
	Entry("documents and a date", "Documents and the date of publication are shown in the detail."),
	Entry("a date and documents", "Returns a call with its date of publication; its documents are shown as well."),
	Entry("a member", "The draft status and internal notes are shown in the detail."),
	Entry("a note", "Internal notes are available in the detail."),
)

var _ = DescribeTable("The description of an id says that its spelling does not matter",
	func(description, asked string, want bool) {
		o := openapi.Operation{Parameters: []openapi.Parameter{{Name: "id", In: "path", Description: description}}}
		Expect(o.IgnoresSpelling(asked, "C001")).To(Equal(want))
	},
	Entry("its case", "The id of the call, with or without the leading C, in upper or lower case. Its acronym may be given in its place.", "c001", true),
	Entry("its first letter", "The id of the call, with or without the leading C, in upper or lower case.", "001", true),
	Entry("in German", "Kennung. Groß- und Kleinschreibung spielen keine Rolle, führende Nullen der Zahl dürfen fehlen.", "c001", true),
	Entry("zeros in German", "Kennung. Groß- und Kleinschreibung spielen keine Rolle, führende Nullen der Zahl dürfen fehlen.", "C1", true),
	Entry("case alone", "The id, case-insensitive.", "C1", false),
	Entry("it does", "The id; upper and lower case are distinguished.", "c001", false),
	Entry("it does in German", "Kennung, Groß- und Kleinschreibung wird unterschieden.", "c001", false),
	Entry("nothing", "The id of the call.", "c001", false),
)
