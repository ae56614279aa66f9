package step

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/message"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// Stage is the screen of a step that does one thing: it says why, sends, and shows what came of it.
type Stage struct {
	*World
	step walk.Step
	// verb says what enter does: "ask for a token".
	verb string
	play func(context.Context) walk.Scene
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
	room  view.Size // of what is below the tabs
	scene *walk.Scene
	aim   int // the target that the scene is of
	at    int // the exchange that is looked at
	side  side
	panes [sides]*view.Pane
	// messages take the place of the panes of request and response once there are any.
	messages *messages
}

// side is one of the ways to look at a scene.
type side int

const (
	story side = iota
	request
	response
	verdict
	sides
)

// String is the side's name on its tab.
func (s side) String() string { return [...]string{"Why", "Request", "Response", "Verdict"}[s] }

// newStage makes the screen of a step.
func newStage(w *World, step walk.Step, verb string, play func(context.Context) walk.Scene) *Stage {
	s := &Stage{World: w, step: step, verb: verb, play: play, messages: newMessages(w)}
	for i := range s.panes {
		s.panes[i] = view.NewPane(w.Theme)
	}
	s.tell()
	return s
}

// Open implements Screen. What came of another node, or as another client, is not shown any more.
func (s *Stage) Open() tea.Cmd {
	if s.scene != nil && s.aim != s.Walk.Aims() {
		s.forget()
	}
	return nil
}

// forget goes back to before anything was sent.
func (s *Stage) forget() {
	s.scene, s.at, s.side = nil, 0, story
	s.tell()
}

// Typing implements Screen.
func (s *Stage) Typing() bool {
	m, ok := s.message()
	return ok && m.Typing()
}

// message is the one that is seen; ok is false on other sides, and while nothing was sent.
func (s *Stage) message() (m *view.Message, ok bool) {
	_, sent := s.Exchange()
	m, ok = s.messages.of(s.side)
	return m, ok && sent
}

// Exchange implements Screen.
func (s *Stage) Exchange() (exchange.Exchange, bool) {
	if s.scene == nil || len(s.scene.Exchanges) == 0 {
		return exchange.Exchange{}, false
	}
	return s.scene.Exchanges[s.at], true
}

// Update implements Screen.
func (s *Stage) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case Played:
		if msg.Step == s.step {
			s.aim = msg.Aim
			s.played(msg.Scene)
		}
	case Second:
		if s.told != nil || s.says != nil {
			s.panes[story].Refresh()
		}
	case Revealing:
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

func (s *Stage) played(scene walk.Scene) {
	s.busy, s.scene, s.at, s.side = false, &scene, max(0, len(scene.Exchanges)-1), story
	s.tell()
}

func (s *Stage) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, enter("")):
		switch {
		case s.busy:
			return nil
		case s.scene == nil || !s.scene.Well():
			return s.again()
		}
		return next
	case key.Matches(msg, retry()) && !s.busy && s.play != nil:
		return s.again()
	case key.Matches(msg, edit()) && s.mendable():
		to, _ := s.scene.Mend()
		return func() tea.Msg { return Jump{To: to, Edit: true} }
	case key.Matches(msg, sideOn()):
		s.side = (s.side + 1) % sides
	case key.Matches(msg, sideBack()):
		s.side = (s.side + sides - 1) % sides
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

// mendable tells whether there is a trouble whose cause can be edited.
func (s *Stage) mendable() bool {
	if s.busy || s.scene == nil {
		return false
	}
	_, ok := s.scene.Mend()
	return ok
}

// again plays the scene anew.
func (s *Stage) again() tea.Cmd {
	s.busy = true
	s.panes[story].Refresh()
	return s.act(s.step, s.of, s.play)
}

// look turns to another exchange of the scene.
func (s *Stage) look(at int) {
	if s.scene == nil || at < 0 || at >= len(s.scene.Exchanges) {
		return
	}
	s.at = at
	s.tell()
}

