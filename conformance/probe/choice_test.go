package probe

import (
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/target"
)

var _ = Describe("Forgery", func() {
	DescribeTable("path variants",
		func(variant func(pathParts) string, url, want string) {
			got, ok := pathVariant(url, variant)
			Expect(ok).To(Equal(want != ""))
			Expect(got).To(Equal(want))
		},
		Entry("a slash taken away", otherSlash, "http://h/a/info/", "http://h/a/info"),
		Entry("a slash added", otherSlash, "http://h/a/info?q=1", "http://h/a/info/?q=1"),
		Entry("two slashes", doubledSlash, "http://h/a/info/", "http://h/a//info/"),
		Entry("a dot", dotSegment, "http://h/a/info", "http://h/a/./info"),
		Entry("upper case", otherCase, "http://h/a/info/", "http://h/a/Info/"),
		Entry("lower case", otherCase, "http://h/a/Info", "http://h/a/info"),
		Entry("the segment before a number", otherCase, "http://h/fundings/17", "http://h/Fundings/17"),
		Entry("escapes are left alone", otherCase, "http://h/a/%2f17", "http://h/A/%2f17"),
		Entry("the segments before the last", otherCaseBefore, "http://h/ris/Api/v3/calls/A-1", "http://h/Ris/api/V3/Calls/A-1"),
		Entry("no segment before the last", otherCaseBefore, "http://h/calls", "http://h/Calls"),
		Entry("no letter", otherCase, "http://h/1/2", ""),
		Entry("a letter encoded", encodedLetter(draw.Seed(1).Source()), "http://h/a/i/", "http://h/a/%69/"),
		Entry("a digit encoded", encodedLetter(draw.Seed(1).Source()), "http://h/a/1?q=1", "http://h/a/%31?q=1"),
		Entry("a letter of each segment encoded", encodedLetters(draw.Seed(1).Source()), "http://h/a/%2f/i?q=1", "http://h/%61/%2f/%69?q=1"),
		Entry("an escape is not encoded again", encodedLetter(draw.Seed(1).Source()), "http://h/a/%2f17", ""),
		Entry("an extension", extension, "http://h/a/info/?q=1", "http://h/a/info.json/?q=1"),
		Entry("no path", otherSlash, "http://h/", ""),
	)
})

// textsOf returns the items of a list answer.
func textsOf(body string) [][]byte {
	list, _ := openapi.ReadList([]byte(body))
	return list.Items
}

