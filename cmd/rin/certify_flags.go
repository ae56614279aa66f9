package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite"
	"github.com/rin-network/rin/conformance/target"
)

// certifyFlags holds the values of the flags of rin certify. Its help texts explain them.
type certifyFlags struct {
	nodeFlags
	other       credentialFlags
	spare       credentialFlags
	staging     credentialFlags
	stagingURL  string
	wait        time.Duration
	bruteForce  string
	only        []string
	labelFilter string
	rerun       string
	values      []string
	gaps        []string
	document    string
	output      outputFlags
	baseline    baselineFlags
	seed        string
	history     string
}

// outputFlags holds the directory and the formats of a report.
type outputFlags struct {
	dir     string
	formats []string
}

// reportAndEvidence is the help of --report-dir for commands that record a run.
const reportAndEvidence = "directory for the report and the evidence; --only, --label-filter and --rerun-failed add -partial to the default"

func (o *outputFlags) register(f *pflag.FlagSet, dirHelp string) {
	f.StringVar(&o.dir, "report-dir", "rin-report", dirHelp)
	f.StringSliceVar(&o.formats, "format", defaultFormats(), "report files to write: "+strings.Join(reportFormats(), ", "))
}

// annotates reports whether a report file names lines of the node's document.
func (o *outputFlags) annotates() bool {
	return slices.Contains(o.formats, "github") || slices.Contains(o.formats, "gitlab")
}

// groups returns the flags in the groups that help shows.
func (c *certifyFlags) groups() []flagGroup {
	t := &c.target
	return []flagGroup{
		{"The node", c.registerLocation("with --registry")},
		{"Credentials (a secret is env:NAME, file:PATH or - for standard input)", func(f *pflag.FlagSet) {
			c.registerClients(f)
			f.StringVar(&c.other.id, "other-client-id", "", "a client of the same server whose tokens are meant for another audience")
			f.StringVar(&c.other.secret, "other-client-secret", "", "where its secret is")
			f.StringVar(&c.spare.id, "spare-client-id", "", "a client that may be locked out, to try wrong secrets on")
			f.StringVar(&c.spare.secret, "spare-client-secret", "", "where its secret is")
			f.StringVar(&c.stagingURL, "staging-token-url", "", "token endpoint of the staging environment; it receives only the secret of --staging-client-secret")
			f.StringVar(&c.staging.id, "staging-client-id", "", "a client that is registered with the staging environment")
			f.StringVar(&c.staging.secret, "staging-client-secret", "", "where its secret is")
			f.StringVar(&c.expired, "expired-token", "", "where an expired JWT of the client is (env:, file: or -), so that no wait is needed; for opaque tokens give --wait")
		}},
		{"What is tested", func(f *pflag.FlagSet) {
			f.StringVar(&t.Profile, "profile", "", "auth, api, funding or full (default: the largest that the node's document and the given clients call for)")
			f.StringSliceVar(&c.only, "only", nil, "judge only these requirements: a partial run")
			f.StringVar(&c.labelFilter, "label-filter", "", "judge by Ginkgo labels, such as 'gate:gating && BRR': a partial run")
			f.StringVar(&c.rerun, "rerun-failed", "", "judge only what did not pass in the report.json of an earlier run: a partial run")
			f.StringVar((*string)(&t.Effort), "effort", string(draw.Standard), "quick (a partial run of at most 150 requests), standard, or deep (every kind of request that the rules distinguish, up to --budget requests)")
			f.IntVar(&t.Budget, "budget", 0, fmt.Sprintf("requests of a deep run at most (default %d)", target.DefaultBudget))
			f.StringVar(&c.seed, "seed", "", "draw what an earlier run with this seed drew (default: a new seed for each run)")
			f.StringVar(&c.history, "history", "", "directory that keeps what each run drew: the next run draws first what was never drawn")
			f.StringArrayVar(&c.values, "value", nil, "NAME=VALUE: a value for a path or query parameter of that name, if the node's lists do not give one; may be repeated")
			f.StringArrayVar(&c.gaps, "gap", nil, "OPERATION=REASON: accept that an operation cannot be called; the report prints it; may be repeated")
			f.DurationVar(&c.wait, "wait", 0, "how long to wait for a token to expire (default: 10m for the profile full, else not at all)")
			f.BoolVar(&t.AllowTokenInURL, "allow-token-in-url", false, "put a token into a URL once; it ends up in the node's access logs")
			f.BoolVar(&t.AllowSecretInURL, "allow-secret-in-url", false, "put the client secret into a URL once; use a client that you delete afterwards")
			f.BoolVar(&t.Blind, "blind", false, "send an ordinary client's headers, so that the node cannot tell who asks (only for nodes on loopback)")
			f.StringVar(&c.bruteForce, "attest-brute-force", "", "is the token endpoint protected against brute force? yes or no, and how: 'yes: rate limit at the gateway'")
		}},
		{"Politeness", func(f *pflag.FlagSet) {
			f.Float64Var(&t.Politeness.Rate, "rate", 0, "requests a second (default 4; no limit on loopback)")
			f.IntVar(&t.Politeness.Concurrency, "concurrency", 0, "requests at a time (default 2; 8 on loopback). A few bursts of 4 are sent, too, unless this is 1 or --rate is below 2")
			f.BoolVar(&t.Polite, "polite", false, "one request at a time, one a second")
			f.DurationVar(&t.Politeness.Timeout, "timeout", 0, "time for one request (default 35s)")
			f.DurationVar(&t.Politeness.Deadline, "deadline", 0, "time for the whole run (default 10m plus --wait)")
		}},
		{"Known failures", c.baseline.register},
		{"The report", func(f *pflag.FlagSet) {
			c.output.register(f, reportAndEvidence)
			f.StringVar(&t.Operator, "operator", "", "who runs the test, a name or a URL; the report prints it")
			f.StringVar(&c.document, "document", "", "`file` of the node's document in your repository, JSON or YAML; annotations (--format github,gitlab) name its lines")
		}},
	}
}

