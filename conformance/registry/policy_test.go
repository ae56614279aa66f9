package registry_test

import (
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/registry"
)

var _ = Describe("ReadPolicy", func() {
	const head = "operator: https://registry.example\ndocument: ris.json\n"

	It("reads the settings of all nodes and of one node, in any order", func() {
		p, err := registry.ReadPolicy([]byte(head + "nodes:\n  XA:\n    client-id2: two\n    client-secret2: env:TWO\n  XB:\n" +
			"defaults:\n  client-id: one\n  client-secret: exec:pass show rin/{id}\n  profile: auth\ncertificate: {max-age: 100d, control: required}\nrun: {hours: '20:00-06:00', may-shrink: 5%}\n"))
		Expect(err).NotTo(HaveOccurred())
		Expect(p.For("XA").Client).To(Equal(registry.Client{ID: "one", Secret: "exec:pass show rin/{id}"}))
		Expect(p.For("XA").Second.ID).To(Equal("two"))
		Expect(p.For("XB")).To(Equal(p.Defaults))
		Expect(p.MaxAge).To(Equal(2400 * time.Hour))
		Expect(p.RequireControl).To(BeTrue())
		Expect(p.MayShrink).To(Equal(5))
		Expect(p.Hours.Contains(time.Date(2026, 1, 1, 3, 0, 0, 0, time.UTC))).To(BeTrue())
		Expect(p.Hours.Contains(time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC))).To(BeFalse())
	})

	DescribeTable("refuses, with line and hint",
		func(text string, says ...string) {
			_, err := registry.ReadPolicy([]byte(text))
			Expect(err).To(HaveOccurred())
			for _, s := range says {
				Expect(err.Error()).To(ContainSubstring(s))
			}
		},
		Entry("an unknown key", head+"nodes:\n  XA: {profil: auth}\n", `line 4: nodes.XA: expected a key that is known here, got "profil" (hint: did you mean profile?)`),
		Entry("a key in another form", head+"certificate: {max_age: 3d}\n", "did you mean max-age?"),
		Entry("a key far from any", head+"colour: red\n", "hint: the keys are cacert, certificate"),
		Entry("a repeated key", head+"run: {at-once: 1, at-once: 2}\n", "line 3: run: expected each key once", "line 3 has it already"),
		Entry("an empty file", "", "operator: expected a URI", "document: expected the URL"),
		Entry("a word for a number", head+"run: {at-once: many}\n", `run.at-once: expected a number between 1 and 256, got "many"`),
		Entry("a notice longer than the age", head+"certificate:\n  max-age: 3d\n  notice: 4d\n", "line 5: certificate.notice: expected less than max-age, 3 days"),
		Entry("a document that is not at a URL", head+"nodes:\n  XA:\n    spec-url: api-docs\n", `line 5: nodes.XA.spec-url: expected the URL of the OpenAPI document, such as https://api.example/…, got "api-docs"`),
		Entry("a password in a URL", head+"nodes: {XA: {base-url: 'https://a:canary@api.example'}}\n", "line 3: nodes.XA.base-url: expected"),
		Entry("an origin that is a host", head+"defaults: {origins: [api.example]}\n", `line 3: defaults.origins: expected an origin such as https://api.example, got "api.example"`),
		Entry("a client without a secret", head+"nodes:\n  XA:\n    client-id: c\n", "line 5: nodes.XA.client-secret: expected a value beside client-id, got nothing"),
		Entry("a second client whose secret is in the defaults", head+"defaults: {client-secret2: env:TWO}\nnodes:\n  XA: {client-id: c, client-secret: env:ONE}\n", "line 3: nodes.XA.client-id2: expected a value beside client-secret2"),
		Entry("a client without a secret for all", head+"defaults: {client-id: c}\n", "line 3: defaults.client-secret: expected a value beside client-id"),
		Entry("a list in place of keys", head+"nodes: [XA]\n", "nodes: expected keys with values, got a list"),
		Entry("broken YAML", "operator: x\ndocument: [", "line 2: expected YAML, got did not find"),
		Entry("a huge file", strings.Repeat("#\n", 3<<20), "at most 4194304 bytes"),
	)

	It("takes a client whose id is in one place and whose secret is in the other", func() {
		p, err := registry.ReadPolicy([]byte(head + "defaults: {client-secret: 'exec:pass show {id}'}\nnodes: {XA: {client-id: c}}\n"))
		Expect(err).NotTo(HaveOccurred())
		Expect(p.For("XA").Client).To(Equal(registry.Client{ID: "c", Secret: "exec:pass show {id}"}))
	})

	It("reports no missing keys for broken YAML", func() {
		_, err := registry.ReadPolicy([]byte("a: ["))
		Expect(err).To(MatchError(Not(ContainSubstring("operator"))))
	})

	It("does not quote what may be a secret", func() {
		_, err := registry.ReadPolicy([]byte(head + "defaults: {client-secret: canary-of-a-secret}\n"))
		Expect(err).To(MatchError(ContainSubstring("line 3: defaults.client-secret: expected a place")))
		Expect(err.Error()).NotTo(ContainSubstring("canary"))
	})
})
