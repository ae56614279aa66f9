package tuitest

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
)

var (
	style = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	jwt   = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{20}`)
	// unsafeCharacters matches control characters, and characters that reverse or hide text.
	unsafeCharacters = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}]`)
)

// CheckFits checks that a frame fits its room.
func CheckFits(t testing.TB, frame string, room screen.Size) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) > max(1, room.Height) {
		t.Errorf("expected at most %d lines, got %d:\n%s", room.Height, len(lines), frame)
	}
	for _, line := range lines {
		if width := lipgloss.Width(line); width > room.Width {
			t.Errorf("at %d×%d: a line of %d columns: %q", room.Width, room.Height, width, line)
		}
	}
}

// StripStyles removes the styles from a text.
func StripStyles(text string) string {
	return style.ReplaceAllString(text, "")
}

// CheckHarmless checks that a text has no control sequences except styles, and no characters that reverse or hide text.
func CheckHarmless(t testing.TB, text string) {
	t.Helper()
	if found := unsafeCharacters.FindString(StripStyles(text)); found != "" {
		t.Errorf("%q is in %q", found, text)
	}
}

// CheckNoSecrets checks that a text has no secret of these clients and no token of this walk.
func CheckNoSecrets(t testing.TB, text string, clients []sandbox.Credential, w *flow.Walk) {
	t.Helper()
	for _, secret := range secretParts(clients, w) {
		if strings.Contains(text, secret) {
			t.Errorf("a piece of a secret, %q, is in\n%s", secret, text)
		}
	}
	if token := Token(text); token != "" {
		t.Errorf("a token, %q, is in\n%s", token, text)
	}
}

// Token returns the beginning of a JWT in a text, or "". It decodes each candidate, because a key or an entity tag may begin in the same way
// by accident.
func Token(text string) string {
	for _, start := range jwt.FindAllString(text, -1) {
		content, err := base64.RawURLEncoding.DecodeString(start[:len(start)/4*4])
		if err == nil && !strings.ContainsFunc(string(content), func(r rune) bool { return r < ' ' || r > '~' }) {
			return start
		}
	}
	return ""
}

// secretParts returns parts of secrets: too long to occur by accident, short enough to be found in a truncated line.
func secretParts(clients []sandbox.Credential, w *flow.Walk) (all []string) {
	const long = 12
	for _, c := range clients {
		all = append(all, c.Secret[:long], c.Secret[len(c.Secret)-long:])
	}
	if token, ok := w.Token(); ok {
		all = append(all, token.Value[len(token.Value)-long:])
	}
	return all
}

// Golden compares a text with testdata/NAME.txt. RIN_UPDATE_GOLDEN=1 updates the file.
func Golden(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if os.Getenv("RIN_UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatalf("accept a golden: %v", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatalf("accept a golden: %v", err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read a golden: %v; RIN_UPDATE_GOLDEN=1 writes it", err)
	}
	if text == string(want) {
		return
	}
	got, accepted := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(accepted)) {
		if a, b := line(got, i), line(accepted, i); a != b {
			t.Fatalf("%s differs in line %d:\nexpected %s\ngot      %s\nRIN_UPDATE_GOLDEN=1 accepts all of\n%s", path, i+1, b, a, text)
		}
	}
}

// line quotes a line for a message.
func line(lines []string, i int) string {
	if i >= len(lines) {
		return "no such line"
	}
	return fmt.Sprintf("%q", lines[i])
}

// Picture formats a frame for a golden: with its size and colours, visible escapes, and no spaces at line ends.
func Picture(size screen.Size, colours, frame string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "── %d×%d %s ──\n", size.Width, size.Height, colours)
	for line := range strings.Lines(frame + "\n") {
		out.WriteString(strings.TrimRight(strings.ReplaceAll(line, "\x1b", "␛"), " \n") + "\n")
	}
	return out.String()
}

// FixPort replaces the port of the node by a fixed one of the same length.
func FixPort(text string) string { return port.ReplaceAllString(text, "1:10001") }

var port = regexp.MustCompile(`1:\d{5}`)

// NewTheme makes a theme without colours.
func NewTheme() screen.Theme {
	t := screen.NewTheme(lipgloss.NewRenderer(io.Discard))
	SetColours(t, "none")
	return t
}

// Colours lists the kinds of terminals for [SetColours].
func Colours() []string { return []string{"none", "dark", "light"} }

// SetColours sets the kind of terminal of a theme.
func SetColours(t screen.Theme, name string) {
	t.Renderer.SetHasDarkBackground(name == "dark")
	t.Renderer.SetColorProfile(termenv.ANSI256)
	if name == "none" {
		t.Renderer.SetColorProfile(termenv.Ascii)
	}
}

// Key returns the key with a name of Bubble Tea, such as "enter" or "shift+tab"; any other text is typed.
func Key(name string) tea.KeyMsg {
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(name)}
	}
	for kind := tea.KeyType(-120); kind < 130; kind++ {
		if kind != tea.KeyRunes && kind != tea.KeySpace && kind.String() == name && name != "" {
			return tea.KeyMsg{Type: kind}
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// commandTimeout bounds the wait for commands that never end.
const commandTimeout = 3 * time.Minute

// Commands runs commands concurrently, as a Bubble Tea program does. One goroutine receives their messages.
type Commands struct {
	messages chan tea.Msg
	open     atomic.Int64
}

// NewCommands starts a command.
func NewCommands(first tea.Cmd) *Commands {
	c := &Commands{messages: make(chan tea.Msg)}
	c.Start(first)
	return c
}

// Start starts another command. It skips commands that only wait, because tests move the clock themselves.
func (c *Commands) Start(cmd tea.Cmd) {
	if cmd == nil || isTimer(cmd) {
		return
	}
	c.open.Add(1)
	go func() {
		msg := cmd()
		batch, _ := msg.(tea.BatchMsg)
		for _, cmd := range batch {
			c.Start(cmd)
		}
		c.messages <- msg
	}()
}

// isTimer reports whether a command is a blinking cursor or a tick. Only the name of its function shows that; if the name changes, tests get
// slower.
func isTimer(cmd tea.Cmd) bool {
	name := runtime.FuncForPC(reflect.ValueOf(cmd).Pointer()).Name()
	return strings.Contains(name, "BlinkCmd.func") || strings.Contains(name, "Tick.func")
}

// Next returns the next message; ok is false when all commands have ended.
func (c *Commands) Next(t testing.TB) (msg tea.Msg, ok bool) {
	t.Helper()
	timeout := time.NewTimer(commandTimeout)
	defer timeout.Stop()
	for c.open.Load() > 0 {
		select {
		case msg = <-c.messages:
		case <-timeout.C:
			t.Fatalf("%d commands did not end within %s", c.open.Load(), commandTimeout)
		}
		c.open.Add(-1)
		if _, several := msg.(tea.BatchMsg); !several && msg != nil {
			return msg, true
		}
	}
	return nil, false
}

// Settle runs a command and all commands that follow from it. update hands a message to the tour.
func Settle(t testing.TB, first tea.Cmd, update func(tea.Msg) tea.Cmd) {
	t.Helper()
	all := NewCommands(first)
	for msg, ok := all.Next(t); ok; msg, ok = all.Next(t) {
		all.Start(update(msg))
	}
}
