//go:build unix

package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rin-network/rin/conformance/conformancetest"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
)

const secret = conformancetest.ClientSecret

// patience bounds each wait for something that comes at once unless the code is broken.
const patience = 30 * time.Second

func child(part string) *worker.Command {
	return &worker.Command{Path: os.Args[0], Args: []string{asChild, part}}
}

// jobFor returns the options of a run in a child. Nothing listens at its target.
func jobFor(command *worker.Command) worker.Options {
	return worker.Options{Worker: command, Inputs: probe.Inputs{Suite: "test", Target: target.Target{
		TokenURL: "http://127.0.0.1:1/token", InfoURL: "http://127.0.0.1:1/info/v1/oauth/info/",
		Credentials: target.Credentials{ClientID: "client", ClientSecret: target.NewSecret(secret)},
	}}}
}

// start runs the child that part names until it ends, and returns its events.
func start(ctx context.Context, part string, onEvent ...func(worker.Event)) (worker.Ending, []worker.Event) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errors.New("the test took too long"))
	defer cancel()
	var events []worker.Event
	job := jobFor(child(part))
	job.OnEvent = func(e worker.Event) {
		events = append(events, e)
		for _, f := range onEvent {
			f(e)
		}
	}
	end, err := worker.Run(ctx, job)
	Expect(err).NotTo(HaveOccurred())
	return end, events
}

func kinds(events []worker.Event) []worker.EventKind {
	out := []worker.EventKind{}
	for _, e := range events {
		out = append(out, e.Kind)
	}
	return out
}

// alive reports whether a process runs. A zombie has ended, although the process that inherited it may be slow to reap it.
func alive(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err != nil || !strings.Contains(string(stat), ") Z ")
}

