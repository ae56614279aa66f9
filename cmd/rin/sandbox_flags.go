package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/fixtures/model"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/account/boltstore"
	"github.com/rin-network/rin/sandbox/auth"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/devtls"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/journal"
)

// sandboxFlags hold the values of the flags of rin sandbox.
type sandboxFlags struct {
	addr, asOf             string
	config                 sandbox.Config
	format, paging, errors string
	issuer, jwks, audience string
	clients                []string
	affiliation            string
	tls                    tlsFlags
	control                controlFlags
	journal                journalFlags
	file                   configFlags
	network                networkFlags
	credentials            credentialsFlags
	data                   dataFlags
	replica                replicaFlags
	operation              operationFlags
	spec                   specFlags
	scenarios              scenarioFlags
	lists                  listFlags
}

// groups returns the flags in the groups that help shows.
func (s *sandboxFlags) groups() []flagGroup {
	return []flagGroup{
		group("Where it listens", s.registerAddresses, s.tls.register, s.control.register, s.registerCORS),
		group("The network", s.file.register, s.network.register, s.credentials.register, s.data.register, s.replica.register),
		group("The data", s.registerData),
		group("Any API, from its document", s.spec.register),
		group("Tokens and errors", s.registerTokensAndErrors),
		group("Misbehaviour", s.registerDeviations, s.scenarios.register, s.lists.register),
		group("Accounts of another authorization server", s.registerIssuer),
		group("Operation", s.operation.register, s.journal.register),
	}
}

func (s *sandboxFlags) registerAddresses(f *pflag.FlagSet) {
	f.StringVar(&s.addr, "addr", defaultSandbox, "address to listen on; port 0 chooses a free port")
	f.StringVar(&s.config.PublicURL, "public-url", "", "base URL that clients use, when it differs from --addr")
	f.StringVar(&s.config.Prefix, "prefix", "", "service prefix of the paths (default "+sandbox.DefaultPrefix+", with several nodes one of each)")
	f.StringVar(&s.config.Realm, "realm", "", "realm of the identity provider's paths (default "+sandbox.DefaultRealm+", with several nodes one of each)")
}

func (s *sandboxFlags) registerCORS(f *pflag.FlagSet) {
	f.StringSliceVar(&s.config.CORS, "cors", nil, "let web pages of this origin, such as http://localhost:5173, call the node from a browser (CORS); * for all; may be repeated; includes the token endpoint, for trials only: a page cannot keep a secret")
}

func (s *sandboxFlags) registerData(f *pflag.FlagSet) {
	f.Uint64Var(&s.config.Seed, "seed", 1, "number that chooses the sample data and, if it is given and only this machine reaches the sandbox, secrets and signing keys")
	f.IntVar(&s.config.Calls, "calls", sandbox.DefaultCalls, "number of funding calls")
	f.StringVar(&s.asOf, "as-of", "", "day around which calls run, such as 2026-03-01 (default today)")
	f.StringVar(&s.paging, "paging", string(funding.PagingOffset), "meaning of page[page]: offset (of records) or number (of pages)")
}

func (s *sandboxFlags) registerTokensAndErrors(f *pflag.FlagSet) {
	f.DurationVar(&s.config.TokenTTL, "token-ttl", sandbox.DefaultTokenTTL, "lifetime of access tokens")
	f.StringVar(&s.format, "token-format", "", fmt.Sprintf("form of access tokens, one of %v (default that of the flavour, else %s)", auth.Formats(), auth.ES256))
	f.StringVar(&s.errors, "error-shape", "", "errors of the API: problem (application/problem+json) or text ({\"error\":\"401 Error: Unauthorized\"}) (default that of the flavour, else problem)")
}

func (s *sandboxFlags) registerDeviations(f *pflag.FlagSet) {
	f.StringSliceVar(&s.config.Deviations, "deviate", nil, "apply this deviation, a fault or a correct but unusual habit; may be repeated")
}

