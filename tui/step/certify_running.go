package step

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	decision "github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/conformance/worker"
	"github.com/rin-network/rin/tui/view"
)

// running is a suite that runs, and how far it is.
type running struct {
	ctx     context.Context
	end     context.CancelCauseFunc
	stopped bool
	began   time.Time
	events  chan worker.Event

	done, planned, budget int
	latest                exchange.Label
	asked                 map[string]int             // exchanges by what was asked
	judged                map[string]decision.Totals // outcomes by group, once the answers are judged
}

func newRunning(ctx context.Context, began time.Time) *running {
	r := &running{began: began, events: make(chan worker.Event, 64), asked: map[string]int{}, judged: map[string]decision.Totals{}}
	r.ctx, r.end = context.WithCancelCause(ctx)
	return r
}

// tell hands an event to the screen; the suite waits for one that is slow, and for none that is gone.
func (r *running) tell(e worker.Event) {
	select {
	case r.events <- e:
	case <-r.ctx.Done():
	}
}

// listen waits for the next event.
func (r *running) listen() tea.Msg {
	select {
	case e := <-r.events:
		return Heard{e, r}
	case <-r.ctx.Done():
		return nil
	}
}

// halt ends the suite before it has asked everything.
func (r *running) halt() {
	r.stopped = true
	r.end(errors.New("you asked for it"))
}

func (r *running) hear(e worker.Event) {
	switch e.Kind {
	case worker.Planned:
		r.budget = e.Budget
	case worker.Progress:
		r.done, r.planned, r.latest = e.Done, e.Planned, e.Label
		r.asked[asked(e.Label.Resource())]++
	case worker.Judged:
		totals := r.judged[e.ID.Group()]
		totals.Count(e.Judgement.Outcome)
		r.judged[e.ID.Group()] = totals
	}
}

// asked says in words what a resource is.
func asked(r exchange.Resource) string {
	switch r {
	case exchange.TokenEndpoint:
		return "token endpoint"
	case exchange.SecondClient:
		return "second client"
	case exchange.Info:
		return "info resource"
	case exchange.Specification:
		return "specification"
	case exchange.Registry:
		return "registry"
	}
	switch kind, _, _ := strings.Cut(string(r), "/"); kind {
	case "op", "base":
		return "operations"
	case "endpoint":
		return "endpoints of info"
	}
	return "everything else"
}

// view draws how far the suite is.
func (r *running) view(t view.Theme, now time.Time, room view.Size) string {
	share := 0
	if r.planned > 0 {
		share = r.done * 100 / r.planned
	}
	head := t.Title.Render("The suite asks the node")
	if r.stopped {
		head = t.Title.Render("Stopping …")
	}
	lines := []string{
		head, "",
		t.Good.Render(view.Bar(r.done, r.planned, min(60, max(10, room.Width-6)))) + fmt.Sprintf(" %d%%", share),
		"",
	}
	told := fmt.Sprintf("%d of %d planned, %s", r.done, r.planned, clockOf(now.Sub(r.began)))
	if r.budget > 0 {
		told += fmt.Sprintf(", at most %d requests", r.budget)
	}
	lines = append(lines, view.Wrap(told, room.Width)...)
	if r.latest != "" {
		lines = append(lines, t.Muted.Render("last: ")+report.Plain(string(r.latest)))
	}
	lines = append(append(lines, ""), r.parts(t, room.Width)...)
	for i, line := range lines {
		lines[i] = view.Fit(line, room.Width)
	}
	return strings.Join(view.Window(lines, 0, room.Height), "\n")
}

// parts are what was asked so far and, as soon as the first answers are judged, what they came to by group.
func (r *running) parts(t view.Theme, width int) []string {
	var lines []string
	switch {
	case len(r.judged) > 0:
		lines = append(lines, t.Key.Render("Judged so far"))
	case len(r.asked) > 0:
		lines = append(lines, t.Key.Render("Asked so far"))
	}
	if len(r.judged) > 0 {
		for _, g := range requirement.Groups() {
			if totals, any := r.judged[g.Name]; any {
				lines = append(lines, "  "+groupLine(t, g.Title, totals, width-2))
			}
		}
		return lines
	}
	for _, what := range r.order() {
		lines = append(lines, fmt.Sprintf("  %-18s %4d", what, r.asked[what]))
	}
	return lines
}

// order is what was asked, the most first.
func (r *running) order() []string {
	return slices.SortedFunc(maps.Keys(r.asked), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.asked[b], r.asked[a]), cmp.Compare(a, b))
	})
}

// clockOf is a duration in minutes and seconds.
func clockOf(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
