package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/control"
)

func revokeCommand(w world) *cobra.Command {
	var to clientTarget
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Take a client out of use, with its tokens",
		Long: `Revoke takes a client out of use: its secret is refused with invalid_client, its
tokens are refused with 401 invalid_token from the next call on, and its account
leaves the books of the funding service.

In the network a token may outlive the client until it expires: a resource
server that verifies signatures alone does not hear of it. Here it is refused at
once, so that a client can be tested on it.`,
		Example: `  rin client revoke library`,
		Args:    cobra.ExactArgs(1),
		RunE: to.toOne(w, func(c control.Client, node string, args []string) error {
			revoked, err := c.Revoke(node, args[0])
			if err != nil {
				return err
			}
			return answer(w.out, to.asJSON, revoked, func(out io.Writer, a control.Account) error {
				_, err := fmt.Fprintf(out, "client %s of node %s is revoked: its secret and its tokens are refused\n", a.ClientID, node)
				return err
			})
		}),
	}
	cmd.ValidArgsFunction = to.complete(w)
	to.registerOn(cmd)
	return cmd
}
