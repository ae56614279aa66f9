package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/tuitest"
)

var _ = Describe("rin tour --plain", func() {
	It("walks all steps on its own sandbox, to the certificate, without showing a secret", func() {
		got := rin(nil, "tour", "--plain")
		Expect(got.code).To(Equal(0), got.err)
		for _, head := range []string{"1. Choose a node", "2. Check your credentials", "3. Ask for an access token", "4. Read the token", "5. Call the info resource",
			"6. Read the specification", "7. Read funding calls", "8. What if …", "9. When things go wrong", "10. Certify the node", "11. Take it with you", "✓ Certified for profile funding"} {
			Expect(got.out).To(ContainSubstring(head))
		}
		Expect(got.out).To(And(MatchRegexp(`\nCatalogue: \d+ requirements; rin explain ID`), Not(ContainSubstring("Rule: The catalogue"))))
		Expect(got.out).NotTo(ContainSubstring("FAILED"))
		Expect(got.out).To(ContainSubstring("client_secret=‹client_secret›"))
		Expect(tuitest.Token(got.out)).To(BeEmpty())
		for line := range strings.Lines(got.out) {
			if strings.HasPrefix(line, "> ") { // a request is shown as it was sent
				continue
			}
			Expect(len([]rune(strings.TrimSuffix(line, "\n")))).To(BeNumerically("<=", 80), line)
		}
	})

	It("runs without the flag if there is no terminal", func() {
		Expect(rin(nil, "tour", "--step", "token").out).To(ContainSubstring("The authorization server has issued an access token."))
	})

	It("runs one action by a flag", func() {
		got := rin(nil, "tour", "--plain", "--step", "calls", "--filter", "fundingType=AWARD", "--language", "de")
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(And(ContainSubstring(", AWARD, "), Not(ContainSubstring(", PROGRAMME, ")), ContainSubstring("7. Read funding calls"), Not(ContainSubstring("1. Choose"))))
		operation := rin(nil, "tour", "--plain", "--step", "specification", "--operation", "/funding/v3/fundings/{id}")
		Expect(operation.out).To(And(ContainSubstring("id (required, in the path): string"), ContainSubstring("answers 200 application/json")), operation.err)
		unknown := rin(nil, "tour", "--plain", "--step", "specification", "--operation", "/nothing")
		Expect(unknown.code).To(Equal(3))
		Expect(unknown.out).To(ContainSubstring("Trouble: the document has no operation /nothing"))
		Expect(rin(nil, "tour", "--plain", "--step", "what-if", "--what-if", "token-in-url").out).To(ContainSubstring("BRR-14"))
		fault := rin(nil, "tour", "--plain", "--step", "faults", "--fault", "throttled")
		Expect(fault.out).To(And(ContainSubstring("< Rin-Scenario: 429-then-ok 1/1"), ContainSubstring("Status 200 with 20 records: nothing is lost."), Not(ContainSubstring("503"))))
	})

	It("writes code that works with secrets from the environment", func() {
		base, _, session := controlledSandbox("--calls", "130")
		text := string(session.Out.Contents())
		secret := regexp.MustCompile(`client  demo-client \(.*\)\n  secret  (\S+)`).FindStringSubmatch(text)[1]
		folder := filepath.Join(GinkgoT().TempDir(), "taken")
		env := []string{"SECRET=" + secret}
		walk := []string{"tour", "--plain", "--registry", base + "/registry/registry.json", "--node", "XA", "--client-id", "demo-client", "--client-secret", "env:SECRET",
			"--step", "node", "--step", "info", "--step", "calls", "--step", "take-away", "--take-away", folder}
		got := rin(env, walk...)
		Expect(got.code).To(Equal(0), got.err+got.out)
		Expect(rin(env, walk...).code).To(Equal(2), "no file is overwritten")

		run := func(name string, args ...string) string {
			GinkgoHelper()
			if _, err := exec.LookPath(name); err != nil {
				return ""
			}
			cmd := exec.Command(name, args...)
			cmd.Dir, cmd.Env = folder, append(os.Environ(), "RIN_CLIENT_SECRET="+secret)
			var out, said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &said
			Expect(cmd.Run()).To(Succeed(), said.String())
			return out.String()
		}
		ids := func(lines string) []string {
			GinkgoHelper()
			var all []string
			for line := range strings.Lines(lines) {
				var item struct{ ID string }
				Expect(json.Unmarshal([]byte(line), &item)).To(Succeed(), line)
				all = append(all, item.ID)
			}
			return all
		}
		fromGo := ids(run("go", "run", "client.go"))
		Expect(len(fromGo)).To(BeNumerically(">", 130))
		if _, err := exec.LookPath("python3"); err == nil {
			Expect(ids(run("python3", "client.py"))).To(Equal(fromGo))
		}
		if _, err := exec.LookPath("jq"); err == nil {
			Expect(ids(run("sh", "client.sh"))).To(Equal(fromGo))
		}
		readme, err := os.ReadFile(filepath.Join(folder, "README.md"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(readme)).NotTo(ContainSubstring("ended with it"), "this node goes on")
		for _, file := range []string{"README.md", "client.sh", "client.go", "client.py", "client.ts", "requests.sh", "walk.har"} {
			read, err := os.ReadFile(filepath.Join(folder, file))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(read)).NotTo(ContainSubstring(secret), file)
		}
	})

	It("says how to get the node of the tour again, with the same addresses, clients and secrets", func() {
		folder := filepath.Join(GinkgoT().TempDir(), "taken")
		got := rin(nil, "tour", "--plain", "--step", "calls", "--step", "take-away", "--take-away", folder)
		Expect(got.code).To(Equal(0), got.err)
		Expect(got.out).To(ContainSubstring("This node ends with the tour."))
		restart := regexp.MustCompile(`\n  rin (sandbox --addr (\S+) --seed \d+)\n`).FindStringSubmatch(got.out)
		Expect(restart).NotTo(BeNil(), got.out)
		for _, file := range []string{"README.md", "client.py"} {
			taken, err := os.ReadFile(filepath.Join(folder, file))
			Expect(err).NotTo(HaveOccurred())
			Expect(string(taken)).To(ContainSubstring(restart[2]), file)
		}
		_, greeting := started(nil, strings.Fields(restart[1])[1:]...)
		secret := regexp.MustCompile(`client  demo-client \(.*\)\n  secret  (\S+)`).FindStringSubmatch(greeting)
		Expect(secret).NotTo(BeNil(), greeting)
		if _, err := exec.LookPath("python3"); err == nil {
			cmd := exec.Command("python3", "client.py")
			cmd.Dir, cmd.Env = folder, append(os.Environ(), "RIN_CLIENT_SECRET="+secret[1])
			output, err := cmd.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), string(output))
			Expect(string(output)).To(ContainSubstring(`"id": `))
		}
	})

	DescribeTable("reports wrong arguments", func(hint string, args ...string) {
		got := rin(nil, append([]string{"tour", "--plain"}, args...)...)
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring(hint))
	},
		Entry("no such step", "one of node", "--step", "tokens"),
		Entry("no such mistake", "one of no-token", "--what-if", "panic"),
		Entry("no such fault", "one of refused-token", "--fault", "earthquake"),
		Entry("no such language", "de or en", "--language", "fr"),
		Entry("a filter without value", "NAME=VALUE", "--filter", "region"),
		Entry("only one of the two URLs of a node", "both", "--token-url", "http://127.0.0.1:1/t"),
		Entry("a client without a node", "--registry", "--client-id", "x"),
		Entry("page 0", "1 or more", "--page", "0"),
	)

	It("ends at the step that fails, with a hint", func() {
		got := rin([]string{"SECRET=whatever-it-is-it-is-wrong"}, "tour", "--plain", "--token-url", "http://127.0.0.1:1/oauth/token", "--info-url", "http://127.0.0.1:1/ris/info/v1/oauth/info/",
			"--client-id", "demo-client", "--client-secret", "env:SECRET", "--step", "token")
		Expect(got.code).To(Equal(3))
		Expect(got.out).To(And(ContainSubstring("Trouble: no server answers"), ContainSubstring("What to try:")))
	})
})