// read returns the target that the flags describe, validated. changed reports whether a flag was given on the command line.
func (c *certifyFlags) read(w environment, changed func(flag string) bool) (target.Target, error) {
	t := c.target
	if err := c.readCredentials(w, &t); err != nil {
		return t, err
	}
	if changed("wait") {
		t.Wait = new(c.wait)
	}
	var err error
	if t.BruteForce, err = parseAttestation("--attest-brute-force", c.bruteForce); err != nil {
		return t, err
	}
	if c.seed != "" {
		if t.Seed, err = draw.ParseSeed(c.seed); err != nil {
			return t, usage(fmt.Errorf("--seed: %w", err), "give the seed that a report prints, or leave it out")
		}
	}
	if t.Earlier, err = readHistory(c.history, t); err != nil {
		return t, err
	}
	if err := c.readValuesAndGaps(&t); err != nil {
		return t, err
	}
	if err := c.readFiles(w, &t); err != nil {
		return t, err
	}
	if t.DocumentFile, err = readDocumentFile(w, c.document); err != nil {
		return t, err
	}
	if t.Only, err = parseIDs(c.only); err != nil {
		return t, err
	}
	t.ChosenBy = selectingFlags(changed)
	// The three flags combine: the run judges the requirements of --only that did not pass in the earlier run and that match the label filter.
	var failedRun earlierRun
	if c.rerun != "" {
		if failedRun, err = readEarlier(w, c.rerun); err != nil {
			return t, err
		}
		failedRun.announce(w.err)
		if err := failedRun.repeat(&t); err != nil {
			return t, usage(fmt.Errorf("--rerun-failed: %w", err), "name the report.json that an earlier rin certify left in its --report-dir")
		}
	}
	if c.labelFilter != "" {
		if t.Only, err = c.filterByLabel(t.Only); err != nil {
			return t, err
		}
	}
	t.Failed, t.Labels = failedRun.faults(t.Only)
	if err := t.Defaults().Validate(); err != nil {
		return t, usage(err, "see rin certify --help")
	}
	// The target is returned without defaults: the run fills them in once it has read the registry entry.
	return t, nil
}

// readValuesAndGaps reads --value and --gap into the target.
func (c *certifyFlags) readValuesAndGaps(t *target.Target) error {
	for _, text := range c.values {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || value == "" {
			return usage(fmt.Errorf("--value: expected NAME=VALUE, got %.60q", text), "name a path or query parameter of the document and a value that exists, such as --value year=2026")
		}
		if t.Values == nil {
			t.Values = map[string]string{}
		}
		t.Values[name] = value
	}
	for _, text := range c.gaps {
		operation, reason, ok := strings.Cut(text, "=")
		if !ok || operation == "" || strings.TrimSpace(reason) == "" {
			return usage(fmt.Errorf("--gap: expected OPERATION=REASON, got %.60q", text), "name the operationId or path and say why: --gap 'getReport=needs a report of last year'")
		}
		t.Gaps = append(t.Gaps, evidence.Gap{Operation: operation, Reason: strings.TrimSpace(reason)})
	}
	return nil
}

