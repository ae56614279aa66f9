package main_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"
)

// The author of a pull request controls the files of the working copy, and can fill caches through earlier checks. A check that builds rin from either of them
// would run the author's code.
var _ = Describe("The check of a pull request in a pipeline", func() {
	It("builds rin without a cache on GitHub", func() {
		builds := 0
		for _, s := range stepsOf("verify") {
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
		needPrograms("bash", "git")
		job := gitLabJob("verify.yml", "rin-verify")
		Expect(job.Cache).To(Equal([]any{}), "an empty list; without it the job takes the cache of the pipeline that includes it")
		project := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(project, "ris.json"), []byte("[]"), 0o600)).To(Succeed())
		fakeRin := "if [ \"$1\" = verify ]; then echo 'the report says: Certified for profile auth'; echo 'the entry is XA'; fi"
		out, calls := runGitLabJob(job, project, fakeRin, "CI_MERGE_REQUEST_DIFF_BASE_SHA=none")
		Expect(out).To(HaveSuffix("accepted: runs/XA: XA: Certified for profile auth\n"))
		Expect(calls).To(HaveLen(2))
		Expect(calls).To(HaveEach(MatchRegexp(`^\w+ in /\S+ with /\S+ and /\S+$`)))
		Expect(calls).NotTo(ContainElement(ContainSubstring(project)))
	})
})

// A certification has secrets, and the client that is tested runs in the job that built rin: what the cache keeps is the build, whatever runs after it.
var _ = Describe("The jobs that keep rin in a cache", func() {
	DescribeTable("on GitHub save what they built before anything else runs, also if the job fails later", func(name, use string) {
		steps := stepsOf(name)
		var order []string
		for _, s := range steps {
			order = append(order, strings.TrimSpace(s.ID+" "+s.Name))
			Expect(s.Uses).NotTo(HavePrefix("actions/cache@"), "it saves at the end of a job that succeeds")
		}
		Expect(order[:6]).To(HaveExactElements(Equal(""), Equal("source"), Equal("cached"), Equal("Build rin"), Equal("Keep rin"), HavePrefix(use)))
		Expect(steps[2].Uses).To(HavePrefix("actions/cache/restore@"))
		Expect(steps[4].Uses).To(HavePrefix("actions/cache/save@"))
		Expect(steps[4].If).To(Equal(steps[3].If), "what was not built is not saved")
		Expect(steps[4].With["path"]).To(Equal(steps[2].With["path"]))
	},
		Entry("certify", "certify", "certify"),
		Entry("client-test", "client-test", "test"),
	)

	DescribeTable("on GitHub have the source of rin as the key, because a branch or a tag may move", func(name string) {
		needPrograms("bash", "shasum", "find", "sort")
		root := GinkgoT().TempDir()
		action := filepath.Join(root, ".github", "actions", name)
		Expect(os.MkdirAll(action, 0o700)).To(Succeed())
		Expect(os.MkdirAll(filepath.Join(root, ".git"), 0o700)).To(Succeed())
		key := func(file, content string) string {
			GinkgoHelper()
			Expect(os.WriteFile(filepath.Join(root, file), []byte(content), 0o600)).To(Succeed())
			output := filepath.Join(GinkgoT().TempDir(), "output")
			step := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", stepsOf(name)[1].Run)
			step.Env = []string{"PATH=" + os.Getenv("PATH"), "GITHUB_ACTION_PATH=" + action, "GITHUB_OUTPUT=" + output}
			out, err := step.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			text, err := os.ReadFile(output)
			Expect(err).NotTo(HaveOccurred())
			Expect(string(text)).To(MatchRegexp(`^hash=[0-9a-f]{64}\n$`))
			return string(text)
		}
		first := key("main.go", "package main")
		Expect(key(".git/index", "what git keeps is no source")).To(Equal(first))
		Expect(key("main.go", "package other")).NotTo(Equal(first))
		Expect(key("main.go", "package main")).To(Equal(first))
		Expect(key("page.html", "<p>")).NotTo(Equal(first))
	}, Entry(nil, "certify"), Entry(nil, "client-test"))

	DescribeTable("on GitLab find the asked version of rin in a Go project with a vendor folder", func(file, name, want string) {
		needPrograms("bash")
		project := GinkgoT().TempDir()
		Expect(os.Mkdir(filepath.Join(project, ".rin-bin"), 0o700)).To(Succeed())
		out, calls := runGitLabJob(gitLabJob(file, name), project, "echo ran rin $1")
		Expect(out).To(ContainSubstring(want))
		Expect(calls).To(HaveLen(2))
		Expect(calls).To(HaveEach(MatchRegexp(`^(install|list) in /\S+ with ` + regexp.QuoteMeta(project) + `/\.rin-go and `)))
		Expect(calls).NotTo(ContainElement(ContainSubstring("in "+project)), "go list refuses there: cannot query module due to -mod=vendor")
	},
		Entry("certify", "certify.yml", "rin-certify", "ran rin certify\n"),
		Entry("client-test", "client-test.yml", "rin-build", ""),
	)
})

