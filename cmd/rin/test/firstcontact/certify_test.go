//go:build unix

package firstcontact_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// run holds the settings of a certification of many nodes.
type run struct {
	binaries string // folder with the program rin
	// patient runs wait until tokens expire, as the writers' inputs say; the others certify for the profile funding without waiting.
	patient  bool
	seed     string // the same draw in each run; "" leaves the draw to rin
	parallel int
	reports  string // where the reports are kept
	again    bool   // judge the reports of an earlier run that lie there
}

// quick holds the flags that a run that is not patient appends to the writer's command line. Of a flag that
// occurs twice, the last value counts.
const quick = " --profile funding --wait 0s"

// report is the part of report.json from which the result of a node follows. Package report does not read it, because earlier versions of
// rin wrote it, too.
type report struct {
	Suite struct {
		Version string `json:"version"`
	} `json:"suite"`
	Catalogue struct {
		Version string `json:"version"`
	} `json:"catalogue"`
	Made struct {
		Seed string `json:"seed"`
	} `json:"made"`
	Profile string `json:"profile"`
	Verdict struct {
		Decision string `json:"decision"`
		Failed   bool   `json:"failed"`
		Reasons  []struct {
			Requirements []string `json:"requirements"`
			Text         string   `json:"text"`
		} `json:"reasons"`
	} `json:"verdict"`
	Requirements []struct {
		ID      string `json:"id"`
		Outcome string `json:"outcome"`
		Costs   bool   `json:"costs"`
		Reason  string `json:"reason"`
		Got     string `json:"got"`
	} `json:"requirements"`
}

// certify starts a node, runs the writer's command line against it, and reads the report.
func (r run) certify(w *workshop, n node) (report, error) {
	reportFile := filepath.Join(r.reports, n.path(), "report.json")
	if r.again {
		var got report
		return got, readJSON(reportFile, &got)
	}
	dir, err := w.prepare(n)
	if err != nil {
		return report{}, err
	}
	port, stop, err := start(n, dir)
	if err != nil {
		return report{}, err
	}
	defer stop()
	line := strings.ReplaceAll(n.inputs.Certify, "{port}", port) + " --format json --report-dir " + filepath.Join(r.reports, n.path())
	if !r.patient {
		line += quick
	}
	if r.seed != "" {
		line += " --seed " + r.seed
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Dir = dir
	cmd.Env = append(environ(), "PATH="+r.binaries+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, secret := range n.inputs.Env {
		cmd.Env = append(cmd.Env, name+"="+secret)
	}
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 3)) { // refused, inconclusive
		return report{}, fmt.Errorf("%s: %w\n%s", n.path(), err, out)
	}
	var got report
	return got, readJSON(reportFile, &got)
}

// outcomes certifies all nodes, a few at a time, and returns the outcomes in the order of the nodes, and the errors by node.
func (r run) outcomes(w *workshop, nodes []node) ([]outcome, map[string]error) {
	results, failures := make([]outcome, len(nodes)), map[string]error{}
	var mu sync.Mutex
	var group sync.WaitGroup
	slots := make(chan struct{}, r.parallel)
	for i, n := range nodes {
		slots <- struct{}{}
		if r.patient && !r.again {
			time.Sleep(3 * time.Second) // a run is busy in its first seconds, then it waits
		}
		group.Go(func() {
			defer func() { <-slots }()
			got, err := r.certify(w, n)
			if err != nil {
				mu.Lock()
				failures[n.path()] = err
				mu.Unlock()
				return
			}
			results[i] = judge(n, got)
		})
	}
	group.Wait()
	return results, failures
}
