package sandbox_test

import (
	"encoding/json"
	"regexp"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
)

var _ = Describe("the reference page of a node", func() {
	DescribeTable("offers documents that the node serves, and every document links the page (NET-R3)", func(root string) {
		node := newNode(sandbox.Config{Root: root})
		page := get(node, root+"/docs", nil)
		Expect(page.status).To(Equal(200))
		found := regexp.MustCompile(`<a href="([^"?]*/api-docs)">`).FindAllStringSubmatch(page.body, -1)
		Expect(found).To(HaveLen(2))
		for _, link := range found {
			var document struct {
				Servers      []struct{ URL string }
				ExternalDocs struct{ URL string }
			}
			Expect(json.Unmarshal([]byte(get(node, link[1], nil).body), &document)).To(Succeed(), link[1])
			Expect(document.Servers[0].URL).To(HavePrefix(node.url() + root + "/"))
			Expect(document.ExternalDocs.URL).To(Equal(node.url() + root + "/docs"))
		}
	},
		Entry("at the root of its host", ""),
		Entry("below a root", "/xb"),
	)
})
