package registry_test

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
)

// delayedNetwork is a network with delayed checks.
type delayedNetwork struct {
	*network
	// open is a node that accepts any credential after its run, silent a node that does not answer any more; calls counts the requests to both.
	open, silent string
	calls        map[string]int
	waits        []time.Duration
	// body is what the nodes answer; fundings counts the calls that asked for /fundings.
	body     []byte
	fundings int
}

func newDelayedNetwork(policy string) *delayedNetwork {
	GinkgoHelper()
	l := &delayedNetwork{network: newNetwork(policy), calls: map[string]int{}, body: []byte("{}")}
	nodeOf := func(url string) string {
		host, _, _ := strings.Cut(strings.TrimPrefix(url, "https://n"), ".")
		return "N" + host
	}
	l.DelayedChecks = &registry.DelayedChecks{Random: rand.Reader, Prover: registry.Prover{
		Token: func(_ context.Context, at, _, _ string) (string, int, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			if l.calls[nodeOf(at)]++; nodeOf(at) == l.silent {
				return "", 0, errors.New("no answer from /home/operator")
			}
			return "good-token", http.StatusOK, nil
		},
		Get: func(_ context.Context, at string, header map[string]string) (int, []byte, error) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.calls[nodeOf(at)]++
			if strings.HasSuffix(at, "/fundings") {
				l.fundings++
			}
			if header["Authorization"] == "Bearer good-token" || nodeOf(at) == l.open {
				return http.StatusOK, l.body, nil
			}
			return http.StatusUnauthorized, nil, nil
		},
	}, Wait: func(_ context.Context, d time.Duration) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.waits = append(l.waits, d)
		l.now = l.now.Add(d)
	}}
	return l
}

