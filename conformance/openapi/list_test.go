package openapi_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/openapi"
)

// texts returns the items as strings.
func texts(items [][]byte) []string {
	out := []string{}
	for _, i := range items {
		out = append(out, string(i))
	}
	return out
}

var _ = Describe("Lists", func() {
	DescribeTable("are found in an array or in the only array of a common envelope",
		func(body string, whole bool, want ...string) {
			list, ok := openapi.ReadList([]byte(body))
			Expect(ok).To(BeTrue())
			Expect(texts(list.Items)).To(HaveExactElements(want))
			Expect(list.Complete).To(Equal(whole))
		},
		Entry("an array", ` [ 1 , "a]" , {"b":[ ]},null,[]] `, true, `1`, `"a]"`, `{"b":[ ]}`, `null`, `[]`),
		Entry("after a byte order mark", "\uFEFF[1]", true, `1`),
		Entry("HAL", `{"_embedded":{"fundings":[1]},"_links":{},"page":{}}`, true, `1`),
		Entry("an empty HAL page", `{"_links":{},"page":{"totalElements":0}}`, true),
		Entry("JSON:API", `{"data":[1],"included":[2],"links":{}}`, true, `1`),
		Entry("Spring Data", `{"content":[1],"pageable":{"sort":[]},"sort":[]}`, true, `1`),
		Entry("a name of its own", `{"total":1,"offers":[1]}`, true, `1`),
		Entry("an escaped name", `{"\u0069tems":[1],"x":[]}`, true, `1`),
		Entry("the last of a repeated name", `{"items":[1],"items":[2]}`, true, `2`),
		Entry("a text that breaks off", `[{"a":1},{"b":"x`, false, `{"a":1}`),
		Entry("a number that may go on", `[1,2`, false, `1`),
		Entry("an envelope that breaks off", `{"links":[],"_embedded":{"calls":[1,[2`, false, `1`),
		Entry("an item that is not JSON", `[1,tru,3]`, false, `1`),
	)

	DescribeTable("are split into items without reading them",
		func(array string, whole bool, want ...string) {
			items, all := openapi.Split([]byte(array))
			Expect(texts(items)).To(HaveExactElements(want))
			Expect(all).To(Equal(whole))
			var decoded []json.RawMessage
			if whole && json.Unmarshal([]byte(array), &decoded) == nil {
				Expect(items).To(HaveLen(len(decoded)))
			}
		},
		Entry("an array", ` [ 1 , "a]\"\\" , {"b":[ "}" ]},null,[]] `, true, `1`, `"a]\"\\"`, `{"b":[ "}" ]}`, `null`, `[]`),
		Entry("an empty array", " [ ]\n", true), Entry("an item that is not checked", `[tru,{"a"}]`, true, `tru`, `{"a"}`),
		Entry("a missing comma", `[1 2]`, false, `1`), Entry("a comma after the last item", `[1,]`, false, `1`), Entry("a comma before the first item", `[,1]`, false),
		Entry("two commas", `[1,,2]`, false, `1`), Entry("text after the array", `[1] 2`, false, `1`), Entry("text after an empty array", `[] 2`, false),
		Entry("a text that breaks off", `[1,"a\`, false, `1`), Entry("a text without the last bracket", `[1,[2]`, false, `1`, `[2]`), Entry("no array", `{"a":[1]}`, false),
	)

	It("are split where their strings end, wherever quotes and escapes stand", func() {
		for _, part := range []string{`\"`, `\\`, `\\\"`, "!", "#", "[", "]", "\u00a2\u015c", "\x80"} { // neighbours of quote and escape, alone and in other bytes
			for before := range 18 {
				for after := range 10 {
					first := `"` + strings.Repeat("a", before) + part + strings.Repeat("b", after) + `"`
					for _, rest := range []string{"", `,"c"`, `,"a long second string",[1]`} {
						items, complete := openapi.Split([]byte("[" + first + rest + "]"))
						Expect(complete).To(BeTrue(), first)
						Expect(string(items[0])).To(Equal(first))
						_, complete = openapi.Split([]byte("[" + first[:len(first)-1]))
						Expect(complete).To(BeFalse(), first)
					}
				}
			}
		}
	})

	It("are split in linear time", func() {
		text := []byte(`["` + strings.Repeat(`\\`, 4<<20) + `"]`)
		_, complete := openapi.Split(text)
		Expect(complete).To(BeTrue())
	})

	DescribeTable("are not found in other values",
		func(body string) {
			_, ok := openapi.ReadList([]byte(body))
			Expect(ok).To(BeFalse())
		},
		Entry("an item with an array", `{"id":"a","name":[]}`), Entry("two arrays", `{"a":[],"b":[]}`), Entry("no array", `{"a":1}`),
		Entry("a scalar", `"[]"`), Entry("nothing", ` `), Entry("HTML", `<html>[]`),
	)

	DescribeTable("have items with member values",
		func(path string, want ...string) {
			item := `{"id":"a\u0062","n":1.50,"ok":true,"none":null,"o":{"id":"in"},"list":["x",{"id":"y"},["z"]],"funder":[{"funder":{"id":"f1"}},7,{"funder":{"id":"f2"}}]}`
			Expect(openapi.MemberValues([]byte(item), path)).To(HaveExactElements(want))
		},
		Entry("a string", "id", "ab"), Entry("a number as written", "n", "1.50"), Entry("a boolean", "ok", "true"),
		Entry("null", "none"), Entry("an object", "o"), Entry("absent", "x"),
		Entry("through an array", "funder[].funder.id", "f1", "f2"), Entry("in an array", "list", "x"), Entry("of a member", "o.id", "in"),
	)

	It("are read without allocating much memory", func() {
		for _, hostile := range []string{
			"[" + strings.Repeat("1,", 5<<20) + "1]",
			`{"items":[` + strings.Repeat("[],", 3<<20) + "1]}",
			"{" + strings.Repeat(`"a":1,`, 1<<20) + `"b":[]}`,
			`[{"id":[` + strings.Repeat("1,", 5<<20) + "1]}]",
		} {
			body := []byte(hostile)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			list, _ := openapi.ReadList(body)
			for _, item := range list.Items[:min(len(list.Items), 1)] {
				openapi.MemberValues(item, "id")
			}
			runtime.ReadMemStats(&after)
			Expect(len(list.Items)).To(BeNumerically("<=", openapi.MaxItems))
			Expect(after.TotalAlloc - before.TotalAlloc).To(BeNumerically("<", 10<<20))
		}
	})
})

