package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/fault"
)

// greeting prints where a sandbox listens and how to use it, with the secrets made for this run.
type greeting struct {
	listeningNetwork
	// authority and credentials are the paths of the written files: the certificate authority, and the credentials. Empty if not written.
	authority, credentials string
}

func (g greeting) write(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "listening on %s\n\n", g.base)
	if nodes := g.Nodes(); len(nodes) == 1 {
		g.writeNode(&b, nodes[0])
	} else {
		g.writeNodes(&b, nodes)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeNode describes the only node.
func (g greeting) writeNode(b *strings.Builder, node *sandbox.Server) {
	addresses := node.Addresses(g.base)
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  start\t%s (in a browser)\n", addresses.Home)
	fmt.Fprintf(t, "  docs\t%s (with try-out)\n", addresses.Docs)
	fmt.Fprintf(t, "  registry\t%s\n", addresses.Registry)
	fmt.Fprintf(t, "  token\t%s\n", addresses.ListedToken)
	fmt.Fprintf(t, "  info\t%s\n", addresses.Info)
	if !node.API("").Recorded { // a node that replays a recording has only the API that writeAPI describes
		fmt.Fprintf(t, "  document\t%s\n", addresses.Spec)
		fmt.Fprintf(t, "  funding\t%s\n", addresses.Fundings)
		fmt.Fprintf(t, "  try-out\t%s (no token)\n", addresses.TryOutFundings)
	}
	g.writeAPI(t, node)
	if preset := node.Preset(); preset.Name != "" {
		fmt.Fprintf(t, "  flavour\t%s\n", preset.Name)
	}
	g.writeFiles(t)
	_ = t.Flush()
	for _, c := range node.Credentials() {
		role := "role " + c.Role
		if c.Role == "" {
			role = "no role"
		}
		if c.Audience != "" {
			role += ", tokens for " + c.Audience
		}
		fmt.Fprintf(b, "\n  client  %s (%s)\n  secret  %s\n", c.ClientID, role, secretOf(c))
	}
	other := node.ElsewhereClient()
	fmt.Fprintf(b, "\n  elsewhere %s\n  client    %s (its tokens are refused here)\n  secret    %s\n", addresses.ElsewhereToken, other.ClientID, other.Secret)
	g.writeDeviations(b)
	g.writeCommands(b, node)
}

// writeNodes describes several nodes, one line of each table for each node.
func (g greeting) writeNodes(b *strings.Builder, nodes []*sandbox.Server) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "  start\t%s/ (in a browser; with docs of all)\n", g.base)
	fmt.Fprintf(t, "  registry\t%s\n", nodes[0].Addresses(g.base).Registry)
	for _, n := range nodes {
		g.writeAPI(t, n)
	}
	g.writeFiles(t)
	fmt.Fprintf(t, "\n  node\tflavour\tinstitution\n")
	for _, n := range nodes {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", n.Member().ID, n.Preset().Name, strings.TrimSpace(n.Member().Name))
	}
	fmt.Fprintf(t, "\n  node\tclient\tsecret\n")
	for _, n := range nodes {
		if clients := n.Credentials(); len(clients) > 0 {
			fmt.Fprintf(t, "  %s\t%s\t%s\n", n.Member().ID, clients[0].ClientID, secretOf(clients[0]))
		}
	}
	_ = t.Flush()
	b.WriteString("\n  Token and info URLs are in the registry. ")
	if g.credentials == "" {
		b.WriteString("--credentials FILE writes all URLs and\n  secrets, those of the other clients of each node too.\n")
	} else {
		b.WriteString("All URLs and secrets are in\n  " + g.credentials + "\n")
	}
	g.writeDeviations(b)
	g.writeCommands(b, nodes[0])
}

// writeFiles lists the written files and the control listener.
func (g greeting) writeFiles(t *tabwriter.Writer) {
	if g.authority != "" {
		fmt.Fprintf(t, "  authority\t%s (curl --cacert, rin certify --cacert)\n", g.authority)
	}
	if g.control != nil {
		access := "this machine only"
		if !g.control.access.Loopback {
			access = "with its token"
		}
		fmt.Fprintf(t, "  control\t%s (%s; rin sandbox play ...)\n", g.control.url(), access)
	}
}

