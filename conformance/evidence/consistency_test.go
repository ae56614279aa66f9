package evidence_test

import (
	"bytes"
	"errors"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
)

// run returns the text of a complete run with an answer of each kind.
func run() string {
	var file bytes.Buffer
	j := evidence.NewJournal(evidence.NewWriter(&file, clock))
	j.Begin(evidence.Run{Suite: "test", Started: start})
	j.Plan("token.ok", "info.ok", "info.head", "info.empty", "tls/info.modern", "spec.ok")
	token := answered("token.ok", 200)
	token.Response = response(200, `{"access_token":"[[access_token:0123abcd:plain]]"}`)
	token.Response.Wire, token.Response.Size = 300, 300 // the marker is shorter
	token.Response.Header = []evidence.Field{{Name: "content-length", Value: "300"}}
	j.Add(token)
	info := answered("info.ok", 200)
	info.Response = response(200, "hello, hello, hello")
	info.Response.Wire, info.Response.Coding = 12, []string{"gzip"}
	info.Response.Header = []evidence.Field{{Name: "Content-Encoding", Value: "GZIP"}, {Name: "Content-Length", Value: "12"}}
	j.Add(info)
	head := answered("info.head", 200)
	head.Request.Method, head.Response = "HEAD", response(200, "")
	head.Response.Header = []evidence.Field{{Name: "Content-Length", Value: "12"}, {Name: "Content-Encoding", Value: "br"}}
	j.Add(head)
	empty := answered("info.empty", 304)
	empty.Response = response(304, "")
	empty.Response.Header = []evidence.Field{{Name: "Content-Length", Value: "77"}}
	j.Add(empty)
	j.Handshake(evidence.Handshake{Label: "tls/info.modern", Address: "[::1]:443", ServerName: "::1", Started: start.Add(time.Millisecond), Duration: time.Millisecond, Attempts: 1})
	j.Skip(evidence.NotSent{Label: "spec.ok", Kind: evidence.NotApplicable, Because: "no document"})
	j.End(evidence.Ended{Complete: true, Requests: 5})
	ExpectWithOffset(1, j.Err()).NotTo(HaveOccurred())
	return conformancetest.Text(file.Bytes())
}

