package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/tui/flow"
)

// newReadingScreen makes the screen that reads the token.
func newReadingScreen(w *Session) Screen {
	s := newActionScreen(w, flow.Reading, "read the token", w.Walk.ReadToken)
	s.live = func(width int) []string {
		token, ok := w.Walk.Token()
		if !ok {
			return nil
		}
		lines := append(w.lifetime(token, width), "")
		claims := w.Walk.Claims()
		if claims == nil { // an opaque token
			return append(lines, wrapAll(s.result.Notes, width)...)
		}
		lines = append(append(lines, w.signature(s.result, width)...), "")
		return append(lines, w.claims(claims, width)...)
	}
	return s
}

// lifetime shows how long the token is still valid, in words and as a shrinking bar.
func (w *Session) lifetime(token flow.IssuedToken, width int) []string {
	remaining := token.Remaining(w.Walk.Now()).Round(time.Second)
	if remaining == 0 {
		return Hang(w.Theme.Warn.Render("!")+" ", "The token has expired. The next call fetches a new one automatically.", width)
	}
	text := "Valid for another " + formatClock(remaining)
	if token.Life > 0 {
		text += " of " + formatClock(token.Life)
	}
	lines := Wrap(text+".", width)
	const bar = 24
	if token.Life <= 0 || len(lines) > 1 || len([]rune(text))+bar+4 > width {
		return lines
	}
	full := max(1, min(bar, int(int64(bar)*int64(remaining)/int64(token.Life))))
	lines[0] += "  " + w.Theme.Good.Render(strings.Repeat("━", full)) + w.Theme.Muted.Render(strings.Repeat("·", bar-full))
	return lines
}

// formatClock formats a duration as minutes and seconds, with hours if there are some.
func formatClock(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// signature shows the result of the signature check, which the last note explains.
func (w *Session) signature(result *flow.Result, width int) []string {
	note := ""
	if n := len(result.Notes); n > 0 {
		note = result.Notes[n-1]
	}
	sign := w.Theme.Muted.Render("–")
	if v := result.Signature(); v != nil && v.Verified {
		sign = w.Theme.Good.Render("✓")
	} else if v != nil {
		sign = w.Theme.Bad.Render("✗")
	}
	return Hang(sign+" ", note, width)
}

// claims shows header and claims as a table.
func (w *Session) claims(claims []flow.Claim, width int) []string {
	var lines []string
	for i, c := range claims {
		if i == 0 || c.Header != claims[i-1].Header {
			if i > 0 {
				lines = append(lines, "")
			}
			title := "What the token says (claims)"
			if c.Header {
				title = "How it is signed (header)"
			}
			lines = append(lines, WrapStyled(w.Theme.Title, title, width)...)
		}
		meaning := c.Meaning
		if !c.Expiry.IsZero() {
			if remaining := c.Expiry.Sub(w.Walk.Now()); remaining > 0 {
				meaning += ", in " + formatClock(remaining)
			} else {
				meaning += "; by the clock of this machine, it has expired"
			}
		}
		lines = append(lines, Columns(w.Theme, c.Name, c.Value, meaning, width)...)
	}
	return lines
}
