//go:build unix

package clienttest

import (
	"os/exec"
	"syscall"
)

// useOwnGroup starts the program in a process group of its own, which is killed as a whole.
func useOwnGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