// writeDeviations says how the nodes misbehave. A deviation of several nodes is described once.
func (g greeting) writeDeviations(b *strings.Builder) {
	nodes := g.Nodes()
	var lines []string
	idsByLine := map[string][]string{}
	for _, n := range nodes {
		for _, line := range behaviourLines(n) {
			if len(idsByLine[line]) == 0 {
				lines = append(lines, line)
			}
			idsByLine[line] = append(idsByLine[line], n.Member().ID)
		}
	}
	for _, line := range lines {
		ids := strings.Join(idsByLine[line], ", ") + " "
		switch {
		case len(nodes) == 1:
			ids = ""
		case len(idsByLine[line]) == len(nodes):
			ids = "each "
		}
		fmt.Fprintf(b, "\n  %s%s\n", ids, line)
	}
}

// behaviourLines describes the deviations and scenarios of a node.
func behaviourLines(node *sandbox.Server) []string {
	var all []string
	for _, name := range node.Deviations() {
		if d, err := fault.FindDeviation(name); err == nil {
			all = append(all, fmt.Sprintf("deviates: %s, %s\n%s", d.Name, effect(d), report.Hang(strings.Repeat(" ", 12), d.Why, helpWidth)))
		}
	}
	for _, p := range node.Scenarios() {
		all = append(all, fmt.Sprintf("plays: %s, times %d for each client (rin sandbox --scenarios)", p.Name, p.Times))
	}
	return all
}

// writeCommands prints commands that work unchanged in a shell, with the first client of the node: curl for a token, the info resource and the list, and
// rin certify. The secret is in the environment, where no list of processes shows it. If the greeting does not show the secret, the person must fill it in.
func (g greeting) writeCommands(b *strings.Builder, node *sandbox.Server) {
	clients := node.Credentials()
	if len(clients) == 0 {
		return
	}
	curl, trust := "curl", ""
	if g.authority != "" {
		trust = "--cacert " + evidence.ShellWord(g.authority)
		curl += " " + trust
	}
	addresses, client := node.Addresses(g.base), clients[0]
	list := addresses.Fundings
	if !node.API("").Recorded {
		list += "?page[size]=2"
	}
	if client.Configured || client.Secret == "" {
		fmt.Fprintf(b, "\nexport %s='...'   # the secret of %s, %s\n", secretVariable, client.ClientID, secretOrigin(client))
	} else {
		fmt.Fprintf(b, "\nexport %s=%s\n", secretVariable, evidence.ShellWord(client.Secret))
	}
	fmt.Fprintf(b, `TOKEN=$(printf %%s "$%[1]s" | %[2]s -s \
  %[3]s \
  -d grant_type=client_credentials -d client_id=%[4]s \
  --data-urlencode client_secret@- |
  sed 's/.*"access_token":"\([^"]*\)".*/\1/')
%[2]s -s -w '\n' -H "Authorization: Bearer $TOKEN" \
  %[5]s
%[2]s -sg -w '\n' -H "Authorization: Bearer $TOKEN" \
  '%[6]s'
`, secretVariable, curl, addresses.ListedToken, evidence.ShellWord(url.QueryEscape(client.ClientID)), addresses.Info, list)
	certify := []string{"rin certify --registry " + evidence.ShellWord(addresses.Registry), "--node " + evidence.ShellWord(node.Member().ID) + " --client-id " + evidence.ShellWord(client.ClientID),
		"--client-secret env:" + secretVariable}
	if trust != "" {
		certify = append(certify, trust)
	}
	fmt.Fprintf(b, "%s\n", strings.Join(certify, " \\\n  "))
}

// secretVariable is the environment variable of the client secret in the commands that a greeting prints.
const secretVariable = "RIN_CLIENT_SECRET"

// secretOf returns the secret of a client, or where to find it: with --data a sandbox keeps only hashes of secrets.
func secretOf(c sandbox.Credential) string {
	switch {
	case c.Configured:
		return secretOrigin(c)
	case c.Secret == "":
		return "shown at its creation (rin client rotate " + c.ClientID + " makes another)"
	}
	return c.Secret
}

// secretOrigin says how the user got a secret that the greeting does not show.
func secretOrigin(c sandbox.Credential) string {
	if c.Configured {
		return "as configured"
	}
	return "as it was shown at its creation"
}

// credentialsFormat is the format and version of a credentials file.
const credentialsFormat = "rin.credentials/v1"

// credentialsFlags hold the path of the credentials file.
type credentialsFlags struct{ file string }

func (c *credentialsFlags) register(f *pflag.FlagSet) {
	f.StringVar(&c.file, "credentials", "", "also write the URLs and the secrets of all nodes to this file: JSON that only you can read")
}

