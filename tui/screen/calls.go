package screen

import (
	"context"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/tui/flow"
)

// callsScreen lists funding calls page by page, filters them, and opens each call.
type callsScreen struct {
	*Session
	targetCount        int // [flow.Walk.TargetCount] of the list
	query              flow.Query
	page               *ActionScreen // reads the list
	items              []flow.Call
	idWidth, typeWidth int
	table              *List
	call               *ActionScreen            // the opened call; nil while the list is visible
	opened             map[string]*ActionScreen // all calls that were opened, by ID
	filter             *filterChooser           // nil unless it is open
}

func newCallsScreen(w *Session) Screen {
	s := &callsScreen{Session: w}
	s.reset()
	return s
}

func (s *callsScreen) reset() {
	*s = callsScreen{Session: s.Session, targetCount: s.Walk.TargetCount(), query: flow.Query{Filters: map[string]string{}}, opened: map[string]*ActionScreen{}, table: NewList(s.Theme)}
	s.page = newActionScreen(s.Session, flow.Calls, "read the list", func(ctx context.Context) flow.Result { return s.Walk.ListCalls(ctx, s.query) })
	s.page.tabName = "Calls"
}

// Open implements [Screen]. It drops the calls of another node.
func (s *callsScreen) Open() tea.Cmd {
	if s.targetCount != s.Walk.TargetCount() && !s.busy() {
		s.reset()
	}
	return nil
}

// Typing implements [Screen].
func (s *callsScreen) Typing() bool { return s.filter != nil || s.active().Typing() }

// Exchange implements [Screen].
func (s *callsScreen) Exchange() (evidence.Exchange, bool) { return s.active().Exchange() }

// active returns the action that is visible.
func (s *callsScreen) active() *ActionScreen {
	if s.call != nil {
		return s.call
	}
	return s.page
}

// busy reports whether a request is running. The screen sends one request at a time.
func (s *callsScreen) busy() bool { return s.active().busy || s.page.busy }

// inTable reports whether the table is visible.
func (s *callsScreen) inTable() bool { return s.call == nil && s.page.done() && s.page.tab == whyTab }

// Update implements [Screen].
func (s *callsScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ActionDone:
		if id, ok := msg.Subject.(string); ok {
			if s.opened[id] != nil {
				return s.opened[id].Update(msg)
			}
			return nil
		}
		s.showList(msg)
		return nil
	case SecretsToggled:
		s.page.Update(msg)
		if s.call != nil {
			s.setHeading(s.call)
			return s.call.Update(msg)
		}
		return nil
	case tea.KeyMsg:
		switch {
		case s.filter != nil:
			return s.filter.Update(msg)
		case s.active().Typing():
			return s.active().Update(msg)
		}
		if cmd, handled := press(msg, s.commands()); handled {
			return cmd
		}
		if s.inTable() && s.table.Update(msg) {
			return nil
		}
		return s.active().Update(msg)
	}
	return s.active().Update(msg)
}

// showList shows the answer to a request for the list. The visible tab stays.
func (s *callsScreen) showList(msg ActionDone) {
	visible := s.page.tab
	s.page.Update(msg)
	if !msg.Result.OK() {
		return
	}
	s.page.tab = visible
	s.targetCount = msg.TargetCount
	s.items = s.Walk.Calls()
	s.idWidth, s.typeWidth = columnWidth(s.items, callID, 2, 14), columnWidth(s.items, callType, 4, 14)
	s.table.Show(len(s.items), s.row)
	s.table.Go(0)
}

// Keys implements [Screen].
func (s *callsScreen) Keys() []key.Binding {
	if s.filter != nil {
		return helpOf(s.filter.commands())
	}
	return helpOf(s.commands())
}

func (s *callsScreen) commands() []command {
	ignore := do(func() {})
	switch {
	case s.active().Typing():
		return s.active().commands()
	case s.busy(): // enter, s and ← have no effect until the answer comes
		return append([]command{hidden("enter", ignore), hidden("s", ignore), bind("←", "", ignore, "left", "backspace")}, s.active().otherCommands()...)
	case s.call != nil:
		return append([]command{enter("next step", next), hidden("x", next), toList(do(func() { s.call = nil }))}, s.call.otherCommands()...)
	case !s.page.done():
		return append(s.page.commands(), nextStep())
	}
	lead := enter("open", s.open)
	if len(s.items) == 0 {
		lead = enter("next step", next)
	}
	if !s.inTable() {
		return append(append([]command{lead}, s.page.otherCommands()...), nextStep())
	}
	commands := []command{lead}
	if len(s.items) > 0 {
		commands = append(commands, bind("→", "", s.open, "right", "o"))
		if s.Walk.HasPages() && !s.Walk.LastPage() {
			commands = append(commands, bind("n", "next page", func() tea.Cmd { return s.readPage(s.query.Page + 1) }))
		}
	}
	if s.query.Page > 0 {
		commands = append(commands, bind("p", "previous page", func() tea.Cmd { return s.readPage(s.query.Page - 1) }))
	}
	if len(s.Walk.Filters()) > 0 {
		commands = append(commands, bind("f", "filter", do(s.chooseFilter)))
	}
	if len(s.query.Filters) > 0 {
		commands = append(commands, bind("F", "no filter", func() tea.Cmd {
			s.query.Filters = map[string]string{}
			return s.readPage(0)
		}))
	}
	commands = append(commands, s.page.tabCommands()...)
	return append(append(commands, nextStep(), repeat("read again", s.page.start)), listHelp()...)
}

func (s *callsScreen) readPage(page int) tea.Cmd {
	s.query.Page = page
	return s.page.start()
}

// chooseFilter opens the filter chooser, which reads the list again with the chosen filter.
func (s *callsScreen) chooseFilter() {
	s.filter = newFilterChooser(s.Session, s.query.Filters, func(name, value string) tea.Cmd {
		delete(s.query.Filters, name)
		if value != "" {
			s.query.Filters[name] = value
		}
		s.filter = nil
		return s.readPage(0)
	}, do(func() { s.filter = nil }))
}

// open opens the selected call; it reads each call only once.
func (s *callsScreen) open() tea.Cmd {
	item := s.items[s.table.At()]
	if s.call = s.opened[item.ID]; s.call != nil {
		s.setHeading(s.call)
		s.call.Update(SecretsToggled{})
		return nil
	}
	call := newActionScreen(s.Session, flow.Calls, "read it", func(ctx context.Context) flow.Result { return s.Walk.OpenCall(ctx, item.ID) })
	call.subject, call.retryKey, call.tabName = item.ID, "s", "Call"
	call.explanation = func(width int) []string { return s.facts(item, call.result.Notes, width) }
	s.call, s.opened[item.ID] = call, call
	s.setHeading(call)
	return call.start()
}

// setHeading shows the title of a call in the selected language.
func (s *callsScreen) setHeading(call *ActionScreen) {
	for _, item := range s.items {
		if item.ID == call.subject {
			call.heading = []string{flow.Localized(item.Name, s.Language), item.ID}
		}
	}
}

// View implements [Screen].
func (s *callsScreen) View(room Size) string {
	switch {
	case s.filter != nil:
		return s.filter.view(room)
	case s.call != nil:
		return besideAction(room, 50, s.list, s.call)
	case s.inTable():
		return s.list(room)
	}
	return s.page.View(room)
}
