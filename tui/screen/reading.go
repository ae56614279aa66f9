package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/tui/flow"
)

// newReadingScreen is the screen that reads the token; it fetches one if there is none.
func newReadingScreen(w *Session) Screen {
	s := newActionScreen(w, flow.Reading, "read the token", w.Walk.ReadToken)
	s.told = func(width int) []string {
		token, ok := w.Walk.Token()
		if !ok {
			return nil
		}
		out := append(w.life(token, width), "")
		claims := w.Walk.Claims()
		if claims == nil {
			for _, text := range s.scene.Notes {
				out = append(out, Hang("", text, width)...)
			}
			return out
		}
		out = append(append(out, w.signature(s.scene, width)...), "")
		return append(out, w.claims(claims, width)...)
	}
	return s
}

// life is how long the token is good for: in words, and as a bar that gets shorter.
func (w *Session) life(token flow.IssuedToken, width int) []string {
	left := token.Remaining(w.Walk.Now()).Round(time.Second)
	if left == 0 {
		return Hang(w.Theme.Warn.Render("!")+" ", "The token is over. The next call fetches another one by itself.", width)
	}
	of := ""
	if token.Life > 0 {
		of = " of " + clock(token.Life)
	}
	text := "Good for another " + clock(left) + of
	lines := Hang("", text+".", width)
	const bar = 24
	if token.Life <= 0 || len(lines) > 1 || len([]rune(text))+bar+4 > width {
		return lines
	}
	full := max(1, min(bar, int(int64(bar)*int64(left)/int64(token.Life))))
	lines[0] += "  " + w.Theme.Good.Render(strings.Repeat("━", full)) + w.Theme.Muted.Render(strings.Repeat("·", bar-full))
	return lines
}

// clock is a time to go, as a clock shows it.
func clock(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// signature is what came of its check.
func (w *Session) signature(scene *flow.Result, width int) []string {
	switch v := scene.Signature(); {
	case v == nil:
		said := ""
		if len(scene.Notes) > 0 {
			said = scene.Notes[len(scene.Notes)-1]
		}
		return Hang(w.Theme.Muted.Render("–")+" ", said, width)
	case v.Verified:
		return Hang(w.Theme.Good.Render("✓")+" ", scene.Notes[len(scene.Notes)-1], width)
	}
	return Hang(w.Theme.Bad.Render("✗")+" ", scene.Notes[len(scene.Notes)-1], width)
}

// claims is the table of header and claims.
func (w *Session) claims(claims []flow.Claim, width int) []string {
	var out []string
	header := false
	for i, c := range claims {
		if i == 0 || c.Header != header {
			if i > 0 {
				out = append(out, "")
			}
			title := "What the token says (claims)"
			if c.Header {
				title = "How it is signed (header)"
			}
			header, out = c.Header, append(out, Wrapped(w.Theme.Title, title, width)...)
		}
		meaning := c.Meaning
		if !c.Expiry.IsZero() {
			if left := c.Expiry.Sub(w.Walk.Now()); left > 0 {
				meaning += ", in " + clock(left)
			} else {
				meaning += ", and it is over by this machine's clock"
			}
		}
		out = append(out, Columns(w.Theme, c.Name, c.Value, meaning, width)...)
	}
	return out
}
