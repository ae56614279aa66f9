package verdict_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/verdict"
)

const baselineFile = `# why we live with these
schema: rin.baseline/v1
known:
  - id: BRR-02
    reason: "the gateway drops it: NET-42"
    until: 2026-12-31
  - {id: tok-06, reason: legacy, until: '2026-03-01'}
`

var _ = Describe("ReadBaseline", func() {
	It("reads YAML, and JSON", func() {
		want := verdict.Baseline{Known: []verdict.KnownFailure{
			{ID: "BRR-02", Reason: "the gateway drops it: NET-42", Until: "2026-12-31"}, {ID: "TOK-06", Reason: "legacy", Until: "2026-03-01"},
		}}
		Expect(verdict.ReadBaseline([]byte(baselineFile))).To(Equal(want))
		Expect(verdict.ReadBaseline([]byte(`{"schema":"rin.baseline/v1","known":[{"id":"BRR-02","reason":"the gateway drops it: NET-42","until":"2026-12-31"},` +
			`{"id":"TOK-06","reason":"legacy","until":"2026-03-01"}]}`))).To(Equal(want))
		Expect(verdict.ReadBaseline([]byte("schema: rin.baseline/v1\nknown: []\n"))).To(Equal(verdict.Baseline{}))
	})

	DescribeTable("reports a mistake with its line and a hint",
		func(old, by string, line int, message, hint string) {
			_, err := verdict.ReadBaseline([]byte(strings.Replace(baselineFile, old, by, 1)))
			var m *verdict.BaselineError
			Expect(errors.As(err, &m)).To(BeTrue(), "%v", err)
			Expect(m.Line).To(Equal(line))
			Expect(m.Message).To(ContainSubstring(message))
			Expect(m.Hint).To(ContainSubstring(hint))
		},
		Entry("another version", "baseline/v1", "baseline/v2", 2, `schema is "rin.baseline/v2"`, "rin.baseline/v1"),
		Entry("no schema", "schema: rin.baseline/v1\n", "", 2, "schema is missing", "begin with"),
		Entry("no list", "known:", "knowns:", 3, `"knowns" is unknown here`, "schema, known"),
		Entry("an unknown requirement", "BRR-02", "BRR-99", 4, `unknown requirement "BRR-99"`, "rin requirements"),
		Entry("the same requirement twice", "tok-06", "brr-02", 7, "BRR-02 is listed twice", "keep one"),
		Entry("a misspelt member", "reason: \"", "resaon: \"", 5, `"resaon" is unknown here`, "id, reason, until"),
		Entry("no reason", "    reason: \"the gateway drops it: NET-42\"\n", "", 4, "reason is missing", "who fixes it"),
		Entry("an empty reason", "\"the gateway drops it: NET-42\"", "", 5, "reason is not a text", "who fixes it"),
		Entry("no end", "    until: 2026-12-31\n", "", 4, "until is missing", "2026-12-31"),
		Entry("a day that does not exist", "2026-12-31", "2026-02-30", 6, `until is "2026-02-30"`, "2026-12-31"),
		Entry("a day in another order", "2026-12-31", "31.12.2026", 6, `until is "31.12.2026"`, "2026-12-31"),
	)

	It("reports all mistakes at once", func() {
		_, err := verdict.ReadBaseline([]byte("schema: rin.baseline/v1\nknown:\n  - id: X\n  - 5\n"))
		Expect(err).To(MatchError(And(ContainSubstring("line 3: reason is missing"), ContainSubstring("line 3: until is missing"), ContainSubstring("line 4: expected members"))))
	})

	It("refuses input that is not YAML or not a baseline", func() {
		_, err := verdict.ReadBaseline([]byte("schema: rin.baseline/v1\nknown: [\n"))
		Expect(err).To(MatchError(ContainSubstring("line ")))
		for _, input := range []string{"", "# nothing\n", "known", "- a"} {
			_, err := verdict.ReadBaseline([]byte(input))
			Expect(err).To(HaveOccurred(), input)
		}
	})
})

var _ = Describe("WriteBaseline", func() {
	It("writes what ReadBaseline reads back unchanged, whatever a reason contains", func() {
		b := verdict.Baseline{Known: []verdict.KnownFailure{
			{ID: "BRR-02", Reason: "a: b # c - \"d\" 'e' \\ {x}\n- id: TOK-01", Until: "2026-12-31"}, {ID: "TOK-06", Reason: "null", Until: "2027-01-01"},
		}}
		for _, want := range []verdict.Baseline{b, {}} {
			var out bytes.Buffer
			Expect(verdict.WriteBaseline(&out, want)).To(Succeed())
			Expect(verdict.ReadBaseline(out.Bytes())).To(Equal(want))
		}
	})
})

var _ = Describe("A day", func() {
	It("ends after its last hour, in UTC", func() {
		until := verdict.Day("2026-12-31")
		Expect(until.Before(verdict.DayOf(time.Date(2026, 12, 31, 23, 59, 0, 0, time.UTC)))).To(BeFalse())
		Expect(until.Before(verdict.DayOf(time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)))).To(BeTrue())
		Expect(until.Before(verdict.DayOf(time.Date(2026, 12, 31, 23, 30, 0, 0, time.FixedZone("", -3600))))).To(BeTrue())
	})
})

// FuzzReadBaseline checks that a baseline that was read without a mistake can be written, and reads back unchanged.
func FuzzReadBaseline(f *testing.F) {
	for _, seed := range []string{
		"schema: " + verdict.BaselineVersion + "\nknown:\n  - id: BRR-02\n    reason: ticket 7\n    until: 2026-12-31\n",
		`{"schema":"` + verdict.BaselineVersion + `","known":[]}`,
		"schema: &a [*a]\nknown: *a\n", "a: &a [x,x]\nb: &b [*a,*a]\nknown: [*b,*b]\n", "known: {<<: {id: x}}", "- \t", "\xff", "? [a]\n: b", "---\n---\n",
		"schema: " + verdict.BaselineVersion + "\nknown:\n  - {id: TOK-01, reason: \"\\x1b[31m\", until: 9999-99-99}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := verdict.ReadBaseline(data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := verdict.WriteBaseline(&b, read); err != nil {
			t.Fatal(err)
		}
		again, err := verdict.ReadBaseline(b.Bytes())
		if err != nil || len(again.Known) != len(read.Known) {
			t.Fatalf("%q is written as %q, which reads as %+v, %v", data, b.Bytes(), again, err)
		}
		for i := range read.Known {
			if again.Known[i] != read.Known[i] {
				t.Fatalf("%+v became %+v", read.Known[i], again.Known[i])
			}
		}
	})
}
