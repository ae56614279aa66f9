package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/step"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// revealed is how long secrets are shown before they hide by themselves.
const revealed = 10 * time.Second

// App is the whole tour as a Bubble Tea model.
type App struct {
	world   *step.World
	screens []step.Screen
	at      walk.Step
	size    view.Size
	keys    keymap
	help    *view.Pane // nil while it is closed
	note    string     // a word about the last key, gone with the next
	hideAt  time.Time
	history *step.History // nil unless it is looked at
	copies  copies
}

// New makes the tour of a walk.
func New(w *step.World) *App {
	return &App{world: w, screens: step.Screens(w), keys: keys(), size: view.Size{Width: 80, Height: 24}}
}

// tick counts seconds: for the countdown of the token, and for secrets that hide.
type tick time.Time

func everySecond() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tick(t) })
}

// Init implements tea.Model.
func (a *App) Init() tea.Cmd { return tea.Batch(a.screen().Open(), everySecond()) }

// screen is the one that is seen.
func (a *App) screen() step.Screen {
	if a.history != nil {
		return a.history
	}
	return a.screens[a.at]
}

// Update implements tea.Model.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.size = view.Size{Width: msg.Width, Height: msg.Height}
		return a, nil
	case tick:
		if a.world.Revealed && !a.world.Walk.Now().Before(a.hideAt) {
			return a, tea.Batch(a.reveal(false), everySecond())
		}
		return a, tea.Batch(a.screen().Update(step.Second{}), everySecond())
	case step.Next:
		if int(a.at) == len(a.screens)-1 {
			return a, tea.Quit
		}
		return a, a.goTo(a.at + 1)
	case step.Jump:
		if open := a.goTo(msg.To); msg.Edit {
			return a, tea.Batch(open, a.screen().Update(step.Edit{}))
		} else {
			return a, open
		}
	case step.Played:
		return a, a.screens[msg.Step].Update(msg)
	case step.Heard:
		return a, a.screens[walk.Certify].Update(msg)
	case copied:
		a.note = msg.note
		return a, nil
	case tea.KeyMsg:
		return a, a.presses(msg)
	}
	return a, a.screen().Update(msg)
}

