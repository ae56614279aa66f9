package openapi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = DescribeTable("A sentence mentions a member",
	func(sentence, member string, want bool) {
		d := describedAPI("In English, " + sentence + " is another one than in German.")
		Expect(d.FormsByLanguage(d.Operations[0]).Has(member)).To(Equal(want))
	},
	Entry("by its name", "the `volume`", "volume", true),
	Entry("in the plural", "each of the names", "name", true),
	Entry("in two words", "the contact email", "contactEmail", true),
	Entry("with a hyphen", "the contact-email", "contact_email", true),
	Entry("in German", "die Förderhöhe", "förderhöhe", true),
	Entry("an abbreviation", "the call ID", "callID", true),
	Entry("not as a part of another word", "the volumetric weight", "volume", false),
	Entry("not in two parts of the sentence", "contact, then email", "contactEmail", false),
	Entry("not with other signs", "$volume", "$volume", false),
	Entry("not if it is long", strings.Repeat("a", 65), strings.Repeat("a", 65), false),
	Entry("not without letters", "it", "_", false),
)

var _ = Describe("The prose of a hostile document", func() {
	// document describes the API and many members by long texts.
	document := func(general, ofMember string) *openapi.Document {
		properties := map[string]any{}
		for i := range 500 {
			properties[fmt.Sprintf("m%d", i)] = map[string]string{"description": ofMember}
		}
		text, err := json.Marshal(map[string]any{"openapi": "3.0.3", "info": map[string]string{"description": general},
			"paths": map[string]any{"/calls": map[string]any{"get": map[string]any{"description": general,
				"responses": map[string]any{"200": map[string]any{"content": map[string]any{"application/json": map[string]any{"schema": map[string]any{"properties": properties}}}}}}}}})
		Expect(err).NotTo(HaveOccurred())
		return parsed(string(text))
	}
	for name, sentence := range map[string]string{
		"sentences":  "In the list, m1 and words in English are shortened otherwise, and both may differ in the detail of m2. ",
		"paragraphs": "In the list, m1 and words in English are shortened otherwise, and both may differ in the detail of m2.\n\n",
		"no end":     "in the list m1 and words in English and the detail differs ",
	} {
		It("is read in bounded time: "+name, func() {
			d := document(strings.Repeat(sentence, 4<<20/len(sentence)), strings.Repeat(sentence, 100))
			started := time.Now()
			forms, languages := d.FormsInList(d.Operations[0], d.Operations[0]), d.FormsByLanguage(d.Operations[0])
			for i := range 10_000 {
				forms.Of(fmt.Sprintf("someMemberName%d", i))
				languages.Has(fmt.Sprintf("someMemberName%d", i))
			}
			Expect(time.Since(started)).To(BeNumerically("<", time.Minute)) // a pattern for each name takes hours
		})
	}
})
