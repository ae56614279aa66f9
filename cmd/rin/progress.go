package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// progress draws how far long work has come, on stderr. On a terminal one line is drawn over; elsewhere each quarter gets a line.
type progress struct {
	to      io.Writer
	screen  screen
	all     int
	quarter int
	drawn   bool
}

func newProgress(to io.Writer, s screen) *progress { return &progress{to: to, screen: s} }

// step shows that done of all parts are done, and what the last one was.
func (p *progress) step(done, all int, what string) {
	if all <= 0 {
		return
	}
	done = min(done, all)
	if !p.screen.live {
		q := done * 4 / all
		if all != p.all { // more was planned since
			p.all, p.quarter = all, min(q, 3)
		}
		if q > p.quarter {
			p.quarter = q
			fmt.Fprintf(p.to, "  %d of %d\n", done, all)
		}
		return
	}
	const bar = 20
	filled := done * bar / all
	line := fmt.Sprintf("[%s%s] %d/%d ", strings.Repeat("#", filled), strings.Repeat(".", bar-filled), done, all)
	if room := p.screen.width - len(line) - 1; utf8.RuneCountInString(what) > room {
		what = string([]rune(what)[:max(room, 0)])
	}
	fmt.Fprintf(p.to, "\r\x1b[K%s%s", line, what)
	p.drawn = true
}

// clear removes the drawn line, so that what follows starts on a clean one.
func (p *progress) clear() {
	if p.drawn {
		fmt.Fprint(p.to, "\r\x1b[K")
		p.drawn = false
	}
}
