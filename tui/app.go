// Package tui is the tour in a terminal: it walks a person from the registry to the first funding call, one step at a time, with the real
// requests on the wire.
//
// [App] keeps the place in the walk, the size of the screen, help, history and the countdown of the token; package step has a screen for
// each step, package walk does what the steps are about, package view draws. It starts no node and speaks no HTTP: the walk it is given does.
package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"golang.org/x/term"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/terminal"
)

// ErrBroken says that the tour ended by a fault of its own.
var ErrBroken = errors.New("the tour broke off")

// Run shows the tour on a terminal until the person leaves it, and leaves the terminal as it was.
func Run(ctx context.Context, w *screen.Session, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // what a screen still waits for ends with the tour
	w.Context = ctx
	w.Write = func(sequence string) error { // the lock of a file keeps it from standing in the middle of a frame
		_, err := io.WriteString(out, sequence)
		return err
	}
	app := New(w)
	if file, ok := out.(*os.File); ok { // Bubble Tea tells the size as well, but after the first frame
		if width, height, err := term.GetSize(int(file.Fd())); err == nil {
			app.size = screen.Size{Width: width, Height: height}
		}
	}
	program := tea.NewProgram(app, tea.WithContext(ctx), tea.WithInput(in), tea.WithOutput(out), tea.WithAltScreen(), tea.WithoutSignalHandler())
	_, err := program.Run()
	if errors.Is(err, tea.ErrProgramKilled) && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBroken, err)
	}
	return nil
}

// revealTime is how long secrets are shown before they hide by themselves.
const revealTime = 10 * time.Second

// App is the whole tour as a Bubble Tea model.
type App struct {
	session   *screen.Session
	screens []screen.Screen
	at      flow.Step
	size    screen.Size
	keys    keymap
	help    *screen.Pane // nil while it is closed
	note    string       // a word about the last key, gone with the next
	hideAt  time.Time
	history *screen.History // nil unless it is looked at
	copies  copyState
}

// New makes the tour of a walk.
func New(w *screen.Session) *App {
	return &App{session: w, screens: screen.Screens(w), keys: newKeymap(), size: screen.Size{Width: 80, Height: 24}}
}

// tick counts seconds: for the countdown of the token, and for secrets that hide.
type tick time.Time

func everySecond() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tick(t) })
}

// Init implements tea.Model.
func (a *App) Init() tea.Cmd { return tea.Batch(a.screen().Open(), everySecond()) }

// screen is the one that is seen.
func (a *App) screen() screen.Screen {
	if a.history != nil {
		return a.history
	}
	return a.screens[a.at]
}

// Update implements tea.Model.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.size = screen.Size{Width: msg.Width, Height: msg.Height}
		return a, nil
	case tick:
		if a.session.Revealed && !a.session.Walk.Now().Before(a.hideAt) {
			return a, tea.Batch(a.reveal(false), everySecond())
		}
		return a, tea.Batch(a.screen().Update(screen.SecondPassed{}), everySecond())
	case screen.NextStep:
		if int(a.at) == len(a.screens)-1 {
			return a, tea.Quit
		}
		return a, a.goTo(a.at + 1)
	case screen.GoToStep:
		if open := a.goTo(msg.To); msg.Edit {
			return a, tea.Batch(open, a.screen().Update(screen.OpenEditor{}))
		} else {
			return a, open
		}
	case screen.ActionDone:
		return a, a.screens[msg.Step].Update(msg)
	case screen.SuiteProgress:
		return a, a.screens[flow.Certify].Update(msg)
	case copyDone:
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
	a.note, a.copies = "", copyState{}
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
		a.help = screen.NewPane(a.session.Theme)
		a.help.Show(a.helpLines)
	case a.history != nil && key.Matches(msg, a.keys.back, a.keys.history):
		if !a.history.Back() {
			a.history = nil
		}
	case key.Matches(msg, a.keys.history):
		a.history = screen.NewHistory(a.session)
	case key.Matches(msg, a.keys.copy):
		return a.copy("c", false, before)
	case key.Matches(msg, a.keys.copySecret):
		return a.copy("C", true, before)
	case key.Matches(msg, a.keys.back):
		if a.at > 0 {
			return a.goTo(a.at - 1)
		}
	case key.Matches(msg, a.keys.jump):
		return a.goTo(stepOfDigit(msg.String()))
	case key.Matches(msg, a.keys.reveal):
		return a.reveal(!a.session.Revealed)
	case key.Matches(msg, a.keys.language):
		a.session.Language = map[string]string{"de": "en", "en": "de"}[a.session.Language]
		a.note = "language: " + a.session.Language
		return a.screen().Update(screen.SecretsToggled{})
	default:
		return a.screen().Update(msg)
	}
	return nil
}

