package evidence_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
)

// noise returns text that hardly compresses.
func noise(size int) string {
	data := make([]byte, size*3/4)
	source := rand.NewChaCha8([32]byte{})
	_, _ = source.Read(data)
	return base64.StdEncoding.EncodeToString(data)
}

var _ = Describe("Writer", func() {
	It("writes lines of JSON, each body once and before its first exchange", func() {
		var file bytes.Buffer
		j := evidence.NewJournal(evidence.NewWriter(&file, clock))
		j.Begin(evidence.Run{Suite: "test", Started: start, Seed: "7"})
		for _, label := range []evidence.Label{"token.ok", "token.basic"} {
			x := answered(label, 200)
			x.Request.Body = evidence.Body("grant_type=client_credentials")
			x.Response = response(200, `{"a":"\u202e"}`)
			j.Add(x)
		}
		other := answered("info.ok", 200)
		other.Response = response(200, "\xff\x00")
		j.Add(other)
		Expect(j.Err()).NotTo(HaveOccurred())
		Expect(strings.Split(strings.TrimSpace(conformancetest.Text(file.Bytes())), "\n")).To(HaveExactElements(
			And(HavePrefix(`{"at":"2026-03-01T12:00:01.123456789Z","kind":"run","run":{"schema":"rin.evidence/v2"`), HaveSuffix(`"seed":"7"}}`)),
			MatchRegexp(`^\{"kind":"body","body":\{"digest":"sha256:[0-9a-f]{64}","size":29,"content":"grant_type=client_credentials"\}\}$`),
			MatchRegexp(`^\{"kind":"body","body":\{"digest":"sha256:[0-9a-f]{64}","size":14,"content":"\{\\"a\\":\\"\\\\u202e\\"\}"\}\}$`),
			MatchRegexp(`^\{"at":"[^"]+","kind":"exchange","exchange":\{"label":"token.ok",.*"body":"sha256:[0-9a-f]{64}".*"wire":14,"size":14,"body":"sha256:[0-9a-f]{64}"\}\}\}$`),
			ContainSubstring(`"exchange":{"label":"token.basic"`),
			MatchRegexp(`"size":2,"content":\{"base64":"/wA="\}\}\}$`),
			ContainSubstring(`"exchange":{"label":"info.ok"`),
		))
	})

	It("writes every body so that it is read back unchanged", func() {
		var file bytes.Buffer
		j := evidence.NewJournal(evidence.NewWriter(&file, clock))
		j.Begin(evidence.Run{Started: start})
		for i, body := range []string{
			"", "a", strings.Repeat("\u00fc", 40<<10), "x" + strings.Repeat("\u20ac", 40<<10), "xx" + strings.Repeat("\U0001f600\"\\\n\u2028\u202e\x7f", 20<<10),
			strings.Repeat("\x00", 200<<10), strings.Repeat("\xc3", 100<<10), noise(300 << 10),
		} {
			x := answered(evidence.Label(fmt.Sprintf("info.%d", i)), 200)
			x.Response = response(200, body)
			j.Add(x)
		}
		Expect(j.Err()).NotTo(HaveOccurred())
		Expect(strings.ContainsFunc(strings.ReplaceAll(conformancetest.Text(file.Bytes()), "\n", ""), evidence.Deceptive)).To(BeFalse())
		Expect(evidence.ReadLog(&file)).To(Equal(j.Log()))
	})

	It("writes each record at once, and nothing after a write that failed", func() {
		var writes int
		j := evidence.NewJournal(evidence.NewWriter(writer(func(p []byte) (int, error) {
			if writes++; writes == 2 {
				return 0, io.ErrShortWrite
			}
			return len(p), nil
		}), clock))
		j.Begin(evidence.Run{})
		Expect(writes).To(Equal(1))
		j.Add(answered("info.ok", 200))
		j.Add(answered("info.head", 200))
		Expect(writes).To(Equal(2))
		Expect(j.Err()).To(MatchError(ContainSubstring("write evidence: short write")))
	})

	It("never dates a record before what it holds, whatever the clock says", func() {
		var file bytes.Buffer
		now := start.Add(time.Minute)
		j := evidence.NewJournal(evidence.NewWriter(&file, func() time.Time { return now }))
		j.Begin(evidence.Run{Started: start})
		now = start.Add(-time.Hour) // the machine's clock was set back
		j.Add(answered("info.ok", 200))
		late := answered("info.head", 200)
		late.Started = start.Add(2 * time.Hour)
		j.Add(late)
		j.Handshake(evidence.Handshake{Label: "tls/info.modern", Started: start.Add(3 * time.Hour), Duration: time.Second})
		Expect(j.Err()).NotTo(HaveOccurred())
		Expect(evidence.ReadLog(&file)).To(Equal(j.Log()))
	})
})

// writer is a function as a writer.
type writer func([]byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

// BenchmarkEvidence measures writing and reading a run whose bodies are of 1 MB and all differ.
func BenchmarkEvidence(b *testing.B) {
	const size, exchanges = 1 << 20, 32
	bodies := make([]string, exchanges)
	for i := range bodies {
		bodies[i] = strings.Repeat(fmt.Sprintf(`{"id":"%d","title":"Junge Köpfe"},`, i), size/34)
	}
	var file bytes.Buffer
	var length int
	b.SetBytes(size * exchanges)
	b.ReportAllocs()
	for b.Loop() {
		j := evidence.NewJournal(evidence.NewWriter(&file, clock))
		j.Begin(evidence.Run{Started: start})
		for i, body := range bodies {
			x := answered(evidence.Label(fmt.Sprintf("op/list.%d", i)), 200)
			x.Response = response(200, body)
			j.Add(x)
		}
		length = file.Len()
		if _, err := evidence.ReadLog(&file); err != nil || j.Err() != nil {
			b.Fatal(err, j.Err())
		}
		file.Reset()
	}
	b.ReportMetric(float64(length)/(size*exchanges), "file/bodies")
}
