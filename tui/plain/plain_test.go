package plain_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/plain"
	"github.com/rin-network/rin/tui/tuitest"
)

// hostileText has control characters that would act on a terminal.
const hostileText = "EVIL\x1b[2J\x1b]52;c;cm0=\x07\u009b31m\x7f\b\r\n\t\u202e\u2066\ufeff\u2028界界EVIL"

// replaceAnswer replaces the answers of one path.
func replaceAnswer(end string, status int, contentType, body string) func(http.Handler) http.Handler {
	return tuitest.ReplaceAnswer(end, func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Server"] = []string{"EVIL\u009b31m\u202e"}
		tuitest.Answer(status, contentType, body)(w, r)
	})
}

// mistakesNamed returns the mistakes with these names.
func mistakesNamed(names ...string) []flow.Mistake {
	return slices.DeleteFunc(flow.Mistakes(), func(m flow.Mistake) bool { return !slices.Contains(names, m.Name) })
}

// expectWidth expects every line to fit a width, except the lines of requests, which are never shortened.
func expectWidth(text string, width int) {
	GinkgoHelper()
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "> ") {
			Expect(ansi.StringWidth(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", width), line)
		}
	}
}

var _ = Describe("The walk line by line", func() {
	short := []flow.Step{flow.Node, flow.Credentials, flow.Token, flow.Reading, flow.Info, flow.Specification, flow.Calls, flow.WhatIf, flow.TakeAway}

	DescribeTable("matches its golden", func(width int) {
		text, err := printTour(nil, plain.Options{Width: width, Language: "en", Steps: short, Mistakes: mistakesNamed("no-token", "wrong-secret")})
		Expect(err).NotTo(HaveOccurred())
		expectWidth(text, width)
		tuitest.Golden(GinkgoTB(), fmt.Sprintf("walk-%d", width), normalize(text))
	}, Entry("80 columns", 80), Entry("40 columns", 40))

	DescribeTable("prints trouble, its causes and remedies", func(name string, change func(http.Handler) http.Handler, width int) {
		text, err := printTour(change, plain.Options{Width: width, Language: "en", Steps: []flow.Step{flow.Node, flow.Token}})
		Expect(err).To(MatchError(plain.ErrTrouble))
		Expect(text).To(And(ContainSubstring("Trouble: "), ContainSubstring("What usually causes it:"), ContainSubstring("What to try:")))
		expectWidth(text, width)
		tuitest.Golden(GinkgoTB(), fmt.Sprintf("trouble-%s-%d", name, width), normalize(text))
	},
		Entry(nil, "secret", replaceAnswer("/token", 401, "application/json", `{"error":"invalid_client","error_description":"EVIL\u001b[2J\u202e"}`), 80),
		Entry(nil, "secret", replaceAnswer("/token", 401, "application/json", `{"error":"invalid_client","error_description":"EVIL\u001b[2J\u202e"}`), 40),
		Entry(nil, "html", replaceAnswer("/token", 200, "text/html", "<html>"+hostileText+"</html>"), 80),
		Entry(nil, "html", replaceAnswer("/token", 200, "text/html", "<html>"+hostileText+"</html>"), 40),
	)

	It("prints the chosen steps in their order, and runs the steps that they need", func() {
		for _, steps := range [][]flow.Step{{flow.Node, flow.Reading}, {flow.Node, flow.Info}, {flow.Node, flow.Calls}, {flow.Node, flow.Specification}, {flow.Node, flow.WhatIf}, {flow.Node, flow.Info, flow.Token, flow.Info}} {
			text, err := printTour(nil, plain.Options{Language: "de", Steps: steps, Mistakes: mistakesNamed("garbage")})
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

	DescribeTable("makes the texts of a hostile node safe for the terminal", func(path string, status int, contentType, body string) {
		for _, width := range []int{40, 80} {
			text, _ := printTour(replaceAnswer(path, status, contentType, body), plain.Options{Width: width, Language: "en", Steps: short, Mistakes: mistakesNamed("no-token")})
			Expect(text).To(ContainSubstring("EVIL"))
			expectWidth(text, width)
		}
	},
		Entry("registry", "/registry.json", 200, "application/json", `{"entries":[{"id":`+jsonString(hostileText)+`,"name":`+jsonString(hostileText)+`}]}`),
		Entry("token answer", "/token", 200, "application/json", `{"access_token":"a-token-of-no-kind","token_type":`+jsonString(hostileText)+`,"expires_in":60,"scope":`+jsonString(hostileText)+`}`),
		Entry("info", "/oauth/info/", 200, "application/json", `{"endpoints":{`+jsonString(hostileText)+`:[{"name":`+jsonString(hostileText)+`,"majorVersion":1,"minorVersion":0,"url":`+jsonString(hostileText)+`}]}}`),
		Entry("problem details", "/oauth/info/", 403, "application/problem+json", `{"title":`+jsonString(hostileText)+`,"detail":`+jsonString(hostileText)+`}`),
		Entry("document", "/api-docs", 200, "application/json", `{"openapi":"3.0.3","info":{"title":`+jsonString(hostileText)+`,"version":`+jsonString(hostileText)+`},"paths":{`+jsonString("/"+hostileText)+`:{"get":{"operationId":`+jsonString(hostileText)+`,"responses":{}}}}}`),
		Entry("calls", "/fundings", 200, "application/json", `[{"id":`+jsonString(hostileText)+`,"name":{"en":`+jsonString(hostileText)+`}}]`),
		Entry("one long line", "/fundings", 200, "application/json", jsonString(strings.Repeat(hostileText, 2000))),
	)

	It("returns the error of its writer", func() {
		w, err := flow.New(flow.Options{Suite: "test"})
		Expect(err).NotTo(HaveOccurred())
		Expect(plain.Run(GinkgoT().Context(), w, closedPipe{}, plain.Options{Steps: []flow.Step{flow.Credentials}})).To(MatchError(io.ErrClosedPipe))
	})
})

// closedPipe is the writer of a pipe whose reader is closed.
type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func jsonString(s string) string {
	b, _ := json.Marshal(s) // a string always marshals
	return string(b)
}
