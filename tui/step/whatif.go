package step

import (
	"context"
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

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
}

func newWhatIf(w *World) Screen {
	s := &whatIf{World: w, mistakes: walk.Mistakes(), list: view.NewList(w.Theme)}
	s.scenes = make([]*walk.Scene, len(s.mistakes))
	s.list.Show(len(s.mistakes), s.row)
	return s
}

// row is a mistake with what came of it.
func (s *whatIf) row(i, _ int) string {
	m, scene := s.mistakes[i], s.scenes[i]
	if scene == nil {
		return "  " + m.Title
	}
	sign, word, style := s.Theme.Sign(gravest(scene.Verdicts))
	if len(scene.Verdicts) == 0 {
		sign, word, style = "–", "not yet", s.Theme.Muted
	}
	return style.Render(sign) + " " + m.Title + s.Theme.Muted.Render(" · "+word)
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

// Open implements Screen.
func (s *whatIf) Open() tea.Cmd { return nil }

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
			s.scenes[i] = &msg.Scene
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
	case s.stage != nil && key.Matches(msg, toList()):
		s.stage = nil
		return nil
	case s.stage != nil && key.Matches(msg, enter("")) && !s.stage.busy:
		if at := s.next(); at >= 0 {
			s.list.Go(at)
			return s.make(at)
		}
		return next
	case s.stage != nil:
		return s.stage.Update(msg)
	case key.Matches(msg, enter("")):
		at := s.list.At()
		if s.scenes[at] != nil {
			s.look(at)
			return nil
		}
		if s.mistakes[at].Asks != "" {
			s.asking = true
			return nil
		}
		return s.make(at)
	case key.Matches(msg, goOn()):
		return next
	}
	s.list.Update(msg)
	return nil
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
	g := walk.WhatIf.Guide()
	head := view.Wrap(g.Why, room.Width)
	if room.Height < len(head)+len(s.mistakes)+3 {
		head = nil
	}
	foot := fmt.Sprintf("%d of %d made", s.made(), len(s.mistakes))
	if s.asking {
		foot = s.mistakes[s.list.At()].Asks + " Send it? y/n"
	}
	tail := view.Wrap(foot, room.Width)
	return view.Stack(room, head, s.list, tail)
}

func (s *whatIf) made() int {
	n := 0
	for _, scene := range s.scenes {
		if scene != nil {
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
		lead := enter("next mistake")
		if s.next() < 0 {
			lead = enter("next step")
		}
		return append([]key.Binding{lead, toList()}, s.stage.Keys()[1:]...)
	}
	return append([]key.Binding{enter("make it"), goOn()}, view.ListKeys()...)
}

// toList leads from one thing back to the list of all.
func toList() key.Binding {
	return key.NewBinding(key.WithKeys("left", "backspace"), key.WithHelp("←", "all of them"))
}

// goOn leads to the next step from a screen where enter does something else.
func goOn() key.Binding { return key.NewBinding(key.WithKeys("x"), key.WithHelp("x", "next step")) }
