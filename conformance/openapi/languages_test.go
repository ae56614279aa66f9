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
	Entry("only translated ones", "Lists only fundings with texts in the language that is asked for.", true),
	Entry("only translated ones in German", "Listet nur Aufrufe, die eine englische Bezeichnung haben.", true),
	Entry("not translated ones in German", "Aufrufe, die nicht übersetzt sind, fehlen in der Liste.", true),
	Entry("without a translation", "Calls without a translation are omitted.", true),
	Entry("in one language only", "Only calls in the requested language are returned.", true),
	Entry("published ones", "Returns only calls that are published, with texts in German and English.", false),
	Entry("open ones, in a language", "Returns only calls that are open, with texts in German or English.", false),
	Entry("open ones, without a comma", "Returns only calls that are open with texts in English.", false),
	Entry("by filters", "Only calls that match all filters are listed; texts come in the language of Accept-Language.", false),
	Entry("by their calls", "Only programmes with a call are listed, in the language of Accept-Language.", false),
	Entry("published ones in German", "Nur Aufrufe, die veröffentlicht sind; Texte auf Deutsch.", false),
	Entry("open ones in German", "Listet nur Aufrufe, die offen sind, mit deutschen und englischen Texten.", false),
	Entry("closed ones", "Calls that are closed are not listed, and names are in English or German.", false),
	Entry("with texts in both", "Lists only calls with texts in German and English.", false),
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
	Entry("of two members", "volume and deadline depend on the language.", "deadline", true),
	Entry("in German, with the place first", "Auf Englisch ist volume in US-Dollar, sonst in Euro.", "volume", true),
	Entry("of a title in the same sentence", "Lists calls with deadline, budget and a title that depends on Accept-Language.", "deadline", false),
	Entry("of texts with other members", "Returns title, deadline and budget of each call, with texts in German or otherwise English.", "deadline", false),
	Entry("of texts after a colon", "deadline and texts: titles are in German and summary in French.", "deadline", false),
	Entry("of titles before it", "Titles are sent in German if Accept-Language asks for it, otherwise in English; deadline is a date.", "deadline", false),
	Entry("of a part of what it names", "The deadline of calls whose title differs by language is in UTC.", "deadline", false),
	Entry("another member", "In English, volume is in US dollars, otherwise in euros.", "deadline", false),
	Entry("the same", "The deadline is the same in English as in German.", "deadline", false),
	Entry("in both", "The deadline is in UTC, in English and in German.", "deadline", false),
	Entry("not", "The deadline does not depend on the language.", "deadline", false),
	Entry("of names", "Names are in the accepted language, German or English (German by default).", "volume", false),
)
