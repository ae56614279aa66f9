package evidence

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// Limits of an evidence file. A body may grow by a factor of six in JSON.
const (
	MaxLine = 128 << 20 // bytes of one line
	MaxLog  = 1 << 30   // bytes of the whole file, compressed or not
)

// ErrVersion is the error for evidence of a version that this package does not read.
var ErrVersion = errors.New("use the version of rin that recorded it")

// ReadLog reads the output of a [Writer], compressed or not, and evidence of version 1. If the recording was cut off, it keeps the complete
// records, with Ended nil. An [Inconsistency] is an error, and so is every other fault; the error names the line.
func ReadLog(from io.Reader) (*Log, error) {
	r, err := read(from)
	if err != nil {
		return nil, err
	}
	return r.state.snapshot(), nil
}

// reader builds a log from the lines of a file.
type reader struct {
	state   *state
	version string // "" before the first line
	last    time.Time
	unused  map[digest]bool // bodies without an exchange so far
	cut     bool            // the file ends within a compressed record

	parts     map[partName]digest
	assembled int // bytes of the bodies that were put together from parts
}

func read(from io.Reader) (*reader, error) {
	r := &reader{state: newState(), unused: map[digest]bool{}, parts: map[partName]digest{}}
	in, err := Text(from)
	if err != nil {
		return nil, fmt.Errorf("evidence line 1: %w", err)
	}
	if err := r.readLines(in); err != nil {
		return nil, err
	}
	if err := r.checkComplete(); err != nil {
		return nil, fmt.Errorf("evidence: %w", err)
	}
	return r, nil
}

// Text returns the lines of an evidence file, which may be compressed. It bounds the bytes that are read, but not their decompressed length.
func Text(from io.Reader) (io.Reader, error) {
	in := bufio.NewReaderSize(&io.LimitedReader{R: from, N: MaxLog + 1}, 64<<10)
	if magic, _ := in.Peek(2); !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return in, nil
	}
	return gzip.NewReader(in)
}

// readLines reads all lines. Text after the last complete line is ignored.
func (r *reader) readLines(from io.Reader) error {
	limited := &io.LimitedReader{R: from, N: MaxLog + 1}
	lines := &lineReader{in: bufio.NewReaderSize(limited, 64<<10), left: limited}
	first := lines.next(nil)
	first.decode("") // the first line has one form in all versions
	if ended, err := r.readRecord(first); ended || err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	for l := range lines.readAhead(ctx, r.version) {
		<-l.decoded
		ended, err := r.readRecord(l)
		if ended || err != nil {
			return err
		}
		lines.recycle(l)
	}
	return nil
}

// keptLine bounds the buffer that is kept for the next line, in bytes.
const keptLine = 1 << 20

