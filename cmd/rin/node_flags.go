package main

import (
	"errors"
	"fmt"
	"io"
	"regexp"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/target"
)

// nodeFlags holds the flags that locate a node and name its clients. They have the same meaning in every command.
type nodeFlags struct {
	target  target.Target
	caFile  string
	first   credentialFlags
	second  credentialFlags
	expired string
}

// registerLocation returns a function that registers the flags that locate the node. registryHelp says in help when --node is needed.
func (n *nodeFlags) registerLocation(registryHelp string) func(*pflag.FlagSet) {
	return func(f *pflag.FlagSet) {
		n.registerURLs(f, registryHelp)
		f.StringVar(&n.target.ListOperation, "list-operation", "", "operationId or path of the operation that lists funding calls")
		f.StringVar(&n.target.DetailOperation, "detail-operation", "", "operationId or path of the operation that reads one funding call")
		n.registerTrust(f)
	}
}

// registerURLs registers the flags with the URLs of the node.
func (n *nodeFlags) registerURLs(f *pflag.FlagSet, registryHelp string) {
	t := &n.target
	f.StringVar(&t.Registry, "registry", "", "registry document, URL or file: {\"member\": [{\"id\", \"oauth2\": token endpoint, \"info\": info endpoint}]}")
	f.StringVar(&t.NodeID, "node", "", "id of the node's entry in the registry ("+registryHelp+")")
	f.StringVar(&t.TokenURL, "token-url", "", "token endpoint")
	f.StringVar(&t.InfoURL, "info-url", "", "info endpoint")
	f.StringVar(&t.SpecURL, "spec-url", "", "OpenAPI document of the funding API")
	f.StringVar(&t.BaseURL, "base-url", "", "where the document's operations live (default: beside the document)")
}

// registerTrust registers the flags about certificates and origins.
func (n *nodeFlags) registerTrust(f *pflag.FlagSet) {
	f.StringVar(&n.caFile, "cacert", "", "PEM file of certificate authorities to trust besides the system's")
	f.StringSliceVar(&n.target.AllowOrigins, "allow-origin", nil, "another origin that may receive the token; may be repeated")
}

// registerClient registers the flags of a client that may read fundings.
func (n *nodeFlags) registerClient(f *pflag.FlagSet) {
	f.StringVar(&n.first.id, "client-id", "", "client id")
	f.StringVar(&n.first.secret, "client-secret", "", "where the client secret is")
}

// registerClients registers the flags of a client that may read fundings and of a client without that role.
func (n *nodeFlags) registerClients(f *pflag.FlagSet) {
	n.registerClient(f)
	f.StringVar(&n.second.id, "client-id2", "", "a client without the role, to see it refused")
	f.StringVar(&n.second.secret, "client-secret2", "", "where its secret is")
}

// readFiles reads the files that the flags name into the target.
func (n *nodeFlags) readFiles(w environment, t *target.Target) error {
	var err error
	if n.caFile != "" {
		if t.CACert, err = w.readFile(n.caFile); err != nil {
			return usage(fmt.Errorf("--cacert: %w", err), "give a readable PEM file")
		}
	}
	if t.Registry != "" && !isURL(t.Registry) {
		if t.RegistryDocument, err = w.readFile(t.Registry); err != nil {
			return usage(fmt.Errorf("--registry: %w", err), "give the URL of the registry document, or a readable file")
		}
		t.Registry = ""
	}
	return nil
}

// credentialFlags hold the id of a client and the place of its secret.
type credentialFlags struct{ id, secret string }

// read reads the credentials. The flag names, such as "--client-id", are for messages.
func (c credentialFlags) read(w environment, idFlag, secretFlag string, stdin *stdinOnce) (target.Credentials, error) {
	out := target.Credentials{ClientID: c.id}
	if c.secret == "" {
		return out, nil // target.Validate reports all missing flags together
	}
	secret, err := readSecret(w, secretFlag, c.secret, stdin)
	if err != nil {
		return out, err
	}
	out.ClientSecret = secret
	if c.id == "" {
		return out, usage(fmt.Errorf("%s is missing", idFlag), "the secret needs the id of its client")
	}
	return out, nil
}

// readOptional reads the credentials of an optional client. It returns nil if neither flag was given.
func (c credentialFlags) readOptional(w environment, idFlag, secretFlag string, stdin *stdinOnce) (*target.Credentials, error) {
	if c == (credentialFlags{}) {
		return nil, nil
	}
	out, err := c.read(w, idFlag, secretFlag, stdin)
	return &out, err
}

// readSecret reads the secret from the place that a flag names.
func readSecret(w environment, flag, place string, stdin *stdinOnce) (target.Secret, error) {
	source, err := target.ParseSource(flag, place)
	if err != nil {
		return target.Secret{}, usage(err, "")
	}
	secret, err := source.Read(target.Reader{Environment: w.getenv, File: w.readFile, Stdin: stdin.read})
	if err != nil {
		return target.Secret{}, usage(err, "")
	}
	return secret, nil
}

// isURL reports whether s is meant as a URL rather than a file name. A URL that cannot be parsed counts, too: as a file name, it would appear with its
// password in the error about a missing file.
func isURL(s string) bool {
	return regexp.MustCompile(`(?i)^https?(:|//)`).MatchString(s)
}

// stdinOnce reads one secret from standard input. It refuses to read a second one.
type stdinOnce struct {
	from  io.Reader
	taken bool
}

func (s *stdinOnce) read() ([]byte, error) {
	if s.taken {
		return nil, errors.New("standard input was already read for another secret")
	}
	s.taken = true
	return io.ReadAll(io.LimitReader(s.from, 64<<10))
}
