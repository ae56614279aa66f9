//go:build unix

package conformance_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
)

const (
	secret      = conformancetest.ClientSecret
	accessToken = conformancetest.AccessToken
)

// newNode starts a node and returns its target; info answers at its info endpoint in place of the node.
func newNode(info ...http.HandlerFunc) target.Target {
	return conformancetest.Start(GinkgoT(), func(n *conformancetest.Node) {
		for _, answer := range info {
			n.Info = answer
		}
	}).Target()
}

func child(part string) *worker.Command {
	return &worker.Command{Path: os.Args[0], Args: []string{asWorker, part}}
}

// evidencePath returns the path of a file that does not exist yet.
func evidencePath() string { return filepath.Join(GinkgoT().TempDir(), "evidence.jsonl.gz") }

func certify(t target.Target, o conformance.Options) (conformance.Result, error) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), 3*time.Minute, errors.New("the test took too long"))
	defer cancel()
	o.Suite = "test"
	t.Seed = cmp.Or(t.Seed, 1) // the same draws in each run
	return conformance.Certify(ctx, t, o)
}

func readBack(path string) *evidence.Log {
	GinkgoHelper()
	data, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	log, err := evidence.ReadLog(bytes.NewReader(data))
	Expect(err).NotTo(HaveOccurred())
	return log
}

func asJSON(r report.Report) string {
	GinkgoHelper()
	var out bytes.Buffer
	Expect(report.WriteJSON(&out, r)).To(Succeed())
	return out.String()
}

// outcomes returns the judgements of a report by id.
func outcomes(r report.Report) map[string]string {
	out := map[string]string{}
	for _, row := range r.Requirements {
		out[string(row.ID)] = string(row.Outcome)
	}
	return out
}

