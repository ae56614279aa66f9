package plain_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/plain"
	"github.com/rin-network/rin/tui/tuitest"
)

// curse acts on a terminal that shows it as it is.
const curse = "EVIL\x1b[2J\x1b]52;c;cm0=\x07\u009b31m\x7f\b\r\n\t\u202e\u2066\ufeff\u2028界界EVIL"

// but answers one path otherwise.
func but(end string, status int, contentType, body string) func(http.Handler) http.Handler {
	return tuitest.Instead(end, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Server"] = []string{"EVIL\u009b31m\u202e"}
		tuitest.Answer(status, contentType, body)(w, r)
	})
}

// mistakes are those of some names.
func mistakes(names ...string) []flow.Mistake {
	return slices.DeleteFunc(flow.Mistakes(), func(m flow.Mistake) bool { return !slices.Contains(names, m.Name) })
}

// fits expects every line to fit a width, except the lines of requests, which are never shortened.
func fits(text string, width int) {
	GinkgoHelper()
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "> ") {
			Expect(report.Columns(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", width), line)
		}
	}
}

var _ = Describe("The walk line by line", func() {
	short := []flow.Step{flow.Node, flow.Credentials, flow.Token, flow.Reading, flow.Info, flow.Specification, flow.Calls, flow.WhatIf, flow.TakeAway}

	DescribeTable("prints the accepted text", func(width int) {
		text, err := printed(nil, plain.Options{Width: width, Language: "en", Steps: short, Mistakes: mistakes("no-token", "wrong-secret")})
		Expect(err).NotTo(HaveOccurred())
		fits(text, width)
		tuitest.Golden(GinkgoTB(), fmt.Sprintf("walk-%d", width), fixed(text))
	}, Entry("80 columns", 80), Entry("40 columns", 40))

	DescribeTable("prints trouble, its causes and remedies", func(name string, change func(http.Handler) http.Handler, width int) {
		text, err := printed(change, plain.Options{Width: width, Language: "en", Steps: []flow.Step{flow.Node, flow.Token}})
		Expect(err).To(MatchError(plain.ErrTrouble))
		Expect(text).To(And(ContainSubstring("Trouble: "), ContainSubstring("What usually causes it:"), ContainSubstring("What to try:")))
		fits(text, width)
		tuitest.Golden(GinkgoTB(), fmt.Sprintf("trouble-%s-%d", name, width), fixed(text))
	},
		Entry(nil, "secret", but("/token", 401, "application/json", `{"error":"invalid_client","error_description":"EVIL\u001b[2J\u202e"}`), 80),
		Entry(nil, "secret", but("/token", 401, "application/json", `{"error":"invalid_client","error_description":"EVIL\u001b[2J\u202e"}`), 40),
		Entry(nil, "html", but("/token", 200, "text/html", "<html>"+curse+"</html>"), 80),
		Entry(nil, "html", but("/token", 200, "text/html", "<html>"+curse+"</html>"), 40),
	)

	It("walks the steps that are asked for, in their order, and what they need besides", func() {
		for _, steps := range [][]flow.Step{{flow.Node, flow.Reading}, {flow.Node, flow.Info}, {flow.Node, flow.Calls}, {flow.Node, flow.Specification}, {flow.Node, flow.WhatIf}, {flow.Node, flow.Info, flow.Token, flow.Info}} {
			text, err := printed(nil, plain.Options{Language: "de", Steps: steps, Mistakes: mistakes("garbage")})
			Expect(err).NotTo(HaveOccurred(), "%v: %s", steps, text)
			var want, got []string
			for _, s := range steps {
				want = append(want, fmt.Sprintf("%d. %s", int(s)+1, s.Guide().Title))
			}
			for line := range strings.Lines(text) {
				for _, g := range flow.Guides() {
					if head := fmt.Sprintf("%d. %s", int(g.Step)+1, g.Title); strings.TrimSpace(line) == head {
						got = append(got, head)
					}
				}
			}
			Expect(got).To(Equal(want))
		}
	})

	DescribeTable("shows what a hostile node writes as text", func(path string, status int, contentType, body string) {
		for _, width := range []int{40, 80} {
			text, _ := printed(but(path, status, contentType, body), plain.Options{Width: width, Language: "en", Steps: short, Mistakes: mistakes("no-token")})
			Expect(text).To(ContainSubstring("EVIL"))
			fits(text, width)
		}
	},
		Entry("registry", "/registry.json", 200, "application/json", `{"entries":[{"id":`+quoted(curse)+`,"name":`+quoted(curse)+`}]}`),
		Entry("token answer", "/token", 200, "application/json", `{"access_token":"a-token-of-no-kind","token_type":`+quoted(curse)+`,"expires_in":60,"scope":`+quoted(curse)+`}`),
		Entry("info", "/oauth/info/", 200, "application/json", `{"endpoints":{`+quoted(curse)+`:[{"name":`+quoted(curse)+`,"majorVersion":1,"minorVersion":0,"url":`+quoted(curse)+`}]}}`),
		Entry("problem details", "/oauth/info/", 403, "application/problem+json", `{"title":`+quoted(curse)+`,"detail":`+quoted(curse)+`}`),
		Entry("document", "/api-docs", 200, "application/json", `{"openapi":"3.0.3","info":{"title":`+quoted(curse)+`,"version":`+quoted(curse)+`},"paths":{`+quoted("/"+curse)+`:{"get":{"operationId":`+quoted(curse)+`,"responses":{}}}}}`),
		Entry("calls", "/fundings", 200, "application/json", `[{"id":`+quoted(curse)+`,"name":{"en":`+quoted(curse)+`}}]`),
		Entry("one long line", "/fundings", 200, "application/json", quoted(strings.Repeat(curse, 2000))),
	)

	It("ends with the error of its writer", func() {
		w, err := flow.New(flow.Options{Suite: "test"})
		Expect(err).NotTo(HaveOccurred())
		Expect(plain.Run(GinkgoT().Context(), w, closed{}, plain.Options{Steps: []flow.Step{flow.Credentials}})).To(MatchError(io.ErrClosedPipe))
	})
})

// closed is a pipe that nobody reads.
type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func quoted(s string) string {
	b, _ := json.Marshal(s) // a string always can
	return string(b)
}