var _ = Describe("Items", func() {
	ids := func(items []item) []string {
		var out []string
		for _, i := range items {
			out = append(out, i.id)
		}
		return out
	}

	DescribeTable("are read from a list in any known form",
		func(body string, want ...string) {
			Expect(ids(readItems("id", textsOf(body)))).To(HaveExactElements(want))
		},
		Entry("an array", `[{"id":"a"},{"id":7},{"id":null},{}]`, "a", "7", "", ""),
		Entry("an envelope", `{"total":2,"items":[{"id":"a"}]}`, "a"),
		Entry("HAL", `{"_embedded":{"fundings":[{"id":"a"}]},"_links":{"self":{"href":"/"}},"page":{"size":20}}`, "a"),
		Entry("Spring Data", `{"content":[{"id":"a"}],"sort":[],"pageable":{"sort":[]}}`, "a"),
		Entry("JSON:API", `{"data":[{"id":"a"}],"included":[],"links":{}}`, "a"),
		Entry("ORDS", `{"items":[{"id":"a"}],"hasMore":false,"links":[{"rel":"self"}]}`, "a"),
		Entry("an envelope that breaks off", `{"links":[],"items":[{"id":"a"},{"id":`, "a"),
		Entry("a body that breaks off", `[{"id":"a"},{"id":"b"},{"id":`, "a", "b"),
		Entry("members that are not objects", `[1,"x",null,[],{"id":"a"}]`, "a"),
		Entry("two arrays", `{"a":[{"id":"a"}],"b":[]}`),
		Entry("no list", `"x"`), Entry("no JSON", `<html>`), Entry("nothing", ``),
		Entry("an id too long to send", `[{"id":"`+strings.Repeat("x", 600)+`"}]`, ""),
	)

	It("hold the values of the members that filters name", func() {
		items := readItems("id", textsOf(`[{"id":"a","type":"CALL","targetGroups":["X","Y","X"],"funder":[{"funder":{"id":"f1"}},{"funder":{"id":"f2"}},{}]}]`), filtersBy(
			"fundingType", "type", "targetGroup", "targetGroups", "funderId", "funder[].funder.id")...)
		Expect(items[0].values["type"]).To(Equal([]string{"CALL"}))
		Expect(items[0].values["targetGroups"]).To(Equal([]string{"X", "Y"}))
		Expect(items[0].values["funder[].funder.id"]).To(Equal([]string{"f1", "f2"}))
	})

	DescribeTable("are sampled first, middle and last, plain ids of calls and programmes before others",
		func(items []item, want []string) { Expect(sampleIDs(items)).To(Equal(want)) },
		Entry(nil, []item{{id: "a"}, {id: "b"}, {id: "c"}, {id: "d"}}, []string{"a", "c", "d"}),
		Entry("one", []item{{id: "a"}}, []string{"a"}),
		Entry("two", []item{{id: "a"}, {id: "b"}}, []string{"a", "b"}),
		Entry("one, again and again", []item{{id: "a"}, {id: "a"}, {id: "b"}, {id: "a"}}, []string{"a", "b"}),
		Entry("none", []item{{}}, nil),
		Entry("ids with slashes come last", []item{{id: "10.1/a"}, {id: "b"}}, []string{"b"}),
		Entry("only ids with slashes", []item{{id: "10.1/a"}}, []string{"10.1/a"}),
		Entry("other kinds come last", []item{{id: "g", kind: "GRANT"}, {id: "c", kind: "CALL"}}, []string{"c"}),
		Entry("no id that is a path segment with a meaning", []item{{id: ".."}}, nil),
	)
})

// filtersBy returns filters from pairs of a parameter and a member.
func filtersBy(pairs ...string) []describedFilter {
	var out []describedFilter
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, describedFilter{filter: filter{pairs[i], pairs[i+1]}})
	}
	return out
}

// withMembers returns the filters of an operation that have a member in items of the published kind.
func withMembers(o openapi.Operation) []describedFilter {
	var out []describedFilter
	names := openapi.Members{"type", "targetGroups", "funder[].funder.id"}
	for _, f := range filtersOf(o) {
		if f.member = memberOf(describedFilter{filter: f.filter}, names, nil); f.member != "" {
			out = append(out, f)
		}
	}
	return out
}

