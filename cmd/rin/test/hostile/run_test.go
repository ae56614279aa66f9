package hostile_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/rin-network/rin/cmd/rin/test"
)

// outcome is what a run printed, wrote and used.
type outcome struct {
	code    int
	output  string   // everything that people read, on one line
	harm    []string // texts that would act where they are shown
	took    time.Duration
	memory  test.Footprint
	trapped int64 // connections to the trap
}

// run certifies the node of an attack.
func run(a attack) (outcome, error) {
	dir, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return outcome{}, err
	}
	defer os.RemoveAll(dir)
	t := newTrap()
	defer t.Close()
	n, err := serve(a, t.URL, dir)
	if err != nil {
		return outcome{}, fmt.Errorf("serve: %w", err)
	}
	defer n.stop()
	reports := filepath.Join(dir, "report")
	o, outputs, err := start(dir, n.secrets(), n.arguments(a, reports)...)
	if err != nil {
		return o, err
	}
	o.trapped = t.connections.Load()
	if err := readAll(reports, outputs); err != nil {
		return o, err
	}
	o.harm = findHarm(outputs)
	o.output = strings.Join(strings.Fields(outputs["stdout"]+" "+outputs["stderr"]+" "+outputs["report.md"]), " ")
	return o, nil
}

// start runs the binary to its end in a bare environment, and watches its memory. The outputs are its streams, by name.
func start(dir string, env []string, args ...string) (o outcome, outputs map[string]string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), deadline+extraTime+time.Minute)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, append([]string{"HOME=" + dir}, env...), &stdout, &stderr
	started := time.Now()
	if err := cmd.Start(); err != nil {
		return outcome{}, nil, fmt.Errorf("start: %w", err)
	}
	watched := test.WatchMemory(cmd.Process.Pid)
	_ = cmd.Wait() // the exit code says how it ended
	o = outcome{code: cmd.ProcessState.ExitCode(), took: time.Since(started), memory: watched()}
	return o, map[string]string{"stdout": stdout.String(), "stderr": stderr.String()}, nil
}

// readAll adds the files of a directory to outputs, by name. The directory may be missing.
func readAll(dir string, outputs map[string]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	for _, e := range entries {
		path, text, err := test.ReadOutput(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		outputs[filepath.Base(path)] = text
	}
	return nil
}
