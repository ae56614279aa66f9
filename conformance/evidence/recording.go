package evidence

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// kind tells which member of an entry is set.
type kind string

const (
	kindRun       kind = "run"
	kindPlan      kind = "plan"
	kindRoles     kind = "roles"
	kindDocument  kind = "document"
	kindRegistry  kind = "registry"
	kindExchange  kind = "exchange"
	kindHandshake kind = "handshake"
	kindNotSent   kind = "not-sent"
	kindFindings  kind = "findings"
	kindEnded     kind = "ended"
)

// entry is one line of evidence.jsonl. An exchange has its findings on the same line, so that a crash does not separate them.
type entry struct {
	Kind          kind             `json:"kind"`
	Run           *Run             `json:"run,omitempty"`
	Plan          []Label          `json:"plan,omitempty"`
	Roles         *Roles           `json:"roles,omitempty"`
	Document      *Document        `json:"document,omitempty"`
	Registry      json.RawMessage  `json:"registry,omitempty"`
	RegistryFacts *RegistryFacts   `json:"registryFacts,omitempty"`
	Exchange      *Exchange        `json:"exchange,omitempty"`
	Handshake     *Handshake       `json:"handshake,omitempty"`
	NotSent       *NotSent         `json:"notSent,omitempty"`
	Findings      []SchemaFindings `json:"findings,omitempty"`
	Ended         *Ended           `json:"ended,omitempty"`
}

// encodedEntry is an entry in a form that encoding/json writes fast: bodies, which are most of a file, are plain strings.
type encodedEntry struct {
	entry
	Exchange *encodedExchange `json:"exchange,omitempty"`
}

type encodedExchange struct {
	*Exchange
	Response *encodedResponse `json:"response,omitempty"`
}

type encodedResponse struct {
	*Response
	Body any `json:"body,omitempty"`
}

// encoded returns the entry in its fast form.
func (e entry) encoded() encodedEntry {
	out := encodedEntry{entry: e}
	if e.Exchange != nil {
		out.Exchange = &encodedExchange{Exchange: e.Exchange}
		if a := e.Exchange.Response; a != nil {
			out.Exchange.Response = &encodedResponse{a, a.Body.encoded()}
		}
	}
	return out
}

// line returns the entry as one line of NDJSON, harmless on a terminal.
func (e entry) line() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // evidence is read by people, too
	if err := enc.Encode(e.encoded()); err != nil {
		return nil, fmt.Errorf("write %s record: %w", e.Kind, err)
	}
	return EscapeDeceptive(b.Bytes()), nil
}

// check returns an error if an entry that was read lacks the member of its kind.
func (e entry) check() error {
	missing := false
	switch e.Kind {
	case kindRun:
		missing = e.Run == nil
	case kindPlan, kindFindings, kindRegistry:
	case kindRoles:
		missing = e.Roles == nil
	case kindDocument:
		missing = e.Document == nil
	case kindExchange:
		missing = e.Exchange == nil || e.Exchange.Label == ""
	case kindHandshake:
		missing = e.Handshake == nil || e.Handshake.Label == ""
	case kindNotSent:
		missing = e.NotSent == nil || e.NotSent.Label == ""
	case kindEnded:
		missing = e.Ended == nil
	default:
		return fmt.Errorf("unknown kind of record %.40q", e.Kind)
	}
	if missing {
		return fmt.Errorf("%s record without its %s member or label", e.Kind, e.Kind)
	}
	return nil
}

// Limits of a recording. A body may grow by a factor of six in JSON.
const (
	MaxLine = 128 << 20 // bytes of one line
	MaxLog  = 1 << 30   // bytes of the whole file
)

// ReadLog reads the output of a [Journal]. If the recording was cut off in its last line, it keeps the complete lines, with Ended nil.
// Other faults are errors that name the line.
func ReadLog(r io.Reader) (*Log, error) {
	limited := &io.LimitedReader{R: r, N: MaxLog + 1}
	in := bufio.NewReaderSize(limited, 64<<10)
	s := newState()
	for n := 1; ; n++ {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, io.EOF) {
			return nil, fmt.Errorf("evidence line %d: %w", n, err)
		}
		if limited.N <= 0 {
			return nil, fmt.Errorf("evidence line %d: file is larger than %d bytes", n, MaxLog)
		}
		last := err != nil
		if bad := s.read(line, n == 1); bad != nil {
			var syntax *json.SyntaxError
			if last && n > 1 && errors.As(bad, &syntax) {
				break // cut off while it was written
			}
			return nil, fmt.Errorf("evidence line %d: %w", n, bad)
		}
		if last {
			break
		}
	}
	return s.snapshot(), nil
}

// read decodes one line and applies its record.
func (s *state) read(line []byte, first bool) error {
	if len(bytes.TrimSpace(line)) == 0 {
		if first {
			return errors.New("expected a run record, got nothing: is this an evidence.jsonl?")
		}
		return nil
	}
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return fmt.Errorf("read record: %w", err)
	}
	if err := e.check(); err != nil {
		return err
	}
	if first && e.Kind != kindRun {
		return fmt.Errorf("expected the run record first, got a %s record", e.Kind)
	}
	// A later run record describes the same run, with the URLs from the registry.
	if e.Kind == kindRun && e.Run.Schema != Schema {
		return fmt.Errorf("expected schema %s, got %.60q: use the version of rin that recorded it", Schema, e.Run.Schema)
	}
	return s.apply(e)
}

// readLine returns one line without its line feed; io.EOF comes with the last one.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
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

// Recording is an evidence file that can be repaired, such as an [os.File] open for reading and writing.
type Recording interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
}

// Repair reads a recording that may lack its end. It removes an incomplete last line and appends the cause; a complete recording stays
// unchanged. It returns the log of the repaired recording.
func Repair(file Recording, cause string) (*Log, error) {
	length, err := completeLinesLength(file)
	if err != nil {
		return nil, fmt.Errorf("repair evidence: %w", err)
	}
	if err := file.Truncate(length); err != nil {
		return nil, fmt.Errorf("repair evidence: %w", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("repair evidence: %w", err)
	}
	log, err := ReadLog(file)
	if err != nil || log.Ended != nil {
		return log, err
	}
	log.Ended = &Ended{Cause: validUTF8(cause), Requests: len(log.Exchanges) + len(log.Handshakes)}
	line, err := entry{Kind: kindEnded, Ended: log.Ended}.line()
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(length, io.SeekStart); err != nil {
		return nil, fmt.Errorf("repair evidence: %w", err)
	}
	if _, err := file.Write(line); err != nil {
		return nil, fmt.Errorf("repair evidence: %w", err)
	}
	return log, nil
}

// completeLinesLength returns the length of a file up to its last line feed. It reads from the end, since files may be large.
func completeLinesLength(file io.ReadSeeker) (int64, error) {
	end, err := file.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, err
	}
	piece := make([]byte, 64<<10)
	for end > 0 {
		start := max(0, end-int64(len(piece)))
		if _, err := file.Seek(start, io.SeekStart); err != nil {
			return 0, err
		}
		part := piece[:end-start]
		if _, err := io.ReadFull(file, part); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(part, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}
