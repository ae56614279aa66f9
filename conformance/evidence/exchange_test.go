package evidence_test

import (
	"encoding/json"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

var _ = Describe("A body in JSON", func() {
	DescribeTable("is read as encoding/json reads a string",
		func(text string) {
			var want string
			Expect(json.Unmarshal([]byte(text), &want)).To(Succeed())
			var got evidence.Body
			Expect(json.Unmarshal([]byte(text), &got)).To(Succeed())
			Expect(string(got)).To(Equal(want))
		},
		Entry("plain", `"Junge Köpfe"`), Entry("empty", `""`), Entry("escapes", `"\"\\\/\b\f\n\r\t"`), Entry("escapes at the ends", `"\na\\"`),
		Entry("code points", `"a\u0062\u00e9\u2028"`), Entry("a pair", `"\ud83d\ude00"`), Entry("half a pair", `"a\ud83d"`),
		Entry("bytes that are not UTF-8", "\"a\xffb\\n\""), Entry("a JSON text", `"[{\"a\":\"\\\"\\n\"}]"`),
	)

	It("refuses other JSON values", func() {
		var b evidence.Body
		for _, text := range []string{`"`, `"a`, `"\`, `"\x"`, `1`, `[]`, ``} {
			Expect(json.Unmarshal([]byte(text), &b)).NotTo(Succeed(), text)
		}
	})

	It("survives recording unchanged", func() {
		var all strings.Builder
		for r := range rune(0x300) {
			all.WriteRune(r)
		}
		for _, body := range []string{all.String()[32:], all.String(), "\x1b[1mbold\x1b[0m and plain text that is longer than its escapes", "\x1b\x1b", "\xff", "\t\r\n"} {
			text, err := json.Marshal(evidence.Body(body))
			Expect(err).NotTo(HaveOccurred())
			var again evidence.Body
			Expect(json.Unmarshal(text, &again)).To(Succeed())
			Expect(string(again)).To(Equal(body))
		}
	})
})
