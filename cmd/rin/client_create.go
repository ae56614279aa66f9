package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/control"
)

func createCommand(w environment) *cobra.Command {
	var to clientTarget
	var secret secretFile
	var account control.NewAccount
	cmd := &cobra.Command{
		Use:   "create ID",
		Short: "Register a client with the authorization server of a node",
		Long: `Create registers a client: the authorization server of the node gives it tokens
from now on. The funding service does not know it yet, and refuses its calls
with 403: rin client grant changes that.

The secret is generated here and shown only once, on standard output or in a
file that only you can read. The id of a revoked client may be used again, for a
new client with another Service Account User ID.`,
		Example: `  rin client create library
  rin client create library --request R-1 --secret-file library.secret
  rin client create elsewhere --audience https://projects.example/api
  rin client create library --json`,
		Args: cobra.ExactArgs(1),
		RunE: to.forNode(w, func(c control.Client, node string, args []string) error {
			account.ClientID = args[0]
			issued, err := secret.issue(func() (control.Credentials, error) { return c.Create(node, account) })
			if err != nil {
				return err
			}
			return writeResult(w.out, to.asJSON, issued, func(out io.Writer, s issuedSecret) error { return writeCreated(out, s, to.nodeFlag()) })
		}),
	}
	f := cmd.Flags()
	f.StringVar(&account.Request, "request", "", "`id` of the request for access that this client answers, such as R-1")
	f.StringVar(&account.Audience, "audience", "", "what its tokens are meant for\n(default the node's API)")
	secret.register(f)
	to.registerOn(cmd)
	return cmd
}

func rotateCommand(w environment) *cobra.Command {
	var to clientTarget
	var secret secretFile
	cmd := &cobra.Command{
		Use:   "rotate ID",
		Short: "Give a client another secret",
		Long: `Rotate gives a client another secret; the old one is refused at once. Tokens
that were fetched with it stay valid until they expire, as in the network: a
token is not bound to the secret. rin client revoke ends both.

The new secret is shown only once, on standard output or in a file that only you
can read.`,
		Example: `  rin client rotate library
  rin client rotate library --secret-file library-2.secret`,
		Args: cobra.ExactArgs(1),
		RunE: to.forNode(w, func(c control.Client, node string, args []string) error {
			issued, err := secret.issue(func() (control.Credentials, error) { return c.Rotate(node, args[0]) })
			if err != nil {
				return err
			}
			return writeResult(w.out, to.asJSON, issued, writeRotated)
		}),
	}
	cmd.ValidArgsFunction = to.complete(w)
	secret.register(cmd.Flags())
	to.registerOn(cmd)
	return cmd
}

