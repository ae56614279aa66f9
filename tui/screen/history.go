package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
)

// History is a screen beside the steps: everything that was sent on this walk, the newest first, and each opens.
type History struct {
	*Session
	all  []evidence.Exchange
	list *List
	pair *exchangePanes // of the exchange that is open; nil while the list is
}

// NewHistory makes the screen of what was sent until now.
func NewHistory(w *Session) *History {
	h := &History{Session: w, all: w.Walk.History(), list: NewList(w.Theme)}
	h.list.Show(len(h.all), h.row)
	return h
}

// at is the exchange in a row.
func (h *History) at(row int) evidence.Exchange { return h.all[len(h.all)-1-row] }

// labelled is the width from which on rows have room for labels.
const labelled = 66

func (h *History) row(i, width int) string {
	x := h.at(i)
	status := "–"
	if x.Response != nil {
		status = fmt.Sprint(x.Response.Status)
	}
	line := fmt.Sprintf("%3d  %3s  %s  ", len(h.all)-i, status, formatMillis(x.Duration))
	if width >= labelled {
		line += h.Theme.Muted.Render(Cell(report.Plain(string(x.Label)), 20)) + "  "
	}
	return line + strings.TrimSuffix(flow.RequestHead(x, h.show())[0].Text, " HTTP/1.1")
}

// formatMillis is how long an answer took, in seven columns.
func formatMillis(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%4d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%5.1f s", d.Seconds())
}

// Back leads from an exchange to the list; it is false where the list is seen already.
func (h *History) Back() bool {
	was := h.pair != nil
	h.pair = nil
	return was
}

// Open implements Screen.
func (h *History) Open() tea.Cmd { return nil }

// Typing implements Screen.
func (h *History) Typing() bool { return h.pair != nil && h.pair.seen().Typing() }

// Exchange implements Screen: the one under the cursor is looked at, too.
func (h *History) Exchange() (evidence.Exchange, bool) {
	if len(h.all) == 0 {
		return evidence.Exchange{}, false
	}
	return h.at(h.list.At()), true
}

// Update implements Screen.
func (h *History) Update(msg tea.Msg) tea.Cmd {
	pressed, ok := msg.(tea.KeyMsg)
	switch {
	case h.pair != nil && ok && !h.Typing() && key.Matches(pressed, toList()):
		h.pair = nil
	case h.pair != nil:
		return h.pair.Update(msg)
	case ok && key.Matches(pressed, enter("")) && len(h.all) > 0:
		x, _ := h.Exchange()
		h.pair = newExchangePanes(h.Session)
		h.pair.show(x)
		h.pair.side = responseTab
	case ok:
		h.list.Update(pressed)
	}
	return nil
}

// View implements Screen.
func (h *History) View(room Size) string {
	switch {
	case len(h.all) == 0:
		return strings.Join(Window(Wrap("Nothing was sent yet.", room.Width), 0, room.Height), "\n")
	case h.pair != nil:
		return h.pair.View(room)
	}
	return h.list.View(room)
}

// Keys implements Screen.
func (h *History) Keys() []key.Binding {
	switch {
	case h.pair != nil && h.Typing():
		return h.pair.seen().Keys()
	case h.pair != nil:
		return append([]key.Binding{sideOn(), toList()}, h.pair.seen().Keys()...)
	case len(h.all) == 0:
		return nil
	}
	return append([]key.Binding{enter("open")}, ListKeys()...)
}
