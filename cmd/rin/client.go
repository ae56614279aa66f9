package main

import (
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/control"
)

func clientCommand(w world) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "client",
		Short: "Give clients access to a sandbox, as in the network",
		Long: `Client does the steps by which a party gets access to a node, at a sandbox that
serves with --control:

  1. The party asks for access.                              rin client request
  2. The operator of the authorization server creates        rin client create
     a client. It has tokens now, and the funding service
     refuses it with 403.
  3. In the books of the funding service, its account gets   rin client grant
     the role EXTERNAL_API_CLIENT and an affiliation ID.
  4. Client ID, Client Secret and token endpoint are handed over, through a
     secure channel: whoever holds them acts for the account.

A secret is shown once; the node keeps a salted hash of it. Clients made here
are gone when the sandbox ends or is reset, unless it keeps its books on disk:
rin sandbox --data DIR.`,
		Example: `  rin sandbox --control 127.0.0.1:8081 --data books &
  rin client request --party 'Library of Musterberg' \
      --contact it@musterberg.example --purpose 'calls in our intranet'
  rin client create library --request R-1 --secret-file library.secret
  rin client grant library --affiliation AFF-MUST-0042
  rin token --token-url http://127.0.0.1:8080/oauth/token \
      --client-id library --client-secret file:library.secret
  rin client list
  rin client rotate library      another secret, the old one is refused
  rin client revoke library      no more tokens, and no more calls`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(requestCommand(w), createCommand(w), listClientsCommand(w), grantCommand(w), rotateCommand(w), revokeCommand(w))
	return cmd
}

// clientTarget are the flags that the steps have in common: where the sandbox is, which node is meant, and for whom the answer is.
type clientTarget struct {
	controlTarget
	asJSON bool
}

func (t *clientTarget) registerOn(cmd *cobra.Command) {
	t.register(cmd.Flags())
	t.registerNode(cmd.Flags())
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "answer with one JSON object")
}

// again names the node of a command in the next one, if it was named.
func (t *clientTarget) again() string {
	if t.node == "" {
		return ""
	}
	return " --node " + t.node
}

// answer writes what a step came to: as JSON, or as write tells it to a person.
func answer[T any](out io.Writer, asJSON bool, result T, write func(io.Writer, T) error) error {
	if !asJSON {
		return write(out, result)
	}
	to := json.NewEncoder(out)
	to.SetIndent("", "  ")
	to.SetEscapeHTML(false)
	return to.Encode(result)
}

// complete offers the ids of the clients that a running sandbox has.
func (t *clientTarget) complete(w world) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		c, err := t.client(cmd.Context(), w)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		node, err := t.one(c)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		all, err := c.Accounts(node)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return inUse(all), cobra.ShellCompDirectiveNoFileComp
	}
}

// inUse are the ids of the clients that were not revoked.
func inUse(all control.Accounts) []string {
	var ids []string
	for _, a := range all.Accounts {
		if a.Revoked.IsZero() {
			ids = append(ids, a.ClientID)
		}
	}
	return ids
}
