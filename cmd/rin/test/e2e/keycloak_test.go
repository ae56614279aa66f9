//go:build e2e

package e2e_test

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

// The distribution as Maven Central has it. Version 26.4 is the last minor version tried here on Java 17.
const (
	keycloakVersion = "26.4.7"
	keycloakSum     = "dd9834c023460be856f731423d86228c23b5d002194a2064642bec0cc6573eaa" // SHA-256
	mavenCopy       = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy"
)

// keycloak starts the real server with its in-memory database and the realm of testdata, and returns the realm's URL. It skips the
// test if the distribution cannot be downloaded, or Java is missing.
func keycloak(clients ...client) (realm string) {
	GinkgoHelper()
	if isMissing("java", "mvn") {
		Skip("Keycloak needs Java and Maven")
	}
	home := unpackKeycloak(fetchKeycloak())
	realmFile, err := os.ReadFile(filepath.Join("testdata", "keycloak", "realm.json"))
	Expect(err).NotTo(HaveOccurred())
	imports := filepath.Join(home, "data", "import")
	Expect(os.MkdirAll(imports, 0o755)).To(Succeed())
	Expect(os.WriteFile(filepath.Join(imports, "research-realm.json"), realmFile, 0o600)).To(Succeed())

	cmd := exec.Command("sh", filepath.Join(home, "bin", "kc.sh"), "start-dev", "--import-realm", "--db=dev-mem", "--http-host=127.0.0.1", "--http-port=0")
	cmd.Env = append(append(os.Environ(), clientVariables(clients...)...), "JAVA_OPTS_KC_HEAP=-Xms64m -Xmx768m")
	began := time.Now()
	origin := start(cmd, `Listening on: (http://127\.0\.0\.1:\d+)`, 5*time.Minute)
	fmt.Fprintf(os.Stderr, "Keycloak %s was ready after %s\n", keycloakVersion, time.Since(began).Round(time.Second))
	return origin + "/realms/research"
}

// fetchKeycloak has Maven copy the distribution here, with the settings of this machine.
func fetchKeycloak() (archive string) {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	fetch := exec.Command("mvn", "--batch-mode", "--quiet", mavenCopy,
		"-Dartifact=org.keycloak:keycloak-quarkus-dist:"+keycloakVersion+":zip", "-DoutputDirectory="+dir)
	fetch.Dir = dir
	fetch.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	session, err := gexec.Start(fetch, GinkgoWriter, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { endGroup(session) })
	Eventually(session, "300s").Should(gexec.Exit())
	if session.ExitCode() != 0 {
		fmt.Fprintf(os.Stderr, "\n*** SKIPPED: Maven could not fetch Keycloak %s, so nothing was tested with it ***\n%s\n", keycloakVersion, session.Out.Contents())
		Skip("Keycloak cannot be downloaded")
	}
	archive = filepath.Join(dir, "keycloak-quarkus-dist-"+keycloakVersion+".zip")
	file, err := os.Open(archive)
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	Expect(err).NotTo(HaveOccurred())
	Expect(hex.EncodeToString(sum.Sum(nil))).To(Equal(keycloakSum), "the archive has another digest than the one that was tried")
	return archive
}

// unpackKeycloak unpacks the checked archive beside itself.
func unpackKeycloak(archive string) (home string) {
	GinkgoHelper()
	files, err := zip.OpenReader(archive)
	Expect(err).NotTo(HaveOccurred())
	defer files.Close()
	dir := filepath.Dir(archive)
	Expect(os.CopyFS(dir, files)).To(Succeed())
	return filepath.Join(dir, "keycloak-"+keycloakVersion)
}
