package screen_test

import (
	"encoding/json"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
)

var _ = Describe("The specification", func() {
	It("is a list of operations, with what each of them needs", func() {
		b := newFixture(flow.Specification, options{})
		Expect(b.hints()).To(HavePrefix("enter read the specification"))
		b.press("enter")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("4 operations"), ContainSubstring("Document: http://127.0.0.1:10001/ris-synergy/funding/v3/api-docs"),
			ContainSubstring("› GET /funding/v3/fundings · list"), ContainSubstring("GET /funding/v3/fundings/{id} · one call, needs id"), ContainSubstring("9 of 9 rules passed")))
		b.golden("specification-list")
		Expect(b.frame(40, 15)).To(ContainSubstring("· one call, needs id"), "whatever the width")
		b.press("right")
		Expect(b.frame(80, 24)).To(And(ContainSubstring("GET /funding/v3/fundings"), MatchRegexp(`region +string: VIENNA`), MatchRegexp(`LOWER_AUSTRIA`)))
		b.golden("specification-operation")
		b.press("left", "down", "o")
		Expect(b.frame(80, 24)).To(And(MatchRegexp(`\* id +string.* +required, in the path`), ContainSubstring("Documented answers"), MatchRegexp(`200 +\S+`)))
		Expect(b.press("enter").outgoing).To(ConsistOf(screen.NextStep{}))
	})

	It("shows the exchange beside the list, or in its place", func() {
		b := newFixture(flow.Specification, options{}).press("enter", "tab", "tab")
		Expect(b.frame(80, 24)).To(ContainSubstring("GET /ris-synergy/funding/v3/api-docs HTTP/1.1"))
		Expect(b.frame(120, 40)).To(And(ContainSubstring("GET /ris-synergy/funding/v3/api-docs HTTP/1.1"), ContainSubstring("› GET /funding/v3/fundings · list")))
		x, ok := b.Exchange()
		Expect(ok).To(BeTrue())
		Expect(x.Status()).To(Equal(200))
		Expect(b.press("left").frame(80, 24)).To(ContainSubstring("› GET /funding/v3/fundings · list"))
	})

	It("is read again for another node", func() {
		b := newFixture(flow.Specification, options{}).press("enter")
		Expect(b.Walk.ChooseNode("XA_Realm")).To(Succeed())
		b.settle(b.Open())
		Expect(b.frame(80, 24)).To(And(ContainSubstring("enter read the specification"), Not(ContainSubstring("fundings"))))
	})

	It("keeps its layout whatever the document says", func() {
		paths := map[string]any{}
		for i := range 300 {
			paths[fmt.Sprintf("/p%d/\x1b[2J\u202e%s/{長}", i, strings.Repeat("/very-long", 60))] = map[string]any{"get": map[string]any{
				"operationId": "\x1b]0;t\a" + strings.Repeat("op", 200) + fmt.Sprint(i),
				"parameters": []any{map[string]any{"name": "長", "in": "path", "required": true, "schema": map[string]any{"type": "string", "enum": []any{"\x9b31m", strings.Repeat("v", 500)}}},
					map[string]any{"name": "\r\n\u2066" + strings.Repeat("q", 300), "in": "query", "required": true, "schema": map[string]any{"type": "\x1b[1m", "format": "\u202e"}}},
				"responses": map[string]any{"200": map[string]any{"description": "d", "content": map[string]any{"\x1b[5m/x": map[string]any{}}}},
			}}
		}
		text, err := json.Marshal(map[string]any{"openapi": "3.0.1", "info": map[string]any{"title": "\x1b[31mevil\u2029" + strings.Repeat("t", 400), "version": "\u202e1"}, "paths": paths})
		Expect(err).NotTo(HaveOccurred())
		b := newFixture(flow.Specification, options{change: answering("/api-docs", 200, "application/json", string(text))}).press("enter")
		Expect(b.frame(80, 24)).To(ContainSubstring("300 operations"))
		for _, size := range [][2]int{{40, 15}, {80, 24}, {120, 40}} {
			for _, keys := range [][]string{{"home"}, {"right"}, {"pgdown"}, {"end"}, {"left"}, {"end"}, {"o"}, {"tab"}, {"left", "left"}} {
				b.press(keys...).frame(size[0], size[1])
			}
		}
	})
})
