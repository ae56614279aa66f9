//go:build e2e

package e2e_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v3"
)

// deployFolder is the folder with the deployment files.
const deployFolder = "../../deploy"

// pythonPackages installs packages into an environment of its own and returns its programs' folder; it prints why and returns "" if that is impossible.
func pythonPackages(packages ...string) string {
	GinkgoHelper()
	if isMissing("python3") {
		return ""
	}
	environment := filepath.Join(GinkgoT().TempDir(), "python")
	out, err := exec.Command("python3", "-m", "venv", environment).CombinedOutput()
	if err == nil {
		out, err = exec.Command(filepath.Join(environment, "bin", "pip"), append([]string{"install", "--quiet"}, packages...)...).CombinedOutput()
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "\n*** SKIPPED: %s cannot be installed, so what needs it was not tested: %s ***\n\n", strings.Join(packages, ", "), out)
		return ""
	}
	return filepath.Join(environment, "bin")
}

var _ = Describe("The units for systemd", func() {
	// units copies the units, with the built binary in place of the installed one, so that systemd finds it.
	units := func(change func(string) string) string {
		GinkgoHelper()
		dir := GinkgoT().TempDir()
		for _, name := range []string{"rin-registry.service", "rin-registry.timer"} {
			text, err := os.ReadFile(filepath.Join(deployFolder, "systemd", name))
			Expect(err).NotTo(HaveOccurred())
			Expect(os.WriteFile(filepath.Join(dir, name), []byte(change(strings.ReplaceAll(string(text), "/usr/bin/rin", binary))), 0o600)).To(Succeed())
		}
		return dir
	}
	verify := func(dir string) (string, error) {
		out, err := exec.Command("systemd-analyze", "verify", "--man=no", filepath.Join(dir, "rin-registry.service"), filepath.Join(dir, "rin-registry.timer")).CombinedOutput()
		return string(out), err
	}
	unchanged := func(text string) string { return text }

	BeforeEach(func() {
		if isMissing("systemd-analyze") {
			Skip("systemd-analyze is not installed")
		}
	})

	It("are valid according to systemd-analyze verify, which notices a misspelt setting", func() {
		out, err := verify(units(unchanged))
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(BeEmpty())
		out, _ = verify(units(func(text string) string { return strings.Replace(text, "ProtectSystem=", "ProtectSystems=", 1) }))
		Expect(out).To(ContainSubstring("ProtectSystems"))
	})

	It("expose little by systemd-analyze security: at most 1.5 of 10", func() {
		security := func(dir string) (string, error) {
			out, err := exec.Command("systemd-analyze", "security", "--no-pager", "--offline=yes", "--threshold=15", filepath.Join(dir, "rin-registry.service")).CombinedOutput()
			return string(out), err
		}
		out, err := security(units(unchanged))
		if err != nil && strings.Contains(out, "unrecognized option") {
			Skip("*** this systemd-analyze is too old for --offline ***")
		}
		Expect(err).NotTo(HaveOccurred(), out)
		_, err = security(units(func(text string) string { return strings.ReplaceAll(text, "SystemCallFilter=", "#") }))
		Expect(err).To(HaveOccurred(), "a service without the system call filter is noticed")
	})

	It("start at 20:30 UTC", func() {
		text, err := os.ReadFile(filepath.Join(deployFolder, "systemd", "rin-registry.timer"))
		Expect(err).NotTo(HaveOccurred())
		when := regexp.MustCompile(`(?m)^OnCalendar=(.*)$`).FindStringSubmatch(string(text))
		Expect(when).To(HaveLen(2))
		out, err := exec.Command("systemd-analyze", "calendar", when[1]).CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(string(out)).To(MatchRegexp(`Next elapse: .* 20:30:00 UTC`))
	})
})