// presses takes keys that came in one piece, as they do over a slow line, one after the other. What was pasted is one text.
func (a *App) presses(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || msg.Paste || msg.Alt || len(msg.Runes) < 2 {
		return a.press(msg)
	}
	var all []tea.Cmd
	for _, r := range msg.Runes {
		all = append(all, a.press(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
	}
	return tea.Batch(all...)
}

// press gives a key its meaning: first what holds everywhere, then what the screen makes of it.
func (a *App) press(msg tea.KeyMsg) tea.Cmd {
	before := a.copies
	a.note, a.copies = "", copies{}
	switch {
	case key.Matches(msg, a.keys.quit):
		return tea.Quit
	case before.asking:
		return a.answer(msg, before)
	}
	if a.help != nil {
		if !a.help.Update(msg) {
			a.help = nil
		}
		return nil
	}
	if a.screen().Typing() {
		return a.screen().Update(msg)
	}
	switch {
	case key.Matches(msg, a.keys.help):
		a.help = view.NewPane(a.world.Theme)
		a.help.Show(a.helpLines)
	case a.history != nil && key.Matches(msg, a.keys.back, a.keys.history):
		if !a.history.Back() {
			a.history = nil
		}
	case key.Matches(msg, a.keys.history):
		a.history = step.NewHistory(a.world)
	case key.Matches(msg, a.keys.copy):
		return a.copy("c", false, before)
	case key.Matches(msg, a.keys.copySecret):
		return a.copy("C", true, before)
	case key.Matches(msg, a.keys.back):
		if a.at > 0 {
			return a.goTo(a.at - 1)
		}
	case key.Matches(msg, a.keys.jump):
		return a.goTo(stepOf(msg.String()))
	case key.Matches(msg, a.keys.reveal):
		return a.reveal(!a.world.Revealed)
	case key.Matches(msg, a.keys.language):
		a.world.Language = map[string]string{"de": "en", "en": "de"}[a.world.Language]
		a.note = "language: " + a.world.Language
		return a.screen().Update(step.Revealing{})
	default:
		return a.screen().Update(msg)
	}
	return nil
}

// stepOf is the step of a digit: 1 to 9, and 0 for the tenth.
func stepOf(digit string) walk.Step {
	if digit == "0" {
		return walk.TakeAway
	}
	return walk.Step(digit[0] - '1')
}

func (a *App) goTo(s walk.Step) tea.Cmd {
	a.at, a.history = s, nil
	return a.screen().Open()
}

// reveal shows secrets for a while, or hides them.
func (a *App) reveal(on bool) tea.Cmd {
	a.world.Revealed, a.hideAt = on, a.world.Walk.Now().Add(revealed)
	var all []tea.Cmd
	for _, s := range a.screens {
		all = append(all, s.Update(step.Revealing{}))
	}
	return tea.Batch(all...)
}

// View implements tea.Model.
func (a *App) View() string {
	if a.size.Width < 20 || a.size.Height < 8 {
		return a.cramped()
	}
	room := view.Size{Width: a.size.Width, Height: a.size.Height - 4}
	content := ""
	if a.help != nil {
		content = a.help.View(room)
	} else {
		content = a.screen().View(room)
	}
	rule := a.world.Theme.Muted.Render(strings.Repeat("─", a.size.Width))
	return strings.Join([]string{a.head(), rule, content, rule, a.foot()}, "\n")
}

// cramped says that there is no room, in what room there is.
func (a *App) cramped() string {
	if a.size.Width < 1 || a.size.Height < 1 {
		return ""
	}
	lines := view.Wrap("This terminal is too small: 20 columns and 8 rows are needed, 40 and 15 are good. ctrl+c quits.", a.size.Width)
	return strings.Join(lines[:min(len(lines), a.size.Height)], "\n")
}

// head says where the person is, and how long the token is good for.
func (a *App) head() string {
	g := a.at.Guide()
	title := fmt.Sprintf("%d/%d %s", int(a.at)+1, len(a.screens), g.Title)
	if a.history != nil {
		title = "History of this walk"
	}
	left := a.world.Theme.Title.Render(title)
	right := ""
	if token, ok := a.world.Walk.Issued(); ok {
		rest := token.Left(a.world.Walk.Now()).Round(time.Second)
		right = fmt.Sprintf("token %d:%02d", int(rest.Minutes()), int(rest.Seconds())%60)
		if rest == 0 {
			right = "token expired"
		}
	}
	if a.world.Revealed {
		right = strings.TrimSpace("secrets shown  " + right)
	}
	right = view.Fit(right, a.size.Width)
	if right == "" {
		return view.Fit(left, a.size.Width)
	}
	left = view.Fit(left, a.size.Width-lipgloss.Width(right)-1) // a title can be guessed, a time cannot
	gap := max(0, a.size.Width-lipgloss.Width(left)-lipgloss.Width(right))
	return left + strings.Repeat(" ", gap) + a.world.Theme.Muted.Render(right)
}

// foot shows the keys that fit; help and quit always do.
func (a *App) foot() string {
	if a.help != nil {
		how := "any key closes this"
		if above, below := a.help.More(); above+below > 0 {
			how = "↑↓ scroll  any other key closes this"
		}
		return view.Fit(a.world.Theme.Muted.Render(how), a.size.Width)
	}
	switch {
	case a.copies.asking:
		return view.Fit(a.world.Theme.Key.Render("Copy with the real secrets? y/n"), a.size.Width)
	case a.note != "":
		return view.Fit(report.Plain(a.note), a.size.Width)
	}
	width, t := a.size.Width, a.world.Theme
	last, short := hint(t, a.keys.quit), t.Key.Render(a.keys.quit.Help().Key)
	if !a.screen().Typing() { // while typing it is a character
		help := hint(t, a.keys.help) + "  "
		last, short = help+last, help+short
	}
	line := ""
	for i, k := range a.screen().Keys() {
		next := line + hint(t, k) + "  "
		if i == 0 && lipgloss.Width(next)+lipgloss.Width(last) > width { // what leads on is seen first of all
			last = short
			next = view.Fit(hint(t, k), width-lipgloss.Width(short)-2) + "  "
		}
		if lipgloss.Width(next)+lipgloss.Width(last) > width {
			break
		}
		line = next
	}
	return view.Fit(line+last, width)
}

func hint(t view.Theme, k key.Binding) string {
	return t.Key.Render(k.Help().Key) + " " + t.Muted.Render(k.Help().Desc)
}

// helpLines are all keys that mean something now.
func (a *App) helpLines(width int) []string {
	t := a.world.Theme
	lines := []string{t.Title.Render("Keys"), ""}
	for _, group := range [][]key.Binding{a.screen().Keys(), a.keys.all()} {
		for _, k := range group {
			lines = append(lines, view.Hang(t.Key.Render(fmt.Sprintf("%-10s", k.Help().Key))+" ", k.Help().Desc, width)...)
		}
		lines = append(lines, "")
	}
	return lines[:len(lines)-1]
}
