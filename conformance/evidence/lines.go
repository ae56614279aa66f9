package evidence

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// This file reads the lines of evidence ahead: one goroutine decompresses them, others decode them, and [reader] applies their records in order. Decoding takes
// most of the time of reading, and does not depend on the lines before.

// maxAhead bounds the lines that are read ahead, in bytes. A longer one is applied before the next one is read.
const maxAhead = 1 << 20

// recordLine is one line of a file.
type recordLine struct {
	number int
	text   []byte
	err    error // of reading; io.EOF comes with the last line
	tooFar bool  // the file is larger than [MaxLog]

	blank   bool
	record  storedEntry
	bad     error  // the fault of a line that is not a record; nil if it is one
	digest  digest // of the content of a body
	weight  int64
	decoded chan struct{} // closed once the fields above are set
}

// lineReader reads lines.
type lineReader struct {
	in     *bufio.Reader
	left   *io.LimitedReader
	number int
	room   *semaphore.Weighted
	used   chan []byte // buffers for further lines
}

// next reads a line into the buffer.
func (r *lineReader) next(buffer []byte) *recordLine {
	r.number++
	l := &recordLine{number: r.number}
	l.text, l.err = readLine(r.in, buffer[:0])
	l.tooFar = r.left.N <= 0
	return l
}

// readAhead reads and decodes the lines of a version until the last one, a fault of reading, or the end of ctx.
func (r *lineReader) readAhead(ctx context.Context, version string) <-chan *recordLine {
	const maxQueued = 64
	r.room, r.used = semaphore.NewWeighted(maxAhead), make(chan []byte, maxQueued)
	out, work := make(chan *recordLine, maxQueued), make(chan *recordLine, maxQueued)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			for l := range work {
				l.decode(version)
				close(l.decoded)
			}
		}()
	}
	go func() {
		defer close(out)
		defer close(work)
		for ended := false; !ended; {
			var buffer []byte
			select {
			case buffer = <-r.used:
			default:
			}
			l := r.next(buffer)
			l.decoded, l.weight = make(chan struct{}), int64(min(len(l.text), maxAhead))
			ended = l.err != nil || l.tooFar
			if r.room.Acquire(ctx, l.weight) != nil {
				return
			}
			long := l.weight == maxAhead
			work <- l
			select {
			case out <- l:
			case <-ctx.Done():
				return
			}
			if long && !ended {
				if r.room.Acquire(ctx, maxAhead) != nil {
					return
				}
				r.room.Release(maxAhead)
			}
		}
	}()
	return out
}

// recycle makes room for further lines.
func (r *lineReader) recycle(l *recordLine) {
	r.room.Release(l.weight)
	if cap(l.text) > keptLine {
		return
	}
	select {
	case r.used <- l.text:
	default:
	}
}

// decode decodes the line.
func (l *recordLine) decode(version string) {
	if l.blank = len(bytes.TrimSpace(l.text)) == 0; l.blank {
		return
	}
	if version == Schema {
		if body := readBody(l.text); body != nil {
			l.record.Kind, l.record.Body = kindBody, body
		}
	}
	switch {
	case l.record.Body != nil:
	case version == SchemaV1:
		l.bad = json.Unmarshal(l.text, &l.record.entry)
	default:
		l.bad = json.Unmarshal(l.text, &l.record)
	}
	if b := l.record.Body; b != nil && b.Parts == nil {
		l.digest = digestOf(b.Content)
	}
}