// step is what the tests read of a step of an action.
type step struct {
	ID, Name, Uses, If, Run string
	With                    map[string]any
}

// stepsOf returns the steps of an action of GitHub.
func stepsOf(name string) []step {
	GinkgoHelper()
	text, err := os.ReadFile("../../.github/actions/" + name + "/action.yml")
	Expect(err).NotTo(HaveOccurred())
	var action struct{ Runs struct{ Steps []step } }
	Expect(yaml.Unmarshal(text, &action)).To(Succeed())
	return action.Runs.Steps
}

// job is what the tests read of a job of GitLab.
type job struct {
	Variables map[string]string
	Cache     any
	Script    []string
}

// gitLabJob returns a job of a component, with values in the place of its inputs.
func gitLabJob(file, name string) job {
	GinkgoHelper()
	text, err := os.ReadFile("deploy/gitlab/" + file)
	Expect(err).NotTo(HaveOccurred())
	_, jobs, _ := strings.Cut(string(text), "\n---\n")
	inputs := map[string]string{"version": "v1.0.0", "runs": "runs/XA", "registry": "ris.json", "profile": "auth", "fail-on": "refused"}
	jobs = regexp.MustCompile(`\$\[\[ inputs\.(\S+) \]\]`).ReplaceAllStringFunc(jobs, func(input string) string {
		return inputs[strings.Fields(strings.Trim(input, "$[] "))[0][len("inputs."):]]
	})
	var pipeline map[string]job
	Expect(yaml.Unmarshal([]byte(jobs), &pipeline)).To(Succeed())
	Expect(pipeline).To(HaveKey(name))
	return pipeline[name]
}

// runGitLabJob runs the script of a job in a project with a go.mod of its own. Instead of go and rin it finds programs that note each call of go, and that do
// what fakeRin says. It returns the output and the calls of go.
func runGitLabJob(j job, project, fakeRin string, env ...string) (out string, calls []string) {
	GinkgoHelper()
	tools := GinkgoT().TempDir()
	root, err := filepath.Abs("../..")
	Expect(err).NotTo(HaveOccurred())
	fakeGo := "#!/bin/sh\necho \"$1 in $PWD with $GOPATH and $GOCACHE\" >> " + filepath.Join(tools, "calls") + "\n" +
		"if [ \"$1\" = install ]; then mkdir -p \"$GOPATH/bin\"; cp " + filepath.Join(tools, "fake-rin") + " \"$GOPATH/bin/rin\"; else echo " + root + "; fi\n"
	for path, content := range map[string]string{
		filepath.Join(tools, "fake-rin"): "#!/bin/sh\n" + fakeRin + "\n", filepath.Join(tools, "go"): fakeGo,
		filepath.Join(project, "go.mod"): "module planted\nreplace github.com/rin-network/rin => ./planted\n",
	} {
		Expect(os.WriteFile(path, []byte(content), 0o700)).To(Succeed())
	}
	run := exec.Command("bash", "-eo", "pipefail", "-c", strings.Join(j.Script, "\n"))
	run.Dir = project
	run.Env = append([]string{"PATH=" + tools + ":" + os.Getenv("PATH"), "HOME=" + tools, "TMPDIR=" + GinkgoT().TempDir(), "CI_PROJECT_DIR=" + project}, env...)
	for name, value := range j.Variables {
		run.Env = append(run.Env, name+"="+strings.ReplaceAll(value, "$CI_PROJECT_DIR", project))
	}
	output, err := run.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(output))
	return string(output), strings.Split(strings.TrimSpace(string(read(tools, "calls"))), "\n")
}

// needPrograms skips the spec, loudly, on a machine that lacks a program.
func needPrograms(names ...string) {
	GinkgoHelper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			Skip("*** this machine has no " + name + " ***")
		}
	}
}
