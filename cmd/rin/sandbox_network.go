package main

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/configfile"
	"github.com/rin-network/rin/sandbox/control"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/mockapi"
	"github.com/rin-network/rin/sandbox/recording"
)

// networkFlags hold the number and the preset of the nodes.
type networkFlags struct {
	nodes  int
	preset string
}

func (n *networkFlags) register(f *pflag.FlagSet) {
	f.IntVar(&n.nodes, "nodes", 1, fmt.Sprintf("number of nodes, up to %d, each with its own authorization server, clients and data", configfile.MaxNodes))
	f.StringVar(&n.preset, "flavour", "", "flavour of the node, one of "+strings.Join(sandbox.PresetNames(), ", ")+" (default: none for a single node, all in turn for several)")
}

// configure returns the configurations of all nodes, as the file lists them or derived from the first.
func (n *networkFlags) configure(first sandbox.Config, file configfile.File) ([]sandbox.Config, error) {
	if n.nodes < 1 || n.nodes > configfile.MaxNodes {
		return nil, usage(fmt.Errorf("--nodes: %d is not from 1 to %d", n.nodes, configfile.MaxNodes), "say how many nodes there are, such as 3")
	}
	if n.preset != "" {
		preset, err := sandbox.FindPreset(n.preset)
		if err != nil {
			return nil, usage(fmt.Errorf("--flavour: %w", err), "rin sandbox --help lists them")
		}
		first.Preset = preset
	}
	if file.ListsNodes() {
		return file.Nodes(first), nil
	}
	return configfile.Nodes(first, n.nodes), nil
}

