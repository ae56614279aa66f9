package evidence

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// Writer writes the records of a [Journal] as an evidence file of version 2: lines of JSON, compressed by gzip.
//
// A body is written once, before the first exchange that names its digest. Each record is a gzip member of its own (RFC 1952 §2.2), and
// is written at once: whatever ends the process, the file up to there is complete, and [Repair] can append to it.
type Writer struct {
	to    io.Writer
	clock func() time.Time
	last  time.Time // of the last record
	err   error

	mu     sync.Mutex
	idle   []*gzip.Writer // used again, because each takes a megabyte
	stored map[digest]bool
}

// compression is the level of gzip. The next one takes half as much time again and saves 3 % of the room.
const compression = 5

// NewWriter makes a writer to w. Records get their times from clock.
func NewWriter(w io.Writer, clock func() time.Time) *Writer {
	return &Writer{to: w, clock: clock, stored: map[digest]bool{}}
}

// packed is an exchange that is ready to be written, with the compressed records of its bodies.
type packed struct {
	exchange *storedExchange
	bodies   []packedBody
}

type packedBody struct {
	name   digest
	record []byte
}

// pack prepares an exchange. It takes most of the time of writing, and may be called by several goroutines at once. A nil writer packs
// nothing.
func (w *Writer) pack(x *Exchange) (p packed, err error) {
	if w == nil || x == nil {
		return packed{}, nil
	}
	p.exchange = x.stored()
	if err := w.packBody(&p, p.exchange.Request.Body, x.Request.Body); err != nil || x.Response == nil {
		return p, err
	}
	return p, w.packBody(&p, p.exchange.Response.Body, x.Response.Body)
}

// packBody adds a body that is not in the file yet.
func (w *Writer) packBody(p *packed, name digest, b Body) error {
	w.mu.Lock()
	needed := name != "" && !w.stored[name]
	w.mu.Unlock()
	if !needed {
		return nil
	}
	stored := storedBody{Digest: name, Size: len(b), Content: b}
	if parts := b.parts(); parts != nil {
		stored.Content = nil
		for _, part := range parts {
			d := digestOf(part)
			stored.Parts = append(stored.Parts, d.part())
			if err := w.packBody(p, d, part); err != nil {
				return err
			}
		}
	}
	record, err := w.member(func(to io.Writer) error { return writeBody(to, stored) })
	p.bodies = append(p.bodies, packedBody{name, record})
	return err
}

// write writes an entry after the bodies that are not in the file yet. After an error it writes nothing more: the file ends there. The
// journal calls it for one entry at a time, so that records are in the order of their times.
func (w *Writer) write(e entry, p packed) error {
	if w == nil {
		return nil
	}
	if w.err == nil {
		w.err = w.writeRecord(e, p)
	}
	return w.err
}

func (w *Writer) writeRecord(e entry, p packed) error {
	w.stamp(e)
	text, err := line(storedEntry{At: w.last, entry: e, Exchange: p.exchange})
	if err != nil {
		return fmt.Errorf("write %s record: %w", e.Kind, err)
	}
	record, err := w.member(func(to io.Writer) error {
		_, err := to.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s record: %w", e.Kind, err)
	}
	if _, err := w.to.Write(append(w.unwritten(p), record...)); err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	return nil
}

// unwritten returns the packed bodies that are not in the file; another exchange may have been faster.
func (w *Writer) unwritten(p packed) (records []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range p.bodies {
		if !w.stored[b.name] {
			w.stored[b.name] = true
			records = append(records, b.record...)
		}
	}
	return records
}

// stamp moves the time of the last record forward, at least to the end of what is recorded, so that times run forward even if the clock is set back.
func (w *Writer) stamp(e entry) {
	for _, t := range []time.Time{w.clock().Round(0).UTC(), e.end()} {
		if t.After(w.last) {
			w.last = t
		}
	}
}

// end returns when the recorded exchange or handshake ended; zero for other records.
func (e entry) end() time.Time {
	switch {
	case e.Exchange != nil:
		return e.Exchange.Started.Add(e.Exchange.Duration)
	case e.Handshake != nil:
		return e.Handshake.Started.Add(e.Handshake.Duration)
	}
	return time.Time{}
}

// member returns what write writes as one gzip member.
func (w *Writer) member(write func(io.Writer) error) ([]byte, error) {
	var out bytes.Buffer
	z := w.compressor(&out)
	if err := errors.Join(write(z), z.Close()); err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.idle = append(w.idle, z)
	return out.Bytes(), nil
}

func (w *Writer) compressor(to io.Writer) *gzip.Writer {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.idle) == 0 {
		z, _ := gzip.NewWriterLevel(to, compression) // the level is valid
		return z
	}
	z := w.idle[len(w.idle)-1]
	w.idle = w.idle[:len(w.idle)-1]
	z.Reset(to)
	return z
}

// pieceLength is how much of a body is encoded at a time.
const pieceLength = 64 << 10

// writeBody writes the line of a body. It encodes the content piece by piece, because bodies are large.
func writeBody(to io.Writer, b storedBody) error {
	frame, err := line(storedEntry{entry: entry{Kind: kindBody}, Body: &storedBody{Digest: b.Digest, Size: b.Size, Parts: b.Parts}})
	if err != nil {
		return err
	}
	before, after, _ := bytes.Cut(frame, []byte(`""}}`)) // the empty content
	if _, err := to.Write(before); err != nil {
		return err
	}
	write := writeText
	if b.Content.binary() {
		write = writeBase64
	}
	if err := write(to, b.Content); err != nil {
		return err
	}
	_, err = to.Write(append([]byte(`}}`), after...))
	return err
}

// writeText writes a body as a JSON string.
func writeText(to io.Writer, b Body) error {
	quote := []byte(`"`)
	if _, err := to.Write(quote); err != nil {
		return err
	}
	for len(b) > 0 {
		n := min(pieceLength, len(b))
		for n < len(b) && !utf8.RuneStart(b[n]) {
			n--
		}
		text, err := line(string(b[:n]))
		if err != nil {
			return err
		}
		if _, err := to.Write(text[1 : len(text)-len("\"\n")]); err != nil {
			return err
		}
		b = b[n:]
	}
	_, err := to.Write(quote)
	return err
}

// writeBase64 writes a body as the JSON object of [Body.MarshalJSON].
func writeBase64(to io.Writer, b Body) error {
	if _, err := io.WriteString(to, `{"base64":"`); err != nil {
		return err
	}
	enc := base64.NewEncoder(base64.StdEncoding, to)
	if _, err := enc.Write(b); err != nil {
		return err
	}
	if err := enc.Close(); err != nil {
		return err
	}
	_, err := io.WriteString(to, `"}`)
	return err
}