// stepOfDigit is the step of a digit: 1 to 9, and 0 for the tenth.
func stepOfDigit(digit string) flow.Step {
	if digit == "0" {
		return flow.TakeAway
	}
	return flow.Step(digit[0] - '1')
}

func (a *App) goTo(s flow.Step) tea.Cmd {
	a.at, a.history = s, nil
	return a.screen().Open()
}

// reveal shows secrets for a while, or hides them.
func (a *App) reveal(on bool) tea.Cmd {
	a.session.Revealed, a.hideAt = on, a.session.Walk.Now().Add(revealTime)
	var all []tea.Cmd
	for _, s := range a.screens {
		all = append(all, s.Update(screen.SecretsToggled{}))
	}
	return tea.Batch(all...)
}

// View implements tea.Model.
func (a *App) View() string {
	if a.size.Width < 20 || a.size.Height < 8 {
		return a.cramped()
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

// cramped says that there is no room, in what room there is.
func (a *App) cramped() string {
	if a.size.Width < 1 || a.size.Height < 1 {
		return ""
	}
	lines := screen.Wrap("This terminal is too small: 20 columns and 8 rows are needed, 40 and 15 are good. ctrl+c quits.", a.size.Width)
	return strings.Join(lines[:min(len(lines), a.size.Height)], "\n")
}

// head says where the person is, and how long the token is good for.
func (a *App) head() string {
	g := a.at.Guide()
	title := fmt.Sprintf("%d/%d %s", int(a.at)+1, len(a.screens), g.Title)
	if a.history != nil {
		title = "History of this walk"
	}
	left := a.session.Theme.Title.Render(title)
	right := ""
	if token, ok := a.session.Walk.Token(); ok {
		rest := token.Remaining(a.session.Walk.Now()).Round(time.Second)
		right = fmt.Sprintf("token %d:%02d", int(rest.Minutes()), int(rest.Seconds())%60)
		if rest == 0 {
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
	left = screen.Fit(left, a.size.Width-lipgloss.Width(right)-1) // a title can be guessed, a time cannot
	gap := max(0, a.size.Width-lipgloss.Width(left)-lipgloss.Width(right))
	return left + strings.Repeat(" ", gap) + a.session.Theme.Muted.Render(right)
}

// foot shows the keys that fit; help and quit always do.
func (a *App) foot() string {
	if a.help != nil {
		how := "any key closes this"
		if above, below := a.help.More(); above+below > 0 {
			how = "↑↓ scroll  any other key closes this"
		}
		return screen.Fit(a.session.Theme.Muted.Render(how), a.size.Width)
	}
	switch {
	case a.copies.asking:
		return screen.Fit(a.session.Theme.Key.Render("Copy with the real secrets? y/n"), a.size.Width)
	case a.note != "":
		return screen.Fit(report.Plain(a.note), a.size.Width)
	}
	width, t := a.size.Width, a.session.Theme
	last, short := keyHint(t, a.keys.quit), t.Key.Render(a.keys.quit.Help().Key)
	if !a.screen().Typing() { // while typing it is a character
		help := keyHint(t, a.keys.help) + "  "
		last, short = help+last, help+short
	}
	line := ""
	for i, k := range a.screen().Keys() {
		next := line + keyHint(t, k) + "  "
		if i == 0 && lipgloss.Width(next)+lipgloss.Width(last) > width { // what leads on is seen first of all
			last = short
			next = screen.Fit(keyHint(t, k), width-lipgloss.Width(short)-2) + "  "
		}
		if lipgloss.Width(next)+lipgloss.Width(last) > width {
			break
		}
		line = next
	}
	return screen.Fit(line+last, width)
}

func keyHint(t screen.Theme, k key.Binding) string {
	return t.Key.Render(k.Help().Key) + " " + t.Muted.Render(k.Help().Desc)
}

// helpLines are all keys that mean something now.
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

// keymap are the keys that mean the same on every screen.
type keymap struct {
	back, help, jump, copy, copySecret, reveal, history, language, quit key.Binding
}

func newKeymap() keymap {
	bind := func(help, what string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, what))
	}
	var digits []string
	for n := range 10 {
		digits = append(digits, fmt.Sprint(n))
	}
	return keymap{
		back:       bind("esc", "back", "esc"),
		help:       bind("?", "help", "?"),
		jump:       bind("1…9, 0", "jump to a step", digits...),
		copy:       bind("c", "copy as curl", "c"),
		copySecret: bind("C", "copy with secrets", "C"),
		reveal:     bind("r", "reveal secrets", "r"),
		history:    bind("h", "history", "h"),
		language:   bind("l", "language", "l"),
		quit:       bind("ctrl+c", "quit", "ctrl+c"),
	}
}

// all lists them for the help.
func (k keymap) all() []key.Binding {
	return []key.Binding{k.back, k.jump, k.copy, k.copySecret, k.reveal, k.history, k.language, k.help, k.quit}
}

// copyState is what was copied last, so that the same key again writes it into a file: no terminal says whether it has a clipboard.
type copyState struct {
	key, text string
	asking    bool // whether real secrets are to be copied
}

// copyDone is what came of copying.
type copyDone struct{ note string }

// copy copies the request that is looked at as a command; real says whether with the values of secrets.
func (a *App) copy(pressed string, real bool, before copyState) tea.Cmd {
	x, ok := a.screen().Exchange()
	if !ok {
		a.note = "nothing to copy: send a request first"
		return nil
	}
	text, said := evidence.Curl(x), "copied as curl"
	if real {
		open := evidence.Curl(flow.RevealSecrets(x, a.session.Walk.Reveal))
		if open == text {
			said = "copied as curl (no secret in it)"
		} else if !before.asking && before.key != pressed {
			a.copies = copyState{asking: true}
			return nil
		} else {
			said = "copied with secrets"
		}
		text = open
	}
	again := before.key == pressed && before.text == text
	a.copies = copyState{key: pressed, text: text}
	return a.put(text, said+"; "+pressed+" again: to a file", again)
}

// put hands a text to the clipboard, or writes it to a file where there is none, or if it was handed over already.
func (a *App) put(text, said string, file bool) tea.Cmd {
	w := a.session
	sequence, ok := terminal.DetectClipboard(w.Getenv).Sequence(text)
	return func() tea.Msg {
		if ok && !file {
			if err := w.Write(sequence); err == nil {
				return copyDone{said}
			}
		}
		path, err := w.Keep(text + "\n")
		if err != nil {
			return copyDone{errors.Join(errors.New("not copied"), err).Error()}
		}
		return copyDone{"it is in " + path}
	}
}

// answer takes the answer to whether secrets are to be copied: yes is y, anything else is no.
func (a *App) answer(msg tea.KeyMsg, before copyState) tea.Cmd {
	if msg.String() == "y" {
		return a.copy("C", true, before)
	}
	a.note = "nothing was copied"
	return nil
}
