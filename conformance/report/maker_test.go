package report_test

import (
	"encoding/json"
	"strings"

	"github.com/charmbracelet/x/ansi"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

var _ = Describe("A warning that a known product always causes", func() {
	const realm = "https://auth.node.example/realms/research/protocol/openid-connect/token"
	reported := func(change func(log *evidence.Log)) (report.Report, *evidence.Log) {
		log, judgements := smallLog(), smallJudgements()
		judgements["TER-02"] = judgements["TER-02"].Habit("Keycloak")
		judgements["TOK-13"] = requirement.Warned("a warning of the node's own", "this", "that").Seen("token.basic")
		change(log)
		return reportOf(log, judgements), log
	}
	texts := func(r report.Report, log *evidence.Log) map[string]string {
		out := map[string]string{}
		for name, f := range formats() {
			if strings.HasPrefix(name, "80") || name == "report.md" || name == "report.html" {
				out[name] = write(f, r, log)
			}
		}
		Expect(out).NotTo(BeEmpty())
		return out
	}

	It("is shown in one block, and JSON names the product", func() {
		r, log := reported(func(log *evidence.Log) { log.Run.TokenURL = realm })
		for name, text := range texts(r, log) {
			Expect(strings.ReplaceAll(text, "&#39;", "'")).To(ContainSubstring("1 warning is Keycloak's own"), name)
			if name != "report.html" { // which has a table of all requirements besides
				Expect(strings.Count(text, "the error code is unauthorized_client")).To(Equal(1), name)
			}
			Expect(text).To(ContainSubstring("a warning of the node"), name)
			_, block, _ := strings.Cut(text, "1 warning is ")
			block = strings.Join(strings.Fields(strings.NewReplacer("<bdi>", "", "`", "", "\x1b[0m", "").Replace(block)), " ")
			Expect(block).To(MatchRegexp(`unauthorized_client.{0,60}seen in POST `+realm[:len("https://auth.node.example")]), name)
		}
		for _, line := range strings.Split(text(r, report.TextOptions{Width: 80}), "\n") {
			if strings.Contains(line, "seen in POST") {
				Expect(ansi.StringWidth(line)).To(BeNumerically("<=", 80), line)
			}
		}
		for _, q := range r.Requirements {
			Expect(q.Maker).To(Equal(map[requirement.ID]string{"TER-02": "Keycloak"}[q.ID]), string(q.ID))
		}
	})

	It("is recognised by a member of the token answer as well", func() {
		r, _ := reported(func(log *evidence.Log) {
			log.Exchanges[0].Response.Body = []byte(`{"access_token":"x","not-before-policy":0}`)
		})
		Expect(r.Requirements[3].Maker).To(Equal("Keycloak"))
	})

	It("is a warning like others if another product answers", func() {
		r, log := reported(func(*evidence.Log) {})
		for name, text := range texts(r, log) {
			Expect(text).NotTo(ContainSubstring("own</h2>"), name)
			Expect(text).NotTo(ContainSubstring("warning is Keycloak"), name)
		}
	})
})

var _ = Describe("An operation that is public by the document", func() {
	It("is listed, since it is not tested for refusal", func() {
		log := smallLog()
		log.Document.Reduced = json.RawMessage(`{"openapi":"3.0.1","info":{"title":"Funding","version":"3"},"paths":{
			"/fundings":{"get":{"operationId":"listFundings","security":[{"bearer":[]}],"responses":{"200":{"description":"ok"}}}},
			"/health":{"get":{"operationId":"health","responses":{"200":{"description":"ok"}}}},
			"/news":{"get":{"operationId":"news","security":[{},{"bearer":[]}],"responses":{"200":{"description":"ok"}}}}}}`)
		r := reportOf(log, smallJudgements())
		for name, f := range formats() {
			if !strings.HasPrefix(name, "80") && name != "report.md" && name != "report.html" {
				continue
			}
			text := strings.Join(strings.Fields(strings.ReplaceAll(write(f, r, log), "\x1b[0m", "")), " ")
			Expect(strings.ToLower(text)).To(ContainSubstring("public by the document"), name)
			Expect(text).To(ContainSubstring("GET /health, GET /news (not tested for refusal)"), name)
		}
	})
})
