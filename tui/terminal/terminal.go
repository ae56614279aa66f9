// Package terminal knows the terminal of the tour: its colours, its background, its keyboard and its clipboard.
//
// Only the terminal itself knows whether its background is light, and not every terminal answers, or answers at once. So the query is sent
// before Bubble Tea starts, the wait is bounded, and neither a late answer nor an early key is lost.
package terminal

import (
	"bytes"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/aymanbagabas/go-osc52/v2"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Wait is how long Open waits for the terminal's answer: long enough for a distant connection, short enough for a person.
const Wait = 150 * time.Millisecond

// Open opens the keyboard of a terminal. If the terminal shows colours, Open queries its background; COLORFGBG is the fallback. The
// caller closes the keyboard.
func Open(in *os.File, out io.Writer, colored bool, getenv func(string) (string, bool)) (*Keyboard, Background, error) {
	k, err := newKeyboard(in)
	if err != nil || !colored {
		return k, Unknown, err
	}
	if kind, _ := getenv("TERM"); isQueryable(kind) {
		_ = k.query(out, Wait) // without an answer the background stays unknown
	}
	if k.answers.background != Unknown {
		return k, k.answers.background, nil
	}
	hint, _ := getenv("COLORFGBG")
	return k, backgroundHint(hint), nil
}

// Renderer makes the renderer of styles. If colored is set, out must be a terminal; the environment says how many colours it has. Without
// WithTTY, termenv would take a terminal for a file wherever the variable CI is set.
func Renderer(out io.Writer, colored bool, background Background) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(background != Light)
	profile := termenv.Ascii
	if colored {
		profile = termenv.NewOutput(out, termenv.WithTTY(true)).EnvColorProfile()
	}
	r.SetColorProfile(profile)
	return r
}

// Background is the brightness of the terminal's background.
type Background int

// An unknown background is treated as dark, because most are, and light colours are readable on many.
const (
	Unknown Background = iota
	Dark
	Light
)

// backgroundHint reads COLORFGBG, which some terminals set to their two colours, such as 15;0. It may be outdated, so the terminal's own
// answer has precedence.
func backgroundHint(value string) Background {
	switch value[strings.LastIndexByte(value, ';')+1:] {
	case "0", "1", "2", "3", "4", "5", "6", "8":
		return Dark
	case "7", "9", "10", "11", "12", "13", "14", "15":
		return Light
	}
	return Unknown
}

// isQueryable reports whether a kind of terminal answers queries. The Linux console would draw a part of the query instead.
func isQueryable(kind string) bool { return kind != "" && kind != "dumb" && kind != "linux" }

// backgroundQuery asks for the background colour (xterm's OSC 11) and then for the terminal's attributes (DA1 of ECMA-48). Every terminal
// answers the second query, and answers in order, so after that answer there is nothing to wait for.
const backgroundQuery = "\x1b]11;?\a\x1b[c"

// maxAnswer is the size limit of an answer; the longest colour needs half of it.
const maxAnswer = 64

// listener separates the answers of a terminal from the keys that a person types.
type listener struct {
	background Background
	// finished is set after the last answer.
	finished bool
	held     []byte // input that may be the beginning of an answer
}

// feed takes input of the terminal and returns what was typed.
func (l *listener) feed(input []byte) (typed []byte) {
	input = append(l.held, input...)
	l.held = nil
	for len(input) > 0 {
		at := bytes.IndexByte(input, '\x1b')
		if at < 0 {
			return append(typed, input...)
		}
		typed, input = append(typed, input[:at]...), input[at:]
		length, complete := l.answer(input)
		switch {
		case complete:
			input = input[length:]
		case length > 0:
			l.held = bytes.Clone(input)
			return typed
		default:
			typed, input = append(typed, input[0]), input[1:]
		}
	}
	return typed
}

// release stops waiting for the rest of an answer and returns the held input as typed. It drops a colour that lacks only
// the second half of its string terminator (ESC \).
func (l *listener) release() (typed []byte) {
	typed, l.held = l.held, nil
	if _, complete := l.answer(append(bytes.Clone(typed), '\\')); complete {
		return nil
	}
	return typed
}

