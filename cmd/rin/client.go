package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/sandbox/account"
	"github.com/rin-network/rin/sandbox/control"
)

func clientCommand(w environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "client",
		Short: "Give clients access to a sandbox, as in the network",
		Long: `Client takes the steps by which a party gets access to a node of a running
sandbox:

  1. The party asks for access.                              rin client request
  2. The operator of the authorization server creates        rin client create
     a client. It gets tokens now, but the funding service
     refuses it with 403.
  3. In the books of the funding service, its account gets   rin client grant
     the role EXTERNAL_API_CLIENT and an affiliation ID.
  4. Client ID, Client Secret and token endpoint are handed over, through a
     secure channel: anyone who has them can act for the account.

A secret is shown once; the node keeps a salted hash of it. Clients made here
are gone when the sandbox ends or is reset, unless it keeps its data on disk:
rin sandbox --data DIR.`,
		Example: `  rin sandbox --data books &
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

// clientTarget holds the flags of all client commands: the sandbox, the node, and the output format.
type clientTarget struct {
	controlTarget
	asJSON bool
}

func (t *clientTarget) registerOn(cmd *cobra.Command) {
	t.registerWithNode(cmd.Flags())
	cmd.Flags().BoolVar(&t.asJSON, "json", false, "print one JSON object")
}

// nodeFlag returns the flag --node for a suggested command; "" if it was not given.
func (t *clientTarget) nodeFlag() string {
	if t.node == "" {
		return ""
	}
	return " --node " + t.node
}

// writeResult writes a result as JSON, or calls write to format it for people.
func writeResult[T any](out io.Writer, asJSON bool, result T, write func(io.Writer, T) error) error {
	if !asJSON {
		return write(out, result)
	}
	return writeJSON(out, result)
}

// writeJSON prints a value as indented JSON.
func writeJSON(out io.Writer, value any) error {
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(value)
}

// complete returns a shell completion that suggests the ids of the clients of a running sandbox, except revoked ones.
func (t *clientTarget) complete(w environment) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var ids []string
		collect := t.forNode(w, func(c control.Client, node string, _ []string) error {
			all, err := c.Accounts(node)
			for _, a := range all.Accounts {
				if a.Revoked.IsZero() {
					ids = append(ids, a.ClientID)
				}
			}
			return err
		})
		if collect(cmd, nil) != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return ids, cobra.ShellCompDirectiveNoFileComp
	}
}

func requestCommand(w environment) *cobra.Command {
	var to clientTarget
	var request control.AccessRequest
	cmd := &cobra.Command{
		Use:   "request",
		Short: "Ask for access, as through the contact form of a node",
		Long: `Request records that a party asks for access to a node: who asks, where to
reach them, and what they want it for. The operator answers it with
rin client create.`,
		Example: `  rin client request --party 'Library of Musterberg' \
      --contact it@musterberg.example --purpose 'calls in our intranet'`,
		Args: cobra.NoArgs,
		RunE: to.forNode(w, func(c control.Client, node string, _ []string) error {
			recorded, err := c.RequestAccess(node, request)
			if err != nil {
				return err
			}
			return writeResult(w.out, to.asJSON, recorded, func(out io.Writer, r control.AccessRequest) error { return writeRequest(out, r, to.nodeFlag()) })
		}),
	}
	f := cmd.Flags()
	f.StringVar(&request.Party, "party", "", "who asks")
	f.StringVar(&request.Contact, "contact", "", "where to reach them, such as an e-mail address")
	f.StringVar(&request.Purpose, "purpose", "", "what they want the access for")
	to.registerOn(cmd)
	return cmd
}

func writeRequest(out io.Writer, r control.AccessRequest, nodeFlag string) error {
	_, err := fmt.Fprintf(out, "request %s of %s is recorded\n\nThe operator answers it:\n  rin client create ID --request %s%s\n", r.ID, partyOf(r), r.ID, nodeFlag)
	return err
}

// partyOf formats the party of a request with its contact.
func partyOf(r control.AccessRequest) string {
	return report.Plain(r.Party) + " (" + report.Plain(r.Contact) + ")"
}

// statePermitted is the state of a client that may read fundings.
const statePermitted = string(account.Permitted)

func listClientsCommand(w environment) *cobra.Command {
	var to clientTarget
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the clients of a node, and the requests that wait",
		Long: `List shows the clients of a node with role and affiliation, and the requests
for access that wait for an answer. No secret is shown: the node keeps none.

The states of a client:

  registered  gets tokens; the funding service refuses it
  permitted   reads fundings, too
  revoked     gets nothing; its tokens are refused`,
		Example: `  rin client list
  rin client list --node XB --json`,
		Args: cobra.NoArgs,
		RunE: to.forNode(w, func(c control.Client, node string, _ []string) error {
			all, err := c.Accounts(node)
			if err != nil {
				return err
			}
			return writeResult(w.out, to.asJSON, all, func(out io.Writer, all control.Accounts) error { return writeAccounts(out, all, to.nodeFlag()) })
		}),
	}
	to.registerOn(cmd)
	return cmd
}

func writeAccounts(out io.Writer, all control.Accounts, nodeFlag string) error {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "client\tstate\trole\taffiliation")
	for _, a := range all.Accounts {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", a.ClientID, a.State, cmp.Or(report.Plain(a.Role), "-"), cmp.Or(report.Plain(a.Affiliation), "-"))
	}
	_ = t.Flush()
	for _, r := range all.Requests {
		if r.ClientID == "" {
			fmt.Fprintf(&b, "\nrequest %s of %s waits since %s:\n  %s\n  rin client create ID --request %s%s\n",
				r.ID, partyOf(r), r.Received.Format("2006-01-02 15:04"), report.Plain(r.Purpose), r.ID, nodeFlag)
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

func revokeCommand(w environment) *cobra.Command {
	var to clientTarget
	cmd := &cobra.Command{
		Use:   "revoke ID",
		Short: "Disable a client and its tokens",
		Long: `Revoke disables a client: its secret is refused with invalid_client, its
tokens are refused with 401 invalid_token from the next call on, and its account
leaves the books of the funding service.

In the network, a token may outlive its client until it expires: a resource
server that only verifies signatures does not learn of the revocation. Here it
is refused at once, so that you can test how a client reacts.`,
		Example: `  rin client revoke library`,
		Args:    cobra.ExactArgs(1),
		RunE: to.forNode(w, func(c control.Client, node string, args []string) error {
			revoked, err := c.Revoke(node, args[0])
			if err != nil {
				return err
			}
			return writeResult(w.out, to.asJSON, revoked, func(out io.Writer, a control.Account) error {
				_, err := fmt.Fprintf(out, "client %s of node %s is revoked: its secret and its tokens are refused\n", a.ClientID, node)
				return err
			})
		}),
	}
	cmd.ValidArgsFunction = to.complete(w)
	to.registerOn(cmd)
	return cmd
}
