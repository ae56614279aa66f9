//go:build unix

package worker

import (
	"os/exec"
	"syscall"
)

// useOwnGroup makes the child start in its own process group, and makes cancellation kill the whole group.
func useOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { killGroup(cmd); return nil }
}

// killGroup kills the process group of a started child.
func killGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
