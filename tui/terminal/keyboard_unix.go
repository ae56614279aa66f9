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

// Keyboard is the input of a terminal without the terminal's own answers. Bubble Tea takes it for the terminal it is.
type Keyboard struct {
	file  *os.File
	said  *listener
	typed []byte // before anybody read

	ended, end *os.File // a pipe: its end wakes who waits for a key
}

// patience is how long the rest of an answer may take; until then a lone escape may be its beginning.
const patience = 25 * time.Millisecond

// newKeyboard reads from a terminal.
func newKeyboard(in *os.File) (*Keyboard, error) {
	ended, end, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	return &Keyboard{file: in, said: &listener{}, ended: ended, end: end}, nil
}

// ask puts the question, and waits for the answer so long at most. What is typed meanwhile is read later.
func (k *Keyboard) ask(out io.Writer, wait time.Duration) error {
	fd := int(k.file.Fd())
	before, err := term.MakeRaw(fd)
	if err != nil {
		return fmt.Errorf("take the terminal: %w", err)
	}
	defer func() { _ = term.Restore(fd, before) }() // it was possible a moment ago
	if _, err := io.WriteString(out, backgroundQuery); err != nil {
		return fmt.Errorf("ask the terminal: %w", err)
	}
	buffer := make([]byte, 1024)
	for until := time.Now().Add(wait); !k.said.complete && k.said.background == Unknown; {
		ready, err := k.wait(max(0, time.Until(until)))
		if err != nil || !ready {
			return err
		}
		n, err := k.file.Read(buffer)
		k.typed = append(k.typed, k.said.hear(buffer[:n])...)
		if err != nil {
			return fmt.Errorf("hear the terminal: %w", err)
		}
	}
	return nil
}

// wait waits for input, without an end when the time is negative.
func (k *Keyboard) wait(most time.Duration) (ready bool, err error) {
	until := time.Now().Add(most)
	for {
		left := -1
		if most >= 0 {
			left = int(max(0, time.Until(until)+time.Millisecond-1) / time.Millisecond)
		}
		fds := []unix.PollFd{{Fd: int32(k.file.Fd()), Events: unix.POLLIN}, {Fd: int32(k.ended.Fd()), Events: unix.POLLIN}}
		_, err := unix.Poll(fds, left)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return false, fmt.Errorf("wait for a key: %w", err)
		case fds[1].Revents != 0:
			return false, io.EOF
		}
		return fds[0].Revents != 0, nil
	}
}

// Read implements io.Reader.
func (k *Keyboard) Read(into []byte) (int, error) {
	for len(k.typed) == 0 {
		most := time.Duration(-1)
		if len(k.said.held) > 0 {
			most = patience
		}
		ready, err := k.wait(most)
		if err != nil {
			return 0, err
		}
		if !ready {
			k.typed = k.said.release()
			continue
		}
		n, err := k.file.Read(into)
		if k.typed = k.said.hear(into[:n]); err != nil && len(k.typed) == 0 {
			return 0, err
		}
	}
	n := copy(into, k.typed)
	k.typed = k.typed[n:]
	return n, nil
}

// Write implements io.Writer.
func (k *Keyboard) Write(b []byte) (int, error) { return k.file.Write(b) }

// Fd is the terminal's, for who sets its modes.
func (k *Keyboard) Fd() uintptr { return k.file.Fd() }

// Close ends all reading; the terminal stays open.
func (k *Keyboard) Close() error { return k.end.Close() }
