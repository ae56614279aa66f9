//go:build unix

package clients_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"golang.org/x/sync/errgroup"
)

// client is a program of a corpus.
type client struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"` // right or wrong
	Command []string `json:"command"`
	// Sentence says what the client does. Where says where its writer expected the fault.
	Sentence string `json:"sentence"`
	Where    string `json:"where"`
	// Rules are the rules that may name the fault of a wrong client. For a client that was meant to be right they are the rules that it breaks
	// nevertheless.
	Rules []string `json:"rules"`
	// Scenarios are the scenarios that show the fault, separated by commas; if empty, the client runs in all of them.
	Scenarios string `json:"scenarios"`
	// Module is a module of the language without which the client does not run. Setup is a command that installs or builds what the client needs. It
	// runs once for all clients with the same command, and finds the binary in the variable RIN.
	Module string   `json:"module"`
	Setup  []string `json:"setup"`
	// Missed says why no rule names this wrong client yet.
	Missed string `json:"missed"`
	// Sample says that the client runs in every test.
	Sample bool `json:"sample"`

	folder string
}

// corpus returns the chosen clients of all folders.
func corpus() []client {
	GinkgoHelper()
	lists, err := filepath.Glob("*/clients.json")
	Expect(err).NotTo(HaveOccurred())
	chosen := regexp.MustCompile(os.Getenv("RIN_CLIENTS"))
	var out []client
	for _, list := range lists {
		text, err := os.ReadFile(list)
		Expect(err).NotTo(HaveOccurred())
		var clients []client
		Expect(json.Unmarshal(text, &clients)).To(Succeed(), list)
		for _, c := range clients {
			c.folder = filepath.Dir(list)
			if os.Getenv("RIN_CLIENTS") == "" && c.Sample || os.Getenv("RIN_CLIENTS") != "" && chosen.MatchString(c.folder+" "+c.Name) {
				out = append(out, c)
			}
		}
	}
	return out
}

// workshop runs each setup once.
type workshop struct {
	mu   sync.Mutex
	done map[string]error // by folder and command
}

// prepare reports why the client cannot run on this machine; nil if it can.
func (w *workshop) prepare(c client) error {
	if _, err := exec.LookPath(c.Command[0]); err != nil {
		return err
	}
	if c.Module != "" && exec.Command(c.Command[0], "-c", "import "+c.Module).Run() != nil {
		return fmt.Errorf("%s has no module %s", c.Command[0], c.Module)
	}
	if len(c.Setup) == 0 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	key := c.folder + " " + strings.Join(c.Setup, " ")
	err, done := w.done[key]
	if !done {
		cmd := exec.Command(c.Setup[0], c.Setup[1:]...)
		cmd.Dir, cmd.Env = c.folder, append(os.Environ(), "RIN="+binary)
		if out, failure := cmd.CombinedOutput(); failure != nil {
			err = fmt.Errorf("%s: %w\n%s", key, failure, out)
		}
		w.done[key] = err
	}
	return err
}

// verdict is the report of rin client-test.
type verdict struct {
	Problems []problem
	output   string
}

// problem is a broken rule or a note in the report.
type problem struct{ Scenario, Rule, Level, What string }

// isBlamedBy reports whether a problem blames a right client.
func (c client) isBlamedBy(p problem) bool {
	return p.Level != "note" && !slices.Contains(c.Rules, p.Rule)
}

// test runs the client in its scenarios.
func (c client) test() (v verdict, err error) {
	args := []string{"client-test", "--fail-on", "note", "--timeout", "3m", "--format", "json"}
	if c.Scenarios != "" {
		args = append(args, "--scenario", c.Scenarios)
	}
	cmd := exec.Command(binary, append(append(args, "--"), c.Command...)...)
	cmd.Dir = c.folder
	var text, progress strings.Builder
	cmd.Stdout, cmd.Stderr = &text, &progress
	failure := cmd.Run() // exit code 1 says that the client has a problem
	v.output = progress.String()
	if err := json.Unmarshal([]byte(text.String()), &v); err != nil {
		return v, fmt.Errorf("%v, %w: %s", failure, err, v.output)
	}
	return v, nil
}

// describeFault says what is wrong with the verdict on a client. It returns "" if the verdict is right.
func (c client) describeFault(v verdict) string {
	var named []string
	for _, p := range v.Problems {
		if c.Kind == "right" && !c.isBlamedBy(p) || len(named) == 5 {
			continue
		}
		named = append(named, fmt.Sprintf("%s %s (%s: %s)", p.Level, p.Rule, p.Scenario, p.What))
	}
	blamed := slices.ContainsFunc(v.Problems, c.isBlamedBy)
	caught := slices.ContainsFunc(v.Problems, func(p problem) bool { return slices.Contains(c.Rules, p.Rule) })
	switch {
	case c.Kind == "right" && blamed:
		return "is right and was blamed: " + strings.Join(named, "; ")
	case c.Kind == "wrong" && !caught && c.Missed == "":
		return fmt.Sprintf("%s, but the rules %v do not name it: %s", c.Sentence, c.Rules, strings.Join(named, "; "))
	}
	return ""
}

var _ = Describe("A client", func() {
	It("is blamed where it is wrong, by a right rule, and not where it is right", func() {
		var group errgroup.Group
		group.SetLimit(2) // each plays eight scenarios at a time
		var mu sync.Mutex
		var faults, missing []string
		tools := workshop{done: map[string]error{}}
		clients := corpus()
		Expect(clients).NotTo(BeEmpty(), "RIN_CLIENTS=%q chooses none", os.Getenv("RIN_CLIENTS"))
		for _, c := range clients {
			group.Go(func() error {
				if err := tools.prepare(c); err != nil {
					mu.Lock()
					defer mu.Unlock()
					missing = append(missing, fmt.Sprintf("%s %s (%v)", c.folder, c.Name, err))
					return nil
				}
				v, err := c.test()
				if err != nil {
					return fmt.Errorf("%s %s: %w", c.folder, c.Name, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if fault := c.describeFault(v); fault != "" {
					faults = append(faults, c.folder+" "+c.Name+" "+fault)
				}
				return nil
			})
		}
		Expect(group.Wait()).To(Succeed())
		if len(missing) > 0 {
			fmt.Fprintf(os.Stderr, "\n*** SKIPPED, because a program or library is not installed:\n%s ***\n\n", strings.Join(missing, "\n"))
		}
		if len(faults) > 0 {
			Fail(strings.Join(faults, "\n"))
		}
	})
})
