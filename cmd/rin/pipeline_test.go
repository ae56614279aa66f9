package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
)

var _ = Describe("Annotations of a pipeline", func() {
	const source = `openapi: 3.0.1
info: {title: Funding, version: "3"}
paths:
  /funding/v3/fundings:
    get: {operationId: listFundings}
  /funding/v3/fundings/{id}:
    summary: one funding
    get:
      operationId: getFunding
`

	It("name the line of the operation in the source of the document, and no file if they are about something else", func() {
		file := filepath.Join(GinkgoT().TempDir(), "openapi.yaml")
		Expect(os.WriteFile(file, []byte(source), 0o600)).To(Succeed())
		got, dir := newNode(nil, "page-ignored", "token-cacheable").certify("--profile", "funding", "--format", "github,gitlab,json", "--document", file)
		Expect(got.code).To(Equal(1), got.out)

		lines := strings.Split(strings.TrimSpace(string(read(dir, "annotations.txt"))), "\n")
		Expect(lines[0]).To(Equal("::error title=rin::Not certified for profile funding"))
		Expect(lines).To(HaveEach(MatchRegexp(`^::(error|warning|notice) title=[^:]+::.`)))
		Expect(lines).To(ContainElement(MatchRegexp(`^::error title=TOK-06 [^,]*::`)), "a finding about the token endpoint has no line")
		Expect(lines).To(ContainElement(MatchRegexp(`^::error title=PAG-\d\d .*,file=.*/openapi\.yaml,line=5::`)))

		var issues []struct {
			Description string
			CheckName   string `json:"check_name"`
			Fingerprint string
			Severity    string
			Location    struct {
				Path  string
				Lines struct{ Begin int }
			}
		}
		Expect(json.Unmarshal(read(dir, "gl-code-quality-report.json"), &issues)).To(Succeed())
		Expect(issues).To(HaveLen(len(lines) - 1))
		seen := map[string]bool{}
		for _, i := range issues {
			Expect(i.Severity).To(BeElementOf("info", "minor", "critical"))
			Expect(i.Fingerprint).To(HaveLen(64))
			Expect(seen[i.Fingerprint]).To(BeFalse())
			seen[i.Fingerprint] = true
			Expect(i.Location.Lines.Begin).To(BeNumerically(">=", 1))
		}

		Expect(rin(nil, "judge", filepath.Join(dir, "evidence.jsonl.gz"), "--format", "github", "--report-dir", filepath.Join(dir, "again")).code).To(Equal(1))
		Expect(read(filepath.Join(dir, "again"), "annotations.txt")).To(Equal(read(dir, "annotations.txt")), "the lines are part of the evidence")
	})

	DescribeTable("need a document that can be read", func(content, want string) {
		file := filepath.Join(GinkgoT().TempDir(), "openapi.yaml")
		if content != "" {
			Expect(os.WriteFile(file, []byte(content), 0o600)).To(Succeed())
		}
		got, _ := newNode(nil).certify("--document", file)
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(SatisfyAll(ContainSubstring("--document"), ContainSubstring(want), ContainSubstring("api/openapi.yaml")))
	},
		Entry("no file", "", "no such file"),
		Entry("a file that is not YAML", "{", "expected an OpenAPI document"),
		Entry("a list", "[]", "its root is not an object"),
	)
})