var _ = Describe("The manifests for a registry in Kubernetes", Ordered, func() {
	var python, rendered string

	BeforeAll(func() {
		if python = pythonPackages("kubernetes-validate"); python == "" {
			Skip("no kubernetes-validate")
		}
		rendered = renderManifests("registry")
	})

	It("fit the schemas of Kubernetes, by kubernetes-validate, which notices a misspelt field", func() {
		expectValidManifests(python, rendered, "ConfigMap", "CronJob", "PersistentVolumeClaim")
		wrong := filepath.Join(GinkgoT().TempDir(), "wrong.yaml")
		Expect(os.WriteFile(wrong, []byte(strings.Replace(rendered, "completionMode:", "completionsMode:", 1)), 0o600)).To(Succeed())
		out, err := exec.Command(filepath.Join(python, "kubernetes-validate"), "--strict", wrong).CombinedOutput()
		Expect(err).To(HaveOccurred(), string(out))
	})

	It("run a night as Kubernetes would: every index with the arguments and the environment of its Job, then the merge", func() {
		r := newNightlyRegistry(6, 1)
		args := map[string][]string{} // by name of the job, with the registry of this test
		env := map[string]string{}
		completions := 0
		for _, m := range manifestsOf(rendered) {
			job := m.Spec.Job
			if m.Kind == "CronJob" {
				job = m.Spec.JobTemplate.Spec
			}
			for _, c := range job.Template.Spec.Containers {
				Expect(c.Args).To(HaveLen(3))
				args[m.Metadata.Name] = []string{c.Args[0], c.Args[1], r.dir}
				if m.Metadata.Name == "rin-registry" {
					completions = job.Completions
					for _, e := range c.Env {
						env[e.Name] = e.Value
					}
				}
			}
		}
		Expect(env).To(HaveKeyWithValue("JOB_COMPLETIONS", strconv.Itoa(completions)))
		for i := range completions {
			env["JOB_COMPLETION_INDEX"] = strconv.Itoa(i)
			out, err := r.rin(env, args["rin-registry"]...)
			Expect(err).NotTo(HaveOccurred(), out)
		}
		out, err := r.rin(nil, args["rin-registry-merge"]...)
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring(fmt.Sprintf("%d parts, 5 passed, 1 failed", completions)))
	})
})

var _ = Describe("The deployment of a sandbox", Ordered, func() {
	var python string
	BeforeAll(func() {
		if python = pythonPackages("kubernetes-validate", "check-jsonschema"); python == "" {
			Skip("no Python packages")
		}
	})

	It("has manifests that fit the schemas of Kubernetes, with three replicas that share keys, secrets and data", func() {
		rendered := renderManifests("sandbox")
		expectValidManifests(python, rendered, "Deployment", "Service")
		for _, m := range manifestsOf(rendered) {
			if m.Kind == "Deployment" {
				Expect(m.Spec.Replicas).To(Equal(3))
				Expect(m.Spec.Job.Template.Spec.Containers[0].Args).To(ContainElements("--key-file=/etc/rin/keys", "--secret-file=/etc/rin/secrets", HavePrefix("--as-of=")))
			}
		}
	})

	It("has a compose file that fits the published schema, which notices a misspelt key", func() {
		check := func(file string) (string, error) {
			out, err := exec.Command(filepath.Join(python, "check-jsonschema"), "--builtin-schema", "vendor.compose-spec", file).CombinedOutput()
			return string(out), err
		}
		out, err := check(filepath.Join(deployFolder, "compose.yaml"))
		Expect(err).NotTo(HaveOccurred(), out)
		text, err := os.ReadFile(filepath.Join(deployFolder, "compose.yaml"))
		Expect(err).NotTo(HaveOccurred())
		wrong := filepath.Join(GinkgoT().TempDir(), "compose.yaml")
		Expect(os.WriteFile(wrong, bytes.Replace(text, []byte("depends_on:"), []byte("depend_on:"), 1), 0o600)).To(Succeed())
		out, err = check(wrong)
		Expect(err).To(HaveOccurred(), out)
	})

	It("has arguments that rin sandbox accepts", func() {
		seed := filepath.Join(GinkgoT().TempDir(), "seed")
		Expect(os.WriteFile(seed, []byte("3f9a1c77e0b24d5c8a6611d0947fe2ab"), 0o600)).To(Succeed())
		var args []string
		for _, m := range manifestsOf(renderManifests("sandbox")) {
			for _, c := range m.Spec.Job.Template.Spec.Containers {
				args = c.Args
			}
		}
		Expect(args).NotTo(BeEmpty())
		for i, a := range args {
			a = regexp.MustCompile(`^--(addr|control)=.*`).ReplaceAllString(a, "--$1=127.0.0.1:0")
			args[i] = regexp.MustCompile(`=/etc/rin/(keys|secrets)$`).ReplaceAllString(a, "="+seed)
		}
		serve := exec.Command(binary, args...)
		serve.Env = []string{"XDG_RUNTIME_DIR=" + GinkgoT().TempDir()}
		Expect(start(serve, `listening on (\S+)`, 10*time.Second)).To(Equal("http://rin-sandbox.rin.svc:8080"))
	})
})

