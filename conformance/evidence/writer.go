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
// A body is written once, before the first exchange that names its digest. Each record is its own gzip member (RFC 1952 §2.2), except that the
// bodies of one exchange share members: items of a list resemble each other and compress better together. Records are not buffered: when the process
// dies, the file is readable up to the last record, and [Repair] can append to it.
type Writer struct {
	to    io.Writer
	clock func() time.Time
	last  time.Time // of the last record
	err   error
	// bodies and records hold the compressors. There are few, because each takes up to a megabyte, and each is made when it is first needed.
	bodies, records chan *gzip.Writer

	mu      sync.Mutex
	stored  map[digest]bool
	digests map[place]digest // of bodies that the journal holds
}

// place is where a body is in memory. The recorder gives equal bodies the same place, so that most digests need not be computed.
type place struct {
	first  *byte
	length int
}

// minPlaced is the length in bytes from which the digest of a body is remembered.
const minPlaced = 1 << 10

// digest returns the digest of a body.
func (w *Writer) digest(b Body) digest {
	if len(b) < minPlaced {
		return digestOf(b)
	}
	w.mu.Lock()
	known, ok := w.digests[place{&b[0], len(b)}]
	w.mu.Unlock()
	if ok {
		return known
	}
	return digestOf(b)
}

// remember remembers the digests of the bodies of an exchange that the journal holds.
func (w *Writer) remember(x *storedExchange) {
	if w == nil || x == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if b := x.Exchange.Request.Body; len(b) >= minPlaced {
		w.digests[place{&b[0], len(b)}] = x.Request.Body
	}
	if x.Response == nil {
		return
	}
	if b := x.Exchange.Response.Body; len(b) >= minPlaced {
		w.digests[place{&b[0], len(b)}] = x.Response.Body
	}
}

// The compression levels. For bodies, level 6 takes 50 % more time and saves 3 % of the space. A short record compresses as well at level 1, which
// need not clear half a megabyte of tables for each.
const (
	bodyLevel   = 5
	recordLevel = gzip.BestSpeed
	shortRecord = 16 << 10 // bytes

	bodyCompressors   = 2
	recordCompressors = 1
)

// NewWriter makes a writer to w. Records get their times from clock.
func NewWriter(w io.Writer, clock func() time.Time) *Writer {
	out := &Writer{to: w, clock: clock, stored: map[digest]bool{}, digests: map[place]digest{},
		bodies: make(chan *gzip.Writer, bodyCompressors), records: make(chan *gzip.Writer, recordCompressors)}
	for range bodyCompressors {
		out.bodies <- nil
	}
	for range recordCompressors {
		out.records <- nil
	}
	return out
}

// packed is an exchange that is ready to be written, with its bodies.
type packed struct {
	exchange *storedExchange
	members  []packedMember
}

// packedMember is a gzip member with the records of some bodies.
type packedMember struct {
	bodies []storedBody
	record []byte
}

// memberSize limits the bodies that share a gzip member, in bytes. Twice the size saves 3 % of the space.
const memberSize = 256 << 10

// pack prepares an exchange. It takes most of the time of writing, and may be called by several goroutines at once. A nil writer packs
// nothing.
func (w *Writer) pack(x *Exchange) (packed, error) {
	if w == nil || x == nil {
		return packed{}, nil
	}
	p := packed{exchange: x.stored(w.digest)}
	bodies := w.appendMissing(nil, p.exchange.Request.Body, x.Request.Body)
	if x.Response != nil {
		bodies = w.appendMissing(bodies, p.exchange.Response.Body, x.Response.Body)
	}
	for start, size, i := 0, 0, 0; i < len(bodies); i++ {
		size += bodies[i].Size
		if i+1 < len(bodies) && size+bodies[i+1].Size <= memberSize {
			continue
		}
		record, err := w.packBodies(bodies[start : i+1])
		if err != nil {
			return p, err
		}
		p.members = append(p.members, packedMember{bodies[start : i+1], record})
		start, size = i+1, 0
	}
	return p, nil
}

// appendMissing appends a body that is not in the file yet, after its parts.
func (w *Writer) appendMissing(to []storedBody, name digest, b Body) []storedBody {
	if name == "" || w.has(name) {
		return to
	}
	stored := storedBody{Digest: name, Size: len(b), Content: b}
	if parts := b.parts(); parts != nil {
		stored.Content = nil
		for _, part := range parts {
			d := digestOf(part)
			stored.Parts = append(stored.Parts, d.part())
			to = w.appendMissing(to, d, part)
		}
	}
	return append(to, stored)
}

// has reports whether a body is in the file.
func (w *Writer) has(name digest) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stored[name]
}

// packBodies returns a gzip member with the records of the bodies.
func (w *Writer) packBodies(bodies []storedBody) ([]byte, error) {
	size := 0
	for _, b := range bodies {
		size += len(b.Content)
	}
	idle, level := w.bodies, bodyLevel
	if size < shortRecord {
		idle, level = w.records, recordLevel
	}
	return gzipMember(idle, level, func(to io.Writer) error {
		for _, b := range bodies {
			if err := writeBody(to, b); err != nil {
				return err
			}
		}
		return nil
	})
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
	record, err := gzipMember(w.records, recordLevel, func(to io.Writer) error {
		_, err := to.Write(text)
		return err
	})
	if err != nil {
		return fmt.Errorf("write %s record: %w", e.Kind, err)
	}
	bodies, err := w.unwritten(p)
	if err != nil {
		return fmt.Errorf("write bodies of %s record: %w", e.Kind, err)
	}
	if _, err := w.to.Write(append(bodies, record...)); err != nil {
		return fmt.Errorf("write evidence: %w", err)
	}
	return nil
}

// unwritten returns the gzip members of the bodies that are not in the file. If another exchange has written some bodies of a member meanwhile, it
// packs the member again without them.
func (w *Writer) unwritten(p packed) (records []byte, err error) {
	for _, m := range p.members {
		left := w.claim(m.bodies)
		if len(left) == 0 {
			continue
		}
		if len(left) < len(m.bodies) {
			if m.record, err = w.packBodies(left); err != nil {
				return nil, err
			}
		}
		records = append(records, m.record...)
	}
	return records, nil
}

// claim returns the bodies that are not in the file yet, and marks them as written.
func (w *Writer) claim(bodies []storedBody) (left []storedBody) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, b := range bodies {
		if !w.stored[b.Digest] {
			w.stored[b.Digest] = true
			left = append(left, b)
		}
	}
	return left
}

// stamp sets the time of the next record: not before the last record or the end of the recorded exchange, even if the clock is set back.
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

// gzipMember returns the output of write as one gzip member.
func gzipMember(idle chan *gzip.Writer, level int, write func(io.Writer) error) ([]byte, error) {
	z := <-idle
	defer func() { idle <- z }()
	var out bytes.Buffer
	if z == nil {
		z, _ = gzip.NewWriterLevel(&out, level) // the level is valid
	} else {
		z.Reset(&out)
	}
	if err := errors.Join(write(z), z.Close()); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
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
		for n < len(b) && !utf8.RuneStart(b[n]) { // do not cut a character
			n--
		}
		text, err := line(string(b[:n]))
		if err != nil {
			return err
		}
		unquoted := text[1 : len(text)-len("\"\n")]
		if _, err := to.Write(unquoted); err != nil {
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
