package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// stateFormat is the format and version of a state file.
const stateFormat = "rin.sandbox/v1"

// sandboxState is the content of a state file: how the commands of this user reach a running sandbox.
type sandboxState struct {
	Format string `json:"format"`
	// Control is the URL of the control listener, Token its token, and Sandbox the base URL of the sandbox itself.
	Control string    `json:"control"`
	Token   string    `json:"token"`
	Sandbox string    `json:"sandbox"`
	Nodes   []string  `json:"nodes"`
	Started time.Time `json:"started"`
}

// stateFolder returns the folder of the state files of this user.
func stateFolder(w environment) (string, error) {
	for _, place := range []struct{ variable, below string }{
		{"XDG_RUNTIME_DIR", "rin"}, {"XDG_STATE_HOME", "rin"}, {"HOME", filepath.Join(".local", "state", "rin")}, {"LOCALAPPDATA", "rin"},
	} {
		if folder, set := w.getenv(place.variable); set && filepath.IsAbs(folder) {
			return filepath.Join(folder, place.below), nil
		}
	}
	return "", errors.New("expected XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME in the environment (hint: or name the sandbox: --control URL)")
}

// write writes the state file, which only this user can read, and returns its path.
func (s sandboxState) write(w environment) (string, error) {
	folder, err := stateFolder(w)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return "", fmt.Errorf("make the folder of state files: %w", err)
	}
	controlURL, err := url.Parse(s.Control)
	if err != nil {
		return "", fmt.Errorf("name the state file: %w", err)
	}
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return "", fmt.Errorf("encode the state file: %w", err)
	}
	path := filepath.Join(folder, "sandbox-"+controlURL.Port()+".json")
	err = replace(path, 0o600, func(to io.Writer) error {
		_, err := to.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("write the state file: %w", err)
	}
	return path, nil
}

// removeState removes a state file. It does nothing for "".
func removeState(path string) {
	if path != "" {
		_ = os.Remove(path) // a file that stays is removed by the next command that finds its sandbox gone
	}
}

// runningSandboxes lists the running sandboxes of this user, the oldest first. It removes the files of sandboxes that were killed.
func runningSandboxes(w environment) []sandboxState {
	folder, err := stateFolder(w)
	if err != nil {
		return nil
	}
	paths, err := filepath.Glob(filepath.Join(folder, "sandbox-*.json"))
	if err != nil {
		return nil
	}
	var running []sandboxState
	for _, path := range paths {
		text, err := w.readFile(path)
		var s sandboxState
		if err != nil || json.Unmarshal(text, &s) != nil || s.Format != stateFormat {
			continue
		}
		controlURL, err := url.Parse(s.Control)
		if err != nil {
			continue
		}
		if !isListening(controlURL.Host) {
			removeState(path)
			continue
		}
		running = append(running, s)
	}
	slices.SortFunc(running, func(a, b sandboxState) int { return a.Started.Compare(b.Started) })
	return running
}

// isListening reports whether a process of this machine listens at an address.
func isListening(address string) bool {
	connection, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	_ = connection.Close()
	return true
}

// describeStates lists running sandboxes, one line for each.
func describeStates(all []sandboxState) string {
	var b strings.Builder
	for _, s := range all {
		fmt.Fprintf(&b, "\n  --control %s   %s at %s, since %s", s.Control, strings.Join(s.Nodes, ", "), s.Sandbox, s.Started.Format("15:04:05"))
	}
	return b.String()
}
