package evidence_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
)

const runLine = `{"kind":"run","run":{"schema":"rin.evidence/v1"}}` + "\n"

func recording() string {
	var file bytes.Buffer
	j := evidence.NewJournal(&file)
	j.Begin(evidence.Run{Suite: "test", Started: start})
	j.Plan("info.ok", "info.head")
	j.Add(answered("info.ok", 200))
	j.Skip(evidence.NotSent{Label: "info.head", Kind: evidence.Unmet, Because: "no token"})
	j.End(evidence.Ended{Complete: true})
	return file.String()
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
	It("keeps all complete lines of a truncated file", func() {
		whole := recording()
		runEnds := strings.Index(whole, "\n") + 1
		for cut := runEnds; cut < len(whole)-1; cut++ {
			log, err := evidence.ReadLog(strings.NewReader(whole[:cut]))
			Expect(err).NotTo(HaveOccurred(), "cut at %d", cut)
			_, found := log.Get("info.ok")
			Expect(found).To(Equal(strings.Count(whole[:cut+1], "\n") > 2), "cut at %d", cut)
			Expect(log.Ended).To(BeNil(), "cut at %d", cut)
		}
	})

	DescribeTable("names the line of a faulty record",
		func(text string, message string) {
			_, err := evidence.ReadLog(strings.NewReader(text))
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("nothing", "", "line 1: expected a run record, got nothing"),
		Entry("another file", "<html>", "line 1: read record"),
		Entry("another version", `{"kind":"run","run":{"schema":"rin.evidence/v2"}}`, `line 1: expected schema rin.evidence/v1, got "rin.evidence/v2"`),
		Entry("no run", `{"kind":"plan","plan":["a.ok"]}`+"\n", "line 1: expected the run record first, got a plan record"),
		Entry("another version later", runLine+`{"kind":"run","run":{"schema":"x"}}`+"\n", "line 2: expected schema"),
		Entry("damage in the middle", runLine+"{\"kind\"\n"+`{"kind":"ended","ended":{}}`+"\n", "line 2: read record"),
		Entry("a wrong type in the last line", runLine+`{"kind":7}`, "line 2: read record"),
		Entry("an unknown kind", runLine+`{"kind":"gossip"}`+"\n", `line 2: unknown kind of record "gossip"`),
		Entry("an empty exchange", runLine+`{"kind":"exchange"}`+"\n", "line 2: exchange record without its exchange member"),
		Entry("an exchange without label", runLine+`{"kind":"exchange","exchange":{}}`+"\n", "line 2: exchange record without"),
		Entry("a label twice", runLine+strings.Repeat(`{"kind":"exchange","exchange":{"label":"a.ok"}}`+"\n", 2), `line 3: label "a.ok" has an exchange already`),
		Entry("records after the end", runLine+strings.Repeat(`{"kind":"ended","ended":{}}`+"\n", 2), "line 3: ended record: the run has ended"),
	)

	It("uses the last run record, which has the URLs of the registry", func() {
		log, err := evidence.ReadLog(strings.NewReader(runLine + `{"kind":"run","run":{"schema":"rin.evidence/v1","infoUrl":"https://node.example/info"}}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(log.Run.InfoURL).To(Equal("https://node.example/info"))
	})

	It("bounds the length of a line", func() {
		_, err := evidence.ReadLog(io.MultiReader(strings.NewReader(runLine), endless('x')))
		Expect(err).To(MatchError(ContainSubstring("line 2: longer than 134217728 bytes")))
	})
})

func FuzzReadLog(f *testing.F) {
	f.Add([]byte(recording()))
	f.Add([]byte(runLine + `{"kind":"roles","roles":{"probeTarget":"info"}}`))
	f.Add([]byte(runLine + `{"kind":"exchange","exchange":{"label":"a","response":{"body":{"base64":"/w=="}}}}`))
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
	// cut mends a file with that text, and returns what it holds then.
	cut := func(text, cause string) (*evidence.Log, string, error) {
		GinkgoHelper()
		path := filepath.Join(GinkgoT().TempDir(), "evidence.jsonl")
		Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		file, err := os.OpenFile(path, os.O_RDWR, 0)
		Expect(err).NotTo(HaveOccurred())
		defer file.Close()
		log, cutErr := evidence.Repair(file, cause)
		after, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		return log, string(after), cutErr
	}

	DescribeTable("removes an incomplete line and appends the cause",
		func(tail string) {
			whole := recording()
			broken := whole[:strings.LastIndex(strings.TrimSuffix(whole, "\n"), "\n")+1]
			log, after, err := cut(broken+tail, "out of memory")
			Expect(err).NotTo(HaveOccurred())
			Expect(log.Exchanges).To(HaveLen(1))
			Expect(log.Ended).To(Equal(&evidence.Ended{Cause: "out of memory", Requests: 1}))
			Expect(after).To(HavePrefix(broken))
			again, err := evidence.ReadLog(strings.NewReader(after))
			Expect(err).NotTo(HaveOccurred())
			Expect(again).To(Equal(log))
		},
		Entry("between two lines", ""),
		Entry("within a short line", `{"kind":"ended","en`),
		Entry("within a line that is longer than what is read at once", `{"kind":"exchange","exchange":{"label":"`+strings.Repeat("x", 200<<10)),
		Entry("before the end of a line that is otherwise whole", `{"kind":"ended","ended":{"complete":true,"requests":1}}`),
	)

	It("keeps a complete recording unchanged", func() {
		log, after, err := cut(recording(), "late")
		Expect(err).NotTo(HaveOccurred())
		Expect(after).To(Equal(recording()))
		Expect(log.Ended.Cause).NotTo(Equal("late"))
	})

	It("refuses other files", func() {
		for _, text := range []string{"", "{", "<html>\n", "<html>\n<body"} {
			_, _, err := cut(text, "late")
			Expect(err).To(MatchError(ContainSubstring("line 1")), text)
		}
	})
})
