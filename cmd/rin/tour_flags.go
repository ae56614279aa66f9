package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/plain"
)

// tourFlags hold the flags of rin tour. Node and credentials are those of rin certify.
type tourFlags struct {
	node      certifyFlags
	plain     bool
	language  string
	steps     []string
	mistakes  []string
	faults    []string
	filters   []string
	page      int
	open      string
	operation string
	folder    string
}

// groups returns the flags in the groups that help shows.
func (t *tourFlags) groups() []flagGroup {
	return []flagGroup{
		{"The node (default: a built-in sandbox)", t.node.registerLocation("default: the first")},
		{"Credentials (a secret is env:NAME, file:PATH or - for standard input)", func(f *pflag.FlagSet) {
			t.node.registerClients(f)
			f.StringVar(&t.node.expired, "expired-token", "", "where an expired token of the client is, to see it refused")
		}},
		{"The walk", func(f *pflag.FlagSet) {
			f.BoolVar(&t.plain, "plain", false, "print the walk line by line; the default without a terminal")
			f.StringSliceVar(&t.steps, "step", nil, "walk this step only, one of "+strings.Join(stepNames(), ", ")+"; may be repeated")
			f.StringVar(&t.language, "language", "en", "language of the funding calls: de or en")
			f.StringSliceVar(&t.filters, "filter", nil, "filter of the calls, such as region=TYROL; may be repeated")
			f.IntVar(&t.page, "page", 1, "page of the calls")
			f.StringVar(&t.operation, "operation", "", "operation whose parameters and answers are explained, by its operationId or path")
			f.StringVar(&t.open, "open", "", "id of the call to open (default: the first of the list)")
			f.StringSliceVar(&t.mistakes, "what-if", nil, "make this mistake only, one of "+strings.Join(mistakeNames(), ", "))
			f.StringSliceVar(&t.faults, "fault", nil, "show this fault of a node only, one of "+strings.Join(faultNames(), ", "))
			f.StringVar(&t.folder, "take-away", "", "folder for scripts, code and the recording of the walk")
		}},
	}
}

func stepNames() []string {
	var names []string
	for _, g := range flow.Guides() {
		names = append(names, g.Name)
	}
	return names
}

func mistakeNames() []string {
	var names []string
	for _, m := range flow.Mistakes() {
		names = append(names, m.Name)
	}
	return names
}

func faultNames() []string {
	var names []string
	for _, f := range flow.NodeFaults() {
		names = append(names, f.Name)
	}
	return names
}

// namesNode reports whether a target has a registry or a URL.
func namesNode(t target.Target) bool {
	return t.Registry != "" || len(t.RegistryDocument) > 0 || t.TokenURL != "" || t.InfoURL != "" || t.SpecURL != ""
}

// target returns the node to start with; empty for the built-in sandbox.
func (t *tourFlags) target(w environment) (target.Target, error) {
	chosen := t.node.target
	if err := t.node.readCredentials(w, &chosen); err != nil {
		return chosen, err
	}
	if err := t.node.readFiles(w, &chosen); err != nil {
		return chosen, err
	}
	for _, u := range []struct{ flag, text string }{{"--registry", chosen.Registry}, {"--token-url", chosen.TokenURL}, {"--info-url", chosen.InfoURL}, {"--spec-url", chosen.SpecURL}} {
		if u.text == "" {
			continue
		}
		if err := flow.CheckURL(u.flag, u.text, chosen.AllowOrigins); err != nil { // a URL with a password is refused, because the tour shows its requests
			return chosen, usage(fmt.Errorf("%s %w", u.flag, err), "")
		}
	}
	switch {
	case !namesNode(chosen) && (chosen.Credentials.ClientID != "" || chosen.NodeID != ""):
		return chosen, usage(errors.New("the node is missing: there are only credentials or a node id"), "add --registry, or --token-url and --info-url")
	case namesNode(chosen) && chosen.Registry == "" && len(chosen.RegistryDocument) == 0 && (chosen.TokenURL == "" || chosen.InfoURL == ""):
		return chosen, usage(errors.New("--token-url and --info-url belong together"), "give both, or --registry")
	}
	return chosen, nil
}

// options returns which steps are printed, and how.
func (t *tourFlags) options(w environment) (plain.Options, error) {
	o := plain.Options{Language: t.language, NodeID: t.node.target.NodeID, Open: t.open, Operation: t.operation, Query: flow.Query{Page: t.page - 1, Filters: map[string]string{}}}
	if t.language != "de" && t.language != "en" {
		return o, usage(fmt.Errorf("--language: %q is neither de nor en", t.language), "write de or en")
	}
	if t.page < 1 {
		return o, usage(fmt.Errorf("--page: pages count from 1, got %d", t.page), "write 1 or more")
	}
	for _, name := range t.steps {
		i := slices.Index(stepNames(), name)
		if i < 0 {
			return o, usage(fmt.Errorf("--step: unknown step %q", name), "write one of "+strings.Join(stepNames(), ", "))
		}
		o.Steps = append(o.Steps, flow.Step(i))
	}
	for _, name := range t.mistakes {
		i := slices.Index(mistakeNames(), name)
		if i < 0 {
			return o, usage(fmt.Errorf("--what-if: unknown mistake %q", name), "write one of "+strings.Join(mistakeNames(), ", "))
		}
		o.Mistakes = append(o.Mistakes, flow.Mistakes()[i])
	}
	for _, name := range t.faults {
		i := slices.Index(faultNames(), name)
		if i < 0 {
			return o, usage(fmt.Errorf("--fault: unknown fault %q", name), "write one of "+strings.Join(faultNames(), ", "))
		}
		o.Faults = append(o.Faults, flow.NodeFaults()[i])
	}
	for _, filter := range t.filters {
		name, value, found := strings.Cut(filter, "=")
		if !found || name == "" {
			return o, usage(fmt.Errorf("--filter: expected NAME=VALUE, got %q", filter), "write, for example, --filter region=TYROL")
		}
		o.Query.Filters[name] = value
	}
	if t.folder != "" {
		o.Save = func(files []flow.File) (string, error) {
			place, err := saveFiles(t.folder, files)
			if err != nil {
				return "", usage(fmt.Errorf("--take-away: %w", err), "name a new folder that can be written")
			}
			return place, nil
		}
	}
	return o, nil
}

// writeTemporaryScript writes a copied command to a file that only its owner can read.
func writeTemporaryScript(text string) (path string, err error) {
	file, err := os.CreateTemp("", "rin-curl-*.sh") // 0600
	if err != nil {
		return "", err
	}
	_, err = file.WriteString(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", fmt.Errorf("write %s: %w", file.Name(), err)
	}
	return file.Name(), nil
}
