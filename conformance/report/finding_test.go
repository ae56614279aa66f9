package report_test

import (
	"html"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A failure", func() {
	It("names in every format the request and its client, the answer and its place, the cause, the fix, and a command that repeats it", func() {
		r, log := small()
		for name, f := range reportFormats() {
			if strings.HasPrefix(name, "40") {
				continue // without findings; the same words broken at other places
			}
			text := html.UnescapeString(strings.NewReplacer(`\"`, `"`, "\x1b[0m", "").Replace(strings.Join(strings.Fields(write(f, r, log)), " ")))
			for _, part := range []string{
				"TOK-06", "RFC 6749 §5.1", `The authorization server MUST include the HTTP "Cache-Control" response header field`,
				"Cache-Control: no-store", "Cache-Control: max-age=300", "https://auth.node.example/oauth/token", "node",
				"Send Cache-Control: no-store with every token answer.", "curl -sS -i -X POST",
			} {
				Expect(text).To(ContainSubstring(part), name)
			}
			Expect(text).To(Or(ContainSubstring("cause the node"), ContainSubstring("cause: the node"), ContainSubstring("likely cause: the node"), ContainSubstring(`"fault": "node"`)), name)
			Expect(text).To(Or(ContainSubstring("POST https://auth.node.example/oauth/token: 200"), ContainSubstring(`Seen in <a href="#exchange-1"`)), name)
		}
	})

	It("gives the command that judges an open requirement again", func() {
		r, _ := small()
		for _, q := range r.Requirements {
			if q.ID == "TER-08" {
				Expect(q.Fix).To(ContainSubstring("--only TER-08"))
				Expect(q.Seen).To(HaveSuffix(": no answer"))
			}
		}
	})
})
