//go:build unix

package terminal

import (
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Keyboard is the input of a terminal without the answers of the terminal itself. Bubble Tea accepts it as a terminal.
type Keyboard struct {
	file    *os.File
	answers *listener
	typed   []byte // keys that no Read has returned yet

	stopReader, stopWriter *os.File // a pipe: closing its writer wakes a waiting Read
}

// escapeTimeout is how long the rest of an answer may take. Until then, a lone escape may be the beginning of an answer.
const escapeTimeout = 25 * time.Millisecond

func newKeyboard(in *os.File) (*Keyboard, error) {
	stopReader, stopWriter, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make pipe: %w", err)
	}
	return &Keyboard{file: in, answers: &listener{}, stopReader: stopReader, stopWriter: stopWriter}, nil
}

// query sends the query and waits for its answer. Keys that arrive meanwhile are kept for Read.
func (k *Keyboard) query(out io.Writer, wait time.Duration) error {
	fd := int(k.file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return fmt.Errorf("set terminal mode: %w", err)
	}
	defer func() { _ = term.Restore(fd, before) }()
	if _, err := io.WriteString(out, backgroundQuery); err != nil {
		return fmt.Errorf("query terminal: %w", err)
	}
	buffer := make([]byte, 1024)
	for until := time.Now().Add(wait); !k.answers.finished && k.answers.background == Unknown; {
		ready, err := k.wait(max(0, time.Until(until)))
		if err != nil || !ready {
			return err
		}
		n, err := k.file.Read(buffer)
		k.typed = append(k.typed, k.answers.feed(buffer[:n])...)
		if err != nil {
			return fmt.Errorf("read terminal: %w", err)
		}
	}
	return nil
}

// wait waits for input; with a negative limit, it waits for ever. ready is false when the time is up. After Close, wait returns [io.EOF].
func (k *Keyboard) wait(limit time.Duration) (ready bool, err error) {
	until := time.Now().Add(limit)
	for {
		milliseconds := -1
		if limit >= 0 {
			milliseconds = int(max(0, time.Until(until)+time.Millisecond-1) / time.Millisecond)
		}
		fds := []unix.PollFd{{Fd: int32(k.file.Fd()), Events: unix.POLLIN}, {Fd: int32(k.stopReader.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, milliseconds)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return false, fmt.Errorf("wait for key: %w", err)
		case fds[1].Revents != 0:
			return false, io.EOF
		}
		return fds[0].Revents != 0, nil
	}
}

// Read implements io.Reader.
func (k *Keyboard) Read(into []byte) (int, error) {
	for len(k.typed) == 0 {
		limit := time.Duration(-1)
		if len(k.answers.held) > 0 {
			limit = escapeTimeout
		}
		ready, err := k.wait(limit)
		if err != nil {
			return 0, err
		}
		if !ready {
			k.typed = k.answers.release()
			continue
		}
		n, err := k.file.Read(into)
		k.typed = k.answers.feed(into[:n])
		if err != nil && len(k.typed) == 0 {
			return 0, err
		}
	}
	n := copy(into, k.typed)
	k.typed = k.typed[n:]
	return n, nil
}

// Write implements io.Writer.
func (k *Keyboard) Write(b []byte) (int, error) { return k.file.Write(b) }

// Fd returns the file descriptor of the terminal, so that callers can set its modes.
func (k *Keyboard) Fd() uintptr { return k.file.Fd() }

// Close ends all reading. The terminal stays open.
func (k *Keyboard) Close() error { return k.stopWriter.Close() }
