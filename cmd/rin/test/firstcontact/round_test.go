//go:build unix

package firstcontact_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
)

// node is one server of a round.
type node struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"` // "wrong" or "right"
	Framework string   `json:"framework"`
	Command   []string `json:"command"`  // starts it in its folder, at $PORT
	Sentence  string   `json:"sentence"` // what it breaks, or what is unusual about it
	Where     string   `json:"where"`    // how a person sees it
	folder    string   // of the writer, such as round1/python
	inputs    inputs
	reading   reading
}

// path names a node among those of all rounds.
func (n node) path() string { return n.folder + "/" + n.Name }

// round returns the number of the node's round; 0 outside the rounds.
func (n node) round() (round int) {
	_, _ = fmt.Sscanf(n.folder, "round%d/", &round) // other folders have no number
	return round
}

// inputs is what the writer gives a certification.
type inputs struct {
	Nodes   string            `json:"nodes"`   // a pattern of names; without it the inputs are those of a framework
	Env     map[string]string `json:"env"`     // secrets
	Certify string            `json:"certify"` // the command line for a shell, with {port}
}

// reading is what a second reader, who saw no result, says about a node.
type reading struct {
	Name string `json:"name"`
	// Kind is "wrong" or "right"; a node about which writer and reader differ is not counted.
	Kind string `json:"kind"`
	// IDs lists the requirements that a wrong node breaks; one of them must fail. Of a right node it lists those that must not be misled.
	IDs []requirement.ID `json:"ids"`
	Why string           `json:"why"`
}

// readJSON reads a file into a value.
func readJSON(name string, value any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, value); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	return nil
}

// readRound reads the nodes of a round, such as "round1", in the order of their writers.
func readRound(round string) ([]node, error) {
	lists, err := filepath.Glob(filepath.Join(round, "*", "nodes.json"))
	if err != nil {
		return nil, err
	}
	var readings []reading
	if err := readJSON(filepath.Join(round, "second-reading.json"), &readings); err != nil {
		return nil, err
	}
	var all []node
	for _, list := range lists {
		folder := filepath.Dir(list)
		var nodes []node
		if err := readJSON(list, &nodes); err != nil {
			return nil, err
		}
		given := map[string]inputs{}
		if err := readJSON(filepath.Join(folder, "inputs.json"), &given); err != nil {
			return nil, err
		}
		for _, n := range nodes {
			n.folder = filepath.ToSlash(folder)
			if n.inputs, err = inputsOf(n, given); err != nil {
				return nil, err
			}
			read := slices.IndexFunc(readings, func(r reading) bool { return r.Name == n.Name })
			if read < 0 {
				return nil, fmt.Errorf("%s: no second reading", n.path())
			}
			n.reading = readings[read]
			all = append(all, n)
		}
	}
	return all, nil
}

// inputsOf chooses the inputs of a node: by the pattern of its name, or by its framework.
func inputsOf(n node, given map[string]inputs) (inputs, error) {
	for framework, in := range given {
		if ok, err := path.Match(in.Nodes, n.Name); err == nil && ok || strings.EqualFold(framework, n.Framework) {
			return in, nil
		}
	}
	return inputs{}, fmt.Errorf("%s: no inputs for the framework %q", n.path(), n.Framework)
}
