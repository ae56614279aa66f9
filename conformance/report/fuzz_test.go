package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// quotingReport returns a report whose findings quote a text that a node chose, with the evidence for it.
func quotingReport(text string) (report.Report, *evidence.Log) {
	log := smallLog()
	log.Exchanges[0].Response.Header = append(log.Exchanges[0].Response.Header, evidence.Field{Name: "X-A", Value: text})
	judged := smallJudgements()
	for id, j := range judged {
		if j.Outcome == requirement.Pass {
			continue
		}
		j.Reason, j.Got, j.Hint, j.Notes = "it says "+text, text, text, []string{text}
		for i := range j.Subjects {
			j.Subjects[i].Name, j.Subjects[i].Got = text, text
		}
		judged[id] = j
	}
	return reportOf(log, judged), log
}

func seeds(f *testing.F) {
	f.Helper()
	for _, s := range []string{"", "plain", evil(), "`", "a`` `b", "|", "\\|", "]]>", "\n# x", "\r", "\u2028", "\xff", "<a", "&#27;", "~~~", "    x", "- [ ] x", strings.Repeat("`", 300), "\x00"} {
		f.Add(s)
	}
}

// FuzzWriteMarkdown checks that a text appears only in code, and that it does not change the number of lines and cells.
func FuzzWriteMarkdown(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, text string) {
		r, _ := quotingReport("rinevil" + text + "rinevil")
		var b bytes.Buffer
		if err := report.WriteMarkdown(&b, r); err != nil {
			t.Fatal(err)
		}
		if bad := harmful(b.String(), "\n\t"); bad != "" {
			t.Fatalf("%q lets %q through", text, bad)
		}
		if left := outsideCode(b.String()); strings.Contains(left, "rinevil") {
			t.Fatalf("%q is outside code in %s", text, left)
		}
	})
}

// FuzzWriteJUnit checks that a text changes neither the elements nor the attributes of the document, which stays well-formed.
func FuzzWriteJUnit(f *testing.F) {
	seeds(f)
	r, _ := quotingReport("x")
	plain := shapeOf(f, r)
	f.Fuzz(func(t *testing.T, text string) {
		r, _ := quotingReport("x" + text)
		if shape := shapeOf(t, r); shape != plain {
			t.Fatalf("%q makes %s of %s", text, shape, plain)
		}
	})
}

func shapeOf(t testing.TB, r report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteJUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	if bad := harmful(b.String(), "\n\t"); bad != "" {
		t.Fatalf("lets %q through", bad)
	}
	var shape strings.Builder
	for in := xml.NewDecoder(&b); ; {
		token, err := in.Token()
		if errors.Is(err, io.EOF) {
			return shape.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			shape.WriteString("<" + e.Name.Local)
			for _, a := range e.Attr {
				shape.WriteString(" " + a.Name.Local)
			}
		case xml.EndElement:
			shape.WriteString(">")
		}
	}
}

// FuzzWriteText checks that no text acts on a terminal, however narrow it is.
func FuzzWriteText(f *testing.F) {
	for _, s := range []string{"", evil(), strings.Repeat("ä", 200), "a\u0300\u0300", "資金", "\t\t\t", "\x1b[0m"} {
		f.Add(s, uint8(40))
	}
	f.Fuzz(func(t *testing.T, text string, width uint8) {
		r, _ := quotingReport(text)
		var b bytes.Buffer
		if err := report.WriteText(&b, r, report.TextOptions{Width: int(width)}); err != nil {
			t.Fatal(err)
		}
		if bad := harmful(b.String(), "\n\t"); bad != "" {
			t.Fatalf("%q lets %q through", text, bad)
		}
	})
}

// FuzzReadJSON checks that a report that can be read is written again as valid JSON without characters that act on a terminal.
func FuzzReadJSON(f *testing.F) {
	for _, make := range []func() (report.Report, *evidence.Log){small, hostile, excused} {
		r, _ := make()
		var b bytes.Buffer
		if err := report.WriteJSON(&b, r); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"schema":"` + report.Version + `","requirements":[{"subjects":[{}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := report.ReadJSON(bytes.NewReader(text))
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := report.WriteJSON(&b, r); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(b.Bytes()) || harmful(b.String(), "\n\t") != "" {
			t.Fatalf("%q is written as %q", text, b.String())
		}
	})
}
