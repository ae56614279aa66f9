//go:build e2e

package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The SBOM of a release", func() {
	It("is valid SPDX by spdx-tools, and lists each module of the binary with its version", func() {
		if isMissing("tar", "git") {
			Skip("tar or git is not installed")
		}
		python := pythonPackages("spdx-tools")
		if python == "" {
			Skip("no spdx-tools")
		}
		run := func(dir, name string, args ...string) string {
			GinkgoHelper()
			cmd := exec.Command(name, args...)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			return string(out)
		}
		dir := GinkgoT().TempDir() // with a clone, because a binary that was built in a linked work tree does not name its commit
		archive, document := filepath.Join(dir, "rin_1.0.0_linux_amd64.tar.gz"), filepath.Join(dir, "sbom.spdx.json")
		run(".", "git", "clone", "--quiet", "--shared", strings.TrimSpace(run(".", "git", "rev-parse", "--show-toplevel")), filepath.Join(dir, "clone"))
		run(filepath.Join(dir, "clone"), "go", "build", "-buildvcs=true", "-trimpath", "-o", filepath.Join(dir, "rin"), "./cmd/rin")
		run(dir, "tar", "-czf", archive, "rin")
		run("../../../..", "go", "run", "./.ci/sbom", archive, document)

		run(dir, filepath.Join(python, "pyspdxtools"), "--infile", document)
		text, err := os.ReadFile(document)
		Expect(err).NotTo(HaveOccurred())
		wrong := filepath.Join(dir, "wrong.spdx.json")
		Expect(os.WriteFile(wrong, []byte(strings.Replace(string(text), `"SPDXRef-stdlib-1"`, `"SPDXRef-std lib-1"`, 1)), 0o600)).To(Succeed())
		out, err := exec.Command(filepath.Join(python, "pyspdxtools"), "--infile", wrong).CombinedOutput()
		Expect(err).To(HaveOccurred(), "a wrong document is noticed: %s", out)

		var sbom struct {
			Packages []struct{ Name, VersionInfo, SourceInfo string }
		}
		Expect(json.Unmarshal(text, &sbom)).To(Succeed())
		var listed, linked []string
		for _, p := range sbom.Packages[2:] { // after the archive and rin itself
			if p.Name != "stdlib" {
				listed = append(listed, p.Name+" "+p.VersionInfo+" "+strings.TrimPrefix(p.SourceInfo, "go.sum: "))
			}
		}
		for _, m := range regexp.MustCompile(`(?m)^\tdep\t(\S+)\t(\S+)\t(\S+)$`).FindAllStringSubmatch(run(dir, "go", "version", "-m", "rin"), -1) {
			linked = append(linked, strings.Join(m[1:], " "))
		}
		Expect(len(linked)).To(BeNumerically(">", 20))
		Expect(listed).To(Equal(linked))
	})
})
