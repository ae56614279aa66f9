package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"

	"github.com/rin-network/rin/sandbox"
)

// networkCredentials holds the members of the file of --credentials that the tests look at, and what the sandbox printed at its start.
type networkCredentials struct {
	Format, Registry string
	Nodes            []nodeCredentials
	greeting         string
}

type nodeCredentials struct {
	ID, Name, Flavour, TokenURL, InfoURL, FundingsURL string
	Clients                                           []struct{ ClientID, ClientSecret, Role string }
}

// certify certifies a node by its registry entry for the profile funding, which has all requirements of the profile auth, and returns the
// outcome of each requirement.
func (n nodeCredentials) certify(registry string) map[string]string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	got := rin([]string{"SECRET=" + n.Clients[0].ClientSecret, "SECRET2=" + n.Clients[1].ClientSecret},
		"certify", "--registry", registry, "--node", n.ID, "--profile", "funding", "--report-dir", dir, "--format", "json",
		"--client-id", n.Clients[0].ClientID, "--client-secret", "env:SECRET", "--client-id2", n.Clients[1].ClientID, "--client-secret2", "env:SECRET2")
	Expect(got.code).To(Equal(0), n.ID+": "+got.out+got.err)
	return reportIn(dir).outcomes()
}

// network starts a sandbox, and reads what it wrote for its clients.
func network(args ...string) networkCredentials {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "credentials.json")
	_, greeting := started(nil, append([]string{"--addr", "127.0.0.1:0", "--credentials", file}, args...)...)
	about, err := os.Stat(file)
	Expect(err).NotTo(HaveOccurred())
	Expect(about.Mode().Perm()).To(Equal(os.FileMode(0o600)), "only the owner may read secrets")
	issued := readCredentials(file)
	issued.greeting = greeting
	return issued
}

// readCredentials reads a file of --credentials.
func readCredentials(file string) (issued networkCredentials) {
	GinkgoHelper()
	written, err := os.ReadFile(file)
	Expect(err).NotTo(HaveOccurred())
	Expect(json.Unmarshal(written, &issued)).To(Succeed())
	return issued
}

// started starts a sandbox, waits for the whole of its greeting, and returns it.
func started(env []string, args ...string) (session *gexec.Session, greeting string) {
	GinkgoHelper()
	cmd := exec.Command(binary, append([]string{"sandbox"}, args...)...)
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH")}, env...)
	session, err := gexec.Start(cmd, nil, GinkgoWriter)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func() { session.Kill().Wait("10s") })
	Eventually(session.Out, "20s").Should(gbytes.Say(`(?s)listening on http.*page\[size\]=2'\n`))
	return session, string(session.Out.Contents())
}

var _ = Describe("rin sandbox --nodes", func() {
	It("has a node of each flavour, and each is certified with exactly the warnings of its flavour", func() {
		issued := network("--nodes", "5", "--calls", "10")
		Expect(issued.Nodes).To(HaveLen(5))
		for i, preset := range sandbox.Presets() {
			node := issued.Nodes[i]
			Expect(node.Flavour).To(Equal(preset.Name))
			warned := []string{}
			for id, outcome := range node.certify(issued.Registry) {
				if outcome == "warn" {
					warned = append(warned, id)
				}
			}
			Expect(warned).To(ConsistOf(preset.Warns), node.ID)
		}
	})

	It("lists the nodes and their secrets within 80 columns", func() {
		issued := network("--nodes", "100", "--calls", "1")
		Expect(issued.Nodes).To(HaveLen(100))
		for _, node := range issued.Nodes {
			Expect(issued.greeting).To(MatchRegexp(`(?m)^  %s +%s  `, node.ID, node.Flavour))
			Expect(issued.greeting).To(MatchRegexp(`(?m)^  %s +%s +%s$`, node.ID, node.Clients[0].ClientID, node.Clients[0].ClientSecret))
			for _, other := range node.Clients[1:] {
				Expect(issued.greeting).NotTo(ContainSubstring(other.ClientSecret))
			}
		}
		expectWithin80Columns(issued.greeting)
	})

	It("reports a deviation of all nodes once", func() {
		issued := network("--nodes", "3", "--calls", "1", "--deviate", "token-status-201", "--scenario", "503-twice")
		Expect(issued.greeting).To(SatisfyAll(
			MatchRegexp(`(?m)^  each deviates: token-status-201, breaks TOK-02\n {12}The token endpoint answers 201`),
			MatchRegexp(`(?m)^  each plays: 503-twice, times 2`)))
		expectWithin80Columns(issued.greeting)
	})

	It("has nodes of one flavour with --flavour", func() {
		issued := network("--nodes", "2", "--calls", "1", "--flavour", "keycloak")
		Expect(slices.Compact([]string{issued.Nodes[0].Flavour, issued.Nodes[1].Flavour})).To(Equal([]string{"keycloak"}))
	})

	It("refuses impossible networks", func() {
		for flag, args := range map[string][]string{
			"--nodes":   {"--nodes", "0"},
			"1 to 100":  {"--nodes", "101"},
			"keycloak,": {"--flavour", "keycloack"},
		} {
			got := rin(nil, append([]string{"sandbox", "--addr", "127.0.0.1:0"}, args...)...)
			Expect(got.code).To(Equal(2))
			Expect(got.err).To(SatisfyAll(ContainSubstring(flag), ContainSubstring("hint: ")))
		}
	})

	It("keeps the secrets of an earlier credentials file, since --data keeps only their hashes", func() {
		dir := GinkgoT().TempDir()
		file, data := filepath.Join(dir, "credentials.json"), filepath.Join(dir, "data")
		var secrets [2]string
		for i := range secrets {
			session, _ := started(nil, "--addr", "127.0.0.1:0", "--nodes", "2", "--calls", "1", "--data", data, "--credentials", file)
			session.Terminate().Wait("10s")
			secrets[i] = readCredentials(file).Nodes[1].Clients[1].ClientSecret
		}
		Expect(secrets[0]).NotTo(BeEmpty())
		Expect(secrets[1]).To(Equal(secrets[0]))
	})

	It("overwrites only its own credentials file", func() {
		file := filepath.Join(GinkgoT().TempDir(), "mine.txt")
		Expect(os.WriteFile(file, []byte("{}"), 0o600)).To(Succeed())
		got := rin(nil, "sandbox", "--addr", "127.0.0.1:0", "--credentials", file)
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("is not a credentials file of a sandbox"))
		Expect(os.ReadFile(file)).To(BeEquivalentTo("{}"))
	})
})

// expectWithin80Columns expects lines of at most 80 columns, except those of the commands at the end, which a user copies.
func expectWithin80Columns(text string) {
	GinkgoHelper()
	text, _, _ = strings.Cut(text, "TOKEN=")
	for line := range strings.Lines(text) {
		Expect(utf8.RuneCountInString(strings.TrimSuffix(line, "\n"))).To(BeNumerically("<=", 80), line)
	}
}
