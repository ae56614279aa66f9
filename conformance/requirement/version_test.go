package requirement_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("The version of the catalogue", func() {
	It("says preview exactly as long as requirements are missing", func() {
		missing := len(requirement.Catalogue()) < requirement.Size
		Expect(strings.Contains(requirement.Version, "preview")).To(Equal(missing), requirement.Version)
	})
})