var _ = Describe("Choosing a filter", func() {
	operation := func(parameters ...openapi.Parameter) openapi.Operation {
		return openapi.Operation{Parameters: parameters}
	}
	enum := func(name string, values ...string) openapi.Parameter {
		return openapi.Parameter{Name: name, In: "query", Schema: openapi.Schema{Type: "string", Enum: values}}
	}
	items := []item{
		{values: map[string][]string{"type": {"CALL"}, "targetGroups": {"A", "B"}, "funder[].funder.id": {"f1"}}},
		{values: map[string][]string{"type": {"CALL"}, "targetGroups": {"A"}, "funder[].funder.id": {"f2"}}},
	}

	DescribeTable("prefers a value that some items have and others lack",
		func(o openapi.Operation, want choice) {
			got, ok := chooseFilter(withMembers(o), items)
			Expect(ok).To(BeTrue())
			Expect(got).To(Equal(want))
		},
		Entry("to a value that all have", operation(enum("fundingType", "CALL", "GRANT"), enum("targetGroup", "A", "B", "C")),
			choice{filter{"targetGroup", "targetGroups"}, "B", "C", false, false}),
		Entry("but takes a value that all have if there is no other", operation(enum("fundingType", "GRANT", "CALL")),
			choice{filter{"fundingType", "type"}, "CALL", "GRANT", false, false}),
		Entry("or a second value that occurs if all values occur", operation(enum("targetGroup", "A", "B")),
			choice{filter{"targetGroup", "targetGroups"}, "B", "A", true, false}),
		Entry("ids need no vocabulary", operation(openapi.Parameter{Name: "funderId", In: "query", Schema: openapi.Schema{Type: "string"}}),
			choice{filter{"funderId", "funder[].funder.id"}, "f1", "f2", true, true}),
	)

	DescribeTable("takes a filter that can leave out items that are all of one kind",
		func(o openapi.Operation, want choice) {
			got, ok := chooseFilter(withMembers(o), items[:1])
			Expect(ok).To(BeTrue())
			Expect(got).To(Equal(want))
		},
		Entry("by a value that is not seen", operation(enum("fundingType", "CALL"), enum("targetGroup", "A", "B", "C")),
			choice{filter{"targetGroup", "targetGroups"}, "A", "C", false, false}),
		Entry("by an id that no item has", operation(enum("fundingType", "CALL"), openapi.Parameter{Name: "funderId", In: "query", Schema: openapi.Schema{Type: "string"}}),
			choice{filter{"funderId", "funder[].funder.id"}, "f1", "", false, true}),
		Entry("or no value", operation(enum("fundingType", "CALL")), choice{filter{"fundingType", "type"}, "CALL", "", false, false}),
	)

	DescribeTable("pairs values that some item has together",
		func(o openapi.Operation, data []item, want string) {
			a, b, ok := choosePair(withMembers(o), data)
			Expect(ok).To(Equal(want != ""))
			if ok {
				Expect(a.parameter + "=" + a.value + "&" + b.parameter + "=" + b.value).To(Equal(want))
			}
		},
		Entry("if other items have each value alone", operation(enum("fundingType", "CALL", "GRANT"), enum("targetGroup", "A", "B")), []item{
			{values: map[string][]string{"type": {"CALL"}, "targetGroups": {"A"}}},
			{values: map[string][]string{"type": {"CALL"}, "targetGroups": {"B"}}},
			{values: map[string][]string{"type": {"GRANT"}, "targetGroups": {"B"}}},
		}, "fundingType=CALL&targetGroup=B"),
		Entry("if another item has at least one of the values alone", operation(enum("fundingType", "CALL"), enum("targetGroup", "A", "B")), items, "fundingType=CALL&targetGroup=B"),
		Entry("by ids, too", operation(enum("fundingType", "CALL"), openapi.Parameter{Name: "funderId", In: "query", Schema: openapi.Schema{Type: "string"}}), items,
			"fundingType=CALL&funderId=f1"),
		Entry("but no values that always occur together", operation(enum("fundingType", "CALL"), enum("targetGroup", "A")), items, ""),
		Entry("nor two values of one filter", operation(enum("targetGroup", "A", "B")), items, ""),
		Entry("nor a value outside the vocabulary", operation(enum("fundingType", "CALL"), enum("targetGroup", "C")), items, ""),
	)

	It("finds no filter when nothing fits", func() {
		_, ok := chooseFilter(withMembers(operation(enum("colour", "RED"), enum("fundingType", "GRANT"))), items)
		Expect(ok).To(BeFalse())
	})
})

var _ = Describe("Values of parameters", func() {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	five, nine, two := 5.0, 9.5, 2
	DescribeTable("follow the schema",
		func(s openapi.Schema, want string) {
			got, ok := valueOf(s, now)
			Expect(ok).To(Equal(want != ""))
			Expect(got).To(Equal(want))
		},
		Entry("a member of an enum", openapi.Schema{Type: "string", Enum: []string{"B", "A"}}, "B"),
		Entry("a default", openapi.Schema{Type: "string", Default: []byte(`"x"`)}, "x"),
		Entry("true", openapi.Schema{Type: "boolean"}, "true"),
		Entry("a number within bounds", openapi.Schema{Type: "integer", Minimum: &five}, "5"),
		Entry("a whole number above a minimum with a fraction", openapi.Schema{Type: "integer", Minimum: &nine}, "10"),
		Entry("a day", openapi.Schema{Type: "string", Format: "date"}, "2026-03-01"),
		Entry("a moment", openapi.Schema{Type: "string", Format: "date-time"}, "2026-03-01T12:00:00Z"),
		Entry("one of several", openapi.Schema{Type: "array", Items: &openapi.Schema{Enum: []string{"A"}}}, "A"),
		Entry("none where two are needed", openapi.Schema{Type: "array", MinItems: &two, Items: &openapi.Schema{Enum: []string{"A"}}}, ""),
		Entry("none for a schema that says nothing", openapi.Schema{Type: "string"}, ""),
	)

	It("send one member of an object under its own name", func() {
		page := openapi.Parameter{Name: "page", In: "query", Schema: openapi.Schema{Type: "object", Properties: map[string]openapi.Schema{
			"size": {Type: "integer", Minimum: &five}, "page": {Type: "string"},
		}}}
		name, value, ok := valueOfParameter(page, now)
		Expect([]any{name, value, ok}).To(Equal([]any{"page[size]", "5", true}))
		size, ok := sizeParameter(openapi.Operation{Parameters: []openapi.Parameter{page}})
		Expect(ok).To(BeTrue())
		Expect(size.Name).To(Equal("page[size]"))
		Expect(atLeast(size.Schema, 2)).To(Equal(5))
	})
})

