//go:build !unix

package terminal

import (
	"io"
	"os"
	"time"
)

// Keyboard is the input of a terminal. On systems without poll the terminal is not queried.
type Keyboard struct {
	*os.File
	answers *listener
}

func newKeyboard(in *os.File) (*Keyboard, error) { return &Keyboard{in, &listener{}}, nil }

func (k *Keyboard) query(io.Writer, time.Duration) error { return nil }

// Close does nothing. The terminal stays open.
func (k *Keyboard) Close() error { return nil }
