package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// withoutTime returns a log format without times.
func withoutTime(out io.Writer) slog.Handler {
	return slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
}

// blockedWriter blocks until it is released.
type blockedWriter struct {
	bytes.Buffer
	release chan struct{}
}

func (s *blockedWriter) Write(p []byte) (int, error) {
	<-s.release
	return s.Buffer.Write(p)
}

// testTimeout is generous for slow machines.
const testTimeout = 20 * time.Second

// brokenWriter always fails.
type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("no space left") }

var _ = Describe("An asynchronous log", func() {
	It("has written all records in order when it is closed", func(ctx SpecContext) {
		var out bytes.Buffer
		log := newAsyncLog(&out, withoutTime)
		logger := slog.New(log).With("node", "XA")
		logger.Info("first", "n", 1)
		logger.WithGroup("request").Info("second", "path", "/")
		logger.Debug("unwanted")
		Expect(log.Close(ctx)).To(Succeed())
		Expect(out.String()).To(Equal("level=INFO msg=first node=XA n=1\nlevel=INFO msg=second node=XA request.path=/\n"))
	}, NodeTimeout(testTimeout))

	It("never blocks a logger, and logs how many records it dropped", func(ctx SpecContext) {
		out := &blockedWriter{release: make(chan struct{})}
		log := newAsyncLog(out, withoutTime)
		const sent = 100_000
		for range sent { // returns, although nothing can be written
			slog.New(log).Info("answered")
		}
		close(out.release)
		Expect(log.Close(ctx)).To(Succeed())
		missing := 0
		for _, match := range regexp.MustCompile(`level=WARN msg="log records were dropped[^\n]*" records=(\d+)\n`).FindAllStringSubmatch(out.String(), -1) {
			n, err := strconv.Atoi(match[1])
			Expect(err).NotTo(HaveOccurred())
			missing += n
		}
		Expect(missing).To(BeNumerically(">", 10_000))
		Expect(strings.Count(out.String(), "msg=answered") + missing).To(Equal(sent))
		Expect(strings.Count(out.String(), "dropped")).To(BeNumerically("<", 10))
	}, NodeTimeout(testTimeout))

	It("stops waiting for a blocked writer when the context of Close ends", func() {
		out := &blockedWriter{release: make(chan struct{})}
		defer close(out.release)
		log := newAsyncLog(out, withoutTime)
		slog.New(log).Info("answered")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		Expect(log.Close(ctx)).To(MatchError(context.Canceled))
	})

	It("returns the write error from Close and refuses further records", func(ctx SpecContext) {
		log := newAsyncLog(brokenWriter{}, withoutTime)
		slog.New(log).Info("answered")
		Expect(log.Close(ctx)).To(MatchError("no space left"))
		Expect(log.Close(ctx)).To(MatchError("no space left"))
		Expect(log.Handle(ctx, slog.Record{})).To(MatchError("the log is closed"))
	}, NodeTimeout(testTimeout))
})

func BenchmarkHandle(b *testing.B) {
	log := newAsyncLog(io.Discard, withoutTime)
	defer func() { _ = log.Close(context.Background()) }()
	logger := slog.New(log)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			logger.LogAttrs(context.Background(), slog.LevelInfo, "answered", slog.String("method", "GET"), slog.String("path", "/ris-synergy/funding/v3/fundings"), slog.Int("status", 200))
		}
	})
}
