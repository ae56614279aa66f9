// Package terminal knows the terminal that the tour is shown on: its colours and its background.
//
// Whether the background is light can only be asked, and not every terminal answers, nor at once: the question is put before Bubble Tea
// starts, the wait has a bound, and neither an answer that comes late nor a key that comes early is lost to the other side.
//
// Package terminal writes what puts a text into the clipboard of the terminal that a person sits at: OSC 52, which goes through SSH, and
// through tmux and screen where they let it.
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

// Wait is how long a terminal is waited for: long enough for a connection around half the world, short enough for a person.
const Wait = 150 * time.Millisecond

// Open makes a terminal's keyboard. A terminal that shows colours is asked for its background; the environment knows what else is known.
// Who opened it closes it.
func Open(in *os.File, out io.Writer, colored bool, getenv func(string) (string, bool)) (*Keyboard, Background, error) {
	k, err := newKeyboard(in)
	if err != nil || !colored {
		return k, Unknown, err
	}
	if kind, _ := getenv("TERM"); isQueryable(kind) {
		_ = k.ask(out, Wait) // a terminal that cannot be asked is drawn on as well
	}
	if k.said.background != Unknown {
		return k, k.said.background, nil
	}
	hint, _ := getenv("COLORFGBG")
	return k, backgroundHint(hint), nil
}

// Renderer draws for a terminal. colored says whether it may use colours at all; which, the environment says.
func Renderer(out io.Writer, colored bool, on Background) *lipgloss.Renderer {
	r := lipgloss.NewRenderer(out)
	r.SetHasDarkBackground(on != Light)
	profile := termenv.Ascii
	if colored {
		profile = termenv.NewOutput(out).EnvColorProfile()
	}
	r.SetColorProfile(profile)
	return r
}

// Background is what colours are drawn on.
type Background int

// The kinds of background. Of an unknown one dark is the better guess: most are, and light colours are readable on many.
const (
	Unknown Background = iota
	Dark
	Light
)

// backgroundHint is the background by COLORFGBG, which some terminals set to the numbers of the two colours, such as 15;0. A terminal's own answer
// is better: the variable goes stale where a session moves.
func backgroundHint(value string) Background {
	switch value[strings.LastIndexByte(value, ';')+1:] {
	case "0", "1", "2", "3", "4", "5", "6", "8":
		return Dark
	case "7", "9", "10", "11", "12", "13", "14", "15":
		return Light
	}
	return Unknown
}

// isQueryable tells whether a kind of terminal is worth a question: the console of Linux draws a part of it instead.
func isQueryable(kind string) bool { return kind != "" && kind != "dumb" && kind != "linux" }

// backgroundQuery asks for the colour of the background (xterm's OSC 11) and then for the terminal's attributes (DA1 of ECMA-48). Every terminal
// isQueryable the second, and answers in order: with that answer there, nobody has to wait for the first any longer.
const backgroundQuery = "\x1b]11;?\a\x1b[c"

// maxAnswer bounds what is taken for an answer: the longest colour has half of it.
const maxAnswer = 64

// listener parts the answers of a terminal from what the person types, who may be faster.
type listener struct {
	background Background
	// complete tells that the last answer is there.
	complete bool
	held     []byte // the beginning of what may be an answer
}

// hear takes what came from the terminal and returns what was typed.
func (l *listener) hear(input []byte) (typed []byte) {
	input = append(l.held, input...)
	l.held = nil
	for len(input) > 0 {
		at := bytes.IndexByte(input, '\x1b')
		if at < 0 {
			return append(typed, input...)
		}
		typed, input = append(typed, input[:at]...), input[at:]
		length, whole := l.answer(input)
		switch {
		case whole:
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

// release gives up waiting for the rest of an answer. What is held was typed, then, unless the half of its last sign alone is missing.
func (l *listener) release() (typed []byte) {
	typed, l.held = l.held, nil
	if _, whole := l.answer(append(bytes.Clone(typed), '\\')); whole {
		return nil
	}
	return typed
}

// answer looks whether the input begins with an answer. Its length is 0 when it does not; it is not whole when the rest is yet to come.
func (l *listener) answer(input []byte) (length int, whole bool) {
	const color, attributes = "\x1b]11;", "\x1b[?"
	short := input[:min(len(input), maxAnswer)]
	switch {
	case bytes.HasPrefix(input, []byte(color)):
		end := bytes.IndexAny(short[len(color):], "\a\x1b")
		if end < 0 {
			return unfinished(input), false
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
		l.tell(string(short[len(color) : len(color)+end]))
		return after + 1, true
	case bytes.HasPrefix(input, []byte(attributes)) && !l.complete:
		end := bytes.IndexFunc(short[len(attributes):], func(r rune) bool { return r != ';' && (r < '0' || r > '9') })
		if end < 0 {
			return unfinished(input), false
		}
		if short[len(attributes)+end] != 'c' {
			return 0, false
		}
		l.complete = true
		return len(attributes) + end + 1, true
	case strings.HasPrefix(color, string(input)) && !(l.complete && len(input) == 1), strings.HasPrefix(attributes, string(input)) && !l.complete:
		return len(input), false // a lone escape is a key once no answer is due
	}
	return 0, false
}

// unfinished is the length of an answer whose end is not there yet. What grows too long is none.
func unfinished(input []byte) int {
	if len(input) >= maxAnswer {
		return 0
	}
	return len(input)
}

// tell notes the background from a colour such as rgb:1e1e/1e1e/2e2e.
func (l *listener) tell(color string) {
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

// MaxClipboardText is how many bytes of text the most careful terminals take.
const MaxClipboardText = 74_994

// Clipboard is what is known of the terminal from the environment.
type Clipboard struct {
	// Tmux and Screen tell that one of them stands between.
	Tmux, Screen bool
	// Bare tells of a terminal without a clipboard, such as the console of Linux.
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

// Sequence is what to write to the terminal; ok is false where that is of no use. No terminal answers it: whether the text arrived, only
// the person knows.
func (t Clipboard) Sequence(text string) (sequence string, ok bool) {
	if t.Bare || len(text) > MaxClipboardText {
		return "", false
	}
	plain := osc52.New(text)
	switch {
	case t.Tmux: // it takes the one or lets the other through, by its settings set-clipboard and allow-passthrough
		return plain.String() + plain.Tmux().String(), true
	case t.Screen:
		return plain.Screen().String(), true
	}
	return plain.String(), true
}
