package registry

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/report"
)

// This file makes the delayed checks of a night, one for each node that passed. Until its check, the record of a node is on the disk but does not count. If
// the run is killed meanwhile, the next run continues it, and no night is counted twice.

// DelayedChecks is what the delayed checks of a night need from their caller.
type DelayedChecks struct {
	Prover Prover
	Random io.Reader
	// Wait returns after a time, or early when the context ends.
	Wait func(ctx context.Context, d time.Duration)
}

// CheckPolicy says when the delayed check of a night is made.
type CheckPolicy struct {
	Off bool
	// After is how long after the last run of the night the check is due; nil for the default.
	After *time.Duration
}

// CheckResult is what a delayed check showed.
type CheckResult string

// The results.
const (
	// CheckPassed means that the node answered as in its run, CheckFailed that it answered differently. CheckOpen means that the check was not made, or
	// decided nothing.
	CheckPassed CheckResult = "passed"
	CheckFailed CheckResult = "failed"
	CheckOpen   CheckResult = "open"
)

// DelayedCheck is the delayed check of one node in one night. Why says what the node did, or why nothing was learnt.
type DelayedCheck struct {
	At     time.Time   `json:"at"`
	Result CheckResult `json:"result"`
	Why    string      `json:"why,omitempty"`
}

// String describes the check in a line.
func (c DelayedCheck) String() string {
	words := map[CheckResult]string{CheckPassed: "the node answers as in its run", CheckFailed: "the node answers differently when it is not tested", CheckOpen: "nothing was learnt"}
	text := c.At.Format("2006-01-02 15:04 UTC") + ": " + words[c.Result]
	if c.Why != "" {
		text += ": " + c.Why
	}
	return text
}

// needsCheck reports whether the record of a run counts only after a delayed check. The check is only for a node that passed.
func (o Operator) needsCheck(r Record) bool {
	return o.DelayedChecks != nil && !o.Policy.NightCheck.Off && r.Result == Passed
}

// waitingNode is a node that waits for its delayed check. earlier reports that an earlier run of the night tested it.
type waitingNode struct {
	id      string
	earlier bool
	due     time.Time
}

// makeDelayedChecks makes the delayed checks of a night, each when it is due, and counts the records that waited for them. If the context ends, the
// remaining nodes wait for the next run of the night.
func (o Operator) makeDelayedChecks(ctx context.Context, h *History, part *Part, nodes []waitingNode, sum *Summary, step func(Step)) error {
	if err := o.schedule(h, part, nodes, sum.Night); err != nil {
		return err
	}
	var mu sync.Mutex
	done := 0
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(max(1, o.Policy.AtOnce))
	for _, n := range nodes {
		if wait := n.due.Sub(o.Now()); wait > 0 && ctx.Err() == nil && !o.hasStopFile() {
			o.DelayedChecks.Wait(ctx, wait)
		}
		workers.Go(func() error {
			r, err := o.waitingRecord(h, part, n.id, sum.Night)
			if err == nil && ctx.Err() == nil {
				r.applyCheck(o.checkLater(ctx, r))
			}
			mu.Lock()
			defer mu.Unlock()
			if err == nil && ctx.Err() == nil {
				err = o.count(h, part, &r)
			}
			switch {
			case err != nil:
				return err
			case ctx.Err() != nil: // the next run of this night makes the check
				sum.addLeft(n)
				return nil
			case r.Result != Passed:
				sum.uncountPassed(n)
				sum.Results[r.Result]++
			}
			done++
			if step != nil {
				step(Step{done, len(nodes), r.Outcome})
			}
			return nil
		})
	}
	return workers.Wait()
}

// schedule draws when each delayed check is due, some minutes after the last run of the night, and sorts the nodes by it.
func (o Operator) schedule(h *History, part *Part, nodes []waitingNode, night Night) error {
	if len(nodes) == 0 {
		return nil
	}
	seed, err := draw.NewSeed(o.DelayedChecks.Random)
	if err != nil {
		return err
	}
	s := seed.Source("delayed checks")
	var last time.Time
	for _, n := range nodes {
		r, err := o.waitingRecord(h, part, n.id, night)
		if err != nil {
			return err
		}
		if ended := r.ended(); ended.After(last) {
			last = ended
		}
	}
	for i, n := range nodes {
		r, err := o.waitingRecord(h, part, n.id, night)
		if err != nil {
			return err
		}
		nodes[i].due = due(r.entry(), last, o.Policy.NightCheck.After, s)
	}
	slices.SortStableFunc(nodes, func(a, b waitingNode) int { return a.due.Compare(b.due) })
	return nil
}

