//go:build e2e

package e2e_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"
)

// actionsFolder is the folder of the actions.
const actionsFolder = "../../../../.github/actions"

// goProgram builds a program at a version and returns its path; it prints why and returns "" if that is impossible.
func goProgram(pkg, version string) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	install := exec.Command("go", "install", pkg+"@"+version)
	install.Env = append(os.Environ(), "GOBIN="+dir, "CGO_ENABLED=0")
	if out, err := install.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "\n*** SKIPPED: %s cannot be built, so what needs it was not tested: %s ***\n\n", pkg, out)
		return ""
	}
	return filepath.Join(dir, filepath.Base(pkg))
}

var _ = Describe("The actions, by actionlint", Ordered, func() {
	var actionlint string
	BeforeAll(func() {
		if isMissing("git") {
			Skip("git is not installed")
		}
		if actionlint = goProgram("github.com/rhysd/actionlint/cmd/actionlint", "v1.7.12"); actionlint == "" {
			Skip("no actionlint")
		}
		if isMissing("shellcheck") { // actionlint runs it on the scripts of steps
			fmt.Fprintln(os.Stderr, "actionlint runs without shellcheck")
		}
	})
	// findings returns what actionlint finds in a workflow of a repository that has the actions.
	findings := func(workflow string) string {
		GinkgoHelper()
		repository := GinkgoT().TempDir()
		Expect(os.CopyFS(filepath.Join(repository, ".github", "actions"), os.DirFS(actionsFolder))).To(Succeed())
		Expect(exec.Command("git", "init", "--quiet", repository).Run()).To(Succeed())
		Expect(os.MkdirAll(filepath.Join(repository, ".github", "workflows"), 0o755)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(repository, ".github", "workflows", "test.yml"), []byte(workflow), 0o600)).To(Succeed())
		check := exec.Command(actionlint, "-no-color")
		check.Dir = repository
		out, err := check.CombinedOutput()
		Expect(err == nil).To(Equal(len(out) == 0), "%s%v", out, err)
		return string(out)
	}

	It("are used by the examples as their inputs ask, and a misspelt input is noticed", func() {
		text, err := os.ReadFile(filepath.Join(deployFolder, "README.md"))
		Expect(err).NotTo(HaveOccurred())
		examples := regexp.MustCompile("(?s)\n```yaml\n(- uses: .*?)```").FindAllStringSubmatch(string(text), -1)
		Expect(examples).To(HaveLen(2))
		steps := examples[0][1] + examples[1][1]
		for _, action := range []string{"certify", "client-test", "verify"} {
			Expect(steps).To(ContainSubstring("rin-network/rin/.github/actions/"+action+"@<commit>"), "each action has an example")
		}
		steps = strings.ReplaceAll(steps, "rin-network/rin/", "./")
		steps = regexp.MustCompile(`(\./\S+)@<commit>`).ReplaceAllString(steps, "$1")
		steps = strings.ReplaceAll(steps, "checkout@<commit>", "checkout@v5")
		workflow := "on: pull_request\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n" + indent(steps, "      ")
		Expect(findings(workflow)).To(BeEmpty())
		Expect(findings(strings.Replace(workflow, "registry: ris.json", "regitsry: ris.json", 1))).To(And(ContainSubstring(`"regitsry"`), ContainSubstring(`missing input "registry"`)))
	})

	// actionlint reads workflows only, so the steps of each action become a job, and its inputs those of the workflow.
	It("have steps with right expressions, contexts and scripts, and an unknown input is noticed", func() {
		actions, err := filepath.Glob(filepath.Join(actionsFolder, "*", "action.yml"))
		Expect(err).NotTo(HaveOccurred())
		Expect(actions).To(HaveLen(3))
		for _, path := range actions {
			text, err := os.ReadFile(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(findings(workflowOf(string(text)))).To(BeEmpty(), path)
			wrong := regexp.MustCompile(`\$\{\{ inputs\.\w+`).ReplaceAllString(string(text), "$0-unknown")
			Expect(wrong).NotTo(Equal(string(text)))
			Expect(findings(workflowOf(wrong))).To(ContainSubstring(`is not defined in object type`), path)
		}
	})
})

// workflowOf returns a workflow with the inputs, outputs and steps of a composite action.
func workflowOf(action string) string {
	GinkgoHelper()
	var a struct {
		Inputs  map[string]struct{ Required bool }
		Outputs map[string]struct{ Value string }
		Runs    struct{ Steps []map[string]any }
	}
	Expect(yaml.Unmarshal([]byte(action), &a)).To(Succeed())
	Expect(a.Runs.Steps).NotTo(BeEmpty())
	inputs, outputs := map[string]any{}, map[string]string{}
	for name, input := range a.Inputs {
		inputs[name] = map[string]any{"type": "string", "required": input.Required}
	}
	for name, output := range a.Outputs {
		outputs[name] = output.Value
	}
	job := map[string]any{"runs-on": "ubuntu-latest", "steps": a.Runs.Steps}
	if len(outputs) > 0 {
		job["outputs"] = outputs
	}
	workflow, err := yaml.Marshal(map[string]any{"on": map[string]any{"workflow_call": map[string]any{"inputs": inputs}}, "jobs": map[string]any{"action": job}})
	Expect(err).NotTo(HaveOccurred())
	return string(workflow)
}

func indent(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+by) + "\n"
}