var _ = Describe("The script for pipelines", func() {
	// pipeline runs deploy/certify.sh as GitHub Actions does, and returns what it wrote for later steps and for the summary.
	pipeline := func(n node, env ...string) (got outcome, dir, later, summary string) {
		GinkgoHelper()
		dir = GinkgoT().TempDir()
		script, err := filepath.Abs("deploy/certify.sh")
		Expect(err).NotTo(HaveOccurred())
		cmd := exec.Command("bash", script)
		cmd.Dir = dir
		cmd.Env = append([]string{
			"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "HOME=" + dir,
			"GITHUB_ACTIONS=true", "GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary"),
			"RIN_TOKEN_URL=" + n.URL + "/oauth/token", "RIN_INFO_URL=" + n.URL + "/ris-synergy/info/v1/oauth/info/",
			"RIN_SPEC_URL=" + n.URL + "/ris-synergy/funding/v3/api-docs", "RIN_PROFILE=auth", "RIN_NODE=", "RIN_DOCUMENT=",
			"RIN_CLIENT_ID=" + n.clients[0].ClientID, "RIN_CLIENT_SECRET=" + n.clients[0].Secret, "RIN_CLIENT_SECRET2=",
		}, env...)
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(session, "3m").Should(gexec.Exit())
		got = outcome{session.ExitCode(), string(session.Out.Contents()), string(session.Err.Contents())}
		if got.code != 2 {
			summary = string(read(dir, "summary"))
		}
		if _, err := os.Stat(filepath.Join(dir, "output")); err == nil {
			later = string(read(dir, "output"))
		}
		Expect(got.out + got.err + later + summary).NotTo(ContainSubstring(n.clients[0].Secret))
		return got, dir, later, summary
	}

	BeforeEach(func() {
		if _, err := exec.LookPath("bash"); err != nil {
			Skip("*** this machine has no bash ***")
		}
	})

	It("passes for a certified node, and leaves the verdict to later steps", func() {
		got, dir, later, summary := pipeline(newNode(nil))
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(ContainSubstring("\n::notice title=rin::Certified for profile auth\n"))
		Expect(later).To(Equal("exit-code=0\nheadline=✓ Certified for profile auth\nreport-dir=rin-report\nbadge=rin-report/badge.json\n"))
		Expect(string(read(dir, "rin-report/badge.json"))).To(MatchRegexp(`^\{"schemaVersion":1,"label":"rin","message":"certified \d{4}-\d\d-\d\d","color":"brightgreen"\}\n$`))
		Expect(summary).To(HavePrefix("# ✓ Certified for profile auth\n"))
		Expect(filepath.Join(dir, "rin-report", "junit.xml")).To(BeAnExistingFile())
	})

	DescribeTable("fails for a node that is refused, unless the pipeline says otherwise", func(failOn string, code int) {
		got, _, later, summary := pipeline(newNode(nil, "token-cacheable"), "RIN_FAIL_ON="+failOn)
		Expect(got.code).To(Equal(code), got.out+got.err)
		Expect(got.out).To(ContainSubstring("\n::error title=TOK-06 "))
		Expect(later).To(HavePrefix("exit-code=1\n"))
		Expect(summary).To(HavePrefix("# ✗ Not certified for profile auth\n"))
	}, Entry(nil, "", 1), Entry(nil, "refused", 1), Entry(nil, "failed", 1), Entry(nil, "never", 0))

	It("never runs a value as a command, and refuses unknown values", func() {
		n := newNode(nil)
		got, dir, _, _ := pipeline(n, "RIN_PROFILE=auth --only TOK-01; touch owned $(touch owned)")
		Expect(got.code).To(Equal(2), got.out)
		Expect(filepath.Join(dir, "owned")).NotTo(BeAnExistingFile())
		got, _, _, _ = pipeline(n, "RIN_FAIL_ON=sometimes")
		Expect(got.code).To(Equal(2))
		Expect(got.err).To(ContainSubstring("expected refused, failed or never, got sometimes"))
	})
})

