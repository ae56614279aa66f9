package openapi_test

import (
	"encoding/json"
	"slices"
	"strconv"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

// server returns a page of the list for a value of the page parameter; ok is false if it refuses the value.
type server func(list []string, value, size int) (page []string, ok bool)

// cut returns up to size items of a list; a range past its end is empty.
func cut(list []string, from, size int) []string {
	from = min(max(from, 0), len(list))
	return list[from:min(from+size, len(list))]
}

func byOffset(list []string, value, size int) ([]string, bool) { return cut(list, value, size), true }

func fromZero(list []string, value, size int) ([]string, bool) {
	return cut(list, value*size, size), true
}

func fromOne(list []string, value, size int) ([]string, bool) {
	return cut(list, (value-1)*size, size), value > 0
}

func fromOneOrZero(list []string, value, size int) ([]string, bool) {
	return cut(list, (max(value, 1)-1)*size, size), true
}

func ignoringValue(list []string, _, size int) ([]string, bool) { return cut(list, 0, size), true }

func numbered(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	return out
}

// walk requests the pages that Next names; requests are the values of the page parameter.
func walk(list []string, size int, s server) (p openapi.Pages, requests []int) {
	p = openapi.Pages{Unpaged: list, Size: size, ByValue: map[int]openapi.Page{}}
	for {
		value, more := p.Next()
		if !more {
			return p, requests
		}
		Expect(requests).NotTo(ContainElement(value), "requests twice")
		requests = append(requests, value)
		items, ok := s(list, value, size)
		p.ByValue[value] = openapi.Page{Listed: ok, Items: items}
	}
}

var _ = Describe("Pages", func() {
	DescribeTable("show what the page parameter means, and have no faults unless it is ignored",
		func(n, size int, s server, meaning openapi.Meaning, values ...int) {
			p, requests := walk(numbered(n), size, s)
			Expect(p.Meaning()).To(Equal(meaning))
			Expect(requests).To(HaveExactElements(values))
			Expect(p.Faults().Empty()).To(Equal(meaning != openapi.Ignored), "%+v", p.Faults())
		},
		Entry("an offset", 10, 3, server(byOffset), openapi.Offset, 0, 1, 3, 6, 9),
		Entry("an offset with an exact last page", 9, 3, server(byOffset), openapi.Offset, 0, 1, 3, 6, 9),
		Entry("an offset in a long list", 100, 3, server(byOffset), openapi.Offset, 0, 1, 3, 6, 9, 12, 99),
		Entry("a number from 0", 10, 3, server(fromZero), openapi.FromZero, 0, 1, 3, 2),
		Entry("a number from 0 in a long list", 100, 3, server(fromZero), openapi.FromZero, 0, 1, 3, 2, 4, 33),
		Entry("a number from 1", 10, 3, server(fromOne), openapi.FromOne, 0, 1, 3, 2, 4),
		Entry("a number from 1 that takes 0 for 1", 10, 3, server(fromOneOrZero), openapi.FromOne, 0, 1, 3, 2, 4),
		Entry("two items by offset or number, which is the same", 2, 1, server(byOffset), openapi.FromZero, 0, 1, 2),
		Entry("two items by number from 1", 2, 1, server(fromOne), openapi.FromOne, 0, 1, 2, 3),
		Entry("nothing, if the node ignores it", 10, 3, server(ignoringValue), openapi.Ignored, 0, 1, 3),
		Entry("an offset on a node that makes pages smaller than asked for", 10, 6, server(func(list []string, value, _ int) ([]string, bool) { return cut(list, value, 4), true }),
			openapi.Offset, 0, 1, 6, 4, 8),
	)

	It("are not walked if the size has no effect", func() {
		p, requests := walk(numbered(10), 3, func(list []string, _, _ int) ([]string, bool) { return list, true })
		Expect(requests).To(HaveExactElements(0))
		Expect(p.Oversized()).To(BeTrue())
	})

	It("begin with the least value that the document allows", func() {
		p := openapi.Pages{Unpaged: numbered(4), Size: 2, Minimum: 1, ByValue: map[int]openapi.Page{}}
		value, _ := p.Next()
		Expect(value).To(Equal(1))
	})

	It("agree with the list if the last page repeats after the end", func() {
		p, requests := walk(numbered(9), 3, func(list []string, value, size int) ([]string, bool) { return cut(list, min(value, 6), size), true })
		Expect(requests).To(HaveExactElements(0, 1, 3, 6, 9))
		Expect(p.Faults().Empty()).To(BeTrue())
		Expect(p.PastEnd(9)).To(BeTrue())
		Expect(p.PastEnd(6)).To(BeFalse())
	})

	It("show nothing if page 1 is refused", func() {
		p, requests := walk(numbered(10), 3, func([]string, int, int) ([]string, bool) { return nil, false })
		Expect(p.Meaning()).To(BeEmpty())
		Expect(requests).To(HaveExactElements(0, 1, 3))
	})

	DescribeTable("show repeated and lost items",
		func(s server, repeated, lost []string) {
			p, _ := walk(numbered(10), 3, s)
			f := p.Faults()
			Expect(f.Repeated).To(HaveExactElements(repeated))
			Expect(f.Lost).To(HaveExactElements(lost))
		},
		Entry("the second page repeats the first, by offset", server(func(list []string, value, size int) ([]string, bool) {
			if value == size {
				value = 0
			}
			return cut(list, value, size), true
		}), []string{"0", "1", "2"}, []string{"3", "4", "5"}),
		Entry("the second page repeats the first, by number", server(func(list []string, value, size int) ([]string, bool) {
			return cut(list, max(value-1, 0)*size, size), true
		}), nil, nil), // the same as numbers from 1
		Entry("only one page repeats, by number", server(func(list []string, value, size int) ([]string, bool) {
			if value == 1 {
				value = 0
			}
			return cut(list, value*size, size), true
		}), nil, []string{"3", "4", "5"}),
		Entry("an item is lost between pages", server(func(list []string, value, size int) ([]string, bool) {
			return slices.DeleteFunc(slices.Clone(cut(list, value, size)), func(i string) bool { return i == "5" && value > 0 }), true
		}), nil, []string{"5"}),
		Entry("pages overlap by one", server(func(list []string, value, size int) ([]string, bool) {
			return cut(list, value*size-min(value, 1), size), true
		}), []string{"2"}, nil),
	)

	It("report a long list whose pages have another order", func() {
		list := numbered(100)
		reversed := slices.Clone(list)
		slices.Reverse(reversed)
		p, _ := walk(list, 3, func(_ []string, value, size int) ([]string, bool) { return cut(reversed, value, size), true })
		Expect(p.Faults()).To(Equal(openapi.PageFaults{Reordered: true}))
	})

	It("ignore an item that the list itself repeats", func() {
		list := append(numbered(6), "1")
		p, _ := walk(list, 3, byOffset)
		Expect(p.Faults().Empty()).To(BeTrue())
	})

	It("identify items by their id, or by their text", func() {
		Expect(openapi.Identities([][]byte{[]byte(`{"id":7}`), []byte(`{"x":1}`)})).To(HaveExactElements("7", `{"x":1}`))
	})
})

var _ = Describe("The promise that no page is empty", func() {
	DescribeTable("is read in the operation and in its schemas",
		func(operation, next string, want bool) {
			text, err := json.Marshal(map[string]any{
				"openapi": "3.0.3", "info": map[string]any{"title": "t", "version": "1"},
				"paths": map[string]any{"/calls": map[string]any{"get": map[string]any{
					"operationId": "calls", "description": operation,
					"responses": map[string]any{"200": map[string]any{"description": "ok", "content": map[string]any{
						"application/json": map[string]any{"schema": map[string]any{"$ref": "#/components/schemas/Page"}}}}},
				}}},
				"components": map[string]any{"schemas": map[string]any{"Page": map[string]any{"type": "object", "properties": map[string]any{
					"previous": map[string]any{"$ref": "#/components/schemas/Page"}, "next": map[string]any{"type": "string", "description": next}}}}},
			})
			Expect(err).NotTo(HaveOccurred())
			d, err := openapi.Parse(text)
			Expect(err).NotTo(HaveOccurred())
			o, ok := d.Operation("calls")
			Expect(ok).To(BeTrue())
			Expect(d.ExcludesEmptyPages(o)).To(Equal(want))
		},
		Entry("of the operation", "No page is empty.", "", true),
		Entry("of the next page", "", "It is missing on the last page, and only there: no page after the first is empty.", true),
		Entry("in other words", "Pages are never empty.", "", true),
		Entry("of the end", "", "The relations first and last, next unless nothing follows.", true),
		Entry("of the end in other words", "The Link header has rel=next as long as there are more records.", "", true),
		Entry("of the end, with doubts", "The Link header has rel=next if there may be more records.", "", false),
		Entry("of the end, although pages may have nothing", "A page may have fewer entries, even none. The Link has rel=next if there are further entries.", "", false),
		Entry("of the end by what is absent", "", "next: absent when there are no more records.", true),
		Entry("how to use a cursor", "Pass the value of nextCursor only if you need further records.", "", false),
		Entry("a link that stays", "", "A link to the next page is present even if no more records follow.", false),
		Entry("of the end, and a last page that can be empty", "", "next is left out if no more calls follow; the last page can turn out empty.", false),
		Entry("of the end, and of the page behind", "", "next leads to an empty page when there are no more items.", false),
		Entry("an end that may be empty", "", "It is missing on the last page. The last page may be empty.", false),
		Entry("a page that may be empty", "", "A page may be shorter than pageSize, and it may be empty, although more follow.", false),
		Entry("nothing", "", "", false),
	)

	It("is not read where the description of the API allows empty pages", func() {
		d, err := openapi.Parse([]byte(`{"openapi":"3.0.3","info":{"title":"t","version":"1","description":"A page may hold fewer items than limit, even none, although more follow."},
			"paths":{"/calls":{"get":{"operationId":"calls","description":"The Link header has rel=next as long as there are more records.","responses":{"200":{"description":"ok"}}}}}}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(d.ExcludesEmptyPages(d.Operations[0])).To(BeFalse())
	})
})
