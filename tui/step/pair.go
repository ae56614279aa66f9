package step

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/tui/view"
)

// pair is a list and the stage of what was asked for it: beside each other where there is room, else one at a time.
type pair struct {
	list    *view.List
	stage   *Stage
	onStage bool // whether keys go to the stage, and it is what a narrow screen shows
	beside  bool // whether both are seen
}

// press gives a key to the one that has the keys; handled is false for a key of the list that means nothing to it.
func (p *pair) press(msg tea.KeyMsg) (cmd tea.Cmd, handled bool) {
	switch {
	case p.onStage && key.Matches(msg, toList()):
		p.onStage = false
		return nil, true
	case p.onStage:
		return p.stage.Update(msg), true
	case key.Matches(msg, toStage()):
		p.onStage = true
		return nil, true
	}
	return nil, p.list.Update(msg)
}

// draw draws the pair; front is what stands for the list, with its head and tail.
func (p *pair) draw(room view.Size, front func(view.Size) string) string {
	p.beside = room.Width >= wide
	switch {
	case p.beside:
		l := view.Size{Width: room.Width * 2 / 5, Height: room.Height}
		return view.Beside(front(l), p.stage.View(view.Size{Width: room.Width - l.Width - 2, Height: room.Height}), l.Width)
	case p.onStage:
		return p.stage.View(room)
	}
	return front(room)
}

// toStage leads from a list to what was sent for it.
func toStage() key.Binding {
	return key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "request, response"))
}