// readDocumentFile reads the source of a document and finds the line of each operation. It returns nil for an empty path.
func readDocumentFile(w environment, path string) (*evidence.DocumentFile, error) {
	if path == "" {
		return nil, nil
	}
	const hint = "name the source of the node's OpenAPI document, such as --document api/openapi.yaml, relative to the root of the repository"
	source, err := w.readFile(path)
	if err != nil {
		return nil, usage(fmt.Errorf("--document: %w", err), hint)
	}
	lines, err := openapi.Lines(source)
	if err != nil {
		return nil, usage(fmt.Errorf("--document: %s: %w", path, err), hint)
	}
	return &evidence.DocumentFile{Path: filepath.ToSlash(filepath.Clean(path)), Lines: lines}, nil
}

// selectingFlags joins the names of the given flags that select requirements.
func selectingFlags(changed func(flag string) bool) string {
	var flags []string
	for _, name := range []string{"only", "rerun-failed", "label-filter"} {
		if changed(name) {
			flags = append(flags, "--"+name)
		}
	}
	return strings.Join(flags, " and ")
}

// filterByLabel returns those of the candidates that match the label filter. Without candidates, it returns all requirements that match.
func (c *certifyFlags) filterByLabel(candidates []string) ([]string, error) {
	ids, err := suite.Choose(c.labelFilter)
	if err != nil {
		return nil, usage(err, "combine labels with && || ! and parentheses, such as 'gate:gating && (TOK || TER)'")
	}
	var out []string
	for _, id := range ids {
		if len(candidates) == 0 || slices.Contains(candidates, string(id)) {
			out = append(out, string(id))
		}
	}
	if len(out) == 0 {
		return nil, usage(fmt.Errorf("--label-filter: no requirement has the labels %q", c.labelFilter), "labels are ids, groups, gate:…, level:… and profile:…; see rin requirements")
	}
	return out, nil
}

// parseIDs returns requirement ids in capitals. Its error lists all that are unknown.
func parseIDs(names []string) ([]string, error) {
	var out []string
	var unknown []error
	for _, n := range names {
		id := strings.ToUpper(strings.TrimSpace(n))
		if _, ok := requirement.Find(requirement.ID(id)); !ok {
			unknown = append(unknown, fmt.Errorf("--only: unknown requirement %q", n))
		}
		out = append(out, id)
	}
	if len(unknown) > 0 {
		return nil, usage(errors.Join(unknown...), "rin requirements lists them")
	}
	return out, nil
}

// readCredentials reads the credentials and the expired token into the target.
func (c *certifyFlags) readCredentials(w environment, t *target.Target) error {
	stdin := &stdinOnce{from: w.in}
	var err error
	if t.Credentials, err = c.first.read(w, "--client-id", "--client-secret", stdin); err != nil {
		return err
	}
	if t.Second, err = c.second.readOptional(w, "--client-id2", "--client-secret2", stdin); err != nil {
		return err
	}
	if t.Other, err = c.other.readOptional(w, "--other-client-id", "--other-client-secret", stdin); err != nil {
		return err
	}
	if t.Spare, err = c.spare.readOptional(w, "--spare-client-id", "--spare-client-secret", stdin); err != nil {
		return err
	}
	staging, err := c.staging.readOptional(w, "--staging-client-id", "--staging-client-secret", stdin)
	if err != nil {
		return err
	}
	if staging != nil || c.stagingURL != "" {
		t.Staging = &target.Staging{TokenURL: c.stagingURL}
		if staging != nil {
			t.Staging.Credentials = *staging
		}
	}
	if c.expired != "" {
		t.ExpiredToken, err = readSecret(w, "--expired-token", c.expired, stdin)
	}
	return err
}

// parseAttestation parses "yes" or "no", optionally followed by a colon and an explanation. It returns nil for an empty text.
func parseAttestation(flag, text string) (*evidence.Attestation, error) {
	if text == "" {
		return nil, nil
	}
	answer, how, _ := strings.Cut(text, ":")
	a := &evidence.Attestation{How: strings.TrimSpace(how)}
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "yes":
		a.Holds = true
	case "no":
	default:
		return nil, usage(fmt.Errorf("%s: expected yes or no, got %.60q", flag, text), "write yes or no, and how after a colon: 'yes: rate limit at the gateway'")
	}
	return a, nil
}
