package main

import (
	"bytes"
	"context"
	"crypto/ed25519"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"text/template"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
)

func registryCommand(w environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "registry",
		Short: "Admit and certify the nodes of a whole registry, every night",
		Long: `Registry is for the operator of a registry. One directory holds the policy, the
key and the history: rin registry init makes it. Then rin registry run tests
every node once a night, keeps what each night showed, and signs what follows
from it: certificates, trust marks and a list of what is valid.`,
		Example: `  rin registry init my-registry
  rin registry run my-registry
  rin verify my-registry/nodes/XA/2026-11-25-admission \
      --key my-registry/operator.pub`,
	}
	cmd.AddCommand(registryInitCommand(w), registryRunCommand(w), registryMergeCommand(w), registryAdmitCommand(w), registryTryCommand(w), registryChangesCommand(w), registrySiteCommand(w))
	return cmd
}

//go:embed registry.yaml
var registryTemplate string

func registryInitCommand(w environment) *cobra.Command {
	var operator, document string
	cmd := &cobra.Command{
		Use:   "init DIR",
		Short: "Make the directory of a registry: key, policy, folder for pages",
		Long: `Init makes DIR with operator.key (Ed25519, PKCS#8, readable by you alone),
operator.pub to hand out, registry.yaml with every setting explained, and the
folder pages for what is published. It never replaces a file.`,
		Example: `  rin registry init my-registry
  rin registry init my-registry --operator https://registry.example \
      --document https://registry.example/ris.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			dir := registry.Dir(args[0])
			if _, err := os.Stat(dir.Policy()); err == nil {
				return usage(fmt.Errorf("%s exists already", dir.Policy()), "name a new directory")
			}
			if err := errors.Join(os.MkdirAll(args[0], 0o700), os.MkdirAll(dir.Pages(), 0o755)); err != nil {
				return usage(err, "name a directory that can be written")
			}
			var policy bytes.Buffer
			values := struct{ Operator, Document string }{operator, document}
			if err := template.Must(template.New("registry.yaml").Parse(registryTemplate)).Execute(&policy, values); err != nil {
				return internal(err)
			}
			if _, err := registry.ReadPolicy(policy.Bytes()); err != nil {
				return usage(fmt.Errorf("the policy could not be made: %w", err), "give URLs for --operator and --document, or a file for the latter")
			}
			if err := makeKey(w, dir.Key()); err != nil {
				return err
			}
			if err := createFile(dir.Policy(), ownerOnly, policy.Bytes()); err != nil {
				return usage(err, "name a directory that can be written")
			}
			fmt.Fprintf(w.out, "policy:     %s\npages:      %s\n\nnext: name the clients of your nodes in %s, then rin registry run %s\n", dir.Policy(), dir.Pages(), dir.Policy(), args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&operator, "operator", "https://registry.example", "URL that names you in what you sign")
	cmd.Flags().StringVar(&document, "document", "https://registry.example/ris.json", "registry document, URL or file (relative to DIR)")
	return cmd
}

// registryDir is the directory of a registry with its policy and key.
type registryDir struct {
	registry.Operator
	key ed25519.PrivateKey
}

// openRegistry reads policy and key.
func openRegistry(w environment, path string) (registryDir, error) {
	dir := registry.Dir(path)
	text, err := w.readFile(dir.Policy())
	if err != nil {
		return registryDir{}, usage(err, "rin registry init "+path+" makes the directory of a registry")
	}
	policy, err := registry.ReadPolicy(text)
	if err != nil {
		return registryDir{}, usage(fmt.Errorf("%s:\n%w", dir.Policy(), err), "rin registry init writes a file in which every setting is explained")
	}
	r := registryDir{Operator: registry.Operator{
		Dir: dir, Policy: policy, Now: w.now,
		Secrets: registry.Secrets{Environment: w.getenv, Environ: w.environ(), Dir: path},
	}}
	if policy.CACert != "" {
		if r.CACert, err = w.readFile(r.resolve(policy.CACert)); err != nil {
			return r, usage(fmt.Errorf("%s: cacert: %w", dir.Policy(), err), "name a PEM file that can be read")
		}
	}
	if r.key, err = readKey(w, dir.Key()); err != nil {
		return r, err
	}
	r.Certify, err = newCertifier(w, nil)
	return r, err
}

// resolve joins a relative path of the policy to the directory.
func (r registryDir) resolve(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(string(r.Dir), path)
}

// document reads the registry document.
func (r registryDir) document(ctx context.Context, w environment) (registry.Document, error) {
	place := r.Policy.Document
	var text []byte
	var err error
	if isURL(place) {
		text, err = download(ctx, place, registry.MaxDocument)
	} else {
		text, err = w.readFile(r.resolve(place))
	}
	if err != nil {
		return registry.Document{}, inconclusive(fmt.Errorf("read the registry document %s: %w", withoutPassword(place), err), "nothing was tested and nothing was changed; check document in "+r.Dir.Policy())
	}
	d, err := registry.ReadDocument(text)
	if err != nil {
		return d, inconclusive(err, "nothing was tested and nothing was changed")
	}
	return d, nil
}

// inconclusive gives exit code 3 to an error that keeps a command from its work and is not a mistake on the command line, such as a registry document that cannot
// be read.
func inconclusive(err error, hint string) error {
	return &exitError{code: exitInconclusive, err: err, hint: hint}
}

// history opens the history for writing.
func (r registryDir) history() (*registry.History, error) {
	h, err := registry.OpenHistory(r.Dir.History())
	return h, historyError(err)
}

func historyError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, registry.ErrBusy):
		return inconclusive(err, "wait for the other command; nothing was changed")
	}
	return &exitError{code: exitInternal, err: err, hint: "check the disk; the history keeps all that was stored before"}
}

// check compares clock and document with those of the last night.
func (r registryDir) check(h *registry.History, d registry.Document, acceptPause bool, acceptDocument string) error {
	last, err := h.LastNight()
	if err != nil {
		return historyError(err)
	}
	if err := registry.CheckClock(last, registry.NightOf(r.Now()), acceptPause); err != nil {
		return inconclusive(err, "")
	}
	before, err := h.Document()
	if err != nil {
		return historyError(err)
	}
	if before == nil {
		return nil
	}
	earlier, err := registry.ReadDocument(before)
	if err != nil {
		return historyError(err)
	}
	if err := r.Policy.Compare(earlier, d); err != nil && !digestBegins(d, acceptDocument) {
		return inconclusive(err, "")
	}
	return nil
}

// minDigits is how many digits of a digest --accept-document must give, so that another document hardly has the same ones.
const minDigits = 8

// digestBegins reports whether the digest of a document begins with the digits.
func digestBegins(d registry.Document, digits string) bool {
	return len(digits) >= minDigits && strings.HasPrefix(strings.TrimPrefix(d.Digest(), "sha256:"), digits)
}

// newCertifier returns the function that certifies one node in a child process of this binary, as rin certify does. It hands the events of each run to watch,
// which may be nil.
func newCertifier(w environment, watch func(node string, e worker.Event)) (registry.Certify, error) {
	process, err := workerCommandLine(w)
	if err != nil {
		return nil, err
	}
	output := outputFlags{formats: defaultFormats()}
	return func(ctx context.Context, t target.Target, dir string) (report.Report, *evidence.Log, error) {
		debug.SetMemoryLimit(parentMemory)
		result, err := conformance.Certify(ctx, t, conformance.Options{
			Inputs: conformance.Inputs{Suite: version()}, Evidence: filepath.Join(dir, evidenceFile), Worker: process,
			OnEvent: func(e worker.Event) {
				if watch != nil {
					watch(t.NodeID, e)
				}
			},
		})
		if err != nil {
			return report.Report{}, nil, err
		}
		to := output
		to.dir = dir
		return result.Report, result.Log, to.write(result)
	}, nil
}

func registryMergeCommand(w environment) *cobra.Command {
	var nightName string
	cmd := &cobra.Command{
		Use:   "merge DIR",
		Short: "Join the parts of a night that shards ran",
		Long: `Merge enters the results of a night's shards in the history, applies the
policy, and signs what follows. It names each node that no part ran. It may be
repeated: no night of a node is counted twice.

The shards leave their parts in DIR/parts and the files of their runs in
DIR/nodes. Shards on hosts without a common file system copy both into DIR.

Exit codes: 0 every node was run, 2 usage, 3 a node was not run, or no node at
all could be tested, 4 internal error.`,
		Example: `  rin registry merge my-registry
  rin registry merge my-registry --night 2026-11-25`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := openRegistry(w, args[0])
			if err != nil {
				return err
			}
			night := registry.NightOf(w.now())
			if nightName != "" {
				if night, err = registry.ParseNight(nightName); err != nil {
					return usage(err, "name the night of the parts in "+r.Dir.Parts())
				}
			}
			d, err := r.document(cmd.Context(), w)
			if err != nil {
				return err
			}
			h, err := r.history()
			if err != nil {
				return err
			}
			defer h.Close()
			sum, err := r.Merge(h, d, night)
			if err != nil {
				return historyError(err)
			}
			fmt.Fprintf(w.out, "night of %s: %s, %s\n", sum.Night, evidence.Count(sum.Parts, "part"), resultsText(sum.Results, sum.AlreadyCounted))
			for _, id := range sum.Unrun {
				fmt.Fprintf(w.out, "  not run by any part: %s\n", report.Plain(id))
			}
			if err := r.finish(w, h, d); err != nil {
				return err
			}
			if err := checkAnyTested(registry.Summary{Results: sum.Results, AlreadyTested: sum.AlreadyCounted}, r.Dir); err != nil {
				return err
			}
			if len(sum.Unrun) > 0 {
				return exitWith(exitInconclusive)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&nightName, "night", "", "night whose parts are joined, by the day of its evening (default: this night)")
	return cmd
}

// finish keeps the document, signs what follows from the history, and prints the statuses.
func (r registryDir) finish(w environment, h *registry.History, d registry.Document) error {
	if err := h.SetDocument(d.Text); err != nil {
		return historyError(err)
	}
	list, err := r.Publish(h, r.key, version())
	if err != nil {
		return historyError(err)
	}
	counts := map[registry.Status]int{}
	now := r.Now()
	for n, err := range h.Nodes() {
		if err != nil {
			return historyError(err)
		}
		if n.IsGone() {
			continue
		}
		status, why := r.Policy.Decide(n, now, r.Policy.For(n.ID).Withdrawn)
		counts[status]++
		if status != registry.Valid {
			fmt.Fprintf(w.out, "  %-11s %s: %s\n", status, report.Plain(n.ID), report.Plain(why))
		}
	}
	var parts []string
	for _, s := range registry.Statuses() {
		if counts[s] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", counts[s], s))
		}
	}
	fmt.Fprintf(w.out, "status: %s\nsigned: %s, valid until %s\n", strings.Join(parts, ", "), r.Dir.StatusList(), time.Unix(list.Expires, 0).UTC().Format("2006-01-02 15:04 UTC"))
	return nil
}

// resultsText sums up the results of a night.
func resultsText(results map[registry.Result]int, before int) string {
	text := fmt.Sprintf("%d passed, %d failed, %d untested", results[registry.Passed], results[registry.Failed], results[registry.Untested])
	if before > 0 {
		text += fmt.Sprintf("; %d counted by an earlier run", before)
	}
	return text
}

func registrySiteCommand(w environment) *cobra.Command {
	var publish, remove bool
	cmd := &cobra.Command{
		Use:   "site DIR",
		Short: "Write the public pages",
		Long: `Site writes the public pages to DIR/pages, beside what rin registry run signs: a
matrix of nodes and groups of rules, a page for each node with its rules, its
changes and a strip of the last year, a feed of changes, and all of it as JSON.
They are static files without scripts; copy them to any web space. Only files
that changed are written.

The reports of the nodes show what they answered to your client. Only --reports
publishes them: a page with the findings, and beside it the files of the run as
run.zip. If the certificate is about an earlier run, the files of that run are
in certified-run.zip. rin verify recomputes the results of each zip file. No
page is larger than 500 kB. Without --reports, reports that are published stay,
and the pages say from which run they are; --remove-reports deletes them.

A node whose entry is gone is shown as withdrawn if it was ever certified. Any
other node without an entry leaves the pages.`,
		Example: `  rin registry site my-registry
  rin registry site my-registry --reports
  rin registry site my-registry --remove-reports
  rsync -a my-registry/pages/ registry.example:/var/www/`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := openRegistry(w, args[0])
			if err != nil {
				return err
			}
			h, err := registry.ReadHistory(r.Dir.History())
			if err != nil {
				return inconclusive(err, "rin registry run "+args[0]+" makes the history; another command may be using it")
			}
			defer h.Close()
			reports := registry.KeepReports
			switch {
			case publish:
				reports = registry.PublishReports
			case remove:
				reports = registry.RemoveReports
			}
			s, err := r.WriteSite(cmd.Context(), h, reports)
			if err != nil {
				return &exitError{code: exitInternal, err: err, hint: "check the disk, and run it again"}
			}
			night := "last night " + string(s.Night)
			if s.Night == "" {
				night = "no night yet"
			}
			fmt.Fprintf(w.out, "%s, %s: %s\n", evidence.Count(s.Nodes, "node"), night, filepath.Join(r.Dir.Pages(), "index.html"))
			return nil
		},
	}
	cmd.Flags().BoolVar(&publish, "reports", false, "publish the last report of each node, and its run as a download")
	cmd.Flags().BoolVar(&remove, "remove-reports", false, "delete the reports and runs that were published")
	cmd.MarkFlagsMutuallyExclusive("reports", "remove-reports")
	return cmd
}
