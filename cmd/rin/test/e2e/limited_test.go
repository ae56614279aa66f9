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

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
)

var _ = Describe("A node that bears twenty requests a second", slow, func() {
	It("is certified: rin slows down to what it bears, and says so", func() {
		dir := GinkgoT().TempDir()
		file := filepath.Join(dir, "credentials.json")
		origin := start(exec.Command(binary, "sandbox", "--addr", "127.0.0.1:0", "--rate-limit", "20/s", "--credentials", file), `listening on (\S+)`, time.Minute)
		text, err := os.ReadFile(file)
		Expect(err).NotTo(HaveOccurred())
		var credentials struct {
			Nodes []struct {
				Clients []struct{ ClientID, ClientSecret string }
			}
		}
		Expect(json.Unmarshal(text, &credentials)).To(Succeed())
		client := credentials.Nodes[0].Clients[0]

		cmd := exec.Command(binary, "certify", "--registry", origin+"/registry/registry.json", "--node", "XA", "--profile", "funding", "--report-dir", dir,
			"--client-id", client.ClientID, "--client-secret", "env:SECRET")
		cmd.Env = append(os.Environ(), "SECRET="+client.ClientSecret)
		cmd.Stdout, cmd.Stderr = GinkgoWriter, GinkgoWriter
		Expect(cmd.Run()).To(Succeed(), "certified")

		written, err := os.Open(filepath.Join(dir, "report.json"))
		Expect(err).NotTo(HaveOccurred())
		defer written.Close()
		r, err := report.ReadJSON(written)
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Notes).To(ContainElement(MatchRegexp(`The node refused \d+ requests? for load \(429\), so rin slowed down`)))
		recorded, err := os.Open(filepath.Join(dir, "evidence.jsonl.gz"))
		Expect(err).NotTo(HaveOccurred())
		defer recorded.Close()
		log, err := evidence.ReadLog(recorded)
		Expect(err).NotTo(HaveOccurred())
		Expect(log.Ended.Slowdown.Refusals).To(BeNumerically("<", log.Ended.Requests/20), "few requests are refused once the rate is known")
		Expect(log.Ended.Requests).To(BeNumerically("<=", log.Run.Budget))
	})
})
