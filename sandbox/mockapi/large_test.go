package mockapi_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("a large document", func() {
	It("is served completely", func() {
		var b strings.Builder
		b.WriteString(`{"openapi":"3.0.3","info":{"title":"Large","version":"1"},"paths":{`)
		for i := range 1000 {
			fmt.Fprintf(&b, `"/p%d":{"get":{"parameters":[{"name":"limit","in":"query","schema":{"type":"integer"}}],"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":"array","items":{"$ref":"#/components/schemas/S%d"}}}}}}}},`, i, i)
			fmt.Fprintf(&b, `"/p%d/{id}":{"get":{"parameters":[{"name":"id","in":"path","required":true,"schema":{"type":"string"}}],"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/S%d"}}}}}}},`, i, i)
		}
		b.WriteString(`"/end":{"get":{"responses":{"204":{"description":"ok"}}}}},"components":{"schemas":{`)
		for i := range 1000 {
			fmt.Fprintf(&b, `"S%d":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"name":{"type":"string"},"next":{"$ref":"#/components/schemas/S%d"},"value":{"type":"number"}}},`, i, i/10*10+(i+1)%10)
		}
		b.WriteString(`"End":{}}}}`)
		api, _, err := buildAPI([]byte(b.String()))
		Expect(err).NotTo(HaveOccurred())
		Expect(api.Operations()).To(Equal(2001))
		Expect(api.Omissions()).To(BeEmpty())
	})
})
