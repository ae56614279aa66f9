//go:build !unix

package worker

import "os/exec"

// ownGroup does nothing where there are no process groups; cancellation kills the child alone.
func ownGroup(*exec.Cmd) {}

func stop(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = cmd.Process.Kill()
	}
}