var _ = Describe("The script that checks a pull request with runs", Ordered, ContinueOnFailure, func() {
	const bystander = `{"id": "XZ", "oauth2": "https://xz.example/token", "info": "https://xz.example/info"}`
	var dir string
	tested := map[string]node{}
	// run certifies a node, by its URLs or by the id of its entry, and signs what it left in the folder.
	run := func(name, id string, deviations ...string) {
		GinkgoHelper()
		n := newNode(nil, deviations...)
		tested[name] = n
		args := n.flags("--profile", "auth", "--report-dir", filepath.Join(dir, name))
		if id != "" {
			document := filepath.Join(GinkgoT().TempDir(), "ris.json")
			Expect(os.WriteFile(document, []byte("["+entryText(n, id)+"]"), 0o600)).To(Succeed())
			args = append(args[4:], "--registry", document, "--node", id) // without the URLs
		}
		rin(n.env(), append([]string{"certify"}, args...)...)
		Expect(rin(nil, "sign", filepath.Join(dir, name), "--key", filepath.Join(dir, "operator.key")).code).To(Equal(0))
	}
	BeforeAll(func() {
		if _, err := exec.LookPath("bash"); err != nil {
			Skip("*** this machine has no bash ***")
		}
		dir = GinkgoT().TempDir()
		Expect(rin(nil, "sign", "--new-key", filepath.Join(dir, "operator.key")).code).To(Equal(0))
		Expect(os.WriteFile(filepath.Join(dir, "before.json"), []byte("["+bystander+"]"), 0o600)).To(Succeed())
		run("good", "XC")
		run("unnamed", "")
		run("bad", "XB", "token-cacheable")
		run("edited", "XE")
		page := read(dir, "edited/report.md")
		Expect(os.WriteFile(filepath.Join(dir, "edited", "report.md"), append(page, ' '), 0o600)).To(Succeed())
		for from, to := range map[string]string{"good": "unsigned", "edited": "unsigned-edited"} {
			Expect(os.CopyFS(filepath.Join(dir, to), os.DirFS(filepath.Join(dir, from)))).To(Succeed())
			Expect(os.Remove(filepath.Join(dir, to, "claim.intoto.json"))).To(Succeed())
		}
	})
	// check runs the script as a pipeline does, on a pull request that leaves these entries in the document.
	check := func(runs, entries []string, env ...string) outcome {
		GinkgoHelper()
		Expect(os.WriteFile(filepath.Join(dir, "ris.json"), []byte(`{"member": [`+strings.Join(append(entries, bystander), ",")+"]}"), 0o600)).To(Succeed())
		script, err := filepath.Abs("deploy/verify.sh")
		Expect(err).NotTo(HaveOccurred())
		cmd := exec.Command("bash", script)
		cmd.Dir = dir
		cmd.Env = append([]string{"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "RIN_RUNS=" + strings.Join(runs, "\n") + "\n", "RIN_KEY=operator.pub",
			"RIN_REGISTRY=ris.json", "RIN_REGISTRY_BEFORE=before.json", "GITHUB_ACTIONS=true"}, env...)
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(session, "3m").Should(gexec.Exit())
		got := outcome{session.ExitCode(), string(session.Out.Contents()), string(session.Err.Contents())}
		refused := strings.Count(got.out, "refused: ")
		Expect(strings.Count(got.out, "::error title=rin verify::")).To(Equal(refused), got.out)
		Expect(got.code).To(Equal(min(refused, 1)), got.out+got.err)
		return got
	}

	It("accepts certified runs of the entries that it adds, and names one reason for each that it refuses", func() {
		got := check([]string{"good"}, []string{entryText(tested["good"], "XC")})
		Expect(got.code).To(Equal(0), got.out+got.err)
		Expect(got.out).To(MatchRegexp(`^accepted: good: XC: .*Certified for profile auth\n$`))
		got = check([]string{"good", "bad", "edited", "$(touch owned)", ""}, []string{entryText(tested["good"], "XC"), entryText(tested["bad"], "XB"), entryText(tested["edited"], "XE")})
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(strings.Count(got.out, "::error title=rin verify::")).To(Equal(3), got.out)
		Expect(got.out).To(MatchRegexp(`refused: bad: the node must be certified; the report says: .*Not certified for profile auth\n`))
		Expect(got.out).To(MatchRegexp(`refused: edited: does not hold: files: report\.md: .*\w`))
		Expect(got.out).To(MatchRegexp(`refused: \$\(touch owned\): .*no such file`))
		Expect(filepath.Join(dir, "owned")).NotTo(BeAnExistingFile())
		got = check([]string{"good"}, []string{entryText(tested["good"], "XC")}, "RIN_PROFILE=funding")
		Expect(got.code).To(Equal(1))
		Expect(got.out).To(ContainSubstring("must be certified for profile funding"))
	})

	It("gives the reason of the step that does not hold, also for a run that nobody signed", func() {
		got := check([]string{"unsigned", "unsigned-edited"}, []string{entryText(tested["good"], "XC"), entryText(tested["edited"], "XE")})
		Expect(got.out).To(MatchRegexp(`(?m)^refused: unsigned: could not be decided: signature: nothing, because the files of the run hold no signature: there is no claim\.intoto\.json or \S+$`))
		Expect(got.out).To(MatchRegexp(`(?m)^refused: unsigned-edited: does not hold: judgement: report\.md, line \d+.*: expected .*got .*$`))
	})

	It("accepts a run that was given URLs, if an entry has them", func() {
		got := check([]string{"unnamed"}, []string{entryText(tested["unnamed"], "XU")})
		Expect(got.out).To(MatchRegexp(`^accepted: unnamed: XU: .*Certified for profile auth\n$`))
	})

	DescribeTable("refuses an entry that differs from the node that was tested", func(run, entry string, change func(string) string, reason string) {
		got := check([]string{run}, []string{change(entryText(tested[run], entry))})
		Expect(strings.Count(got.out, "refused: ")).To(Equal(1), got.out)
		Expect(got.out).To(MatchRegexp(`refused: ` + run + `: does not hold: entry: ` + reason + `\n`))
	},
		Entry("by its token endpoint", "good", "XC", replace("/oauth/token", "/token"), `the entry XC: oauth2: expected the URL that was tested, "http\S+/oauth/token", got "http\S+[0-9]/token"`),
		Entry("by its info endpoint", "good", "XC", replace("/info/v1/", "/info/v2/"), `the entry XC: info: expected the URL that was tested, "\S+", got "\S+/v2/\S+"`),
		Entry("by its id", "good", "XD", replace("", ""), `the entry XD: expected the id that was tested, "XC", got "XD" with the same URLs`),
		Entry("by id and URL", "good", "XD", replace("/oauth/token", "/token"), `the registry document: expected an entry with the id that was tested, "XC", got none`),
		Entry("by its URL, for a run without an id", "unnamed", "XU", replace("/oauth/token", "/token"),
			`the registry document: expected an entry with the URLs that were tested, oauth2 "\S+" and info "\S+", got none`),
		Entry("by a second entry with its id", "good", "XC", func(entry string) string { return entry + `,{"id":"XC"}` }, `the entry XC: expected one entry of the node that was tested, got 2`),
	)

	It("refuses an entry that was added or moved, and that no run in the pull request is about", func() {
		moved := strings.Replace(bystander, "https://xz.example/token", "https://elsewhere.example/token", 1)
		got := check([]string{"good"}, []string{entryText(tested["good"], "XC"), `{"id":"XQ","oauth2":"https://xq.example/token","info":"https://xq.example/info"}`})
		Expect(got.out).To(ContainSubstring("\nrefused: the entry XQ: it was added, and no run in this pull request is about it\n"))
		Expect(os.WriteFile(filepath.Join(dir, "moved.json"), []byte("["+moved+","+entryText(tested["good"], "XC")+"]"), 0o600)).To(Succeed())
		got = check([]string{"good"}, []string{entryText(tested["good"], "XC")}, "RIN_REGISTRY_BEFORE=moved.json")
		Expect(got.out).To(ContainSubstring("\nrefused: the entry XZ: its URLs changed, and no run in this pull request is about it\n"))
		got = check([]string{"good"}, []string{entryText(tested["good"], "XC")}, "RIN_REGISTRY_BEFORE=none.json")
		Expect(got.out).To(ContainSubstring("\nrefused: the entry XZ: it was added"), "a document that is new")
	})

	It("refuses an entry that the list of changes cannot show", func() {
		for entry, reason := range map[string]string{
			`{"oauth2":"https://xq.example/token","info":"https://xq.example/info"}`:                                            `entry 2 of the document: expected an id, as a text, got none`,
			`{"id":"XQ","oauth2":"https://a.example/token","oauth2":"https://b.example/token","info":"https://b.example/info"}`: `entry 2 of the document, XQ: expected each member once, got oauth2 twice`,
		} {
			got := check([]string{"good"}, []string{entryText(tested["good"], "XC"), entry})
			Expect(got.code).To(Equal(1), got.out)
			Expect(got.out).To(ContainSubstring("refused: ris.json: " + reason + "\n"))
		}
	})

	// The author of the pull request writes the run, so a run that ends rin in another way must not pass.
	DescribeTable("refuses a run at which rin verify ends without a verdict", func(ending, reason string) {
		stub := GinkgoT().TempDir()
		program := "#!/bin/sh\nif [ \"$1\" = verify ]; then\n" + ending + "\nfi\nexec " + binary + " \"$@\"\n"
		Expect(os.WriteFile(filepath.Join(stub, "rin"), []byte(program), 0o700)).To(Succeed())
		got := check([]string{"good"}, []string{entryText(tested["good"], "XC")}, "PATH="+stub+":"+os.Getenv("PATH"))
		Expect(got.out).To(HavePrefix("refused: good: " + reason + "\n"))
		Expect(got.out).NotTo(ContainSubstring("accepted: "))
		Expect(got.code).To(Equal(1))
	},
		Entry("killed for its memory", "kill -9 $$", "rin verify ended with 137"),
		Entry("by a panic", "echo 'panic: runtime error: index out of range [1] with length 1' >&2\necho 'goroutine 1 [running]:' >&2\nexit 2", "rin verify ended with 2"),
		Entry("not found", "exit 127", "rin verify ended with 127"),
		Entry("with the code of a run that does not hold, silently", "exit 1", "rin verify ended with 1"),
		Entry("with the code of a run that is undecided, silently", "exit 3", "rin verify ended with 3"),
		Entry("without an entry", "echo 'the report says: Certified for profile auth'\nexit 0", "rin verify ended with 0 and named no entry"),
	)

	It("refuses a pull request whose changes rin does not list", func() {
		stub := GinkgoT().TempDir()
		Expect(os.WriteFile(filepath.Join(stub, "rin"), []byte("#!/bin/sh\nkill -9 $$\n"), 0o700)).To(Succeed())
		got := check([]string{"good"}, []string{entryText(tested["good"], "XC")}, "PATH="+stub+":"+os.Getenv("PATH"))
		Expect(got.out).To(HavePrefix("refused: rin registry changes ended with 137\n"))
	})

	It("refuses a document that cannot be read, and asks for one", func() {
		Expect(os.WriteFile(filepath.Join(dir, "page.html"), []byte("<html>"), 0o600)).To(Succeed())
		got := check([]string{"good"}, nil, "RIN_REGISTRY=page.html")
		Expect(strings.Count(got.out, "refused: ")).To(Equal(1), got.out)
		Expect(got.out).To(ContainSubstring("refused: page.html: read the registry document: expected JSON"))
		script := exec.Command("bash", "deploy/verify.sh")
		script.Env = []string{"PATH=" + os.Getenv("PATH"), "RIN_RUNS=good"}
		out, err := script.CombinedOutput()
		Expect(err).To(HaveOccurred())
		Expect(string(out)).To(ContainSubstring("RIN_REGISTRY"))
	})
})

