package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/rin-network/rin/sandbox/conduct"
)

// clientFormats are the forms of the catalogue of rules for clients.
func clientFormats() map[string]func(io.Writer, []conduct.Rule) error {
	return map[string]func(io.Writer, []conduct.Rule) error{"table": clientTable, "json": clientJSON, "markdown": clientMarkdown}
}

func clientTable(out io.Writer, rules []conduct.Rule) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tLEVEL\tTITLE")
	for _, r := range rules {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.ID, r.Level, r.Title)
	}
	return t.Flush()
}

// clientRow is a rule for clients as JSON: the words without the code.
type clientRow struct {
	ID      conduct.ID       `json:"id"`
	Title   string           `json:"title"`
	Level   conduct.Level    `json:"level"`
	Sources []conduct.Source `json:"sources"`
	Why     string           `json:"why"`
	Fix     string           `json:"fix"`
}

func clientJSON(out io.Writer, rules []conduct.Rule) error {
	list := make([]clientRow, 0, len(rules))
	for _, r := range rules {
		list = append(list, clientRow{r.ID, r.Title, r.Level, r.Sources, r.Why, r.Fix})
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(list)
}

func clientMarkdown(out io.Writer, rules []conduct.Rule) error {
	var b strings.Builder
	b.WriteString("| Id | Title | Level | Source |\n|---|---|---|---|\n")
	for _, r := range rules {
		var sources []string
		for _, s := range r.Sources {
			text := s.Text
			if s.Link != "" {
				text = "[" + s.Text + "](" + s.Link + ")"
			}
			sources = append(sources, text)
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", r.ID, r.Title, r.Level, strings.Join(sources, "; "))
	}
	_, err := io.WriteString(out, b.String())
	return err
}