// without removes the lines that contain a text.
func without(text, part string) string {
	var kept []string
	for line := range strings.Lines(text) {
		if !strings.Contains(line, part) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

var _ = Describe("Evidence that was changed", func() {
	It("is accepted as it was recorded", func() {
		_, err := evidence.ReadLog(strings.NewReader(run()))
		Expect(err).NotTo(HaveOccurred())
	})

	DescribeTable("is refused, with the place",
		func(change func(string) string, message string) {
			changed := change(run())
			Expect(changed).NotTo(Equal(run()))
			_, err := evidence.ReadLog(bytes.NewReader(zipped(changed)))
			Expect(err).To(MatchError(MatchRegexp(message)))
			var contradiction *evidence.Inconsistency
			Expect(errors.As(err, &contradiction)).To(BeTrue())
		},
		Entry("the content of a body", replace("hello, hello, hello", "hullo, hello, hello"),
			`^evidence line 5: body "sha256:9cc\w+" has the digest "sha256:\w+": its content was changed`),
		Entry("the digest of a body", replace(`{"digest":"sha256:9cc`, `{"digest":"sha256:9cd`), `^evidence line 5: body "sha256:9cd\w+" has the digest "sha256:9cc`),
		Entry("the size of a body", replace(`"size":19,"content"`, `"size":20,"content"`), `^evidence line 5: body "sha256:9cc\w+": expected 20 bytes, got 19`),
		Entry("a body twice", func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return strings.Join(append(lines[:5], lines[4:]...), "")
		}, `^evidence line 6: body "sha256:9cc\w+" was recorded before`),
		Entry("a body that is gone", func(s string) string { return without(s, "hello, hello") }, `^evidence line 5: the body "sha256:9cc\w+" of an exchange is missing`),
		Entry("a body without an exchange", func(s string) string {
			return strings.Replace(without(s, `"exchange":{"label":"info.ok"`), `"info.ok",`, "", 1)
		}, `^evidence: body sha256:9cc\w+ belongs to no exchange`),
		Entry("the length of what was kept", replace(`"size":19,"body"`, `"size":18,"body"`), `^evidence line 6: exchange "info.ok": 18 bytes of the body were read, and 19 bytes are here`),
		Entry("the length on the wire", replace(`"wire":12`, `"wire":13`), `^evidence line 6: exchange "info.ok": Content-Length is 12, and 13 bytes came`),
		Entry("the length on the wire, without a coding", replace(`"wire":300`, `"wire":301`), `^evidence line 4: exchange "token.ok": the body came as 301 bytes without a content coding, and 300`),
		Entry("nothing on the wire", replace(`"wire":12`, `"wire":0`), `^evidence line 6: exchange "info.ok": the body came as 0 bytes, and 19 bytes`),
		Entry("Content-Length", replace(`"name":"content-length","value":"300"`, `"name":"content-length","value":"301"`),
			`^evidence line 4: exchange "token.ok": Content-Length is 301, and 300 bytes came`),
		Entry("the content coding", replace(`"GZIP"`, `"deflate"`), `^evidence line 6: exchange "info.ok": the content coding "gzip" was removed, and the header says "deflate"`),
		Entry("a content coding that was added", replace(`"GZIP"`, `"br, gzip"`), `the content coding "gzip" was removed, and the header says "br, gzip"`),
		Entry("a body that was withheld", replace(`"size":19,"body"`, `"size":19,"withheld":true,"body"`), `^evidence line 6: exchange "info.ok": the body was withheld, and 19 bytes of it are here`),
		Entry("an answer that is gone", func(s string) string {
			before, rest, _ := strings.Cut(s, `"response":{"proto":"HTTP/1.1","status":304`)
			_, after, _ := strings.Cut(rest, `"attempts"`)
			return before + `"attempts"` + after
		}, `^evidence line 8: exchange "info.empty": expected either a response or a failure`),
		Entry("a time before the run", replace(`"started":"2026-03-01T12:00:00.123456789Z","durationNs"`, `"started":"2026-03-01T11:59:00.123456789Z","durationNs"`),
			`^evidence line 4: exchange "token.ok" started at 2026-03-01T11:59:00.123456789Z, before the run, which started at 2026-03-01T12:00:00.123456789Z`),
		Entry("a time after its record", replace(`"started":"2026-03-01T12:00:00.123456789Z","durationNs"`, `"started":"2026-03-01T12:59:00.123456789Z","durationNs"`),
			`^evidence line 4: exchange "token.ok" ended at 2026-03-01T12:59:00.126456789Z, after it was recorded at 2026-03-01T12:00:01.123456789Z`),
		Entry("a duration", replace(`"durationNs":3000000`, `"durationNs":-3000000`), `^evidence line 4: exchange "token.ok" took -3ms, which is negative`),
		Entry("a handshake after its record", replace(`"started":"2026-03-01T12:00:00.124456789Z"`, `"started":"2026-03-01T12:00:10.124456789Z"`), `^evidence line 9: handshake "tls/info.modern" ended`),
		Entry("the host of a handshake", replace(`"serverName":"::1"`, `"serverName":"::2"`), `^evidence line 9: handshake "tls/info.modern" was made for "::2", at the address "\[::1\]:443"`),
		Entry("records in another order", func(s string) string {
			lines := strings.SplitAfter(strings.Replace(s, `{"at":"2026-03-01T12:00:01.123456789Z","kind":"handshake"`, `{"at":"2026-03-01T12:00:02.123456789Z","kind":"handshake"`, 1), "\n")
			return strings.Join(lines, "")
		}, `^evidence line 10: the not-sent record was recorded at 2026-03-01T12:00:01.123456789Z, before the record above it, which is of 2026-03-01T12:00:02.123456789Z`),
		Entry("a record without a time", replace(`{"at":"2026-03-01T12:00:01.123456789Z","kind":"handshake"`, `{"kind":"handshake"`), `^evidence line 9: handshake "tls/info.modern" was recorded at 0001-`),
		Entry("a run that began after its record", replace(`"started":"2026-03-01T12:00:00.123456789Z","profile"`, `"started":"2026-03-01T12:00:09.123456789Z","profile"`), `^evidence line 1: the run started at`),
		Entry("an exchange that is gone", func(s string) string { return without(s, `"exchange":{"label":"info.head"`) },
			`^evidence: 1 planned label without an exchange and without a reason why it was not sent: "info.head"`),
		Entry("a reason that is gone", func(s string) string { return without(s, `"notSent":{"label":"spec.ok"`) }, `^evidence: 1 planned label without .*: "spec.ok"`),
		Entry("an exchange that was added", replace(`"requests":5`, `"requests":4`), `^evidence: 5 requests recorded, and 4 sent`),
		Entry("an exchange twice", func(s string) string {
			lines := strings.SplitAfter(s, "\n")
			return strings.Join(append(lines[:7], lines[6:]...), "")
		}, `^evidence line 8: label "info.head" has an exchange already`),
	)

	It("may lack requests if the run broke off", func() {
		for _, text := range []string{without(without(run(), `"ended"`), "info.head"), strings.Replace(without(run(), `"label":"info.head"`), `"complete":true`, `"complete":false`, 1)} {
			_, err := evidence.ReadLog(strings.NewReader(text))
			Expect(err).NotTo(HaveOccurred())
		}
	})

	DescribeTable("is refused in version 1, too, as far as that can be checked",
		func(lines, message string) {
			_, err := evidence.ReadLog(strings.NewReader(runLine + lines))
			var contradiction *evidence.Inconsistency
			Expect(errors.As(err, &contradiction)).To(BeTrue(), "%v", err)
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("kept length", `{"kind":"exchange","exchange":{"label":"a.ok","response":{"body":"abc","size":4}}}`, `line 2: exchange "a.ok": 4 bytes of the body were read, and 3 bytes are here`),
		Entry("Content-Length", `{"kind":"exchange","exchange":{"label":"a.ok","response":{"header":[{"name":"Content-Length","value":"4"}],"body":"abc","size":3}}}`, `Content-Length is 4, and 3 bytes came`),
		Entry("duration", `{"kind":"exchange","exchange":{"label":"a.ok","durationNs":-1}}`, `exchange "a.ok" took -1ns`),
		Entry("a label that is gone", `{"kind":"plan","plan":["a.ok","b.ok"]}`+"\n"+`{"kind":"ended","ended":{"complete":true}}`, `2 planned labels without an exchange and without a reason why it was not sent: "a.ok", "b.ok"`),
	)
})

func replace(old, changed string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, changed, 1) }
}
