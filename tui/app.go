// Package tui is the tour in a terminal. It walks a person from the registry to the first funding call, one step at a time, with real requests.
//
// [App] keeps the current step, the size of the terminal, help, history and the countdown of the token. Package screen has a screen for each
// step, and package flow does the work of the steps. The application starts no node and speaks no HTTP itself.
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
	tea "github.com/charmbracelet/bubbletea"
	"golang.org/x/term"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/terminal"
)

// ErrBroken says that the tour ended because of an error of its own.
var ErrBroken = errors.New("the tour broke off")

// Run shows the tour on a terminal until the person leaves the tour, and then restores
// the terminal.
func Run(ctx context.Context, session *screen.Session, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // cancels actions that are still running
	session.Context = ctx
	session.Write = func(sequence string) error { // os.File does not interleave writes, so the sequence never lands inside a frame
		_, err := io.WriteString(out, sequence)
		return err
	}
	app := New(session)
	if file, ok := out.(*os.File); ok { // Bubble Tea reports the size only after the first frame
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

// revealTime is how long secrets stay visible.
const revealTime = 10 * time.Second

// App is the tour as a Bubble Tea model.
type App struct {
	session *screen.Session
	screens []screen.Screen
	step    flow.Step
	size    screen.Size
	keys    keymap
	help    *screen.Pane // nil while it is closed
	note    string       // the answer to the last key; the next key removes it
	hideAt  time.Time
	history *screen.History // nil while it is closed
	copied  copyState
}

// New makes the tour of a session.
func New(session *screen.Session) *App {
	return &App{session: session, screens: screen.Screens(session), keys: newKeymap(), size: screen.Size{Width: 80, Height: 24}}
}

// tick is sent every second, for the countdown of the token and to hide secrets.
type tick time.Time

func everySecond() tea.Cmd {
	return tea.Tick(time.Second, func(t time.Time) tea.Msg { return tick(t) })
}

// Init implements [tea.Model].
func (a *App) Init() tea.Cmd { return tea.Batch(a.screen().Open(), everySecond()) }

// screen returns the visible screen.
func (a *App) screen() screen.Screen {
	if a.history != nil {
		return a.history
	}
	return a.screens[a.step]
}

// Update implements [tea.Model].
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		a.size = screen.Size{Width: msg.Width, Height: msg.Height}
		return a, nil
	case tick:
		if a.session.Revealed && !a.session.Walk.Now().Before(a.hideAt) {
			return a, tea.Batch(a.reveal(false), everySecond())
		}
		return a, tea.Batch(a.screen().Update(screen.Tick{}), everySecond())
	case screen.NextStep:
		if int(a.step) == len(a.screens)-1 {
			return a, tea.Quit
		}
		return a, a.goTo(a.step + 1)
	case screen.GoToStep:
		open := a.goTo(msg.To)
		if msg.Edit {
			return a, tea.Batch(open, a.screen().Update(screen.OpenEditor{}))
		}
		return a, open
	case screen.ActionDone:
		return a, a.screens[msg.Step].Update(msg)
	case screen.SuiteProgress:
		return a, a.screens[flow.Certify].Update(msg)
	case copyDone:
		a.note = msg.note
		return a, nil
	case tea.KeyMsg:
		return a, a.updateKeys(msg)
	}
	return a, a.screen().Update(msg)
}

// updateKeys handles keys that arrived together, as over a slow connection, one after the other. A pasted text stays one message.
func (a *App) updateKeys(msg tea.KeyMsg) tea.Cmd {
	if msg.Type != tea.KeyRunes || msg.Paste || msg.Alt || len(msg.Runes) < 2 {
		return a.updateKey(msg)
	}
	var commands []tea.Cmd
	for _, r := range msg.Runes {
		commands = append(commands, a.updateKey(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}))
	}
	return tea.Batch(commands...)
}

// updateKey handles the keys of the application, and hands other keys to the screen.
func (a *App) updateKey(msg tea.KeyMsg) tea.Cmd {
	previous := a.copied
	a.note, a.copied = "", copyState{}
	switch {
	case key.Matches(msg, a.keys.quit):
		return tea.Quit
	case previous.needsConsent:
		return a.answerConsent(msg, previous)
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
		return a.copy("c", false, previous)
	case key.Matches(msg, a.keys.copySecret):
		return a.copy("C", true, previous)
	case key.Matches(msg, a.keys.back):
		if a.step > 0 {
			return a.goTo(a.step - 1)
		}
	case key.Matches(msg, a.keys.jump):
		return a.goTo(flow.Step(strings.Index(jumpKeys, msg.String())))
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

// jumpKeys lead to the steps, in their order.
const jumpKeys = "1234567890-"

func (a *App) goTo(s flow.Step) tea.Cmd {
	a.step, a.history = s, nil
	return a.screen().Open()
}

// reveal shows secrets for some seconds, or hides them.
func (a *App) reveal(on bool) tea.Cmd {
	a.session.Revealed, a.hideAt = on, a.session.Walk.Now().Add(revealTime)
	var commands []tea.Cmd
	for _, s := range a.screens {
		commands = append(commands, s.Update(screen.SecretsToggled{}))
	}
	return tea.Batch(commands...)
}

// copyState is the last copied text. The same key again writes it to a file, because no terminal says whether it has a clipboard.
type copyState struct {
	key, text    string
	needsConsent bool // the person is asked whether to copy real secrets
}

// copyDone reports that copying has ended; note is the message for the person.
type copyDone struct{ note string }

// copy copies the visible request as a curl command; withSecrets replaces the markers by the secrets. previous is the state before this key.
func (a *App) copy(pressed string, withSecrets bool, previous copyState) tea.Cmd {
	x, ok := a.screen().Exchange()
	if !ok {
		a.note = "nothing to copy: send a request first"
		return nil
	}
	text, note := evidence.Curl(x), "copied as curl"
	if withSecrets {
		revealed := evidence.Curl(flow.RevealSecrets(x, a.session.Walk.Reveal))
		switch {
		case revealed == text:
			note = "copied as curl (it has no secret)"
		case !previous.needsConsent && previous.key != pressed:
			a.copied = copyState{needsConsent: true}
			return nil
		default:
			note = "copied with secrets"
		}
		text = revealed
	}
	isRepeated := previous.key == pressed && previous.text == text
	a.copied = copyState{key: pressed, text: text}
	return a.put(text, note+"; "+pressed+" again: to a file", isRepeated)
}

// put writes a text to the clipboard, or to a file if there is no clipboard.
func (a *App) put(text, note string, toFile bool) tea.Cmd {
	session := a.session
	sequence, ok := terminal.DetectClipboard(session.Getenv).Sequence(text)
	return func() tea.Msg {
		if ok && !toFile {
			if err := session.Write(sequence); err == nil {
				return copyDone{note}
			}
		}
		path, err := session.Keep(text + "\n")
		if err != nil {
			return copyDone{errors.Join(errors.New("not copied"), err).Error()}
		}
		return copyDone{"written to " + path}
	}
}

// answerConsent handles the answer to the question whether to copy secrets: y means yes, any other key means no.
func (a *App) answerConsent(msg tea.KeyMsg, previous copyState) tea.Cmd {
	if msg.String() == "y" {
		return a.copy("C", true, previous)
	}
	a.note = "nothing was copied"
	return nil
}
