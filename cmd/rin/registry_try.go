package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/registry"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

func registryTryCommand(w environment) *cobra.Command {
	var policy string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "try DIR [CATALOGUE]",
		Short: "Say what another catalogue or policy would change",
		Long: `Try judges the evidence that rin registry run kept by another catalogue or
policy, and says which nodes would lose or get their certificate. It sends
nothing and changes nothing.

Without CATALOGUE, this version of rin judges: install a new rin beside the old
one, and try it before it runs at night. CATALOGUE is a file, JSON or YAML, of
requirements with the gate and the profile that they would have: what rin
requirements --format json prints, or only the rows that differ. Gates are
gating, advice and information. --policy names another registry.yaml.

For each node, the last night in which it was judged counts. What no request of
that night shows is open until a new run: a larger profile, for example. Nodes
without evidence are listed.

Exit codes: 0 no node would lose its certificate; 1 a node would; 2 usage; 3 no
node would for certain, but for a node with a certificate it is open; 4 internal
error.`,
		Example: `  rin registry try my-registry
  rin requirements --format json |
    jq '[.[] | select(.id=="TOK-11") | .gate="gating"]' > stricter.json
  rin registry try my-registry stricter.json
  rin registry try my-registry --policy stricter.yaml --json`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := openRegistry(w, args[0])
			if err != nil {
				return err
			}
			t := trial{Trial: registry.Trial{Catalogue: requirement.Catalogue(), Policy: r.Policy}}
			if len(args) > 1 {
				if err := t.readCatalogue(w, args[1]); err != nil {
					return err
				}
			}
			if policy != "" {
				if err := t.readPolicy(w, policy); err != nil {
					return err
				}
			}
			h, err := registry.ReadHistory(r.Dir.History())
			if err != nil {
				return inconclusive(err, "rin registry run "+args[0]+" makes the history; another command may be using it")
			}
			defer h.Close()
			progress := newProgress(w.err, displayOf(w, w.err, cmd))
			t.nodes, err = r.Try(cmd.Context(), h, t.Trial, func(done, all int, id string) {
				if progress.screen.live {
					progress.step(done, all, report.Plain(id))
				}
			})
			progress.clear()
			if err != nil {
				return historyError(err)
			}
			if err := t.write(w.out, asJSON); err != nil {
				return fmt.Errorf("write the result: %w", err)
			}
			return t.exit()
		},
	}
	f := cmd.Flags()
	f.StringVar(&policy, "policy", "", "registry.yaml to try in place of the one in DIR")
	f.BoolVar(&asJSON, "json", false, "print the nodes as JSON")
	return cmd
}

// trial holds the catalogue and the policy that are tried, and what they would change.
type trial struct {
	registry.Trial
	changed    []registry.WeightChange
	policyFile string
	nodes      []registry.TrialResult
}

func (t *trial) readCatalogue(w environment, path string) error {
	text, err := w.readFile(path)
	if err != nil {
		return usage(err, "name a file of requirements, such as rin requirements --format json prints")
	}
	if t.Catalogue, t.changed, err = registry.ReadCatalogue(text); err != nil {
		return usage(fmt.Errorf("%s:\n%w", path, err), "rin requirements --format json prints the catalogue of this rin")
	}
	return nil
}

func (t *trial) readPolicy(w environment, path string) error {
	text, err := w.readFile(path)
	if err != nil {
		return usage(err, "name a registry.yaml")
	}
	if t.Policy, err = registry.ReadPolicy(text); err != nil {
		return usage(fmt.Errorf("%s:\n%w", path, err), "rin registry init writes a file in which every setting is explained")
	}
	t.policyFile = path
	return nil
}

// exit returns the exit code as an error. A node for which the effect is open counts only if it has a certificate to lose.
func (t *trial) exit() error {
	code := exitOK
	for _, n := range t.nodes {
		switch {
		case n.Effect == registry.Loses:
			return exitWith(exitNotCertified)
		case n.Before.IsListed() && (n.Effect == registry.Open || n.Effect == registry.Untried):
			code = exitInconclusive
		}
	}
	if code == exitOK {
		return nil
	}
	return exitWith(code)
}

