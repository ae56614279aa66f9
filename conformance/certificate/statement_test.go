package certificate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/verdict"
)

var _ = Describe("A statement", Ordered, func() {
	var recorded certificate.Run
	BeforeAll(func() { recorded = recordedRun() })
	// runOf returns the run of the fake node with this decision in its report.
	runOf := func(decision verdict.Decision) certificate.Run {
		run := recorded
		run.Report.Verdict.Decision = decision
		run.Files = []certificate.File{{Name: certificate.EvidenceFile, Content: []byte("evidence")}}
		return run
	}

	Describe("that is a claim", func() {
		It("is an in-toto statement about every file, the document and the configuration", func() {
			run := runOf(verdict.NotCertified)
			claim, err := certificate.NewClaim(run)
			Expect(err).NotTo(HaveOccurred())
			var s struct {
				Type          string `json:"_type"`
				PredicateType string
				Subject       []struct {
					Name   string
					Digest map[string]string
				}
				Predicate map[string]any
			}
			Expect(json.Unmarshal(claim.Payload(), &s)).To(Succeed())
			Expect(s.Type).To(Equal("https://in-toto.io/Statement/v1"))
			Expect(s.PredicateType).To(Equal("https://in-toto.io/attestation/test-result/v0.1"))
			Expect(s.Subject).To(HaveLen(2))
			Expect(s.Subject[0].Digest).To(HaveKeyWithValue("sha256", certificate.DigestOf([]byte("evidence")).SHA256))
			Expect(s.Subject[1].Name).To(Equal("reduced-document.json"))
			Expect(s.Predicate).To(HaveKeyWithValue("result", "FAILED"))
			Expect(s.Predicate).To(HaveKey("configuration"), "the predicate asks for it")
			Expect(s.Predicate).To(HaveKey("failedTests"))
			Expect(claim.Predicate.FailedTests).To(ContainElement("API-05"))
			run.Log.Run.Operator = "Network office"
			claim, err = certificate.NewClaim(run)
			Expect(err).NotTo(HaveOccurred())
			Expect(claim.Predicate.Configuration).To(ContainElement(HaveField("Annotations", And(HaveKeyWithValue("operator", "Network office"), HaveKeyWithValue("blind", "false")))))
			for name := range s.Predicate {
				Expect(name).To(BeElementOf("result", "configuration", "url", "passedTests", "warnedTests", "failedTests"), "the published members alone")
			}
		})

		It("is warned if a requirement warns, and passed otherwise", func() {
			run := runOf(verdict.Certified)
			run.Report.Totals = verdict.Totals{Pass: 1, Warn: 1}
			Expect(certificate.NewClaim(run)).To(HaveField("Predicate.Result", certificate.Warned))
			run.Report.Totals = verdict.Totals{Pass: 1}
			Expect(certificate.NewClaim(run)).To(HaveField("Predicate.Result", certificate.Passed))
		})

		It("is not made of a partial or an inconclusive run", func() {
			for decision, says := range map[verdict.Decision]string{verdict.Partial: "a partial run", verdict.Repeat: "an inconclusive run"} {
				_, err := certificate.NewClaim(runOf(decision))
				Expect(err).To(MatchError(ContainSubstring(says)))
			}
		})
	})

	Describe("that is a certificate", func() {
		admission := certificate.Admission{
			Operator: "https://registry.example", Policy: certificate.File{Name: "registry.yaml", Content: []byte("profile: funding")},
			Created: time.Date(2026, 3, 1, 12, 0, 0, 5, time.UTC), Control: true,
		}
		// envelope verifies a run with its certificate.
		envelope := func(run certificate.Run) certificate.Verification {
			key, public := newKey()
			s, err := certificate.NewCertificate(run, admission)
			Expect(err).NotTo(HaveOccurred())
			text, err := certificate.Sign(s.Payload(), key)
			Expect(err).NotTo(HaveOccurred())
			return certificate.Verify(certificate.Input{
				Files: run.Files, Key: public, Suite: "test", Envelope: certificate.File{Name: certificate.CertificateFile, Content: text},
			})
		}

		It("names the operator, the policy with its digest, the time, and the results", func() {
			s, err := certificate.NewCertificate(runOf(verdict.Certified), admission)
			Expect(err).NotTo(HaveOccurred())
			Expect(s.PredicateType).To(Equal("https://in-toto.io/attestation/svr/v0.2"))
			text, err := json.Marshal(s.Predicate)
			Expect(err).NotTo(HaveOccurred())
			Expect(text).To(MatchJSON(`{"verifier":{"id":"https://registry.example","policies":[{"name":"registry.yaml","digest":{"sha256":"` +
				certificate.DigestOf(admission.Policy.Content).SHA256 + `"}}]},"timeCreated":"2026-03-01T12:00:00Z","properties":["RIN_FUNDING_CERTIFIED","RIN_CONTROL_PROVEN"]}`))
		})

		It("is only made of a run that certified the node, and needs a named operator and a policy", func() {
			_, err := certificate.NewCertificate(runOf(verdict.NotCertified), admission)
			Expect(err).To(MatchError(ContainSubstring("expected a run that certified the node")))
			_, err = certificate.NewCertificate(runOf(verdict.Certified), certificate.Admission{})
			Expect(err).To(MatchError(ContainSubstring("expected operator, policy and time")))
		})

		It("is verified like a claim: its signature first", func() {
			v := envelope(runOf(verdict.Certified))
			Expect(v.StatementText).To(Equal("a certificate of https://registry.example of 2026-03-01T12:00:00Z: RIN_FUNDING_CERTIFIED, RIN_CONTROL_PROVEN; the node could know that it was tested"))
			Expect(v.Checks[0]).To(HaveField("State", certificate.Holds))
			Expect(v.State()).To(Equal(certificate.Broken), "the evidence of this test is not evidence")
		})

		It("states that a run was blind", func() {
			run := runOf(verdict.Certified)
			run.Report.Made.Blind = true
			s, err := certificate.NewCertificate(run, admission)
			Expect(err).NotTo(HaveOccurred())
			Expect(s.Predicate.Properties).To(Equal([]string{"RIN_FUNDING_CERTIFIED", "RIN_CONTROL_PROVEN", "RIN_TESTED_BLIND"}))
			blind := recorded
			blind.Report = run.Report
			c, _ := envelope(blind).First(certificate.Broken)
			Expect(c).To(And(HaveField("Step", certificate.StepJudgement), HaveField("Why", ContainSubstring("it states RIN_TESTED_BLIND"))))
		})

		It("does not state more than its run shows", func() {
			run := recorded
			run.Report.Verdict.Decision = verdict.Certified
			v := envelope(run)
			c, _ := v.First(certificate.Broken)
			Expect(c).To(And(HaveField("Step", certificate.StepJudgement), HaveField("Why", ContainSubstring("it states RIN_FUNDING_CERTIFIED, and the run says"))))
		})
	})

})

