package screen

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite/worker"
	decision "github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/tui/flow"
)

// certifyScreen runs the conformance suite, shows its progress, and then the verdict and what it was based on.
type certifyScreen struct {
	*Session
	targetCount int           // [flow.Walk.TargetCount] of the verdict
	intro       *ActionScreen // the guide, or the trouble that kept the suite from running
	running     *suiteRun     // nil unless the suite runs
	findings    *findings     // nil before the suite has run
}

// SuiteProgress is an event of a running suite.
type SuiteProgress struct {
	Event worker.Event
	run   *suiteRun
}

func newCertifyScreen(w *Session) Screen {
	s := &certifyScreen{Session: w}
	s.reset()
	return s
}

func (s *certifyScreen) reset() {
	s.intro, s.findings, s.targetCount = newActionScreen(s.Session, flow.Certify, "certify the node", nil), nil, s.Walk.TargetCount()
}

// Open implements [Screen]. It drops the verdict on another node.
func (s *certifyScreen) Open() tea.Cmd {
	if s.running == nil && s.targetCount != s.Walk.TargetCount() {
		s.reset()
	}
	return nil
}

// active returns the visible action; nil while a list or the progress is visible.
func (s *certifyScreen) active() *ActionScreen {
	switch {
	case s.running != nil:
		return nil
	case s.findings != nil:
		return s.findings.opened
	}
	return s.intro
}

// Typing implements [Screen].
func (s *certifyScreen) Typing() bool { return s.active() != nil && s.active().Typing() }

// Exchange implements [Screen].
func (s *certifyScreen) Exchange() (evidence.Exchange, bool) {
	if s.active() == nil {
		return evidence.Exchange{}, false
	}
	return s.active().Exchange()
}

// Update implements [Screen].
func (s *certifyScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case SuiteProgress:
		if msg.run != s.running {
			return nil
		}
		s.running.count(msg.Event)
		return s.running.next
	case ActionDone:
		s.finish(msg)
		return nil
	case SecretsToggled:
		s.intro.Update(msg)
		if s.findings != nil && s.findings.opened != nil {
			s.findings.opened.Update(msg)
		}
		return nil
	case tea.KeyMsg:
		if !s.Typing() {
			if cmd, handled := press(msg, s.commands()); handled {
				return cmd
			}
			if s.findings != nil && s.active() == nil && s.running == nil {
				s.findings.list().Update(msg)
				return nil
			}
		}
	}
	if s.active() != nil {
		return s.active().Update(msg)
	}
	return nil
}

func (s *certifyScreen) finish(msg ActionDone) {
	if msg.Step != flow.Certify || msg.Subject != s.running || s.running == nil {
		return
	}
	duration, stopped := s.Walk.Now().Sub(s.running.started), s.running.stopped
	s.running.cancel(nil)
	s.running = nil
	result, log, ok := s.Walk.Report()
	if !msg.Result.OK() || !ok {
		s.reset()
		if stopped {
			msg.Result.Trouble = &flow.Trouble{What: "the suite was stopped"}
		}
		s.intro.show(msg.Result)
		return
	}
	s.targetCount = msg.TargetCount
	s.findings = newFindings(s.Session, result, log, duration)
}

// run starts the suite in the background.
func (s *certifyScreen) run() tea.Cmd {
	r := newSuiteRun(s.Context, s.Walk.Now())
	s.running = r
	return tea.Batch(r.next, s.act(flow.Certify, r, func(context.Context) flow.Result {
		return s.Walk.CertifyNode(r.ctx, r.report)
	}))
}

// View implements [Screen].
func (s *certifyScreen) View(room Size) string {
	switch {
	case s.running != nil:
		return s.running.view(s.Theme, s.Walk.Now(), room)
	case s.findings != nil:
		return s.findings.view(room)
	}
	return s.intro.View(room)
}

// Keys implements [Screen].
func (s *certifyScreen) Keys() []key.Binding {
	if s.Typing() {
		return s.active().Keys()
	}
	return helpOf(s.commands())
}

func (s *certifyScreen) commands() []command {
	switch {
	case s.running != nil:
		return []command{bind("x", "stop", do(s.running.stop))}
	case s.findings != nil:
		return append(append([]command{enter("next step", next), hidden("s", s.run), hidden("x", next)}, s.findings.commands()...), repeat("run again", s.run))
	case s.intro.result != nil:
		return append([]command{enter("try again", s.run), nextStep(), hidden("s", s.run)}, scrollHelp()...)
	}
	return append([]command{enter("certify the node", s.run), nextStep(), hidden("s", s.run)}, scrollHelp()...)
}