// readLine appends one line without its line feed; io.EOF comes with the last one.
func readLine(in *bufio.Reader, line []byte) ([]byte, error) {
	for {
		part, err := in.ReadSlice('\n')
		if cap(line)-len(line) < len(part) {
			// The room is doubled, because append would copy a large line more often. It is allocated here, because slices.Grow may allocate twice.
			line = append(make([]byte, 0, len(line)+max(len(line)+len(part), expectedLength(line))), line...)
		}
		line = append(line, part...)
		if len(line) > MaxLine {
			return nil, fmt.Errorf("longer than %d bytes", MaxLine)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return bytes.TrimSuffix(line, []byte("\n")), err
	}
}

// expectedLength returns how long the line of a body becomes, by its beginning; 0 for any other line. The escapes of quotes in
// JSON take up to a third.
func expectedLength(start []byte) int {
	rest, isBody := bytes.CutPrefix(start[:min(len(start), 200)], []byte(`{"kind":"body","body":{"digest":"`))
	_, rest, _ = bytes.Cut(rest, []byte(`"`))
	rest, hasSize := bytes.CutPrefix(rest, []byte(`,"size":`))
	size, _, hasContent := bytes.Cut(rest, []byte(`,"content"`))
	n, err := strconv.ParseUint(string(size), 10, 30)
	if !isBody || !hasSize || !hasContent || err != nil {
		return 0
	}
	return min(int(n+n/3), MaxLine)
}

// readRecord applies the record of a line. ended reports that it was the last one.
func (r *reader) readRecord(l *recordLine) (ended bool, err error) {
	r.cut = errors.Is(l.err, io.ErrUnexpectedEOF)
	ended = r.cut || errors.Is(l.err, io.EOF)
	switch {
	case l.err != nil && !ended:
		return true, fmt.Errorf("evidence line %d: %w", l.number, l.err)
	case l.tooFar:
		return true, fmt.Errorf("evidence line %d: file is larger than %d bytes", l.number, MaxLog)
	}
	if bad := r.apply(l); bad != nil {
		var syntax *json.SyntaxError
		if ended && l.number > 1 && errors.As(bad, &syntax) {
			return true, nil // cut off while it was written
		}
		return true, fmt.Errorf("evidence line %d: %w", l.number, bad)
	}
	return ended, nil
}

// apply adds the record of a line to the log.
func (r *reader) apply(l *recordLine) error {
	first := l.number == 1
	if l.blank {
		if first {
			return errors.New("expected a run record, got nothing: is this the evidence of a run?")
		}
		return nil
	}
	s, err := r.complete(l)
	if err != nil {
		return err
	}
	if first && s.Kind != kindRun {
		return fmt.Errorf("expected the run record first, got a %s record", s.Kind)
	}
	if s.Kind == kindRun { // a later one describes the same run, with the URLs from the registry
		if err := r.checkVersion(s.Run.Schema); err != nil {
			return err
		}
	}
	if s.Kind == kindBody && r.version == Schema {
		return r.addBody(s.Body, l.digest)
	}
	if err := r.checkTimes(s.At, s.entry); err != nil {
		return err
	}
	if x := s.entry.Exchange; x != nil {
		if err := x.checkLengths(r.version); err != nil {
			return err
		}
	}
	if s.Handshake != nil {
		if err := s.Handshake.checkHost(); err != nil {
			return err
		}
	}
	return r.state.apply(s.entry)
}

// complete checks the record of a line, and gives its exchange the bodies that it names.
func (r *reader) complete(l *recordLine) (s storedEntry, err error) {
	s = l.record
	if l.bad != nil {
		return s, fmt.Errorf("read record: %w", l.bad)
	}
	if s.Kind == kindBody && r.version == Schema {
		if s.Body == nil {
			return s, errors.New("body record without its body member")
		}
		return s, nil
	}
	if s.Exchange != nil {
		if s.entry.Exchange, err = s.Exchange.loaded(r.body); err != nil {
			return s, err
		}
	}
	return s, s.check()
}

// readBody reads the line of a body as [writeBody] writes it. Bodies are most of a file, and encoding/json would scan them three times. It returns nil for
// any other line.
func readBody(line []byte) *storedBody {
	before, content, ok := bytes.Cut(line, []byte(`,"content":`))
	content, complete := bytes.CutSuffix(content, []byte("}}"))
	if !ok || !complete || !bytes.HasPrefix(before, []byte(`{"kind":"body"`)) {
		return nil
	}
	text, ok := unquote(content)
	if !ok {
		return nil
	}
	var frame storedEntry
	if json.Unmarshal(append(slices.Clone(before), "}}"...), &frame) != nil || frame.Kind != kindBody || frame.Body == nil {
		return nil
	}
	frame.Body.Content = text
	return frame.Body
}

func (r *reader) checkVersion(schema string) error {
	if r.version == "" && (schema == Schema || schema == SchemaV1) {
		r.version = schema
	}
	switch {
	case r.version == "":
		return fmt.Errorf("expected schema %s or %s, got %.60q: %w", Schema, SchemaV1, schema, ErrVersion)
	case schema != r.version:
		return inconsistent("expected schema %s as in the first line, got %.60q", r.version, schema)
	}
	return nil
}

// addBody keeps a body for the exchanges that name it. got is the digest of its content.
func (r *reader) addBody(b *storedBody, got digest) error {
	if _, known := r.state.bodies[b.Digest]; known {
		return inconsistent("body %.80q was recorded before", b.Digest)
	}
	if b.Parts != nil {
		if err := r.assemble(b); err != nil {
			return err
		}
		got = digestOf(b.Content)
	}
	if got != b.Digest {
		return inconsistent("body %.80q has the digest %q: its content was changed", b.Digest, got)
	}
	if b.Size != len(b.Content) {
		return inconsistent("body %.80q: expected %d bytes, got %d", b.Digest, b.Size, len(b.Content))
	}
	r.state.bodies[b.Digest], r.unused[b.Digest], r.parts[b.Digest.part()] = b.Content, true, b.Digest
	return nil
}

// body returns a body by its digest.
func (r *reader) body(name digest) (Body, error) {
	if name == "" {
		return nil, nil
	}
	b, known := r.state.bodies[name]
	if !known {
		return nil, inconsistent("the body %.80q of an exchange is missing above it", name)
	}
	delete(r.unused, name)
	return b, nil
}
