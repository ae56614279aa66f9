package screen_test

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/screen"
)

// pane shows a message in a terminal of a size.
type pane struct {
	*screen.Message
	size screen.Size
}

// head returns the start line and the headers of a small response.
func head() []flow.Line {
	return []flow.Line{{Kind: flow.StartLine, Text: "HTTP/1.1 200 OK"}, {Kind: flow.HeaderLine, Text: "Content-Type: application/json"}}
}

func newPane(body string) *pane {
	p := &pane{screen.NewMessage(theme("none"), func() screen.Secrets { return nil }), screen.Size{Width: 60, Height: 14}}
	p.Show(head(), []byte(body), nil)
	p.View(p.size)
	return p
}

// viewAfter presses keys, runs the commands that follow, and returns the screen without trailing blanks.
func (p *pane) viewAfter(keys ...string) string {
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

// keyOf returns the message for a named key or for a character.
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
		Expect(newPane(small).viewAfter()).To(Equal(strings.Trim(`
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

	It("folds the selected value, its parent, and everything", func() {
		p := newPane(small)
		Expect(p.viewAfter("down", "down", "down", "-")).To(ContainSubstring("›   ▸ \"list\": […] 2 items\n      \"none\": null"))
		Expect(p.viewAfter("+", "down", "down", "-")).To(ContainSubstring("›     ▸ 0: {…} 2 members"), "a number cannot be folded, so its parent is")
		Expect(p.viewAfter("z")).To(ContainSubstring("›     ▾ 0: { 2 members"))
		Expect(p.viewAfter("-", "Z")).To(ContainSubstring(`▾ "deep"`))
		Expect(p.viewAfter("Z")).To(And(ContainSubstring("›   ▸ \"list\": […] 2 items"), Not(ContainSubstring("deep"))), "the cursor moves to the folded value that contains the selected one")
	})

	It("searches without regard to case and escapes, counts, and unfolds the values around a hit", func() {
		p := newPane(small)
		p.viewAfter("Z", "Z")
		Expect(p.viewAfter("/", "F", "Ö", "R")).To(ContainSubstring("/FÖR▏  1 found"))
		Expect(p.viewAfter("enter")).To(And(ContainSubstring("/FÖR  1 of 1"), ContainSubstring(`›     "name"`)))
		Expect(p.viewAfter("/", "i", "d", "\"", "enter")).To(And(ContainSubstring("/id\"  1 of 2"), ContainSubstring(`›         "id": 1`)))
		Expect(p.viewAfter("n")).To(And(ContainSubstring("2 of 2"), ContainSubstring(`›         "id": 2`)))
		Expect(p.viewAfter("n")).To(ContainSubstring("1 of 2"))
		Expect(p.viewAfter("N")).To(ContainSubstring("2 of 2"))
		Expect(p.viewAfter("/", "H", "T", "T", "P", "enter")).To(ContainSubstring("› HTTP/1.1"), "also in the head")
		Expect(p.viewAfter("/", "q", "x", "enter")).To(ContainSubstring("/qx  nothing found"))
		Expect(p.viewAfter("/", "esc")).NotTo(ContainSubstring("/qx"))
	})

	It("shows the bytes as they came, and the same place in both views", func() {
		p := newPane("{\n\t\"a\": 1,\n\t\"b\": [\n1,\n2]}\n")
		Expect(p.viewAfter("down", "down", "w")).To(ContainSubstring("›     \"b\": ["))
		Expect(p.viewAfter("down", "w")).To(ContainSubstring("›       0: 1"))
	})
})

// calls returns a JSON list of n funding calls, each with a token.
func calls(n int) string {
	items := make([]string, n)
	for i := range items {
		items[i] = fmt.Sprintf(`{"id":"call-%d","title":{"de":"Förderung %d","en":"Funding call %d"},"open":%v,"amount":%d.50,"contact":null,"token":"[[access_token:1f2e3d4c:plain]]"}`, i, i, i, i%2 == 0, i*100)
	}
	return `{"items":[` + strings.Join(items, ",") + `],"next":"/fundings?page=` + strings.Repeat("1", 150) + `"}`
}

var _ = Describe("A large message", func() {
	It("opens unfolded as far as its rows stay few, and unfolds around a hit", func() {
		p := newPane(calls(200))
		p.Show(head(), []byte(calls(200)), nil)
		Expect(p.viewAfter()).To(And(ContainSubstring(`▾ "items": [ 200 items`), ContainSubstring(`▸ 0: {…} 6 members`)))
		Expect(p.viewAfter("/", "c", "a", "l", "l", " ", "1", "5", "0", "enter")).To(And(ContainSubstring("/call 150  1 of 1"), ContainSubstring(`›           "en": "Funding call 150"`)))
		Expect(p.viewAfter("home", "/", "a", "l", "l", "-", "enter")).To(ContainSubstring("1 of 200  n next  N previous"))
		Expect(p.viewAfter("N")).To(And(ContainSubstring("200 of 200"), ContainSubstring(`›         "id": "call-199"`)))
	})

	It("continues a search in the background, and drops the hits of an earlier query", func() {
		p := newPane(string(large()))
		first := p.typeText("/", "c", "a", "l", "l", "-")
		Expect(first).NotTo(BeNil())
		Expect(p.View(p.size)).To(MatchRegexp(`/call-▏  \d\d\+ found`))
		stale := first()
		second := p.typeText("1", "0", "0", "0")
		Expect(p.Update(stale)).To(BeNil())
		for cmd := second; cmd != nil; {
			cmd = p.Update(cmd())
		}
		Expect(p.View(p.size)).To(MatchRegexp(`/call-1000▏  [1-9]\d* found`))
		Expect(p.viewAfter("enter")).To(ContainSubstring(`"id": "call-1000"`))
	})

	It("finds a text that crosses two slices of the search", func() {
		body := strings.Repeat("x", 16<<10-3) + "needle"
		Expect(newPane(body).viewAfter("/", "n", "e", "e", "d", "l", "e", "enter")).To(ContainSubstring("1 of 1"))
	})

	It("scrolls sideways to the end of the longest row, and back", func() {
		p := newPane(calls(1))
		p.viewAfter("end")
		Expect(p.viewAfter()).To(ContainSubstring(`›     "next": "/fundings?page=11111111111111111111111111111…`))
		Expect(p.viewAfter(">")).To(ContainSubstring("› …1111111"))
		for range 20 {
			p.viewAfter(">")
		}
		Expect(p.viewAfter()).To(And(ContainSubstring(`11"`), Not(ContainSubstring("1…"))))
		for range 20 {
			p.viewAfter("<")
		}
		Expect(p.viewAfter()).To(ContainSubstring(`›     "next": "/fundings`))
	})

	It("scrolls to a hit that is far to the right", func() {
		p := newPane(`{"text":"` + strings.Repeat("x", 300) + `needle"}`)
		Expect(p.viewAfter("/", "n", "e", "e", "d", "l", "e", "enter")).To(ContainSubstring(`xneedle"`))
		p = newPane(`{"text":"needle` + strings.Repeat("x", 300) + `Needle"}`)
		Expect(p.viewAfter("/", "n", "e", "e", "d", "l", "e", "enter")).To(ContainSubstring(`"needlex`))
		Expect(p.viewAfter("n")).To(And(ContainSubstring(`xNeedle"`), ContainSubstring("2 of 2")), "in the same row")
	})

	It("keeps escapes that would act on a terminal", func() {
		Expect(newPane(`{"x":"\u001b[2J\u0041\/\"\\\ud83d\ude00\ud800"}`).viewAfter()).To(ContainSubstring(`"x": "\u001b[2JA/\"\\😀\ud800"`))
	})

	It("stays at a value of a one-line document when it is shown as text", func() {
		p := newPane(calls(1))
		p.viewAfter("end")
		Expect(p.viewAfter("w")).To(MatchRegexp(`› ….*"next":"/fund`))
		Expect(p.viewAfter("w")).To(ContainSubstring(`›     "next": "/fundings`))
	})

	It("shows a body as text if it is not JSON or nested too deeply", func() {
		p := newPane("<html>\r\n<b>x</b>\x1b[2J\n" + strings.Repeat("y", 2500))
		Expect(p.viewAfter()).To(ContainSubstring("› <html>\n  <b>x</b>\\x1b[2J\n  yyy"))
		Expect(p.viewAfter("w", "Z", "z", "-", "+")).To(ContainSubstring("› <html>"))
		Expect(newPane(strings.Repeat("[", 10_100) + strings.Repeat("]", 10_100)).viewAfter()).To(ContainSubstring("› [[[[["))
		deep := newPane(strings.Repeat("[", 9_000) + strings.Repeat("]", 9_000))
		Expect(deep.viewAfter("Z", "end")).To(ContainSubstring("(8999 deep) 0: []"))
	})

	It("matches its golden", func() {
		var all strings.Builder
		for _, width := range []int{40, 80, 120} {
			for _, kind := range []string{"none", "dark", "light"} {
				revealed := false
				p := &pane{screen.NewMessage(theme(kind), func() screen.Secrets {
					if revealed {
						return func(string) string { return "open-sesame" }
					}
					return nil
				}), screen.Size{Width: width, Height: 18}}
				p.Show(head(), []byte(calls(2)), []flow.Line{{Kind: flow.NoteLine, Text: "(cut: the content is longer than 9 bytes)"}})
				for _, state := range [][]string{{"tree"}, {"folded", "down", "down", "z"}, {"searched", "Z", "/", "c", "a", "l", "l", "enter", "n"}, {"as text", "w"}} {
					fmt.Fprintf(&all, "── %d %s, %s ──\n%s\n", width, kind, state[0], strings.ReplaceAll(p.viewAfter(state[1:]...), "\x1b", "␛"))
				}
				revealed = true
				fmt.Fprintf(&all, "── %d %s, revealed ──\n%s\n", width, kind, strings.ReplaceAll(p.viewAfter("w"), "\x1b", "␛"))
			}
		}
		if os.Getenv("RIN_UPDATE_GOLDEN") != "" {
			Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
			Expect(os.WriteFile("testdata/message.txt", []byte(all.String()), 0o644)).To(Succeed())
		}
		want, err := os.ReadFile("testdata/message.txt")
		Expect(err).NotTo(HaveOccurred())
		Expect(all.String()).To(Equal(string(want)), "RIN_UPDATE_GOLDEN=1 writes testdata/message.txt")
	})
})

// typeText presses keys, and returns the command of the last one without running any.
func (p *pane) typeText(keys ...string) (last tea.Cmd) {
	for _, k := range keys {
		last = p.Update(keyOf(k))
		p.View(p.size)
	}
	return last
}

// theme returns the theme for a terminal that is "dark" or "light", or has no colours ("none").
func theme(kind string) screen.Theme {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetHasDarkBackground(kind != "light")
	r.SetColorProfile(map[bool]termenv.Profile{true: termenv.ANSI256, false: termenv.Ascii}[kind != "none"])
	return screen.NewTheme(r)
}
