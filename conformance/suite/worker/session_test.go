package worker_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing/iotest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
)

// sessionStart is the time that the clock of these sessions shows.
var sessionStart = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// diskFull is a writer that always fails.
type diskFull struct{}

func (diskFull) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func describedNode(document string) *conformancetest.Node {
	return conformancetest.Start(GinkgoT(), func(n *conformancetest.Node) { n.Document = document })
}

// open prepares a session about a node with a fixed clock and known random bytes.
func open(n *conformancetest.Node, change ...func(*worker.Options)) (*worker.Session, *bytes.Buffer) {
	GinkgoHelper()
	evidence := &bytes.Buffer{}
	o := worker.Options{Inputs: probe.Inputs{
		Target: n.Target(), Suite: "test",
		Clock: func() time.Time { return sessionStart }, Random: rand.NewChaCha8([32]byte{1}),
	}}
	for _, c := range change {
		c(&o)
	}
	s, err := worker.NewSession(o, evidence)
	Expect(err).NotTo(HaveOccurred())
	return s, evidence
}

func run(s *worker.Session) *evidence.Log {
	GinkgoHelper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), 3*time.Minute, errors.New("the test took too long"))
	defer cancel()
	Expect(s.Run(ctx)).To(Succeed())
	Expect(s.Err()).NotTo(HaveOccurred())
	return s.Log()
}

func only(ids ...string) func(*worker.Options) {
	return func(o *worker.Options) { o.Target.Only = ids }
}