// checkLater makes the delayed check of a node.
func (o Operator) checkLater(ctx context.Context, r Record) DelayedCheck {
	c := DelayedCheck{At: o.Now().UTC().Truncate(time.Second), Result: CheckOpen}
	if o.hasStopFile() {
		c.Why = stopFileWords
		return c
	}
	protected := r.Protected
	if protected == nil {
		protected = []string{r.InfoURL}
	}
	calls, err := o.delayedCalls(ctx, r.entry(), protected, o.DelayedChecks.Prover, o.Policy.For(r.Node), o.DelayedChecks.Random)
	if err != nil {
		c.Why = report.Plain(clip(err.Error()))
		return c
	}
	c.Result = CheckPassed
	if wrong := contradiction(calls, r.ended()); wrong != nil {
		c.Result, c.Why = CheckFailed, clip(strings.ReplaceAll(strings.ReplaceAll(wrong.Error(), ErrTwoFaced.Error()+": ", ""), "\n", "; "))
	}
	return c
}

// applyCheck puts a delayed check into the record: a node that answers differently has not passed.
func (r *Record) applyCheck(c DelayedCheck) {
	r.Waits, r.DelayedCheck = false, &c
	if c.Result == CheckFailed {
		r.Result, r.Headline, r.Why = Failed, "Passed, and answered differently when it was not tested", c.Why
	}
}

// ended returns the time at which the run of the record ended.
func (r Record) ended() time.Time {
	return r.Started.Add(time.Duration(r.Seconds * float64(time.Second)))
}

// entry returns the entry by which the node was tested.
func (r Record) entry() Entry { return Entry{ID: r.Node, InfoURL: r.InfoURL, TokenURL: r.TokenURL} }

// addLeft counts a node as left for the next run of the night.
func (s *Summary) addLeft(n waitingNode) {
	s.uncountPassed(n)
	s.Left, s.Why = append(s.Left, n.id), interrupted
}

// uncountPassed undoes the count of a node that waits: as tested by an earlier run, or as passed in this one.
func (s *Summary) uncountPassed(n waitingNode) {
	if n.earlier {
		s.AlreadyTested--
		return
	}
	s.Results[Passed]--
}

// waitingRecord returns the record of a node that waits for its delayed check.
func (o Operator) waitingRecord(h *History, part *Part, id string, night Night) (Record, error) {
	r, waits, err := o.findWaiting(h, part, id, night)
	if err == nil && !waits {
		err = fmt.Errorf("read the record of %s: it is not there any more", report.Plain(id))
	}
	return r, err
}

// findWaiting looks for the record of a node that waits for its delayed check.
func (o Operator) findWaiting(h *History, part *Part, id string, night Night) (Record, bool, error) {
	if part != nil {
		r, known, err := part.record(id)
		return r, known && r.Waits, err
	}
	return h.waiting(id, night)
}

// countOverdue counts the records of nights before the given one that still wait for a delayed check, because their runs were killed and not continued.
func (o Operator) countOverdue(h *History, night Night) error {
	nodes, err := h.overdue(night)
	if err != nil {
		return err
	}
	for _, n := range nodes {
		r, waits, err := h.waiting(n.Node, n.Night)
		if err != nil || !waits {
			return err
		}
		r.applyCheck(DelayedCheck{At: o.Now().UTC().Truncate(time.Second), Result: CheckOpen, Why: "the run of this night ended before the check"})
		if _, err := o.Count(h, &r); err != nil {
			return err
		}
	}
	return nil
}

const (
	interrupted   = "the run was interrupted"
	stopFileWords = "the directory has a file named stop"
)

// hasStopFile reports whether the operator stopped the registry by a file.
func (o Operator) hasStopFile() bool {
	_, err := os.Stat(filepath.Join(string(o.Dir), "stop"))
	return err == nil
}