func FuzzReadList(f *testing.F) {
	for _, seed := range []string{`[1,{"id":"a"}]`, `{"items":[{"id":[[7]]}]}`, `{"_embedded":{"a":[`, `{"a":"\`, `[,]`, `{"a" "b":[]}`, `[[[[`, `[1`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		list, ok := openapi.ReadList(body)
		for _, item := range list.Items {
			if !json.Valid(item) {
				t.Errorf("item %q is not JSON", item)
			}
			openapi.MemberValues(item, "id")
		}
		var want []json.RawMessage
		if json.Unmarshal(body, &want) == nil && want != nil && (!ok || len(want) <= openapi.MaxItems && (!list.Complete || len(want) != len(list.Items))) {
			t.Errorf("%q holds %d items, got %d", body, len(want), len(list.Items))
		}
	})
}

func referencesIn(body []byte) []openapi.Reference {
	list, _ := openapi.ReadList(body)
	return openapi.References(body, list.Items)
}

var _ = Describe("References", func() {
	DescribeTable("are found in all common shapes", func(body string, want ...openapi.Reference) {
		Expect(referencesIn([]byte(body))).To(HaveExactElements(want))
	},
		Entry("HAL", `{"_links":{"self":{"href":"/c?p=1"},"next":{"href":"/c?p=2"},"find":{"href":"/f"}},"_embedded":{"calls":[{"id":1,"_links":{"self":{"href":"/c/1"}}}]}}`,
			openapi.Reference{Relation: "next", Target: "/c?p=2", Path: "$._links.next"}, openapi.Reference{Relation: "self", Target: "/c?p=1", Path: "$._links.self"},
			openapi.Reference{Relation: "self", Target: "/c/1", Path: "$[0]._links.self"}),
		Entry("HAL, a template", `{"_links":{"self":{"href":"/c{?page}","templated":true}}}`),
		Entry("JSON:API", `{"data":[],"links":{"next":"https://h/c?page%5Bnumber%5D=2","prev":null,"last":{"href":"/c?x"}}}`,
			openapi.Reference{Relation: "next", Target: "https://h/c?page%5Bnumber%5D=2", Path: "$.links.next"},
			openapi.Reference{Relation: "last", Target: "/c?x", Path: "$.links.last"}),
		Entry("Spring HATEOAS and ORDS", `{"items":[],"links":[{"rel":"next","href":"https://h/c?offset=2"},{"rel":"describedby","href":"https://m/"}]}`,
			openapi.Reference{Relation: "next", Target: "https://h/c?offset=2", Path: "$.links[0]"}),
		Entry("Django", `{"count":3,"next":"http://h/c?page=2","previous":null,"results":[{"id":1,"href":"/c/1"}]}`,
			openapi.Reference{Relation: "next", Target: "http://h/c?page=2", Path: "$.next"},
			openapi.Reference{Relation: "self", Target: "/c/1", Path: "$[0].href"}),
		Entry("an object about the page", `{"items":[{"id":1}],"pagination":{"page":1,"last":3,"next":"/c?page=2","prev":""},"about":{"next":"/other"}}`,
			openapi.Reference{Relation: "next", Target: "/c?page=2", Path: "$.pagination.next"}),
		Entry("items that link to themselves, and to the next one", `{"items":[{"id":1,"next":"/c/2","prev":"/c/0","links":{"next":"/c/2","self":"/c/1"}}],"next":"/c?page=2"}`,
			openapi.Reference{Relation: "next", Target: "/c?page=2", Path: "$.next"}, openapi.Reference{Relation: "self", Target: "/c/1", Path: "$[0].links.self"}),
		Entry("pages for people", `{"items":[],"links":[{"rel":"next","href":"/c?page=2","type":"application/json"},{"rel":"self","href":"https://www.h/c","type":"text/html; charset=utf-8"}]}`,
			openapi.Reference{Relation: "next", Target: "/c?page=2", Path: "$.links[0]"}),
		Entry("an object about the page that comes again and again", `{"items":[{"id":1}]`+strings.Repeat(`,"page":{"next":"/c?page=2"}`, 1000)+`}`,
			openapi.Reference{Relation: "next", Target: "/c?page=2", Path: "$.page.next"}),
		Entry("a cursor", `{"next":"b2Zmc2V0","items":[]}`), Entry("content", `[{"id":1,"website":["https://w.example"],"first":"name"}]`),
		Entry("text that is not JSON", `<a href="/x">`), Entry("nothing", ``),
	)
})

func FuzzReferences(f *testing.F) {
	for _, seed := range []string{`{"_links":{"next":{"href":"/x"}}}`, `{"links":[{"rel":"next","href":"/x"}]}`, `[{"href":"/x"}]`, `{"next":`, `{"links":[[`, `{"_links":{"next":[`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, r := range referencesIn(body) {
			if r.Relation == "" || r.Target == "" || r.Path == "" {
				t.Errorf("%q holds %+v", body, r)
			}
		}
	})
}
