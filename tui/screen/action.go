package screen

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/flow"
)

// ActionScreen is the screen of a step that does one thing: it says why, sends, and shows what came of it.
type ActionScreen struct {
	*Session
	step flow.Step
	// verb says what enter does: "ask for a token".
	verb string
	play func(context.Context) flow.Result
	// extra are more lines of the story, below what the scene says; nil for none.
	extra func(width int) []string
	// told stands before why the step is there, in the place of what the scene says, and is told anew each second; nil for most.
	told func(width int) []string
	// says stands in the place of what the scene says, below why; it is told anew each second, too. Nil for most.
	says func(width int) []string
	// opening stands in the place of why the step is there; of is what the step's actions belong to. Nil for most.
	opening []string
	of      any
	// tries is the key that tries again after trouble, enter if empty; named is the first side where it is more than why.
	tries, named string

	busy  bool
	room  Size // of what is below the tabs
	scene *flow.Result
	aim   int // the target that the scene is of
	at    int // the exchange that is looked at
	side  tab
	panes [tabCount]*Pane
	// exchangePanes take the place of the panes of request and response once there are any.
	messages *exchangePanes
}

// tab is one of the ways to look at a scene.
type tab int

const (
	whyTab tab = iota
	requestTab
	responseTab
	verdictTab
	tabCount
)

// String is the side's name on its tab.
func (s tab) String() string { return [...]string{"Why", "Request", "Response", "Verdict"}[s] }

// newActionScreen makes the screen of a step.
func newActionScreen(w *Session, step flow.Step, verb string, play func(context.Context) flow.Result) *ActionScreen {
	s := &ActionScreen{Session: w, step: step, verb: verb, play: play, messages: newExchangePanes(w)}
	for i := range s.panes {
		s.panes[i] = NewPane(w.Theme)
	}
	s.tell()
	return s
}

// Open implements Screen. What came of another node, or as another client, is not shown any more.
func (s *ActionScreen) Open() tea.Cmd {
	if s.scene != nil && s.aim != s.Walk.TargetCount() {
		s.forget()
	}
	return nil
}

// forget goes back to before anything was sent.
func (s *ActionScreen) forget() {
	s.scene, s.at, s.side = nil, 0, whyTab
	s.tell()
}

// Typing implements Screen.
func (s *ActionScreen) Typing() bool {
	m, ok := s.message()
	return ok && m.Typing()
}

// message is the one that is seen; ok is false on other sides, and while nothing was sent.
func (s *ActionScreen) message() (m *Message, ok bool) {
	_, sent := s.Exchange()
	m, ok = s.messages.of(s.side)
	return m, ok && sent
}

// Exchange implements Screen.
func (s *ActionScreen) Exchange() (evidence.Exchange, bool) {
	if s.scene == nil || len(s.scene.Exchanges) == 0 {
		return evidence.Exchange{}, false
	}
	return s.scene.Exchanges[s.at], true
}

// Update implements Screen.
func (s *ActionScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ActionDone:
		if msg.Step == s.step {
			s.aim = msg.TargetCount
			s.played(msg.Scene)
		}
	case SecondPassed:
		if s.told != nil || s.says != nil {
			s.panes[whyTab].Refresh()
		}
	case SecretsToggled:
		for _, p := range s.panes {
			p.Refresh()
		}
	case tea.KeyMsg:
		if m, ok := s.message(); ok && m.Typing() {
			return m.Update(msg)
		}
		return s.press(msg)
	default:
		return s.messages.Update(msg)
	}
	return nil
}

func (s *ActionScreen) played(scene flow.Result) {
	s.busy, s.scene, s.at, s.side = false, &scene, max(0, len(scene.Exchanges)-1), whyTab
	s.tell()
}

func (s *ActionScreen) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, enter("")):
		switch {
		case s.busy:
			return nil
		case s.scene == nil || !s.scene.OK():
			return s.again()
		}
		return next
	case key.Matches(msg, retry()) && !s.busy && s.play != nil:
		return s.again()
	case key.Matches(msg, edit()) && s.editable():
		to, _ := s.scene.EditStep()
		return func() tea.Msg { return GoToStep{To: to, Edit: true} }
	case key.Matches(msg, sideOn()):
		s.side = (s.side + 1) % tabCount
	case key.Matches(msg, sideBack()):
		s.side = (s.side + tabCount - 1) % tabCount
	case key.Matches(msg, later()):
		s.look(s.at + 1)
	case key.Matches(msg, earlier()):
		s.look(s.at - 1)
	default:
		if m, ok := s.message(); ok {
			return m.Update(msg)
		}
		s.panes[s.side].Update(msg)
	}
	return nil
}

// editable tells whether there is a trouble whose cause can be edited.
func (s *ActionScreen) editable() bool {
	if s.busy || s.scene == nil {
		return false
	}
	_, ok := s.scene.EditStep()
	return ok
}

// again plays the scene anew.
func (s *ActionScreen) again() tea.Cmd {
	s.busy = true
	s.panes[whyTab].Refresh()
	return s.act(s.step, s.of, s.play)
}

// look turns to another exchange of the scene.
func (s *ActionScreen) look(at int) {
	if s.scene == nil || at < 0 || at >= len(s.scene.Exchanges) {
		return
	}
	s.at = at
	s.tell()
}

