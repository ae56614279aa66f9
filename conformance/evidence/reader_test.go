package evidence_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
)

const (
	runLine  = `{"kind":"run","run":{"schema":"rin.evidence/v1"}}` + "\n"
	runLine2 = `{"at":"2026-03-01T12:00:00Z","kind":"run","run":{"schema":"rin.evidence/v2"}}` + "\n"
)

// recording returns the file of a short complete run.
func recording() []byte {
	var file bytes.Buffer
	j := evidence.NewJournal(evidence.NewWriter(&file, clock))
	j.Begin(evidence.Run{Suite: "test", Started: start})
	j.Plan("info.ok", "info.head")
	j.Add(answered("info.ok", 200))
	j.Skip(evidence.NotSent{Label: "info.head", Kind: evidence.Unmet, Because: "no token"})
	j.End(evidence.Ended{Complete: true, Requests: 1})
	return file.Bytes()
}

// endless repeats one byte for ever.
type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

var _ = Describe("ReadLog", func() {
	It("keeps all complete records of a truncated file", func() {
		whole := recording()
		text := conformancetest.Text(whole)
		for cut := len(text) - 2; cut > strings.Index(text, "\n"); cut-- {
			log, err := evidence.ReadLog(strings.NewReader(text[:cut]))
			Expect(err).NotTo(HaveOccurred(), "text cut at %d", cut)
			_, found := log.Get("info.ok")
			Expect(found).To(Equal(strings.Count(text[:cut+1], "\n") > 3), "text cut at %d", cut)
			Expect(log.Ended).To(BeNil(), "text cut at %d", cut)
		}
		read := 0
		for cut := len(whole) - 20; cut > 0; cut-- {
			log, err := evidence.ReadLog(bytes.NewReader(whole[:cut]))
			if err != nil {
				Expect(err).To(MatchError(ContainSubstring("line 1")), "file cut at %d", cut)
				continue
			}
			read++
			Expect(log.Ended).To(BeNil(), "file cut at %d", cut)
		}
		Expect(read).To(BeNumerically(">", len(whole)/2))
	})

	It("reads a file that was compressed again, as a whole or not at all", func() {
		want, err := evidence.ReadLog(bytes.NewReader(recording()))
		Expect(err).NotTo(HaveOccurred())
		Expect(evidence.ReadLog(bytes.NewReader(zipped(conformancetest.Text(recording()))))).To(Equal(want))
		Expect(evidence.ReadLog(strings.NewReader(conformancetest.Text(recording())))).To(Equal(want))
	})

	DescribeTable("names the line of a faulty record",
		func(text string, message string) {
			_, err := evidence.ReadLog(strings.NewReader(text))
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("nothing", "", "line 1: expected a run record, got nothing"),
		Entry("another file", "<html>", "line 1: read record"),
		Entry("another version", `{"kind":"run","run":{"schema":"rin.evidence/v3"}}`,
			`line 1: expected schema rin.evidence/v2 or rin.evidence/v1, got "rin.evidence/v3": use the version of rin that recorded it`),
		Entry("no run", `{"kind":"plan","plan":["a.ok"]}`+"\n", "line 1: expected the run record first, got a plan record"),
		Entry("another version later", runLine+`{"kind":"run","run":{"schema":"x"}}`+"\n", "line 2: expected schema"),
		Entry("version 1 in version 2", runLine2+runLine, "line 2: expected schema rin.evidence/v2"),
		Entry("damage in the middle", runLine+"{\"kind\"\n"+`{"kind":"ended","ended":{}}`+"\n", "line 2: read record"),
		Entry("a wrong type in the last line", runLine+`{"kind":7}`, "line 2: read record"),
		Entry("an unknown kind", runLine+`{"kind":"gossip"}`+"\n", `line 2: unknown kind of record "gossip"`),
		Entry("an empty exchange", runLine+`{"kind":"exchange"}`+"\n", "line 2: exchange record without its exchange member"),
		Entry("an empty exchange of version 2", runLine2+`{"kind":"exchange"}`+"\n", "line 2: exchange record without its exchange member"),
		Entry("an exchange without label", runLine+`{"kind":"exchange","exchange":{}}`+"\n", "line 2: exchange record without"),
		Entry("an exchange of version 2 without members", runLine2+`{"kind":"exchange","exchange":{}}`+"\n", "line 2: exchange record without"),
		Entry("a body in version 1", runLine+`{"kind":"body"}`+"\n", `line 2: unknown kind of record "body"`),
		Entry("an empty body record", runLine2+`{"kind":"body"}`+"\n", "line 2: body record without its body member"),
		Entry("a label twice", runLine+strings.Repeat(`{"kind":"exchange","exchange":{"label":"a.ok"}}`+"\n", 2), `line 3: label "a.ok" has an exchange already`),
		Entry("records after the end", runLine+strings.Repeat(`{"kind":"ended","ended":{}}`+"\n", 2), "line 3: ended record: the run has ended"),
	)

	It("uses the last run record, which has the URLs of the registry", func() {
		log, err := evidence.ReadLog(strings.NewReader(runLine + `{"kind":"run","run":{"schema":"rin.evidence/v1","infoUrl":"https://node.example/info"}}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(log.Run.InfoURL).To(Equal("https://node.example/info"))
	})

	It("reads what version 1 recorded, and gives the same log from version 2", func() {
		file, err := os.Open(filepath.Join("testdata", "v1.jsonl"))
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		old, err := evidence.ReadLog(file)
		Expect(err).NotTo(HaveOccurred())
		Expect(old.Run.Schema).To(Equal(evidence.SchemaV1))
		Expect(old.Exchanges).To(HaveLen(8))
		x, _ := old.Get("token.ok")
		Expect(string(x.Response.Body)).To(ContainSubstring(`"access_token":"[[access_token:`))

		again, err := evidence.ReadLog(bytes.NewReader(rerecorded(old)))
		Expect(err).NotTo(HaveOccurred())
		Expect(again.Run.Schema).To(Equal(evidence.Schema))
		again.Run.Schema = evidence.SchemaV1
		for i := range again.Exchanges {
			Expect(again.Exchanges[i].Response.Wire).NotTo(BeZero())
			again.Exchanges[i].Response.Wire = 0
		}
		Expect(again).To(Equal(old))
	})

	It("reads lines that are longer than what is read ahead, and many short ones between them", func() {
		var file bytes.Buffer
		j := evidence.NewJournal(evidence.NewWriter(&file, clock))
		j.Begin(evidence.Run{Suite: "test", Started: start})
		for i := range 300 {
			x := answered(evidence.Label(fmt.Sprintf("info.n%d", i)), 200)
			if i%100 == 50 {
				x.Response.Body = bytes.Repeat([]byte{'a' + byte(i/100)}, 3<<20)
			}
			x.Response.Size, x.Response.Wire = int64(len(x.Response.Body)), int64(len(x.Response.Body))
			j.Add(x)
		}
		j.End(evidence.Ended{Complete: true, Requests: 300})
		Expect(j.Err()).NotTo(HaveOccurred())
		log, err := evidence.ReadLog(&file)
		Expect(err).NotTo(HaveOccurred())
		Expect(log.Exchanges).To(HaveLen(300))
		x, _ := log.Get("info.n250")
		Expect(string(x.Response.Body[:3])).To(Equal("ccc"))
		Expect(log.Ended.Complete).To(BeTrue())
	})

	It("refuses a compressed file that is damaged", func() {
		file := recording()
		file[len(file)-30] ^= 0x40
		_, err := evidence.ReadLog(bytes.NewReader(file))
		Expect(err).To(MatchError(MatchRegexp(`^evidence line \d: `)))
		_, err = evidence.ReadLog(bytes.NewReader(append(recording(), "junk at the end"...)))
		Expect(err).To(MatchError(ContainSubstring("gzip: invalid header")))
	})
})

// zipped returns a text as one gzip member.
func zipped(text string) []byte {
	GinkgoHelper()
	var file bytes.Buffer
	z := gzip.NewWriter(&file)
	_, err := io.WriteString(z, text)
	Expect(errors.Join(err, z.Close())).NotTo(HaveOccurred())
	return file.Bytes()
}

// rerecorded returns the file that a journal writes of a log of version 1.
func rerecorded(log *evidence.Log) []byte {
	GinkgoHelper()
	var file bytes.Buffer
	j := evidence.NewJournal(evidence.NewWriter(&file, func() time.Time { return log.Run.Started }))
	j.Begin(log.Run)
	j.Plan(log.Planned...)
	j.Roles(log.Roles)
	j.Document(log.Document)
	for _, x := range log.Exchanges {
		if x.Response != nil {
			answer := *x.Response
			answer.Wire = answer.Size
			x.Response = &answer
		}
		j.Add(x)
	}
	for _, n := range log.NotSent {
		j.Skip(n)
	}
	for _, f := range log.Findings {
		j.AddFindings(f)
	}
	j.End(*log.Ended)
	Expect(j.Err()).NotTo(HaveOccurred())
	return file.Bytes()
}

func FuzzReadLog(f *testing.F) {
	f.Add(recording())
	f.Add([]byte(conformancetest.Text(recording())))
	f.Add([]byte(runLine + `{"kind":"roles","roles":{"probeTarget":"info"}}`))
	f.Add([]byte(runLine + `{"kind":"exchange","exchange":{"label":"a","response":{"body":{"base64":"/w=="}}}}`))
	f.Add([]byte(runLine2 + `{"kind":"body","body":{"digest":"sha256:a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89","size":1,"content":{"base64":"/w=="}}}` + "\n" +
		`{"at":"2026-03-01T12:00:00Z","kind":"exchange","exchange":{"label":"a","response":{"wire":1,"size":1,"body":"sha256:a8100ae6aa1940d0b663bb31cd466142ebbdbd5187131b92d93818987832eb89"}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := evidence.ReadLog(bytes.NewReader(data))
		if (log == nil) == (err == nil) {
			t.Fatalf("expected a log or an error, got %v, %v", log, err)
		}
		if err == nil {
			if err := evidence.WriteHAR(io.Discard, log, "fuzz"); err != nil {
				t.Fatal(err)
			}
			for _, x := range log.Exchanges {
				evidence.Curl(x)
			}
		}
	})
}

var _ = Describe("Repair", func() {
	// cut repairs a file with that content, and returns what it holds then.
	cut := func(content []byte, cause string) (*evidence.Log, []byte, error) {
		GinkgoHelper()
		path := filepath.Join(GinkgoT().TempDir(), "evidence.jsonl.gz")
		Expect(os.WriteFile(path, content, 0o600)).To(Succeed())
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		log, cutErr := evidence.Repair(file, cause)
		after, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		return log, after, cutErr
	}

	It("removes an incomplete record and appends the cause", func() {
		whole := recording()
		var ends []int // of records
		for at := range whole {
			if bytes.HasPrefix(whole[at:], []byte{0x1f, 0x8b, 8}) {
				ends = append(ends, at)
			}
		}
		Expect(ends).To(HaveLen(6), "a body and five other records begin here")
		broken := whole[:ends[5]] // without the end
		for tail := range len(whole) - ends[5] {
			log, after, err := cut(whole[:ends[5]+tail], "out of memory")
			Expect(err).NotTo(HaveOccurred(), "%d bytes of the last record", tail)
			Expect(log.Exchanges).To(HaveLen(1))
			Expect(log.Ended).To(Equal(&evidence.Ended{Cause: "out of memory", Requests: 1}))
			Expect(bytes.HasPrefix(after, broken)).To(BeTrue())
			again, err := evidence.ReadLog(bytes.NewReader(after))
			Expect(err).NotTo(HaveOccurred())
			Expect(again).To(Equal(log))
		}
	})

	It("removes an incomplete record that is longer than what is read at once", func() {
		var file bytes.Buffer
		j := evidence.NewJournal(evidence.NewWriter(&file, clock))
		j.Begin(evidence.Run{Started: start})
		kept := file.Len()
		x := answered("info.ok", 200)
		x.Response = response(200, noise(1<<20))
		j.Add(x)
		log, after, err := cut(file.Bytes()[:file.Len()/2], "out of memory")
		Expect(err).NotTo(HaveOccurred())
		Expect(log.Exchanges).To(BeEmpty())
		Expect(after[:kept]).To(Equal(file.Bytes()[:kept]))
		Expect(evidence.ReadLog(bytes.NewReader(after))).To(Equal(log))
	})

	It("keeps a complete recording unchanged", func() {
		log, after, err := cut(recording(), "late")
		Expect(err).NotTo(HaveOccurred())
		Expect(after).To(Equal(recording()))
		Expect(log.Ended.Cause).NotTo(Equal("late"))
	})

	It("refuses other files", func() {
		for _, text := range []string{"", "{", "<html>\n", "<html>\n<body", "\x1f\x8b", "\x1f\x8bjunk"} {
			_, _, err := cut([]byte(text), "late")
			Expect(err).To(MatchError(ContainSubstring("line 1")), text)
		}
	})
})
