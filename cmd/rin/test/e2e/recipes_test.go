//go:build e2e

package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// recipe returns the only code block of a language in the README of the sandbox.
func recipe(language string) string {
	GinkgoHelper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "sandbox", "README.md"))
	Expect(err).NotTo(HaveOccurred())
	found := regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	Expect(found).To(HaveLen(1), language)
	return found[0][1]
}

// Each recipe is run with a good client, whose tests must pass, and with one that ignores Retry-After, whose tests must fail for that reason.
var _ = Describe("The recipes for tests in other languages", func() {
	DescribeTable("judge the client of a test", func(ctx SpecContext, language, folder, file, program string, args ...string) {
		if isMissing(program) {
			Skip(program + " is not installed")
		}
		code := recipe(language)
		dir := GinkgoT().TempDir()
		if language == "js" {
			if servers == "" {
				Skip("npm is missing")
			}
			dir = filepath.Join(servers, "recipes", folder) // beside the node_modules
		} else {
			Expect(os.CopyFS(dir, os.DirFS(filepath.Join("testdata", "recipes", folder)))).To(Succeed())
		}
		Expect(os.WriteFile(filepath.Join(dir, file), []byte(code), 0o600)).To(Succeed())
		if language == "python" && exec.Command(program, "-m", "pytest", "--version").Run() != nil {
			fmt.Fprint(os.Stderr, "\n*** SKIPPED: pytest is not installed, so its recipe was not tested ***\n\n")
			Skip("pytest is not installed")
		}
		test := func(env ...string) (string, error) {
			cmd := exec.CommandContext(ctx, program, args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), append(env, "RIN="+binary)...)
			output, err := cmd.CombinedOutput()
			return string(output), err
		}
		output, err := test()
		Expect(err).NotTo(HaveOccurred(), output)
		output, err = test("HASTY=1")
		Expect(err).To(HaveOccurred(), output)
		Expect(output).To(ContainSubstring("Retry-After"))
	},
		Entry("in pytest", "python", "pytest", "conftest.py", "python3", "-m", "pytest", "-q", "-p", "no:cacheprovider", NodeTimeout(time.Minute)),
		Entry("in vitest", "js", "vitest", "sandbox.js", "npx", "vitest", "run", "--reporter=verbose", NodeTimeout(time.Minute)),
		Entry("in JUnit 5", "java", "junit", "Sandbox.java", "mvn", "--batch-mode", "--quiet", "test", NodeTimeout(5*time.Minute)),
	)

	It("have few lines, which can be copied by hand", func() {
		for _, language := range []string{"python", "js", "java"} {
			Expect(strings.Count(recipe(language), "\n")).To(BeNumerically("<=", 30), language)
		}
	})
})

var _ = Describe("The document of the control listener", func() {
	It("is valid for a validator of other vendors, as the sandbox serves it", func(ctx SpecContext) {
		if exec.Command("python3", "-c", "import openapi_spec_validator").Run() != nil {
			fmt.Fprint(os.Stderr, "\n*** SKIPPED: openapi-spec-validator is not installed, so the document of the control listener was not validated ***\n\n")
			Skip("openapi-spec-validator is not installed")
		}
		control := start(exec.Command(binary, "sandbox", "--addr", "127.0.0.1:0"), `control +(http://\S+) `, 20*time.Second)
		answer, err := http.Get(control + "/")
		Expect(err).NotTo(HaveOccurred())
		defer answer.Body.Close()
		cmd := exec.CommandContext(ctx, "python3", "-m", "openapi_spec_validator", "-")
		cmd.Stdin = answer.Body
		output, err := cmd.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(output))
		Expect(string(output)).To(ContainSubstring("OK"))
	}, NodeTimeout(time.Minute))
})
