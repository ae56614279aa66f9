package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"regexp"
	"slices"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("the page", func() {
	page := func(make func() (report.Report, *evidence.Log)) string {
		r, log := make()
		return write(report.WriteHTML, r, log)
	}

	It("allows only its own style", func() {
		out := page(small)
		style := regexp.MustCompile(`(?s)<style>(.*?)</style>`).FindStringSubmatch(out)[1]
		sum := sha256.Sum256([]byte(style))
		Expect(elements(out)["meta"]).To(HaveKey("http-equiv"))
		policy := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(out)[1]
		policy = strings.NewReplacer("&#39;", "'", "&#43;", "+").Replace(policy)
		Expect(policy).To(Equal("default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" +
			base64.StdEncoding.EncodeToString(sum[:]) + "'"))
		Expect(out).NotTo(MatchRegexp(`<script|<link|<img|style="|url\(|@import`))
	})

	It("has links that lead somewhere, to places that exist once", func() {
		for _, make := range []func() (report.Report, *evidence.Log){small, good, empty, hostile, excused} {
			out := page(make)
			places := map[string]int{}
			for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(out, -1) {
				places[m[1]]++
			}
			for place, n := range places {
				Expect(n).To(Equal(1), place)
			}
			for _, m := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(out, -1) {
				Expect(places).To(HaveKey(m[1]))
			}
		}
	})

	It("capitalises a reason, unless it begins with a name", func() {
		for reason, shown := range map[string]string{
			"the token is empty":               "The token is empty",
			"fundingType=CALL gives all items": "fundingType=CALL gives all items",
			"token_type is missing":            "token_type is missing",
			"405 without Allow":                "405 without Allow",
		} {
			r, log := small()
			i := slices.IndexFunc(r.Requirements, func(q report.Requirement) bool { return q.ID == "TOK-06" })
			r.Requirements[i].Reason = reason
			Expect(write(report.WriteHTML, r, log)).To(ContainSubstring("<bdi>" + shown + "</bdi>"))
		}
	})

	It("links a finding to its exchange, and back", func() {
		out := page(small)
		finding := regexp.MustCompile(`(?s)<article[^>]*id="finding-TOK-06".*?</article>`).FindString(out)
		anchor := regexp.MustCompile(`href="#(exchange-\d+)">token.ok<`).FindStringSubmatch(finding)[1]
		inside := out[strings.Index(out, `id="`+anchor+`"`):]
		Expect(inside[:strings.Index(inside, "</details>")]).To(And(
			ContainSubstring(`<a href="#TOK-06">TOK-06</a>`), ContainSubstring("max-age=300")))
	})

	It("begins with the verdict", func() {
		out := page(small)
		Expect(regexp.MustCompile(`<h[1-6]`).FindString(out)).To(Equal("<h1"))
		Expect(strings.Count(out, "<h1")).To(Equal(1))
		Expect(strings.Index(out, "Not certified for profile funding")).To(BeNumerically("<", strings.Index(out, "What failed")))
	})

	It("shows JSON readably, and other bodies as they are", func() {
		out := page(small)
		Expect(out).To(ContainSubstring("&#34;text&#34;: &#34;Förderung für Frühphasen&#34;,\n"))

		r, log := small()
		log.Exchanges[0].Response.Body = evidence.Body(`{"empty":{},"list":[ ],"deep":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`)
		log.Exchanges[1].Response.Body = evidence.Body("not { json")
		out = write(report.WriteHTML, r, log)
		Expect(out).To(ContainSubstring("{\n  &#34;empty&#34;: {},\n  &#34;list&#34;: [],\n  &#34;deep&#34;: [\n"))
		Expect(out).To(ContainSubstring("not { json"))
		Expect(out).NotTo(MatchRegexp(` {60}`), "indentation grows with the square of the depth")
	})

	It("names only outcomes that occur in the heading of the skipped requirements", func() {
		r, log := small()
		for i := range r.Requirements {
			if q := &r.Requirements[i]; q.Outcome == requirement.Blocked {
				q.Outcome = requirement.Pass
			}
		}
		Expect(write(report.WriteHTML, r, log)).To(SatisfyAll(ContainSubstring(`<h2 id="silent">Not applicable</h2>`), Not(ContainSubstring("Blocked and"))))
		var b strings.Builder
		Expect(report.WriteMarkdown(&b, r)).To(Succeed())
		Expect(b.String()).To(ContainSubstring("\n## Not applicable\n"))
	})

	It("says where it cut a body", func() {
		r, log := small()
		log.Exchanges[4].Response.Body = evidence.Body(strings.Repeat("ä", 100_000))
		Expect(write(report.WriteHTML, r, log)).To(ContainSubstring("only the beginning of a body of 200000 bytes"))
	})

	DescribeTable("indents the beginning of a long body that begins as JSON",
		func(body string, indented bool) {
			r, log := small()
			log.Exchanges[0].Response.Body = evidence.Body(body)
			Expect(strings.Contains(write(report.WriteHTML, r, log), "[\n  &#34;a&#34;,\n")).To(Equal(indented))
		},
		Entry("JSON", `["a",`+strings.Repeat(`"b",`, 100_000)+`1]`, true),
		Entry("JSON that becomes invalid later", `["a",`+strings.Repeat(`"b",`, 100_000), true),
		Entry("JSON and more", `["a",1]`+strings.Repeat(`x`, 100_000), false),
		Entry("text that is not JSON", `["a",`+strings.Repeat(`b`, 100_000), false),
		Entry("a long run of closing brackets", `["a",1`+strings.Repeat(`]`, 100_000), false),
	)

	It("describes requirements that could not be judged for the same reason only once", func() {
		out := page(empty)
		Expect(strings.Count(out, `<article class="finding inconclusive"`)).To(Equal(1))
		Expect(out).To(ContainSubstring("The same holds for"))
	})

	DescribeTable("stays small", func(exchanges, megabytes int) {
		log := smallLog()
		for i := range exchanges {
			x := call(evidence.OperationResource(strings.Repeat("o", i+1)).With(evidence.OK), "GET", "https://api.node.example/x", 200,
				"["+strings.Repeat(`{"name":[{"text":"Förderung","language":"de"}]},`, 400)+"null]")
			log.Exchanges = append(log.Exchanges, x)
		}
		r := reportOf(log, smallJudgements())
		Expect(len(write(report.WriteHTML, r, log))).To(BeNumerically("<", megabytes<<20))
	},
		Entry("for a run of usual size", 200, 3),
		Entry("for a run of many exchanges: all bodies share one limit", 900, 4),
	)
})

func FuzzWriteHTML(f *testing.F) {
	for _, seed := range []string{"", "{}", "[]", "[ ]", `{"a":[1,{"b":"\"}"}]}`, "[[[[", `"\`, `{"a":`, evil(), "\xff", "[ \n\t" + strings.Repeat(" ", 100) + "]"} {
		f.Add([]byte(seed))
	}
	r, log := small()
	f.Fuzz(func(t *testing.T, body []byte) {
		log.Exchanges[0].Response.Body = body
		var b bytes.Buffer
		if err := report.WriteHTML(&b, r, log); err != nil {
			t.Fatal(err)
		}
		if bad := harmful(b.String(), "\n\t"); bad != "" {
			t.Errorf("a body lets %q through", bad)
		}
		if strings.Contains(b.String(), "<script") || b.Len() > 12*len(body)+200_000 {
			t.Errorf("a body of %d bytes made a page of %d", len(body), b.Len())
		}
	})
}
