package requirement_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"

	"github.com/rin-network/rin/conformance/requirement"
)

// evidenceCase is one file of testdata/<ID>.txtar: what it shows, what must come of it, and its script.
type evidenceCase struct {
	id      requirement.ID
	outcome requirement.Outcome
	title   string
	script  string
	files   map[string]string
}

// readCases reads all archives of testdata, in the order of their names.
func readCases() ([]evidenceCase, error) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil {
		return nil, err
	}
	var cases []evidenceCase
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			return nil, err
		}
		id := requirement.ID(strings.TrimSuffix(filepath.Base(path), ".txtar"))
		files := map[string]string{}
		for _, f := range archive.Files {
			if f.Name == goodPart {
				continue
			}
			outcome, title, isCase := strings.Cut(f.Name, ": ")
			if !isCase {
				files[f.Name] = string(f.Data)
				continue
			}
			if !slices.Contains(outcomes(), requirement.Outcome(outcome)) {
				return nil, fmt.Errorf("%s: %q is no outcome", path, outcome)
			}
			cases = append(cases, evidenceCase{id, requirement.Outcome(outcome), title, string(f.Data), files})
		}
	}
	return cases, nil
}

func outcomes() []requirement.Outcome {
	return []requirement.Outcome{requirement.Pass, requirement.Warn, requirement.Fail, requirement.NotApplicable,
		requirement.Blocked, requirement.Inconclusive}
}

// perform sets the stage for a case: the good node, unless its script begins with "base none", then the case's own script.
func (c evidenceCase) perform() (*stage, error) {
	s := newStage()
	script, alone := strings.CutPrefix(c.script, "base none\n")
	if !alone {
		if err := s.goodNode(); err != nil {
			return nil, err
		}
		s.want = wanted{}
	}
	for name, data := range c.files {
		s.files[name] = data
	}
	return s, s.read(string(c.id)+" "+c.title, script)
}

// goodNode reads the scripts of testdata/good: a node that keeps every rule.
func (s *stage) goodNode() error {
	entries, err := os.ReadDir(filepath.Join("testdata", "good"))
	if err != nil {
		return err
	}
	var scripts []string
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join("testdata", "good", e.Name()))
		if err != nil {
			return err
		}
		if filepath.Ext(e.Name()) == ".http" {
			scripts = append(scripts, e.Name())
		}
		s.files[e.Name()] = string(data)
	}
	for _, name := range scripts {
		if err := s.read("good/"+name, s.files[name]); err != nil {
			return err
		}
	}
	parts, err := goodParts()
	for _, part := range parts {
		if err := s.read(goodPart, part); err != nil {
			return err
		}
	}
	return err
}

// goodPart names the file of testdata/<ID>.txtar that belongs to the good node: the exchanges that only this requirement needs.
const goodPart = "good"

var goodParts = sync.OnceValues(func() (parts []string, err error) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			return nil, err
		}
		for _, f := range archive.Files {
			if f.Name == goodPart {
				parts = append(parts, string(f.Data))
			}
		}
	}
	return parts, err
})
