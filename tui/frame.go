package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/screen"
)

// keymap has the keys with the same meaning on every screen.
type keymap struct {
	back, help, jump, copy, copySecret, reveal, history, language, quit key.Binding
}

func newKeymap() keymap {
	bind := func(name, help string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, help))
	}
	return keymap{
		back:       bind("esc", "back", "esc"),
		help:       bind("?", "help", "?"),
		jump:       bind("1…9, 0, -", "jump to a step", strings.Split(jumpKeys, "")...),
		copy:       bind("c", "copy as curl", "c"),
		copySecret: bind("C", "copy with secrets", "C"),
		reveal:     bind("r", "reveal secrets", "r"),
		history:    bind("h", "history", "h"),
		language:   bind("l", "language", "l"),
		quit:       bind("ctrl+c", "quit", "ctrl+c"),
	}
}

// all lists the keys for the help.
func (k keymap) all() []key.Binding {
	return []key.Binding{k.back, k.jump, k.copy, k.copySecret, k.reveal, k.history, k.language, k.help, k.quit}
}

// View implements [tea.Model].
func (a *App) View() string {
	if a.size.Width < 20 || a.size.Height < 8 {
		return a.tooSmall()
	}
	room := screen.Size{Width: a.size.Width, Height: a.size.Height - 4}
	content := ""
	if a.help != nil {
		content = a.help.View(room)
	} else {
		content = a.screen().View(room)
	}
	rule := a.session.Theme.Muted.Render(strings.Repeat("─", a.size.Width))
	return strings.Join([]string{a.head(), rule, content, rule, a.foot()}, "\n")
}

func (a *App) tooSmall() string {
	if a.size.Width < 1 || a.size.Height < 1 {
		return ""
	}
	lines := screen.Wrap("This terminal is too small: the tour needs 20 columns and 8 rows; 40 and 15 are better. ctrl+c quits.", a.size.Width)
	return strings.Join(lines[:min(len(lines), a.size.Height)], "\n")
}

// head shows the step, and how long the token is still valid.
func (a *App) head() string {
	title := fmt.Sprintf("%d/%d %s", int(a.step)+1, len(a.screens), a.step.Guide().Title)
	if a.history != nil {
		title = "History of this tour"
	}
	left := a.session.Theme.Title.Render(title)
	right := ""
	if token, ok := a.session.Walk.Token(); ok {
		remaining := token.Remaining(a.session.Walk.Now()).Round(time.Second)
		right = fmt.Sprintf("token %d:%02d", int(remaining.Minutes()), int(remaining.Seconds())%60)
		if remaining == 0 {
			right = "token expired"
		}
	}
	if a.session.Revealed {
		right = strings.TrimSpace("secrets shown  " + right)
	}
	right = screen.Fit(right, a.size.Width)
	if right == "" {
		return screen.Fit(left, a.size.Width)
	}
	left = screen.Fit(left, a.size.Width-lipgloss.Width(right)-1) // a truncated title is still clear, a truncated time is not
	gap := max(0, a.size.Width-lipgloss.Width(left)-lipgloss.Width(right))
	return left + strings.Repeat(" ", gap) + a.session.Theme.Muted.Render(right)
}

// foot shows the keys that fit; help and quit always do.
func (a *App) foot() string {
	width, t := a.size.Width, a.session.Theme
	switch {
	case a.help != nil:
		text := "any key closes this"
		if above, below := a.help.More(); above+below > 0 {
			text = "↑↓ scroll  any other key closes this"
		}
		return screen.Fit(t.Muted.Render(text), width)
	case a.copied.needsConsent:
		return screen.Fit(t.Key.Render("Copy with the real secrets? y/n"), width)
	case a.note != "":
		return screen.Fit(report.Plain(a.note), width)
	}
	last := keyHint(t, a.keys.quit)
	short := last
	if !a.screen().Typing() { // while a person types, ? is a character of the text
		last, short = keyHint(t, a.keys.help)+"  "+last, t.Key.Render(a.keys.help.Help().Key)+"  "+last
	}
	line := ""
	for i, k := range a.screen().Keys() {
		longer := line + keyHint(t, k) + "  "
		if i == 0 && lipgloss.Width(longer)+lipgloss.Width(last) > width { // the first key must be visible
			last = short
			longer = screen.Fit(keyHint(t, k), width-lipgloss.Width(short)-2) + "  "
		}
		if lipgloss.Width(longer)+lipgloss.Width(last) > width {
			break
		}
		line = longer
	}
	return screen.Fit(line+last, width)
}

func keyHint(t screen.Theme, k key.Binding) string {
	return t.Key.Render(k.Help().Key) + " " + t.Muted.Render(k.Help().Desc)
}

// helpLines lists the keys of the screen and of the application.
func (a *App) helpLines(width int) []string {
	t := a.session.Theme
	lines := []string{t.Title.Render("Keys"), ""}
	for _, group := range [][]key.Binding{a.screen().Keys(), a.keys.all()} {
		for _, k := range group {
			lines = append(lines, screen.Hang(t.Key.Render(fmt.Sprintf("%-10s", k.Help().Key))+" ", k.Help().Desc, width)...)
		}
		lines = append(lines, "")
	}
	return lines[:len(lines)-1]
}
