package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox/control"
)

// secretFile is where a secret goes that is not to be seen on a screen.
type secretFile struct{ path string }

func (s *secretFile) register(f *pflag.FlagSet) {
	f.StringVar(&s.path, "secret-file", "", "put the secret into this new `file`, for you alone")
}

// received is what was issued, with the file that the secret is in; it is not shown then.
type received struct {
	control.Issued
	File string `json:"clientSecretFile,omitempty"`
}

// receive does a step that issues a secret. The file is there before the step is done: a secret that has no place to go to is not made.
func (s *secretFile) receive(step func() (control.Issued, error)) (received, error) {
	if s.path == "" {
		made, err := step()
		return received{Issued: made}, err
	}
	file, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return received{}, usage(fmt.Errorf("--secret-file: %w", err), "name a file that is not there yet; none is overwritten")
	}
	made, err := step()
	if err != nil {
		return received{}, errors.Join(err, file.Close(), os.Remove(s.path))
	}
	_, err = file.WriteString(made.Secret + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return received{}, usage(fmt.Errorf("--secret-file: the secret was made and could not be written: %w", err), "rin client rotate "+made.ClientID+" makes another one")
	}
	made.Secret = ""
	return received{made, s.path}, nil
}