var _ = Describe("A session", func() {
	It("sends nothing before it runs", func() {
		n := describedNode(conformancetest.Document)
		open(n)
		Expect(n.Requests()).To(BeEmpty())
	})

	It("yields a complete log, the same that its evidence holds", func() {
		n := describedNode(conformancetest.Document)
		s, recorded := open(n)
		log := run(s)
		Expect(log.Ended).To(Equal(&evidence.Ended{Complete: true, Requests: len(n.Requests())}))
		for _, label := range log.Planned {
			_, sent := log.Get(label)
			_, skipped := log.Skipped(label)
			Expect(sent || skipped).To(BeTrue(), string(label))
		}
		Expect(s.Wait(context.Background())).To(Succeed())
		Expect(log.Run.Suite).To(Equal("test"))
		again, err := evidence.ReadLog(bytes.NewReader(recorded.Bytes()))
		Expect(err).NotTo(HaveOccurred())
		Expect(again).To(Equal(log))
	})

	It("judges the answers by the document", func() {
		s, _ := open(describedNode(conformancetest.Document))
		log := run(s)
		Expect(log.Document.Invalid).To(BeEmpty())
		f, ok := log.FindingsOf("op/listFundings.ok")
		Expect(ok).To(BeTrue())
		Expect(f.Judged).To(BeTrue(), f.Why)
		Expect(f.Findings).To(ContainElement(And(HaveField("Path", "$[1].id"), HaveField("Expected", "string"))))
	})

	It("lists what keeps a document from being used", func() {
		s, _ := open(describedNode(strings.Replace(conformancetest.Document, `"description":"the calls",`, "", 1)))
		Expect(run(s).Document.Invalid).To(ContainElement(ContainSubstring("description")))
	})

	It("keeps secrets and tokens out of the evidence", func() {
		s, recorded := open(describedNode(conformancetest.Document))
		run(s)
		text := conformancetest.Text(recorded.Bytes())
		Expect(text).To(And(ContainSubstring("[[client_secret:"), ContainSubstring("[[access_token:")))
		Expect(text).To(And(Not(ContainSubstring(conformancetest.ClientSecret)), Not(ContainSubstring(conformancetest.AccessToken))))
	})

	It("sends in a partial run only the requests that its requirements read and that discovery needs", func() {
		whole, part := describedNode(conformancetest.Document), describedNode(conformancetest.Document)
		full, _ := open(whole)
		run(full)
		s, _ := open(part, only("TOK-13"))
		log := run(s)
		_, sent := log.Get("token.basic")
		Expect(sent).To(BeTrue())
		_, sent = log.Get("info.garbage")
		Expect(sent).To(BeFalse())
		Expect(len(part.Requests())).To(BeNumerically("<", len(whole.Requests())/2))
		Expect(log.Run.Only).To(Equal([]string{"TOK-13"}))
	})

	It("reports a budget at first, the final budget after it has the document, and each label that ended", func() {
		planned, ended := []int(nil), map[evidence.Label]int{}
		s, _ := open(describedNode(conformancetest.Document), func(o *worker.Options) {
			var mu sync.Mutex
			o.OnEvent = func(e worker.Event) {
				mu.Lock()
				defer mu.Unlock()
				if e.Kind == worker.Progress {
					ended[e.Label]++
					return
				}
				planned = append(planned, e.Budget)
				Expect(e.Politeness.Concurrency).To(Equal(target.LoopbackConcurrency))
			}
		})
		log := run(s)
		Expect(planned).To(HaveLen(2))
		Expect(planned[0]).To(BeNumerically("<", planned[1]))
		Expect(planned[1]).To(Equal(log.Run.Budget))
		Expect(ended).To(HaveLen(len(log.Planned)))
	})

	It("takes time and randomness from its options", func() {
		fingerprint := func(seed byte) (*evidence.Log, string) {
			s, evidence := open(describedNode(conformancetest.Document), only("TER-01"), func(o *worker.Options) { o.Random = rand.NewChaCha8([32]byte{seed}) })
			log := run(s)
			_, after, _ := strings.Cut(conformancetest.Text(evidence.Bytes()), "[[client_secret:")
			return log, after[:8]
		}
		log, first := fingerprint(1)
		Expect(log.Run.Started).To(Equal(sessionStart))
		for _, x := range log.Exchanges {
			Expect(x.Started).To(Equal(sessionStart))
		}
		_, again := fingerprint(1)
		_, other := fingerprint(2)
		Expect(again).To(Equal(first))
		Expect(other).NotTo(Equal(first), "fingerprints of two runs cannot be compared")
	})

	It("fails when there is no randomness", func() {
		_, err := worker.NewSession(worker.Options{Inputs: probe.Inputs{Random: iotest.ErrReader(errors.New("no entropy"))}}, nil)
		Expect(err).To(MatchError(And(ContainSubstring("salt"), ContainSubstring("no entropy"))))
	})

	It("fails when evidence cannot be written, and keeps it in memory", func() {
		s, err := worker.NewSession(worker.Options{Inputs: probe.Inputs{Target: describedNode(conformancetest.Document).Target()}}, diskFull{})
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Run(context.Background())).To(MatchError(ContainSubstring("no space left on device")))
		Expect(s.Err()).To(MatchError(ContainSubstring("no space left on device")))
		Expect(s.Log().Ended).NotTo(BeNil())
	})

	It("works without an evidence file", func() {
		s, err := worker.NewSession(worker.Options{Inputs: probe.Inputs{Target: describedNode(conformancetest.Document).Target()}}, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(run(s).Ended.Complete).To(BeTrue())
	})

	It("ends with its context, and the evidence says why", func() {
		n := describedNode(conformancetest.Document)
		s, _ := open(n)
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("the operator went home"))
		Expect(s.Run(ctx)).To(Succeed())
		Expect(s.Log().Ended).To(Equal(&evidence.Ended{Cause: "the operator went home"}))
		Expect(n.Requests()).To(BeEmpty())
	})
})

var _ = Describe("The redactor of a target", func() {
	It("knows the secrets of both clients", func() {
		t := describedNode("").Target()
		t.Second = &target.Credentials{ClientID: "second", ClientSecret: target.NewSecret("another-secret-0123456789")}
		text := worker.Redactor(t).Text("a " + conformancetest.ClientSecret + " b another-secret-0123456789")
		Expect(text).To(MatchRegexp(`^a \[\[client_secret:\w{8}:plain\]\] b \[\[client_secret2:\w{8}:plain\]\]$`))
	})
})
