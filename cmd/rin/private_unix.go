//go:build unix

package main

import (
	"io/fs"
	"os"
	"syscall"
)

// isPrivate reports whether only the owner of a file can read it. A file of another owner, such as a secret that Kubernetes mounts, may be readable by a
// group: otherwise this process could not read it.
func isPrivate(file fs.FileInfo) bool {
	if stat, ok := file.Sys().(*syscall.Stat_t); ok && int(stat.Uid) != os.Geteuid() {
		return file.Mode().Perm()&0o007 == 0
	}
	return file.Mode().Perm()&0o077 == 0
}
