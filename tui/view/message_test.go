package view_test

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/message"
	"github.com/rin-network/rin/tui/view"
)

// pane is a message on a screen without colour, with what the tests type.
type pane struct {
	*view.Message
	size view.Size
}

// head is a small one.
func head() []message.Line {
	return []message.Line{{Kind: message.Start, Text: "HTTP/1.1 200 OK"}, {Kind: message.Header, Text: "Content-Type: application/json"}}
}

func newPane(body string) *pane {
	p := &pane{view.NewMessage(theme("none"), func() view.Secrets { return nil }), view.Size{Width: 60, Height: 14}}
	p.Show(head(), []byte(body), nil)
	p.View(p.size)
	return p
}

// seen is the screen after some keys; commands are run until there are no more. Blanks at the ends of lines are left out.
func (p *pane) seen(keys ...string) string {
	GinkgoHelper()
	for _, k := range keys {
		for cmd := p.Update(keyOf(k)); cmd != nil; {
			cmd = p.Update(cmd())
		}
		p.View(p.size)
	}
	var lines []string
	for line := range strings.SplitSeq(p.View(p.size), "\n") {
		lines = append(lines, strings.TrimRight(line, " "))
	}
	return strings.Join(lines, "\n")
}

// keyOf is the message of a key by its name, or of one character.
func keyOf(name string) tea.KeyMsg {
	named := map[string]tea.KeyType{"enter": tea.KeyEnter, "esc": tea.KeyEsc, "up": tea.KeyUp, "down": tea.KeyDown, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
		"backspace": tea.KeyBackspace, "space": tea.KeySpace, "shift+right": tea.KeyShiftRight}
	if t, ok := named[name]; ok {
		return tea.KeyMsg{Type: t}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

const small = `{"name":"F\u00f6rderung \u202e x","open":true,"list":[{"id":1,"deep":{"a":[1,2]}},{"id":2}],"none":null,"empty":{},"big":1e400}`

var _ = Describe("A message", func() {
	It("shows JSON as a tree below its head, unfolded as far as it is small", func() {
		Expect(newPane(small).seen()).To(Equal(strings.Trim(`
  HTTP/1.1 200 OK
  Content-Type: application/json

› ▾ { 6 members
      "name": "Förderung \u202e x"
      "open": true
    ▾ "list": [ 2 items
      ▾ 0: { 2 members
          "id": 1
        ▾ "deep": { 1 member
          ▾ "a": [ 2 items
              0: 1
              1: 2
      ▾ 1: { 1 member`, "\n")))
	})

	It("folds what is under the cursor, what a value stands in, and everything", func() {
		p := newPane(small)
		Expect(p.seen("down", "down", "down", "-")).To(ContainSubstring("›   ▸ \"list\": […] 2 items\n      \"none\": null"))
		Expect(p.seen("+", "down", "down", "-")).To(ContainSubstring("›     ▸ 0: {…} 2 members"), "of a number, what it stands in")
		Expect(p.seen("z")).To(ContainSubstring("›     ▾ 0: { 2 members"))
		Expect(p.seen("-", "Z")).To(ContainSubstring(`▾ "deep"`))
		Expect(p.seen("Z")).To(And(ContainSubstring("›   ▸ \"list\": […] 2 items"), Not(ContainSubstring("deep"))), "the cursor is where its value went")
	})

	It("searches without regard to case and escapes, counts, and unfolds what a hit is in", func() {
		p := newPane(small)
		p.seen("Z", "Z")
		Expect(p.seen("/", "F", "Ö", "R")).To(ContainSubstring("/FÖR▏  1 found"))
		Expect(p.seen("enter")).To(And(ContainSubstring("/FÖR  1 of 1"), ContainSubstring(`›     "name"`)))
		Expect(p.seen("/", "i", "d", "\"", "enter")).To(And(ContainSubstring("/id\"  1 of 2"), ContainSubstring(`›         "id": 1`)))
		Expect(p.seen("n")).To(And(ContainSubstring("2 of 2"), ContainSubstring(`›         "id": 2`)))
		Expect(p.seen("n")).To(ContainSubstring("1 of 2"))
		Expect(p.seen("N")).To(ContainSubstring("2 of 2"))
		Expect(p.seen("/", "H", "T", "T", "P", "enter")).To(ContainSubstring("› HTTP/1.1"), "also in the head")
		Expect(p.seen("/", "q", "x", "enter")).To(ContainSubstring("/qx  nothing found"))
		Expect(p.seen("/", "esc")).NotTo(ContainSubstring("/qx"))
	})

	It("shows the bytes as they came, and the same place in both views", func() {
		p := newPane("{\n\t\"a\": 1,\n\t\"b\": [\n1,\n2]}\n")
		Expect(p.seen("down", "down", "w")).To(ContainSubstring("›     \"b\": ["))
		Expect(p.seen("down", "w")).To(ContainSubstring("›       0: 1"))
	})
})
