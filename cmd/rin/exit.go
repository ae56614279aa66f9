package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/rin-network/rin/conformance/target"
)

// The exit codes. Scripts and pipelines build on them; they never change their meaning.
const (
	exitOK           = 0 // certified, or a partial run in which nothing failed
	exitNotCertified = 1 // a gating requirement failed
	exitUsage        = 2 // usage or configuration
	exitInconclusive = 3 // unreachable, or a gating requirement inconclusive or blocked
	exitInternal     = 4 // a fault of rin
)

// exitError carries an exit code and, for the person who must act, a hint.
type exitError struct {
	code int
	err  error
	hint string
	// quiet errors were already told as a result: nothing more is printed.
	quiet bool
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// usage is a mistake in what the person gave.
func usage(err error, hint string) error { return &exitError{code: exitUsage, err: err, hint: hint} }

// told ends with a code after the result itself was the message.
func told(code int) error {
	return &exitError{code: code, err: fmt.Errorf("exit %d", code), quiet: true}
}

// internal is a fault that the person cannot mend.
func internal(err error) error {
	return &exitError{code: exitInternal, err: err, hint: "this is a fault of rin; please report it with the command line and this text"}
}

// tell prints the error once, with its hint, and returns its exit code. Errors without a code come from cobra's own
// parsing of the command line.
func tell(w io.Writer, err error) int {
	code, hint := exitUsage, "see rin --help"
	var e *exitError
	if errors.As(err, &e) {
		if e.quiet {
			return e.code
		}
		code, hint = e.code, e.hint
	}
	all := complaintsOf(err)
	for _, c := range all {
		fmt.Fprintf(w, "rin: %s\n", c.text)
		if c.hint != "" {
			fmt.Fprintf(w, "hint: %s\n", c.hint)
		}
	}
	if len(all) > 0 {
		return code
	}
	fmt.Fprintf(w, "rin: %v\n", err)
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
	return code
}

// complaint is one of several mistakes that are told at once.
type complaint struct{ text, hint string }

// complaintsOf lists the mistakes in a target or in a file that an error is made of, each with its own hint.
func complaintsOf(err error) []complaint {
	switch e := err.(type) {
	case *target.Problem:
		text := fmt.Sprintf("%s %s", e.Flag, e.Message)
		if e.Cause != nil {
			text += ": " + e.Cause.Error()
		}
		return []complaint{{text, e.Hint}}
	case *fileError:
		return e.complaints()
	case interface{ Unwrap() []error }:
		var all []complaint
		for _, part := range e.Unwrap() {
			all = append(all, complaintsOf(part)...)
		}
		return all
	case interface{ Unwrap() error }:
		return complaintsOf(e.Unwrap())
	}
	return nil
}