var _ = Describe("Certify", func() {
	It("reports every mistake in the target before it sends a request", func() {
		_, err := certify(target.Target{}, conformance.Options{})
		var problem *target.Problem
		Expect(errors.As(err, &problem)).To(BeTrue())
	})

	It("needs neither file nor child", func() {
		heard := map[worker.EventKind]int{}
		result, err := certify(newNode(), conformance.Options{OnEvent: func(e worker.Event) { heard[e.Kind]++ }})
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Log.Ended.Complete).To(BeTrue())
		Expect(outcomes(result.Report)).To(HaveKeyWithValue("TOK-01", "pass"))
		Expect(heard).To(Equal(map[worker.EventKind]int{worker.Planned: 1, worker.Progress: len(result.Log.Planned)}))
	})

	It("gives the same result in a child, and leaves the evidence in both cases", func() {
		t, here, there := newNode(), evidencePath(), evidencePath()
		inside, err := certify(t, conformance.Options{Evidence: here})
		Expect(err).NotTo(HaveOccurred())
		heard := map[worker.EventKind]int{}
		outside, err := certify(t, conformance.Options{Evidence: there, Worker: child("serve"), OnEvent: func(e worker.Event) { heard[e.Kind]++ }})
		Expect(err).NotTo(HaveOccurred())
		Expect(outside.Stderr).To(BeEmpty())
		Expect(outcomes(outside.Report)).To(Equal(outcomes(inside.Report)))
		Expect(outside.Report.Verdict.Decision).To(Equal(inside.Report.Verdict.Decision))
		Expect(heard).To(And(HaveKey(worker.Planned), HaveKey(worker.Progress), HaveKey(worker.Judged), HaveKeyWithValue(worker.Finished, 1)))
		Expect(readBack(here)).To(Equal(inside.Log))
		Expect(readBack(there)).To(Equal(outside.Log))
		for _, path := range []string{here, there} {
			info, err := os.Stat(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)), "evidence is for its owner")
		}
	})

	It("makes a file that others could read readable by its owner alone", func() {
		for _, command := range []*worker.Command{nil, child("serve")} {
			path := evidencePath()
			Expect(os.WriteFile(path, nil, 0o644)).To(Succeed())
			_, err := certify(newNode(), conformance.Options{Evidence: path, Worker: command})
			Expect(err).NotTo(HaveOccurred())
			info, err := os.Stat(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o600)))
		}
	})

	It("judges what a child recorded before it died, and says how it died", func() {
		path := evidencePath()
		result, err := certify(newNode(), conformance.Options{Evidence: path, Worker: child("dies-within")})
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Log.Ended).To(Equal(&evidence.Ended{Cause: "the worker ended early: exit status 9"}))
		Expect(result.Report.Verdict.Decision).To(Equal(verdict.Repeat))
		Expect(outcomes(result.Report)).To(HaveKeyWithValue("TLS-01", "warn"), "what the child judged is not judged again")
		Expect(outcomes(result.Report)).To(HaveKeyWithValue("TOK-01", "inconclusive"), "what it did not judge is judged")
		Expect(result.Stderr).To(MatchRegexp(`^fatal: the child knows \[\[client_secret:\w{8}:plain\]\]\n$`))
		Expect(readBack(path)).To(Equal(result.Log))
	})

	It("does not judge older evidence when a child died before it recorded anything", func() {
		t, path := newNode(), evidencePath()
		_, err := certify(t, conformance.Options{Evidence: path})
		Expect(err).NotTo(HaveOccurred())
		before, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		_, err = certify(t, conformance.Options{Evidence: path, Worker: child("dies-before")})
		Expect(err).To(MatchError(MatchRegexp(`^nothing was recorded: the worker ended early: exit status 9: fatal: the child knows \[\[client_secret:\w{8}:plain\]\]$`)))
		Expect(os.ReadFile(path)).To(Equal(before), "the older evidence is left alone")
		Expect(filepath.Glob(filepath.Join(filepath.Dir(path), ".*"))).To(BeEmpty(), "nothing is left beside it")
	})

	DescribeTable("is an error of this machine",
		func(says string, change func(*conformance.Options)) {
			o := conformance.Options{Evidence: evidencePath(), Worker: child("serve")}
			change(&o)
			_, err := certify(newNode(), o)
			Expect(err).To(MatchError(And(ContainSubstring(says), Not(ContainSubstring(secret)))))
		},
		Entry("a child without a path for its evidence", "hint: set Options.Evidence", func(o *conformance.Options) { o.Evidence = "" }),
		Entry("a child that does not exist", "start the worker", func(o *conformance.Options) { o.Worker.Path = "/nowhere/rin" }),
		Entry("a folder that does not exist", "create the evidence file", func(o *conformance.Options) { o.Evidence += "/evidence" }),
		Entry("a folder that does not exist, without a child", "create the evidence file", func(o *conformance.Options) { o.Evidence += "/evidence"; o.Worker = nil }),
	)

	It("ends with its context and keeps what was recorded", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		path, hangs := evidencePath(), newNode(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		result, err := conformance.Certify(ctx, hangs, conformance.Options{Inputs: conformance.Inputs{Suite: "test"}, Evidence: path, Worker: child("serve"), OnEvent: func(e worker.Event) {
			if e.Kind == worker.Progress && e.Label == "token.ok" {
				cancel(errors.New("interrupted"))
			}
		}})
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Log.Ended.Cause).To(Equal("stopped by rin: interrupted"))
		Expect(result.Report.Verdict.Decision).To(Equal(verdict.Repeat))
		_, kept := readBack(path).Get("token.ok")
		Expect(kept).To(BeTrue())
	})
})

var _ = Describe("Judge", func() {
	It("gives the same report for the same evidence, and does not change the evidence", func() {
		path := evidencePath()
		result, err := certify(newNode(), conformance.Options{Evidence: path})
		Expect(err).NotTo(HaveOccurred())
		want := asJSON(result.Report)
		Expect(want).NotTo(ContainSubstring(secret))
		again := readBack(path)
		Expect(asJSON(conformance.Judge(again, "test"))).To(Equal(want))
		Expect(asJSON(conformance.Judge(again, "test"))).To(Equal(want))
		Expect(again).To(Equal(result.Log))
	})

	It("is inconclusive about a run that recorded nothing", func() {
		log, err := evidence.ReadLog(strings.NewReader(`{"kind":"run","run":{"schema":"rin.evidence/v1","suite":"test","started":"2026-03-01T12:00:00Z","profile":"auth"}}` + "\n"))
		Expect(err).NotTo(HaveOccurred())
		Expect(conformance.Judge(log, "test").Verdict.Decision).To(Equal(verdict.Repeat))
	})
})
