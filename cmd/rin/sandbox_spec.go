package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/control"
	"github.com/rin-network/rin/sandbox/described"
)

// specFlags are about an API that is served from its document.
type specFlags struct {
	api   sandbox.APIConfig
	lists string
}

func (s *specFlags) register(f *pflag.FlagSet) {
	f.StringVar(&s.api.File, "spec", "", "also serve the API that this OpenAPI 3.0 or 3.1 document describes, JSON or YAML; a change is picked up")
	f.IntVar(&s.api.Items, "items", described.DefaultItems, "number of items of each of its lists")
	f.StringVar(&s.lists, "lists", string(described.ListsAsDeclared), fmt.Sprintf("its lists that declare a single object, one of %v; real nodes answer with an array", described.AllLists()))
	f.BoolVar(&s.api.Open, "open", false, "serve it without a token (its try-out space never needs one)")
}

// config is the configuration of the API; its File is empty for none.
func (s *specFlags) config() (sandbox.APIConfig, error) {
	c := s.api
	c.Lists = described.Lists(s.lists)
	if c.File == "" && (c.Items != described.DefaultItems || c.Lists != described.ListsAsDeclared || c.Open) {
		return c, usage(errors.New("--items, --lists and --open are about an API from a document"), "name the document with --spec FILE")
	}
	if c.File == "" {
		return sandbox.APIConfig{}, nil
	}
	return c, nil
}

// writeAPI says where an API from a document is.
func (g greeting) writeAPI(w io.Writer, node *sandbox.Server) {
	if api := node.API(g.base); api.File != "" {
		fmt.Fprintf(w, "  described\t%s (%s)\n", api.Document, counted(api.Operations, "operation"))
		fmt.Fprintf(w, "  \t%s (no token)\n", api.TryOut)
	}
}

// warnOfAPIs lists what of documents is not served.
func warnOfAPIs(out io.Writer, nodes []*sandbox.Server) error {
	var b strings.Builder
	for _, node := range nodes {
		api := node.API("")
		if len(api.NotServed) == 0 {
			continue
		}
		fmt.Fprintf(&b, "rin: %s of %s cannot be served:\n", counted(len(api.NotServed), "part"), api.File)
		writeParts(&b, 2, api.NotServed)
		b.WriteString("hint: they answer 501 with the reason; mend the document, and it is read again\n")
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeDescribed tells of an API from a document while it is served.
func writeDescribed(b *strings.Builder, api control.DescribedAPI) {
	fmt.Fprintf(b, "    serves %s: %s\n", api.File, counted(api.Operations, "operation"))
	if len(api.NotServed) > 0 {
		b.WriteString("        not served:\n")
		writeParts(b, 10, api.NotServed)
	}
	if api.Fault != "" {
		writeEntry(b, "the file has changed, and is not served:", api.Fault)
	}
}

// writeParts lists the first parts of a document that are not served.
func writeParts(b *strings.Builder, indent int, parts []string) {
	const most = 20
	before := strings.Repeat(" ", indent)
	for _, part := range parts[:min(len(parts), most)] {
		fmt.Fprintf(b, "%s%s\n", before, strings.Join(folded(part, helpWidth-indent-2), "\n  "+before))
	}
	if more := len(parts) - most; more > 0 {
		fmt.Fprintf(b, "%sand %d more\n", before, more)
	}
}

// counted is a number with its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
