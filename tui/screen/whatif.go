package screen

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/flow"
)

// whatIfScreen is the screen that makes mistakes on purpose: a list of them, and a stage for the one that was made last.
type whatIfScreen struct {
	*Session
	mistakes []flow.Mistake
	scenes   []*flow.Result // of each mistake, once it was made
	list     *List
	stage    *ActionScreen // of the mistake that is looked at; nil while the list is
	asking   bool          // whether the mistake under the cursor is to be made
	aim      int           // the target that the scenes are of
}

func newWhatIfScreen(w *Session) Screen {
	s := &whatIfScreen{Session: w, mistakes: flow.Mistakes(), list: NewList(w.Theme)}
	s.list.Show(len(s.mistakes), s.row)
	s.forget()
	return s
}

// forget begins anew.
func (s *whatIfScreen) forget() {
	s.aim, s.stage, s.asking, s.scenes = s.Walk.TargetCount(), nil, false, make([]*flow.Result, len(s.mistakes))
}

// row is a mistake with what came of it.
func (s *whatIfScreen) row(i, width int) string {
	m, scene := s.mistakes[i], s.scenes[i]
	if scene == nil {
		return "  " + m.Title
	}
	sign, word, style := s.Theme.Sign(worstOutcome(scene.Verdicts))
	switch {
	case !scene.OK():
		sign, word, style = "✗", "trouble", s.Theme.Bad
	case len(scene.Verdicts) == 0:
		sign, word, style = "–", s.waits(m), s.Theme.Muted
	}
	word = " · " + word
	return style.Render(sign) + " " + Fit(m.Title, width-2-lipgloss.Width(word)) + s.Theme.Muted.Render(word)
}

// worstOutcome is the worst outcome of some verdicts.
func worstOutcome(verdicts []flow.Verdict) requirement.Outcome {
	order := []requirement.Outcome{requirement.Pass, requirement.Inconclusive, requirement.Blocked, requirement.Warn, requirement.Fail}
	worst := requirement.Pass
	for _, v := range verdicts {
		if slices.Index(order, v.Outcome) > slices.Index(order, worst) {
			worst = v.Outcome
		}
	}
	return worst
}

// waits says when a mistake that could not be made can be.
func (s *whatIfScreen) waits(m flow.Mistake) string {
	token, ok := s.Walk.Token()
	if m.Name != "expired" || !ok {
		return "not yet"
	}
	if left := token.Remaining(s.Walk.Now()); left > 0 {
		return "in " + clockOf(left)
	}
	return "can be made now"
}

// Open implements Screen. What another node answered is no lesson about this one.
func (s *whatIfScreen) Open() tea.Cmd {
	if s.aim != s.Walk.TargetCount() && !s.busy() {
		s.forget()
	}
	return nil
}

func (s *whatIfScreen) busy() bool { return s.stage != nil && s.stage.busy }

// Typing implements Screen: y and n answer a question.
func (s *whatIfScreen) Typing() bool { return s.asking || s.stage != nil && s.stage.Typing() }

// Exchange implements Screen.
func (s *whatIfScreen) Exchange() (evidence.Exchange, bool) {
	if s.stage == nil {
		return evidence.Exchange{}, false
	}
	return s.stage.Exchange()
}

// next is the first mistake that needs no question and was not made yet.
func (s *whatIfScreen) next() int {
	for i, m := range s.mistakes {
		if m.Question == "" && s.scenes[i] == nil {
			return i
		}
	}
	return -1
}

// Update implements Screen.
func (s *whatIfScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ActionDone:
		if i, ok := msg.Of.(int); ok {
			s.scenes[i], s.aim = &msg.Scene, msg.TargetCount
		}
		if s.stage != nil {
			return s.stage.Update(msg)
		}
		return nil
	case tea.KeyMsg:
		return s.press(msg)
	}
	if s.stage != nil {
		return s.stage.Update(msg)
	}
	return nil
}

func (s *whatIfScreen) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case s.stage != nil && s.stage.Typing():
		return s.stage.Update(msg)
	case s.asking:
		s.asking = false
		if msg.String() == "y" {
			return s.make(s.list.At())
		}
		return nil
	case s.busy():
		return nil
	case s.stage != nil && key.Matches(msg, toList()):
		s.stage = nil
		return nil
	case s.stage != nil && key.Matches(msg, enter("")) && s.scenes[s.list.At()] != nil && !s.scenes[s.list.At()].OK():
		return s.stage.again()
	case key.Matches(msg, enter("")):
		return s.lead()
	case s.stage == nil && key.Matches(msg, goOn()):
		return next
	case s.stage != nil:
		return s.stage.Update(msg)
	case key.Matches(msg, open("")):
		if s.made(s.list.At()) {
			s.look(s.list.At())
			return nil
		}
		return s.begin(s.list.At())
	}
	s.list.Update(msg)
	return nil
}

// lead is what enter does: make the mistake under the cursor, else the next one, else go on.
func (s *whatIfScreen) lead() tea.Cmd {
	if at := s.list.At(); s.stage == nil && !s.made(at) {
		return s.begin(at)
	}
	if at := s.next(); at >= 0 {
		s.list.Go(at)
		return s.make(at)
	}
	return next
}

// begin makes a mistake, after its question if it has one.
func (s *whatIfScreen) begin(at int) tea.Cmd {
	if s.asking = s.mistakes[at].Question != ""; s.asking {
		return nil
	}
	return s.make(at)
}

// make makes a mistake, and shows what comes of it.
func (s *whatIfScreen) make(i int) tea.Cmd {
	s.look(i)
	return s.stage.again()
}

