package exchange

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Limits of a recording. A line holds one exchange, whose body may need six bytes of JSON for each of its own.
const (
	MaxLine = 128 << 20 // bytes of one line
	MaxLog  = 1 << 30   // bytes of the whole file
)

// ReadLog reads what a [Journal] wrote. A recording that was cut off in its last line is kept up to there, with Ended nil.
// Anything else that is no evidence of version [Schema] is an error, which names the line.
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
	// A later run record is the same run with the URLs that its registry named.
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
