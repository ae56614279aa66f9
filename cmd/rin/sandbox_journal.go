package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/control"
)

func journalCommand(w environment) *cobra.Command {
	var to controlTarget
	query := control.Range{Limit: 20, Last: true}
	var asJSON, clearAll bool
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Show what clients sent, and what was wrong with it",
		Long: `Journal shows the newest requests to a running sandbox: who sent what, the
answer, and, if something was wrong, why, which rule it broke, and a command
that does it right. It contains no secrets and no tokens.`,
		Example: `  rin sandbox journal
  rin sandbox journal --wrong --last 5
  rin sandbox journal --clear                    before the next test
  rin sandbox journal --client my-client --json | jq '.entries[].status'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if query.Limit < 1 || query.Limit > control.MaxJournal {
				return usage(fmt.Errorf("--last: expected 1 to %d, got %d", control.MaxJournal, query.Limit), "leave it out for 20")
			}
			c, err := to.client(cmd.Context(), w)
			if err != nil {
				return err
			}
			if clearAll {
				if err := c.ClearJournal(); err != nil {
					return controlError(err)
				}
				_, err := fmt.Fprintln(w.out, "the journal is empty")
				return err
			}
			page, err := c.Journal(query)
			if err != nil {
				return controlError(err)
			}
			if asJSON {
				return clientrules.WriteJSON(w.out, page)
			}
			if len(page.Entries) == 0 {
				fmt.Fprintln(w.err, "the journal has no such request")
			}
			return clientrules.WriteLines(w.out, page.Entries, min(displayOf(w, w.out, cmd).width, 120))
		},
	}
	to.register(cmd.Flags())
	cmd.Flags().StringVar(&query.Client, "client", "", "`id` of the only client to show (default all)")
	cmd.Flags().BoolVar(&query.Wrong, "wrong", false, "only requests that broke a rule or were refused")
	cmd.Flags().IntVar(&query.Limit, "last", 20, fmt.Sprintf("number of requests, up to %d", control.MaxJournal))
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, with all that is kept")
	cmd.Flags().BoolVar(&clearAll, "clear", false, "delete all requests instead")
	return cmd
}

func reportCommand(w environment) *cobra.Command {
	var to controlTarget
	var format, client, file, failOn string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Judge the clients by what they sent",
		Long: `Report judges each client of a running sandbox by the requests in the journal:
which rules it broke, what is legal but wasteful, the requests that show it, and
a command that does it right. The rules are CLT-01 and so on:
rin requirements --clients lists them, rin explain CLT-01 explains one.

It ends with 0 when no client has a fault, with 1 when one has, with 3 when
there is nothing to judge. With --fail-on waste, or note, it ends with 1 for
such findings, too.`,
		Example: `  rin sandbox                                    in another terminal, then
  rin sandbox report
  rin sandbox report --client my-client
  rin sandbox report --fail-on waste             in a pipeline
  rin sandbox report --format html -o conduct.html
  rin sandbox report --format json | jq '.clients[].findings[].rule'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(clientReportFormats(), format) {
				return usage(fmt.Errorf("--format: unknown format %q", format), "use "+strings.Join(clientReportFormats(), ", "))
			}
			if !slices.Contains(clientrules.Levels(), clientrules.Level(failOn)) {
				return usage(fmt.Errorf("--fail-on: unknown level %q", failOn), "use fault, waste or note")
			}
			c, err := to.client(cmd.Context(), w)
			if err != nil {
				return err
			}
			var report clientrules.Report
			if cmd.Flags().Changed("client") {
				report, err = c.ClientReport(client)
			} else {
				report, err = c.Report()
			}
			if err != nil {
				return controlError(err)
			}
			var text bytes.Buffer
			if err := writeClientReport(&text, report, format, min(displayOf(w, w.out, cmd).width, 100)); err != nil {
				return internal(err)
			}
			if err := deliver(w, file, text.Bytes()); err != nil {
				return err
			}
			switch {
			case len(report.Clients) == 0:
				return exitWith(exitInconclusive)
			case report.Has(clientrules.Level(failOn)):
				return exitWith(exitNotCertified)
			}
			return nil
		},
	}
	to.register(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", "text", "form of the report: "+strings.Join(clientReportFormats(), ", "))
	cmd.Flags().StringVar(&client, "client", "", "`id` of the only client to judge (default all)")
	cmd.Flags().StringVar(&failOn, "fail-on", string(clientrules.Fault), "mildest `level` that ends with 1: fault, waste, note")
	cmd.Flags().StringVarP(&file, "output", "o", "", "`file` to write (default standard output)")
	return cmd
}

// clientReportFormats lists the values of --format.
func clientReportFormats() []string { return []string{"text", "json", "html"} }

func writeClientReport(out io.Writer, report clientrules.Report, format string, width int) error {
	switch format {
	case "json":
		return clientrules.WriteJSON(out, report)
	case "html":
		return clientrules.WriteHTML(out, report)
	}
	return clientrules.WriteText(out, report, width)
}

// deliver writes a result to a file, or to standard output if none is named.
func deliver(w environment, file string, text []byte) error {
	if file == "" {
		_, err := w.out.Write(text)
		return err
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return usage(fmt.Errorf("-o: %w", err), "name a file in a directory that exists")
	}
	_, err := fmt.Fprintf(w.err, "wrote %s\n", file)
	return err
}
