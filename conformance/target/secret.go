package target

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
)

// hidden is what every formatter and logger sees of a secret.
const hidden = "[secret]"

// Secret is a client secret. Only [Secret.Reveal] and JSON, which carries it to the worker's stdin, hold its text. The zero
// value is no secret at all. The text stands behind a pointer, because fmt reads unexported fields past every method.
type Secret struct{ text *string }

// NewSecret hides a text; the empty text is no secret.
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

// IsZero reports that no secret was given.
func (s Secret) IsZero() bool { return s.text == nil }

// String implements fmt.Stringer without telling the secret.
func (s Secret) String() string {
	if s.IsZero() {
		return ""
	}
	return hidden
}

// Format implements fmt.Formatter: no verb tells the secret.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// LogValue implements slog.LogValuer without telling the secret.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// MarshalJSON implements json.Marshaler: this is the one encoding that holds the secret, made for the worker's stdin.
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
