package exchange_test

import (
	"bytes"
	"io"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/exchange"
)

const runLine = `{"kind":"run","run":{"schema":"rin.evidence/v1"}}` + "\n"

func recording() string {
	var file bytes.Buffer
	j := exchange.NewJournal(&file)
	j.Begin(exchange.Run{Suite: "test", Started: start})
	j.Plan("info.ok", "info.head")
	j.Add(answered("info.ok", 200))
	j.Skip("info.head", exchange.Unmet, "no token")
	j.End(exchange.Ended{Complete: true})
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
	It("keeps what stands before any cut", func() {
		whole := recording()
		runEnds := strings.Index(whole, "\n") + 1
		for cut := runEnds; cut < len(whole)-1; cut++ {
			log, err := exchange.ReadLog(strings.NewReader(whole[:cut]))
			Expect(err).NotTo(HaveOccurred(), "cut at %d", cut)
			_, found := log.Get("info.ok")
			Expect(found).To(Equal(strings.Count(whole[:cut+1], "\n") > 2), "cut at %d", cut)
			Expect(log.Ended).To(BeNil(), "cut at %d", cut)
		}
	})

	DescribeTable("names the line of what is no evidence",
		func(text string, message string) {
			_, err := exchange.ReadLog(strings.NewReader(text))
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

	It("takes the last run record, which knows the URLs of the registry", func() {
		log, err := exchange.ReadLog(strings.NewReader(runLine + `{"kind":"run","run":{"schema":"rin.evidence/v1","infoUrl":"https://node.example/info"}}`))
		Expect(err).NotTo(HaveOccurred())
		Expect(log.Run.InfoURL).To(Equal("https://node.example/info"))
	})

	It("bounds the length of a line", func() {
		_, err := exchange.ReadLog(io.MultiReader(strings.NewReader(runLine), endless('x')))
		Expect(err).To(MatchError(ContainSubstring("line 2: longer than 134217728 bytes")))
	})
})

func FuzzReadLog(f *testing.F) {
	f.Add([]byte(recording()))
	f.Add([]byte(runLine + `{"kind":"roles","roles":{"probeTarget":"info"}}`))
	f.Add([]byte(runLine + `{"kind":"exchange","exchange":{"label":"a","response":{"body":{"base64":"/w=="}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		log, err := exchange.ReadLog(bytes.NewReader(data))
		if (log == nil) == (err == nil) {
			t.Fatalf("expected a log or an error, got %v, %v", log, err)
		}
		if err == nil {
			if err := exchange.WriteHAR(io.Discard, log, "fuzz"); err != nil {
				t.Fatal(err)
			}
			for _, x := range log.Exchanges {
				exchange.Curl(x)
			}
		}
	})
}
