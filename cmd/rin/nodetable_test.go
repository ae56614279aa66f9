package main

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/suite/worker"
)

// fakeTerminal is a terminal of some columns and rows that understands what a table writes: it wraps, scrolls, moves the cursor up and erases.
type fakeTerminal struct {
	columns, rows int
	lines         [][]rune
	x, y          int
	scrolled      []string // the lines that left the screen at its top
	lost          bool     // the cursor was moved above the screen, or a sequence was not understood
}

func newFakeTerminal(columns, rows int) *fakeTerminal {
	return &fakeTerminal{columns: columns, rows: rows, lines: make([][]rune, rows)}
}

func (t *fakeTerminal) Write(p []byte) (int, error) {
	sequence := regexp.MustCompile(`^\x1b\[(\d*)([AKJ])`)
	for text := string(p); text != ""; {
		if match := sequence.FindStringSubmatch(text); match != nil {
			n, _ := strconv.Atoi(match[1])
			switch match[2] {
			case "A":
				t.y -= max(n, 1)
				t.lost = t.lost || t.y < 0
				t.y = max(t.y, 0)
			case "K":
				t.lines[t.y] = t.lines[t.y][:min(t.x, len(t.lines[t.y]))]
			case "J":
				t.lines[t.y] = t.lines[t.y][:min(t.x, len(t.lines[t.y]))]
				for y := t.y + 1; y < t.rows; y++ {
					t.lines[y] = nil
				}
			}
			text = text[len(match[0]):]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		switch r {
		case '\r':
			t.x = 0
		case '\n': // the driver of a terminal adds the carriage return
			t.x = 0
			t.down()
		case '\x1b':
			t.lost = true
		default:
			if t.x == t.columns {
				t.x = 0
				t.down()
			}
			for len(t.lines[t.y]) <= t.x {
				t.lines[t.y] = append(t.lines[t.y], ' ')
			}
			t.lines[t.y][t.x] = r
			t.x++
		}
	}
	return len(p), nil
}

func (t *fakeTerminal) down() {
	if t.y++; t.y == t.rows {
		t.scrolled = append(t.scrolled, strings.TrimRight(string(t.lines[0]), " "))
		t.lines = append(t.lines[1:], nil)
		t.y--
	}
}

// screen returns the lines of the screen that are not empty.
func (t *fakeTerminal) screen() (out []string) {
	for _, l := range t.lines {
		if text := strings.TrimRight(string(l), " "); text != "" {
			out = append(out, text)
		}
	}
	return out
}

var _ = Describe("The table of nodes at work", func() {
	begin := func(columns, rows int) (*nodeTable, *fakeTerminal) {
		t := newFakeTerminal(columns, rows)
		now := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
		return newNodeTable(t, func() (int, int) { return t.columns, t.rows }, func() time.Time { now = now.Add(time.Second); return now }), t
	}
	progress := func(done, planned int) worker.Event {
		return worker.Event{Kind: worker.Progress, Done: done, Planned: planned}
	}

	It("shows node, state and requests of each node in place, and lines that stay above it", func() {
		table, terminal := begin(80, 10)
		table.headline("0 of 3 nodes tested")
		table.begin("XA")
		table.begin("XB")
		table.event("XA", progress(50, 200))
		table.event("XB", worker.Event{Kind: worker.Waiting, Wait: 90 * time.Second, Cause: "a token to expire"})
		Expect(terminal.screen()).To(Equal([]string{
			"0 of 3 nodes tested",
			"  XA            testing                   [#####...............]   50/200",
			"  XB            waits 1 minute 30 seconds",
		}))
		table.event("XB", progress(3, 210))
		table.event("XA", worker.Event{Kind: worker.Slowed})
		table.end("XA", "✓ passed   XA")
		table.headline("1 of 3 nodes tested, 1 passed")
		Expect(terminal.screen()).To(Equal([]string{
			"✓ passed   XA",
			"1 of 3 nodes tested, 1 passed",
			"  XB            testing                   [....................]    3/210",
		}))
		table.clear()
		Expect(terminal.screen()).To(Equal([]string{"✓ passed   XA"}))
		Expect(terminal.lost).To(BeFalse())
	})

	It("never is higher than the terminal, and counts what does not fit", func() {
		table, terminal := begin(60, 8)
		table.headline("0 of 40 nodes tested")
		for i := range 20 {
			table.begin(fmt.Sprintf("N%02d", i))
		}
		Expect(terminal.screen()).To(HaveLen(7))
		Expect(terminal.screen()[6]).To(Equal("  and 15 more"))
		Expect(terminal.scrolled).To(BeEmpty())
		for i := range 20 {
			table.end(fmt.Sprintf("N%02d", i), fmt.Sprintf("passed N%02d", i))
		}
		table.clear()
		all := append(terminal.scrolled, terminal.screen()...)
		Expect(all).To(HaveLen(20), "each line that stays is there once, and no line of the table")
		Expect(all[0]).To(Equal("passed N00"))
		Expect(all[19]).To(Equal("passed N19"))
		Expect(terminal.lost).To(BeFalse())
	})

	It("cuts its lines on a narrow terminal, and leaves nothing behind when the terminal becomes narrower", func() {
		table, terminal := begin(80, 12)
		table.headline("0 of 3 nodes tested, 0 passed, 0 failed, 0 untested")
		table.begin("研究機関の長い名前を持つ節点の識別子である")
		table.event("研究機関の長い名前を持つ節点の識別子である", progress(1, 9))
		table.begin(strings.Repeat("long-", 40))
		for _, line := range terminal.screen() {
			Expect(utf8.RuneCountInString(line)).To(BeNumerically("<", 80), line)
		}
		narrow := newFakeTerminal(30, 12)
		*terminal = *narrow
		table.drawn = nil
		table.event("研究機関の長い名前を持つ節点の識別子である", progress(2, 9))
		Expect(terminal.screen()).To(HaveLen(3), "no line wraps")
		Expect(terminal.screen()[1]).To(ContainSubstring("    2/9  test"), "the numbers matter more than the bar")
		terminal.columns = 15 // a real terminal wraps the lines again
		Expect(table.height(15)).To(BeNumerically(">", 3))
	})

	It("draws at most ten times a second, and changes of state at once", func() {
		var out lockedBuffer
		now := time.Date(2026, 3, 1, 22, 0, 0, 0, time.UTC)
		table := newNodeTable(&out, func() (int, int) { return 80, 24 }, func() time.Time { return now })
		table.begin("XA")
		table.event("XA", progress(1, 100))
		before := len(out.text())
		for i := range 50 {
			table.event("XA", progress(i, 100))
		}
		Expect(len(out.text())).To(Equal(before))
		now = now.Add(time.Second)
		table.event("XA", progress(51, 100))
		Expect(out.text()[before:]).To(ContainSubstring("51/100"))
	})
})
