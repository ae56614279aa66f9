//go:build e2e

package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// engine runs containers by podman, with images and containers in folders of the test.
type engine struct {
	global, run []string // options before the command, and options of run
}

func (e engine) podman(args ...string) *exec.Cmd {
	all := append([]string{}, e.global...)
	all = append(all, args[0])
	if args[0] == "run" {
		all = append(all, e.run...)
	}
	return exec.Command("podman", append(all, args[1:]...)...)
}

// output returns what a command of podman prints, without podman's own complaints.
func (e engine) output(args ...string) string {
	GinkgoHelper()
	var problems strings.Builder
	cmd := e.podman(args...)
	cmd.Stderr = &problems
	out, err := cmd.Output()
	Expect(err).NotTo(HaveOccurred(), "podman %q: %s%s", args, out, problems.String())
	return string(out)
}

const image = "localhost/rin-e2e"

// newEngine builds the image and returns an engine that can run it. Where a machine cannot run containers, it says so loudly, and skips.
func newEngine() engine {
	GinkgoHelper()
	if isMissing("podman", "git", "bash") {
		Skip("podman is not installed")
	}
	root := GinkgoT().TempDir()
	// The storage driver vfs and the isolation chroot need the fewest rights.
	storage := []string{"--storage-driver", "vfs", "--root", filepath.Join(root, "storage"), "--runroot", filepath.Join(root, "run")}
	script, err := filepath.Abs(filepath.Join(deployFolder, "image.sh"))
	Expect(err).NotTo(HaveOccurred())
	build := exec.Command("bash", script, image)
	build.Env = append(os.Environ(), "BUILD=podman "+strings.Join(storage, " ")+" build --isolation chroot")
	out, err := build.CombinedOutput()
	Expect(err).NotTo(HaveOccurred(), string(out))

	limits := []string{"--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"} // of a machine that may not raise them
	var problems []string
	for _, e := range []engine{
		{global: storage},
		{global: append(storage, "--runtime", "runc", "--cgroup-manager", "cgroupfs"), run: limits},
		{global: append(storage, "--cgroup-manager", "cgroupfs"), run: append(limits, "--cgroups=disabled")},
	} {
		e.run = append(e.run, "--security-opt", "no-new-privileges", "--cap-drop", "all", "--read-only")
		out, err := e.podman("run", "--rm", "--network", "none", image, "version").CombinedOutput()
		if err == nil {
			DeferCleanup(func() { _ = e.podman("rm", "--all", "--force").Run() })
			return e
		}
		problems = append(problems, string(out))
	}
	fmt.Fprintf(os.Stderr, "\n*** SKIPPED: the image was built, but podman cannot run containers here, so no container was tested: %q ***\n\n", problems)
	Skip("podman cannot run containers here")
	return engine{}
}

