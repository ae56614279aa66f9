package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/rin-network/rin/conformance/target"
)

// The exit codes. Scripts depend on them; their meaning never changes.
const (
	exitOK           = 0 // certified, or a partial run in which nothing failed
	exitNotCertified = 1 // a gating requirement failed
	exitUsage        = 2 // usage or configuration
	exitInconclusive = 3 // unreachable, or a gating requirement inconclusive or blocked
	exitInternal     = 4 // an internal error
)

// exitError is an error with an exit code and a hint for the user.
type exitError struct {
	code int
	err  error
	hint string
	// quiet suppresses the message: the command already printed its result.
	quiet bool
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// usage wraps a mistake of the user.
func usage(err error, hint string) error { return &exitError{code: exitUsage, err: err, hint: hint} }

// exitWith ends a command whose output already says everything.
func exitWith(code int) error {
	return &exitError{code: code, err: fmt.Errorf("exit %d", code), quiet: true}
}

// internal wraps an error that the user cannot fix.
func internal(err error) error {
	return &exitError{code: exitInternal, err: err, hint: "this is a fault of rin; please report it with the command line and this text"}
}

// printError prints the error of a command with its hint and returns its exit code. Errors without a code come from cobra's parsing of the command line.
func printError(w io.Writer, err error, command string) int {
	code, hint := exitUsage, "see "+command+" --help"
	var e *exitError
	if errors.As(err, &e) {
		if e.quiet {
			return e.code
		}
		code, hint = e.code, e.hint
	}
	all := problemsOf(err)
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

// problem is one of several mistakes that are reported together.
type problem struct{ text, hint string }

// problemsOf lists the mistakes in a target or a file that an error consists of, each with its hint.
func problemsOf(err error) []problem {
	switch e := err.(type) {
	case *target.Problem:
		text := fmt.Sprintf("%s %s", e.Flag, e.Message)
		if e.Cause != nil {
			text += ": " + e.Cause.Error()
		}
		return []problem{{text, e.Hint}}
	case *fileError:
		return e.problems()
	case interface{ Unwrap() []error }:
		var all []problem
		for _, part := range e.Unwrap() {
			all = append(all, problemsOf(part)...)
		}
		return all
	case interface{ Unwrap() error }:
		return problemsOf(e.Unwrap())
	}
	return nil
}
