package evidence_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
)

// FuzzCut checks that a recording that broke off anywhere is mended or refused, and that a mended one reads the same again.
func FuzzCut(f *testing.F) {
	whole := string(recording())
	for _, at := range []int{0, 1, len(whole) / 3, len(whole) / 2, len(whole) - 1, len(whole)} {
		f.Add([]byte(whole[:at]), "out of memory")
	}
	f.Add([]byte(whole[:len(whole)/2]), "\x1b[31m\u202e")
	path := filepath.Join(f.TempDir(), "evidence.jsonl.gz")
	f.Fuzz(func(t *testing.T, text []byte, cause string) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		log, err := evidence.Repair(file, cause)
		if err != nil {
			return
		}
		mended, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		again, err := evidence.ReadLog(bytes.NewReader(mended))
		if err != nil || again.Ended == nil || log.Ended == nil || len(again.Exchanges) != len(log.Exchanges) {
			t.Fatalf("mended to %q, which reads as %+v, %v", mended, again, err)
		}
	})
}

// FuzzWriteHAR checks that a HAR file and a line of evidence are one JSON document each, without characters that act on a terminal, whatever was recorded.
func FuzzWriteHAR(f *testing.F) {
	f.Add("https://node.example/a?b=%zz&c", "X-A", "b\x1b[31m", []byte(`{"a":"\u009b\u202e"}`))
	f.Add("://", "Set-Cookie", "session=0123456789abcdef; Path=/", []byte("\x00\xff"))
	f.Add("\x1b", "Location", "//\u2028", []byte("\u2028\x7f\u200b"))
	f.Fuzz(func(t *testing.T, address, name, value string, body []byte) {
		var recorded, archive bytes.Buffer
		j := evidence.NewJournal(evidence.NewWriter(&recorded, clock))
		j.Begin(evidence.Run{})
		x := answered("info.ok", 200)
		x.Request.URL = address
		x.Redirects = []evidence.Hop{{URL: address, Status: 302, Location: value}}
		x.Response = response(200, string(body))
		x.Response.Header = []evidence.Field{{Name: name, Value: value}}
		j.Add(x.Redacted(redact.New(nil)))
		if err := evidence.WriteHAR(&archive, j.Log(), "1"); err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(conformancetest.Text(recorded.Bytes())) {
			if !json.Valid([]byte(line)) || strings.ContainsFunc(strings.TrimSuffix(line, "\n"), evidence.Deceptive) {
				t.Fatalf("evidence line %q", line)
			}
		}
		if !json.Valid(archive.Bytes()) || strings.ContainsFunc(strings.ReplaceAll(archive.String(), "\n", ""), evidence.Deceptive) {
			t.Fatalf("archive %q", archive.String())
		}
		if _, err := evidence.ReadLog(&recorded); err != nil && !strings.HasPrefix(http.CanonicalHeaderKey(name), "Content-") {
			t.Fatal(err) // a length or a coding would contradict the body
		}
	})
}

// FuzzSetCookie checks that the recorded exchange does not contain the value of a session cookie, whatever the rest of the header line is.
func FuzzSetCookie(f *testing.F) {
	f.Add("session", "; Path=/; HttpOnly")
	f.Add("\x1b", "; Expires=\xff")
	f.Add("a=b", ";;=")
	f.Add("", "")
	f.Fuzz(func(t *testing.T, name, attributes string) {
		const session = "4f9a02c7d1e84b3f"
		if strings.ContainsAny(name, "=;") || attributes != "" && attributes[0] != ';' {
			return // the value is another one
		}
		x := answered("info.ok", 200)
		x.Response.Header = []evidence.Field{{Name: "set-cookie", Value: name + "=" + session + attributes}}
		x.Response.Body = evidence.Body("session " + session)
		out, err := json.Marshal(x.Redacted(redact.New(nil)))
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(out, []byte(session)) {
			t.Fatalf("the session is in %s", out)
		}
	})
}
