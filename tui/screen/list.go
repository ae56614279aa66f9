package screen

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// List shows rows with a cursor. A row is one line; the selected one is marked by a sign and by its style.
type List struct {
	theme  Theme
	length int
	row    func(i, width int) string
	cursor int // the selected row
	from   int // the first visible row
	height int // the number of visible rows
}

// NewList makes an empty list.
func NewList(t Theme) *List { return &List{theme: t} }

// Show sets the rows. The cursor stays where it is, if there is such a row.
func (l *List) Show(length int, row func(i, width int) string) {
	l.length, l.row = length, row
	l.Move(0)
}

// At returns the selected row, -1 in an empty list.
func (l *List) At() int {
	if l.length == 0 {
		return -1
	}
	return l.cursor
}

// Go selects a row.
func (l *List) Go(to int) { l.Move(to - l.cursor) }

// Move moves the cursor, but not past the first or last row.
func (l *List) Move(by int) {
	l.cursor = max(0, min(l.cursor+by, l.length-1))
	if l.cursor < l.from {
		l.from = l.cursor
	}
	if l.height > 0 && l.cursor >= l.from+l.height {
		l.from = l.cursor - l.height + 1
	}
}

// Update moves the cursor; handled is false for other keys.
func (l *List) Update(msg tea.KeyMsg) (handled bool) {
	by, handled := scrollKeys().distance(msg, l.height, l.length)
	if handled {
		l.Move(by)
	}
	return handled
}

// View draws the visible rows.
func (l *List) View(room Size) string {
	l.height = room.Height
	l.from = max(0, min(l.from, l.length-l.height)) // the room may have grown
	l.Move(0)
	lines := make([]string, 0, room.Height)
	for i := l.from; i < l.length && len(lines) < room.Height; i++ {
		row := Fit(l.row(i, room.Width-2), room.Width-2)
		if i == l.cursor {
			lines = append(lines, "› "+l.theme.Selected.Render(ansi.Strip(row)))
			continue
		}
		lines = append(lines, "  "+row)
	}
	return strings.Join(Window(lines, 0, room.Height), "\n")
}

// Pane shows a text and scrolls it.
type Pane struct {
	theme Theme
	make  func(width int) []string
	from  int // the first visible line
	size  Size
	lines []string
}

// NewPane makes an empty pane.
func NewPane(t Theme) *Pane { return &Pane{theme: t, make: func(int) []string { return nil }} }

// Show sets the text, as a function of the width, and scrolls to the top.
func (p *Pane) Show(lines func(width int) []string) {
	p.make, p.from, p.size = lines, 0, Size{}
}

// Refresh makes the text again and keeps the position.
func (p *Pane) Refresh() { p.size = Size{} }

// View draws the visible part of the text.
func (p *Pane) View(s Size) string {
	if p.size.Width != s.Width {
		p.lines = p.make(s.Width)
	}
	if p.size != s {
		p.size = s
		p.scroll(0)
	}
	visible := Window(p.lines, p.from, s.Height)
	for i, line := range visible {
		visible[i] = Fit(line, s.Width)
	}
	return strings.Join(visible, "\n")
}

// Update scrolls; handled is false for other keys.
func (p *Pane) Update(msg tea.KeyMsg) (handled bool) {
	by, handled := scrollKeys().distance(msg, p.size.Height, len(p.lines))
	if handled {
		p.scroll(by)
	}
	return handled
}

func (p *Pane) scroll(by int) {
	p.from = max(0, min(p.from+by, len(p.lines)-p.size.Height))
}

// More returns how many lines are above and below the visible part.
func (p *Pane) More() (above, below int) {
	return p.from, max(0, len(p.lines)-p.from-p.size.Height)
}

// splitView is a list and the action whose result it lists: side by side where there is room, else one at a time.
type splitView struct {
	list     *List
	action   *ActionScreen
	onAction bool // keys go to the action, and a narrow screen shows it
	wide     bool // both are visible
}

// commands returns the commands that lead from the list to the action and back.
func (v *splitView) commands() []command {
	if v.onAction {
		return append([]command{toList(do(func() { v.onAction = false }))}, v.action.otherCommands()...)
	}
	return []command{nextTab("request, response", do(func() { v.onAction = true }))}
}

// move gives a key to the visible list or text.
func (v *splitView) move(msg tea.KeyMsg) tea.Cmd {
	if v.onAction {
		return v.action.Update(msg)
	}
	v.list.Update(msg)
	return nil
}

// draw draws the view; front draws the list with its head and tail.
func (v *splitView) draw(room Size, front func(Size) string) string {
	v.wide = room.Width >= twoColumns
	if v.wide || v.onAction {
		return besideAction(room, room.Width*2/5, front, v.action)
	}
	return front(room)
}

// besideAction draws an action, with a list of a certain width at its left where there is room.
func besideAction(room Size, width int, list func(Size) string, action *ActionScreen) string {
	if room.Width < twoColumns {
		return action.View(room)
	}
	return Beside(list(Size{Width: width, Height: room.Height}), action.View(Size{Width: room.Width - width - 2, Height: room.Height}), width)
}
