package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/control"
)

const statePermitted = string(account.Permitted)

func listClientsCommand(w world) *cobra.Command {
	var to clientTarget
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the clients of a node, and the requests that wait",
		Long: `List shows the clients of a node with role and affiliation, and the requests
for access that wait for an answer. No secret is shown: the node has none.

The states of a client:

  registered  gets tokens; the funding service refuses it
  permitted   reads fundings, too
  revoked     gets nothing; its tokens are refused`,
		Example: `  rin client list
  rin client list --node XB --json`,
		Args: cobra.NoArgs,
		RunE: to.toOne(w, func(c control.Client, node string, _ []string) error {
			all, err := c.Accounts(node)
			if err != nil {
				return err
			}
			return answer(w.out, to.asJSON, all, func(out io.Writer, all control.Accounts) error { return writeAccounts(out, all, to.again()) })
		}),
	}
	to.registerOn(cmd)
	return cmd
}

func writeAccounts(out io.Writer, all control.Accounts, again string) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "client\tstate\trole\taffiliation")
	for _, a := range all.Accounts {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", a.ClientID, a.State, orDash(a.Role), orDash(a.Affiliation))
	}
	_ = t.Flush()
	for _, r := range all.Requests {
		if r.ClientID == "" {
			fmt.Fprintf(&b, "\nrequest %s of %s waits since %s:\n  %s\n  rin client create ID --request %s%s\n",
				r.ID, partyOf(r), r.Asked.Format("2006-01-02 15:04"), report.Plain(r.Purpose), r.ID, again)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return report.Plain(text)
}
