package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
)

// historyFile holds a line of JSON for each run, in the directory of --history.
const historyFile = "runs.jsonl"

// maxHistory is the number of runs that are kept.
const maxHistory = 1000

// pastRun records which kinds of random requests a run drew, so that later runs at the node can draw others.
type pastRun struct {
	Node     string    `json:"node"`
	Date     time.Time `json:"date"`
	Seed     string    `json:"seed"`
	Decision string    `json:"decision"`
	// Drawn lists the drawn kinds of requests by family, which is a group of related kinds.
	Drawn map[string][]string `json:"drawn"`
}

// historyKey names the node of a target in the history: its id in the registry, or its info endpoint.
func historyKey(t target.Target) string { return cmp.Or(t.NodeID, t.InfoURL) }

// readHistory returns the kinds that earlier runs at the node drew, by family. An empty directory name means no history.
func readHistory(dir string, t target.Target) (map[string][]string, error) {
	runs, err := readRuns(dir)
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, run := range runs {
		if run.Node != historyKey(t) {
			continue
		}
		for family, kinds := range run.Drawn {
			for _, kind := range kinds {
				if !slices.Contains(out[family], kind) {
					out[family] = append(out[family], kind)
				}
			}
		}
	}
	return out, nil
}

func readRuns(dir string) ([]pastRun, error) {
	if dir == "" {
		return nil, nil
	}
	path := filepath.Join(dir, historyFile)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage(fmt.Errorf("--history: %w", err), "name a directory that can be read and written")
	}
	var out []pastRun
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var run pastRun
		if err := json.Unmarshal(lines.Bytes(), &run); err != nil {
			return nil, usage(fmt.Errorf("--history: %s, line %d is not a run: %w", path, n, err), "remove the line, or name another directory")
		}
		out = append(out, run)
	}
	if err := lines.Err(); err != nil {
		return nil, usage(fmt.Errorf("--history: read %s: %w", path, err), "name another directory")
	}
	return out, nil
}

// addHistory adds a run to the history.
func addHistory(dir string, t target.Target, r report.Report) error {
	if dir == "" {
		return nil
	}
	runs, err := readRuns(dir)
	if err != nil {
		return err
	}
	run := pastRun{Node: historyKey(t), Date: r.Date, Seed: r.Made.Seed, Decision: string(r.Verdict.Decision), Drawn: map[string][]string{}}
	for _, f := range r.Made.Families {
		if len(f.Drawn) > 0 {
			run.Drawn[f.Name] = f.Drawn
		}
	}
	runs = append(runs, run)
	runs = runs[max(0, len(runs)-maxHistory):]
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return usage(fmt.Errorf("--history: %w", err), "name a directory that can be written")
	}
	err = replace(filepath.Join(dir, historyFile), ownerOnly, func(w io.Writer) error {
		out := json.NewEncoder(w)
		for _, run := range runs {
			if err := out.Encode(run); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return usage(fmt.Errorf("--history: %w", err), "name a directory that can be written")
	}
	return nil
}
