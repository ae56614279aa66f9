package registry_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/registry"
)

var _ = Describe("What a new registry document hides from its changes", func() {
	hidden := func(before registry.Document, text string) error {
		GinkgoHelper()
		after, err := registry.ReadDocument([]byte(text))
		Expect(err).NotTo(HaveOccurred())
		return registry.HiddenEntries(before, after)
	}
	documentWith := func(entry string) string {
		return `{"member":[{"id":"N1","oauth2":"https://n1.example/token","info":"https://n1.example/info"},` + entry + `]}`
	}

	DescribeTable("is an error", func(entry, says string) {
		Expect(hidden(documentOf(1), documentWith(entry))).To(MatchError(ContainSubstring(says)))
	},
		Entry("an entry without an id", `{"oauth2":"https://x/t","info":"https://x/i"}`, "entry 2 of the document: expected an id, as a text, got none"),
		Entry("an entry whose id is a number", `{"id":7,"oauth2":"https://x/t"}`, "entry 2 of the document: expected an id, as a text, got none"),
		Entry("an entry that is a string", `"XA"`, "entry 2 of the document: expected an object, got another value"),
		Entry("an entry that is null", `null`, "entry 2 of the document: expected an object, got another value"),
		Entry("an id that is too long", `{"id":"`+strings.Repeat("x", 201)+`"}`, "entry 2 of the document: expected an id of at most 200 bytes, without control characters"),
		Entry("an id with a control character", `{"id":"X\u0007A"}`, "entry 2 of the document: expected an id of at most 200 bytes, without control characters"),
		Entry("a member twice in an entry", `{"id":"N2","oauth2":"https://evil.example/t","info":"https://x/i","oauth2":"https://x/t"}`, "entry 2 of the document, N2: expected each member once, got oauth2 twice"),
		Entry("the list of entries twice", `{"id":"N2"}],"member":[{"id":"N1"}`, "the document has member twice"),
	)

	It("does not include valid entries, and entries that the document had before", func() {
		Expect(hidden(registry.Document{}, documentWith(`{"id":"N2","name":"Ü"}`))).To(Succeed())
		old, err := registry.ReadDocument([]byte(documentWith(`{"oauth2": "https://x/t"}`)))
		Expect(err).NotTo(HaveOccurred())
		Expect(hidden(old, documentWith(`{"id":"N2"},{"oauth2":"https://x/t"}`))).To(Succeed())
	})
})
