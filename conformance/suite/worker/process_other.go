//go:build !unix

package worker

import "os/exec"

// useOwnGroup does nothing, because these systems have no process groups; cancellation kills only the child.
func useOwnGroup(*exec.Cmd) {}

// killGroup kills only the child.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}
