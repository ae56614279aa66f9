package target

import "fmt"

// Problem is one mistake in a target, with the flag that it came by and what to do.
type Problem struct {
	// Flag is the flag to mend, with its dashes.
	Flag string
	// Message names what was expected and what came, without any secret.
	Message string
	// Hint says what to do.
	Hint string
	// Cause is the underlying error; may be nil.
	Cause error
}

// Error implements error.
func (p *Problem) Error() string {
	text := fmt.Sprintf("%s: %s", p.Flag, p.Message)
	if p.Cause != nil {
		text += ": " + p.Cause.Error()
	}
	if p.Hint != "" {
		text += " (hint: " + p.Hint + ")"
	}
	return text
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }
