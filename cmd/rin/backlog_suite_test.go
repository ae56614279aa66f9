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

// text is a format without times.
func text(out io.Writer) slog.Handler {
	return slog.NewTextHandler(out, &slog.HandlerOptions{Level: slog.LevelInfo, ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}})
}

// stopped is a writer that somebody holds until it is released.
type stopped struct {
	bytes.Buffer
	release chan struct{}
}

func (s *stopped) Write(p []byte) (int, error) {
	<-s.release
	return s.Buffer.Write(p)
}

// patience bounds what a slow machine may take.
const patience = 20 * time.Second

// full is a writer without space.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left") }

var _ = Describe("A backlog", func() {
	It("writes all records in order by the time it is closed", func(ctx SpecContext) {
		var out bytes.Buffer
		log := newAsyncLog(&out, text)
		logger := slog.New(log).With("node", "XA")
		logger.Info("first", "n", 1)
		logger.WithGroup("request").Info("second", "path", "/")
		logger.Debug("unwanted")
		Expect(log.Close(ctx)).To(Succeed())
		Expect(out.String()).To(Equal("level=INFO msg=first node=XA n=1\nlevel=INFO msg=second node=XA request.path=/\n"))
	}, NodeTimeout(patience))

	It("never makes anybody wait, counts what it drops, and tells it", func(ctx SpecContext) {
		out := &stopped{release: make(chan struct{})}
		log := newAsyncLog(out, text)
		const sent = 100_000
		for range sent { // returns, although nothing can be written
			slog.New(log).Info("answered")
		}
		close(out.release)
		Expect(log.Close(ctx)).To(Succeed())
		missing := 0
		for _, told := range regexp.MustCompile(`level=WARN msg="log records were dropped[^\n]*" records=(\d+)\n`).FindAllStringSubmatch(out.String(), -1) {
			n, err := strconv.Atoi(told[1])
			Expect(err).NotTo(HaveOccurred())
			missing += n
		}
		Expect(missing).To(BeNumerically(">", 10_000))
		Expect(strings.Count(out.String(), "msg=answered") + missing).To(Equal(sent))
		Expect(strings.Count(out.String(), "dropped")).To(BeNumerically("<", 10))
	}, NodeTimeout(patience))

	It("gives up at its close when nothing can be written", func() {
		out := &stopped{release: make(chan struct{})}
		defer close(out.release)
		log := newAsyncLog(out, text)
		slog.New(log).Info("answered")
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		Expect(log.Close(ctx)).To(MatchError(context.Canceled))
	})

	It("says at its close that nothing could be written, and takes nothing more", func(ctx SpecContext) {
		log := newAsyncLog(full{}, text)
		slog.New(log).Info("answered")
		Expect(log.Close(ctx)).To(MatchError("no space left"))
		Expect(log.Close(ctx)).To(MatchError("no space left"))
		Expect(log.Handle(ctx, slog.Record{})).To(MatchError("the log is closed"))
	}, NodeTimeout(patience))
})

func BenchmarkHandle(b *testing.B) {
	log := newAsyncLog(io.Discard, text)
	defer func() { _ = log.Close(context.Background()) }()
	logger := slog.New(log)
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			logger.LogAttrs(context.Background(), slog.LevelInfo, "answered", slog.String("method", "GET"), slog.String("path", "/ris-synergy/funding/v3/fundings"), slog.Int("status", 200))
		}
	})
}