// credentialsFile is the content of a credentials file.
type credentialsFile struct {
	Format   string `json:"format"`
	Registry string `json:"registry"`
	// Control is the control listener; nil with --control off.
	Control *controlCredentials `json:"control,omitempty"`
	Nodes   []nodeCredentials   `json:"nodes"`
}

// controlCredentials is a control listener with the token that changes need.
type controlCredentials struct {
	URL   string `json:"url"`
	Token string `json:"token"`
}

// nodeCredentials is a node with the credentials of its clients and all its URLs.
type nodeCredentials struct {
	ID        string               `json:"id"`
	Name      string               `json:"name"`
	Preset    string               `json:"flavour,omitempty"`
	Token     string               `json:"tokenUrl"`
	Info      string               `json:"infoUrl"`
	Spec      string               `json:"specUrl"`
	Funding   string               `json:"fundingsUrl"`
	TryOut    string               `json:"tryOutBaseUrl"`
	Clients   []clientCredentials  `json:"clients"`
	Elsewhere elsewhereCredentials `json:"elsewhere"`
}

type clientCredentials struct {
	ID          string `json:"clientId"`
	Secret      string `json:"clientSecret,omitempty"`
	Subject     string `json:"serviceAccountUserId"`
	Role        string `json:"role,omitempty"`
	Affiliation string `json:"affiliationId,omitempty"`
	Audience    string `json:"audience,omitempty"`
}

// elsewhereCredentials is the other environment of a node, whose tokens the node refuses.
type elsewhereCredentials struct {
	Token   string              `json:"tokenUrl"`
	Info    string              `json:"infoUrl"`
	Clients []clientCredentials `json:"clients"`
}

// write writes the file. It refuses to overwrite a file that is not a credentials file.
func (c *credentialsFlags) write(w environment, opened listeningNetwork) error {
	if c.file == "" {
		return nil
	}
	existing, err := w.readFile(c.file)
	var previous credentialsFile
	switch {
	case err == nil && (json.Unmarshal(existing, &previous) != nil || previous.Format != credentialsFormat):
		return usage(fmt.Errorf("--credentials: %s exists and is not a credentials file of a sandbox", c.file), "name another file")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usage(fmt.Errorf("--credentials: %w", err), "name a file that can be written")
	}
	text, err := json.MarshalIndent(opened.credentials(previous), "", "  ")
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

// credentials returns the credentials of all nodes. With --data a sandbox keeps no secrets, so it takes them from the previous file if they
// are still valid.
func (o listeningNetwork) credentials(previous credentialsFile) credentialsFile {
	all := credentialsFile{Format: credentialsFormat, Registry: o.first().Addresses(o.base).Registry}
	if o.control != nil {
		all.Control = &controlCredentials{o.control.url(), o.control.access.Token}
	}
	for _, n := range o.Nodes() {
		addresses := n.Addresses(o.base)
		node := nodeCredentials{
			ID: n.Member().ID, Name: n.Member().Name, Preset: n.Preset().Name,
			Token: addresses.ListedToken, Info: addresses.Info, Spec: addresses.Spec, Funding: addresses.Fundings, TryOut: addresses.TryOut,
			Elsewhere: elsewhereCredentials{addresses.ElsewhereToken, addresses.ElsewhereInfo, []clientCredentials{credentialsOf(n.ElsewhereClient())}},
		}
		for _, c := range n.Credentials() {
			if c.Secret == "" {
				c.Secret = previous.validSecret(n, c.ClientID)
			}
			node.Clients = append(node.Clients, credentialsOf(c))
		}
		all.Nodes = append(all.Nodes, node)
	}
	return all
}

// validSecret returns the secret that the file has for a client of the node. It returns "" if the file has none, or the node does not accept it any more.
func (f credentialsFile) validSecret(n *sandbox.Server, client string) string {
	for _, node := range f.Nodes {
		for _, c := range node.Clients {
			if node.ID != n.Member().ID || c.ID != client {
				continue
			}
			if _, _, valid := n.Books().Clients().Authenticate(c.ID, c.Secret); valid {
				return c.Secret
			}
		}
	}
	return ""
}

func credentialsOf(c sandbox.Credential) clientCredentials {
	return clientCredentials{c.ClientID, c.Secret, c.Subject, c.Role, c.Affiliation, c.Audience}
}
