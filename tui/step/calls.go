package step

import (
	"context"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// calls is the screen of the funding calls: a page of them as a table, filters, and one call as its own resource. Enter reads the list,
// opens the call under the cursor, and leads on from there.
type calls struct {
	*World
	aim   int // the target that the list is of
	query walk.Query
	page  *Stage // the list as it was asked for and came
	items []walk.Call
	// idWidth and kindWidth are what two columns of the table take.
	idWidth, kindWidth int
	table              *view.List
	call               *Stage // of the call that is open; nil while the list is looked at
	opened             map[string]*Stage
	filter             *filtering // nil unless a filter is being chosen
}

func newCalls(w *World) Screen {
	s := &calls{World: w}
	s.forget()
	return s
}

// forget begins anew.
func (s *calls) forget() {
	s.aim, s.query, s.items, s.call, s.opened, s.filter = s.Walk.Aims(), walk.Query{Filters: map[string]string{}}, nil, nil, map[string]*Stage{}, nil
	s.table = view.NewList(s.Theme)
	s.page = newStage(s.World, walk.Calls, "read the list", func(ctx context.Context) walk.Scene { return s.Walk.ListCalls(ctx, s.query) })
	s.page.named = "Calls"
}

// Open implements Screen. The calls of another node are none of this one.
func (s *calls) Open() tea.Cmd {
	if s.aim != s.Walk.Aims() && !s.busy() {
		s.forget()
	}
	return nil
}

// Typing implements Screen.
func (s *calls) Typing() bool { return s.filter != nil || s.looked().Typing() }

// Exchange implements Screen.
func (s *calls) Exchange() (exchange.Exchange, bool) { return s.looked().Exchange() }

// looked is the stage that is looked at.
func (s *calls) looked() *Stage {
	if s.call != nil {
		return s.call
	}
	return s.page
}

// busy tells that the node is asked: one thing at a time.
func (s *calls) busy() bool { return s.looked().busy || s.page.busy }

// listed tells that there is a list to show.
func (s *calls) listed() bool { return s.page.scene != nil && s.page.scene.Well() }

// Update implements Screen.
func (s *calls) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case Played:
		if id, ok := msg.Of.(string); ok {
			if s.opened[id] != nil {
				return s.opened[id].Update(msg)
			}
			return nil
		}
		s.came(msg)
		return nil
	case Revealing:
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
func (s *calls) came(msg Played) {
	side := s.page.side
	s.page.Update(msg)
	if !msg.Scene.Well() {
		return
	}
	s.page.side = side
	s.aim = msg.Aim
	s.items = s.Walk.Calls()
	s.idWidth, s.kindWidth = widest(s.items, id, 2, 14), widest(s.items, kind, 4, 14)
	s.table.Show(len(s.items), s.row)
	s.table.Go(0)
}

func (s *calls) press(msg tea.KeyMsg) tea.Cmd {
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
	case s.call == nil && s.listed() && s.page.side == story:
		return s.browse(msg)
	}
	return s.looked().Update(msg)
}

// scroll is what is left to do while the node is asked.
func (s *calls) scroll(msg tea.KeyMsg) tea.Cmd {
	if key.Matches(msg, retry()) || key.Matches(msg, enter("")) {
		return nil
	}
	if s.call != nil && key.Matches(msg, toList()) {
		return nil
	}
	return s.looked().Update(msg)
}

// lead is what enter does: read the list, open a call, go on.
func (s *calls) lead() tea.Cmd {
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
func (s *calls) browse(msg tea.KeyMsg) tea.Cmd {
	switch {
	case key.Matches(msg, open("")) && len(s.items) > 0:
		return s.open()
	case key.Matches(msg, pageOn()) && s.more():
		return s.read(s.query.Page + 1)
	case key.Matches(msg, pageBack()) && s.query.Page > 0:
		return s.read(s.query.Page - 1)
	case key.Matches(msg, filters()) && len(s.Walk.Filters()) > 0:
		s.filter = newFiltering(s.World, s.query.Filters)
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
func (s *calls) more() bool { return s.Walk.Paged() && len(s.items) > 0 }

func (s *calls) read(page int) tea.Cmd {
	s.query.Page = page
	return s.page.again()
}

// choose takes a key while a filter is being chosen.
func (s *calls) choose(msg tea.KeyMsg) tea.Cmd {
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
func (s *calls) open() tea.Cmd {
	item := s.items[s.table.At()]
	if s.opened[item.ID] != nil {
		s.call = s.opened[item.ID]
		s.title(s.call)
		s.call.Update(Revealing{})
		return nil
	}
	s.call = newStage(s.World, walk.Calls, "ask for it", func(ctx context.Context) walk.Scene { return s.Walk.OpenCall(ctx, item.ID) })
	s.call.of, s.call.tries, s.call.named = item.ID, "s", "Call"
	s.call.says = func(width int) []string { return s.facts(item, width) }
	s.opened[item.ID] = s.call
	s.title(s.call)
	return s.call.again()
}

// title gives an open call its headline, in the language of the moment.
func (s *calls) title(call *Stage) {
	for _, item := range s.items {
		if item.ID == call.of {
			call.opening = []string{walk.In(item.Name, s.Language), item.ID}
		}
	}
}

// View implements Screen.
func (s *calls) View(room view.Size) string {
	switch {
	case s.filter != nil:
		return s.filter.view(room)
	case s.call != nil && room.Width >= wide:
		left := view.Size{Width: 50, Height: room.Height}
		return view.Beside(s.list(left), s.call.View(view.Size{Width: room.Width - left.Width - 2, Height: room.Height}), left.Width)
	case s.call != nil:
		return s.call.View(room)
	case s.listed() && s.page.side == story:
		return s.list(room)
	}
	return s.page.View(room)
}

// Keys implements Screen.
func (s *calls) Keys() []key.Binding {
	switch {
	case s.looked().Typing():
		return s.looked().Keys()
	case s.filter != nil:
		return s.filter.keys()
	case s.busy():
		return append([]key.Binding{sideOn()}, view.ScrollKeys()...)
	case s.call != nil:
		return append([]key.Binding{enter("next step"), toList()}, s.call.Keys()[1:]...)
	case !s.listed():
		return append(s.page.Keys(), goOn())
	}
	keys := []key.Binding{enter("open it")}
	if len(s.items) == 0 {
		keys = []key.Binding{enter("next step")}
	}
	if s.page.side != story {
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
	return append(append(keys, sideOn(), goOn(), again("read it again")), view.ListKeys()...)
}

func pageOn() key.Binding { return key.NewBinding(key.WithKeys("n"), key.WithHelp("n", "next page")) }
func pageBack() key.Binding {
	return key.NewBinding(key.WithKeys("p"), key.WithHelp("p", "page before"))
}
func filters() key.Binding { return key.NewBinding(key.WithKeys("f"), key.WithHelp("f", "filter")) }
func unfilter() key.Binding {
	return key.NewBinding(key.WithKeys("F"), key.WithHelp("F", "no filter"))
}
