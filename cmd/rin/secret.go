package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/rin-network/rin/conformance/target"
)

// credentialFlags are the flags by which a client's credentials reach a command.
type credentialFlags struct{ id, secret string }

// read fetches the credentials; flag names are for messages: "--client-id", "--client-secret".
func (c credentialFlags) read(w world, idFlag, secretFlag string, stdin *stdinOnce) (target.Credentials, error) {
	out := target.Credentials{ClientID: c.id}
	if c.secret == "" {
		return out, nil // Validate names what is missing, with everything else that is
	}
	secret, err := readSecret(w, secretFlag, c.secret, stdin)
	if err != nil {
		return out, err
	}
	out.ClientSecret = secret
	if c.id == "" {
		return out, usage(fmt.Errorf("%s is missing", idFlag), "the secret needs the id of its client")
	}
	return out, nil
}

// optional is the same for a client that need not be given; nil when neither flag was.
func (c credentialFlags) optional(w world, idFlag, secretFlag string, stdin *stdinOnce) (*target.Credentials, error) {
	if c == (credentialFlags{}) {
		return nil, nil
	}
	out, err := c.read(w, idFlag, secretFlag, stdin)
	return &out, err
}

// readSecret fetches the secret from the place that a flag names.
func readSecret(w world, flag, place string, stdin *stdinOnce) (target.Secret, error) {
	source, err := target.ParseSource(flag, place)
	if err != nil {
		return target.Secret{}, usage(err, "")
	}
	secret, err := source.Read(target.Reader{Environment: w.getenv, File: w.readFile, Stdin: stdin.read})
	if err != nil {
		return target.Secret{}, usage(err, "")
	}
	return secret, nil
}

// stdinOnce gives standard input to the first secret that asks for it.
type stdinOnce struct {
	from  io.Reader
	taken bool
}

func (s *stdinOnce) read() ([]byte, error) {
	if s.taken {
		return nil, errors.New("it was already read for another secret")
	}
	s.taken = true
	return io.ReadAll(io.LimitReader(s.from, 64<<10))
}
