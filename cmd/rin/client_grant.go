package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox/control"
)

func grantCommand(w world) *cobra.Command {
	var to clientTarget
	var p control.Permission
	cmd := &cobra.Command{
		Use:   "grant ID",
		Short: "Set role and affiliation of a client in the funding service",
		Long: `Grant writes role and affiliation ID of the client's service account into the
books of the funding service, in the place of those before. It holds from the
next call on; tokens need not be fetched anew.

Reading fundings takes the role ` + model.RoleExternalAPIClient + ` and an affiliation ID. An
empty value takes one of them away: the client gets tokens, and 403.`,
		Example: `  rin client grant library --affiliation AFF-MUST-0042
  rin client grant library --affiliation AFF-MUST-0042 --role ''`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if !cmd.Flags().Changed("affiliation") {
				return usage(errors.New("--affiliation is missing"), "give the affiliation ID of the client, an opaque text such as AFF-MUST-0042")
			}
			return to.toOne(w, func(c control.Client, node string, args []string) error {
				granted, err := c.Grant(node, args[0], p)
				if err != nil {
					return err
				}
				return answer(w.out, to.asJSON, granted, writeGranted)
			})(cmd, args)
		},
	}
	cmd.ValidArgsFunction = to.complete(w)
	f := cmd.Flags()
	f.StringVar(&p.Role, "role", model.RoleExternalAPIClient, "role of its account")
	f.StringVar(&p.Affiliation, "affiliation", "", "affiliation `ID` of its account")
	to.registerOn(cmd)
	return cmd
}

func writeGranted(out io.Writer, a control.Account) error {
	var b strings.Builder
	said := "may read fundings"
	if a.State != statePermitted {
		said = "may not read fundings: that takes role and affiliation"
	}
	fmt.Fprintf(&b, "client %s %s\n\n  Service Account User ID  %s\n  role                     %s\n  affiliation ID           %s\n",
		a.ClientID, said, a.Subject, orNone(a.Role), orNone(a.Affiliation))
	_, err := io.WriteString(out, b.String())
	return err
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return report.Plain(text)
}