// renderManifests returns the manifests of a folder as kubectl or kustomize render them. If neither is installed, it prints that and returns the
// files one after the other.
func renderManifests(folder string) string {
	GinkgoHelper()
	dir := filepath.Join(deployFolder, "kubernetes", folder)
	for _, command := range [][]string{{"kubectl", "kustomize", dir}, {"kustomize", "build", dir}} {
		if _, err := exec.LookPath(command[0]); err != nil {
			continue
		}
		var problems bytes.Buffer
		render := exec.Command(command[0], command[1:]...)
		render.Stderr = &problems
		out, err := render.Output()
		Expect(err).NotTo(HaveOccurred(), problems.String())
		Expect(string(out)).NotTo(ContainSubstring("image: rin\n"), "the name of the image is replaced")
		return string(out)
	}
	fmt.Fprintf(os.Stderr, "\n*** SKIPPED: neither kubectl nor kustomize is installed, so %s was not rendered; its files are checked one by one ***\n\n", dir)
	text, err := os.ReadFile(filepath.Join(dir, "kustomization.yaml"))
	Expect(err).NotTo(HaveOccurred())
	var kustomization struct{ Resources []string }
	Expect(yaml.Unmarshal(text, &kustomization)).To(Succeed())
	var all []string
	for _, name := range kustomization.Resources {
		part, err := os.ReadFile(filepath.Join(dir, name))
		Expect(err).NotTo(HaveOccurred())
		all = append(all, string(part))
	}
	return strings.Join(all, "---\n")
}

// expectValidManifests asserts that the manifests have exactly these kinds, fit the schemas, and give containers no more rights than they need.
func expectValidManifests(python, rendered string, kinds ...string) {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "manifests.yaml")
	Expect(os.WriteFile(file, []byte(rendered), 0o600)).To(Succeed())
	out, err := exec.Command(filepath.Join(python, "kubernetes-validate"), "--strict", file).CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))
	var got []string
	for _, m := range manifestsOf(rendered) {
		got = append(got, m.Kind)
		for _, job := range []jobSpec{m.Spec.Job, m.Spec.JobTemplate.Spec} {
			for _, c := range job.Template.Spec.Containers {
				Expect(job.Template.Spec.SecurityContext).To(HaveKeyWithValue("runAsNonRoot", true), m.Metadata.Name)
				Expect(c.SecurityContext).To(And(HaveKeyWithValue("readOnlyRootFilesystem", true), HaveKeyWithValue("allowPrivilegeEscalation", false)), m.Metadata.Name)
				Expect(c.Resources.Limits).To(HaveKey("memory"), m.Metadata.Name)
			}
		}
	}
	slices.Sort(got)
	slices.Sort(kinds)
	Expect(slices.Compact(got)).To(Equal(kinds))
}

// manifest holds the fields of a Kubernetes manifest that the tests read.
type manifest struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Job         jobSpec `yaml:",inline"`
		Replicas    int
		JobTemplate struct{ Spec jobSpec } `yaml:"jobTemplate"`
	}
}

type jobSpec struct {
	Completions int
	Template    struct {
		Spec struct {
			SecurityContext map[string]any `yaml:"securityContext"`
			Containers      []struct {
				Args            []string
				Env             []struct{ Name, Value string }
				SecurityContext map[string]any `yaml:"securityContext"`
				Resources       struct{ Limits map[string]string }
			}
		}
	}
}

func manifestsOf(rendered string) []manifest {
	GinkgoHelper()
	var all []manifest
	for _, part := range strings.Split(rendered, "\n---\n") {
		var m manifest
		Expect(yaml.Unmarshal([]byte(part), &m)).To(Succeed())
		all = append(all, m)
	}
	return all
}
