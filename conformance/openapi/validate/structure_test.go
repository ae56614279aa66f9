package validate_test

import (
	"encoding/json"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

var _ = Describe("The structure of a document", func() {
	It("is reported with causes and places", func() {
		faults, err := validate.Structure([]byte(`{"openapi":"3.0.1","info":{"title":"t"},"paths":{"/a":{"get":{"responses":[]}}}}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(faults).To(ContainElements(ContainSubstring("$.info: "), ContainSubstring(`$.paths["/a"].get.responses: `)))
	})

	It("has no faults in a valid document", func() {
		Expect(validate.Read([]byte(spec("3.0.3", `{"type":"string"}`, `{}`)), openapi.DefaultLimits()).Invalid).To(BeEmpty())
		Expect(validate.Read([]byte(spec("3.1.0", `{"type":["string","null"]}`, `{}`)), openapi.DefaultLimits()).Invalid).To(BeEmpty())
	})

	It("is compared for Swagger 2.0, too", func() {
		Expect(validate.Structure([]byte(`{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{}}`))).To(BeEmpty())
		read := validate.Read([]byte(`{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{}}}}}}`), openapi.Limits{})
		Expect(read.Invalid).To(ContainElement(ContainSubstring("description")))
	})

	It("is compared with the alternative of the meta-schema that it most probably means", func() {
		faults, err := validate.Structure([]byte(`{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{},
			"securityDefinitions":{"token":{"type":"oauth2","flow":"application","tokenUrl":"/token","scopes":{}}}}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(faults).To(HaveExactElements(HavePrefix("$.securityDefinitions.token.tokenUrl: ")))
	})

	It("ignores what the guard removed", func() {
		read := validate.Read([]byte(`{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/a":{"get":{"responses":{
			"200":{"$ref":"common.json#/Good"},"404":{}}}}}}`), openapi.Limits{})
		Expect(read.Removed).To(HaveLen(1))
		Expect(read.Invalid).To(HaveExactElements(ContainSubstring("404")))
	})

	It("is not compared without a meta-schema, and the evidence has the reason", func() {
		for _, text := range []string{`{"openapi":"3.9.0","info":{"title":"t","version":"1"},"paths":{}}`, `{"swagger":"1.2","paths":{}}`, `{}`} {
			read := validate.Read([]byte(text), openapi.Limits{})
			Expect(read.Invalid).To(BeEmpty(), text)
			Expect(read.Uncompared).NotTo(BeEmpty(), text)
			Expect(json.Valid(read.Reduced)).To(BeTrue())
		}
		Expect(validate.Read([]byte(spec("3.0.3", `{"type":"string"}`, `{}`)), openapi.Limits{}).Uncompared).To(BeEmpty())
	})
})