var _ = Describe("The delayed check of a night", func() {
	It("fails a node that answers differently after its run, some minutes after the last run", func() {
		l := newDelayedNetwork("")
		l.open, l.silent = "N2", "N3"
		l.script["N4"] = map[registry.Night]string{"2026-03-01": "fail"}
		started := l.now
		sum, err := l.run(context.Background(), documentOf(4))
		Expect(err).NotTo(HaveOccurred())
		Expect(sum.Results).To(Equal(map[registry.Result]int{registry.Passed: 2, registry.Failed: 2}))
		Expect(sum.Left).To(BeEmpty())
		Expect(l.now.Sub(started)).To(And(BeNumerically(">=", 10*time.Minute), BeNumerically("<=", 15*time.Minute)))
		Expect(l.calls).To(Equal(map[string]int{"N1": 4, "N2": 4, "N3": 1}), "a token and three calls; none at a node that failed")

		two := l.node("N2")
		Expect(two.Outcome.Result).To(Equal(registry.Failed))
		Expect(two.Outcome.Headline).To(Equal("Passed, and answered differently when it was not tested"))
		Expect(two.Outcome.Why).To(And(ContainSubstring("without a credential: expected 401, got 200"), ContainSubstring("with a random credential: expected 401, got 200")))
		Expect(two.Bad).To(Equal(1))
		Expect(two.Certified.IsZero()).To(BeTrue())
		Expect(l.node("N1").Outcome.DelayedCheck.Result).To(Equal(registry.CheckPassed))
		Expect(l.node("N1").Status).To(Equal(registry.Valid))
		three := l.node("N3")
		Expect(three.Outcome.Result).To(Equal(registry.Passed), "a check without an answer decides nothing")
		Expect(three.Outcome.DelayedCheck.Result).To(Equal(registry.CheckOpen))
		Expect(l.node("N4").Outcome.DelayedCheck).To(BeNil())

		l.read(func(h *registry.History) {
			_, err := l.WriteSite(context.Background(), h, registry.KeepReports)
			Expect(err).NotTo(HaveOccurred())
		})
		page := func(id string) string {
			text, err := os.ReadFile(filepath.Join(l.Dir.Public(id), "index.html"))
			Expect(err).NotTo(HaveOccurred())
			return string(text)
		}
		Expect(page("N1")).To(And(ContainSubstring("<dt>Delayed check</dt>"), ContainSubstring("the node answers as in its run"), ContainSubstring("; delayed check passed")))
		Expect(page("N2")).To(And(ContainSubstring("the node answers differently when it is not tested"), ContainSubstring("; delayed check failed")))
		Expect(page("N3")).To(And(ContainSubstring("nothing was learnt"), Not(ContainSubstring("/home/operator"))))
	})

	It("calls the URLs that the run found protected, without reading its evidence again", func() {
		l := newDelayedNetwork("")
		certify, operation := l.Certify, evidence.OperationResource("GET /fundings")
		l.Certify = func(ctx context.Context, t target.Target, dir string) (report.Report, *evidence.Log, error) {
			got, log, err := certify(ctx, t, dir)
			log.Roles.Operations = []evidence.Resource{operation}
			for label, status := range map[evidence.Label]int{operation.With(evidence.OK): 200, operation.With(evidence.NoToken): 401} {
				log.Exchanges = append(log.Exchanges, evidence.Exchange{
					Label: label, Request: evidence.Request{URL: "https://" + strings.ToLower(t.NodeID) + ".example/fundings"}, Response: &evidence.Response{Status: status},
				})
			}
			return got, log, err
		}
		l.night(documentOf(30))
		Expect(l.fundings).To(And(BeNumerically(">", 0), BeNumerically("<", 90)), "each of 30 nodes is asked three times for one of two URLs")
	})

	It("passes a list that is too long to be read completely, and fails one that is not JSON", func() {
		long := []byte("[" + strings.Repeat(`{"id": "1"}, `, registry.MaxReply))
		for body, passes := range map[string]bool{
			string(long[:registry.MaxReply]): true, string(long[:registry.MaxReply-1]): false, strings.Repeat("<", registry.MaxReply): false,
		} {
			l := newDelayedNetwork("")
			l.body = []byte(body)
			sum, err := l.run(context.Background(), documentOf(1))
			Expect(err).NotTo(HaveOccurred())
			Expect(sum.Results[registry.Passed] == 1).To(Equal(passes), "%.20s, %d bytes", body, len(body))
		}
	})

	It("is made when the policy says, or never", func() {
		l := newDelayedNetwork("run: {delayed-check: 1h}")
		started := l.now
		l.night(documentOf(2))
		Expect(l.now.Sub(started.Add(24 * time.Hour))).To(And(BeNumerically(">=", time.Hour), BeNumerically("<=", 90*time.Minute)))
		for _, never := range []string{"run: {delayed-check: off}", "run: {delayed-check: 'off'}"} {
			l = newDelayedNetwork(never)
			l.night(documentOf(2))
			Expect(l.calls).To(BeEmpty())
			Expect(l.waits).To(BeEmpty())
			Expect(l.node("N1").Outcome.DelayedCheck).To(BeNil())
			Expect(l.strip("N1")).To(Equal("p"))
		}
	})

	It("is continued by the next run of the night, without a second test, and the night counts once", func() {
		l := newDelayedNetwork("")
		ctx, cancel := context.WithCancel(context.Background())
		wait := l.DelayedChecks.Wait
		l.DelayedChecks.Wait = func(context.Context, time.Duration) { cancel() }
		sum, err := l.run(ctx, documentOf(3))
		Expect(err).NotTo(HaveOccurred())
		Expect(sum.Left).To(Equal([]string{"N1", "N2", "N3"}))
		Expect(sum.Why).To(Equal("the run was interrupted"))
		Expect(sum.Results[registry.Passed]).To(BeZero())
		Expect(l.calls).To(BeEmpty())

		l.DelayedChecks.Wait, l.open = wait, "N2"
		again, err := l.run(context.Background(), documentOf(3))
		Expect(err).NotTo(HaveOccurred())
		Expect(l.tested).To(Equal(map[string]int{"N1": 1, "N2": 1, "N3": 1}))
		Expect(again.AlreadyTested).To(Equal(2))
		Expect(again.Results).To(Equal(map[registry.Result]int{registry.Failed: 1}))
		Expect(l.strip("N1") + l.strip("N2") + l.strip("N3")).To(Equal("pfp"))
		third, err := l.run(context.Background(), documentOf(3))
		Expect(err).NotTo(HaveOccurred())
		Expect(third.AlreadyTested).To(Equal(3))
		Expect(l.calls).To(Equal(map[string]int{"N1": 4, "N2": 4, "N3": 4}))
	})

	It("counts a night whose run was killed before the check, when the next night begins", func() {
		l := newDelayedNetwork("")
		ctx, cancel := context.WithCancel(context.Background())
		wait := l.DelayedChecks.Wait
		l.DelayedChecks.Wait = func(context.Context, time.Duration) { cancel() }
		_, err := l.run(ctx, documentOf(1))
		Expect(err).NotTo(HaveOccurred())
		l.DelayedChecks.Wait, l.now = wait, l.now.Add(24*time.Hour)
		l.night(documentOf(1))
		Expect(l.strip("N1")).To(Equal("pp"))
		l.read(func(h *registry.History) {
			outcomes, err := h.Outcomes("N1", "")
			Expect(err).NotTo(HaveOccurred())
			Expect(outcomes[0].DelayedCheck.Result).To(Equal(registry.CheckOpen))
			Expect(outcomes[1].DelayedCheck.Result).To(Equal(registry.CheckPassed))
		})
	})

	It("is not made while there is a file named stop; each shard makes its own", func() {
		l := newDelayedNetwork("")
		wait := l.DelayedChecks.Wait
		l.stop = func() { Expect(os.WriteFile(filepath.Join(string(l.Dir), "stop"), nil, 0o600)).To(Succeed()) }
		sum, err := l.run(context.Background(), documentOf(1))
		Expect(err).NotTo(HaveOccurred())
		Expect(sum.Results).To(Equal(map[registry.Result]int{registry.Passed: 1}))
		Expect(l.waits).To(BeEmpty())
		Expect(l.node("N1").Outcome.DelayedCheck.Why).To(Equal("the directory has a file named stop"))

		l = newDelayedNetwork("")
		l.open = "N1"
		s := registry.Shard{I: 1, N: 1}
		part, err := l.Dir.OpenPart(s, registry.NightOf(l.now))
		Expect(err).NotTo(HaveOccurred())
		ctx, cancel := context.WithCancel(context.Background())
		l.DelayedChecks.Wait = func(context.Context, time.Duration) { cancel() }
		_, err = l.Run(ctx, nil, part, documentOf(2), s, nil)
		Expect(err).NotTo(HaveOccurred())
		l.DelayedChecks.Wait = wait
		_, err = l.Run(context.Background(), nil, part, documentOf(2), s, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(part.Close()).To(Succeed())
		h, err := registry.OpenHistory(l.Dir.History())
		Expect(err).NotTo(HaveOccurred())
		defer h.Close()
		merged, err := l.Merge(h, documentOf(2), registry.NightOf(l.now))
		Expect(err).NotTo(HaveOccurred())
		Expect(merged.Results).To(Equal(map[registry.Result]int{registry.Passed: 1, registry.Failed: 1}))
		Expect(l.tested).To(Equal(map[string]int{"N1": 1, "N2": 1}))
	})

	It("is not made by a shard whose record was merged before it, because the night has counted", func() {
		l := newDelayedNetwork("")
		s := registry.Shard{I: 1, N: 1}
		night := registry.NightOf(l.now)
		run := func(ctx context.Context, h *registry.History) registry.Summary {
			GinkgoHelper()
			part, err := l.Dir.OpenPart(s, night)
			Expect(err).NotTo(HaveOccurred())
			defer part.Close()
			sum, err := l.Run(ctx, h, part, documentOf(2), s, nil)
			Expect(err).NotTo(HaveOccurred())
			return sum
		}
		ctx, cancel := context.WithCancel(context.Background())
		wait := l.DelayedChecks.Wait
		l.DelayedChecks.Wait = func(context.Context, time.Duration) { cancel() }
		run(ctx, nil)
		h, err := registry.OpenHistory(l.Dir.History())
		Expect(err).NotTo(HaveOccurred())
		defer h.Close()
		merged, err := l.Merge(h, documentOf(2), night)
		Expect(err).NotTo(HaveOccurred())
		Expect(merged.Results).To(Equal(map[registry.Result]int{registry.Passed: 2}))

		l.DelayedChecks.Wait, l.open = wait, "N1"
		again := run(context.Background(), h)
		Expect(again.AlreadyTested).To(Equal(2))
		Expect(again.Results).To(BeEmpty(), "a result that no merge would count")
		Expect(l.calls).To(BeEmpty())
		merged, err = l.Merge(h, documentOf(2), night)
		Expect(err).NotTo(HaveOccurred())
		Expect(merged.AlreadyCounted).To(Equal(2))
	})
})
