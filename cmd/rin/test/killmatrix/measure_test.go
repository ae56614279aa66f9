package killmatrix_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox/fault"
)

// atOnce is how many nodes are certified side by side.
const atOnce = 4

// measure certifies a node with each of the deviations. It returns the matrix, and describes each deviation that was not noticed exactly.
func measure(ctx context.Context, clean outcomes, chosen selection) (verdict.Matrix, []string, error) {
	deviations, texts := make([]verdict.Deviation, len(chosen.deviations)), make([]string, len(chosen.deviations))
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	done := counter{of: len(chosen.deviations), started: time.Now()}
	measureOne := func(ctx context.Context, i int) error {
		d := chosen.deviations[i]
		result, err := certifyResult(ctx, func(*target.Target) {}, d.Name)
		if err != nil {
			return fmt.Errorf("%s: %w", d.Name, err)
		}
		deviating := outcomesOf(result.Report)
		worse := withOpened(d, expected(d, worsened(clean, deviating), deviating), deviating)
		deviations[i], texts[i] = verdict.NewDeviation(d.Name, d.Why, requirement.IDs(d.Breaks), worse), ""
		if !deviations[i].Exact() {
			texts[i] = fmt.Sprintf("%s breaks %v, and what got worse is %v\n%s", d.Name, d.Breaks, worse, describe(deviating, judged(d, worse)))
		}
		if unread := unreadBy(result.Log, deviating); len(unread) > 0 {
			texts[i] += fmt.Sprintf("%s: a partial run would not show it: %s\n", d.Name, strings.Join(unread, "; "))
		}
		return nil
	}
	for i := range chosen.deviations {
		group.Go(func() error {
			defer done.one()
			return measureOne(groupCtx, i)
		})
	}
	err := group.Wait()
	if err == nil {
		err = measureAlone(ctx, texts, measureOne)
	}
	return table(deviations), slices.DeleteFunc(texts, func(s string) bool { return s == "" }), err
}

// unreadBy returns the requirements that fail here, but not in a partial run of them alone, because their checks read answers that their rows do not name.
func unreadBy(log *evidence.Log, found outcomes) []string {
	var out []string
	catalogue := requirement.Catalogue()
	for _, r := range catalogue {
		full := found[r.ID].Outcome
		labels := requirement.NewJudge(catalogue, requirement.Read(&evidence.Log{})).Reads(r.ID)
		if full != requirement.Fail && full != requirement.Warn || slices.Contains(labels, evidence.WholeRun) {
			continue
		}
		part := requirement.NewJudge(catalogue, requirement.Read(partOf(log, labels))).Judge(r.ID)
		if part.Outcome == requirement.NotApplicable || verdict.Worse(full, part.Outcome) {
			out = append(out, fmt.Sprintf("%s is %s, not %s (%s)", r.ID, part.Outcome, full, found[r.ID].Reason))
		}
	}
	return out
}

// partOf returns the log that a partial run would have recorded if it asked for these labels: their exchanges, and those of discovery.
func partOf(log *evidence.Log, labels []evidence.Label) *evidence.Log {
	part := *log
	part.Exchanges = nil
	wanted := func(label evidence.Label) bool {
		return slices.ContainsFunc(labels, func(l evidence.Label) bool {
			return slices.ContainsFunc(log.Resolve(l), func(held evidence.Label) bool {
				return held.Resource() == label.Resource() && held.Case().Includes(label.Case())
			})
		})
	}
	for _, x := range log.Exchanges {
		if c := x.Label.Case(); c == evidence.OK || c == evidence.NoToken || wanted(x.Label) {
			part.Exchanges = append(part.Exchanges, x)
		}
	}
	return &part
}

// maxAlone bounds the deviations that are measured again.
const maxAlone = 3

// measureAlone measures deviations that were not noticed exactly a second time, one after the other: while several nodes keep a machine busy, an answer may
// come too late for a run. It prints their names, because a deviation that often needs a second time is not noticed reliably.
func measureAlone(ctx context.Context, texts []string, measureOne func(ctx context.Context, i int) error) error {
	var inexact []int
	for i, s := range texts {
		if s != "" {
			inexact = append(inexact, i)
		}
	}
	if len(inexact) > maxAlone {
		return nil
	}
	for _, i := range inexact {
		fmt.Printf("measured again, alone: %s\n", texts[i])
		if err := measureOne(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// expected corrects the list of worse requirements for those that the deviation breaks only in some draws: it leaves them out, and adds the broken
// requirements that they block.
func expected(d fault.Deviation, worse []requirement.ID, deviating outcomes) []requirement.ID {
	shown := func(id requirement.ID) bool { return slices.Contains(d.May, string(id)) }
	if !slices.ContainsFunc(worse, shown) {
		return worse
	}
	out := slices.DeleteFunc(slices.Clone(worse), shown)
	for _, id := range requirement.IDs(d.Breaks) {
		if !slices.Contains(out, id) && deviating[id].Outcome == requirement.Blocked {
			out = append(out, id)
		}
	}
	return out
}

// withOpened returns the requirements that got worse, and those that the deviation makes inconclusive on purpose. Of the latter it removes the ones
// that are not inconclusive.
func withOpened(d fault.Deviation, worse []requirement.ID, deviating outcomes) []requirement.ID {
	opens := requirement.IDs(d.Opens)
	out := slices.DeleteFunc(slices.Clone(worse), func(id requirement.ID) bool { return slices.Contains(opens, id) })
	for _, id := range opens {
		if deviating[id].Outcome == requirement.Inconclusive {
			out = append(out, id)
		}
	}
	return out
}

// table returns the matrix of these deviations.
func table(deviations []verdict.Deviation) verdict.Matrix {
	m := verdict.Matrix{Schema: verdict.MatrixVersion, Catalogue: requirement.Version, Deviations: deviations}
	for _, r := range requirement.Catalogue() {
		m.Requirements = append(m.Requirements, r.ID)
	}
	return m
}

// judged lists the requirements that a deviation concerns: those that it breaks, and those that got worse.
func judged(d fault.Deviation, worse []requirement.ID) []requirement.ID {
	return slices.Compact(slices.Sorted(slices.Values(slices.Concat(requirement.IDs(d.Breaks), worse))))
}

// counter prints the progress on stderr, about ten times.
type counter struct {
	mu       sync.Mutex
	of, done int
	started  time.Time
}

func (c *counter) one() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if step := max(c.of/10, 1); c.done%step == 0 && c.of > 1 {
		fmt.Fprintf(os.Stderr, "  %d of %d deviations, %s\n", c.done, c.of, time.Since(c.started).Round(time.Second))
	}
}
