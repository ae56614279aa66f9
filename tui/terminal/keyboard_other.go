//go:build !unix

package terminal

import (
	"io"
	"os"
	"time"
)

// Keyboard is the input of a terminal. Where there is no poll the terminal is not asked.
type Keyboard struct {
	*os.File
	said *listener
}

func newKeyboard(in *os.File) (*Keyboard, error) { return &Keyboard{in, &listener{}}, nil }

func (k *Keyboard) ask(io.Writer, time.Duration) error { return nil }

// Close ends nothing: the terminal stays open.
func (k *Keyboard) Close() error { return nil }
