//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("What pipelines include", Ordered, func() {
	var python string
	BeforeAll(func() {
		if isMissing("python3") {
			Skip("python3 is not installed")
		}
		environment := filepath.Join(GinkgoT().TempDir(), "python")
		if out, err := exec.Command("python3", "-m", "venv", environment).CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "\n*** SKIPPED: python3 -m venv does not work, so nothing checked what pipelines include: %s ***\n\n", out)
			Skip("python3 -m venv does not work")
		}
		if out, err := exec.Command(filepath.Join(environment, "bin", "pip"), "install", "--quiet", "zizmor", "check-jsonschema").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "\n*** SKIPPED: zizmor and check-jsonschema cannot be installed, so nothing checked what pipelines include: %s ***\n\n", out)
			Skip("zizmor and check-jsonschema cannot be installed")
		}
		python = filepath.Join(environment, "bin")
	})

	It("has actions that fit the schema of GitHub and in which zizmor finds nothing", func() {
		actions, err := filepath.Glob("../../../../.github/actions/*/action.yml")
		Expect(err).NotTo(HaveOccurred())
		Expect(actions).To(HaveLen(3))
		out, err := exec.Command(filepath.Join(python, "check-jsonschema"), append([]string{"--builtin-schema", "vendor.github-actions"}, actions...)...).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		out, err = exec.Command(filepath.Join(python, "zizmor"), append([]string{"--offline", "--no-progress"}, actions...)...).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(string(out)).To(ContainSubstring("No findings to report"))
	})

	It("has components that fit the schema of GitLab", func() {
		components, err := filepath.Glob("../../deploy/gitlab/*.yml")
		Expect(err).NotTo(HaveOccurred())
		Expect(components).To(HaveLen(3))
		for _, path := range components {
			text, err := os.ReadFile(path)
			Expect(err).NotTo(HaveOccurred())
			_, jobs, separated := bytes.Cut(text, []byte("\n---\n"))
			Expect(separated).To(BeTrue(), "%s: expected the inputs before the jobs", path)
			file := filepath.Join(GinkgoT().TempDir(), filepath.Base(path))
			Expect(os.WriteFile(file, jobs, 0o600)).To(Succeed())
			out, err := exec.Command(filepath.Join(python, "check-jsonschema"), "--builtin-schema", "vendor.gitlab-ci", file).CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), "%s: %s", path, out)
		}
	})
})
