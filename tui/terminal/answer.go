package terminal

import (
	"bytes"
	"strconv"
	"strings"
)

// question asks for the colour of the background (xterm's OSC 11) and then for the terminal's attributes (DA1 of ECMA-48). Every terminal
// answers the second, and answers in order: with that answer there, nobody has to wait for the first any longer.
const question = "\x1b]11;?\a\x1b[c"

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
