package report_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/net/html"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

var _ = Describe("a hostile node", func() {
	for name, f := range formats() {
		It("cannot put active content into "+name, func() {
			r, log := hostile()
			out := write(f, r, log)
			if name == "80.ansi" {
				out = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(out, "") // rin's own colours
				Expect(out).NotTo(ContainSubstring("\x1b"))
			}
			if name == "exchanges.har" {
				Expect(json.Valid([]byte(out))).To(BeTrue())
				return // JSON for programs, written elsewhere
			}
			Expect(harmful(out, "\n")).To(BeEmpty())
		})
	}

	It("cannot colour the terminal beyond rin's own codes", func() {
		r, log := hostile()
		out := write(formats()["80.ansi"], r, log)
		for _, code := range regexp.MustCompile("\x1b[^m]*m").FindAllString(out, -1) {
			Expect(code).To(MatchRegexp("^\x1b\\[(0|1|1;3[1-5]|3[1-5]|3[1-5];1)m$"))
		}
	})

	It("adds no element, attribute or resource to the page", func() {
		bad, badLog := hostile()
		for tag, attrs := range elements(write(report.WriteHTML, bad, badLog)) {
			Expect(tag).NotTo(BeElementOf("script", "img", "iframe", "object", "link", "form"))
			for attr := range attrs {
				Expect(attr).NotTo(HavePrefix("on"))
				Expect(attr).NotTo(BeElementOf("src", "style", "srcset", "action", "data"))
			}
		}
	})

	It("writes well-formed XML that keeps its shape", func() {
		r, _ := hostile()
		var b bytes.Buffer
		Expect(report.WriteJUnit(&b, r)).To(Succeed())
		dec := xml.NewDecoder(&b)
		names := map[string]bool{}
		for {
			token, err := dec.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			Expect(err).NotTo(HaveOccurred())
			if e, ok := token.(xml.StartElement); ok {
				names[e.Name.Local] = true
			}
		}
		for name := range names {
			Expect(name).To(BeElementOf("testsuites", "testsuite", "properties", "property", "testcase", "failure", "error", "skipped", "system-out"))
		}
	})

	It("stays inside code in Markdown", func() {
		r, _ := hostile()
		var b bytes.Buffer
		Expect(report.WriteMarkdown(&b, r)).To(Succeed())
		out := outsideCode(b.String())
		for _, s := range []string{"<script", "<img", "<details", "](javascript", "@everyone", "https://evil", "**bold**", "## heading"} {
			Expect(out).NotTo(ContainSubstring(s))
		}
		Expect(outsideCode("a `x` b\n```text\n# c\n```\nd")).To(Equal("a  b\nd\n"), "outsideCode removes spans and blocks")
	})

	It("cannot make the page large", func() {
		r, log := hostile()
		huge := strings.Repeat(`{"a":["\u0000",{"b":[[[[`, 200_000)
		body := evidence.Body(huge)
		for i := range 400 {
			x := log.Exchanges[0]
			x.Label = evidence.OperationResource(strings.Repeat("x", i%7)).With(evidence.OK)
			x.Response = &evidence.Response{Status: 200, Body: body, Size: int64(len(huge))}
			for range 300 {
				x.Response.Header = append(x.Response.Header, evidence.Field{Name: "X-Long", Value: huge[:8000]})
			}
			log.Exchanges = append(log.Exchanges, x)
		}
		out := write(report.WriteHTML, r, log)
		Expect(len(out)).To(BeNumerically("<", 12<<20))
		Expect(out).To(ContainSubstring("this page is full"))
	})
})

// elements lists the elements of a page with their attributes.
func elements(page string) map[string]map[string]string {
	out := map[string]map[string]string{}
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return out
		case html.StartTagToken, html.SelfClosingTagToken:
			t := z.Token()
			if out[t.Data] == nil {
				out[t.Data] = map[string]string{}
			}
			for _, a := range t.Attr {
				out[t.Data][a.Key] = a.Val
			}
		}
	}
}

// outsideCode removes fenced blocks and code spans as CommonMark reads them.
func outsideCode(doc string) string {
	var b strings.Builder
	fence := ""
	for _, line := range strings.Split(doc, "\n") {
		run := line[:len(line)-len(strings.TrimLeft(line, "`"))]
		switch {
		case fence != "" && len(run) >= len(fence) && strings.Trim(line, "` ") == "":
			fence = ""
		case fence != "":
		case len(run) >= 3 && !strings.Contains(line[len(run):], "`"):
			fence = run
		default:
			b.WriteString(outsideSpans(line) + "\n")
		}
	}
	return b.String()
}

func outsideSpans(line string) string {
	var b strings.Builder
	for line != "" {
		if line[0] == '\\' && len(line) > 1 {
			b.WriteString(line[:2])
			line = line[2:]
			continue
		}
		rest := strings.TrimLeft(line, "`")
		run := line[:len(line)-len(rest)]
		if run == "" {
			b.WriteByte(line[0])
			line = line[1:]
			continue
		}
		line = rest
		if end := closing(rest, len(run)); end >= 0 {
			line = rest[end+len(run):]
		} else {
			b.WriteString(run)
		}
	}
	return b.String()
}

// closing finds the run of exactly n backticks.
func closing(s string, n int) int {
	for i := 0; i < len(s); {
		if s[i] != '`' {
			i++
			continue
		}
		k := i
		for k < len(s) && s[k] == '`' {
			k++
		}
		if k-i == n {
			return i
		}
		i = k
	}
	return -1
}
