package main_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("The command line", func() {
	commands := func() []string {
		listed := regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`).FindAllStringSubmatch(rin(nil, "--help").out, -1)
		var names []string
		for _, m := range listed {
			names = append(names, m[1])
		}
		return names
	}

	It("lists its commands and hides the worker", func() {
		Expect(commands()).To(ContainElements("demo", "sandbox", "certify", "judge", "explain", "requirements", "token", "fixtures", "client", "version"))
		Expect(commands()).NotTo(ContainElement("worker"))
	})

	It("prints its version by a command and by a flag", func() {
		Expect(rin(nil, "--version").out).To(Equal(rin(nil, "version").out))
		Expect(rin(nil, "version").out).To(MatchRegexp(`^rin \S+\n(commit [0-9a-f]{40} of \d{4}-\d\d-\d\d(, changed)?\n)?catalogue \S+ \(\d+ requirements\)\ngo`))
	})

	It("has help with examples for each of its own commands, within 80 columns", func() {
		var ask func(path ...string)
		ask = func(path ...string) {
			help := rin(nil, append(path, "--help")...)
			Expect(help.code).To(Equal(0), "%q", path)
			Expect(help.out).To(ContainSubstring("Examples:\n"), "%q", path)
			for _, line := range strings.Split(help.out, "\n") {
				Expect(len([]rune(line))).To(BeNumerically("<=", 80), "%q: %s", path, line)
			}
			list := regexp.MustCompile(`(?s)\n(?:Available Commands|Commands to a running sandbox):\n(.*?)\n\n`).FindString(help.out)
			for _, command := range regexp.MustCompile(`(?m)^  ([a-z]+) +[A-Z]`).FindAllStringSubmatch(list, -1) {
				if name := command[1]; name != "help" && name != "completion" { // cobra adds these two
					ask(append(slices.Clone(path), name)...)
				}
			}
		}
		ask()
	})

	It("groups the flags of certify", func() {
		help := rin(nil, "certify", "--help").out
		Expect(help).To(MatchRegexp(`(?s)\n  The node\n +--registry .*\n  Credentials .*--client-secret .*\n  Politeness\n +--rate`))
	})

	It("shows every flag of sandbox in one group, within 80 columns", func() {
		help := rin(nil, "sandbox", "--help").out
		_, flags, _ := strings.Cut(help, "\nFlags:\n")
		flags, _, _ = strings.Cut(flags, "\nGlobal Flags:\n")
		Expect(flags).To(MatchRegexp(`(?s)\n  Where it listens\n +--addr .*--control .*\n  The data\n +--seed .*\n  Operation\n`))
		for _, line := range strings.Split(flags, "\n") {
			Expect(len([]rune(line))).To(BeNumerically("<=", 80), line)
		}
		var shown []string
		for _, m := range regexp.MustCompile(`(?m)^ +(?:-[a-z], )?--([a-z0-9-]+)`).FindAllStringSubmatch(flags, -1) {
			shown = append(shown, "--"+m[1])
		}
		// The shell completes every flag that the command accepts.
		var accepted []string
		for _, m := range regexp.MustCompile(`(?m)^--([a-z0-9-]+)\t`).FindAllStringSubmatch(rin(nil, "__complete", "sandbox", "--").out, -1) {
			if m[1] != "help" && m[1] != "no-color" {
				accepted = append(accepted, "--"+m[1])
			}
		}
		Expect(len(accepted)).To(BeNumerically(">", 20))
		Expect(shown).To(ConsistOf(accepted))
	})

	It("writes a man page for each command and the completion of every shell, the same each time", func() {
		dir := filepath.Join(GinkgoT().TempDir(), "share")
		got := rin(nil, "manual", dir)
		Expect(got.code).To(Equal(0), got.err)
		for _, name := range append(slices.DeleteFunc(commands(), func(name string) bool { return name == "help" }), "registry-run", "sandbox-status") {
			page := string(read(dir, filepath.Join("man", "rin-"+name+".1")))
			Expect(page).To(HavePrefix(`.TH "RIN-`+strings.ToUpper(name)+`" 1 `), name)
			Expect(page).To(And(ContainSubstring("\n.SH NAME\nrin"), ContainSubstring("\n.SH OPTIONS\n"), ContainSubstring("\n.SH SEE ALSO\n")), name)
		}
		Expect(filepath.Join(dir, "man", "rin-worker.1")).NotTo(BeAnExistingFile())
		page := string(read(dir, "man/rin-sandbox.1"))
		Expect(page).To(MatchRegexp(`(?s)\n\.SS Where it listens\n\.TP\n.*\n\.SS The network\n.*\n\.SS Operation\n.*\n\.SS Other\n\.TP\n\\fB\\-h\\fR, `))
		Expect(page).To(ContainSubstring("\n\\fB\\-\\-scenario\\fR \\fINAME\\fR\n"))
		secondDir := filepath.Join(GinkgoT().TempDir(), "again")
		Expect(rin(nil, "manual", secondDir).code).To(Equal(0))
		for _, name := range []string{"man/rin.1", "man/rin-sandbox.1", "completion/rin.bash", "completion/_rin", "completion/rin.fish", "completion/rin.ps1"} {
			Expect(read(secondDir, name)).To(Equal(read(dir, name)), name)
			Expect(len(read(dir, name))).To(BeNumerically(">", 1000), name)
		}
		Expect(rin(nil, "manual", filepath.Join(dir, "man", "rin.1")).code).To(Equal(2))
	})

	It("completes in every shell", func() {
		for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
			script := rin(nil, "completion", shell)
			Expect(script.code).To(Equal(0))
			Expect(script.out).To(ContainSubstring("rin"))
		}
		Expect(rin(nil, "__complete", "explain", "BRR").out).To(ContainSubstring("BRR-02\t"))
	})

	It("names the help of the command that was called, after a mistake on its command line", func() {
		Expect(rin(nil, "client", "create", "--id", "x").err).To(HaveSuffix("hint: see rin client create --help\n"))
		Expect(rin(nil, "registry", "init").err).To(HaveSuffix("hint: see rin registry init --help\n"))
		Expect(rin(nil, "certfy").err).To(HaveSuffix("hint: see rin --help\n"))
	})

	DescribeTable("answers a mistake with a message, a hint and exit code 2",
		func(message string, args ...string) {
			got := rin(nil, args...)
			Expect(got.code).To(Equal(2), got.err)
			Expect(got.out).To(BeEmpty())
			Expect(got.err).To(ContainSubstring(message))
			Expect(got.err).To(ContainSubstring("hint: "))
		},
		Entry("an unknown command", `unknown command "certfy"`, "certfy"),
		Entry("an unknown flag", "unknown flag: --speed", "certify", "--speed"),
		Entry("nothing to certify", "--token-url is missing", "certify"),
		Entry("a node without a registry", "--registry is missing", "certify", "--node", "XA"),
		Entry("a registry file that is not there", "--registry: open nowhere.json", "certify", "--registry", "nowhere.json", "--node", "XA"),
		Entry("a URL for a registry file", "expected the file of a registry document, got the URL http://…@h/x", "registry", "changes", "http://u:%zz@h/x", "b.json"),
		Entry("a malformed URL", "--token-url", "certify", "--token-url", "not a url", "--info-url", "http://127.0.0.1:1/v1/", "--client-id", "a"),
		Entry("a secret on the command line", "--client-secret takes a place", "certify", "--client-id", "a", "--client-secret", "hunter2hunter2"),
		Entry("a secret that is not set", "environment variable NOWHERE is not set", "certify", "--client-id", "a", "--client-secret", "env:NOWHERE"),
		Entry("a secret file that is not there", "file nowhere", "token", "--client-id", "a", "--client-secret", "file:nowhere"),
		Entry("a token on the command line", "--expired-token takes a place", "certify", "--client-id", "a", "--expired-token", "hunter2hunter2"),
		Entry("an attestation that is neither yes nor no", "--attest-brute-force: expected yes or no", "certify", "--attest-brute-force", "perhaps"),
		Entry("a staging client without its server", "--staging-token-url is missing", "certify", "--staging-client-id", "a"),
		Entry("an unknown profile", `"gold" is not a profile`, "certify", "--profile", "gold"),
		Entry("an unknown requirement", `unknown requirement "TOK-99"`, "certify", "--only", "TOK-99"),
		Entry("two choices of what is judged", "[only rerun-failed]", "certify", "--only", "TOK-01", "--rerun-failed", "report.json"),
		Entry("an earlier report that is not there", "--rerun-failed: open nowhere.json", "certify", "--rerun-failed", "nowhere.json"),
		Entry("a malformed label filter", "label filter", "certify", "--label-filter", "(("),
		Entry("an unknown format", `unknown report format "pdf"`, "judge", "--format", "pdf", "evidence.jsonl.gz"),
		Entry("evidence that is not there", "nowhere.jsonl", "judge", "nowhere.jsonl"),
		Entry("an unknown id", `unknown requirement, deviation or scenario "ABC-01"`, "explain", "ABC-01"),
		Entry("an unknown deviation", "did you mean", "sandbox", "--addr", "127.0.0.1:0", "--deviate", "token-status-20"),
		Entry("an unknown scenario", "did you mean 503-twice", "sandbox", "--addr", "127.0.0.1:0", "--scenario", "503-twise"),
		Entry("an unknown option of a scenario", "did you mean times", "sandbox", "--addr", "127.0.0.1:0", "--scenario", "503-twice:tmes=3"),
		Entry("an address that does not exist", "--addr", "sandbox", "--addr", "256.0.0.1:1"),
		Entry("an origin that browsers never send", "did you mean http://localhost:5173?", "sandbox", "--addr", "127.0.0.1:0", "--cors", "http://localhost:5173/"),
		Entry("an invalid rate", "--rate-limit: \"20/h\" is not a rate", "sandbox", "--addr", "127.0.0.1:0", "--rate-limit", "20/h"),
		Entry("an unknown log format", "--log-format: expected text or json", "sandbox", "--addr", "127.0.0.1:0", "--log-format", "xml"),
		Entry("a malformed day", "--as-of", "fixtures", "--as-of", "31.12.2026"),
		Entry("an unknown fixture format", `"xml"`, "fixtures", "--format", "xml"),
		Entry("an unknown catalogue format", `"xml"`, "requirements", "--format", "xml"),
		Entry("a negative number of calls", "number of calls", "fixtures", "--calls", "-1"),
	)

	It("never repeats a secret that was typed by mistake", func() {
		got := rin(nil, "certify", "--client-id", "a", "--client-secret", "hunter2hunter2")
		Expect(got.out + got.err).NotTo(ContainSubstring("hunter2"))
	})

	It("explains each rule of the interface document, with the requirements that judge it and the parts that none judges", func() {
		got := strings.Join(strings.Fields(rin(nil, "explain", "net-r17").out), " ")
		Expect(got).To(And(ContainSubstring("“In the funding service, the service account is granted the role"), ContainSubstring("judged by BRR-18:"),
			ContainSubstring("not judged the correct affiliation ID")))
		Expect(rin(nil, "explain", "NET-R99").err).To(ContainSubstring("NET-R1 to NET-R20"))
	})

	It("explains a requirement, from its source to a curl command, within 80 columns", func() {
		got := rin(nil, "explain", "brr-09")
		Expect(got.code).To(Equal(0))
		Expect(got.out).To(SatisfyAll(
			HavePrefix("BRR-09  "), ContainSubstring("\nlevel           standard-must: MUST of a standard"), ContainSubstring("RFC 6749 §7"), ContainSubstring("https://www.rfc-editor.org/rfc/rfc6749.html#section-7"),
			ContainSubstring("\nfix "), ContainSubstring("\nbroken by "), ContainSubstring("\nproved by "), ContainSubstring("\ncurl "),
			MatchRegexp(`\nrin demo --deviate [a-z-]+\nrin sandbox --deviate [a-z-]+\n`),
		))
		text, _, _ := strings.Cut(got.out, "Ask the node yourself:")
		for _, line := range strings.Split(text, "\n") {
			if !strings.Contains(line, "https://") && !strings.Contains(line, "--deviate") {
				Expect(len([]rune(line))).To(BeNumerically("<=", 80), line)
			}
		}
	})

	It("links every place of a source, and quotes the interface document", func() {
		flat := strings.Join(strings.Fields(rin(nil, "explain", "tok-05").out), " ")
		Expect(flat).To(SatisfyAll(
			ContainSubstring("Interface document, NET-R12 (General request rules, 1; Authentication, 2): “Every authenticated call"),
			ContainSubstring("RFC 6749 §7.1 https://www.rfc-editor.org/rfc/rfc6749.html#section-7.1"),
			ContainSubstring("RFC 6750 §6.1.1 https://www.rfc-editor.org/rfc/rfc6750.html#section-6.1.1"),
		))
		Expect(rin(nil, "requirements", "--format", "markdown").out).To(ContainSubstring(
			"Interface document, NET-R12; [RFC 6749 §7.1](https://www.rfc-editor.org/rfc/rfc6749.html#section-7.1); [RFC 6750 §6.1.1]("))
	})

	It("lists the catalogue as table, JSON and Markdown", func() {
		for _, list := range []string{rin(nil, "requirements").out, rin(nil, "requirements", "--clients").out} {
			for _, line := range strings.Split(list, "\n") {
				Expect(len([]rune(line))).To(BeNumerically("<=", 80), line)
			}
		}
		Expect(rin(nil, "requirements").out).To(MatchRegexp(`(?m)^TOK-01 +gating +auth +[1-9]`))
		Expect(rin(nil, "requirements", "--format", "json").out).To(ContainSubstring(`"id": "TOK-01"`))
		Expect(rin(nil, "requirements", "--format", "markdown").out).To(ContainSubstring("| TOK-01 | "))
		Expect(rin(nil, "requirements", "--profile", "auth").out).NotTo(ContainSubstring("API-01"))
	})
})