// tell gives the panes what they show.
func (s *Stage) tell() {
	s.panes[story].Show(s.story)
	s.panes[request].Show(s.nothing)
	s.panes[response].Show(s.nothing)
	if x, ok := s.Exchange(); ok {
		s.messages.show(x)
	}
	s.panes[verdict].Show(func(width int) []string {
		if s.scene == nil {
			return s.nothing(width)
		}
		if s.scene.Trouble != nil {
			return view.Trouble(s.Theme, *s.scene.Trouble, width)
		}
		return view.Verdicts(s.Theme, s.scene.Verdicts, width)
	})
}

// story is why the step is there and, once it was played, what came of it.
func (s *Stage) story(width int) []string {
	why := s.why(width)
	switch {
	case s.busy:
		return append(why, s.Theme.Muted.Render("waiting for the node …"))
	case s.scene == nil:
		return append(why, s.Theme.Key.Render("enter")+" "+s.verb)
	}
	came := s.came(width)
	if later := s.told != nil && s.scene.Well() || len(why)+len(came) > s.room.Height; later && s.opening == nil {
		return append(append(came, ""), why...) // what came of it is seen first where not all is
	}
	return append(why, came...)
}

// came is what came of the scene.
func (s *Stage) came(width int) []string {
	var lines []string
	if s.told != nil && s.scene.Well() {
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
		lines = append(lines, view.Trouble(s.Theme, *s.scene.Trouble, width)...)
		lines = append(lines, "", s.Theme.Key.Render(cmp.Or(s.tries, "enter"))+" try again")
		if to, ok := s.scene.Mend(); ok && s.mendable() {
			lines = append(lines, s.Theme.Key.Render("e")+"     edit "+map[walk.Step]string{walk.Node: "the node", walk.Credentials: "the credentials"}[to])
		}
		return lines
	}
	if s.says != nil {
		lines = append(lines, s.says(width)...)
	} else {
		for _, text := range s.scene.Says {
			lines = append(lines, view.Hang("", text, width)...)
		}
	}
	if len(s.scene.Verdicts) > 0 {
		if len(s.scene.Says) > 0 {
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
func (s *Stage) why(width int) []string {
	if s.opening != nil {
		var lines []string
		for _, text := range s.opening {
			for _, line := range view.Wrap(text, width) {
				lines = append(lines, s.Theme.Title.Render(line))
			}
		}
		return append(lines, "")
	}
	g := s.step.Guide()
	lines := append(view.Wrap(g.Why, width), "")
	lines = append(lines, view.Hang(s.Theme.Muted.Render("Rule: "), g.Rule, width)...)
	return append(lines, "")
}

// summary counts the verdicts, and names those that are no pass.
func (s *Stage) summary(width int) []string {
	passed := 0
	var others []walk.Verdict
	for _, v := range s.scene.Verdicts {
		if v.Outcome == requirement.Pass {
			passed++
			continue
		}
		others = append(others, v)
	}
	var lines []string
	if passed > 0 {
		sign, _, style := s.Theme.Sign(gravest(s.scene.Verdicts))
		lines = view.Hang(style.Render(sign)+" ", fmt.Sprintf("%d of %d rules passed (%s)", passed, len(s.scene.Verdicts), strings.ToLower(verdict.String())), width)
	}
	return append(lines, view.Verdicts(s.Theme, others, width)...)
}

// brief is an exchange in two lines.
func brief(t view.Theme, x exchange.Exchange, show message.Show) []string {
	out := []string{t.Muted.Render("> ") + t.Start.Render(message.RequestHead(x, show)[0].Text)}
	for _, l := range message.ResponseHead(x, show) {
		if l.Kind == message.Start || l.Kind == message.Note {
			return append(out, t.Muted.Render("< ")+t.Start.Render(l.Text))
		}
	}
	return out
}

func (s *Stage) nothing(width int) []string {
	if s.scene != nil {
		return view.Wrap("Nothing was sent for this.", width)
	}
	return view.Wrap("Nothing was sent yet: press enter to "+s.verb+".", width)
}

// View implements Screen.
func (s *Stage) View(room view.Size) string {
	if below := (view.Size{Width: room.Width, Height: room.Height - 1}); s.room != below {
		s.room = below
		s.panes[story].Refresh()
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
