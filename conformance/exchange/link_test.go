package exchange_test

import (
	"testing"

	"github.com/rin-network/rin/conformance/exchange"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("Links", func() {
	type rels = map[string][]string // target to relations

	DescribeTable("are read", func(want rels, lines ...string) {
		links, err := exchange.ParseLinks(lines)
		Expect(err).NotTo(HaveOccurred())
		got := rels{}
		for _, l := range links {
			got[l.Target] = l.Relations()
		}
		Expect(got).To(Equal(want))
	},
		Entry("as the RFC shows them", rels{"http://example.com/TheBook/chapter2": {"previous"}},
			`<http://example.com/TheBook/chapter2>; rel="previous"; title="previous chapter"`),
		Entry("with a language", rels{"/TheBook/chapter2": {"previous"}, "/TheBook/chapter4": {"next"}},
			`</TheBook/chapter2>; rel="previous"; title*=UTF-8'de'letztes%20Kapitel, </TheBook/chapter4>; rel="next"; title*=UTF-8'de'n%c3%a4chstes%20Kapitel`),
		Entry("with several relations", rels{"http://example.org/": {"start", "http://example.net/relation/other"}},
			`<http://example.org/>; rel="start http://example.net/relation/other"`),
		Entry("on several lines", rels{"?p=2": {"next"}, "?p=1": {"prev"}}, `<?p=2>; rel=next`, `<?p=1>;REL=Prev`),
		Entry("with blanks and empty members", rels{"a": {"next"}}, ` , <a> ; rel = next ,,`, ``),
		Entry("with commas, semicolons and brackets inside", rels{"/?a,b;c": {"next"}}, `</?a,b;c>; title="x, y; <z>"; rel=next`),
		Entry("with an escaped quote", rels{"a": {"next"}}, `<a>; title="\"; rel=prev"; rel=next`),
		Entry("with the first of two rel", rels{"a": {"next"}}, `<a>; rel=next; rel=prev`),
		Entry("with a parameter without a value, and an empty one", rels{"a": {"preload"}}, `<a>; rel=preload; nopush;`),
		Entry("without any", rels{}, ``),
	)

	DescribeTable("are refused with the place of the fault", func(line, fault string) {
		_, err := exchange.ParseLinks([]string{line})
		Expect(err).To(MatchError(ContainSubstring(fault)))
	},
		Entry("without angle brackets", `/next; rel=next`, `offset 0: expected '<' before the target, got "/"`),
		Entry("an open target", `</next; rel=next`, `expected '>' behind the target, got the end`),
		Entry("no relation", `<a>`, `offset 3: expected a parameter rel with a relation type, got the end`),
		Entry("an empty relation", `<a>; rel=""`, `expected a parameter rel`),
		Entry("no value", `<a>; rel=`, `expected a token or a quoted string`),
		Entry("an open quote", `<a>; rel="next`, `expected a closing quote`),
		Entry("no comma", `<a>; rel=next <b>; rel=prev`, `offset 14: expected a semicolon, a comma or the end, got "<"`),
		Entry("no semicolon", `<a> rel=next`, `expected a parameter rel`),
		Entry("a target that is no reference", `<http://[::1>; rel=next`, `offset 1: expected a URI reference`),
		Entry("a second line's own number", "<a", `link line 1`),
	)

	It("keep what was read before the fault", func() {
		links, err := exchange.ParseLinks([]string{`<a>; rel=next, b`})
		Expect(err).To(HaveOccurred())
		Expect(links).To(HaveLen(1))
	})
})

func FuzzParseLinks(f *testing.F) {
	for _, seed := range []string{`<a>; rel="next"`, `<a>;rel=next,<b>;rel=prev`, `<`, `<>;;;rel=x`, `<a>; rel="\`, `<%zz>; rel=a`, ",,,", "<a>; a\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, line string) {
		links, err := exchange.ParseLinks([]string{line})
		for _, l := range links {
			if len(l.Relations()) == 0 {
				t.Errorf("%q: a link without a relation", line)
			}
		}
		if again, err2 := exchange.ParseLinks([]string{line, line}); err == nil && (err2 != nil || len(again) != 2*len(links)) {
			t.Errorf("%q reads differently on the second line", line)
		}
	})
}
