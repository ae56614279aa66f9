package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/sandbox/control"
)

func requestCommand(w world) *cobra.Command {
	var to clientTarget
	var asked control.AccessRequest
	cmd := &cobra.Command{
		Use:   "request",
		Short: "Ask for access, as through the contact form of a node",
		Long: `Request records that a party asks for access to a node: who asks, where to
reach them, and what they want it for. The operator answers it with
rin client create.`,
		Example: `  rin client request --party 'Library of Musterberg' \
      --contact it@musterberg.example --purpose 'calls in our intranet'`,
		Args: cobra.NoArgs,
		RunE: to.toOne(w, func(c control.Client, node string, _ []string) error {
			request, err := c.Ask(node, asked)
			if err != nil {
				return err
			}
			return answer(w.out, to.asJSON, request, func(out io.Writer, r control.AccessRequest) error { return writeRequest(out, r, to.again()) })
		}),
	}
	f := cmd.Flags()
	f.StringVar(&asked.Party, "party", "", "who asks")
	f.StringVar(&asked.Contact, "contact", "", "where to reach them, such as an e-mail address")
	f.StringVar(&asked.Purpose, "purpose", "", "what they want the access for")
	to.registerOn(cmd)
	return cmd
}

func writeRequest(out io.Writer, r control.AccessRequest, again string) error {
	_, err := fmt.Fprintf(out, "request %s of %s is recorded\n\nThe operator answers it:\n  rin client create ID --request %s%s\n", r.ID, partyOf(r), r.ID, again)
	return err
}

// partyOf is who asks, and where to reach them.
func partyOf(r control.AccessRequest) string {
	return report.Plain(r.Party) + " (" + report.Plain(r.Contact) + ")"
}
