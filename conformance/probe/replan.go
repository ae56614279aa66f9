package probe

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/target"
)

// ErrOtherTable is the error for evidence of a version of rin with another table of cases.
var ErrOtherTable = errors.New("the run was planned by another version of rin")

// Replanned is a recorded run that was planned again.
type Replanned struct {
	// Plan has the requests that a run with this target, profile, document and seed must have planned.
	Plan Plan
	// Node is the node that the document describes. It has no operations if the run read no document.
	Node Node

	log *evidence.Log
}

// Replan plans a recorded run again. It uses the recorded answers only for what a run learns before it plans: the document, the roles, and how many
// endpoints info lists.
func Replan(log *evidence.Log) (Replanned, error) {
	t, err := RecordedTarget(log.Run)
	if err != nil {
		return Replanned{}, err
	}
	if !sameFamilies(families(t), log.Run.Families) {
		return Replanned{}, ErrOtherTable
	}
	located := t
	if t.Profile == "auth" && t.ProfileReason != "" && t.SpecURL != "" {
		located.Profile = "funding" // rin chose a larger profile, until the document turned out to be missing
	}
	plan := ForTarget(located)
	if entry, ok := recordedEntry(log); ok {
		plan = plan.With(forEntry(located, entry))
	}
	n := recordedNode(log, t)
	var after []Stage
	if wantsDocument(t) {
		operations, left := ForDocument(n, Room(n))
		plan = plan.With(operations).With(left)
		for _, o := range n.Executable {
			after = append(after, stageAnonymous.of(evidence.OperationResource(o.Key)))
		}
	}
	plan = plan.With(ForEndpoints(listedEndpoints(log), after))
	if name := log.Roles.ProbeTarget; name != "" {
		plan = plan.With(ForProbeTarget(t, name))
	}
	return Replanned{plan, n, log}, nil
}

// Labels compares the labels that the run planned with those that it must have planned. It returns the first missing one and the first surplus one, or "".
func (r Replanned) Labels() (missing, surplus evidence.Label) {
	recorded := map[evidence.Label]bool{}
	for _, l := range r.log.Planned {
		recorded[l] = true
	}
	for _, l := range r.Plan.Labels() {
		if missing == "" && !recorded[l] {
			missing = l
		}
		delete(recorded, l)
	}
	if i := slices.IndexFunc(r.log.Planned, func(l evidence.Label) bool { return recorded[l] }); i >= 0 {
		surplus = r.log.Planned[i]
	}
	return missing, surplus
}

// Unplanned returns the label of the first exchange, handshake or unsent request that was not planned, or "".
func (r Replanned) Unplanned() evidence.Label {
	planned := r.Plan.labelSet()
	for _, x := range r.log.Exchanges {
		if !planned[x.Label] {
			return x.Label
		}
	}
	for _, h := range r.log.Handshakes {
		if !planned[h.Label] {
			return h.Label
		}
	}
	for _, n := range r.log.NotSent {
		if !planned[n.Label] {
			return n.Label
		}
	}
	return ""
}

// Difference returns the first label at which the run differs from its plan, and how it differs, or "". A run that ended early may lack labels.
func (r Replanned) Difference() (label evidence.Label, why string) {
	missing, surplus := r.Labels()
	if surplus == "" {
		surplus = r.Unplanned()
	}
	switch {
	case surplus != "":
		return surplus, "a run of this target, profile, document and seed does not plan it"
	case missing != "" && r.log.Ended != nil && r.log.Ended.Complete:
		return missing, "a run of this target, profile, document and seed plans it, and it is missing"
	}
	return "", ""
}

// Roles returns the roles that follow from document and answers: the list, the detail and the probe target.
func (r Replanned) Roles() evidence.Roles {
	status := func(l evidence.Label) int {
		x, _ := r.log.Get(l)
		return x.Status()
	}
	var roles evidence.Roles
	roles.ProbeTarget, _ = r.Node.ProbeTarget(status)
	if r.Node.List != "" {
		roles.List = evidence.OperationResource(r.Node.List)
	}
	if r.Node.Detail != "" {
		roles.Detail = evidence.OperationResource(r.Node.Detail)
	}
	return roles
}