// entryText returns the registry entry of a node.
func entryText(n node, id string) string {
	return `{"id": "` + id + `", "name": "A node", "oauth2": "` + n.URL + `/oauth/token", "info": "` + n.URL + `/ris-synergy/info/v1/oauth/info/"}`
}

func replace(old, with string) func(string) string {
	return func(text string) string { return strings.Replace(text, old, with, 1) }
}

var _ = Describe("The script that tests a client in a pipeline", func() {
	test := func(command string, env ...string) (outcome, string) {
		GinkgoHelper()
		if _, err := exec.LookPath("bash"); err != nil {
			Skip("*** this machine has no bash ***")
		}
		dir := GinkgoT().TempDir()
		script, err := filepath.Abs("deploy/client-test.sh")
		Expect(err).NotTo(HaveOccurred())
		cmd := exec.Command("bash", script)
		cmd.Dir = dir
		cmd.Env = append([]string{"PATH=" + filepath.Dir(binary) + ":" + os.Getenv("PATH"), "HOME=" + dir, "RIN_COMMAND=" + command, "GITHUB_ACTIONS=true",
			"GITHUB_OUTPUT=" + filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY=" + filepath.Join(dir, "summary")}, env...)
		session, err := gexec.Start(cmd, nil, nil)
		Expect(err).NotTo(HaveOccurred())
		Eventually(session, "3m").Should(gexec.Exit())
		return outcome{session.ExitCode(), string(session.Out.Contents()), string(session.Err.Contents())}, dir
	}

	It("fails for a client that is at fault, with the result in the summary", func() {
		got, dir := test("exit 7", "RIN_SCENARIO=none")
		Expect(got.code).To(Equal(3), got.out+got.err)
		Expect(string(read(dir, "output"))).To(Equal("exit-code=3\n"))
		token := `rin token --token-url "$RIN_TOKEN_URL" --client-id "$RIN_CLIENT_ID" --client-secret env:RIN_CLIENT_SECRET; exit 7`
		got, dir = test(token, "RIN_SCENARIO=none")
		Expect(got.code).To(Equal(1), got.out+got.err)
		Expect(got.out).To(ContainSubstring("::error title=rin::The client breaks rules"))
		Expect(string(read(dir, "summary"))).To(And(HavePrefix("````text\n"), ContainSubstring("exit code 7")))
		Expect(filepath.Join(dir, "rin-client.xml")).To(BeAnExistingFile())
	})

	It("asks for the command", func() {
		got, _ := test("")
		Expect(got.code).NotTo(BeZero())
		Expect(got.err).To(ContainSubstring("RIN_COMMAND"))
	})
})

func read(dir, name string) []byte {
	GinkgoHelper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	Expect(err).NotTo(HaveOccurred())
	return data
}
