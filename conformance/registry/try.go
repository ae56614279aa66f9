package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// This file tries a catalogue or a policy on the evidence that was kept, before it is in force.

// WeightChange is a requirement that has another gate or profile in another catalogue.
type WeightChange struct {
	ID requirement.ID `json:"id"`
	// Gate and Profile are those of this version, NewGate and NewProfile those of the other catalogue.
	Gate       requirement.Gate    `json:"gate"`
	NewGate    requirement.Gate    `json:"newGate"`
	Profile    requirement.Profile `json:"profile"`
	NewProfile requirement.Profile `json:"newProfile"`
}

func (r WeightChange) String() string {
	var parts []string
	if r.Gate != r.NewGate {
		parts = append(parts, fmt.Sprintf("%s instead of %s", r.NewGate, r.Gate))
	}
	if r.Profile != r.NewProfile {
		parts = append(parts, fmt.Sprintf("from profile %s on instead of %s", r.NewProfile, r.Profile))
	}
	return string(r.ID) + " " + strings.Join(parts, ", ")
}

// ReadCatalogue reads another catalogue: a list of rows with id, gate and profile, as rin requirements --format json prints it, or only those that
// differ. It returns the rows of this version with the gates and profiles of the other catalogue, and the changes. Mistakes are returned together, as
// [Faults].
func ReadCatalogue(text []byte) ([]requirement.Requirement, []WeightChange, error) {
	catalogue := requirement.Catalogue()
	at := map[string]int{}
	for i, r := range catalogue {
		at[string(r.ID)] = i
	}
	r := &reader{}
	root := r.rows(text)
	var changed []WeightChange
	seen := map[string]int{}
	for _, row := range root {
		id, gate, profile := r.row(row)
		i, known := at[id]
		line, twice := seen[id]
		switch {
		case id == "":
			r.fault(row, "", "a row with an id, such as {id: TOK-02, gate: gating}", kindOf(row), "rin requirements --format json prints such rows")
			continue
		case !known:
			r.fault(row, id, "a requirement of the catalogue "+requirement.Version, "one that this rin does not know", "run rin registry try without a catalogue, in a version of rin that has this requirement")
			continue
		case twice:
			r.fault(row, id, "each requirement once", "a second row", fmt.Sprintf("line %d has it already", line))
			continue
		}
		seen[id] = row.Line
		c := WeightChange{catalogue[i].ID, catalogue[i].Gate, cmp.Or(gate, catalogue[i].Gate), catalogue[i].Profile, cmp.Or(profile, catalogue[i].Profile)}
		if c.Gate != c.NewGate || c.Profile != c.NewProfile {
			changed = append(changed, c)
		}
		catalogue[i].Gate, catalogue[i].Profile = c.NewGate, c.NewProfile
	}
	if len(r.faults) > 0 {
		return nil, nil, r.faults
	}
	return catalogue, changed, nil
}

// rows returns the items of a file that holds one list.
func (r *reader) rows(text []byte) []*yaml.Node {
	root := r.document(text)
	if len(r.faults) > 0 {
		return nil
	}
	if root.Kind != yaml.SequenceNode {
		r.fault(root, "", "a list of requirements", kindOf(root), "rin requirements --format json prints one")
		return nil
	}
	return root.Content
}

// row reads the id, the gate and the profile of a row. Other members, such as the title, are for people.
func (r *reader) row(v *yaml.Node) (id string, gate requirement.Gate, profile requirement.Profile) {
	if v.Kind != yaml.MappingNode {
		return "", "", ""
	}
	for i := 0; i+1 < len(v.Content); i += 2 {
		if v.Content[i].Value == "id" {
			id = v.Content[i+1].Value
		}
	}
	gates := []string{string(requirement.Gating), string(requirement.Advice), string(requirement.Information)}
	var profiles []string
	for _, p := range requirement.Profiles() {
		profiles = append(profiles, string(p))
	}
	hasWeight := false
	for i := 0; i+1 < len(v.Content); i += 2 {
		switch name, value := v.Content[i].Value, v.Content[i+1]; name {
		case "gate":
			hasWeight = true
			r.choice(func(w string) { gate = requirement.Gate(w) }, gates...)(value, id+".gate")
		case "profile":
			hasWeight = true
			r.choice(func(w string) { profile = requirement.Profile(w) }, profiles...)(value, id+".profile")
		}
	}
	if id != "" && !hasWeight {
		r.fault(v, id, "a gate or a profile", "neither", "")
	}
	return id, gate, profile
}

// Effect says what a trial would change for a node.
type Effect string

// The effects.
const (
	Loses   Effect = "loses"   // it would lose its certificate
	Gains   Effect = "gains"   // it would get a certificate
	Changes Effect = "changes" // its status would change, but not whether it has a valid certificate
	Keeps   Effect = "keeps"   // nothing would change
	Open    Effect = "open"    // the evidence does not decide it: the run did not send some request
	Untried Effect = "untried" // there is no evidence that this version can judge
)

// TrialResult is what a trial would change for one node.
type TrialResult struct {
	ID     string `json:"id"`
	Effect Effect `json:"effect"`
	// Night is that of the evidence, Profile the profile for which it was judged.
	Night   Night               `json:"night,omitempty"`
	Profile requirement.Profile `json:"profile,omitempty"`
	// Before is the status of the node, After the one that it would have; empty where that is not decided.
	Before Status `json:"before"`
	After  Status `json:"after,omitempty"`
	// Reasons say why, the most serious first.
	Reasons []string `json:"reasons,omitempty"`
	// RenewalNeedsControl reports that the policy would not renew the certificate of the node until control is proved.
	RenewalNeedsControl bool `json:"renewalNeedsControl,omitempty"`
}

