//go:build unix

package worker_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite/worker"
)

// certify runs a job in a real child.
func certify(job worker.Options) (worker.Ending, []worker.Event) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, errors.New("the test took too long"))
	defer cancel()
	var events []worker.Event
	job.Worker, job.OnEvent = child("serve"), func(e worker.Event) { events = append(events, e) }
	end, err := worker.Run(ctx, job)
	Expect(err).NotTo(HaveOccurred())
	return end, events
}

var _ = Describe("A certification in a child", func() {
	It("says how far it slows down for a busy node", func() {
		var calls atomic.Int32
		_, events := certify(jobAt(newNode(func(w http.ResponseWriter, _ *http.Request) {
			if calls.Add(1) == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			_, _ = w.Write([]byte(`{"endpoints":{}}`))
		})))
		Expect(events).To(ContainElement(And(HaveField("Kind", worker.Slowed), HaveField("Slowdown", HaveValue(HaveField("Status", 503))))))
	})

	It("reports plan, progress and judgements, and leaves complete evidence that gives the same judgements", func() {
		job := jobAt(newNode(nil))
		end, events := certify(job)
		Expect(end.Cause).To(BeEmpty(), end.Stderr)
		Expect(end.Finished).To(BeTrue())
		Expect(end.Stderr).To(BeEmpty())

		log := evidenceOf(job)
		Expect(log.Ended.Complete).To(BeTrue())
		Expect(log.Run.Suite).To(Equal("test"))
		first := slices.IndexFunc(events, func(e worker.Event) bool { return e.Kind != worker.Judged })
		Expect(events[first].Kind).To(Equal(worker.Planned))
		Expect(events[first].Budget).To(Equal(log.Run.Budget))
		Expect(events[len(events)-1].Kind).To(Equal(worker.Finished))

		progress, live := 0, map[requirement.ID]requirement.Judgement{}
		for _, e := range events {
			switch e.Kind {
			case worker.Progress:
				progress++
			case worker.Judged:
				live[e.ID] = *e.Judgement
			}
		}
		Expect(progress).To(Equal(len(log.Planned)))
		again, expected := requirement.JudgeAll(requirement.Catalogue(), requirement.Read(log)), 0
		for _, r := range requirement.Catalogue() {
			if requirement.Auth.Includes(r.Profile) {
				expected++
				Expect(live).To(HaveKeyWithValue(r.ID, again[r.ID]))
			}
		}
		Expect(live).To(HaveLen(expected))
	})

	It("judges only what a partial run asks for", func() {
		job := jobAt(newNode(nil))
		job.Target.Only = []string{"TOK-01", "TER-01"}
		_, events := certify(job)
		var judged []requirement.ID
		for _, e := range events {
			if e.Kind == worker.Judged {
				judged = append(judged, e.ID)
			}
		}
		Expect(judged).To(Equal([]requirement.ID{"TOK-01", "TER-01"}))
	})

	It("gives up when it exceeds its memory limit, with the cause and what was recorded until then", func() {
		job := jobAt(newNode(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			chunk := []byte(strings.Repeat(`{"a":{}},`, 1<<12))
			_, _ = w.Write([]byte("["))
			for range 4 << 20 / len(chunk) {
				if _, err := w.Write(chunk); err != nil {
					return
				}
			}
			_, _ = w.Write([]byte("{}]"))
		}))
		job.Memory = 24 << 20
		end, _ := certify(job)
		Expect(end.Finished).To(BeFalse())
		Expect(end.Cause).To(Equal("reading the node took more than 24 MB of memory; the run was stopped there"))
		Expect(end.Stderr).To(BeEmpty())
		log := evidenceOf(job)
		Expect(log.Ended).To(BeNil())
		x, answered := log.Get("token.ok")
		Expect(answered).To(BeTrue())
		Expect(x.Status()).To(Equal(http.StatusOK))
	})

	It("fails with the cause when the evidence can't be kept", func() {
		job := jobAt(newNode(nil))
		job.Evidence += "/in/no/folder"
		end, events := certify(job)
		Expect(end.Cause).To(Equal("the worker ended early: exit status 1"))
		Expect(end.Stderr).To(ContainSubstring("create the evidence file"))
		Expect(events).To(BeEmpty())
	})

	Context("of a node that never answers", func() {
		var job worker.Options
		var asked chan struct{}
		BeforeEach(func() {
			asked = make(chan struct{})
			var once sync.Once
			job = jobAt(newNode(func(_ http.ResponseWriter, r *http.Request) {
				once.Do(func() { close(asked) })
				<-r.Context().Done()
			}))
		})

		It("ends when its parent is gone, and says so in the evidence", func() {
			cmd, closeStdin := startChild(job)
			Eventually(asked).WithTimeout(patience).Should(BeClosed())
			Expect(closeStdin()).To(Succeed())
			Expect(cmd.Wait()).To(Succeed())
			Expect(evidenceOf(job).Ended.Complete).To(BeFalse())
			Expect(evidenceOf(job).Ended.Cause).To(Equal("the parent closed the worker's input"))
		})

		It("ends its evidence when it is asked to terminate", func() {
			cmd, _ := startChild(job)
			Eventually(asked).WithTimeout(patience).Should(BeClosed())
			Expect(cmd.Process.Signal(syscall.SIGTERM)).To(Succeed())
			Expect(cmd.Wait()).To(Succeed())
			Expect(evidenceOf(job).Ended.Complete).To(BeFalse())
			Expect(evidenceOf(job).Ended.Cause).NotTo(BeEmpty())
		})
	})
})

var _ = Describe("The job", func() {
	DescribeTable("is refused without being quoted",
		func(input, says string) {
			var events strings.Builder
			err := worker.Serve(context.Background(), strings.NewReader(input), &events)
			Expect(err).To(MatchError(And(ContainSubstring("read the job from stdin"), ContainSubstring(says), Not(ContainSubstring(secret)))))
			Expect(events.String()).To(BeEmpty())
		},
		Entry("nothing", "", "EOF"),
		Entry("a line without an end", `{"suite":"`+secret+`"}`, "EOF"),
		Entry("text that is not JSON", secret+"\n", "not a job of this version"),
		Entry("a secret of another type", `{"target":{"credentials":{"clientSecret":["`+secret+`"]}}}`+"\n", "not a job of this version"),
		Entry("a secret in the place of a number", `{"memory":"`+secret+`"}`+"\n", "not a job of this version"),
		Entry("too much", strings.Repeat(secret, 4<<20/len(secret)+1), "longer than 4194304 bytes"),
	)

	It("is read up to its line's end, without waiting for more", func() {
		in, out, err := os.Pipe()
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { _ = in.Close(); _ = out.Close() })
		_, err = out.WriteString("garbage\n")
		Expect(err).NotTo(HaveOccurred())
		Expect(worker.Serve(context.Background(), in, &strings.Builder{})).To(MatchError(ContainSubstring("not a job")))
	})
})
