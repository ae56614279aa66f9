//go:build e2e

package e2e_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

var _ = Describe("go install", slow, func() {
	const path, tag = "github.com/rin-network/rin", "v0.99.0"

	output := func(name string, args ...string) string {
		GinkgoHelper()
		out, err := exec.Command(name, args...).Output()
		Expect(err).NotTo(HaveOccurred())
		return strings.TrimSpace(string(out))
	}

	// The module of HEAD is made as the Go module proxy makes it, and served from a folder. The modules that rin needs come from the download cache of this
	// machine, without the checksum database, which does not know these versions of rin.
	serve := func() string {
		GinkgoHelper()
		if isMissing("git") {
			Skip("git is not installed")
		}
		root := GinkgoT().TempDir() // a clone, because the package zip knows no linked work trees
		output("git", "clone", "--quiet", "--shared", "--no-checkout", output("git", "rev-parse", "--show-toplevel"), root)
		proxy := GinkgoT().TempDir()
		versions := filepath.Join(proxy, filepath.FromSlash(path), "@v")
		Expect(os.MkdirAll(versions, 0o755)).To(Succeed())
		goMod := output("git", "show", "HEAD:go.mod")
		info, err := json.Marshal(map[string]any{"Version": tag, "Time": output("git", "log", "-1", "--format=%cI")})
		Expect(err).NotTo(HaveOccurred())
		Expect(os.WriteFile(filepath.Join(versions, tag+".info"), info, 0o600)).To(Succeed())
		Expect(os.WriteFile(filepath.Join(versions, tag+".mod"), []byte(goMod+"\n"), 0o600)).To(Succeed())
		file, err := os.Create(filepath.Join(versions, tag+".zip"))
		Expect(err).NotTo(HaveOccurred())
		Expect(modzip.CreateFromVCS(file, module.Version{Path: path, Version: tag}, root, "HEAD", "")).To(Succeed(), "the proxy refuses a module with such files")
		Expect(file.Close()).To(Succeed())
		Expect(os.WriteFile(filepath.Join(versions, "list"), []byte(tag+"\n"), 0o600)).To(Succeed())
		return "file://" + proxy
	}

	It("gives a program that names its release and works", func() {
		dir := GinkgoT().TempDir() // outside the work tree
		install := exec.Command("go", "install", path+"/cmd/rin@latest")
		install.Dir = dir
		cache := filepath.Join(output("go", "env", "GOMODCACHE"), "cache", "download")
		install.Env = append(os.Environ(), "GOPROXY="+serve()+",file://"+cache, "GOSUMDB=off", "GOBIN="+filepath.Join(dir, "bin"), "GOMODCACHE="+filepath.Join(dir, "modules"),
			"GOFLAGS=-modcacherw -trimpath", "GOWORK=off", "CGO_ENABLED=0") // -trimpath, so that what this machine has compiled is used
		out, err := install.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		rin := filepath.Join(dir, "bin", "rin")
		Expect(output(rin, "version")).To(HavePrefix("rin " + tag + "\ncatalogue "))
		Expect(output(rin, "--version")).To(HavePrefix("rin " + tag + "\n"))
		demo := exec.Command(rin, "demo")
		demo.Dir = GinkgoT().TempDir()
		out, err = demo.CombinedOutput()
		Expect(err).NotTo(HaveOccurred(), string(out))
		Expect(string(out)).To(ContainSubstring("Certified for profile funding"))
		report, err := os.ReadFile(filepath.Join(demo.Dir, "rin-report", "report.json"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(report)).To(ContainSubstring(`"version": "` + tag + `"`))
	})
})
