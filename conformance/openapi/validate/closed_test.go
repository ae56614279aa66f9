package validate_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

// hostile returns schemas that would make a careless JSON Schema compiler read the address, a URL or path.
func hostile(address string) map[string]string {
	base, _ := filepath.Split(address)
	return map[string]string{
		"$ref":              `{"$ref":"` + address + `"}`,
		"$dynamicRef":       `{"$dynamicRef":"` + address + `"}`,
		"$recursiveRef":     `{"$recursiveRef":"` + address + `"}`,
		"$schema":           `{"$schema":"` + address + `","type":"object"}`,
		"$id and a tail":    `{"$id":"` + base + `","properties":{"q":{"$dynamicRef":"stolen.json"}}}`,
		"$id and $ref":      `{"$id":"` + base + `","properties":{"q":{"$ref":"stolen.json"}}}`,
		"$id and a pointer": `{"$id":"` + address + `","properties":{"q":{"$ref":"#/planted"}}}`,
		"a discriminator":   `{"oneOf":[{"$ref":"` + address + `"}],"discriminator":{"propertyName":"q","mapping":{"1":"` + address + `"}}}`,
		"an example":        `{"type":"object","example":{"$ref":"` + address + `"}}`,
		"an extension":      `{"type":"object","x-ref":{"$ref":"` + address + `"}}`,
		"a dialect":         `{"$vocabulary":{"` + address + `":true}}`,
	}
}

var _ = Describe("Addresses in a document", func() {
	var fetched atomic.Int32
	var addresses []string

	BeforeEach(func() {
		fetched.Store(0)
		const planted = `{"type":"object","required":["planted"],"planted":{"type":"number"}}`
		listener := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fetched.Add(1)
			fmt.Fprint(w, planted)
		}))
		DeferCleanup(listener.Close)
		file := filepath.Join(GinkgoT().TempDir(), "stolen.json")
		Expect(os.WriteFile(file, []byte(planted), 0o600)).To(Succeed())
		addresses = []string{listener.URL + "/stolen.json", "file://" + filepath.ToSlash(file), filepath.ToSlash(file)}
	})

	try := func(doc evidence.Document) {
		GinkgoHelper()
		judge, err := validate.NewJudge(doc)
		Expect(err).NotTo(HaveOccurred())
		parsed, err := openapi.Parse(doc.Reduced)
		Expect(err).NotTo(HaveOccurred())
		_, _ = validate.Structure(doc.Reduced)
		f := judge.Annotate(answer(200, "application/json", `{"q":"1"}`), parsed.Operations[0])
		Expect(fetched.Load()).To(BeZero())
		all, err := json.Marshal(f)
		Expect(err).NotTo(HaveOccurred())
		Expect(string(all)).NotTo(ContainSubstring("planted"), "the planted schema was read")
	}

	It("are never fetched, with or without the guard", func() {
		for _, address := range addresses {
			for name, schema := range hostile(address) {
				for _, version := range []string{"3.0.3", "3.1.0"} {
					By(fmt.Sprintf("%s, %s, %s", name, version, strings.SplitN(address, ":", 2)[0]))
					text := spec(version, schema, `{"A":`+schema+`}`)
					try(openapi.Guard([]byte(text), openapi.Limits{}))
					try(evidence.Document{Reduced: json.RawMessage(text)})
				}
			}
		}
	})

	It("would be noticed by this test if they were fetched", func() {
		response, err := http.Get(addresses[0])
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(fetched.Load()).To(BeEquivalentTo(1))
		f := annotateBody(spec("3.0.3", `{"type":"object","required":["planted"]}`, `{}`), `{"q":"1"}`)
		Expect(f.Findings[0].Path).To(ContainSubstring("planted"))
	})
})