// answer looks for an answer at the beginning of the input. Its length is 0 if there is none; complete is false if the rest has not arrived
// yet.
func (l *listener) answer(input []byte) (length int, complete bool) {
	const color, attributes = "\x1b]11;", "\x1b[?"
	short := input[:min(len(input), maxAnswer)]
	switch {
	case bytes.HasPrefix(input, []byte(color)):
		end := bytes.IndexAny(short[len(color):], "\a\x1b")
		if end < 0 {
			return incompleteLength(input), false
		}
		after := len(color) + end
		if short[after] == '\x1b' { // the string terminator is ESC \; some terminals leave the second half out
			if after+1 == len(input) {
				return len(input), false
			}
			if input[after+1] == '\\' {
				after++
			}
		}
		l.setBackground(string(short[len(color) : len(color)+end]))
		return after + 1, true
	case bytes.HasPrefix(input, []byte(attributes)) && !l.finished:
		end := bytes.IndexFunc(short[len(attributes):], func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if end < 0 {
			return incompleteLength(input), false
		}
		if short[len(attributes)+end] != 'c' {
			return 0, false
		}
		l.finished = true
		return len(attributes) + end + 1, true
	case strings.HasPrefix(color, string(input)) && !(l.finished && len(input) == 1), strings.HasPrefix(attributes, string(input)) && !l.finished:
		return len(input), false // after the last answer, a lone escape is a key
	}
	return 0, false
}

// incompleteLength returns the length of an incomplete answer, 0 if the input is too long for an answer.
func incompleteLength(input []byte) int {
	if len(input) >= maxAnswer {
		return 0
	}
	return len(input)
}

// setBackground sets the background from a colour such as rgb:1e1e/1e1e/2e2e.
func (l *listener) setBackground(color string) {
	kind, value, _ := strings.Cut(color, ":")
	parts := strings.Split(value, "/")
	if (kind != "rgb" && kind != "rgba") || len(parts) < 3 {
		return
	}
	brightness := 0.0
	for i, weight := range [...]float64{0.299, 0.587, 0.114} { // of ITU-R BT.601
		n, err := strconv.ParseUint(parts[i], 16, 16)
		if err != nil {
			return
		}
		brightness += weight * float64(n) / float64(uint(1)<<(4*len(parts[i]))-1)
	}
	l.background = Dark
	if brightness > 0.5 {
		l.background = Light
	}
}

// MaxClipboardText is the size limit in bytes that every terminal with a clipboard accepts.
const MaxClipboardText = 74_994

// Clipboard describes how to reach the clipboard of the terminal with OSC 52, which works through SSH and, if their settings allow it,
// through tmux and screen.
type Clipboard struct {
	// Tmux and Screen are set if the session runs in one of them.
	Tmux, Screen bool
	// Bare is set for a terminal without a clipboard, such as the Linux console.
	Bare bool
}

// DetectClipboard reads the environment.
func DetectClipboard(getenv func(string) (string, bool)) Clipboard {
	term, _ := getenv("TERM")
	tmux, _ := getenv("TMUX")
	t := Clipboard{Tmux: tmux != "", Bare: term == "" || term == "dumb" || term == "linux"}
	t.Screen = !t.Tmux && strings.HasPrefix(term, "screen")
	return t
}

// Sequence returns the control sequence that copies a text; ok is false if there is no clipboard or the text is too long. Terminals do
// not confirm it.
func (t Clipboard) Sequence(text string) (sequence string, ok bool) {
	if t.Bare || len(text) > MaxClipboardText {
		return "", false
	}
	plain := osc52.New(text)
	switch {
	case t.Tmux: // its settings set-clipboard and allow-passthrough decide which of the two works
		return plain.String() + plain.Tmux().String(), true
	case t.Screen:
		return plain.Screen().String(), true
	}
	return plain.String(), true
}
