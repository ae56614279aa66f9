package screen

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/tui/flow"
)

// tabs names the sides, and says what more there is to see.
func (s *ActionScreen) tabs(width int) string {
	line := s.names()
	if s.scene != nil && len(s.scene.Exchanges) > 1 {
		place := fmt.Sprintf("  exchange %d of %d", s.at+1, len(s.scene.Exchanges))
		if width < 60 {
			place = fmt.Sprintf(" %d/%d", s.at+1, len(s.scene.Exchanges))
		}
		line += s.Theme.Muted.Render(place)
	}
	above, below := s.panes[s.side].More()
	if m, ok := s.message(); ok {
		above, below = m.More()
	}
	if above+below > 0 {
		more := fmt.Sprintf("  ↑%d ↓%d", above, below)
		if width < 60 { // that there is more, where there is no room to say how much
			more = " " + strings.Repeat("↑", min(1, above)) + strings.Repeat("↓", min(1, below))
		}
		line += s.Theme.Muted.Render(more)
	}
	return Fit(line, width)
}

// names are those of the sides, the one that is seen in brackets.
func (s *ActionScreen) names() string {
	var parts []string
	for i := range tabCount {
		name := i.String()
		if i == whyTab && s.named != "" && s.scene != nil {
			name = s.named
		}
		if i == s.side {
			parts = append(parts, s.Theme.Key.Render("["+name+"]"))
			continue
		}
		parts = append(parts, s.Theme.Muted.Render(" "+name+" "))
	}
	return strings.Join(parts, "")
}

// Keys implements Screen.
func (s *ActionScreen) Keys() []key.Binding {
	lead := enter(s.verb)
	switch {
	case s.busy:
		lead = key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "back"))
	case s.scene != nil && s.scene.OK():
		lead = enter("next step")
	case s.scene != nil:
		lead = enter("try again")
	}
	keys := []key.Binding{lead, sideOn()}
	if s.editable() {
		keys = []key.Binding{enter("again"), edit(), sideOn()} // both fit the narrowest foot
	}
	if s.scene != nil {
		if s.play != nil {
			keys = append(keys, retry())
		}
		if len(s.scene.Exchanges) > 1 {
			keys = append(keys, earlier(), later())
		}
	}
	if m, ok := s.message(); ok {
		if m.Typing() {
			return m.Keys()
		}
		return append(keys, m.Keys()...)
	}
	return append(keys, ScrollKeys()...)
}

func sideOn() key.Binding { return key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "pane")) }

func sideBack() key.Binding {
	return key.NewBinding(key.WithKeys("shift+tab"), key.WithHelp("shift+tab", "pane before"))
}

func retry() key.Binding { return key.NewBinding(key.WithKeys("s"), key.WithHelp("s", "send again")) }

func edit() key.Binding { return key.NewBinding(key.WithKeys("e"), key.WithHelp("e", "edit")) }

func earlier() key.Binding {
	return key.NewBinding(key.WithKeys("["), key.WithHelp("[", "exchange before"))
}

func later() key.Binding {
	return key.NewBinding(key.WithKeys("]"), key.WithHelp("]", "next exchange"))
}

// exchangePanes are the panes of an exchange, of which one is seen.
type exchangePanes struct {
	theme          Theme
	request, reply *Message
	side           tab
}

func newExchangePanes(w *Session) *exchangePanes {
	return &exchangePanes{theme: w.Theme, request: NewMessage(w.Theme, w.secrets), reply: NewMessage(w.Theme, w.secrets)}
}

// keepMarkers keeps the markers in a text.
func keepMarkers(text string) string { return text }

// show gives the panes an exchange.
func (p *exchangePanes) show(x evidence.Exchange) {
	p.request.Show(flow.RequestHead(x, keepMarkers), x.Request.Body, nil)
	var body []byte
	if x.Response != nil {
		body = x.Response.Body
	}
	p.reply.Show(flow.ResponseHead(x, keepMarkers), body, flow.NoteLines(x))
}

// of is the pane of a side; ok is false for sides that show no message.
func (p *exchangePanes) of(s tab) (m *Message, ok bool) {
	switch s {
	case requestTab:
		return p.request, true
	case responseTab:
		return p.reply, true
	}
	return nil, false
}

func (p *exchangePanes) seen() *Message {
	m, _ := p.of(p.side)
	return m
}

// Update turns to the other pane, or hands the message to those that it may be for.
func (p *exchangePanes) Update(msg tea.Msg) tea.Cmd {
	pressed, ok := msg.(tea.KeyMsg)
	switch {
	case !ok:
		return tea.Batch(p.request.Update(msg), p.reply.Update(msg))
	case !p.seen().Typing() && key.Matches(pressed, sideOn(), sideBack()):
		p.side = map[tab]tab{requestTab: responseTab, responseTab: requestTab}[p.side]
		return nil
	}
	return p.seen().Update(msg)
}

// View draws the pane that is seen below the names of both.
func (p *exchangePanes) View(room Size) string {
	m := p.seen()
	content := m.View(Size{Width: room.Width, Height: room.Height - 1}) // which then knows what is above and below it
	line := ""
	for _, s := range []tab{requestTab, responseTab} {
		if s == p.side {
			line += p.theme.Key.Render("[" + s.String() + "]")
			continue
		}
		line += p.theme.Muted.Render(" " + s.String() + " ")
	}
	if above, below := m.More(); above+below > 0 {
		line += p.theme.Muted.Render(fmt.Sprintf("  ↑%d ↓%d", above, below))
	}
	return Fit(line, room.Width) + "\n" + content
}

// pair is a list and the stage of what was asked for it: beside each other where there is room, else one at a time.
type pair struct {
	list    *List
	stage   *ActionScreen
	onStage bool // whether keys go to the stage, and it is what a narrow screen shows
	beside  bool // whether both are seen
}

// press gives a key to the one that has the keys; handled is false for a key of the list that means nothing to it.
func (p *pair) press(msg tea.KeyMsg) (cmd tea.Cmd, handled bool) {
	switch {
	case p.onStage && key.Matches(msg, toList()):
		p.onStage = false
		return nil, true
	case p.onStage:
		return p.stage.Update(msg), true
	case key.Matches(msg, toStage()):
		p.onStage = true
		return nil, true
	}
	return nil, p.list.Update(msg)
}

// draw draws the pair; front is what stands for the list, with its head and tail.
func (p *pair) draw(room Size, front func(Size) string) string {
	p.beside = room.Width >= wide
	switch {
	case p.beside:
		l := Size{Width: room.Width * 2 / 5, Height: room.Height}
		return Beside(front(l), p.stage.View(Size{Width: room.Width - l.Width - 2, Height: room.Height}), l.Width)
	case p.onStage:
		return p.stage.View(room)
	}
	return front(room)
}

// toStage leads from a list to what was sent for it.
func toStage() key.Binding {
	return key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "request, response"))
}
