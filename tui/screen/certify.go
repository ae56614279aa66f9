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

// certifyScreen is the screen of the whole suite: how far it is, and then the verdict, from which each failure is opened.
type certifyScreen struct {
	*Session
	aim int // the target that the verdict is on
	// before shows why the step is there, and trouble that kept the suite from running.
	before   *ActionScreen
	running  *suiteRun // nil unless the suite runs
	findings *findings // nil before it has run
}

func newCertifyScreen(w *Session) Screen {
	s := &certifyScreen{Session: w}
	s.forget()
	return s
}

// forget begins anew.
func (s *certifyScreen) forget() {
	s.before, s.findings, s.aim = newActionScreen(s.Session, flow.Certify, "certify the node", nil), nil, s.Walk.TargetCount()
}

// SuiteProgress is an event of a suite that runs.
type SuiteProgress struct {
	Event worker.Event
	of    *suiteRun
}

// Open implements Screen. The verdict on another node is none on this one.
func (s *certifyScreen) Open() tea.Cmd {
	if s.running == nil && s.aim != s.Walk.TargetCount() {
		s.forget()
	}
	return nil
}

// looked is the stage that is looked at; nil while a list is.
func (s *certifyScreen) looked() *ActionScreen {
	switch {
	case s.running != nil:
		return nil
	case s.findings != nil:
		return s.findings.stage
	}
	return s.before
}

// Typing implements Screen.
func (s *certifyScreen) Typing() bool { return s.looked() != nil && s.looked().Typing() }

// Exchange implements Screen.
func (s *certifyScreen) Exchange() (evidence.Exchange, bool) {
	if s.looked() == nil {
		return evidence.Exchange{}, false
	}
	return s.looked().Exchange()
}

// Update implements Screen.
func (s *certifyScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case SuiteProgress:
		if msg.of != s.running {
			return nil
		}
		s.running.hear(msg.Event)
		return s.running.listen
	case ActionDone:
		s.finish(msg)
	case SecretsToggled:
		s.before.Update(msg)
		if s.findings != nil {
			s.findings.refresh()
		}
	case tea.KeyMsg:
		return s.press(msg)
	default:
		if s.looked() != nil {
			return s.looked().Update(msg)
		}
	}
	return nil
}

func (s *certifyScreen) finish(msg ActionDone) {
	if msg.Step != flow.Certify || msg.Of != s.running || s.running == nil {
		return
	}
	took, stopped := s.Walk.Now().Sub(s.running.began), s.running.stopped
	s.running.end(nil)
	s.running = nil
	result, log, ok := s.Walk.Report()
	if !msg.Scene.OK() || !ok {
		s.forget()
		if stopped {
			msg.Scene.Trouble = &flow.Trouble{What: "the suite was stopped"}
		}
		s.before.played(msg.Scene)
		return
	}
	s.aim = msg.TargetCount
	s.findings = newFindings(s.Session, result, log, took)
}

func (s *certifyScreen) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case s.Typing():
		return s.looked().Update(msg)
	case s.running != nil:
		if key.Matches(msg, stop()) {
			s.running.halt()
		}
		return nil
	case key.Matches(msg, retry()):
		return s.run()
	case key.Matches(msg, enter("")) && s.findings != nil:
		return next
	case key.Matches(msg, enter("")):
		return s.run()
	case key.Matches(msg, goOn()):
		return next
	case s.findings != nil:
		return s.findings.press(msg)
	}
	return s.before.Update(msg)
}

// run begins the suite beside the screen.
func (s *certifyScreen) run() tea.Cmd {
	r := newSuiteRun(s.Context, s.Walk.Now())
	s.running = r
	return tea.Batch(r.listen, s.act(flow.Certify, r, func(context.Context) flow.Result {
		return s.Walk.CertifyNode(r.ctx, r.tell)
	}))
}

// View implements Screen.
func (s *certifyScreen) View(room Size) string {
	switch {
	case s.running != nil:
		return s.running.view(s.Theme, s.Walk.Now(), room)
	case s.findings != nil:
		return s.findings.view(room)
	}
	return s.before.View(room)
}