var _ = Describe("The container image", slow, Ordered, func() {
	var e engine
	BeforeAll(func() { e = newEngine() })

	It("holds rin, certificate authorities and little else, for a user without rights", func() {
		var inspected []struct {
			Size   int64
			Config struct {
				User   string
				Labels map[string]string
			}
			Healthcheck struct{ Test []string }
		}
		Expect(json.Unmarshal([]byte(e.output("inspect", image)), &inspected)).To(Succeed())
		Expect(inspected).To(HaveLen(1))
		got := inspected[0]
		Expect(got.Config.User).To(Equal("65532:65532"))
		Expect(got.Healthcheck.Test).To(Equal([]string{"CMD", "/usr/bin/rin", "sandbox", "status"}))
		for _, label := range []string{"title", "description", "source", "licenses", "version", "revision", "created"} {
			Expect(got.Config.Labels).To(HaveKeyWithValue("org.opencontainers.image."+label, Not(BeEmpty())))
		}
		archive := filepath.Join(GinkgoT().TempDir(), "image.tar")
		e.output("save", "--quiet", "--output", archive, image)
		out, err := exec.Command("bash", "-c", `gzip -9 < "$0" | wc -c`, archive).Output()
		Expect(err).NotTo(HaveOccurred())
		var pulled int64
		_, err = fmt.Sscan(string(out), &pulled)
		Expect(err).NotTo(HaveOccurred())
		fmt.Fprintf(GinkgoWriter, "image: %d bytes, compressed %d\n", got.Size, pulled)
		Expect(pulled).To(BeNumerically("<", 45_000_000), "what a pull transfers")
		Expect(got.Size).To(BeNumerically("<=", 45_000_000), "unpacked")
	})

	It("serves a sandbox on a read-only file system, is healthy, can be driven, and is certified from a second container", func() {
		work := GinkgoT().TempDir()
		Expect(os.Chmod(work, 0o777)).To(Succeed()) // the containers' user writes here
		name := fmt.Sprintf("rin-sandbox-%d", GinkgoParallelProcess())
		e.output("run", "--detach", "--name", name, "--network", "none", "--volume", work+":/data", image,
			"sandbox", "--addr", "127.0.0.1:8080", "--control", "127.0.0.1:8081", "--credentials", "/data/all.json")
		DeferCleanup(func() { _ = e.podman("rm", "--force", name).Run() })
		Eventually(filepath.Join(work, "all.json"), "20s").Should(BeAnExistingFile(), func() string { return e.output("logs", name) })
		Eventually(func() error { return e.podman("healthcheck", "run", name).Run() }, "20s").Should(Succeed())

		var all struct {
			Registry string
			Nodes    []struct {
				Clients []struct{ ClientID, ClientSecret string }
			}
		}
		text, err := os.ReadFile(filepath.Join(work, "all.json"))
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Unmarshal(text, &all)).To(Succeed())
		certify := func() (string, error) {
			cmd := e.podman("run", "--rm", "--network", "container:"+name, "--volume", work+":/data", "--env", "SECRET", image,
				"certify", "--registry", all.Registry, "--node", "XA", "--client-id", all.Nodes[0].Clients[0].ClientID, "--client-secret", "env:SECRET", "--report-dir", "/data/report", "--profile", "funding")
			cmd.Env = append(os.Environ(), "SECRET="+all.Nodes[0].Clients[0].ClientSecret)
			out, err := cmd.CombinedOutput()
			return string(out), err
		}
		out, err := certify()
		Expect(err).NotTo(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("Certified for profile funding"))

		Expect(e.output("exec", name, "/usr/bin/rin", "sandbox", "deviate", "token-cacheable")).To(ContainSubstring("deviates: token-cacheable"))
		out, err = certify()
		Expect(err).To(HaveOccurred(), out)
		Expect(out).To(ContainSubstring("TOK-06"))
	})

	It("runs a shard of a night with policy and key mounted as Kubernetes mounts them", func() {
		r := newNightlyRegistry(2, 0)
		secrets := GinkgoT().TempDir()
		for _, name := range []string{"registry.yaml", "operator.key"} {
			text, err := os.ReadFile(filepath.Join(r.dir, name))
			Expect(err).NotTo(HaveOccurred())
			Expect(os.WriteFile(filepath.Join(secrets, name), text, 0o440)).To(Succeed()) // 0440 of root, and of the group of the pod
			if err := os.Chown(filepath.Join(secrets, name), -1, 65532); err != nil {
				Skip("*** this user cannot give a file to the group of a pod ***")
			}
			Expect(os.Remove(filepath.Join(r.dir, name))).To(Succeed())
		}
		Expect(exec.Command("chown", "-R", "65532:65532", r.dir).Run()).To(Succeed())
		for i := range 2 {
			out := e.output("run", "--rm", "--network", "host", "--volume", r.dir+":/registry",
				"--volume", secrets+"/registry.yaml:/registry/registry.yaml:ro", "--volume", secrets+"/operator.key:/registry/operator.key:ro",
				"--env", fmt.Sprintf("JOB_COMPLETION_INDEX=%d", i), "--env", "JOB_COMPLETIONS=2", image, "registry", "run", "/registry")
			Expect(out).To(ContainSubstring(fmt.Sprintf("part %d of 2 is done", i+1)))
		}
	})

	It("is started by the recipes for Testcontainers in Go, Python, Node and Java, on podman's socket", func() {
		text, err := os.ReadFile(filepath.Join(deployFolder, "README.md"))
		Expect(err).NotTo(HaveOccurred())
		code := func(language string) string {
			_, after, found := strings.Cut(string(text), "\n```"+language+"\n")
			Expect(found).To(BeTrue(), language)
			block, _, _ := strings.Cut(after, "\n```")
			return strings.ReplaceAll(block, `"localhost/rin"`, `"`+image+`"`) + "\n"
		}
		env := append(os.Environ(), "DOCKER_HOST="+e.serve(), "TESTCONTAINERS_RYUK_DISABLED=true", "TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1",
			"TESTCONTAINERS_CONNECTION_MODE=docker_host", "CGO_ENABLED=0", "GOFLAGS=")
		run := func(dir string, argv ...string) string {
			GinkgoHelper()
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir, cmd.Env = dir, env
			out, err := cmd.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(out))
			return string(out)
		}
		if python := pythonPackages("testcontainers"); python != "" {
			Expect(run(GinkgoT().TempDir(), filepath.Join(python, "python"), "-c", code("python"))).To(HaveSuffix("200\n"))
		}
		if !isMissing("npm", "node") {
			dir := GinkgoT().TempDir()
			Expect(os.WriteFile(filepath.Join(dir, "recipe.mjs"), []byte(code("js")), 0o600)).To(Succeed())
			run(dir, "npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error", "testcontainers@10")
			Expect(run(dir, "node", "recipe.mjs")).To(HaveSuffix("200\n"))
		}
		dir := GinkgoT().TempDir()
		program := "package main\n\nimport (\n\"context\"; \"fmt\"; \"io\"; \"net/http\"; \"net/url\"; \"regexp\"\n\"github.com/testcontainers/testcontainers-go\"; " +
			"\"github.com/testcontainers/testcontainers-go/wait\"\n)\n\nfunc main() {\nctx := context.Background()\n" + code("go") +
			"if err != nil { panic(err) }\nfmt.Println(answer.StatusCode)\n}\n"
		Expect(os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module recipe.example\n\ngo 1.26.0\n\nrequire github.com/testcontainers/testcontainers-go v0.40.0\n"), 0o600)).To(Succeed())
		run(dir, "go", "mod", "tidy")
		Expect(run(dir, "go", "run", ".")).To(HaveSuffix("200\n"))
		if !isMissing("mvn", "java") {
			dir := GinkgoT().TempDir()
			pom := "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion><groupId>recipe</groupId><artifactId>recipe</artifactId><version>1</version>" +
				"<dependencies><dependency><groupId>org.testcontainers</groupId><artifactId>testcontainers</artifactId><version>2.0.5</version></dependency></dependencies></project>"
			Expect(os.WriteFile(filepath.Join(dir, "pom.xml"), []byte(pom), 0o600)).To(Succeed())
			program := "import java.net.URI;\nimport java.net.http.*;\nimport java.net.http.HttpRequest.BodyPublishers;\nimport java.net.http.HttpResponse.BodyHandlers;\n" +
				"import java.util.regex.Pattern;\nimport org.testcontainers.containers.GenericContainer;\nimport org.testcontainers.containers.wait.strategy.Wait;\n" +
				"class Recipe {\npublic static void main(String[] args) throws Exception {\n" + strings.TrimSuffix(code("java"), "}\n") + "System.out.println(answer.statusCode());\n}\n}\n}\n"
			Expect(os.WriteFile(filepath.Join(dir, "Recipe.java"), []byte(program), 0o600)).To(Succeed())
			run(dir, "mvn", "--batch-mode", "--quiet", "dependency:build-classpath", "-Dmdep.outputFile=classpath")
			classpath, err := os.ReadFile(filepath.Join(dir, "classpath"))
			Expect(err).NotTo(HaveOccurred())
			Expect(run(dir, "java", "-cp", string(classpath), "Recipe.java")).To(HaveSuffix("200\n"))
		}
	})
})

