package view

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

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
