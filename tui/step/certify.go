package step

import (
	"context"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/worker"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// certify is the screen of the whole suite: how far it is, and then the verdict, from which each failure is opened.
type certify struct {
	*World
	aim int // the target that the verdict is on
	// before shows why the step is there, and trouble that kept the suite from running.
	before   *Stage
	running  *running  // nil unless the suite runs
	findings *findings // nil before it has run
}

func newCertify(w *World) Screen {
	s := &certify{World: w}
	s.forget()
	return s
}

// forget begins anew.
func (s *certify) forget() {
	s.before, s.findings, s.aim = newStage(s.World, walk.Certify, "certify the node", nil), nil, s.Walk.Aims()
}

// Heard is an event of a suite that runs.
type Heard struct {
	Event worker.Event
	of    *running
}

// Open implements Screen. The verdict on another node is none on this one.
func (s *certify) Open() tea.Cmd {
	if s.running == nil && s.aim != s.Walk.Aims() {
		s.forget()
	}
	return nil
}

// looked is the stage that is looked at; nil while a list is.
func (s *certify) looked() *Stage {
	switch {
	case s.running != nil:
		return nil
	case s.findings != nil:
		return s.findings.stage
	}
	return s.before
}

// Typing implements Screen.
func (s *certify) Typing() bool { return s.looked() != nil && s.looked().Typing() }

// Exchange implements Screen.
func (s *certify) Exchange() (exchange.Exchange, bool) {
	if s.looked() == nil {
		return exchange.Exchange{}, false
	}
	return s.looked().Exchange()
}

// Update implements Screen.
func (s *certify) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case Heard:
		if msg.of != s.running {
			return nil
		}
		s.running.hear(msg.Event)
		return s.running.listen
	case Played:
		s.finish(msg)
	case Revealing:
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

func (s *certify) finish(msg Played) {
	if msg.Step != walk.Certify || msg.Of != s.running || s.running == nil {
		return
	}
	took, stopped := s.Walk.Now().Sub(s.running.began), s.running.stopped
	s.running.end(nil)
	s.running = nil
	result, log, ok := s.Walk.Report()
	if !msg.Scene.Well() || !ok {
		s.forget()
		if stopped {
			msg.Scene.Trouble = &walk.Trouble{What: "the suite was stopped"}
		}
		s.before.played(msg.Scene)
		return
	}
	s.aim = msg.Aim
	s.findings = newFindings(s.World, result, log, took)
}

func (s *certify) press(msg tea.KeyMsg) tea.Cmd {
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
func (s *certify) run() tea.Cmd {
	r := newRunning(s.Context, s.Walk.Now())
	s.running = r
	return tea.Batch(r.listen, s.act(walk.Certify, r, func(context.Context) walk.Scene {
		scene, _ := s.Walk.CertifyNode(r.ctx, r.tell)
		return scene
	}))
}

// View implements Screen.
func (s *certify) View(room view.Size) string {
	switch {
	case s.running != nil:
		return s.running.view(s.Theme, s.Walk.Now(), room)
	case s.findings != nil:
		return s.findings.view(room)
	}
	return s.before.View(room)
}

// Keys implements Screen.
func (s *certify) Keys() []key.Binding {
	switch {
	case s.Typing():
		return s.looked().Keys()
	case s.running != nil:
		return []key.Binding{stop()}
	case s.findings != nil:
		return append([]key.Binding{enter("next step")}, append(s.findings.keys(), again("run it again"))...)
	case s.before.scene != nil:
		return append([]key.Binding{enter("try again"), goOn()}, view.ScrollKeys()...)
	}
	return append([]key.Binding{enter("certify the node"), goOn()}, view.ScrollKeys()...)
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
