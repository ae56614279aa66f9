package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Recording is an evidence file that can be mended; an [os.File] open for reading and writing is one.
type Recording interface {
	io.ReadWriteSeeker
	Truncate(size int64) error
}

// Cut reads a recording that its writer may not have ended. Then an incomplete last line goes, and the cause is written behind the rest; a
// recording that ended is left as it is. The log is that of the mended recording.
func Cut(file Recording, cause string) (*Log, error) {
	whole, err := wholeLines(file)
	if err != nil {
		return nil, fmt.Errorf("cut evidence: %w", err)
	}
	if err := file.Truncate(whole); err != nil {
		return nil, fmt.Errorf("cut evidence: %w", err)
	}
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return nil, fmt.Errorf("cut evidence: %w", err)
	}
	log, err := ReadLog(file)
	if err != nil || log.Ended != nil {
		return log, err
	}
	log.Ended = &Ended{Cause: portable(cause), Requests: len(log.Exchanges) + len(log.Handshakes)}
	line, err := entry{Kind: kindEnded, Ended: log.Ended}.line()
	if err != nil {
		return nil, err
	}
	if _, err := file.Seek(whole, io.SeekStart); err != nil {
		return nil, fmt.Errorf("cut evidence: %w", err)
	}
	if _, err := file.Write(line); err != nil {
		return nil, fmt.Errorf("cut evidence: %w", err)
	}
	return log, nil
}

// wholeLines is the length of a file up to its last line feed. It reads from the end: the file may be large.
func wholeLines(file io.ReadSeeker) (int64, error) {
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
		read := piece[:end-start]
		if _, err := io.ReadFull(file, read); err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		if i := bytes.LastIndexByte(read, '\n'); i >= 0 {
			return start + int64(i) + 1, nil
		}
		end = start
	}
	return 0, nil
}
