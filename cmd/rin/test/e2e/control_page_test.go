//go:build e2e

package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The page of the control listener in a browser", func() {
	It("shows a client's request and its faults as they come, changes nothing, and leads to the report", func() {
		if servers == "" || isMissing("chromium") {
			Skip("Node, npm or Chromium is missing")
		}
		chromium, err := exec.LookPath("chromium")
		Expect(err).NotTo(HaveOccurred())
		file := filepath.Join(GinkgoT().TempDir(), "credentials.json")
		serve("", nil, binary, "sandbox", "--addr", "127.0.0.1:0", "--credentials", file)
		data, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		var written struct {
			Nodes   []struct{ TokenURL, FundingsURL string }
			Control struct{ URL string }
		}
		Expect(json.Unmarshal(data, &written)).To(Succeed())
		client := firstCredential(file)

		reader := exec.Command("node", "control.mjs", written.Control.URL, chromium, GinkgoT().TempDir())
		reader.Dir, reader.Stderr, reader.WaitDelay = servers, GinkgoWriter, time.Second
		reader.Env = append(os.Environ(), "TOKEN_URL="+written.Nodes[0].TokenURL, "FUNDINGS_URL="+written.Nodes[0].FundingsURL,
			"CLIENT_ID="+client.ClientID, "CLIENT_SECRET="+client.Secret)
		out, err := reader.Output()
		Expect(err).NotTo(HaveOccurred())
		var seen struct {
			Before, Change, Report, Picture                          string
			Client, Marked, Journal, Errors, Violations, Connections []string
			Widest, Controls, Secrets                                int
		}
		Expect(json.Unmarshal(out, &seen)).To(Succeed())

		By("a page that reads again by itself")
		Expect(seen.Before).To(ContainSubstring("No client has called yet."))
		Expect(seen.Client).To(Equal([]string{client.ClientID, "2", "1", "0", "1", "0", "0"}))
		Expect(seen.Marked).To(Equal([]string{"1"}), "the fault")
		Expect(seen.Journal).To(ContainElements("400", ContainSubstring("CLT-19")))
		Expect(seen.Widest).To(BeZero(), "the page is wider than the window")

		By("nothing to press, nothing secret, nothing sent elsewhere")
		Expect(seen.Controls).To(BeZero())
		Expect(seen.Secrets).To(BeZero())
		Expect(seen.Change).To(Equal("refused"))
		Expect(seen.Errors).To(BeEmpty())
		Expect(seen.Violations).To(BeEmpty())
		Expect(seen.Connections).To(Equal([]string{host(written.Control.URL)}))

		By("the report on the client")
		Expect(seen.Report).To(ContainSubstring("CLT-19"))
		Expect(countColours(seen.Picture)).To(BeNumerically(">", 8))
	})
})
