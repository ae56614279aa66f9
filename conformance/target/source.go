package target

import (
	"errors"
	"fmt"
	"strings"
)

// Source says where a secret is to be read from: an environment variable, a file or standard input.
type Source struct {
	flag string
	kind sourceKind
	name string // variable or path
}

type sourceKind int

const (
	fromEnvironment sourceKind = iota + 1
	fromFile
	fromStdin
)

// Reader is how a source reaches the world. A nil field means that there is no such thing here.
type Reader struct {
	Environment func(name string) (value string, set bool)
	File        func(path string) ([]byte, error)
	Stdin       func() ([]byte, error)
}

// maxSecret bounds what is taken for a secret, in bytes.
const maxSecret = 16 << 10

// ParseSource reads "env:NAME", "file:PATH" or "-". flag is the name of the flag with its dashes, for messages. A secret that
// stands on the command line itself is refused without being repeated: other users of the machine can read it there.
func ParseSource(flag, text string) (Source, error) {
	kind, name, found := strings.Cut(text, ":")
	switch {
	case text == "-":
		return Source{flag: flag, kind: fromStdin}, nil
	case found && name != "" && kind == "env":
		return Source{flag: flag, kind: fromEnvironment, name: name}, nil
	case found && name != "" && kind == "file":
		return Source{flag: flag, kind: fromFile, name: name}, nil
	case found && name == "" && (kind == "env" || kind == "file"):
		return Source{}, &Problem{Flag: flag, Message: fmt.Sprintf("%q names nothing", text),
			Hint: "write env:NAME or file:PATH"}
	case text == "":
		return Source{}, &Problem{Flag: flag, Message: "says no place to read the secret from", Hint: sourceHint}
	}
	return Source{}, &Problem{Flag: flag, Message: "takes a place to read the secret from, not the secret itself", Hint: sourceHint}
}

const sourceHint = "put the secret into a file or an environment variable and write file:PATH, env:NAME, or - for standard input"

// Stdin reports that the source takes all of standard input, which only one source of a command can do.
func (s Source) Stdin() bool { return s.kind == fromStdin }

// Read fetches the secret. One line end after it is not part of it.
func (s Source) Read(r Reader) (Secret, error) {
	text, err := s.text(r)
	if err != nil {
		return Secret{}, err
	}
	text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
	switch {
	case text == "":
		return Secret{}, &Problem{Flag: s.flag, Message: "the secret from " + s.place() + " is empty", Hint: "write the secret there"}
	case len(text) > maxSecret:
		return Secret{}, &Problem{Flag: s.flag, Message: fmt.Sprintf("%s holds %d bytes, too many for a secret", s.place(), len(text)),
			Hint: "name the place that holds the secret alone"}
	}
	return NewSecret(text), nil
}

func (s Source) text(r Reader) (string, error) {
	var data []byte
	var err error
	switch s.kind {
	case fromEnvironment:
		if r.Environment != nil {
			if value, set := r.Environment(s.name); set {
				return value, nil
			}
		}
		return "", &Problem{Flag: s.flag, Message: s.place() + " is not set", Hint: "export " + s.name + " before the command"}
	case fromFile:
		data, err = call(r.File, s.name)
	case fromStdin:
		if r.Stdin == nil {
			err = errors.New("there is none")
		} else {
			data, err = r.Stdin()
		}
	default:
		err = errors.New("no source was given")
	}
	if err != nil {
		return "", &Problem{Flag: s.flag, Message: "read secret from " + s.place(), Cause: err, Hint: sourceHint}
	}
	return string(data), nil
}

func call(read func(string) ([]byte, error), path string) ([]byte, error) {
	if read == nil {
		return nil, errors.New("files cannot be read here")
	}
	return read(path)
}

func (s Source) place() string {
	switch s.kind {
	case fromEnvironment:
		return "environment variable " + s.name
	case fromFile:
		return "file " + s.name
	case fromStdin:
		return "standard input"
	}
	return "nowhere"
}
