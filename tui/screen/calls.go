package screen

import (
	"context"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/tui/flow"
)

// callsScreen is the screen of the funding calls: a page of them as a table, filters, and one call as its own resource. Enter reads the list,
// opens the call under the cursor, and leads on from there.
type callsScreen struct {
	*Session
	aim   int // the target that the list is of
	query flow.Query
	page  *ActionScreen // the list as it was asked for and came
	items []flow.Call
	// idWidth and kindWidth are what two columns of the table take.
	idWidth, kindWidth int
	table              *List
	call               *ActionScreen // of the call that is open; nil while the list is looked at
	opened             map[string]*ActionScreen
	filter             *filterChooser // nil unless a filter is being chosen
}

func newCallsScreen(w *Session) Screen {
	s := &callsScreen{Session: w}
	s.forget()
	return s
}

// forget begins anew.
func (s *callsScreen) forget() {
	s.aim, s.query, s.items, s.call, s.opened, s.filter = s.Walk.TargetCount(), flow.Query{Filters: map[string]string{}}, nil, nil, map[string]*ActionScreen{}, nil
	s.table = NewList(s.Theme)
	s.page = newActionScreen(s.Session, flow.Calls, "read the list", func(ctx context.Context) flow.Result { return s.Walk.ListCalls(ctx, s.query) })
	s.page.named = "Calls"
}

// Open implements Screen. The calls of another node are none of this one.
func (s *callsScreen) Open() tea.Cmd {
	if s.aim != s.Walk.TargetCount() && !s.busy() {
		s.forget()
	}
	return nil
}

// Typing implements Screen.
func (s *callsScreen) Typing() bool { return s.filter != nil || s.looked().Typing() }

// Exchange implements Screen.
func (s *callsScreen) Exchange() (evidence.Exchange, bool) { return s.looked().Exchange() }

// looked is the stage that is looked at.
func (s *callsScreen) looked() *ActionScreen {
	if s.call != nil {
		return s.call
	}
	return s.page
}

// busy tells that the node is asked: one thing at a time.
func (s *callsScreen) busy() bool { return s.looked().busy || s.page.busy }

// listedNode tells that there is a list to show.
func (s *callsScreen) listed() bool { return s.page.scene != nil && s.page.scene.OK() }

// Update implements Screen.
func (s *callsScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ActionDone:
		if id, ok := msg.Of.(string); ok {
			if s.opened[id] != nil {
				return s.opened[id].Update(msg)
			}
			return nil
		}
		s.came(msg)
		return nil
	case SecretsToggled:
		s.page.Update(msg)
		if s.call != nil {
			s.title(s.call)
			return s.call.Update(msg)
		}
		return nil
	case tea.KeyMsg:
		return s.press(msg)
	}
	return s.looked().Update(msg)
}

// came takes a list that was read.
func (s *callsScreen) came(msg ActionDone) {
	side := s.page.side
	s.page.Update(msg)
	if !msg.Scene.OK() {
		return
	}
	s.page.side = side
	s.aim = msg.TargetCount
	s.items = s.Walk.Calls()
	s.idWidth, s.kindWidth = widest(s.items, callID, 2, 14), widest(s.items, callType, 4, 14)
	s.table.Show(len(s.items), s.row)
	s.table.Go(0)
}

func (s *callsScreen) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case s.looked().Typing():
		return s.looked().Update(msg)
	case s.filter != nil:
		return s.choose(msg)
	case s.busy():
		return s.scroll(msg)
	case key.Matches(msg, enter("")):
		return s.lead()
	case key.Matches(msg, goOn()):
		return next
	case s.call != nil && key.Matches(msg, toList()):
		s.call = nil
		return nil
	case s.call == nil && s.listed() && s.page.side == whyTab:
		return s.browse(msg)
	}
	return s.looked().Update(msg)
}

// scroll is what is left to do while the node is asked.
func (s *callsScreen) scroll(msg tea.KeyMsg) tea.Cmd {
	if key.Matches(msg, retry()) || key.Matches(msg, enter("")) {
		return nil
	}
	if s.call != nil && key.Matches(msg, toList()) {
		return nil
	}
	return s.looked().Update(msg)
}

// lead is what enter does: read the list, open a call, go on.
func (s *callsScreen) lead() tea.Cmd {
	switch {
	case s.call != nil:
		return next
	case !s.listed():
		return s.page.again()
	case len(s.items) == 0:
		return next
	}
	return s.open()
}

