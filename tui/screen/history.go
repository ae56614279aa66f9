package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
)

// exchangePanes shows request and response of an exchange, one at a time.
type exchangePanes struct {
	theme             Theme
	request, response *Message
	tab               tab
}

func newExchangePanes(w *Session) *exchangePanes {
	return &exchangePanes{theme: w.Theme, request: NewMessage(w.Theme, w.secrets), response: NewMessage(w.Theme, w.secrets), tab: responseTab}
}

// show sets the exchange.
func (p *exchangePanes) show(x evidence.Exchange) {
	keepMarkers := func(text string) string { return text }
	p.request.Show(flow.RequestHead(x, keepMarkers), x.Request.Body, nil)
	var body []byte
	if x.Response != nil {
		body = x.Response.Body
	}
	p.response.Show(flow.ResponseHead(x, keepMarkers), body, flow.NoteLines(x))
}

// pane returns the pane of a tab; ok is false for tabs without a message.
func (p *exchangePanes) pane(t tab) (m *Message, ok bool) {
	switch t {
	case requestTab:
		return p.request, true
	case responseTab:
		return p.response, true
	}
	return nil, false
}

func (p *exchangePanes) visible() *Message {
	m, _ := p.pane(p.tab)
	return m
}

func (p *exchangePanes) commands() []command {
	if p.visible().Typing() {
		return p.visible().commands()
	}
	other := do(func() { p.tab = requestTab + responseTab - p.tab })
	return append([]command{nextTab("pane", other), hidden("shift+tab", other)}, p.visible().commands()...)
}

// Update gives a key to the visible pane, and other messages to both.
func (p *exchangePanes) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyMsg)
	if !ok {
		return tea.Batch(p.request.Update(msg), p.response.Update(msg))
	}
	if cmd, handled := press(k, p.commands()); handled {
		return cmd
	}
	return p.visible().Update(msg)
}

// View draws the visible pane below the names of both.
func (p *exchangePanes) View(room Size) string {
	m := p.visible()
	content := m.View(Size{Width: room.Width, Height: room.Height - 1}) // drawn first, because the line above counts its hidden rows
	line := ""
	for _, t := range []tab{requestTab, responseTab} {
		line += p.theme.tab(t.String(), t == p.tab)
	}
	if above, below := m.More(); above+below > 0 {
		line += p.theme.Muted.Render(fmt.Sprintf("  ↑%d ↓%d", above, below))
	}
	return Fit(line, room.Width) + "\n" + content
}

// History is a screen beside the steps: it lists all exchanges of the tour, the newest first, and opens each of them.
type History struct {
	*Session
	all  []evidence.Exchange
	list *List
	open *exchangePanes // nil while the list is visible
}

// NewHistory makes the screen of the exchanges so far.
func NewHistory(w *Session) *History {
	h := &History{Session: w, all: w.Walk.History(), list: NewList(w.Theme)}
	h.list.Show(len(h.all), h.row)
	return h
}

// at returns the exchange in a row.
func (h *History) at(row int) evidence.Exchange { return h.all[len(h.all)-1-row] }

// labelWidth is the width from which rows have room for labels.
const labelWidth = 66

func (h *History) row(i, width int) string {
	x := h.at(i)
	status := "–"
	if x.Response != nil {
		status = fmt.Sprint(x.Response.Status)
	}
	line := fmt.Sprintf("%3d  %3s  %s  ", len(h.all)-i, status, formatMillis(x.Duration))
	if width >= labelWidth {
		line += h.Theme.Muted.Render(Cell(report.Plain(string(x.Label)), 20)) + "  "
	}
	return line + strings.TrimSuffix(flow.RequestHead(x, h.mask())[0].Text, " HTTP/1.1")
}

// formatMillis formats the duration of an exchange in seven columns.
func formatMillis(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%4d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%5.1f s", d.Seconds())
}

// Back returns from an exchange to the list; ok is false if the list is visible already.
func (h *History) Back() (ok bool) {
	opened := h.open != nil
	h.open = nil
	return opened
}

// Open implements [Screen].
func (h *History) Open() tea.Cmd { return nil }

// Typing implements [Screen].
func (h *History) Typing() bool { return h.open != nil && h.open.visible().Typing() }

// Exchange implements [Screen]. It returns the selected exchange, opened or not.
func (h *History) Exchange() (evidence.Exchange, bool) {
	if len(h.all) == 0 {
		return evidence.Exchange{}, false
	}
	return h.at(h.list.At()), true
}

// Update implements [Screen].
func (h *History) Update(msg tea.Msg) tea.Cmd {
	k, ok := msg.(tea.KeyMsg)
	if ok {
		if cmd, handled := press(k, h.commands()); handled {
			return cmd
		}
	}
	if h.open != nil {
		return h.open.Update(msg)
	}
	if ok {
		h.list.Update(k)
	}
	return nil
}

// View implements [Screen].
func (h *History) View(room Size) string {
	switch {
	case len(h.all) == 0:
		return strings.Join(Window(Wrap("No request has been sent yet.", room.Width), 0, room.Height), "\n")
	case h.open != nil:
		return h.open.View(room)
	}
	return h.list.View(room)
}

// Keys implements [Screen].
func (h *History) Keys() []key.Binding { return helpOf(h.commands()) }

func (h *History) commands() []command {
	switch {
	case h.Typing():
		return h.open.commands()
	case h.open != nil:
		panes := h.open.commands()
		return append([]command{panes[0], toList(do(func() { h.open = nil }))}, panes[1:]...)
	case len(h.all) == 0:
		return nil
	}
	return append([]command{enter("open", do(func() {
		h.open = newExchangePanes(h.Session)
		h.open.show(h.at(h.list.At()))
	}))}, listHelp()...)
}
