package main_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is a pseudoterminal on which a test runs a command. It records everything that the command writes.
type terminal struct {
	command *exec.Cmd
	screen  *os.File // the test's end
	tty     *os.File // the command's end
	before  *unix.Termios
	started time.Time
	exited  chan error
	framed  chan struct{} // closed with the first frame
	drained chan struct{} // closed when all output is recorded: every process has then closed the command's end

	mu    sync.Mutex
	shown bytes.Buffer
	first time.Duration // until the first frame; 0 before
}

// frame is the headline of the first step, with which each drawn frame begins.
const frame = "1/11 Choose a node"

// startOnTerminal opens a terminal of 80×24 and starts the command on it. If answers is set, the terminal answers queries as xterm with a white
// background does. The keys in typed wait in the terminal before the command starts.
func startOnTerminal(answers bool, typed string, command *exec.Cmd) (*terminal, error) {
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err := errors.Join(err, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0)); err != nil {
		return nil, err
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	s := &terminal{command: command, screen: screen, tty: tty, exited: make(chan error, 1), framed: make(chan struct{}), drained: make(chan struct{})}
	s.resize(80, 24)
	if s.before, err = unix.IoctlGetTermios(int(tty.Fd()), unix.TCGETS); err != nil {
		return nil, err
	}
	if command.Stdin == nil {
		command.Stdin = tty
	}
	if command.Stdout == nil {
		command.Stdout = tty
	}
	command.Stderr = tty
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: 2}
	s.types(typed)
	s.started = time.Now()
	if err := command.Start(); err != nil {
		return nil, err
	}
	go s.watch(answers)
	go func() { s.exited <- command.Wait() }()
	return s, nil
}

// watch records the output of the command, and answers its queries.
func (s *terminal) watch(answers bool) {
	defer close(s.drained)
	buffer, answered := make([]byte, 1<<16), 0
	for {
		n, err := s.screen.Read(buffer)
		s.mu.Lock()
		s.shown.Write(buffer[:n])
		shown := s.shown.String()
		if s.first == 0 && strings.Contains(shown, frame) {
			s.first = time.Since(s.started)
			close(s.framed)
		}
		s.mu.Unlock()
		if questions := strings.Count(shown, "\x1b[c"); answers && questions > answered {
			answered = questions
			s.types("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;22c")
		}
		if err != nil {
			return
		}
	}
}

// all returns all output so far.
func (s *terminal) all() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown.String()
}

// firstFrame returns the time until the first frame; 0 before it.
func (s *terminal) firstFrame() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first
}

func (s *terminal) types(keys string) { _, _ = s.screen.WriteString(keys) }

func (s *terminal) resize(columns, rows uint16) {
	_ = unix.IoctlSetWinsize(int(s.screen.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: columns, Row: rows})
}

// modes returns the current modes of the terminal.
func (s *terminal) modes() *unix.Termios {
	now, _ := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS) // it succeeded when the terminal was opened
	return now
}

// leave kills the command if it still runs, and closes the terminal.
func (s *terminal) leave() {
	_ = s.command.Process.Kill()
	_ = s.tty.Close()
	_ = s.screen.Close()
}