func (s *sandboxFlags) registerIssuer(f *pflag.FlagSet) {
	f.StringVar(&s.issuer, "issuer", "", "also accept tokens of this authorization server")
	f.StringVar(&s.jwks, "jwks", "", "its keys, URL or file")
	f.StringVar(&s.audience, "audience", "", "audience that its tokens must name (default: this node's API)")
	f.StringSliceVar(&s.clients, "issuer-client", nil, "client id of that server with the role "+model.RoleExternalAPIClient)
	f.StringVar(&s.affiliation, "issuer-affiliation", sandbox.DemoAffiliation, "affiliation of those clients")
}

// read returns the configurations of the nodes from the flags and the file of --config.
func (s *sandboxFlags) read(ctx context.Context, w environment, given *pflag.FlagSet) ([]sandbox.Config, error) {
	file, err := s.file.read(ctx, w, given)
	if err != nil {
		return nil, err
	}
	first, err := s.firstNode(ctx, w)
	if err != nil {
		return nil, err
	}
	nodes, err := s.network.configure(first, file)
	if err != nil {
		return nil, err
	}
	api, err := s.spec.config()
	if err != nil {
		return nil, err
	}
	if nodes[0].API.File == "" {
		nodes[0].API = api
	}
	s.spec.applyRecording(&nodes[0])
	return nodes, downloadSpecs(ctx, nodes)
}

// deriveSecrets makes secrets and keys a function of the seed if --seed was given and only this machine reaches the sandbox. If other machines reach it,
// deriveSecrets prints that secrets and keys are random.
func (s *sandboxFlags) deriveSecrets(w environment, given *pflag.FlagSet, nodes []sandbox.Config) {
	if !given.Changed("seed") {
		return
	}
	for _, address := range []string{s.addr, s.control.addr} {
		host, _, err := net.SplitHostPort(address)
		if address != noControl && (err != nil || !evidence.LoopbackHost(host)) {
			fmt.Fprintf(w.err, "--seed decides the sample data only: secrets and keys are random, because other machines reach %s\n", address)
			return
		}
	}
	for i := range nodes {
		if u, err := url.Parse(nodes[i].PublicURL); nodes[i].PublicURL != "" && (err != nil || !evidence.LoopbackHost(u.Hostname())) {
			fmt.Fprintf(w.err, "--seed decides the sample data only: secrets and keys are random, because clients reach the node at %s\n", nodes[i].PublicURL)
			return
		}
	}
	for i := range nodes {
		nodes[i].Derived = true
	}
}

// firstNode returns the configuration of the first node.
func (s *sandboxFlags) firstNode(ctx context.Context, w environment) (sandbox.Config, error) {
	c := s.config
	c.TokenFormat, c.Paging, c.ErrorShape = auth.Format(s.format), funding.Paging(s.paging), content.ErrorShape(s.errors)
	var err error
	if c.RateLimit, err = s.operation.limit(); err != nil {
		return c, err
	}
	if c.TLS, err = s.tls.settings(); err != nil {
		return c, err
	}
	if c.AsOf, err = parseDay("--as-of", s.asOf); err != nil {
		return c, err
	}
	if err = s.scenarios.configure(&c); err != nil {
		return c, err
	}
	switch {
	case s.issuer == "" && s.jwks == "":
		return c, nil
	case s.issuer == "" || s.jwks == "":
		return c, usage(errors.New("--issuer and --jwks belong together"), "name the issuer and where its keys are")
	}
	keys, err := readKeys(ctx, w, s.jwks)
	if err != nil {
		return c, err
	}
	accounts := map[string]funding.Account{}
	for _, id := range s.clients {
		accounts[id] = funding.Account{Role: model.RoleExternalAPIClient, Affiliation: s.affiliation}
	}
	c.Issuers = []sandbox.IssuerConfig{{Issuer: s.issuer, JWKS: keys, Audience: s.audience, Accounts: accounts}}
	return c, nil
}

// parseDay parses the date that a flag gives. It returns the zero time for an empty text.
func parseDay(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return t, usage(fmt.Errorf("%s: %q is not a date", flag, text), "write year, month and day: 2026-03-01")
	}
	return t, nil
}

// maxKeySetSize is the largest JWK Set that is read, in bytes.
const maxKeySetSize = 1 << 20