// suiteRun is a running suite and its progress.
type suiteRun struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	stopped bool
	started time.Time
	events  chan worker.Event

	done, planned int // cases
	budget        int // requests
	latest        evidence.Label
	sent          map[string]int             // exchanges by resource
	judged        map[string]decision.Totals // outcomes by group
}

func newSuiteRun(ctx context.Context, started time.Time) *suiteRun {
	r := &suiteRun{started: started, events: make(chan worker.Event, 64), sent: map[string]int{}, judged: map[string]decision.Totals{}}
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	return r
}

// report hands an event to the screen. The suite waits for a slow screen, until the run is cancelled.
func (r *suiteRun) report(e worker.Event) {
	select {
	case r.events <- e:
	case <-r.ctx.Done():
	}
}

// next waits for the next event.
func (r *suiteRun) next() tea.Msg {
	select {
	case e := <-r.events:
		return SuiteProgress{e, r}
	case <-r.ctx.Done():
		return nil
	}
}

// stop cancels the suite.
func (r *suiteRun) stop() {
	r.stopped = true
	r.cancel(errors.New("on your request"))
}

func (r *suiteRun) count(e worker.Event) {
	switch e.Kind {
	case worker.Planned:
		r.budget = e.Budget
	case worker.Progress:
		r.done, r.planned, r.latest = e.Done, e.Planned, e.Label
		r.sent[resourceText(e.Label.Resource())]++
	case worker.Judged:
		totals := r.judged[e.ID.Group()]
		totals.Count(e.Judgement.Outcome)
		r.judged[e.ID.Group()] = totals
	}
}

// resourceText names a resource for a person.
func resourceText(r evidence.Resource) string {
	kind, _, _ := strings.Cut(string(r), "/")
	texts := map[evidence.Resource]string{
		evidence.TokenEndpoint: "token endpoint", evidence.SecondClient: "second client", evidence.Info: "info resource",
		evidence.Specification: "specification", evidence.Registry: "registry",
		"op": "operations", "base": "operations", "endpoint": "endpoints of info",
	}
	return cmp.Or(texts[evidence.Resource(kind)], "everything else")
}

// view draws the progress.
func (r *suiteRun) view(t Theme, now time.Time, room Size) string {
	share := 0
	if r.planned > 0 {
		share = r.done * 100 / r.planned
	}
	head := "The suite is running"
	if r.stopped {
		head = "Stopping …"
	}
	lines := []string{
		t.Title.Render(head), "",
		t.Good.Render(Bar(r.done, r.planned, min(60, max(10, room.Width-6)))) + fmt.Sprintf(" %d%%", share),
		"",
	}
	progress := fmt.Sprintf("%d of %d cases, %s", r.done, r.planned, formatClock(now.Sub(r.started)))
	if r.budget > 0 {
		progress += ", at most " + evidence.Count(r.budget, "request")
	}
	lines = append(lines, Wrap(progress, room.Width)...)
	if r.latest != "" {
		lines = append(lines, t.Muted.Render("last: ")+report.Plain(string(r.latest)))
	}
	lines = append(append(lines, ""), r.parts(t, room.Width)...)
	for i, line := range lines {
		lines[i] = Fit(line, room.Width)
	}
	return strings.Join(Window(lines, 0, room.Height), "\n")
}

// parts shows what was sent so far or, after the first judgement, the outcomes by group.
func (r *suiteRun) parts(t Theme, width int) []string {
	if len(r.judged) > 0 {
		lines := []string{t.Key.Render("Judged so far")}
		for _, g := range requirement.Groups() {
			if totals, found := r.judged[g.Name]; found {
				lines = append(lines, "  "+groupLine(t, g.Title, totals, "", width-2))
			}
		}
		return lines
	}
	if len(r.sent) == 0 {
		return nil
	}
	lines := []string{t.Key.Render("Sent so far")}
	mostFirst := slices.SortedFunc(maps.Keys(r.sent), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.sent[b], r.sent[a]), cmp.Compare(a, b))
	})
	for _, resource := range mostFirst {
		lines = append(lines, fmt.Sprintf("  %-18s %4d", resource, r.sent[resource]))
	}
	return lines
}
