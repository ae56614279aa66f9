package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"
)

// Whoever opens a pull request writes the files of its working copy, and its earlier checks fill caches: a check that builds rin from either runs what they planted.
var _ = Describe("The check of a pull request in a pipeline", func() {
	It("builds rin without a cache on GitHub", func() {
		text, err := os.ReadFile("../../.github/actions/verify/action.yml")
		Expect(err).NotTo(HaveOccurred())
		var action struct {
			Runs struct {
				Steps []struct {
					Name, Uses, If, Run string
					With                map[string]any
				}
			}
		}
		Expect(yaml.Unmarshal(text, &action)).To(Succeed())
		builds := 0
		for _, s := range action.Runs.Steps {
			Expect(s.Uses).NotTo(HavePrefix("actions/cache"))
			if strings.HasPrefix(s.Uses, "actions/setup-go@") {
				Expect(s.With).To(HaveKeyWithValue("cache", false))
			}
			if strings.Contains(s.Run, "go build") {
				builds++
				Expect(s.If).To(BeEmpty(), "it is built in each check")
			}
		}
		Expect(builds).To(Equal(1))
	})

	It("builds rin on GitLab without a cache, and outside the working copy, whose go.mod could replace it", func() {
		for _, program := range []string{"bash", "git"} {
			if _, err := exec.LookPath(program); err != nil {
				Skip("*** this machine has no " + program + " ***")
			}
		}
		text, err := os.ReadFile("deploy/gitlab/verify.yml")
		Expect(err).NotTo(HaveOccurred())
		_, jobs, _ := strings.Cut(string(text), "\n---\n")
		inputs := strings.NewReplacer("$[[ inputs.version ]]", "v1.0.0", "$[[ inputs.runs ]]", "runs/XA", "$[[ inputs.registry ]]", "ris.json",
			"$[[ inputs.key ]]", "", "$[[ inputs.profile ]]", "auth", "$[[ inputs.stage ]]", "test")
		var pipeline map[string]struct {
			Variables map[string]string
			Cache     any
			Script    []string
		}
		Expect(yaml.Unmarshal([]byte(inputs.Replace(jobs)), &pipeline)).To(Succeed())
		job := pipeline["rin-verify"]
		Expect(job.Cache).To(Equal([]any{}), "an empty list; without it the job takes the cache of the pipeline that includes it")

		project, tools := GinkgoT().TempDir(), GinkgoT().TempDir()
		root, err := filepath.Abs("../..")
		Expect(err).NotTo(HaveOccurred())
		fakeRin := "#!/bin/sh\nif [ \"$1\" = verify ]; then echo 'the report says: Certified for profile auth'; echo 'the entry is XA'; fi\n"
		fakeGo := "#!/bin/sh\necho \"$1 in $PWD with $GOPATH and $GOCACHE\" >> " + filepath.Join(tools, "calls") + "\n" +
			"if [ \"$1\" = install ]; then mkdir -p \"$GOPATH/bin\"; cp " + filepath.Join(tools, "fake-rin") + " \"$GOPATH/bin/rin\"; else echo " + root + "; fi\n"
		for path, content := range map[string]string{
			filepath.Join(tools, "fake-rin"): fakeRin, filepath.Join(tools, "go"): fakeGo,
			filepath.Join(project, "ris.json"): "[]", filepath.Join(project, "go.mod"): "module planted\nreplace github.com/rin-network/rin => ./planted\n",
		} {
			Expect(os.WriteFile(path, []byte(content), 0o700)).To(Succeed())
		}
		Expect(exec.Command("git", "init", "--quiet", project).Run()).To(Succeed())

		check := exec.Command("bash", "-eo", "pipefail", "-c", strings.Join(job.Script, "\n"))
		check.Dir = project
		check.Env = []string{"PATH=" + tools + ":" + os.Getenv("PATH"), "HOME=" + tools, "TMPDIR=" + GinkgoT().TempDir(), "CI_PROJECT_DIR=" + project, "CI_MERGE_REQUEST_DIFF_BASE_SHA=none"}
		for name, value := range job.Variables {
			check.Env = append(check.Env, name+"="+strings.ReplaceAll(value, "$CI_PROJECT_DIR", project))
		}
		out, err := check.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(string(out)).To(HaveSuffix("accepted: runs/XA: XA: Certified for profile auth\n"))
		calls := strings.Split(strings.TrimSpace(string(read(tools, "calls"))), "\n")
		Expect(calls).To(HaveLen(2))
		Expect(calls).To(HaveEach(MatchRegexp(`^\w+ in /\S+ with /\S+ and /\S+$`)))
		Expect(calls).NotTo(ContainElement(ContainSubstring(project)))
	})
})
