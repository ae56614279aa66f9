//go:build !unix

package clienttest

import "os/exec"

// useOwnGroup does nothing: the program alone is killed.
func useOwnGroup(*exec.Cmd) {}
