package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/control"
)

func createCommand(w world) *cobra.Command {
	var to clientTarget
	var secret secretFile
	var wanted control.NewAccount
	cmd := &cobra.Command{
		Use:   "create ID",
		Short: "Register a client with the authorization server of a node",
		Long: `Create registers a client: the authorization server of the node gives it tokens
from now on. The funding service knows nothing of it yet, and refuses its calls
with 403: rin client grant changes that.

The secret is drawn here and shown this once, on standard output or in a file
that only you can read. The id of a revoked client may be used again: that is a
new client then, with another Service Account User ID.`,
		Example: `  rin client create library
  rin client create library --request R-1 --secret-file library.secret
  rin client create elsewhere --audience https://projects.example/api
  rin client create library --json`,
		Args: cobra.ExactArgs(1),
		RunE: to.toOne(w, func(c control.Client, node string, args []string) error {
			wanted.ClientID = args[0]
			made, err := secret.receive(func() (control.Issued, error) { return c.Create(node, wanted) })
			if err != nil {
				return err
			}
			return answer(w.out, to.asJSON, made, func(out io.Writer, made received) error { return writeCreated(out, made, to.again()) })
		}),
	}
	f := cmd.Flags()
	f.StringVar(&wanted.Request, "request", "", "`id` of the request that is answered")
	f.StringVar(&wanted.Audience, "audience", "", "what its tokens are meant for\n(default the node's API)")
	secret.register(f)
	to.registerOn(cmd)
	return cmd
}

func rotateCommand(w world) *cobra.Command {
	var to clientTarget
	var secret secretFile
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Give a client another secret",
		Long: `Rotate gives a client another secret; the old one is refused at once. Tokens
that were fetched with it live until they expire, as they do in the network: a
token is not bound to the secret. rin client revoke ends both.

The new secret is shown this once, on standard output or in a file that only you
can read.`,
		Example: `  rin client rotate library
  rin client rotate library --secret-file library-2.secret`,
		Args: cobra.ExactArgs(1),
		RunE: to.toOne(w, func(c control.Client, node string, args []string) error {
			made, err := secret.receive(func() (control.Issued, error) { return c.Rotate(node, args[0]) })
			if err != nil {
				return err
			}
			return answer(w.out, to.asJSON, made, writeRotated)
		}),
	}
	cmd.ValidArgsFunction = to.complete(w)
	secret.register(cmd.Flags())
	to.registerOn(cmd)
	return cmd
}

// writeCreated tells what was made and what comes next; again is how the same node is named.
func writeCreated(out io.Writer, made received, again string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "client %s is registered with node %s\n\n", made.ClientID, made.Node)
	made.write(&b)
	fmt.Fprintf(&b, "\nNext, in the books of the funding service, which refuses it until then:\n  rin client grant %s --affiliation ID%s\n", made.ClientID, again)
	made.writeHandOver(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

func writeRotated(out io.Writer, made received) error {
	var b strings.Builder
	fmt.Fprintf(&b, "client %s of node %s has another secret; the old one is refused\n\n", made.ClientID, made.Node)
	made.write(&b)
	b.WriteString("\nTokens that were fetched with the old secret live until they expire.\n")
	made.writeHandOver(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// write shows what was issued, the secret for the first and last time.
func (r received) write(b *strings.Builder) {
	secret := r.Secret
	if r.File != "" {
		secret = "in " + r.File
	}
	fmt.Fprintf(b, "  Client ID                %s\n  Client Secret            %s\n  Service Account User ID  %s\n  Token endpoint           %s\n",
		r.ClientID, secret, r.Subject, r.TokenURL)
}

// writeHandOver says what goes to whom (NET-R18, NET-R19).
func (r received) writeHandOver(b *strings.Builder) {
	whom := "the one who asked for it"
	if r.Request != nil {
		whom = partyOf(*r.Request)
	}
	fmt.Fprintf(b, "\nHand over Client ID, Client Secret and token endpoint to\n  %s\nthrough a secure channel: whoever holds them acts for the account.\nThe node keeps a hash of the secret; it is not shown again.\n", whom)
}
