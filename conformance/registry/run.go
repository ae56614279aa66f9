package registry

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

// Certify certifies one node and leaves the files of the run in dir. Its error means that the node could not be tested.
type Certify func(ctx context.Context, t target.Target, dir string) (report.Report, *evidence.Log, error)

// Operator runs a registry: its directory, its policy, and what its commands need from their caller.
type Operator struct {
	Dir     Dir
	Policy  Policy
	Secrets Secrets
	CACert  []byte
	Certify Certify
	Now     func() time.Time
	// Begin is called before the test of each node, with the number of nodes to test. It may be nil.
	Begin func(node string, all int)
	// DelayedChecks is nil for nights without delayed checks.
	DelayedChecks *DelayedChecks
}

// Shard is part I of N of a registry, I from 1 to N. The zero value is the whole registry.
type Shard struct{ I, N int }

// Holds reports whether a node belongs to the shard. The answer depends on the id alone, so that shards agree while the document changes.
func (s Shard) Holds(id string) bool {
	if s.N == 0 {
		return true
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(id))
	return int(h.Sum32()%uint32(s.N)) == s.I-1
}

// Name returns the file name of the shard's part in a night.
func (s Shard) Name(night Night) string { return fmt.Sprintf("%s.%d-of-%d.db", night, s.I, s.N) }

// Record is what one run showed of a node. From the record and the nights before, [Operator.Count] makes the outcome and the status.
type Record struct {
	Outcome
	InfoURL      string              `json:"infoUrl,omitempty"`
	TokenURL     string              `json:"tokenUrl,omitempty"`
	Requirements []Judged            `json:"requirements,omitempty"`
	Drawn        map[string][]string `json:"drawn,omitempty"`
	Name         string              `json:"name,omitempty"`
	Missing      bool                `json:"missing,omitempty"`
	// noSecret means that the client of the node or its secret is missing.
	noSecret bool
	// Waits means that the record counts only after the delayed check.
	Waits bool `json:"waits,omitempty"`
	// Protected are the URLs of which the delayed check draws one; nil in records of older versions.
	Protected []string `json:"protected,omitempty"`
}

// Step reports progress: a node was tested, or its delayed check was made. A check that was made is in the outcome. Done and All count tests or delayed
// checks.
type Step struct {
	Done, All int
	Outcome   Outcome
}

// Summary has the results of one run.
type Summary struct {
	Night   Night          `json:"night"`
	Results map[Result]int `json:"results"`
	// NoSecret counts the untested nodes whose client or its secret is missing.
	NoSecret int `json:"noSecret,omitempty"`
	// AlreadyTested is the number of nodes that an earlier run of this night had tested. Skipped lists those that the policy leaves out, Left those that were not
	// tested; Why says for what reason.
	AlreadyTested int      `json:"before"`
	Skipped       []string `json:"skipped,omitempty"`
	Left          []string `json:"left,omitempty"`
	Why           string   `json:"why,omitempty"`
}

// maxNight is how long after the start of a night its tests may begin. After that the clock is probably wrong, and certificates would have a wrong date.
const maxNight = 3 * day

// maxPause is how many nights there may be between two runs. With more, the clock is probably wrong.
const maxPause = 30

// CheckClock refuses a night before the last one, and a night long after the last one unless the operator accepts the pause.
func CheckClock(last, night Night, acceptPause bool) error {
	switch pause := int(night.Start().Sub(last.Start()) / day); {
	case last == "" || night == last:
	case night < last:
		return fmt.Errorf("the clock says that this is the night of %s, but the history already has the night of %s (hint: set the clock right; nothing was changed)", night, last)
	case pause > maxPause && !acceptPause:
		return fmt.Errorf("the clock says that this is the night of %s, %d nights after the last one, %s (hint: set the clock right, or say --after-pause)", night, pause, last)
	}
	return nil
}

// Run tests every node of the shard that was not tested in this night yet, and later makes the delayed checks. It calls step when an outcome is on the
// disk. A node that fails is in the history, and not an error: errors are about this machine. part holds the records of the shard; nil for the whole
// registry. h may be nil for a shard of a registry that has no history yet.
func (o Operator) Run(ctx context.Context, h *History, part *Part, d Document, s Shard, step func(Step)) (Summary, error) {
	night := NightOf(o.Now())
	sum := Summary{Night: night, Results: map[Result]int{}}
	if h != nil && part == nil {
		if err := o.countOverdue(h, night); err != nil {
			return sum, err
		}
	}
	remaining, waitingNodes, err := o.remaining(h, part, d, s, &sum)
	if err != nil {
		return sum, err
	}
	tested, err := o.testAll(ctx, h, part, d, remaining, &sum, step)
	if err != nil {
		return sum, err
	}
	err = o.makeDelayedChecks(ctx, h, part, append(waitingNodes, tested...), &sum, step)
	slices.Sort(sum.Left)
	return sum, err
}

