package step

import (
	"context"
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// whatIf is the screen that makes mistakes on purpose: a list of them, and a stage for the one that was made last.
type whatIf struct {
	*World
	mistakes []walk.Mistake
	scenes   []*walk.Scene // of each mistake, once it was made
	list     *view.List
	stage    *Stage // of the mistake that is looked at; nil while the list is
	asking   bool   // whether the mistake under the cursor is to be made
	aim      int    // the target that the scenes are of
}

func newWhatIf(w *World) Screen {
	s := &whatIf{World: w, mistakes: walk.Mistakes(), list: view.NewList(w.Theme)}
	s.list.Show(len(s.mistakes), s.row)
	s.forget()
	return s
}

// forget begins anew.
func (s *whatIf) forget() {
	s.aim, s.stage, s.asking, s.scenes = s.Walk.Aims(), nil, false, make([]*walk.Scene, len(s.mistakes))
}

// row is a mistake with what came of it.
func (s *whatIf) row(i, width int) string {
	m, scene := s.mistakes[i], s.scenes[i]
	if scene == nil {
		return "  " + m.Title
	}
	sign, word, style := s.Theme.Sign(gravest(scene.Verdicts))
	switch {
	case !scene.Well():
		sign, word, style = "✗", "trouble", s.Theme.Bad
	case len(scene.Verdicts) == 0:
		sign, word, style = "–", s.waits(m), s.Theme.Muted
	}
	word = " · " + word
	return style.Render(sign) + " " + view.Fit(m.Title, width-2-lipgloss.Width(word)) + s.Theme.Muted.Render(word)
}

// gravest is the worst outcome of some verdicts.
func gravest(verdicts []walk.Verdict) requirement.Outcome {
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
func (s *whatIf) waits(m walk.Mistake) string {
	token, ok := s.Walk.Issued()
	if m.Name != "expired" || !ok {
		return "not yet"
	}
	if left := token.Left(s.Walk.Now()); left > 0 {
		return "in " + clockOf(left)
	}
	return "can be made now"
}

// Open implements Screen. What another node answered is no lesson about this one.
func (s *whatIf) Open() tea.Cmd {
	if s.aim != s.Walk.Aims() && !s.busy() {
		s.forget()
	}
	return nil
}

func (s *whatIf) busy() bool { return s.stage != nil && s.stage.busy }

// Typing implements Screen: y and n answer a question.
func (s *whatIf) Typing() bool { return s.asking || s.stage != nil && s.stage.Typing() }

// Exchange implements Screen.
func (s *whatIf) Exchange() (exchange.Exchange, bool) {
	if s.stage == nil {
		return exchange.Exchange{}, false
	}
	return s.stage.Exchange()
}

// next is the first mistake that needs no question and was not made yet.
func (s *whatIf) next() int {
	for i, m := range s.mistakes {
		if m.Asks == "" && s.scenes[i] == nil {
			return i
		}
	}
	return -1
}

// Update implements Screen.
func (s *whatIf) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case Played:
		if i, ok := msg.Of.(int); ok {
			s.scenes[i], s.aim = &msg.Scene, msg.Aim
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

func (s *whatIf) press(msg tea.KeyMsg) tea.Cmd {
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
	case s.stage != nil && key.Matches(msg, enter("")) && s.scenes[s.list.At()] != nil && !s.scenes[s.list.At()].Well():
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
func (s *whatIf) lead() tea.Cmd {
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
func (s *whatIf) begin(at int) tea.Cmd {
	if s.asking = s.mistakes[at].Asks != ""; s.asking {
		return nil
	}
	return s.make(at)
}

// make makes a mistake, and shows what comes of it.
func (s *whatIf) make(i int) tea.Cmd {
	s.look(i)
	return s.stage.again()
}

// look turns to a mistake.
func (s *whatIf) look(i int) {
	m := s.mistakes[i]
	s.stage = newStage(s.World, walk.WhatIf, "make the mistake", func(ctx context.Context) walk.Scene { return s.Walk.Make(ctx, m) })
	s.stage.of, s.stage.opening = i, []string{"What if " + m.Title + "?"}
	s.stage.says = func(width int) []string { return s.lesson(i, width) }
	s.stage.extra = func(width int) []string { return s.rules(i, width) }
	if scene := s.scenes[i]; scene != nil {
		s.stage.played(*scene)
	}
}

// View implements Screen.
func (s *whatIf) View(room view.Size) string {
	switch {
	case s.stage != nil && room.Width >= wide:
		left := view.Size{Width: 36, Height: room.Height}
		return view.Beside(s.list.View(left), s.stage.View(view.Size{Width: room.Width - left.Width - 2, Height: room.Height}), left.Width)
	case s.stage != nil:
		return s.stage.View(room)
	}
	foot := fmt.Sprintf("%d of %d made", s.count(), len(s.mistakes))
	if s.asking {
		foot = s.mistakes[s.list.At()].Asks + " Send it? y/n"
	}
	tail := view.Wrap(foot, room.Width)
	left := room.Height - len(s.mistakes) - len(tail) - 2
	head := view.Wrap(walk.WhatIf.Guide().Why, room.Width)
	switch {
	case left < 1:
		head = nil
	case left < len(head):
		head = []string{s.Theme.Title.Render("Mistakes, made on purpose")}
	}
	return view.Stack(room, head, s.list, tail)
}

// made tells whether there is an answer to a mistake; one that could not be made yet has none.
func (s *whatIf) made(i int) bool {
	return s.scenes[i] != nil && s.scenes[i].Well() && len(s.scenes[i].Verdicts) > 0
}

func (s *whatIf) count() int {
	n := 0
	for i := range s.mistakes {
		if s.made(i) {
			n++
		}
	}
	return n
}

// Keys implements Screen.
func (s *whatIf) Keys() []key.Binding {
	switch {
	case s.asking:
		return []key.Binding{key.NewBinding(key.WithKeys("y"), key.WithHelp("y", "send it")), key.NewBinding(key.WithKeys("n"), key.WithHelp("n", "don't"))}
	case s.stage != nil && s.stage.Typing():
		return s.stage.Keys()
	case s.stage != nil:
		return append([]key.Binding{s.leads(), toList()}, s.stage.Keys()[1:]...)
	case s.made(s.list.At()):
		return append([]key.Binding{s.leads(), open("look at it"), goOn()}, view.ListKeys()...)
	}
	return append([]key.Binding{enter("make it"), goOn()}, view.ListKeys()...)
}

// leads says where enter leads to from a mistake that was made.
func (s *whatIf) leads() key.Binding {
	switch scene := s.scenes[s.list.At()]; {
	case s.busy():
		return key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "back"))
	case scene != nil && !scene.Well():
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