// writeCreated prints the new client and the command for the next step, in which nodeFlag selects the same node.
func writeCreated(out io.Writer, s issuedSecret, nodeFlag string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "client %s is registered with node %s\n\n", s.ClientID, s.Node)
	s.write(&b)
	fmt.Fprintf(&b, "\nNext, grant it access in the books of the funding service, which refuses it until then:\n  rin client grant %s --affiliation ID%s\n", s.ClientID, nodeFlag)
	s.writeHandOver(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

func writeRotated(out io.Writer, s issuedSecret) error {
	var b strings.Builder
	fmt.Fprintf(&b, "client %s of node %s has another secret; the old one is refused\n\n", s.ClientID, s.Node)
	s.write(&b)
	b.WriteString("\nTokens that were fetched with the old secret stay valid until they expire.\n")
	s.writeHandOver(&b)
	_, err := io.WriteString(out, b.String())
	return err
}

// write prints the new credentials. The secret is never shown again.
func (s issuedSecret) write(b *strings.Builder) {
	secret := s.Secret
	if s.File != "" {
		secret = "in " + s.File
	}
	fmt.Fprintf(b, "  Client ID                %s\n  Client Secret            %s\n  Service Account User ID  %s\n  Token endpoint           %s\n",
		s.ClientID, secret, s.Subject, s.TokenURL)
}

// writeHandOver says who gets the credentials, and how (NET-R18, NET-R19).
func (s issuedSecret) writeHandOver(b *strings.Builder) {
	recipient := "the party that asked for access"
	if s.Request != nil {
		recipient = partyOf(*s.Request)
	}
	fmt.Fprintf(b, "\nHand over Client ID, Client Secret and token endpoint to\n  %s\nthrough a secure channel: anyone who has them can act for the account.\nThe node keeps a hash of the secret; it is not shown again.\n", recipient)
}

func grantCommand(w environment) *cobra.Command {
	var to clientTarget
	var permission control.Permission
	cmd := &cobra.Command{
		Use:   "grant ID",
		Short: "Set role and affiliation of a client in the funding service",
		Long: `Grant writes role and affiliation ID of the client's service account into the
books of the funding service and replaces the old ones. It takes effect with the
next call; clients can keep their tokens.

Reading fundings requires the role ` + model.RoleExternalAPIClient + ` and an affiliation ID.
An empty value removes one of them: the client still gets tokens, but its calls
are refused with 403.`,
		Example: `  rin client grant library --affiliation AFF-MUST-0042
  rin client grant library --affiliation AFF-MUST-0042 --role ''`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("affiliation") {
				return usage(errors.New("--affiliation is missing"), "give the affiliation ID of the client, an opaque text such as AFF-MUST-0042")
			}
			return to.forNode(w, func(c control.Client, node string, args []string) error {
				granted, err := c.Grant(node, args[0], permission)
				if err != nil {
					return err
				}
				return writeResult(w.out, to.asJSON, granted, writeGranted)
			})(cmd, args)
		},
	}
	cmd.ValidArgsFunction = to.complete(w)
	f := cmd.Flags()
	f.StringVar(&permission.Role, "role", model.RoleExternalAPIClient, "role of its account")
	f.StringVar(&permission.Affiliation, "affiliation", "", "affiliation `ID` of its account")
	to.registerOn(cmd)
	return cmd
}

func writeGranted(out io.Writer, a control.Account) error {
	permission := "may read fundings"
	if a.State != statePermitted {
		permission = "may not read fundings: that requires role and affiliation"
	}
	_, err := fmt.Fprintf(out, "client %s %s\n\n  Service Account User ID  %s\n  role                     %s\n  affiliation ID           %s\n",
		a.ClientID, permission, a.Subject, cmp.Or(report.Plain(a.Role), "none"), cmp.Or(report.Plain(a.Affiliation), "none"))
	return err
}

// secretFile is the flag for a file that receives the secret instead of the screen.
type secretFile struct{ path string }

func (s *secretFile) register(f *pflag.FlagSet) {
	f.StringVar(&s.path, "secret-file", "", "write the secret to this new `file`, readable only by you")
}

// issuedSecret is an issued secret. If File is set, the file holds the secret and Secret is empty.
type issuedSecret struct {
	control.Credentials
	File string `json:"clientSecretFile,omitempty"`
}

// issue runs a step that issues a secret. It creates the file first, so that no secret is issued that cannot be stored.
func (s *secretFile) issue(step func() (control.Credentials, error)) (issuedSecret, error) {
	if s.path == "" {
		issued, err := step()
		return issuedSecret{Credentials: issued}, err
	}
	file, err := os.OpenFile(s.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return issuedSecret{}, usage(fmt.Errorf("--secret-file: %w", err), "name a new file; rin does not overwrite files")
	}
	issued, err := step()
	if err != nil {
		return issuedSecret{}, errors.Join(err, file.Close(), os.Remove(s.path))
	}
	_, err = file.WriteString(issued.Secret + "\n")
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return issuedSecret{}, usage(fmt.Errorf("--secret-file: a secret was issued, but could not be written: %w", err), "rin client rotate "+issued.ClientID+" issues another one")
	}
	issued.Secret = ""
	return issuedSecret{issued, s.path}, nil
}
