package openapi_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = Describe("Names of pages in other languages", func() {
	number := openapi.Schema{Type: "integer"}

	DescribeTable("have the role of the English name",
		func(name string, schema openapi.Schema, want openapi.Role) {
			Expect(openapi.RoleOf(openapi.Parameter{Name: name, In: "query", Schema: schema})).To(Equal(want))
		},
		Entry("German page", "seite", number, openapi.PageRole),
		Entry("German size with umlaut and capitals", "seitenGröße", number, openapi.SizeRole),
		Entry("French size", "parPage", number, openapi.SizeRole),
		Entry("Norwegian page", "sidenummer", number, openapi.PageRole),
		Entry("Dutch offset", "verschuiving", number, openapi.SkipRole),
		Entry("a text that is a filter", "side", openapi.Schema{Type: "string"}, openapi.Role("")),
		Entry("an unknown word", "leathanach", number, openapi.Role("")),
	)

	read := func(body string) openapi.Sheet { return openapi.ReadSheet(http.Header{}, []byte(body), true) }

	It("lead to the next page and name the total", func() {
		sheet := read(`{"inhalt":[{"nummer":"A"}],"gesamt":3,"nächste":"/liste?seite=2","vorige":null}`)
		Expect(sheet.Link).To(Equal("/liste?seite=2"))
		Expect(sheet.Total).To(Equal(3))
		Expect(read(`{"elementi":[{"id":"A"}],"prossima":{"href":"?pagina=2"}}`).Link).To(Equal("?pagina=2"))
	})

	It("are only looked for in the envelope: an item's member of such a name is its own", func() {
		Expect(read(`{"inhalt":[{"nummer":"A","weiter":"https://funder.example/a"}]}`).Link).To(BeEmpty())
	})

	It("that are unknown leave open whether the list goes on", func() {
		for _, body := range []string{`{"earraí":[{"id":"A"}],"iomlán":3}`, `{"earraí":[{"id":"A"}],"arAghaidh":"/liosta?leathanach=2"}`} {
			reading := openapi.Reading{Sheets: []openapi.Sheet{read(body)}}
			Expect(reading.Ended()).To(BeFalse(), body)
		}
		Expect(openapi.Reading{Sheets: []openapi.Sheet{read(`{"earraí":[{"id":"A"}],"leagan":1}`)}}.Ended()).To(BeTrue())
	})
})
