// Package configfile makes the configurations of the nodes of a sandbox network, either from a number of nodes ([Nodes]) or from a file that configures
// each node ([Read]). The nodes differ from each other, as members of a real network do.
package configfile

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/funding"
)

// Source is the input of [Read]: a file, the keys that the caller defines, and functions
// that follow its references.
type Source struct {
	// Data is the content of the file: YAML, which includes JSON.
	Data []byte
	// Options are the keys that the file may have besides "nodes"; they configure the sandbox as a whole.
	Options []Option
	// Secret reads the secret that a reference points to: "env:NAME", "file:PATH".
	Secret func(reference string) (string, error)
	// Keys reads a JWK Set from a file or a URL.
	Keys func(place string) ([]byte, error)
}

// Option is a key of the file that the caller interprets.
type Option struct {
	// Name is the key.
	Name string
	// Expected says which value the option takes: "a number".
	Expected string
	// List reports that the option takes several values.
	List bool
}

// OptionSetting is an option that the file sets.
type OptionSetting struct {
	Option
	// Values are the values as the file writes them: one, or several for a list.
	Values []string
	value  value
}

// Fault returns a fault at the place of the option in the file, for callers that reject its value.
func (o OptionSetting) Fault(hint string) Fault {
	got := "a list"
	if !o.List {
		got = quote(o.Values[0])
	}
	return Fault{Line: o.value.at.Line, Column: o.value.at.Column, Path: o.value.path, Expected: o.Expected, Got: got, Hint: hint}
}

// File is the content of a file.
type File struct {
	// Options are the options that the file sets, in the order of the file.
	Options []OptionSetting
	nodes   []node
}

// nodesKey is the key of the nodes. An option of the caller may have the same name: then a single value at this key sets the option, and a list has the nodes.
const nodesKey = "nodes"

// Read reads a file. Its error is of type [Faults] and lists everything that is wrong in the file.
func Read(source Source) (File, error) {
	r := &reader{source: source}
	var file File
	top, fault := parse(source.Data)
	if fault != nil {
		return file, Faults{*fault}
	}
	v, _ := r.follow(top, "")
	for _, m := range r.mapping(v, r.topKeys(), func(name string) string {
		if slices.Contains(nodeOnlyKeys(), name) {
			return "it belongs to a node: put it below an entry of nodes"
		}
		return ""
	}) {
		option, known := r.option(m.name)
		if m.name == nodesKey && !(known && m.node.Kind == yaml.ScalarNode) {
			file.nodes = r.nodes(m.value)
		} else {
			r.readOption(&file, option, m.value)
		}
	}
	r.requireDistinct(file.nodes)
	if len(r.faults) == 0 {
		return file, nil
	}
	slices.SortStableFunc(r.faults, func(a, b Fault) int { return a.Line - b.Line })
	return file, r.faults
}

// topKeys lists the keys of the file: nodes and the options.
func (r *reader) topKeys() []string {
	keys := []string{nodesKey}
	for _, option := range r.source.Options {
		if option.Name != nodesKey {
			keys = append(keys, option.Name)
		}
	}
	return keys
}

// nodes reads the list of nodes.
func (r *reader) nodes(v value) []node {
	var nodes []node
	for i, item := range r.list(v, "nodes", MaxNodes) {
		nodes = append(nodes, r.node(item, i))
	}
	if v.node.Kind == yaml.SequenceNode && len(v.node.Content) == 0 {
		r.addFault(v, "one node or more", "none", "leave nodes out for a single node")
	}
	return nodes
}

// option returns the option of the caller with this name.
func (r *reader) option(name string) (Option, bool) {
	i := slices.IndexFunc(r.source.Options, func(o Option) bool { return o.Name == name })
	if i < 0 {
		return Option{}, false
	}
	return r.source.Options[i], true
}

// readOption reads an option. A list with one value may be written as that value. An option that is also a key of nodes is checked in the same way
// as that key.
func (r *reader) readOption(file *File, option Option, v value) {
	faults := len(r.faults)
	var e nodeEntry
	if setKey(&e, option.Name, v) {
		r.settings(e, &node{})
		r.api(e)
	}
	if len(r.faults) > faults {
		return
	}
	set := OptionSetting{Option: option, value: v}
	add := func(item value) {
		if text, ok := r.text(item, option.Expected); ok {
			set.Values = append(set.Values, text)
		}
	}
	if option.List && v.node.Kind == yaml.SequenceNode {
		for _, item := range r.list(v, option.Name, MaxNodes) {
			add(item)
		}
	} else {
		add(v)
	}
	if len(set.Values) > 0 {
		file.Options = append(file.Options, set)
	}
}

// Nodes returns the configurations of the nodes. Each is a copy of shared, with the settings of the node in the file. If the file lists no nodes, Nodes
// returns shared only. Settings that must differ, such as prefix and clients, are invented as for [Nodes], unless the file or shared sets them.
func (f File) Nodes(shared sandbox.Config) []sandbox.Config {
	if len(f.nodes) == 0 {
		return []sandbox.Config{shared}
	}
	configs := make([]sandbox.Config, 0, len(f.nodes))
	for i, n := range f.nodes {
		c := shared
		c.Member, c.Root, c.Seed = n.member, n.root, shared.Seed+uint64(i)
		if c.Preset.Name == "" {
			c.Preset = sandbox.Presets()[0]
		}
		for _, change := range n.changes {
			change(&c)
		}
		if i > 0 {
			fillDistinct(&c)
		}
		configs = append(configs, c)
	}
	return configs
}

// ListsNodes reports whether the file lists nodes.
func (f File) ListsNodes() bool { return len(f.nodes) > 0 }

//go:embed example.yaml
var example string

// Example returns a file with all settings, which works unchanged.
func Example() string { return example }

// MaxNodes is the largest number of nodes in a network.
const MaxNodes = 100

// Nodes makes the configurations of n nodes from that of the first. The first node is at the root of the host; each other node is below a path named
// after its id, and has its own service prefix, realm, clients and data. The settings of first apply to all nodes, except that the nodes take the presets
// in turn unless first sets one, and that the seed grows by one from node to node. If n is 1, the result is first, unchanged.
func Nodes(first sandbox.Config, n int) []sandbox.Config {
	if n == 1 {
		return []sandbox.Config{first}
	}
	presets := sandbox.Presets()
	nodes := make([]sandbox.Config, 0, n)
	for i := range n {
		c := first
		c.Member = funding.InventedMember(i)
		if first.Preset.Name == "" {
			c.Preset = presets[i%len(presets)]
		}
		c.Seed += uint64(i)
		if i > 0 {
			c.Root = "/" + segment(c.Member.ID)
			fillDistinct(&c)
		}
		nodes = append(nodes, c)
	}
	return nodes
}

// fillDistinct fills in the settings that must differ between nodes, unless they are set.
func fillDistinct(c *sandbox.Config) {
	own := cmp.Or(alphanumeric(c.Member.Acronym), segment(c.Member.ID))
	c.Prefix, c.Realm = cmp.Or(c.Prefix, own), cmp.Or(c.Realm, own)
	if c.Clients == nil {
		c.Clients = sandbox.DemoClients("-" + segment(c.Member.ID))
	}
}

// segment returns a member id as a path segment, without the suffix of a test entry.
func segment(id string) string {
	before, _, _ := strings.Cut(id, "_")
	return cmp.Or(alphanumeric(before), alphanumeric(id))
}

// alphanumeric returns the ASCII letters and digits of a name, in lower case.
func alphanumeric(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}
