package evidence_test

import (
	"os/exec"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

// inShell runs a command in a POSIX shell in which curl is a function that prints its arguments and its standard input. The test fails if
// the command fails.
func inShell(command string) (args []string, stdin string) {
	script := `curl() { for a; do printf '%s\036' "$a"; done; for a; do case "$a" in @-) printf '\035'; cat;; esac; done; }` + "\n" + command
	cmd := exec.Command("/bin/sh", "-eu", "-c", script)
	cmd.Env = []string{"PATH=/usr/bin:/bin", "RIN_CLIENT_SECRET=it's $HOME `x` \"\\", "RIN_ACCESS_TOKEN=token", "RIN_CLIENT_SECRET_BASE64=YQ=="}
	out, err := cmd.CombinedOutput()
	ExpectWithOffset(1, err).NotTo(HaveOccurred(), "%s\n%s", command, out)
	list, stdin, _ := strings.Cut(string(out), "\035")
	return strings.Split(strings.TrimSuffix(list, "\036"), "\036"), stdin
}

var _ = Describe("Curl", func() {
	It("names one variable for all tokens of a client, whichever request issued them", func() {
		for marker, variable := range map[string]string{"access_token.ok-after-id-only": "RIN_ACCESS_TOKEN", "access_token2.renewed": "RIN_ACCESS_TOKEN2"} {
			command := evidence.Curl(evidence.Exchange{Request: evidence.Request{Method: "GET", URL: "https://api.example/",
				Header: []evidence.Field{{Name: "Authorization", Value: "Bearer [[" + marker + ":1f2e3d4c:plain]]"}}}})
			Expect(command).To(ContainSubstring(`"$` + variable + `"`))
		}
	})

	It("repeats a token request with the secret as a variable", func() {
		got := evidence.Curl(evidence.Exchange{Request: evidence.Request{
			Method: "POST", URL: "https://node.example/oauth/token",
			Header: []evidence.Field{{Name: "Content-Type", Value: "application/x-www-form-urlencoded"}, {Name: "Accept", Value: "application/json"}},
			Body:   evidence.Body("grant_type=client_credentials&client_secret=[[client_secret:1f2e3d4c:plain]]&x=1"),
		}})
		Expect(got).To(Equal(`curl -sS -i -X POST --url https://node.example/oauth/token ` +
			`-H 'Content-Type: application/x-www-form-urlencoded' -H 'Accept: application/json' ` +
			`--data-raw 'grant_type=client_credentials&client_secret='"$RIN_CLIENT_SECRET"'&x=1'`))
		args, _ := inShell(got)
		Expect(args[len(args)-1]).To(Equal("grant_type=client_credentials&client_secret=it's $HOME `x` \"\\&x=1"))
	})

	It("names the form of an encoded secret, keeps blanks, and notes that the header bytes matter", func() {
		got := evidence.Curl(evidence.Exchange{Request: evidence.Request{
			Method: "GET", URL: "https://node.example/a/./b?page[page]=0", Raw: true,
			Header: []evidence.Field{{Name: "authorization", Value: "Basic [[client_secret:1f2e3d4c:base64]]"}, {Name: "X-Blank", Value: "Bearer "}, {Name: "X-Empty"}},
		}})
		Expect(got).To(HaveSuffix(" # header bytes matter here: blanks at the end of a value count"))
		args, _ := inShell(got)
		Expect(args).To(Equal([]string{"-sS", "-i", "-g", "--path-as-is", "--url", "https://node.example/a/./b?page[page]=0",
			"-H", "authorization: Basic YQ==", "-H", "X-Blank: Bearer ", "-H", "X-Empty;", "-H", "Accept:"}))
	})

	It("asks for the headers alone if the method is HEAD, and for a decoded body if the request accepts a content coding", func() {
		args, _ := inShell(evidence.Curl(evidence.Exchange{Request: evidence.Request{
			Method: "HEAD", URL: "https://node.example/", Header: []evidence.Field{{Name: "Accept-Encoding", Value: "gzip"}},
		}}))
		Expect(args).To(ContainElements("-I", "--compressed"))
	})

	It("sends a binary body", func() {
		body := "%s '\\ \x00\x01\xff[[access_token:1f2e3d4c:plain]]\n\u202e"
		got := evidence.Curl(evidence.Exchange{Request: evidence.Request{Method: "PUT", URL: "https://node.example/", Body: evidence.Body(body)}})
		args, stdin := inShell(got)
		Expect(args).To(ContainElements("--data-binary", "@-"))
		Expect(stdin).To(Equal("%s '\\ \x00\x01\xfftoken\n\u202e"))
	})

	It("keeps hostile texts within their quotes", func() {
		for _, evil := range hostile {
			got := evidence.Curl(evidence.Exchange{Request: evidence.Request{
				Method: "G" + evil, URL: "https://node.example/" + evil, Body: evidence.Body("b" + evil),
				Header: []evidence.Field{{Name: "X-Evil", Value: "v" + evil}, {Name: "@etc" + evil, Value: "x"}},
			}})
			Expect(got).NotTo(MatchRegexp(`[\x00-\x1f\x7f]`))
			args, stdin := inShell(got)
			want := strings.ReplaceAll(evil, "[[access_token:1f2e3d4c:plain]]", "token")
			Expect(args[3]).To(Equal("G" + want))
			Expect(args).To(ContainElement("X-Evil: v" + want))
			Expect(args).NotTo(ContainElement(HavePrefix("@etc")))
			if stdin == "" {
				Expect(args).To(ContainElement("b" + want))
			} else {
				Expect(stdin).To(Equal("b" + want))
			}
		}
	})
})

// hostile are texts that try to break out of quotes, to add arguments or header lines, or to deceive on a terminal.
var hostile = []string{
	"'; touch pwned; '", "$(false)", "`false`", "\"; false; \"", "\\'; false #", "'\\''", "!!", "a'\"$HOME\"'b",
	"x\r\nX-Injected: 1", "\x1b[31mred", "\u202egnp.exe", "\xff'\xfe", "[[access_token:1f2e3d4c:plain]]'; false",
	"[[x';false;':1f2e3d4c:plain]]", "%n%s%d\\n\t'", "-o", "@/etc/passwd", "\x7f$(false)",
}

func FuzzCurl(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := evidence.Curl(evidence.Exchange{Request: evidence.Request{
			Method: s, URL: s, Header: []evidence.Field{{Name: s, Value: s}}, Body: evidence.Body(s),
		}})
		if i := strings.IndexFunc(got, func(r rune) bool { return r < ' ' || r == 0x7f }); i >= 0 {
			t.Fatalf("control character at %d in %q", i, got)
		}
	})
}
