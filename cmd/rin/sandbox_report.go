package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/conduct"
	"github.com/rin-network/rin/sandbox/conduct/sheet"
)

func reportCommand(w world) *cobra.Command {
	var to controlTarget
	var format, client, file string
	cmd := &cobra.Command{
		Use:   "report",
		Short: "Judge the clients by what they sent",
		Long: `Report judges each client of a sandbox that serves by the requests in its
journal: which rules it broke, what it does that is legal and wasteful, what was
seen, and the command that does it right. The rules are CLT-01 and so on:
rin requirements --clients lists them, rin explain CLT-01 explains one.

It ends with 0 when no client has a fault, with 1 when one has, with 3 when
there is nothing to judge.`,
		Example: `  rin sandbox --control 127.0.0.1:8081      in another terminal, then
  rin sandbox report
  rin sandbox report --client my-client
  rin sandbox report --format html -o conduct.html
  rin sandbox report --format json | jq '.clients[].findings[].rule'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(sheetFormats(), format) {
				return usage(fmt.Errorf("--format: %q is no format of this report", format), "use "+strings.Join(sheetFormats(), ", "))
			}
			c, err := to.client(cmd.Context(), w)
			if err != nil {
				return err
			}
			var report conduct.Report
			if cmd.Flags().Changed("client") {
				report, err = c.ConductOf(client)
			} else {
				report, err = c.Conduct()
			}
			if err != nil {
				return refused(err)
			}
			var text bytes.Buffer
			if err := writeSheet(&text, report, format, min(screenOf(w, w.out, cmd).width, 100)); err != nil {
				return internal(err)
			}
			if err := deliver(w, file, text.Bytes()); err != nil {
				return err
			}
			switch {
			case len(report.Clients) == 0:
				return told(exitInconclusive)
			case report.Faults():
				return told(exitNotCertified)
			}
			return nil
		},
	}
	to.register(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", "text", "form of the report: "+strings.Join(sheetFormats(), ", "))
	cmd.Flags().StringVar(&client, "client", "", "`id` of the one client to judge (default all)")
	cmd.Flags().StringVarP(&file, "output", "o", "", "`file` to write (default standard output)")
	return cmd
}

func sheetFormats() []string { return []string{"text", "json", "html"} }

func writeSheet(out io.Writer, report conduct.Report, format string, width int) error {
	switch format {
	case "json":
		return sheet.JSON(out, report)
	case "html":
		return sheet.HTML(out, report)
	}
	return sheet.Text(out, report, width)
}

// deliver writes a result to a file, or to standard output when none is named.
func deliver(w world, file string, text []byte) error {
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