// serve starts podman's service for Docker's API with the options of the engine, and returns its address.
func (e engine) serve() string {
	GinkgoHelper()
	dir, err := os.MkdirTemp("/tmp", "rin-podman-") // the path of a socket is short
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(os.RemoveAll, dir)
	config := "[containers]\n"
	if slices.Contains(e.run, "--ulimit") {
		config += "default_ulimits = [\"nofile=1024:1024\", \"nproc=1024:1024\"]\n"
	}
	config += "[engine]\n"
	if i := slices.Index(e.global, "--runtime"); i >= 0 {
		config += fmt.Sprintf("runtime = %q\n", e.global[i+1])
	}
	if i := slices.Index(e.global, "--cgroup-manager"); i >= 0 {
		config += fmt.Sprintf("cgroup_manager = %q\n", e.global[i+1])
	}
	Expect(os.WriteFile(filepath.Join(dir, "containers.conf"), []byte(config), 0o600)).To(Succeed())
	address := "unix://" + dir + "/socket"
	service := e.podman("system", "service", "--time", "0", address)
	service.Env = append(os.Environ(), "CONTAINERS_CONF="+dir+"/containers.conf")
	session, err := gexec.Start(service, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Terminate().Wait("20s") })
	Eventually(dir+"/socket", "20s").Should(BeAnExistingFile())
	return address
}