// browse moves about in the list, and asks for another part of it.
func (s *callsScreen) browse(msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, open("")) && len(s.items) > 0:
		return s.open()
	case key.Matches(msg, pageOn()) && s.more():
		return s.read(s.query.Page + 1)
	case key.Matches(msg, pageBack()) && s.query.Page > 0:
		return s.read(s.query.Page - 1)
	case key.Matches(msg, filters()) && len(s.Walk.Filters()) > 0:
		s.filter = newFilterChooser(s.Session, s.query.Filters)
	case key.Matches(msg, unfilter()) && len(s.query.Filters) > 0:
		s.query.Filters = map[string]string{}
		return s.read(0)
	case s.table.Update(msg):
	default:
		return s.page.Update(msg)
	}
	return nil
}

// more tells that there may be another page.
func (s *callsScreen) more() bool { return s.Walk.Paged() && len(s.items) > 0 }

func (s *callsScreen) read(page int) tea.Cmd {
	s.query.Page = page
	return s.page.again()
}

// choose takes a key while a filter is being chosen.
func (s *callsScreen) choose(msg tea.KeyMsg) tea.Cmd {
	name, value, chosen, closed := s.filter.press(msg)
	if chosen || closed {
		s.filter = nil
	}
	if !chosen {
		return nil
	}
	delete(s.query.Filters, name)
	if value != "" {
		s.query.Filters[name] = value
	}
	return s.read(0)
}

// open asks for the call under the cursor, once.
func (s *callsScreen) open() tea.Cmd {
	item := s.items[s.table.At()]
	if s.opened[item.ID] != nil {
		s.call = s.opened[item.ID]
		s.title(s.call)
		s.call.Update(SecretsToggled{})
		return nil
	}
	s.call = newActionScreen(s.Session, flow.Calls, "ask for it", func(ctx context.Context) flow.Result { return s.Walk.OpenCall(ctx, item.ID) })
	s.call.of, s.call.tries, s.call.named = item.ID, "s", "Call"
	s.call.says = func(width int) []string { return s.facts(item, width) }
	s.opened[item.ID] = s.call
	s.title(s.call)
	return s.call.again()
}

// title gives an open call its headline, in the language of the moment.
func (s *callsScreen) title(call *ActionScreen) {
	for _, item := range s.items {
		if item.ID == call.of {
			call.opening = []string{flow.Localized(item.Name, s.Language), item.ID}
		}
	}
}

// View implements Screen.
func (s *callsScreen) View(room Size) string {
	switch {
	case s.filter != nil:
		return s.filter.view(room)
	case s.call != nil && room.Width >= wide:
		left := Size{Width: 50, Height: room.Height}
		return Beside(s.list(left), s.call.View(Size{Width: room.Width - left.Width - 2, Height: room.Height}), left.Width)
	case s.call != nil:
		return s.call.View(room)
	case s.listed() && s.page.side == whyTab:
		return s.list(room)
	}
	return s.page.View(room)
}

// Keys implements Screen.
func (s *callsScreen) Keys() []key.Binding {
	switch {
	case s.looked().Typing():
		return s.looked().Keys()
	case s.filter != nil:
		return s.filter.keys()
	case s.busy():
		return append([]key.Binding{sideOn()}, ScrollKeys()...)
	case s.call != nil:
		return append([]key.Binding{enter("next step"), toList()}, s.call.Keys()[1:]...)
	case !s.listed():
		return append(s.page.Keys(), goOn())
	}
	keys := []key.Binding{enter("open it")}
	if len(s.items) == 0 {
		keys = []key.Binding{enter("next step")}
	}
	if s.page.side != whyTab {
		return append(append(keys, s.page.Keys()[1:]...), goOn())
	}
	if s.more() {
		keys = append(keys, pageOn())
	}
	if s.query.Page > 0 {
		keys = append(keys, pageBack())
	}
	if len(s.Walk.Filters()) > 0 {
		keys = append(keys, filters())
	}
	if len(s.query.Filters) > 0 {
		keys = append(keys, unfilter())
	}
	return append(append(keys, sideOn(), goOn(), again("read it again")), ListKeys()...)
}

func pageOn() key.Binding { return key.NewBinding(key.WithKeys("n"), key.WithHelp("n", "next page")) }

func pageBack() key.Binding {
	return key.NewBinding(key.WithKeys("p"), key.WithHelp("p", "page before"))
}

func filters() key.Binding { return key.NewBinding(key.WithKeys("f"), key.WithHelp("f", "filter")) }

func unfilter() key.Binding {
	return key.NewBinding(key.WithKeys("F"), key.WithHelp("F", "no filter"))
}
