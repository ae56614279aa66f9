package screen_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/tui/screen"
)

// hostile returns bodies that are invalid, very large or deeply nested, or that have control characters.
func hostile() []string {
	return []string{
		small, "", "null", `[]`, `{}`, `[[]]`, `[1,]`, `{"a":1,}`, `[,]`, `{"a"}`, `{"a":}`, `"\u12"`, `[1]]`, `[`, `{"`, `[01]`, `[-]`, `[1.]`, `[1e]`, `["\x"]`, "[\"\n\"]",
		strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999), strings.Repeat("[", 10_001), strings.Repeat(`{"a":`, 500) + "1" + strings.Repeat("}", 500),
		`{"a":1,"a":2,"a":{"a":3}}`, "{\"\xff\xfe\":\"\xc3\"}", "{\"\u202eabc\u200b\":\"\u2066x\x7f\u009b31m\"}", `{"\u001b[2J":"\u001b]0;title\u0007","x":"\ud800","y":"\ud83d\ude00"}`,
		"[" + strings.Repeat("9", 5000) + "]", "<html>\x1b[2J\x1b[1;1H</html>\r\n\ttab", "[\"[[client_secret:1f2e3d4c:plain]]\",\"[[client_secret:1f2e3d4c:\"]",
		strings.Repeat("x", 990) + "[[client_secret:1f2e3d4c:plain]]" + strings.Repeat("ü", 3000), "{\"" + strings.Repeat("n", 9000) + "\":\"" + strings.Repeat("世", 9000) + "\"}", "\xff\xff\xff\xff",
	}
}

// FuzzMessage opens a body, presses random keys, and checks the size and the characters of every screen.
func FuzzMessage(f *testing.F) {
	for i, body := range hostile() {
		f.Add([]byte(body), uint64(i))
	}
	keys := []string{"up", "down", "pgdown", "home", "end", "-", "+", "z", "Z", "w", "<", ">", "n", "N", "/", "a", "\"", "[", "\x1b[2J", "enter", "esc", "backspace", "space"}
	f.Fuzz(func(t *testing.T, body []byte, seed uint64) {
		random := rand.New(rand.NewPCG(seed, seed))
		revealed := false
		m := screen.NewMessage(theme("none"), func() screen.Secrets {
			if revealed {
				return func(string) string { return "\x1b[2Jsecret" }
			}
			return nil
		})
		m.Show(head(), body, nil)
		size := screen.Size{Width: 40, Height: 10}
		for range 30 {
			display := m.View(size)
			if lines := strings.Split(display, "\n"); len(lines) != size.Height {
				t.Fatalf("%d lines in a terminal of %d:\n%s", len(lines), size.Height, display)
			}
			if !utf8.ValidString(display) {
				t.Fatalf("not UTF-8: %q", display)
			}
			for line := range strings.SplitSeq(display, "\n") {
				if lipgloss.Width(line) > size.Width {
					t.Fatalf("%d columns in a terminal of %d: %q", lipgloss.Width(line), size.Width, line)
				}
				if i := strings.IndexFunc(line, evidence.Deceptive); i >= 0 {
					t.Fatalf("has a control or invisible character: %q", line[i:])
				}
			}
			for cmd := m.Update(keyOf(keys[random.IntN(len(keys))])); cmd != nil; {
				cmd = m.Update(cmd())
			}
			revealed = random.IntN(5) == 0
			size = screen.Size{Width: 20 + random.IntN(80), Height: 3 + random.IntN(20)}
		}
	})
}

// FuzzIndex checks that a body is shown as a tree exactly if it is a JSON object or array by encoding/json.
func FuzzIndex(f *testing.F) {
	for _, body := range hostile() {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		begin := strings.TrimLeft(string(body), " \t\r\n")
		want := json.Valid(body) && (strings.HasPrefix(begin, "{") || strings.HasPrefix(begin, "["))
		if got := screen.IsTree(body); got != want {
			t.Fatalf("shown as a tree: %v, expected %v\n%q", got, want, body)
		}
	})
}
