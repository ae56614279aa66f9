//go:build unix

package worker

import (
	"os/exec"
	"syscall"
)

// ownGroup puts the child into a process group of its own and makes cancellation kill the whole group.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { stop(cmd); return nil }
}

func stop(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
}
