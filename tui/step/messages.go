package step

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/tui/message"
	"github.com/rin-network/rin/tui/view"
)

// messages are the panes of an exchange, of which one is seen.
type messages struct {
	theme          view.Theme
	request, reply *view.Message
	side           side
}

func newMessages(w *World) *messages {
	return &messages{theme: w.Theme, request: view.NewMessage(w.Theme, w.secrets), reply: view.NewMessage(w.Theme, w.secrets)}
}

// marked keeps the markers in a text.
func marked(text string) string { return text }

// show gives the panes an exchange.
func (p *messages) show(x exchange.Exchange) {
	p.request.Show(message.RequestHead(x, marked), x.Request.Body, nil)
	var body []byte
	if x.Response != nil {
		body = x.Response.Body
	}
	p.reply.Show(message.ResponseHead(x, marked), body, message.Notes(x))
}

// of is the pane of a side; ok is false for sides that show no message.
func (p *messages) of(s side) (m *view.Message, ok bool) {
	switch s {
	case request:
		return p.request, true
	case response:
		return p.reply, true
	}
	return nil, false
}

func (p *messages) seen() *view.Message {
	m, _ := p.of(p.side)
	return m
}

// Update turns to the other pane, or hands the message to those that it may be for.
func (p *messages) Update(msg tea.Msg) tea.Cmd {
	pressed, ok := msg.(tea.KeyMsg)
	switch {
	case !ok:
		return tea.Batch(p.request.Update(msg), p.reply.Update(msg))
	case !p.seen().Typing() && key.Matches(pressed, sideOn(), sideBack()):
		p.side = map[side]side{request: response, response: request}[p.side]
		return nil
	}
	return p.seen().Update(msg)
}

// View draws the pane that is seen below the names of both.
func (p *messages) View(room view.Size) string {
	m := p.seen()
	content := m.View(view.Size{Width: room.Width, Height: room.Height - 1}) // which then knows what is above and below it
	line := ""
	for _, s := range []side{request, response} {
		if s == p.side {
			line += p.theme.Key.Render("[" + s.String() + "]")
			continue
		}
		line += p.theme.Muted.Render(" " + s.String() + " ")
	}
	if above, below := m.More(); above+below > 0 {
		line += p.theme.Muted.Render(fmt.Sprintf("  ↑%d ↓%d", above, below))
	}
	return view.Fit(line, room.Width) + "\n" + content
}
