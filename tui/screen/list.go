package screen

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"
)

// List is rows with a cursor, of which some are seen. A row is one line; the one under the cursor is marked by a sign and by its style.
type List struct {
	theme  Theme
	length int
	row    func(i, width int) string
	cursor int
	from   int
	height int
}

// NewList makes an empty list.
func NewList(t Theme) *List { return &List{theme: t} }

// Show gives the list its rows. The cursor stays where it is, as far as there is a row.
func (l *List) Show(length int, row func(i, width int) string) {
	l.length, l.row = length, row
	l.Move(0)
}

// At is the row under the cursor, -1 in an empty list.
func (l *List) At() int {
	if l.length == 0 {
		return -1
	}
	return l.cursor
}

// Go puts the cursor on a row.
func (l *List) Go(to int) { l.Move(to - l.cursor) }

// Move moves the cursor, as far as there are rows.
func (l *List) Move(by int) {
	l.cursor = max(0, min(l.cursor+by, l.length-1))
	if l.cursor < l.from {
		l.from = l.cursor
	}
	if l.height > 0 && l.cursor >= l.from+l.height {
		l.from = l.cursor - l.height + 1
	}
}

// Update moves the cursor; handled is false for keys that mean nothing here.
func (l *List) Update(msg tea.KeyMsg) (handled bool) {
	k := scrollKeys()
	page := max(1, l.height-1)
	switch {
	case key.Matches(msg, k.up):
		l.Move(-1)
	case key.Matches(msg, k.down):
		l.Move(1)
	case key.Matches(msg, k.pageUp):
		l.Move(-page)
	case key.Matches(msg, k.pageDown):
		l.Move(page)
	case key.Matches(msg, k.top):
		l.Move(-l.length)
	case key.Matches(msg, k.end):
		l.Move(l.length)
	default:
		return false
	}
	return true
}

// View draws as many rows as there is room for.
func (l *List) View(room Size) string {
	l.height = room.Height
	l.from = max(0, min(l.from, l.length-l.height)) // more may fit than before
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
	for len(lines) < room.Height {
		lines = append(lines, "")
	}
	return strings.Join(lines, "\n")
}

// ListKeys are the keys of a list, for a help text.
func ListKeys() []key.Binding {
	return []key.Binding{key.NewBinding(key.WithKeys("up", "down"), key.WithHelp("↑↓", "choose"))}
}

// Pane shows lines that may be more than fit, and scrolls them.
type Pane struct {
	theme Theme
	make  func(width int) []string
	from  int
	size  Size
	lines []string
}

// NewPane makes an empty pane.
func NewPane(t Theme) *Pane { return &Pane{theme: t, make: func(int) []string { return nil }} }

// Show gives the pane what it shows, made for a width, from the top.
func (p *Pane) Show(lines func(width int) []string) {
	p.make, p.from, p.size = lines, 0, Size{}
}

// Refresh makes the lines anew, and stays where it is.
func (p *Pane) Refresh() { p.size = Size{} }

// Resize makes the lines for a size, unless they are made for it.
func (p *Pane) Resize(s Size) {
	if p.size == s {
		return
	}
	if p.size.Width != s.Width {
		p.lines = p.make(s.Width)
	}
	p.size = s
	p.scroll(0)
}

// View is the part of the pane that is seen.
func (p *Pane) View(s Size) string {
	p.Resize(s)
	seen := Window(p.lines, p.from, s.Height)
	for i, line := range seen {
		seen[i] = Fit(line, s.Width)
	}
	return strings.Join(seen, "\n")
}

// Update scrolls; handled is false for keys that mean nothing here.
func (p *Pane) Update(msg tea.KeyMsg) (handled bool) {
	page := max(1, p.size.Height-1)
	switch {
	case key.Matches(msg, scrollKeys().up):
		p.scroll(-1)
	case key.Matches(msg, scrollKeys().down):
		p.scroll(1)
	case key.Matches(msg, scrollKeys().pageUp):
		p.scroll(-page)
	case key.Matches(msg, scrollKeys().pageDown):
		p.scroll(page)
	case key.Matches(msg, scrollKeys().top):
		p.scroll(-len(p.lines))
	case key.Matches(msg, scrollKeys().end):
		p.scroll(len(p.lines))
	default:
		return false
	}
	return true
}

func (p *Pane) scroll(by int) {
	p.from = max(0, min(p.from+by, len(p.lines)-p.size.Height))
}

// More tells how many lines are above and below what is seen.
func (p *Pane) More() (above, below int) {
	return p.from, max(0, len(p.lines)-p.from-p.size.Height)
}

type scrolling struct{ up, down, pageUp, pageDown, top, end key.Binding }

func scrollKeys() scrolling {
	return scrolling{
		up: key.NewBinding(key.WithKeys("up", "k")), down: key.NewBinding(key.WithKeys("down", "j")),
		pageUp: key.NewBinding(key.WithKeys("pgup", "b")), pageDown: key.NewBinding(key.WithKeys("pgdown", " ", "f")),
		top: key.NewBinding(key.WithKeys("home", "g")), end: key.NewBinding(key.WithKeys("end", "G")),
	}
}

// ScrollKeys are the keys of a pane, for a help text.
func ScrollKeys() []key.Binding {
	return []key.Binding{
		key.NewBinding(key.WithKeys("up", "down"), key.WithHelp("↑↓", "scroll")),
		key.NewBinding(key.WithKeys("pgdown"), key.WithHelp("space", "a page on")),
	}
}
