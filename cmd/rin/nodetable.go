package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
)

// nodeTable shows on a terminal the nodes that are tested now, below lines that stay. It is drawn in place.
type nodeTable struct {
	to   io.Writer
	size func() (columns, rows int)
	now  func() time.Time

	mu    sync.Mutex
	head  string
	rows  []*nodeRow
	last  time.Time // when the table was last drawn
	drawn []string  // the lines on the screen
}

// nodeRow is a node that is tested now. planned is 0 before the first request and while the test waits.
type nodeRow struct {
	node, state   string
	done, planned int
}

func newNodeTable(to io.Writer, size func() (columns, rows int), now func() time.Time) *nodeTable {
	return &nodeTable{to: to, size: size, now: now}
}

// headline replaces the first line.
func (t *nodeTable) headline(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.head = text
	t.draw("")
}

// begin adds a node.
func (t *nodeTable) begin(node string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, &nodeRow{node: node, state: "starting"})
	t.draw("")
}

// framePause is the least time between two frames that differ only in their numbers.
const framePause = 100 * time.Millisecond

// event shows what the test of a node reports.
func (t *nodeTable) event(node string, e worker.Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, r := range t.rows {
		if r.node != node {
			continue
		}
		before := r.state
		switch e.Kind {
		case worker.Progress:
			r.state, r.done, r.planned = "testing", e.Done, e.Planned
		case worker.Waiting:
			r.state = "waits " + evidence.Duration(e.Wait)
			r.planned = 0 // the bar returns with the next request
		case worker.Slowed:
			r.state = "slowed down"
		default:
			return
		}
		if r.state != before || t.now().Sub(t.last) >= framePause {
			t.draw("")
		}
	}
}

// end removes a node, and prints its result in a line that stays.
func (t *nodeTable) end(node, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i, r := range t.rows {
		if r.node == node {
			t.rows = append(t.rows[:i], t.rows[i+1:]...)
			break
		}
	}
	t.draw(text)
}

// clear removes the table.
func (t *nodeTable) clear() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.head, t.rows = "", nil
	if len(t.drawn) > 0 {
		t.draw("")
	}
}

// draw replaces the lines on the screen. If stays is not empty, it is printed above them. All of it is one write, so that the table does not flicker.
func (t *nodeTable) draw(stays string) {
	const eraseLine, eraseBelow = "\x1b[K", "\x1b[J"
	columns, rows := t.size()
	var b strings.Builder
	b.WriteByte('\r')
	if up := t.height(columns) - 1; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	if stays != "" {
		b.WriteString(stays + eraseLine + "\n")
	}
	t.drawn, t.last = t.lines(columns, rows), t.now()
	b.WriteString(strings.Join(t.drawn, eraseLine+"\n"))
	b.WriteString(eraseBelow)
	_, _ = io.WriteString(t.to, b.String())
}

// height returns how many lines of a terminal the table takes. A terminal that became narrower has wrapped long lines.
func (t *nodeTable) height(columns int) int {
	n := 0
	for _, l := range t.drawn {
		n += 1 + max(ansi.StringWidth(l)-1, 0)/max(columns, 1)
	}
	return n
}

// lines returns the table for a terminal. It leaves one row free, and the last column, because some terminals wrap there.
func (t *nodeTable) lines(columns, rows int) []string {
	if t.head == "" && len(t.rows) == 0 {
		return nil
	}
	out := []string{t.head}
	room := max(rows-2, 1)
	for i, r := range t.rows {
		if left := len(t.rows) - i; i == room-1 && left > 1 {
			out = append(out, fmt.Sprintf("  and %d more", left))
			break
		}
		out = append(out, r.text(columns-1))
	}
	for i := range out {
		out[i] = cutColumns(out[i], columns-1)
	}
	return out
}

// text returns the row: node, state, and how many of its requests were sent. Where there is little room, it has no bar.
func (r *nodeRow) text(columns int) string {
	const name, state = 12, 24
	node := report.Plain(r.node)
	if r.planned <= 0 {
		return fmt.Sprintf("  %s  %s", padColumns(cutColumns(node, 40), name), r.state)
	}
	done := min(r.done, r.planned)
	text := fmt.Sprintf("  %s  %s  %s %4d/%d", padColumns(cutColumns(node, 40), name), padColumns(r.state, state), progressBar(done, r.planned), done, r.planned)
	if ansi.StringWidth(text) > columns {
		text = fmt.Sprintf("  %s  %4d/%d  %s", padColumns(cutColumns(node, name), name), done, r.planned, r.state)
	}
	return text
}

// cutColumns shortens a text to at most n columns of a terminal.
func cutColumns(text string, n int) string { return ansi.Truncate(text, max(0, n), "…") }

func padColumns(text string, n int) string {
	return text + strings.Repeat(" ", max(0, n-ansi.StringWidth(text)))
}