// testAll tests nodes, several side by side, and returns those that wait for their delayed check.
func (o Operator) testAll(ctx context.Context, h *History, part *Part, d Document, remaining []Entry, sum *Summary, step func(Step)) (tested []waitingNode, err error) {
	var mu sync.Mutex
	done := 0
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(max(1, o.Policy.AtOnce))
	for _, e := range remaining {
		workers.Go(func() error {
			if why := o.mustStop(ctx); why != "" {
				mu.Lock()
				defer mu.Unlock()
				sum.Left, sum.Why = append(sum.Left, e.ID), why
				return nil
			}
			if o.Begin != nil {
				o.Begin(e.ID, len(remaining))
			}
			var before Node
			var err error
			if h != nil {
				before, _, err = h.Node(e.ID)
			}
			var r Record
			if err == nil {
				r = o.test(ctx, d, e, before, sum.Night)
			}
			mu.Lock()
			defer mu.Unlock()
			if ctx.Err() != nil && err == nil { // interrupted: the node will be tested by the next run of this night
				sum.Left, sum.Why = append(sum.Left, e.ID), interrupted
				return nil
			}
			if err == nil {
				err = o.keep(h, part, &r)
			}
			if err != nil {
				return err // a full disk, for example: nothing more can be kept
			}
			done++
			sum.Results[r.Result]++
			if r.noSecret {
				sum.NoSecret++
			}
			if r.Waits {
				tested = append(tested, waitingNode{id: e.ID})
			}
			if step != nil {
				step(Step{done, len(remaining), r.Outcome})
			}
			return nil
		})
	}
	err = workers.Wait()
	return tested, err
}

// remaining lists the entries that are still to be tested in this night: the entries of the document, and those that the document has lost. A node that an
// earlier run could not test is tested again. Nodes that were tested and wait for their delayed check are in the second list.
func (o Operator) remaining(h *History, part *Part, d Document, s Shard, sum *Summary) (out []Entry, tested []waitingNode, err error) {
	entries := slices.Clone(d.Entries)
	if h != nil {
		for n, err := range h.Nodes() {
			if err != nil {
				return nil, nil, err
			}
			if _, found := d.Find(n.ID); !found && !n.IsGone() {
				entries = append(entries, Entry{ID: n.ID, Problem: missingEntry})
			}
		}
	}
	for _, e := range entries {
		if !s.Holds(e.ID) {
			continue
		}
		judged, counted, err := o.judged(h, part, e.ID, sum.Night)
		if err != nil {
			return nil, nil, err
		}
		_, waits, err := o.findWaiting(h, part, e.ID, sum.Night)
		switch {
		case err != nil:
			return nil, nil, err
		case waits && !counted && o.DelayedChecks != nil:
			sum.AlreadyTested++
			tested = append(tested, waitingNode{id: e.ID, earlier: true})
		case judged:
			sum.AlreadyTested++
		case o.Policy.For(e.ID).Skip != "":
			sum.Skipped = append(sum.Skipped, e.ID)
		default:
			out = append(out, e)
		}
	}
	return out, tested, nil
}

const missingEntry = "the registry document lacks its entry"

// judged reports whether a node was judged in the night, by the part or in the history. counted means that the history has the outcome.
func (o Operator) judged(h *History, part *Part, id string, night Night) (judged, counted bool, err error) {
	if h != nil {
		counted, err = h.Judged(id, night)
	}
	if err != nil || counted || part == nil {
		return counted, counted, err
	}
	judged, err = part.isJudged(id)
	return judged, false, err
}

// mustStop says why no further test may start.
func (o Operator) mustStop(ctx context.Context) string {
	switch {
	case ctx.Err() != nil:
		return interrupted
	case !o.Policy.Hours.Contains(o.Now()):
		return "registry.yaml lets no test start at this hour"
	case o.hasStopFile():
		return stopFileWords
	}
	return ""
}

// test tests one node.
func (o Operator) test(ctx context.Context, d Document, e Entry, before Node, night Night) Record {
	p := o.Policy.For(e.ID)
	started := o.Now()
	r := Record{InfoURL: e.InfoURL, TokenURL: e.TokenURL, Name: e.Name, Missing: e.Problem == missingEntry}
	untested := func(why string) Record {
		r.Outcome = Outcome{Node: e.ID, Night: night, Started: started.UTC(), Seconds: seconds(started, o.Now()), Document: d.Digest(),
			Result: Untested, Headline: "Not tested", Why: report.Plain(clip(why))}
		return r
	}
	if gap := started.Sub(night.Start()); gap < 0 || gap > maxNight {
		return untested("the clock of this machine jumped to " + started.UTC().Format(time.RFC3339) + " during the night of " + string(night))
	}
	if e.Problem != "" {
		return untested(e.Problem)
	}
	if why := movedReason(before, e, p); why != "" {
		r.InfoURL, r.TokenURL = before.InfoURL, before.TokenURL // the new URLs stay unknown until they are accepted
		return untested(why)
	}
	t, err := o.Secrets.target(ctx, p, d, e)
	if err != nil {
		r := untested(err.Error())
		r.noSecret = errors.As(err, new(*noSecretError))
		return r
	}
	t.CACert, t.Operator, t.Earlier = o.CACert, o.Policy.Operator, before.Drawn
	dir := o.Dir.RunDir(e.ID, night)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil { // a killed run may have left files
		return untested("keep the files of the run: " + err.Error())
	}
	got, log, err := o.Certify(ctx, t, dir)
	if err != nil {
		_ = os.Remove(dir) // fails if the run left files, which are kept
		return untested(err.Error())
	}
	return o.record(r, got, log, d, e, night, started)
}