func FuzzAnswers(f *testing.F) {
	for _, seed := range []string{
		`[{"id":"a","type":"CALL","funder":[{"funder":{"id":1}}]}]`, `{"items":[{"id":"a"}]}`, `[`, `[[[[`, `{"a":{"b":[]}}`,
		`{"endpoints":{"funding":[{"name":"FUNDINGS","url":"https://h/x"}],"x":7}}`, `{"endpoints":[]}`, `{"endpoints":{"a":[{"url":"https://u@h/"}]}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, id := range sampleIDs(readItems("id", textsOf(string(body)))) {
			if id == "" || id == ".." || len(id) > maxScalar {
				t.Errorf("sample id %q", id)
			}
		}
		found := readEndpoints(body)
		if len(found) > maxEndpoints || slices.ContainsFunc(found, func(e endpoint) bool { return !isCallable(e.url) }) {
			t.Errorf("endpoints %v", found)
		}
	})
}

var _ = Describe("Wrong secrets", func() {
	It("are text, and never the right one, whatever characters the secret has", func() {
		for seed := range draw.Seed(40) {
			s := (seed + 1).Source("secrets")
			for _, secret := range []string{"ß", "äöü-€uro", "naïve-" + strings.Repeat("ß", 40), "日本語", "0123456789", "plain-Secret"} {
				for _, k := range append(wrongSecrets(), oneWrongSecret()...) {
					wrong := k.wrong(s, "client", secret)
					Expect(utf8.ValidString(wrong)).To(BeTrue(), "%s of %q is %q", k.kind, secret, wrong)
				}
				wrong, _ := wrongFor(s, target.Credentials{ClientID: "client", ClientSecret: target.NewSecret(secret)})
				Expect(wrong).NotTo(Or(Equal(secret), BeEmpty()))
			}
		}
	})
})

var _ = DescribeTable("Details of all kinds are requested if records follow one schema",
	func(schema openapi.Schema, want bool) { Expect(isOneKind(schema)).To(Equal(want)) },
	Entry("an object", openapi.Schema{Declared: true, Type: "object"}, true),
	Entry("with subtypes", openapi.Schema{Declared: true, Type: "object", Subtypes: true}, false),
	Entry("that could not be read", openapi.Schema{Declared: true}, false),
	Entry("with subtypes in an envelope", openapi.Schema{Declared: true, Type: "object", Properties: map[string]openapi.Schema{"data": {Declared: true, Type: "object", Subtypes: true}}}, false),
	Entry("for calls and programmes alone", openapi.Schema{Declared: true, Type: "object", Properties: map[string]openapi.Schema{"type": {Type: "string", Enum: []string{"CALL", "PROGRAMME"}}}}, false),
	Entry("for grants, too", openapi.Schema{Declared: true, Type: "object", Properties: map[string]openapi.Schema{"type": {Type: "string", Enum: []string{"CALL", "GRANT"}}}}, true),
)

var _ = DescribeTable("A text may be an id if it has the form of one",
	func(text, form string) { Expect(formOfID(text)).To(Equal(form)) },
	Entry(nil, "GB-2099-01", "GB-9-9"), Entry(nil, "2027", ""), Entry(nil, "CALL", ""), Entry(nil, "2027-01-02T00:00:00Z", ""), Entry(nil, "https://h/1", ""),
)
