package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox/clientrules"
)

func requirementsCommand(w environment) *cobra.Command {
	var format, profile string
	var clients bool
	cmd := &cobra.Command{
		Use:   "requirements",
		Short: "List the catalogue of requirements",
		Long: `Requirements lists the catalogue. DEVIATIONS counts the deviations of the
sandbox that a requirement detected in the tests of rin.`,
		Example: `  rin requirements
  rin requirements --profile auth
  rin requirements --clients       what rin sandbox report judges clients by
  rin requirements --format json | jq -r '.[] | select(.gate=="gating") | .id'
  rin requirements --format markdown > REQUIREMENTS.md`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			p, err := parseProfile(profile)
			if err != nil {
				return err
			}
			write, ok := catalogueFormats()[format]
			if !ok {
				return usage(fmt.Errorf("unknown format %q", format), "use table, json or markdown")
			}
			if clients {
				return clientFormats()[format](w.out, clientrules.Catalogue())
			}
			var chosen []requirement.Requirement
			for _, r := range requirement.Catalogue() {
				if p.Includes(r.Profile) {
					chosen = append(chosen, r)
				}
			}
			return write(w.out, chosen)
		},
	}
	cmd.Flags().BoolVar(&clients, "clients", false, "list the rules for clients instead of those for nodes")
	cmd.Flags().StringVar(&format, "format", "table", "table, json or markdown")
	cmd.Flags().StringVar(&profile, "profile", "full", "only what this profile judges: auth, api, funding or full")
	cmd.MarkFlagsMutuallyExclusive("clients", "profile")
	return cmd
}

func parseProfile(name string) (requirement.Profile, error) {
	switch p := requirement.Profile(name); p {
	case requirement.Auth, requirement.API, requirement.Funding, requirement.Full:
		return p, nil
	}
	return "", usage(fmt.Errorf("unknown profile %q", name), "use auth, api, funding or full")
}

// catalogueFormats returns the output formats for the requirements.
func catalogueFormats() map[string]func(io.Writer, []requirement.Requirement) error {
	return map[string]func(io.Writer, []requirement.Requirement) error{
		"table": catalogueTable, "json": catalogueJSON, "markdown": catalogueMarkdown,
	}
}

func catalogueTable(out io.Writer, rows []requirement.Requirement) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	matrix := verdict.RecordedMatrix()
	fmt.Fprintln(t, "ID\tGATE\tPROFILE\tDEVIATIONS\tTITLE")
	for _, r := range rows {
		title := strings.Split(report.Hang("", r.Title, helpWidth-42), "\n") // the columns before it take 42
		fmt.Fprintf(t, "%s\t%s\t%s\t%10d\t%s\n", r.ID, r.Gate, r.Profile, len(matrix.KilledBy(r.ID)), title[0])
		for _, more := range title[1:] {
			fmt.Fprintf(t, "\t\t\t\t%s\n", more)
		}
	}
	return t.Flush()
}

// citation is one passage of a source.
type citation struct {
	Text string `json:"text"`
	Link string `json:"link,omitempty"`
}

// requirementRow is a requirement as JSON, without its check.
type requirementRow struct {
	ID        requirement.ID      `json:"id"`
	Title     string              `json:"title"`
	Level     requirement.Level   `json:"level"`
	Gate      requirement.Gate    `json:"gate"`
	Profile   requirement.Profile `json:"profile"`
	Source    string              `json:"source"`
	Link      string              `json:"link,omitempty"`
	Citations []citation          `json:"places"`
	// Quote is from the first citation.
	Quote    string           `json:"quote"`
	Derived  bool             `json:"derived,omitempty"`
	Probe    string           `json:"probe"`
	Forgives string           `json:"forgives,omitempty"`
	Fix      string           `json:"fix"`
	Breaks   string           `json:"breaks"`
	After    []requirement.ID `json:"after,omitempty"`
	// Faults lists the deviations of the sandbox that the requirement detected.
	Faults []string `json:"faults,omitempty"`
}

func catalogueJSON(out io.Writer, rows []requirement.Requirement) error {
	list := make([]requirementRow, 0, len(rows))
	matrix := verdict.RecordedMatrix()
	for _, r := range rows {
		var faults []string
		for _, f := range matrix.KilledBy(r.ID) {
			faults = append(faults, f.Name)
		}
		var citations []citation
		for _, c := range r.Source.Citations {
			citations = append(citations, citation{c.Text, c.URL})
		}
		list = append(list, requirementRow{r.ID, r.Title, r.Level, r.Gate, r.Profile, r.Source.Text(), r.Source.URL(), citations, r.Quote,
			r.Source.Derived, r.Probe, r.Forgives, r.Fix, r.Breaks, r.After, faults})
	}
	return writeJSON(out, list)
}

func catalogueMarkdown(out io.Writer, rows []requirement.Requirement) error {
	if _, err := fmt.Fprintln(out, "| Id | Title | Level | Gate | Profile | Faults | Source |\n|---|---|---|---|---|---:|---|"); err != nil {
		return err
	}
	matrix := verdict.RecordedMatrix()
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, r := range rows {
		var sources []string
		for _, c := range r.Source.Citations {
			text := cell.Replace(c.Text)
			if c.URL != "" {
				text = fmt.Sprintf("[%s](%s)", text, c.URL)
			}
			sources = append(sources, text)
		}
		if _, err := fmt.Fprintf(out, "| %s | %s | %s | %s | %s | %d | %s |\n",
			r.ID, cell.Replace(r.Title), r.Level, r.Gate, r.Profile, len(matrix.KilledBy(r.ID)), strings.Join(sources, "; ")); err != nil {
			return err
		}
	}
	return nil
}

// clientFormats returns the output formats for the rules for clients.
func clientFormats() map[string]func(io.Writer, []clientrules.Rule) error {
	return map[string]func(io.Writer, []clientrules.Rule) error{"table": clientTable, "json": clientJSON, "markdown": clientMarkdown}
}

func clientTable(out io.Writer, rules []clientrules.Rule) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "ID\tLEVEL\tTITLE")
	for _, r := range rules {
		fmt.Fprintf(t, "%s\t%s\t%s\n", r.ID, r.Level, r.Title)
	}
	return t.Flush()
}

// clientRow is a rule for clients as JSON, without its check.
type clientRow struct {
	ID      clientrules.ID       `json:"id"`
	Title   string               `json:"title"`
	Level   clientrules.Level    `json:"level"`
	Sources []clientrules.Source `json:"sources"`
	Why     string               `json:"why"`
	Fix     string               `json:"fix"`
}

func clientJSON(out io.Writer, rules []clientrules.Rule) error {
	list := make([]clientRow, 0, len(rules))
	for _, r := range rules {
		list = append(list, clientRow{r.ID, r.Title, r.Level, r.Sources, r.Why, r.Fix})
	}
	return writeJSON(out, list)
}

func clientMarkdown(out io.Writer, rules []clientrules.Rule) error {
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