var _ = Describe("A child", func() {
	BeforeEach(func() {
		before := gleak.Goroutines()
		DeferCleanup(func() { Eventually(gleak.Goroutines).WithTimeout(patience).ShouldNot(gleak.HaveLeaked(before)) })
	})

	It("has finished if it sends the last event and exits with status 0", func() {
		end, events := start(context.Background(), "finish")
		Expect(end.Finished).To(BeTrue())
		Expect(end.Cause).To(BeEmpty())
		Expect(end.Stderr).To(BeEmpty())
		Expect(end.Took).To(BeNumerically(">", 0))
		Expect(kinds(events)).To(Equal([]worker.EventKind{worker.Planned, worker.Progress, worker.Finished}))
		Expect(events[0].Budget).To(Equal(7))
		Expect(events[1].Label).To(BeEquivalentTo("token.ok"))
	})

	DescribeTable("that ends in another way gives the cause, and the events until then",
		func(part, cause string, want ...worker.EventKind) {
			end, events := start(context.Background(), part)
			Expect(end.Finished).To(BeFalse())
			Expect(end.Cause).To(ContainSubstring(cause))
			Expect(kinds(events)).To(Equal(append([]worker.EventKind{}, want...)))
		},
		Entry("without reading its job", "never-read", "ended early: exit status 3"),
		Entry("without an event", "silent", "ended without finishing"),
		Entry("early", "early", "ended early: exit status 7", worker.Progress),
		Entry("with a status after the last event", "fail-after-finish", "ended early: exit status 7", worker.Finished),
		Entry("by a panic", "panic", "ended early: exit status 2", worker.Progress),
		Entry("by a signal", "killed", "ended early: signal: killed", worker.Progress),
		Entry("with a line that is not an event", "no-event", "a line that is not an event", worker.Progress),
		Entry("with an event that lacks a field of its kind", "no-kind", "a line that is not an event"),
		Entry("with an event of another version", "unknown-kind", "a line that is not an event"),
		Entry("with a line without end", "endless-line", "an event of more than 1048576 bytes"),
		Entry("because it gave up", "exhausted", "too much memory", worker.Progress),
	)

	It("is killed when it finished and does not exit", func() {
		end, events := start(context.Background(), "linger")
		Expect(end.Finished).To(BeTrue())
		Expect(kinds(events)).To(Equal([]worker.EventKind{worker.Finished}))
	})

	It("is reported with its panic", func() {
		end, _ := start(context.Background(), "panic")
		Expect(end.Stderr).To(ContainSubstring("panic: a fault of rin"))
	})

	It("is killed with all processes that it started when its time is over", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		var pids []int
		end, _ := start(ctx, "ignore", func(e worker.Event) {
			pids = []int{e.Done, e.Planned}
			Expect(alive(pids[0])).To(BeTrue())
			Expect(alive(pids[1])).To(BeTrue())
			cancel(errors.New("the deadline passed"))
		})
		Expect(end.Finished).To(BeFalse())
		Expect(end.Cause).To(Equal("stopped by rin: the deadline passed"))
		Expect(pids).To(HaveLen(2))
		for _, pid := range pids {
			Eventually(alive).WithArguments(pid).WithTimeout(patience).Should(BeFalse())
		}
	})

	It("is not started if there is no time left", func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_, err := worker.Run(ctx, jobFor(child("finish")))
		Expect(err).To(MatchError(ContainSubstring("start the worker: context canceled")))
	})

	It("gives an error when it cannot be started", func() {
		_, err := worker.Run(context.Background(), jobFor(&worker.Command{Path: "/nowhere/rin"}))
		Expect(err).To(MatchError(And(ContainSubstring("start the worker"), Not(ContainSubstring(secret)))))
	})

	It("is not started with a job that is too large", func() {
		job := jobFor(child("finish"))
		job.Target.CACert = make([]byte, 4<<20)
		_, err := worker.Run(context.Background(), job)
		Expect(err).To(MatchError(And(ContainSubstring("more than 4194304"), ContainSubstring("hint: "), Not(ContainSubstring(secret)))))
	})

	It("may write much to stderr: its end is kept, without secrets", func() {
		end, _ := start(context.Background(), "chatter")
		Expect(end.Finished).To(BeTrue())
		Expect(len(end.Stderr)).To(And(BeNumerically("<=", 64<<10), BeNumerically(">", 60<<10)))
		Expect(end.Stderr).To(HaveSuffix("the last line\n"))
		Expect(end.Stderr).To(MatchRegexp(`^line \d+ of the child`), "whole lines")
		Expect(end.Stderr).To(ContainSubstring("[[client_secret:"))
		Expect(end.Stderr).NotTo(ContainSubstring(secret))
	})

	It("shows no part of a secret where its stderr is cut", func() {
		end, _ := start(context.Background(), "one-line")
		Expect(len(end.Stderr)).To(BeNumerically("<=", 64<<10))
		Expect(end.Stderr).NotTo(ContainSubstring(secret[16:]))
	})

	It("gets its secrets only by stdin, and only the environment that was given", func() {
		DeferCleanup(os.Unsetenv, "RIN_TEST_INHERITED")
		Expect(os.Setenv("RIN_TEST_INHERITED", secret)).To(Succeed())
		command := child("mirror")
		command.Env = []string{"SSL_CERT_DIR=/certs"}
		end, err := worker.Run(context.Background(), jobFor(command))
		Expect(err).NotTo(HaveOccurred())
		var got given
		Expect(json.Unmarshal([]byte(end.Cause), &got)).To(Succeed(), end.Cause)
		Expect(got.Secret).To(BeTrue(), "the job came by stdin")
		Expect(got.Env).To(Equal([]string{"SSL_CERT_DIR=/certs"}))
		Expect(got.Args).To(Equal([]string{os.Args[0], asChild, "mirror"}))
	})

	It("inherits nothing when no environment is given", func() {
		end, _ := start(context.Background(), "mirror")
		var got given
		Expect(json.Unmarshal([]byte(end.Cause), &got)).To(Succeed(), end.Cause)
		Expect(got.Env).To(BeEmpty())
	})
})