// RecordedTarget returns the parts of the target of a recorded run that the plan depends on. Its secrets are placeholders.
func RecordedTarget(run evidence.Run) (target.Target, error) {
	if run.Seed == "" {
		return target.Target{}, fmt.Errorf("%w: it recorded no seed", ErrOtherTable)
	}
	seed, err := draw.ParseSeed(run.Seed)
	if err != nil {
		return target.Target{}, fmt.Errorf("read the seed of the run: %w", err)
	}
	placeholder := target.Credentials{ClientID: "recorded", ClientSecret: target.NewSecret("recorded")}
	given := func(is bool) *target.Credentials {
		if !is {
			return nil
		}
		return &placeholder
	}
	t := target.Target{
		Registry: run.Registry, NodeID: run.NodeID, TokenURL: run.TokenURL, InfoURL: run.InfoURL, SpecURL: run.SpecURL, BaseURL: run.BaseURL,
		Credentials: target.Credentials{ClientID: run.ClientID, ClientSecret: placeholder.ClientSecret},
		Second:      given(run.Second), Other: given(run.Other), Spare: given(run.Spare),
		Profile: run.Profile, ProfileReason: run.ProfileReason, ListOperation: run.ListOperation, DetailOperation: run.DetailOperation,
		Gaps: run.Gaps, Values: map[string]string{}, Blind: run.Blind, Effort: draw.Effort(run.Effort), Budget: run.DeepBudget, Seed: seed, Earlier: map[string][]string{},
		Only: run.Only, Wait: new(time.Duration), AllowTokenInURL: run.TokenInURL, AllowSecretInURL: run.SecretInURL, BruteForce: run.BruteForce, AllowOrigins: run.AllowedOrigins,
	}
	*t.Wait = run.Wait
	if run.StagingTokenURL != "" {
		t.Staging = &target.Staging{TokenURL: run.StagingTokenURL, Credentials: placeholder}
	}
	if run.ExpiredToken {
		t.ExpiredToken = placeholder.ClientSecret
	}
	for _, name := range run.Values {
		t.Values[name] = "recorded"
	}
	for _, f := range run.Families {
		for _, kind := range f.Earlier {
			t.Earlier[string(f.Family)] = append(t.Earlier[string(f.Family)], string(kind))
		}
	}
	return t, nil
}

// sameFamilies compares the families of the table with those that a run recorded.
func sameFamilies(own, recorded []evidence.FamilyKinds) bool {
	return slices.EqualFunc(own, recorded, func(a, b evidence.FamilyKinds) bool { return a.Family == b.Family && slices.Equal(a.Kinds, b.Kinds) })
}

// recordedEntry returns the registry entry of the run; ok is false if the run has none.
func recordedEntry(log *evidence.Log) (entry RegistryEntry, ok bool) {
	if len(log.Registry) == 0 {
		return RegistryEntry{}, false
	}
	document, err := json.Marshal([]json.RawMessage{log.Registry})
	if err != nil {
		return RegistryEntry{}, false
	}
	entry, err = FindEntry(document, log.Run.NodeID)
	return entry, err == nil
}

// listedEndpoints counts the URLs that the good info answer lists.
func listedEndpoints(log *evidence.Log) int {
	x, ok := log.Get(evidence.Info.With(evidence.OK))
	if !ok || x.Status()/100 != 2 {
		return 0
	}
	return len(readEndpoints(x.Response.Body))
}

// Disorder describes the first exchange that started too early: before the earlier request of its lane ended, or before the stages ended that its lane waits
// for. It returns "" if there is none.
func (r Replanned) Disorder() string {
	type span struct {
		label      evidence.Label
		start, end time.Time
	}
	spans := map[evidence.Label]span{}
	for _, x := range r.log.Exchanges {
		spans[x.Label] = span{x.Label, x.Started, x.Started.Add(x.Duration)}
	}
	for _, h := range r.log.Handshakes {
		spans[h.Label] = span{h.Label, h.Started, h.Started.Add(h.Duration)}
	}
	ended := map[Stage]span{} // the last exchange of each stage to end
	for _, l := range r.Plan.Lanes {
		for _, s := range l.Steps {
			if at, sent := spans[s.Label]; sent && at.end.After(ended[l.Stage].end) {
				ended[l.Stage] = at
			}
		}
	}
	for _, l := range r.Plan.Lanes {
		var before span
		for _, s := range l.After {
			if e := ended[s]; e.end.After(before.end) {
				before = e
			}
		}
		for _, s := range l.Steps {
			at, sent := spans[s.Label]
			if !sent {
				continue
			}
			if at.start.Before(before.end) {
				return fmt.Sprintf("%q started at %s, before %q ended at %s, for which it waits",
					at.label, at.start.Format(time.RFC3339Nano), before.label, before.end.Format(time.RFC3339Nano))
			}
			before = at
		}
	}
	return ""
}

// recordedNode returns the node that the document of a recorded run describes. It has no operations if the run read no document.
func recordedNode(log *evidence.Log, t target.Target) Node {
	if d := log.Document; d != nil && d.Refused == "" && len(d.Reduced) > 0 {
		if doc, err := openapi.Parse(d.Reduced); err == nil {
			return NewNode(t, doc)
		}
	}
	return NewNode(t, nil)
}
