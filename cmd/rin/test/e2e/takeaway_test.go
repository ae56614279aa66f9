//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// nodeRunsTypeScript reports whether the installed Node removes the types of a program by itself, as it does from 22.18 on.
func nodeRunsTypeScript() bool {
	out, err := exec.Command("node", "-p", "process.features.typescript").Output()
	return err == nil && strings.TrimSpace(string(out)) == "strip"
}

var _ = Describe("The clients that rin tour leaves", Ordered, func() {
	var folder string

	BeforeAll(func() {
		folder = filepath.Join(GinkgoT().TempDir(), "taken")
		output, err := exec.Command(binary, "tour", "--plain", "--step", "calls", "--step", "take-away", "--take-away", folder).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
	})

	DescribeTable("cope with every scenario", func(ctx SpecContext, file string, programs ...string) {
		if isMissing(programs...) {
			Skip(strings.Join(programs, " or ") + " is not installed")
		}
		path := filepath.Join(folder, file)
		command := []string{programs[0], path}
		switch {
		case strings.HasSuffix(file, ".go"): // built once, because go run would be 19 builds
			command = []string{filepath.Join(folder, "client")}
			output, err := exec.CommandContext(ctx, "go", "build", "-o", command[0], path).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(output))
		case strings.HasSuffix(file, ".ts") && !nodeRunsTypeScript():
			if servers == "" {
				fmt.Fprint(os.Stderr, "\n*** SKIPPED: this Node does not run TypeScript, and npm is missing, so client.ts was not tested ***\n\n")
				Skip("this Node does not run TypeScript")
			}
			command[1] = filepath.Join(folder, "client.mjs")
			output, err := exec.CommandContext(ctx, filepath.Join(servers, "node_modules", ".bin", "esbuild"), path, "--outfile="+command[1]).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(output))
		}
		tested := filepath.Join(folder, file+".json")
		run := exec.CommandContext(ctx, binary, append([]string{"client-test", "--scenario", "all", "--fail-on", "waste", "--format", "json", "--output", tested, "--"}, command...)...)
		output, err := run.CombinedOutput()
		text, readErr := os.ReadFile(tested)
		Expect(readErr).NotTo(HaveOccurred(), string(output))
		Expect(err).NotTo(HaveOccurred(), string(text))
		var result struct {
			Runs []struct {
				Scenario string
				Struck   int
			}
		}
		Expect(json.Unmarshal(text, &result)).To(Succeed())
		Expect(len(result.Runs)).To(BeNumerically(">", 15))
		for _, r := range result.Runs {
			Expect(r.Scenario == "" || r.Struck > 0).To(BeTrue(), "%s struck no request of the client", r.Scenario)
		}
	},
		Entry("in shell", "client.sh", "sh", "curl", "jq", NodeTimeout(2*time.Minute)),
		Entry("in Go", "client.go", "go", NodeTimeout(2*time.Minute)),
		Entry("in Python", "client.py", "python3", NodeTimeout(2*time.Minute)),
		Entry("in TypeScript", "client.ts", "node", NodeTimeout(2*time.Minute)),
	)
})
