package exchange

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

// maxHeld bounds what a stream keeps back while it waits for the end of a line, in bytes.
const maxHeld = 64 << 10

// Writer returns a writer that redacts a stream, such as the error output of a program. Whole lines pass on at once, the rest when
// its line ends or at Close; a secret may be split over any number of writes. Close does not close w.
func (r *Redactor) Writer(w io.Writer) io.WriteCloser { return &stream{redactor: r, w: w} }

type stream struct {
	mu       sync.Mutex
	redactor *Redactor
	w        io.Writer
	held     []byte
}

// Write implements io.Writer.
func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held = append(s.held, p...)
	if err := s.flush(s.ready()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close passes on what is left.
func (s *stream) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flush(len(s.held))
}

// ready is how much may go: whole lines, unless a secret spans lines; of an endless line all but what a secret may still need.
func (s *stream) ready() int {
	search := s.redactor.current()
	n := 0
	if !search.lines {
		n = bytes.LastIndexByte(s.held, '\n') + 1
	}
	if bound := max(maxHeld, search.reach); len(s.held)-n > 2*bound { // twice, so that not every write searches
		n = search.boundary(string(s.held), len(s.held)-bound)
	}
	return n
}

// boundary moves a cut in front of a secret that it would split.
func (s *search) boundary(text string, cut int) int {
	for _, h := range s.find(text) {
		if h.from < cut && cut < h.to {
			return h.from
		}
	}
	return cut
}

func (s *stream) flush(n int) error {
	if n == 0 {
		return nil
	}
	out := s.redactor.Bytes(s.held[:n])
	_, err := s.w.Write(out)
	s.held = append(s.held[:0], s.held[n:]...)
	if err != nil {
		return fmt.Errorf("write redacted stream: %w", err)
	}
	return nil
}

func spansLines(value string) bool { return strings.ContainsRune(value, '\n') }
