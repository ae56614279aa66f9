package report_test

import (
	"bytes"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

var _ = Describe("A TLS handshake", func() {
	modern := evidence.Handshake{
		Label: "tls/token.modern", Address: "as.must.example:443", ServerName: "as.must.example", Offered: []string{"TLS 1.2", "TLS 1.3"},
		Version: "TLS 1.3", Cipher: "TLS_AES_128_GCM_SHA256", Protocol: "h2", Distrust: evidence.ChainIncomplete, Message: "x509: unknown authority <b>",
		Chain:    []evidence.Certificate{{Subject: "CN=as.must.example", Issuer: "CN=Example <script>", Names: []string{"as.must.example"}, NotBefore: noon(), NotAfter: noon().Add(90 * 24 * time.Hour), Key: "ECDSA P-256"}},
		Attempts: 1, Started: noon(),
	}
	old := evidence.Handshake{
		Label: "tls/token.tls11", Address: "as.must.example:443", ServerName: "as.must.example", Offered: []string{"TLS 1.1"},
		Failure: &evidence.Failure{Kind: evidence.FailureTLS, Message: "remote error: tls: protocol version not supported"}, Alert: "protocol version not supported", Attempts: 1, Started: noon(),
	}

	It("is shown and linked by a finding about it, with a command that repeats it", func() {
		catalogue := smallCatalogue()
		judgements := smallJudgements()
		id := catalogue[0].ID
		judgements[id] = requirement.Failed("incomplete chain", "a chain", "a leaf").About(requirement.Subject{Name: "TLS handshake with as.must.example:443", Label: modern.Label})
		log := smallLog()
		log.Handshakes = []evidence.Handshake{modern, old}
		r := report.New(verdict.Decide(catalogue, judgements, log, nil), requirement.Read(log), "test")
		Expect(r.Requirements[0].Curl).To(Equal("curl -sv -o /dev/null https://as.must.example:443/"))

		var page bytes.Buffer
		Expect(report.WriteHTML(&page, r, log)).To(Succeed())
		Expect(page.String()).To(SatisfyAll(
			ContainSubstring(`href="#handshake-1"`), ContainSubstring(`id="handshake-1"`), ContainSubstring(`id="handshake-2"`),
			ContainSubstring("TLS 1.3 TLS_AES_128_GCM_SHA256 h2"), ContainSubstring("issued by CN=Example &lt;script&gt;"),
			ContainSubstring("the chain proves nothing (incomplete)"), ContainSubstring("protocol version not supported"),
		))
	})

	It("with an old version is repeated by a command that allows old versions and ciphers", func() {
		Expect(old.Curl()).To(Equal("curl -sv -o /dev/null --tlsv1.1 --tls-max 1.1 --ciphers DEFAULT@SECLEVEL=0 https://as.must.example:443/"))
	})
})