// Keys implements Screen.
func (s *certifyScreen) Keys() []key.Binding {
	switch {
	case s.Typing():
		return s.looked().Keys()
	case s.running != nil:
		return []key.Binding{stop()}
	case s.findings != nil:
		return append([]key.Binding{enter("next step")}, append(s.findings.keys(), again("run it again"))...)
	case s.before.scene != nil:
		return append([]key.Binding{enter("try again"), goOn()}, ScrollKeys()...)
	}
	return append([]key.Binding{enter("certify the node"), goOn()}, ScrollKeys()...)
}

func stop() key.Binding { return key.NewBinding(key.WithKeys("x"), key.WithHelp("x", "stop it")) }

// open leads from a list to the thing under the cursor.
func open(help string) key.Binding {
	return key.NewBinding(key.WithKeys("right", "o"), key.WithHelp("→", help))
}

// again does once more what the step does.
func again(help string) key.Binding {
	return key.NewBinding(key.WithKeys("s"), key.WithHelp("s", help))
}

// suiteRun is a suite that runs, and how far it is.
type suiteRun struct {
	ctx     context.Context
	end     context.CancelCauseFunc
	stopped bool
	began   time.Time
	events  chan worker.Event

	done, planned, budget int
	latest                evidence.Label
	asked                 map[string]int             // exchanges by what was asked
	judged                map[string]decision.Totals // outcomes by group, once the answers are judged
}

func newSuiteRun(ctx context.Context, began time.Time) *suiteRun {
	r := &suiteRun{began: began, events: make(chan worker.Event, 64), asked: map[string]int{}, judged: map[string]decision.Totals{}}
	r.ctx, r.end = context.WithCancelCause(ctx)
	return r
}

// tell hands an event to the screen; the suite waits for one that is slow, and for none that is gone.
func (r *suiteRun) tell(e worker.Event) {
	select {
	case r.events <- e:
	case <-r.ctx.Done():
	}
}

// listen waits for the next event.
func (r *suiteRun) listen() tea.Msg {
	select {
	case e := <-r.events:
		return SuiteProgress{e, r}
	case <-r.ctx.Done():
		return nil
	}
}

// halt ends the suite before it has asked everything.
func (r *suiteRun) halt() {
	r.stopped = true
	r.end(errors.New("you asked for it"))
}

func (r *suiteRun) hear(e worker.Event) {
	switch e.Kind {
	case worker.Planned:
		r.budget = e.Budget
	case worker.Progress:
		r.done, r.planned, r.latest = e.Done, e.Planned, e.Label
		r.asked[resourceText(e.Label.Resource())]++
	case worker.Judged:
		totals := r.judged[e.ID.Group()]
		totals.Count(e.Judgement.Outcome)
		r.judged[e.ID.Group()] = totals
	}
}

// resourceText says in words what a resource is.
func resourceText(r evidence.Resource) string {
	switch r {
	case evidence.TokenEndpoint:
		return "token endpoint"
	case evidence.SecondClient:
		return "second client"
	case evidence.Info:
		return "info resource"
	case evidence.Specification:
		return "specification"
	case evidence.Registry:
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
func (r *suiteRun) view(t Theme, now time.Time, room Size) string {
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
		t.Good.Render(Bar(r.done, r.planned, min(60, max(10, room.Width-6)))) + fmt.Sprintf(" %d%%", share),
		"",
	}
	told := fmt.Sprintf("%d of %d planned, %s", r.done, r.planned, clockOf(now.Sub(r.began)))
	if r.budget > 0 {
		told += ", at most " + evidence.Count(r.budget, "request")
	}
	lines = append(lines, Wrap(told, room.Width)...)
	if r.latest != "" {
		lines = append(lines, t.Muted.Render("last: ")+report.Plain(string(r.latest)))
	}
	lines = append(append(lines, ""), r.parts(t, room.Width)...)
	for i, line := range lines {
		lines[i] = Fit(line, room.Width)
	}
	return strings.Join(Window(lines, 0, room.Height), "\n")
}

// parts are what was asked so far and, as soon as the first answers are judged, what they came to by group.
func (r *suiteRun) parts(t Theme, width int) []string {
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
				lines = append(lines, "  "+groupLine(t, g.Title, totals, "", width-2))
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
func (r *suiteRun) order() []string {
	return slices.SortedFunc(maps.Keys(r.asked), func(a, b string) int {
		return cmp.Or(cmp.Compare(r.asked[b], r.asked[a]), cmp.Compare(a, b))
	})
}

// clockOf is a duration in minutes and seconds.
func clockOf(d time.Duration) string {
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
