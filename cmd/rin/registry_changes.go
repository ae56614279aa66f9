package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
)

// registryChangesCommand lists what a pull request changes, so that its check can ask for a run of each node.
func registryChangesCommand(w environment) *cobra.Command {
	return &cobra.Command{
		Use:   "changes BEFORE AFTER",
		Short: "List the entries that differ between two registry documents",
		Long: `Changes compares two registry documents and prints a line for each entry that
was added, got another URL (moved), or was removed, with its id. An entry that
was added or moved needs a run of its node; rin verify --registry says whether a
run is about an entry. A file BEFORE that is empty or missing has no entries.

A file AFTER is refused if it brings an entry that cannot be listed: one without
an id that can be used, or with a member twice.`,
		Example: `  rin registry changes before.json ris.json`,
		Args:    cobra.ExactArgs(2),
		RunE: func(_ *cobra.Command, args []string) error {
			var before registry.Document
			text, err := w.readFile(args[0])
			if isNew := errors.Is(err, fs.ErrNotExist) || err == nil && len(bytes.TrimSpace(text)) == 0; !isNew || isURL(args[0]) {
				if before, err = readRegistryFile(w, args[0]); err != nil {
					return err
				}
			}
			after, err := readRegistryFile(w, args[1])
			if err != nil {
				return err
			}
			if err := registry.HiddenEntries(before, after); err != nil {
				first, _, more := strings.Cut(err.Error(), "\n")
				if more {
					first += "; and more"
				}
				return usage(fmt.Errorf("%s: %s", args[1], first), "correct the entry; without that, a change of it would not be listed")
			}
			var out strings.Builder
			for _, c := range registry.ChangedEntries(before, after) {
				fmt.Fprintf(&out, "%s %s\n", c.Kind, report.Plain(c.ID))
			}
			_, err = io.WriteString(w.out, out.String())
			return err
		},
	}
}

// readRegistryFile reads a registry document in a file.
func readRegistryFile(w environment, path string) (registry.Document, error) {
	if info, err := os.Stat(path); err == nil && info.Size() > registry.MaxDocument {
		return registry.Document{}, usage(fmt.Errorf("%s has more than %d bytes", path, registry.MaxDocument), "name the file of a registry document")
	}
	if isURL(path) {
		return registry.Document{}, usage(fmt.Errorf("expected the file of a registry document, got the URL %s", withoutPassword(path)), "no request is sent: download the document, such as with curl -o ris.json, and name the file")
	}
	text, err := w.readFile(path)
	if err != nil {
		return registry.Document{}, usage(err, "name the file of a registry document")
	}
	d, err := registry.ReadDocument(text)
	if err != nil {
		why, _, _ := strings.Cut(err.Error(), " (hint:") // the hint is about registry.yaml
		return d, usage(fmt.Errorf("%s: %s", path, why), "name the file of a registry document")
	}
	return d, nil
}