// readKeys reads the JWK Set of --jwks.
func readKeys(ctx context.Context, w environment, place string) ([]byte, error) {
	keys, err := fetchKeys(ctx, w, place)
	if err != nil {
		return nil, usage(fmt.Errorf("--jwks: %w", err), "give the URL of a JWK Set, or a readable file; is the authorization server up?")
	}
	return keys, nil
}

// fetchKeys reads a JWK Set from a URL or a file.
func fetchKeys(ctx context.Context, w environment, place string) ([]byte, error) {
	if !isURL(place) {
		return w.readFile(place)
	}
	return download(ctx, place, maxKeySetSize)
}

// dataFlags hold the directory whose data outlives the sandbox.
type dataFlags struct{ dir string }

func (d *dataFlags) register(f *pflag.FlagSet) {
	f.StringVar(&d.dir, "data", "", "keep clients, their accounts, requests for access, signing keys and the certificate authority in this `directory`; they survive when the sandbox is killed (default in memory)")
}

// open opens the ledger in the directory and sets it in config; without --data it does nothing. The returned function closes it.
func (d *dataFlags) open(w environment, config *sandbox.NetworkConfig) (close func() error, err error) {
	if d.dir == "" {
		return func() error { return nil }, nil
	}
	ledger, err := boltstore.Open(d.dir)
	if err != nil {
		hint := "name a directory that can be written"
		var fault *boltstore.Fault
		if errors.As(err, &fault) {
			hint = fault.Hint
		}
		return nil, usage(fmt.Errorf("--data: %w", err), hint)
	}
	if config.KeySeed, err = keySeed(w, filepath.Join(d.dir, "signing-keys.seed")); err != nil {
		return nil, errors.Join(err, ledger.Close())
	}
	for _, node := range config.Nodes {
		if node.TLS != nil {
			node.TLS.Authority = func(hosts []string) (*devtls.Authority, error) {
				return storedAuthority(w, filepath.Join(d.dir, "authority.pem"), hosts)
			}
		}
	}
	config.Ledger = ledger
	return ledger.Close, nil
}

// keySeedBytes is the length of a key seed.
const keySeedBytes = 32

// keySeed reads the seed of the signing keys from a file, which only its owner can read, or draws one and writes it.
func keySeed(w environment, path string) ([]byte, error) {
	text, err := w.readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		seed := make([]byte, keySeedBytes)
		if _, err := io.ReadFull(w.random, seed); err != nil {
			return nil, internal(fmt.Errorf("draw the seed of the signing keys: %w", err))
		}
		err = replace(path, 0o600, func(to io.Writer) error {
			_, err := fmt.Fprintln(to, hex.EncodeToString(seed))
			return err
		})
		if err != nil {
			return nil, usage(fmt.Errorf("--data: write the seed of the signing keys: %w", err), "name a directory that can be written")
		}
		return seed, nil
	}
	if err != nil {
		return nil, usage(fmt.Errorf("--data: read the seed of the signing keys: %w", err), "name a directory that can be read")
	}
	seed, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(seed) != keySeedBytes {
		return nil, usage(fmt.Errorf("--data: %s: expected %d hexadecimal digits", path, 2*keySeedBytes), "remove the file for new signing keys; tokens of the old ones are refused then")
	}
	return seed, nil
}

// storedAuthority reads the development authority from a file, which only its owner can read, or makes one for the hosts and writes it.
func storedAuthority(w environment, path string, hosts []string) (*devtls.Authority, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return newStoredAuthority(w, path, hosts)
	}
	if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return nil, usage(fmt.Errorf("--data: %s can be read or written by others (mode %04o): its private key is not safe", path, info.Mode().Perm()), "remove the file for a new authority, which clients must trust; nobody should trust the old one")
	}
	text, readErr := w.readFile(path)
	if err := errors.Join(err, readErr); err != nil {
		return nil, usage(fmt.Errorf("--data: read the authority: %w", err), "name a directory that can be read")
	}
	authority, err := devtls.ReadAuthority(text, hosts, w.now())
	if err != nil {
		return nil, usage(fmt.Errorf("--data: %s: %w", path, err), "remove the file for a new authority; clients must trust the new one then")
	}
	return authority, nil
}