// keep counts the record, unless it waits for a delayed check.
func (o Operator) keep(h *History, part *Part, r *Record) error {
	r.Waits = o.needsCheck(*r)
	if r.Waits && part == nil {
		return h.await(*r)
	}
	return o.count(h, part, r)
}

// count counts the record, or keeps it in the part for the merge.
func (o Operator) count(h *History, part *Part, r *Record) error {
	if part != nil {
		return part.put(*r)
	}
	_, err := o.Count(h, r)
	return err
}

// Count counts a record in the history, once, and removes the files of runs that are not kept any longer. It returns false if the night was counted already.
func (o Operator) Count(h *History, r *Record) (bool, error) {
	added, removed, err := h.Add(r.Outcome, func(n *Node, out *Outcome) []Night { return o.apply(n, out, *r) })
	if err != nil || !added {
		return added, err
	}
	for _, night := range removed {
		if err := os.RemoveAll(o.Dir.RunDir(r.Node, night)); err != nil {
			return true, fmt.Errorf("remove the files of an earlier run: %w", err)
		}
	}
	n, _, err := h.Node(r.Node)
	r.Outcome = n.Outcome
	return true, err
}

// apply changes a node by the record of a night, and returns the nights whose files are not kept any longer: all but the last, the last good one, the
// one that the certificate is about, and those that changed something.
func (o Operator) apply(n *Node, out *Outcome, r Record) (superseded []Night) {
	last, wasGood, wasCertified := n.Outcome, n.Good, n.CertifiedRun
	if out.Result == Passed && !n.confirmedBy(out.Profile) && !o.Policy.mayIssue(*n, out.Profile, out.Started) {
		out.Result, out.Headline = Untested, fmt.Sprintf("Tested for profile %s only; the certificate is for %s", out.Profile, n.CertifiedProfile)
	}
	if r.InfoURL != "" {
		n.InfoURL, n.TokenURL, n.Name = r.InfoURL, r.TokenURL, r.Name
	}
	switch {
	case !r.Missing:
		n.Missing = ""
	case n.Missing == "":
		n.Missing = out.Night
	}
	if out.Result != Untested {
		n.Tested, n.TestedAt = out.Night, out.Started
		before := n.Requirements
		n.Requirements, out.Changes = compareJudged(r.Requirements, before, out.Night)
	}
	switch out.Result {
	case Failed:
		n.Bad++
	case Passed:
		n.Bad, n.Good, n.GoodAt = 0, out.Night, out.Started
		n.Drawn = union(n.Drawn, r.Drawn)
		if o.Policy.mayIssue(*n, out.Profile, out.Started) {
			n.Certified, n.CertifiedRun, n.CertifiedURLs = out.Started.Truncate(time.Second), out.Night, []string{n.InfoURL, n.TokenURL}
			n.CertifiedProfile = out.Profile
		}
	}
	n.Outcome = *out
	o.Policy.settle(n, out.Started, out.Night, o.Policy.For(n.ID).Withdrawn)
	out.Status = n.Status
	for _, night := range []Night{last.Night, wasGood, wasCertified} {
		if night != "" && night != n.Good && night != n.CertifiedRun && night != out.Night {
			superseded = append(superseded, night)
		}
	}
	return superseded
}

// compareJudged compares the requirements with those of the last night. It returns them with the night since which each has its outcome, and the changes.
func compareJudged(now, before []Judged, night Night) ([]Judged, []Change) {
	earlier := map[requirement.ID]Judged{}
	for _, q := range before {
		earlier[q.ID] = q
	}
	var changes []Change
	for i, q := range now {
		last, known := earlier[q.ID]
		delete(earlier, q.ID)
		switch {
		case known && last.Outcome == q.Outcome:
			now[i].Since = last.Since
		case len(before) > 0:
			changes = append(changes, Change{ID: q.ID, From: last.Outcome, To: q.Outcome, Gate: q.Gate})
		}
	}
	for _, q := range before {
		if _, gone := earlier[q.ID]; gone {
			changes = append(changes, Change{ID: q.ID, From: q.Outcome, Gate: q.Gate})
		}
	}
	return now, changes
}

func union(a, b map[string][]string) map[string][]string {
	out := map[string][]string{}
	for _, m := range []map[string][]string{a, b} {
		for family, kinds := range m {
			for _, kind := range kinds {
				if !slices.Contains(out[family], kind) {
					out[family] = append(out[family], kind)
				}
			}
		}
	}
	return out
}