// Trial is a catalogue and a policy to try.
type Trial struct {
	Catalogue []requirement.Requirement
	Policy    Policy
}

// mostReasons bounds the reasons of one node.
const mostReasons = 5

// Try says for each node what the trial would change, in the order of their ids. It judges the evidence of the last night in which a node was judged, and
// sends nothing. step is called after each node.
func (o Operator) Try(ctx context.Context, h *History, t Trial, step func(done, all int, id string)) ([]TrialResult, error) {
	var nodes []Node
	for n, err := range h.Nodes() {
		if err != nil {
			return nil, err
		}
		n.Requirements, n.Drawn = nil, nil
		nodes = append(nodes, n)
	}
	out := make([]TrialResult, len(nodes))
	var mu sync.Mutex
	done := 0
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, n := range nodes {
		workers.Go(func() (err error) {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if out[i], err = o.try(h, n, t); err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			if done++; step != nil {
				step(done, len(nodes), n.ID)
			}
			return nil
		})
	}
	return out, workers.Wait()
}

// try judges the evidence of one node.
func (o Operator) try(h *History, n Node, t Trial) (TrialResult, error) {
	now := o.Now()
	out := TrialResult{ID: n.ID, Effect: Untried}
	out.Before, _ = o.Policy.Decide(n, now, o.Policy.For(n.ID).Withdrawn)
	kept, why, err := o.readKeptRun(h, n)
	switch {
	case err != nil:
		return out, err
	case why != "":
		out.Reasons = []string{why}
		return out, nil
	}
	out.Night = kept.night
	if p := t.Policy.For(n.ID).Profile; p != "" && p != o.Policy.For(n.ID).Profile && p != kept.log.Run.Profile {
		kept.log.Run.Profile, kept.log.Run.ProfileReason = p, ""
	}
	v := conformance.Try(t.Catalogue, kept.log)
	out.Profile = v.Profile
	after := n
	if v.Decision == verdict.Certified && !n.confirmedBy(v.Profile) {
		out.Effect, out.Reasons = Open, []string{fmt.Sprintf("the run is for the profile %s, which is less than that of the certificate, %s", v.Profile, n.CertifiedProfile)}
		return out, nil
	}
	switch {
	case v.Decision == verdict.Certified && kept.passed, v.Decision == verdict.NotCertified && !kept.passed:
		// The decision is the same as in the run: only the rules of the policy can change the status.
	case v.Decision == verdict.Certified:
		after.Bad, after.Good = 0, kept.night
		if t.Policy.mayIssue(after, v.Profile, now) {
			after.Certified = now
		}
	case v.Decision == verdict.NotCertified:
		after.Bad = max(n.Bad, t.Policy.BadNights)
	default:
		out.Effect, out.Reasons = Open, reasonsOf(v)
		return out, nil
	}
	var reason string
	out.After, reason = t.Policy.Decide(after, now, t.Policy.For(n.ID).Withdrawn)
	out.RenewalNeedsControl = !after.Certified.IsZero() && t.Policy.RequireControl && n.Control.IsZero()
	switch {
	case out.Before.IsListed() && !out.After.IsListed():
		out.Effect = Loses
	case !out.Before.IsListed() && out.After.IsListed():
		out.Effect = Gains
	case out.Before != out.After:
		out.Effect = Changes
	default:
		out.Effect = Keeps
		return out, nil
	}
	out.Reasons = reasonsOf(v)
	if len(out.Reasons) == 0 || v.Decision == verdict.NotCertified && !kept.passed {
		out.Reasons = []string{report.Plain(reason)} // the policy decides, not the evidence
	}
	return out, nil
}

func reasonsOf(v verdict.Verdict) []string {
	var out []string
	for _, r := range v.Reasons[:min(len(v.Reasons), mostReasons)] {
		out = append(out, report.Plain(clip(r.String())))
	}
	if more := len(v.Reasons) - len(out); more > 0 {
		out = append(out, "and "+evidence.Count(more, "more reason"))
	}
	return out
}

// keptRun is a run whose evidence was kept.
type keptRun struct {
	night  Night
	passed bool
	log    *evidence.Log
}

// readKeptRun reads the evidence of the last night in which the node was judged; an admission counts as a night. Without evidence, the string says why. The
// error is about the history.
func (o Operator) readKeptRun(h *History, n Node) (keptRun, string, error) {
	outcomes, err := h.Outcomes(n.ID, "")
	if err != nil {
		return keptRun{}, "", err
	}
	var found keptRun
	if strings.HasSuffix(string(n.CertifiedRun), admissionSuffix) {
		found = keptRun{night: n.CertifiedRun, passed: true}
	}
	for _, out := range outcomes {
		if out.Evidence && out.Result != Untested && string(out.Night) > strings.TrimSuffix(string(found.night), admissionSuffix) {
			found = keptRun{night: out.Night, passed: out.Result == Passed}
		}
	}
	if found.night == "" {
		return found, "it was never judged, so that there is no evidence", nil
	}
	log, err := readEvidence(filepath.Join(o.Dir.RunDir(n.ID, found.night), certificate.EvidenceFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, fmt.Sprintf("the evidence of %s is missing", found.night), nil
	case err != nil:
		return found, report.Plain(clip(fmt.Sprintf("the evidence of %s cannot be judged: %v", found.night, err))), nil
	}
	found.log = log
	return found, "", nil
}

func readEvidence(path string) (*evidence.Log, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return evidence.ReadLog(file)
}

// Of returns the results that have the given effect.
func Of(e Effect, nodes []TrialResult) []TrialResult {
	return slices.Collect(func(yield func(TrialResult) bool) {
		for _, n := range nodes {
			if n.Effect == e && !yield(n) {
				return
			}
		}
	})
}
