package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox"
)

// credentialsFormat marks a file of credentials, and its version.
const credentialsFormat = "rin.credentials/v1"

// credentialsFlags say where the credentials of a sandbox are written.
type credentialsFlags struct{ file string }

func (c *credentialsFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.file, "credentials", "", "also write the URLs and the secrets of all nodes to this file: JSON that only you can read")
}

// issued is what such a file holds.
type issued struct {
	Format   string       `json:"format"`
	Registry string       `json:"registry"`
	Nodes    []issuedNode `json:"nodes"`
}

// issuedNode is a node with what its clients hold. Its URLs are those of the registry and of the info resource, and what those leave out.
type issuedNode struct {
	ID      string         `json:"id"`
	Name    string         `json:"name"`
	Flavour string         `json:"flavour,omitempty"`
	Token   string         `json:"tokenUrl"`
	Info    string         `json:"infoUrl"`
	Spec    string         `json:"specUrl"`
	Funding string         `json:"fundingsUrl"`
	TryOut  string         `json:"tryOutBaseUrl"`
	Clients []issuedClient `json:"clients"`
	Staging issuedStaging  `json:"staging"`
}

type issuedClient struct {
	ID          string `json:"clientId"`
	Secret      string `json:"clientSecret,omitempty"`
	Subject     string `json:"serviceAccountUserId"`
	Role        string `json:"role,omitempty"`
	Affiliation string `json:"affiliationId,omitempty"`
	Audience    string `json:"audience,omitempty"`
}

type issuedStaging struct {
	Token   string         `json:"tokenUrl"`
	Clients []issuedClient `json:"clients"`
}

// write makes the file anew; no other file is replaced by it.
func (c *credentialsFlags) write(w world, opened openNetwork) error {
	if c.file == "" {
		return nil
	}
	there, err := w.readFile(c.file)
	var before issued
	switch {
	case err == nil && (json.Unmarshal(there, &before) != nil || before.Format != credentialsFormat):
		return usage(fmt.Errorf("--credentials: %s is there already and holds no credentials of a sandbox", c.file), "name another file")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usage(fmt.Errorf("--credentials: %w", err), "name a file that can be written")
	}
	text, err := json.MarshalIndent(opened.issued(before), "", "  ")
	if err != nil {
		return internal(fmt.Errorf("encode the credentials: %w", err))
	}
	err = replace(c.file, 0o600, func(to io.Writer) error {
		_, err := to.Write(append(text, '\n'))
		return err
	})
	if err != nil {
		return usage(fmt.Errorf("--credentials: %w", err), "name a file that can be written")
	}
	return nil
}

// issued are the credentials of all nodes. Secrets that only their owner knows, because a sandbox keeps its clients with --data and no
// secrets, are those that were issued before, as long as they are good.
func (o openNetwork) issued(before issued) issued {
	all := issued{Format: credentialsFormat, Registry: o.first().Addresses(o.base).Registry}
	for _, n := range o.Nodes() {
		at := n.Addresses(o.base)
		node := issuedNode{
			ID: n.Member().ID, Name: n.Member().Name, Flavour: n.Flavour().Name,
			Token: at.Listed, Info: at.Info, Spec: at.Spec, Funding: at.Fundings, TryOut: at.TryOut,
			Staging: issuedStaging{at.StagingToken, []issuedClient{clientOf(n.Staging())}},
		}
		for _, c := range n.Credentials() {
			if c.Secret == "" {
				c.Secret = before.secret(n, c.ClientID)
			}
			node.Clients = append(node.Clients, clientOf(c))
		}
		all.Nodes = append(all.Nodes, node)
	}
	return all
}

// secret is the one that a client of a node was issued, if it is still good; empty otherwise.
func (i issued) secret(n *sandbox.Server, client string) string {
	for _, node := range i.Nodes {
		for _, c := range node.Clients {
			if node.ID != n.Member().ID || c.ID != client {
				continue
			}
			if _, _, good := n.Books().Clients().Authenticate(c.ID, c.Secret); good {
				return c.Secret
			}
		}
	}
	return ""
}

func clientOf(c sandbox.Credential) issuedClient {
	return issuedClient{c.ClientID, c.Secret, c.Subject, c.Role, c.Affiliation, c.Audience}
}
