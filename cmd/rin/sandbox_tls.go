package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/transport"
)

// tlsFlags say whether a sandbox is served over https, and where its authority is written.
type tlsFlags struct {
	on   bool
	file string
}

// defaultAuthorityFile is in the working directory, beside the report.
const defaultAuthorityFile = "rin-sandbox-ca.pem"

func (t *tlsFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&t.on, "tls", false, "serve https, with a certificate authority made on the spot")
	f.StringVar(&t.file, "tls-ca-file", "", "where to write that authority, PEM (default "+defaultAuthorityFile+")")
}

// settings are those of a sandbox with TLS, nil without.
func (t *tlsFlags) settings() (*transport.Settings, error) {
	switch {
	case t.on:
		return &transport.Settings{}, nil
	case t.file != "":
		return nil, usage(errors.New("--tls-ca-file: the sandbox has no authority without TLS"), "add --tls")
	}
	return nil, nil
}

// authorityFile is the absolute path of the authority, so that printed commands work in any directory; empty without TLS.
func (t *tlsFlags) authorityFile() string {
	if !t.on {
		return ""
	}
	path := t.file
	if path == "" {
		path = defaultAuthorityFile
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// keep writes the authority of a sandbox. The one of an earlier sandbox is replaced; no other file is.
func (t *tlsFlags) keep(w world, node *sandbox.Server) error {
	path := t.authorityFile()
	if path == "" {
		return nil
	}
	there, err := w.readFile(path)
	switch {
	case err == nil && !transport.Made(there):
		return usage(fmt.Errorf("--tls-ca-file: %s is there already and holds no authority of a sandbox", path), "name another file")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usage(fmt.Errorf("--tls-ca-file: %w", err), "name a file that can be written")
	}
	if err := os.WriteFile(path, node.Authority(), 0o644); err != nil {
		return usage(fmt.Errorf("--tls-ca-file: %w", err), "name a file that can be written")
	}
	return nil
}

// hosts are the names and addresses by which a node is reached: those of this machine, the one it listens on, and the public one.
func hosts(listening, publicURL string) []string {
	all := []string{"localhost", "127.0.0.1", "::1"}
	if ip := net.ParseIP(listening); ip != nil && !ip.IsUnspecified() {
		all = append(all, listening)
	}
	if u, err := url.Parse(publicURL); err == nil && u.Hostname() != "" {
		all = append(all, u.Hostname())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// quoted is a path as one word of a shell.
func quoted(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%", r)
	}
	if strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
