package evidence

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"
)

// Recording is an evidence file that can be repaired, such as an [os.File] open for reading and writing.
type Recording interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
}

// Repair reads the output of a [Writer] that may lack its end. It removes an incomplete record and appends the cause; a complete recording
// stays unchanged. It returns the log of the repaired recording.
func Repair(file Recording, cause string) (*Log, error) {
	r, err := readFile(file)
	if err != nil {
		return nil, err
	}
	if r.state.log.Ended == nil || r.cut {
		length, err := completeLength(file)
		if err != nil {
			return nil, fmt.Errorf("repair evidence: %w", err)
		}
		if err := file.Truncate(length); err != nil {
			return nil, fmt.Errorf("repair evidence: %w", err)
		}
		if r, err = readFile(file); err != nil {
			return nil, err
		}
		log := &r.state.log
		log.Ended = &Ended{Cause: validUTF8(cause), Requests: len(log.Exchanges) + len(log.Handshakes)}
		if err := appendEnd(file, log.Ended, r.last); err != nil {
			return nil, fmt.Errorf("repair evidence: %w", err)
		}
	}
	return r.state.snapshot(), nil
}

// readFile reads a file from its beginning.
func readFile(file io.ReadSeeker) (*reader, error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read evidence: %w", err)
	}
	return read(file)
}

// completeLength returns the length of a file up to its last complete record.
func completeLength(file io.ReadSeeker) (length int64, err error) {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return 0, err
	}
	counted := &countingReader{from: file}
	in := bufio.NewReader(counted) // gzip takes single bytes from it, and so no more than it needs
	z := new(gzip.Reader)
	for {
		err := z.Reset(in)
		if err == nil {
			z.Multistream(false)
			_, err = io.Copy(io.Discard, z)
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return length, nil
		case err != nil:
			return 0, err
		}
		length = counted.n - int64(in.Buffered())
	}
}

type countingReader struct {
	from io.Reader
	n    int64
}

// Read implements io.Reader.
func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += int64(n)
	return n, err
}

// appendEnd writes the last record at the end of a file.
func appendEnd(file io.WriteSeeker, ended *Ended, at time.Time) error {
	if _, err := file.Seek(0, io.SeekEnd); err != nil {
		return err
	}
	w := NewWriter(file, func() time.Time { return at })
	return w.write(entry{Kind: kindEnded, Ended: ended}, packed{})
}
