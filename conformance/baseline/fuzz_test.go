package baseline_test

import (
	"bytes"
	"testing"

	"github.com/rin-network/rin/conformance/baseline"
)

// FuzzReadBaseline: what is read without a mistake can be written, and reads the same again.
func FuzzReadBaseline(f *testing.F) {
	for _, seed := range []string{
		"schema: " + baseline.Version + "\nknown:\n  - id: BRR-02\n    reason: ticket 7\n    until: 2026-12-31\n",
		`{"schema":"` + baseline.Version + `","known":[]}`,
		"schema: &a [*a]\nknown: *a\n", "a: &a [x,x]\nb: &b [*a,*a]\nknown: [*b,*b]\n", "known: {<<: {id: x}}", "- \t", "\xff", "? [a]\n: b", "---\n---\n",
		"schema: " + baseline.Version + "\nknown:\n  - {id: TOK-01, reason: \"\\x1b[31m\", until: 9999-99-99}\n",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		read, err := baseline.Read(data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := baseline.Write(&b, read); err != nil {
			t.Fatal(err)
		}
		again, err := baseline.Read(b.Bytes())
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
