package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/conduct/sheet"
	"github.com/rin-network/rin/sandbox/control"
)

// journalCommand shows what clients sent, one request after the other.
func journalCommand(w world) *cobra.Command {
	var to controlTarget
	wanted := control.Range{Limit: 20, Last: true}
	var asJSON, empty bool
	cmd := &cobra.Command{
		Use:   "journal",
		Short: "Show what clients sent, and what was wrong with it",
		Long: `Journal shows the newest requests to a sandbox that serves: who sent what, what
came back, and, where something was wrong, why, which rule it broke, and the
command that does it right. No secret and no token is in it.`,
		Example: `  rin sandbox journal
  rin sandbox journal --wrong --last 5
  rin sandbox journal --clear                    before the next test
  rin sandbox journal --client my-client --json | jq '.entries[].status'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if wanted.Limit < 1 || wanted.Limit > control.MaxJournal {
				return usage(fmt.Errorf("--last: expected 1 to %d, got %d", control.MaxJournal, wanted.Limit), "leave it out for 20")
			}
			c, err := to.client(cmd.Context(), w)
			if err != nil {
				return err
			}
			if empty {
				if err := c.ClearJournal(); err != nil {
					return refused(err)
				}
				_, err := fmt.Fprintln(w.out, "the journal is empty")
				return err
			}
			got, err := c.Journal(wanted)
			if err != nil {
				return refused(err)
			}
			if asJSON {
				return sheet.JSON(w.out, got)
			}
			if len(got.Entries) == 0 {
				fmt.Fprintln(w.err, "the journal has no such request")
			}
			return sheet.Lines(w.out, got.Entries, min(screenOf(w, w.out, cmd).width, 120))
		},
	}
	to.register(cmd.Flags())
	cmd.Flags().StringVar(&wanted.Client, "client", "", "`id` of the one client to show (default all)")
	cmd.Flags().BoolVar(&wanted.Wrong, "wrong", false, "only requests that broke a rule or were refused")
	cmd.Flags().IntVar(&wanted.Limit, "last", 20, fmt.Sprintf("number of requests, up to %d", control.MaxJournal))
	cmd.Flags().BoolVar(&asJSON, "json", false, "as JSON, with all that is kept")
	cmd.Flags().BoolVar(&empty, "clear", false, "forget all requests instead, and nothing else")
	return cmd
}