func newStoredAuthority(w environment, path string, hosts []string) (*devtls.Authority, error) {
	authority, err := devtls.NewAuthority(hosts, w.now(), w.random)
	if err != nil {
		return nil, internal(err)
	}
	text, err := authority.PEM()
	if err != nil {
		return nil, internal(err)
	}
	err = replace(path, 0o600, func(to io.Writer) error {
		_, err := to.Write(text)
		return err
	})
	if err != nil {
		return nil, usage(fmt.Errorf("--data: write the authority: %w", err), "name a directory that can be written")
	}
	return authority, nil
}

// journalFlags hold the size of the journal.
type journalFlags struct{ entries int }

func (j *journalFlags) register(f *pflag.FlagSet) {
	f.IntVar(&j.entries, "journal", journal.DefaultLimit, "number of requests to keep for rin sandbox report; 0 keeps none")
}

// limit returns the value for [sandbox.NetworkConfig].JournalLimit, where a negative number means no journal.
func (j *journalFlags) limit() (int, error) {
	if j.entries < 0 || j.entries > journal.MaxLimit {
		return 0, usage(fmt.Errorf("--journal: expected 0 to %d, got %d", journal.MaxLimit, j.entries), fmt.Sprintf("leave it out for %d", journal.DefaultLimit))
	}
	if j.entries == 0 {
		return -1, nil
	}
	return j.entries, nil
}

// tlsFlags hold the TLS settings of a sandbox.
type tlsFlags struct {
	on   bool
	file string
}

// defaultAuthorityFile is the file in the working directory that receives the CA certificate without --tls-ca-file.
const defaultAuthorityFile = "rin-sandbox-ca.pem"

func (t *tlsFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&t.on, "tls", false, "serve https, with a certificate authority created at the start")
	f.StringVar(&t.file, "tls-ca-file", "", "where to write its certificate, PEM (default "+defaultAuthorityFile+")")
}

// settings returns the TLS settings, or nil without --tls.
func (t *tlsFlags) settings() (*devtls.Settings, error) {
	switch {
	case t.on:
		return &devtls.Settings{}, nil
	case t.file != "":
		return nil, usage(errors.New("--tls-ca-file: the sandbox has no authority without TLS"), "add --tls")
	}
	return nil, nil
}

// authorityFile returns the absolute path of the CA file, so that printed commands work in any directory. It is empty without TLS.
func (t *tlsFlags) authorityFile() string {
	if !t.on {
		return ""
	}
	path := t.file
	if path == "" {
		path = defaultAuthorityFile
	}
	if absolute, err := filepath.Abs(path); err == nil {
		return absolute
	}
	return path
}

// writeAuthority writes the CA certificate of a sandbox. It replaces the file of an earlier sandbox, but no other file.
func (t *tlsFlags) writeAuthority(w environment, node *sandbox.Server) error {
	path := t.authorityFile()
	if path == "" {
		return nil
	}
	existing, err := w.readFile(path)
	switch {
	case err == nil && !devtls.IsDevelopmentAuthority(existing):
		return usage(fmt.Errorf("--tls-ca-file: %s exists and is not the certificate authority of a sandbox", path), "name another file")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return usage(fmt.Errorf("--tls-ca-file: %w", err), "name a file that can be written")
	}
	if err := os.WriteFile(path, node.Authority(), 0o644); err != nil {
		return usage(fmt.Errorf("--tls-ca-file: %w", err), "name a file that can be written")
	}
	return nil
}

// certificateHosts returns the names and addresses that the certificate of a node covers: those of loopback, the address it listens on, and the
// host of its public URL.
func certificateHosts(listening, publicURL string) []string {
	all := []string{"localhost", "127.0.0.1", "::1"}
	if ip := net.ParseIP(listening); ip != nil && !ip.IsUnspecified() {
		all = append(all, listening)
	}
	if u, err := url.Parse(publicURL); err == nil && u.Hostname() != "" {
		all = append(all, u.Hostname())
	}
	slices.Sort(all)
	return slices.Compact(all)
}
