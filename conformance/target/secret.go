package target

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// hidden is what every formatter and logger sees of a secret.
const hidden = "[secret]"

// Secret is a client secret. Only [Secret.Reveal] and JSON, which carries it to the worker's stdin, contain its text. The zero
// value holds no secret. The text is behind a pointer, because fmt prints unexported fields without calling their methods.
type Secret struct{ text *string }

// NewSecret hides a text; the empty text gives the zero value.
func NewSecret(text string) Secret {
	if text == "" {
		return Secret{}
	}
	return Secret{&text}
}

// Reveal returns the text itself, for the request that needs it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// IsZero reports whether no secret was given.
func (s Secret) IsZero() bool { return s.text == nil }

// String implements fmt.Stringer without showing the secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return hidden
}

// Format implements fmt.Formatter: no verb shows the secret.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue implements slog.LogValuer without showing the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON implements json.Marshaler. JSON is the only encoding that contains the secret; it is meant for the worker's stdin.
func (s Secret) MarshalJSON() ([]byte, error) { return json.Marshal(s.Reveal()) }

// UnmarshalJSON implements json.Unmarshaler. Its errors do not quote the input.
func (s *Secret) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		return fmt.Errorf("read secret: expected a JSON string")
	}
	*s = NewSecret(text)
	return nil
}

// Credentials are what a node's operator issues to a client (NET-R16).
type Credentials struct {
	ClientID     string `json:"clientId"`
	ClientSecret Secret `json:"clientSecret,omitzero"`
}

// LogValue implements slog.LogValuer: a JSON handler would otherwise encode the secret.
func (c Credentials) LogValue() slog.Value {
	return slog.GroupValue(slog.String("clientId", c.ClientID), slog.String("clientSecret", c.ClientSecret.String()))
}

// Source is the place to read a secret from: an environment variable, a file or standard input.
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

// Reader gives a source access to environment, files and standard input. A nil field means that this access is not available.
type Reader struct {
	Environment func(name string) (value string, set bool)
	File        func(path string) ([]byte, error)
	Stdin       func() ([]byte, error)
}

// maxSecret bounds the length of a secret, in bytes.
const maxSecret = 16 << 10

// ParseSource reads "env:NAME", "file:PATH" or "-". flag is the name of the flag with its dashes, for messages. It refuses a
// secret on the command line itself, where other users of the machine can read it, and does not quote it.
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
		return Source{}, &Problem{Flag: flag, Message: "is empty: expected a place to read the secret from", Hint: sourceHint}
	}
	return Source{}, &Problem{Flag: flag, Message: "takes a place to read the secret from, not the secret itself", Hint: sourceHint}
}

const sourceHint = "put the secret into a file or an environment variable and write file:PATH, env:NAME, or - for standard input"

// Stdin reports whether the source reads standard input, which only one source of a command can do.
func (s Source) Stdin() bool { return s.kind == fromStdin }

// Read reads the secret and removes one line end after it.
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
		data, err = readFile(r.File, s.name)
	case fromStdin:
		if r.Stdin == nil {
			err = errors.New("standard input is not available here")
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

func readFile(read func(string) ([]byte, error), path string) ([]byte, error) {
	if read == nil {
		return nil, errors.New("files cannot be read here")
	}
	return read(path)
}

// place names the source for messages.
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