// presetTable explains the presets, the values of --flavour, for help.
func presetTable() string {
	var b strings.Builder
	for _, preset := range sandbox.Presets() {
		why := preset.Why
		if len(preset.Warns) > 0 {
			why += " Warnings: " + strings.Join(preset.Warns, ", ") + "."
		}
		b.WriteString(report.Hang(fmt.Sprintf("  %-12s ", preset.Name), why, helpWidth-1) + "\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// scenarioFlags hold the scenarios that a sandbox plays from the start, and whether requests may choose some.
type scenarioFlags struct {
	plays    []string
	byHeader bool
}

func (s *scenarioFlags) register(f *pflag.FlagSet) {
	f.StringArrayVar(&s.plays, "scenario", nil, "play a scenario, a fixed sequence of faults for each client and then good answers: `NAME`, or NAME:client=ID:path=PATH:times=N:wait=1s to change some of its settings; may be repeated")
	f.BoolVar(&s.byHeader, "deviate-header", false, "let a request choose its deviation or scenario by a header: "+fault.DeviateHeader+": NAME, "+fault.ScenarioHeader+": NAME")
}

// configure adds the scenarios to the configuration of a node.
func (s *scenarioFlags) configure(c *sandbox.Config) error {
	c.FaultHeaders = s.byHeader
	for _, text := range s.plays {
		p, err := fault.ParsePlay(text)
		if err != nil {
			return usage(fmt.Errorf("--scenario: %w", err), "rin sandbox --scenarios lists them: --scenario 503-twice:client=ID:times=3")
		}
		c.Scenarios = append(c.Scenarios, p)
	}
	return nil
}

// specFlags hold the settings of an API that is served from its document.
type specFlags struct {
	api             sandbox.APIConfig
	lists, examples string
	replay          string
	recorded        recording.Node // the node of the recording
}

func (s *specFlags) register(f *pflag.FlagSet) {
	f.StringVar(&s.api.File, "spec", "", "also serve the API that this OpenAPI 3.0 or 3.1 document describes, JSON or YAML; `file` (a change is picked up) or URL (read once, at the start)")
	f.IntVar(&s.api.Items, "items", mockapi.DefaultItems, "number of items of each of its lists")
	f.StringVar(&s.lists, "lists", string(mockapi.ListsAsDeclared), fmt.Sprintf("how to serve its lists that declare a single object, one of %v; real nodes answer with an array", mockapi.AllLists()))
	f.StringVar(&s.examples, "examples", string(mockapi.ExamplesPrefer), fmt.Sprintf("how to use its examples, one of %v: given where they fit their schemas, or drawn values only", mockapi.AllExamples()))
	f.BoolVar(&s.api.State, "state", false, "keep what POST, PUT, PATCH and DELETE change in its lists, until rin sandbox reset")
	f.StringVar(&s.replay, "replay", "", "serve the records of this `folder`, which rin sandbox record has made, and no generated ones")
	f.BoolVar(&s.api.Open, "open", false, "serve it without a token (its try-out space never needs one)")
}

// config returns the configuration of the API. Its File is empty if there is none.
func (s *specFlags) config() (sandbox.APIConfig, error) {
	c := s.api
	if s.replay != "" {
		return s.openReplay()
	}
	c.Lists, c.Examples = mockapi.Lists(s.lists), mockapi.Examples(s.examples)
	if c.File == "" && (c.Items != mockapi.DefaultItems || c.Lists != mockapi.ListsAsDeclared || c.Examples != mockapi.ExamplesPrefer || c.Open || c.State) {
		return c, usage(errors.New("--items, --lists, --examples, --state and --open are about an API from a document"), "name the document with --spec FILE")
	}
	if c.File == "" {
		return sandbox.APIConfig{}, nil
	}
	return c, nil
}

// openReplay returns the configuration of the API of a recording.
func (s *specFlags) openReplay() (sandbox.APIConfig, error) {
	if s.api.File != "" || s.api.Items != mockapi.DefaultItems || s.lists != string(mockapi.ListsAsDeclared) || s.examples != string(mockapi.ExamplesPrefer) {
		return sandbox.APIConfig{}, usage(errors.New("--replay serves recorded answers: --spec, --items, --lists and --examples are about generated ones"), "leave them out")
	}
	r, err := openRecording(s.replay, "--replay")
	if err != nil {
		return sandbox.APIConfig{}, err
	}
	s.recorded = r.Node
	return sandbox.APIConfig{File: s.replay, Text: string(r.Document), Recorded: r.ForReplay(), State: s.api.State, Open: s.api.Open}, nil
}

// applyRecording gives a node that replays a recording the name and the paths of the recorded node, unless flags choose others.
func (s *specFlags) applyRecording(c *sandbox.Config) {
	if c.API.Recorded == nil {
		return
	}
	if n := s.recorded; n.ID != "" {
		c.Member = funding.Member{ID: n.ID, Name: n.Name, Acronym: cmp.Or(n.Acronym, n.ID), Contact: "ris@node.example"}
	}
	if prefix := s.recorded.Prefix(); c.Prefix == "" && (sandbox.Config{Prefix: prefix}).Validate() == nil {
		c.Prefix = prefix
	}
	if realm := s.recorded.Realm(); c.Realm == "" && (sandbox.Config{Realm: realm}).Validate() == nil {
		c.Realm = realm
	}
}

// writeAPI prints the URLs of an API from a document.
func (g greeting) writeAPI(w io.Writer, node *sandbox.Server) {
	if api := node.API(g.base); api.File != "" {
		if api.Recorded {
			fmt.Fprintf(w, "  replays\t%s\n", api.File)
		}
		fmt.Fprintf(w, "  API document\t%s (%s)\n", api.Document, evidence.Count(api.Operations, "operation"))
		fmt.Fprintf(w, "  \t%s (no token)\n", api.TryOut)
	}
}

// warnOfAPIs lists the parts of documents that cannot be served.
func warnOfAPIs(out io.Writer, nodes []*sandbox.Server) error {
	var b strings.Builder
	for _, node := range nodes {
		api := node.API("")
		if len(api.NotServed) == 0 {
			continue
		}
		fmt.Fprintf(&b, "rin: %s of %s cannot be served:\n", evidence.Count(len(api.NotServed), "part"), api.File)
		writeParts(&b, 2, api.NotServed)
		b.WriteString("hint: these parts answer 501 with the reason; fix the document, and rin reads it again\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeDescribedAPI describes a served API and the parts that cannot be served.
func writeDescribedAPI(b *strings.Builder, api control.DescribedAPI) {
	fmt.Fprintf(b, "    serves %s: %s\n", api.File, evidence.Count(api.Operations, "operation"))
	if len(api.NotServed) > 0 {
		b.WriteString("        not served:\n")
		writeParts(b, 10, api.NotServed)
	}
	if api.Fault != "" {
		writeEntry(b, "the newest version of the file is not served:", api.Fault)
	}
}

// writeParts lists the first parts of a document that cannot be served.
func writeParts(b *strings.Builder, indent int, parts []string) {
	const limit = 20
	margin := strings.Repeat(" ", indent)
	for _, part := range parts[:min(len(parts), limit)] {
		b.WriteString(report.Hang(margin+"- ", part, helpWidth) + "\n")
	}
	if more := len(parts) - limit; more > 0 {
		fmt.Fprintf(b, "%sand %d more\n", margin, more)
	}
}

// replicaFlags hold the files that replicas of a sandbox share, so that each accepts the clients and the tokens of the others.
type replicaFlags struct{ keys, secrets string }

func (r *replicaFlags) register(f *pflag.FlagSet) {
	f.StringVar(&r.keys, "key-file", "", "derive the signing keys from the text in this `file`, a random one of at least 22 characters: replicas with the same file accept each other's tokens (not opaque ones)")
	f.StringVar(&r.secrets, "secret-file", "", "derive the secrets of the clients from the text in this `file`, also a random one of at least 22 characters: replicas have the same clients")
}

// configure derives the keys and secrets of all nodes from the files. A file takes precedence over --seed, and the key file over the keys in --data.
func (r *replicaFlags) configure(w environment, config *sandbox.NetworkConfig) error {
	keys, err := seedOf(w, "--key-file", r.keys)
	if err != nil {
		return err
	}
	secrets, err := seedOf(w, "--secret-file", r.secrets)
	if err != nil {
		return err
	}
	for i := range config.Nodes {
		config.Nodes[i].KeySeed, config.Nodes[i].SecretSeed = keys, secrets
	}
	return nil
}

// seedOf returns a seed that is a function of a secret text in a file; nil without a file.
func seedOf(w environment, flag, path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	const hint = "make one: openssl rand -hex 32 > FILE && chmod 600 FILE"
	if info, err := os.Stat(path); err == nil && !isPrivate(info) {
		return nil, usage(fmt.Errorf("%s: %s can be read by others (mode %04o)", flag, path, info.Mode().Perm()), "chmod 600 "+path)
	}
	text, err := w.readFile(path)
	if err != nil {
		return nil, usage(fmt.Errorf("%s: %w", flag, err), hint)
	}
	secret := strings.TrimSpace(string(text))
	if account.SecretBits(secret) < account.MinimalSecretBits {
		return nil, usage(errors.New(flag+": the text in "+path+" can be guessed: expected a random one of at least 22 characters"), hint)
	}
	seed := sha256.Sum256([]byte(secret))
	return seed[:], nil
}
