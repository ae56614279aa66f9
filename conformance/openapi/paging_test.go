package openapi_test

import (
	"net/http"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

var _ = Describe("The role of a parameter", func() {
	number, text := openapi.Schema{Type: "integer"}, openapi.Schema{Type: "string"}
	DescribeTable("follows from its name in any spelling, and its type",
		func(name string, s openapi.Schema, want openapi.Role) {
			Expect(openapi.RoleOf(openapi.Parameter{Name: name, In: "query", Schema: s})).To(Equal(want))
		},
		Entry(nil, "perPage", number, openapi.SizeRole), Entry(nil, "per_page", number, openapi.SizeRole), Entry(nil, "page-size", number, openapi.SizeRole),
		Entry(nil, "pageSize", number, openapi.SizeRole), Entry(nil, "page[size]", number, openapi.SizeRole), Entry(nil, "limit", number, openapi.SizeRole),
		Entry(nil, "$top", number, openapi.SizeRole), Entry(nil, "max", number, openapi.SizeRole), Entry(nil, "count", number, openapi.SizeRole), Entry(nil, "take", number, openapi.SizeRole),
		Entry(nil, "rows", number, openapi.SizeRole), Entry("a count that is asked for", "$count", openapi.Schema{Type: "boolean"}, openapi.Role("")),
		Entry(nil, "page", number, openapi.PageRole), Entry(nil, "p", number, openapi.PageRole), Entry(nil, "pageNumber", number, openapi.PageRole), Entry(nil, "page[page]", number, openapi.PageRole),
		Entry(nil, "offset", number, openapi.SkipRole), Entry(nil, "$skip", number, openapi.SkipRole), Entry(nil, "start", number, openapi.SkipRole), Entry(nil, "from", number, openapi.SkipRole),
		Entry("a day", "from", openapi.Schema{Type: "string", Format: "date"}, openapi.Role("")),
		Entry(nil, "cursor", text, openapi.CursorRole), Entry(nil, "page_token", text, openapi.CursorRole), Entry(nil, "after", text, openapi.CursorRole),
		Entry("a day", "after", openapi.Schema{Type: "string", Format: "date"}, openapi.Role("")),
		Entry(nil, "sort", openapi.Schema{Type: "string", Enum: []string{"id"}}, openapi.SortRole), Entry(nil, "order_by", text, openapi.SortRole),
		Entry("words with a sign for the direction", "ordem", openapi.Schema{Type: "string", Enum: []string{"prazo", "-prazo"}}, openapi.SortRole),
		Entry("words that end in the direction", "tri", openapi.Schema{Type: "array", Items: &openapi.Schema{Type: "string", Enum: []string{"titre_asc", "titre_desc"}}}, openapi.SortRole),
		Entry("numbers with a sign", "zone", openapi.Schema{Type: "string", Enum: []string{"1h", "-1h"}}, openapi.Role("")),
		Entry("words without an opposite", "area", openapi.Schema{Type: "string", Enum: []string{"mar", "terra", "order_asc"}}, openapi.Role("")),
		Entry("a filter", "maxBudget", number, openapi.Role("")), Entry("a word", "page", openapi.Schema{Type: "string", Enum: []string{"first"}}, openapi.Role("")),
	)

	It("is found for members of a deep object, the network's own names first", func() {
		o := openapi.Operation{Parameters: []openapi.Parameter{
			{Name: "limit", In: "query", Schema: number},
			{Name: "page", In: "query", Schema: openapi.Schema{Type: "object", Properties: map[string]openapi.Schema{"size": number, "number": number}}},
		}}
		size, _ := o.QueryWithRole(openapi.SizeRole)
		Expect(size.Name).To(Equal("page[size]"))
		page, _ := o.QueryWithRole(openapi.PageRole, openapi.SkipRole)
		Expect(page.Name).To(Equal("page[number]"))
	})
})

var _ = Describe("A page", func() {
	DescribeTable("names the next page by a cursor",
		func(body, want string) {
			Expect(openapi.ReadListPage(http.Header{}, []byte(body), true).Cursor).To(Equal(want))
		},
		Entry(nil, `{"items":[],"next_cursor":"abc"}`, "abc"),
		Entry(nil, `{"items":[],"nextCursor":7}`, "7"),
		Entry(nil, `{"data":[],"meta":{"next":"x1"}}`, "x1"),
		Entry(nil, `{"data":[],"paging":{"cursors":{"after":"x1"}}}`, "x1"),
		Entry("null at the end", `{"items":[],"next_cursor":null}`, ""),
		Entry("no more", `{"items":[],"next_cursor":"abc","has_more":false}`, ""),
		Entry("a link is not a cursor", `{"items":[],"next":"/calls?page=2"}`, ""),
		Entry("base64 that begins like a path", `{"items":[],"nextCursor":"/Ab+9/x0="}`, "/Ab+9/x0="),
		Entry("a link under the name of a cursor is not a cursor", `{"items":[],"nextCursor":"/calls?page=2"}`, ""),
		Entry("a path is not a cursor", `{"items":[],"next":"/calls/2"}`, ""),
		Entry("an array", `[{"next":"x"}]`, ""),
	)
})

var _ = Describe("A reading", func() {
	page := func(next string, items ...string) openapi.ListPage {
		return openapi.ListPage{Listed: true, Items: items, Cursor: next, Total: -1}
	}
	It("ends if no next page is named", func() {
		rd := openapi.Reading{Pages: []openapi.ListPage{page("x", "a", "b"), page("", "c")}}
		Expect(rd.Ended()).To(BeTrue())
		Expect(rd.Items()).To(HaveExactElements("a", "b", "c"))
	})
	It("continues while a next page is named, even after an empty page", func() {
		Expect(openapi.Reading{Pages: []openapi.ListPage{page("x", "a"), page("y")}}.More()).To(BeTrue())
	})
	It("ends by number with a short page, an empty one, or the total", func() {
		Expect(openapi.Reading{Numbered: true, Pages: []openapi.ListPage{page("", "a", "b")}}.More()).To(BeTrue())
		Expect(openapi.Reading{Numbered: true, Pages: []openapi.ListPage{page("", "a", "b"), page("", "c")}}.Ended()).To(BeTrue())
		Expect(openapi.Reading{Numbered: true, Pages: []openapi.ListPage{page("", "a", "b"), page("")}}.Ended()).To(BeTrue())
		Expect(openapi.Reading{Numbered: true, Pages: []openapi.ListPage{{Listed: true, Items: []string{"a"}, Total: 1}}}.Ended()).To(BeTrue())
	})
	It("circles if a page comes again", func() {
		rd := openapi.Reading{Pages: []openapi.ListPage{page("x", "a"), page("y", "b"), page("x", "a")}}
		Expect(rd.Circles()).To(BeTrue())
		Expect(rd.More()).To(BeFalse())
		Expect(rd.Ended()).To(BeFalse())
	})
	It("finds the items that another reading loses, repeats or adds", func() {
		whole := openapi.Reading{Pages: []openapi.ListPage{page("", "a", "b", "c")}}
		Expect(whole.Against(openapi.Reading{Pages: []openapi.ListPage{page("x", "a"), page("", "c")}})).To(Equal(openapi.ReadingFaults{Lost: []string{"b"}}))
		Expect(whole.Against(openapi.Reading{Pages: []openapi.ListPage{page("x", "a", "b"), page("", "b", "c")}})).To(Equal(openapi.ReadingFaults{Repeated: []string{"b"}}))
		Expect(whole.Against(openapi.Reading{Pages: []openapi.ListPage{page("x", "a"), page("", "b", "c", "d")}})).To(Equal(openapi.ReadingFaults{Extra: []string{"d"}}))
		Expect(whole.Against(openapi.Reading{Pages: []openapi.ListPage{page("x", "a")}}).Empty()).To(BeTrue())
	})
})

var _ = Describe("A schema", func() {
	DescribeTable("is read through an optional value",
		func(schema string) {
			d, err := openapi.Parse([]byte(`{"openapi":"3.1.0","paths":{"/a":{"get":{"parameters":[{"name":"s","in":"query","schema":` + schema + `}],"responses":{}}}},
				"components":{"schemas":{"E":{"type":"string","enum":["A","B"]}}}}`))
			Expect(err).NotTo(HaveOccurred())
			Expect(d.Operations[0].Parameters[0].Schema.Enum).To(HaveExactElements("A", "B"))
			Expect(d.Operations[0].Parameters[0].Schema.Type).To(Equal("string"))
		},
		Entry("FastAPI", `{"anyOf":[{"type":"string","enum":["A","B"]},{"type":"null"}],"title":"S"}`),
		Entry("OpenAPI 3.0", `{"oneOf":[{"type":"string","enum":["A","B"]},{"type":"string","enum":[null],"nullable":true}]}`),
		Entry("drf-spectacular", `{"oneOf":[{"$ref":"#/components/schemas/E"},{"enum":[null]}],"nullable":true}`),
		Entry("a reference", `{"anyOf":[{"$ref":"#/components/schemas/E"},{"type":"null"}]}`),
		Entry("oneOf", `{"oneOf":[{"type":"null"},{"$ref":"#/components/schemas/E"}]}`),
		Entry("types", `{"type":["string","null"],"enum":["A","B",null]}`),
		Entry("allOf", `{"allOf":[{"$ref":"#/components/schemas/E"}],"default":"A"}`),
		Entry("two vocabularies", `{"anyOf":[{"type":"string","const":"A"},{"type":"string","enum":["B"]}]}`),
	)

	It("has the examples of the parameter and its own", func() {
		guarded := openapi.Guard([]byte(`{"openapi":"3.1.0","paths":{"/a":{"get":{"parameters":[{"name":"s","in":"query","example":"x","schema":{"type":"string","examples":["y"]}},
			{"name":"t","in":"query","examples":{"one":{"value":"z"}},"schema":{"type":"string"}}],"responses":{}}}}}`), openapi.Limits{})
		d, err := openapi.Parse(guarded.Reduced)
		Expect(err).NotTo(HaveOccurred())
		Expect(d.Operations[0].Parameters[0].Schema.Examples).To(HaveExactElements("x", "y"))
		Expect(d.Operations[0].Parameters[1].Schema.Examples).To(HaveExactElements("z"))
	})
})

var _ = Describe("Names for paging in other languages", func() {
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

	read := func(body string) openapi.ListPage { return openapi.ReadListPage(http.Header{}, []byte(body), true) }

	It("lead to the next page and name the total", func() {
		listPage := read(`{"inhalt":[{"nummer":"A"}],"gesamt":3,"nächste":"/liste?seite=2","vorige":null}`)
		Expect(listPage.Link).To(Equal("/liste?seite=2"))
		Expect(listPage.Total).To(Equal(3))
		Expect(read(`{"elementi":[{"id":"A"}],"prossima":{"href":"?pagina=2"}}`).Link).To(Equal("?pagina=2"))
	})

	It("are read in the envelope only, and not in the items", func() {
		Expect(read(`{"inhalt":[{"nummer":"A","weiter":"https://funder.example/a"}]}`).Link).To(BeEmpty())
	})

	It("that are unknown leave open whether the list goes on", func() {
		for _, body := range []string{`{"earraí":[{"id":"A"}],"iomlán":3}`, `{"earraí":[{"id":"A"}],"arAghaidh":"/liosta?leathanach=2"}`} {
			reading := openapi.Reading{Pages: []openapi.ListPage{read(body)}}
			Expect(reading.Ended()).To(BeFalse(), body)
		}
		Expect(openapi.Reading{Pages: []openapi.ListPage{read(`{"earraí":[{"id":"A"}],"leagan":1}`)}}.Ended()).To(BeTrue())
	})
})