// tell gives the panes what they show.
func (s *ActionScreen) tell() {
	s.panes[whyTab].Show(s.story)
	s.panes[requestTab].Show(s.nothing)
	s.panes[responseTab].Show(s.nothing)
	if x, ok := s.Exchange(); ok {
		s.messages.show(x)
	}
	s.panes[verdictTab].Show(func(width int) []string {
		if s.scene == nil {
			return s.nothing(width)
		}
		if s.scene.Trouble != nil {
			return Trouble(s.Theme, *s.scene.Trouble, width)
		}
		return Verdicts(s.Theme, s.scene.Verdicts, width)
	})
}

// whyTab is why the step is there and, once it was played, what came of it.
func (s *ActionScreen) story(width int) []string {
	why := s.why(width)
	switch {
	case s.busy:
		return append(why, s.Theme.Muted.Render("waiting for the node …"))
	case s.scene == nil:
		return append(why, s.Theme.Key.Render("enter")+" "+s.verb)
	}
	came := s.came(width)
	if later := s.told != nil && s.scene.OK() || len(why)+len(came) > s.room.Height; later && s.opening == nil {
		return append(append(came, ""), why...) // what came of it is seen first where not all is
	}
	return append(why, came...)
}

// came is what came of the scene.
func (s *ActionScreen) came(width int) []string {
	var lines []string
	if s.told != nil && s.scene.OK() {
		lines = s.told(width)
		if len(s.scene.Verdicts) > 0 {
			lines = append(append(lines, ""), s.summary(width)...)
		}
		return lines
	}
	if x, ok := s.Exchange(); ok {
		lines = append(lines, brief(s.Theme, x, s.show())...)
		lines = append(lines, "")
	}
	if s.scene.Trouble != nil {
		lines = append(lines, Trouble(s.Theme, *s.scene.Trouble, width)...)
		lines = append(lines, "", s.Theme.Key.Render(cmp.Or(s.tries, "enter"))+" try again")
		if to, ok := s.scene.EditStep(); ok && s.editable() {
			lines = append(lines, s.Theme.Key.Render("e")+"     edit "+map[flow.Step]string{flow.Node: "the node", flow.Credentials: "the credentials"}[to])
		}
		return lines
	}
	if s.says != nil {
		lines = append(lines, s.says(width)...)
	} else {
		for _, text := range s.scene.Notes {
			lines = append(lines, Hang("", text, width)...)
		}
	}
	if len(s.scene.Verdicts) > 0 {
		if len(s.scene.Notes) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, s.summary(width)...)
	}
	if s.extra != nil {
		lines = append(lines, s.extra(width)...)
	}
	return lines
}

// why is what the step is for.
func (s *ActionScreen) why(width int) []string {
	if s.opening != nil {
		var lines []string
		for _, text := range s.opening {
			for _, line := range Wrap(text, width) {
				lines = append(lines, s.Theme.Title.Render(line))
			}
		}
		return append(lines, "")
	}
	g := s.step.Guide()
	lines := append(Wrap(g.Why, width), "")
	lines = append(lines, Hang(s.Theme.Muted.Render("Rule: "), g.Rule, width)...)
	return append(lines, "")
}

// summary counts the verdicts, and names those that are no pass.
func (s *ActionScreen) summary(width int) []string {
	passed := 0
	var others []flow.Verdict
	for _, v := range s.scene.Verdicts {
		if v.Outcome == requirement.Pass {
			passed++
			continue
		}
		others = append(others, v)
	}
	var lines []string
	if passed > 0 {
		sign, _, style := s.Theme.Sign(worstOutcome(s.scene.Verdicts))
		lines = Hang(style.Render(sign)+" ", fmt.Sprintf("%d of %d rules passed (%s)", passed, len(s.scene.Verdicts), strings.ToLower(verdictTab.String())), width)
	}
	return append(lines, Verdicts(s.Theme, others, width)...)
}

// brief is an exchange in two lines.
func brief(t Theme, x evidence.Exchange, show flow.MaskFunc) []string {
	out := []string{t.Muted.Render("> ") + t.Start.Render(flow.RequestHead(x, show)[0].Text)}
	for _, l := range flow.ResponseHead(x, show) {
		if l.Kind == flow.StartLine || l.Kind == flow.NoteLine {
			return append(out, t.Muted.Render("< ")+t.Start.Render(l.Text))
		}
	}
	return out
}

func (s *ActionScreen) nothing(width int) []string {
	if s.scene != nil {
		return Wrap("Nothing was sent for this.", width)
	}
	return Wrap("Nothing was sent yet: press enter to "+s.verb+".", width)
}

// View implements Screen.
func (s *ActionScreen) View(room Size) string {
	if below := (Size{Width: room.Width, Height: room.Height - 1}); s.room != below {
		s.room = below
		s.panes[whyTab].Refresh()
	}
	room.Height--
	content := "" // drawn first: then it knows what is above and below it
	if m, ok := s.message(); ok {
		content = m.View(room)
	} else {
		content = s.panes[s.side].View(room)
	}
	return s.tabs(room.Width) + "\n" + content
}
