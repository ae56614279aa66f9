package openapi_test

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

// describedAPI is a document with a list of calls, and with this description of the whole API.
func describedAPI(description string) *openapi.Document {
	text, err := json.Marshal(description)
	Expect(err).NotTo(HaveOccurred())
	return parsed(fmt.Sprintf(`{"openapi":"3.0.3","info":{"description":%s},"paths":{"/calls":{"get":{"responses":{"200":{"content":{"application/json":{"schema":{"items":{"properties":{"volume":{},"deadline":{}}}}}}}}}}}}`, text))
}

var _ = DescribeTable("A document says that a list omits records by their language",
	func(description string, want bool) {
		d := describedAPI(description)
		Expect(d.OmitsByLanguage(d.Operations[0])).To(Equal(want))
	},
	Entry("only some are listed", "With Accept-Language: en, only calls that have an English name are listed, and total counts these only; in German all calls are listed.", true),
	Entry("some are not listed", "Calls without an English name are not listed to clients that prefer English (Accept-Language: en).", true),
	Entry("in German", "Aufrufe ohne englische Bezeichnung fehlen in der englischen Liste; die Gesamtzahl (total) zählt dann nur die gezeigten.", true),
	Entry("in the list", "In English the list is shorter: it leaves out the calls that have not been translated yet.", true),
	Entry("no record", "No call is left out because it has not been translated.", false),
	Entry("not left out", "Calls without an English name are not left out: they have their German one.", false),
	Entry("nor in German", "Aufrufe ohne englische Bezeichnung fehlen nicht.", false),
	Entry("texts", "Texts of calls in other languages are left out.", false),
	Entry("another reason", "Calls without a deadline are left out.", false),
	Entry("a text in its place", "A call that has no English name is shown with its German one.", false),
)

var _ = DescribeTable("A document says that a value depends on the language",
	func(description, member string, want bool) {
		d := describedAPI(description)
		Expect(d.FormsByLanguage(d.Operations[0]).Has(member)).To(Equal(want))
	},
	Entry("in English, otherwise", "In English, volume is in US dollars, otherwise in euros.", "volume", true),
	Entry("of two languages", "The deadline in English is that for applications from abroad, a week earlier than the one in German.", "deadline", true),
	Entry("by a general word", "Der Wert volume hängt von der Sprache ab.", "volume", true),
	Entry("another member", "In English, volume is in US dollars, otherwise in euros.", "deadline", false),
	Entry("the same", "The deadline is the same in English as in German.", "deadline", false),
	Entry("in both", "The deadline is in UTC, in English and in German.", "deadline", false),
	Entry("not", "The deadline does not depend on the language.", "deadline", false),
	Entry("of names", "Names are in the accepted language, German or English (German by default).", "volume", false),
)
