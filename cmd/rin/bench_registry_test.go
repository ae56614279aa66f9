package main_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/rin-network/rin/sandbox"
)

// BenchmarkRegistryRun compares the processor time of a night with six nodes with that of six single certifications of the same nodes, with the same
// inputs. The night may take 1.1 times as long. Both include the child processes, and the night includes the delayed checks. The night makes no
// certificate, as in all nights but the first. It tests one node at a time, as the single certifications do: two at once share the caches of the
// processor.
func BenchmarkRegistryRun(b *testing.B) {
	const nodes = 6
	rin := build(b, "github.com/rin-network/rin/cmd/rin")
	node, err := sandbox.New(sandbox.Config{Loopback: true})
	if err != nil {
		b.Fatal(err)
	}
	server := httptest.NewServer(node)
	b.Cleanup(server.Close)
	clients := node.Credentials()
	type entry struct {
		ID     string `json:"id"`
		OAuth2 string `json:"oauth2"`
		Info   string `json:"info"`
	}
	var entries []entry
	for i := range nodes {
		entries = append(entries, entry{fmt.Sprintf("N%d", i), server.URL + "/oauth/token", server.URL + "/ris-synergy/info/v1/oauth/info/"})
	}
	document, err := json.Marshal(map[string][]entry{"member": entries})
	if err != nil {
		b.Fatal(err)
	}
	// processor runs the binary and returns the processor time of its processes. A node may pass or fail, as long as it does so in both.
	processor := func(args ...string) time.Duration {
		cmd := exec.Command(rin, args...)
		cmd.Env = append(os.Environ(), "SECRET="+clients[0].Secret, "SECRET2="+clients[1].Secret)
		if out, err := cmd.CombinedOutput(); err != nil && cmd.ProcessState.ExitCode() != 1 {
			b.Fatalf("rin %v: %v\n%s", args, err, out)
		}
		return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	}
	spec := server.URL + "/ris-synergy/funding/v3/api-docs"
	policy := fmt.Sprintf("operator: https://registry.example\ndocument: ris.json\ncertificate: {control: required}\nrun: {at-once: 1}\ndefaults: {profile: funding, client-id: %s, client-secret: env:SECRET, client-id2: %s, client-secret2: env:SECRET2, spec-url: %s}\n",
		clients[0].ClientID, clients[1].ClientID, spec)
	var night, single time.Duration
	for b.Loop() {
		dir := filepath.Join(b.TempDir(), "registry")
		processor("registry", "init", dir)
		for name, text := range map[string]string{"registry.yaml": policy, "ris.json": string(document)} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
		}
		night += processor("registry", "run", dir)
		for _, e := range entries {
			single += processor("certify", "--registry", filepath.Join(dir, "ris.json"), "--node", e.ID, "--profile", "funding", "--report-dir", b.TempDir(), "--spec-url", spec,
				"--client-id", clients[0].ClientID, "--client-secret", "env:SECRET", "--client-id2", clients[1].ClientID, "--client-secret2", "env:SECRET2")
		}
	}
	b.ReportMetric(single.Seconds()/nodes/float64(b.N), "s/certification")
	reportAtMost(b, night.Seconds()/single.Seconds(), "night/certifications", 1.1)
}