// look turns to a mistake.
func (s *whatIfScreen) look(i int) {
	m := s.mistakes[i]
	s.stage = newActionScreen(s.Session, flow.WhatIf, "make the mistake", func(ctx context.Context) flow.Result { return s.Walk.MakeMistake(ctx, m) })
	s.stage.of, s.stage.opening = i, []string{"What if " + m.Title + "?"}
	s.stage.says = func(width int) []string { return s.lesson(i, width) }
	s.stage.extra = func(width int) []string { return s.rules(i, width) }
	if scene := s.scenes[i]; scene != nil {
		s.stage.played(*scene)
	}
}

// View implements Screen.
func (s *whatIfScreen) View(room Size) string {
	switch {
	case s.stage != nil && room.Width >= wide:
		left := Size{Width: 36, Height: room.Height}
		return Beside(s.list.View(left), s.stage.View(Size{Width: room.Width - left.Width - 2, Height: room.Height}), left.Width)
	case s.stage != nil:
		return s.stage.View(room)
	}
	foot := fmt.Sprintf("%d of %d made", s.count(), len(s.mistakes))
	if s.asking {
		foot = s.mistakes[s.list.At()].Question + " Send it? y/n"
	}
	tail := Wrap(foot, room.Width)
	left := room.Height - len(s.mistakes) - len(tail) - 2
	head := Wrap(flow.WhatIf.Guide().Why, room.Width)
	switch {
	case left < 1:
		head = nil
	case left < len(head):
		head = []string{s.Theme.Title.Render("Mistakes, made on purpose")}
	}
	return Stack(room, head, s.list, tail)
}

// made tells whether there is an answer to a mistake; one that could not be made yet has none.
func (s *whatIfScreen) made(i int) bool {
	return s.scenes[i] != nil && s.scenes[i].OK() && len(s.scenes[i].Verdicts) > 0
}

func (s *whatIfScreen) count() int {
	n := 0
	for i := range s.mistakes {
		if s.made(i) {
			n++
		}
	}
	return n
}

// Keys implements Screen.
func (s *whatIfScreen) Keys() []key.Binding {
	switch {
	case s.asking:
		return []key.Binding{key.NewBinding(key.WithKeys("y"), key.WithHelp("y", "send it")), key.NewBinding(key.WithKeys("n"), key.WithHelp("n", "don't"))}
	case s.stage != nil && s.stage.Typing():
		return s.stage.Keys()
	case s.stage != nil:
		return append([]key.Binding{s.leads(), toList()}, s.stage.Keys()[1:]...)
	case s.made(s.list.At()):
		return append([]key.Binding{s.leads(), open("look at it"), goOn()}, ListKeys()...)
	}
	return append([]key.Binding{enter("make it"), goOn()}, ListKeys()...)
}

// leads says where enter leads to from a mistake that was made.
func (s *whatIfScreen) leads() key.Binding {
	switch scene := s.scenes[s.list.At()]; {
	case s.busy():
		return key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "back"))
	case scene != nil && !scene.OK():
		return enter("try again")
	case s.next() < 0:
		return enter("next step")
	}
	return enter("next mistake")
}

// toList leads from one thing back to the list of all.
func toList() key.Binding {
	return key.NewBinding(key.WithKeys("left", "backspace"), key.WithHelp("←", "all of them"))
}

// goOn leads to the next step from a screen where enter does something else.
func goOn() key.Binding { return key.NewBinding(key.WithKeys("x"), key.WithHelp("x", "next step")) }

// lesson is what a mistake teaches: what was presented, how it was challenged, and what a client does about it.
func (s *whatIfScreen) lesson(i, width int) []string {
	scene := s.scenes[i]
	if scene == nil {
		return nil
	}
	var lines []string
	say := func(lead, text string) { lines = append(lines, Hang(s.Theme.Muted.Render(lead), text, width)...) }
	if x, ok := s.stage.Exchange(); ok {
		presented := "no Authorization"
		for _, f := range x.Request.Header {
			if strings.EqualFold(f.Name, "Authorization") {
				presented = "Authorization: " + s.show()(f.Value)
			}
		}
		if len(x.Request.Body) == 0 {
			say("sent      ", presented)
		}
		if x.Response != nil {
			challenges := 0
			for _, f := range x.Response.Header {
				if strings.EqualFold(f.Name, "WWW-Authenticate") && challenges < 4 {
					say("challenge ", s.show()(f.Value))
					challenges++
				}
			}
			if challenges == 0 && x.Status() == 401 {
				say("challenge ", "none")
			}
		}
		lines = append(lines, "")
	}
	if len(scene.Verdicts) == 0 && s.mistakes[i].Name == "expired" { // what the scene says of the time is over soon
		say("", "The token that this walk holds is sent once it has expired. To send another expired one now, start with --expired-token.")
		return append(lines, "", s.Theme.Key.Render("s")+" makes the mistake: "+s.waits(s.mistakes[i]))
	}
	says := scene.Notes
	if len(lines) > 0 && len(says) > 1 {
		says = says[1:] // the status stands above
	}
	for _, text := range says {
		say("", text)
	}
	return lines
}

// rules are those that the answer kept, with their places; the broken ones are told in full already.
func (s *whatIfScreen) rules(i, width int) []string {
	var lines []string
	for _, v := range s.scenes[i].Verdicts {
		if v.Outcome == requirement.Pass {
			lines = append(lines, Hang("  "+s.Theme.Key.Render(string(v.ID))+" ", v.Title+" ("+v.Source+")", width)...)
		}
	}
	return lines
}