func (t *trial) write(out io.Writer, asJSON bool) error {
	if asJSON {
		counts := map[registry.Effect]int{}
		for _, n := range t.nodes {
			counts[n.Effect]++
		}
		return writeJSON(out, struct {
			Schema    string                  `json:"schema"`
			Suite     string                  `json:"suite"`
			Catalogue string                  `json:"catalogue"`
			Changed   []registry.WeightChange `json:"changedRequirements"`
			Policy    *certificate.Descriptor `json:"policy,omitempty"`
			Effects   map[registry.Effect]int `json:"effects"`
			Nodes     []registry.TrialResult  `json:"nodes"`
		}{"rin.registry-trial/v1", version(), requirement.Version, append([]registry.WeightChange{}, t.changed...), t.policy(), counts, append([]registry.TrialResult{}, t.nodes...)})
	}
	_, err := io.WriteString(out, t.text())
	return err
}

func (t *trial) policy() *certificate.Descriptor {
	if t.policyFile == "" {
		return nil
	}
	return &certificate.Descriptor{Name: "registry.yaml", Digest: certificate.DigestOf(t.Policy.Text)}
}

// text lists the catalogue and the policy that are tried, and below them each effect with the number of its nodes and the nodes.
func (t *trial) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "tried: catalogue %s of rin %s", requirement.Version, version())
	if len(t.changed) > 0 {
		fmt.Fprintf(&b, " with %s", evidence.Count(len(t.changed), "change"))
	}
	if t.policyFile != "" {
		fmt.Fprintf(&b, ", policy %s", report.Plain(t.policyFile))
	}
	fmt.Fprintln(&b)
	for _, c := range t.changed {
		fmt.Fprintf(&b, "  %s\n", c)
	}
	for _, section := range []struct {
		effect registry.Effect
		words  string
		always bool
	}{
		{registry.Loses, "would lose %s certificate", true}, {registry.Gains, "would get a certificate", false},
		{registry.Changes, "would have another status", false}, {registry.Open, "cannot be decided from the evidence; a new run decides", false},
		{registry.Untried, "cannot be tried", false},
	} {
		nodes := registry.Of(section.effect, t.nodes)
		if len(nodes) == 0 && !section.always {
			continue
		}
		words := section.words
		if strings.Contains(words, "%s") {
			words = fmt.Sprintf(words, itsOrTheir(len(nodes)))
		}
		fmt.Fprintf(&b, "%s %s\n", evidence.Count(len(nodes), "node"), words)
		for _, n := range nodes {
			writeTrialResult(&b, n)
		}
	}
	fmt.Fprintf(&b, "%s nothing changes\n", "for "+evidence.Count(len(registry.Of(registry.Keeps, t.nodes)), "node"))
	if n := t.countRenewals(); n > 0 {
		fmt.Fprintf(&b, "%s: control is not proved, and without proof the policy would renew no certificate (rin registry admit)\n", evidence.Count(n, "node"))
	}
	return b.String()
}

func (t *trial) countRenewals() int {
	count := 0
	for _, n := range t.nodes {
		if n.RenewalNeedsControl {
			count++
		}
	}
	return count
}

func itsOrTheir(n int) string {
	if n == 1 {
		return "its"
	}
	return "their"
}

func writeTrialResult(b *strings.Builder, n registry.TrialResult) {
	change := string(n.Before)
	if n.After != "" && n.After != n.Before {
		change += ", then " + string(n.After)
	}
	from := ""
	if n.Night != "" {
		from = fmt.Sprintf("; evidence of %s, profile %s", n.Night, n.Profile)
	}
	fmt.Fprintf(b, "  %-12s %s%s\n", report.Plain(n.ID), change, from)
	for _, reason := range n.Reasons {
		fmt.Fprintf(b, "  %-12s   %s\n", "", reason)
	}
}