// recordedRun returns a run of the fake node with evidence and report as files.
func recordedRun() certificate.Run {
	GinkgoHelper()
	path := GinkgoT().TempDir() + "/" + certificate.EvidenceFile
	t := conformancetest.Start(GinkgoT(), func(n *conformancetest.Node) { n.Document = conformancetest.Document }).Target()
	t.Seed = 1
	result, err := conformance.Certify(context.Background(), t, conformance.Options{Inputs: conformance.Inputs{Suite: "test"}, Evidence: path})
	Expect(err).NotTo(HaveOccurred())
	return certificate.Run{Files: filesOf(path, result.Report, result.Log), Log: result.Log, Report: result.Report}
}

func filesOf(path string, r report.Report, log *evidence.Log) []certificate.File {
	GinkgoHelper()
	out := []certificate.File{{Name: certificate.EvidenceFile, Content: read(path)}}
	for _, f := range report.Files("test") {
		if f.Format == "json" {
			out = append(out, certificate.File{Name: f.Name, Content: written(f, r, log)})
		}
	}
	return out
}

func read(path string) []byte {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	return content
}

func written(f report.File, r report.Report, log *evidence.Log) []byte {
	GinkgoHelper()
	var out bytes.Buffer
	Expect(f.Write(&out, r, log)).To(Succeed())
	return out.Bytes()
}
