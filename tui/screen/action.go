package screen

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/flow"
)

// ActionScreen is the screen of a single action: it says why, sends requests, and shows the result in tabs.
type ActionScreen struct {
	*Session
	step   flow.Step
	verb   string // what enter does, such as "ask for a token"
	action func(context.Context) flow.Result

	// These parts are optional. heading replaces the guide of the step; live and explanation replace the notes of the result and are drawn
	// again every second, live above the guide and explanation below it; details follow the result.
	heading                    []string
	live, explanation, details func(width int) []string
	// subject distinguishes the actions of a step; retryKey replaces enter after trouble; tabName names the first tab after the action.
	subject           any
	retryKey, tabName string

	busy        bool
	room        Size // below the tabs
	result      *flow.Result
	targetCount int // of the result
	index       int // of the visible exchange
	tab         tab
	panes       [tabCount]*Pane
	exchange    *exchangePanes // replaces the panes of request and response after the action
}

// tab is a view of a result.
type tab int

const (
	whyTab tab = iota
	requestTab
	responseTab
	verdictTab
	tabCount
)

func (t tab) String() string { return [...]string{"Why", "Request", "Response", "Verdict"}[t] }

// newActionScreen makes the screen of an action; a nil action only shows a result.
func newActionScreen(w *Session, step flow.Step, verb string, action func(context.Context) flow.Result) *ActionScreen {
	s := &ActionScreen{Session: w, step: step, verb: verb, action: action, exchange: newExchangePanes(w)}
	for i := range s.panes {
		s.panes[i] = NewPane(w.Theme)
	}
	s.fill()
	return s
}

// Open implements [Screen]. It drops the result of another node or client.
func (s *ActionScreen) Open() tea.Cmd {
	if s.result != nil && s.targetCount != s.Walk.TargetCount() {
		s.reset()
	}
	return nil
}

func (s *ActionScreen) reset() {
	s.result, s.index, s.tab = nil, 0, whyTab
	s.fill()
}

// done reports whether the action succeeded.
func (s *ActionScreen) done() bool { return s.result != nil && s.result.OK() }

// failed reports whether the action failed.
func (s *ActionScreen) failed() bool { return s.result != nil && !s.result.OK() }

// Typing implements [Screen].
func (s *ActionScreen) Typing() bool {
	m, ok := s.message()
	return ok && m.Typing()
}

// message returns the visible message; ok is false on other tabs and before the action.
func (s *ActionScreen) message() (m *Message, ok bool) {
	_, sent := s.Exchange()
	m, ok = s.exchange.pane(s.tab)
	return m, ok && sent
}

// Exchange implements [Screen].
func (s *ActionScreen) Exchange() (evidence.Exchange, bool) {
	if s.result == nil || len(s.result.Exchanges) == 0 {
		return evidence.Exchange{}, false
	}
	return s.result.Exchanges[s.index], true
}

// Update implements [Screen].
func (s *ActionScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ActionDone:
		if msg.Step == s.step {
			s.targetCount = msg.TargetCount
			s.show(msg.Result)
		}
	case Tick:
		if s.live != nil || s.explanation != nil {
			s.panes[whyTab].Refresh()
		}
	case SecretsToggled:
		for _, p := range s.panes {
			p.Refresh()
		}
	case tea.KeyMsg:
		m, inMessage := s.message()
		if inMessage && m.Typing() {
			return m.Update(msg)
		}
		if cmd, handled := press(msg, s.commands()); handled {
			return cmd
		}
		if inMessage {
			return m.Update(msg)
		}
		s.panes[s.tab].Update(msg)
	default:
		return s.exchange.Update(msg)
	}
	return nil
}

// show shows a result.
func (s *ActionScreen) show(result flow.Result) {
	s.busy, s.result, s.index, s.tab = false, &result, max(0, len(result.Exchanges)-1), whyTab
	s.fill()
}

// Keys implements [Screen].
func (s *ActionScreen) Keys() []key.Binding { return helpOf(s.commands()) }

func (s *ActionScreen) commands() []command {
	if s.Typing() {
		m, _ := s.message()
		return m.commands()
	}
	return append([]command{s.enter()}, s.otherCommands()...)
}

// enter returns the command of the key enter.
func (s *ActionScreen) enter() command {
	switch {
	case s.busy:
		return escape("back", nil)
	case s.done():
		return enter("next step", next)
	case s.failed() && s.canEdit():
		return enter("again", s.start) // short, so that the narrowest footer has room for the next command, too
	case s.failed():
		return enter("try again", s.start)
	}
	return enter(s.verb, s.start)
}

// otherCommands returns the commands besides enter.
func (s *ActionScreen) otherCommands() []command {
	var commands []command
	if s.canEdit() {
		step, _ := s.result.EditStep()
		commands = append(commands, edit("edit", func() tea.Cmd {
			return func() tea.Msg { return GoToStep{To: step, Edit: true} }
		}))
	}
	commands = append(commands, s.tabCommands()...)
	if s.action != nil && !s.busy {
		if s.result != nil {
			commands = append(commands, repeat("send again", s.start))
		} else {
			commands = append(commands, hidden("s", s.start))
		}
	}
	if s.result != nil && len(s.result.Exchanges) > 1 {
		commands = append(commands, bind("[", "previous exchange", do(func() { s.showExchange(s.index - 1) })), bind("]", "next exchange", do(func() { s.showExchange(s.index + 1) })))
	}
	if m, ok := s.message(); ok {
		return append(commands, m.commands()...)
	}
	return append(commands, scrollHelp()...)
}

// tabCommands returns the commands that go to another tab.
func (s *ActionScreen) tabCommands() []command {
	return []command{
		nextTab("pane", do(func() { s.tab = (s.tab + 1) % s.tabs() })),
		hidden("shift+tab", do(func() { s.tab = (s.tab + s.tabs() - 1) % s.tabs() })),
	}
}

// tabs returns the number of tabs. Faults that the tour provokes itself are not judged, so that step has no verdicts.
func (s *ActionScreen) tabs() tab {
	if s.step == flow.Faults {
		return verdictTab
	}
	return tabCount
}

// canEdit reports whether editing the node or the credentials may end the trouble.
func (s *ActionScreen) canEdit() bool {
	if s.busy || s.result == nil {
		return false
	}
	_, ok := s.result.EditStep()
	return ok
}

// start starts the action.
func (s *ActionScreen) start() tea.Cmd {
	s.busy = true
	s.panes[whyTab].Refresh()
	return s.act(s.step, s.subject, s.action)
}

// showExchange shows the exchange of the result at an index.
func (s *ActionScreen) showExchange(index int) {
	if s.result == nil || index < 0 || index >= len(s.result.Exchanges) {
		return
	}
	s.index = index
	s.fill()
}

// fill sets the contents of the tabs.
func (s *ActionScreen) fill() {
	s.panes[whyTab].Show(s.overview)
	s.panes[requestTab].Show(s.noRequest)
	s.panes[responseTab].Show(s.noRequest)
	if x, ok := s.Exchange(); ok {
		s.exchange.show(x)
	}
	s.panes[verdictTab].Show(func(width int) []string {
		switch {
		case s.result == nil:
			return s.noRequest(width)
		case s.result.Trouble != nil:
			return Trouble(s.Theme, *s.result.Trouble, width)
		case len(s.result.Verdicts) == 0:
			return Wrap("No rule of the catalogue judges this answer.", width)
		}
		return Verdicts(s.Theme, s.result.Verdicts, width)
	})
}

// noRequest says why there is nothing to show in a tab.
func (s *ActionScreen) noRequest(width int) []string {
	if s.result != nil {
		return Wrap("No request was sent for this.", width)
	}
	return Wrap("No request has been sent yet: press enter to "+s.verb+".", width)
}

// overview says what the step is for and, after the action, its result.
func (s *ActionScreen) overview(width int) []string {
	why := s.why(width)
	switch {
	case s.busy:
		return append(why, s.Theme.Muted.Render("waiting for the node …"))
	case s.result == nil:
		return append(why, s.Theme.Key.Render("enter")+" "+s.verb)
	}
	outcome := s.outcome(width)
	resultFirst := s.live != nil && s.result.OK() || len(why)+len(outcome) > s.room.Height
	if resultFirst && s.heading == nil {
		return append(append(outcome, ""), why...)
	}
	return append(why, outcome...)
}

// why says what the step is for.
func (s *ActionScreen) why(width int) []string {
	if s.heading != nil {
		var lines []string
		for _, text := range s.heading {
			lines = append(lines, WrapStyled(s.Theme.Title, text, width)...)
		}
		return append(lines, "")
	}
	return append(s.Theme.guide(s.step, width), "")
}

// outcome describes the result of the action.
func (s *ActionScreen) outcome(width int) []string {
	var lines []string
	if s.live != nil && s.result.OK() {
		lines = s.live(width)
		if len(s.result.Verdicts) > 0 {
			lines = append(append(lines, ""), s.summary(width)...)
		}
		return lines
	}
	if x, ok := s.Exchange(); ok {
		lines = append(brief(s.Theme, x, s.mask()), "")
	}
	if s.result.Trouble != nil {
		lines = append(lines, Trouble(s.Theme, *s.result.Trouble, width)...)
		lines = append(lines, "", s.Theme.Key.Render(cmp.Or(s.retryKey, "enter"))+" try again")
		if s.canEdit() {
			step, _ := s.result.EditStep()
			lines = append(lines, s.Theme.Key.Render("e")+"     edit "+map[flow.Step]string{flow.Node: "the node", flow.Credentials: "the credentials"}[step])
		}
		return lines
	}
	if s.explanation != nil {
		lines = append(lines, s.explanation(width)...)
	} else {
		lines = append(lines, wrapAll(s.result.Notes, width)...)
	}
	if len(s.result.Verdicts) > 0 {
		if len(s.result.Notes) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, s.summary(width)...)
	}
	if s.details != nil {
		lines = append(lines, s.details(width)...)
	}
	return lines
}

// summary counts the verdicts, and shows those that are not a pass.
func (s *ActionScreen) summary(width int) []string {
	passed := 0
	var others []flow.Verdict
	for _, v := range s.result.Verdicts {
		if v.Outcome == requirement.Pass {
			passed++
			continue
		}
		others = append(others, v)
	}
	var lines []string
	if passed > 0 {
		sign, _, style := s.Theme.Sign(worstOutcome(s.result.Verdicts))
		lines = Hang(style.Render(sign)+" ", fmt.Sprintf("%d of %d rules passed (%s)", passed, len(s.result.Verdicts), strings.ToLower(verdictTab.String())), width)
	}
	return append(lines, Verdicts(s.Theme, others, width)...)
}

// brief shows an exchange in two lines.
func brief(t Theme, x evidence.Exchange, mask flow.MaskFunc) []string {
	out := []string{t.Muted.Render("> ") + t.Start.Render(flow.RequestHead(x, mask)[0].Text)}
	for _, l := range flow.ResponseHead(x, mask) {
		if l.Kind == flow.StartLine || l.Kind == flow.NoteLine {
			return append(out, t.Muted.Render("< ")+t.Start.Render(l.Text))
		}
	}
	return out
}

// View implements [Screen].
func (s *ActionScreen) View(room Size) string {
	room.Height--
	if s.room != room {
		s.room = room
		s.panes[whyTab].Refresh()
	}
	content := "" // drawn before the tabs, which show how much is above and below
	if m, ok := s.message(); ok {
		content = m.View(room)
	} else {
		content = s.panes[s.tab].View(room)
	}
	return s.tabLine(room.Width) + "\n" + content
}

// tabLine names the tabs, and says how much more there is to see.
func (s *ActionScreen) tabLine(width int) string {
	line := s.tabNames()
	if s.result != nil && len(s.result.Exchanges) > 1 {
		position := fmt.Sprintf("  exchange %d of %d", s.index+1, len(s.result.Exchanges))
		if width < 60 {
			position = fmt.Sprintf(" %d/%d", s.index+1, len(s.result.Exchanges))
		}
		line += s.Theme.Muted.Render(position)
	}
	above, below := s.panes[s.tab].More()
	if m, ok := s.message(); ok {
		above, below = m.More()
	}
	if above+below > 0 {
		more := fmt.Sprintf("  ↑%d ↓%d", above, below)
		if width < 60 {
			more = " " + strings.Repeat("↑", min(1, above)) + strings.Repeat("↓", min(1, below))
		}
		line += s.Theme.Muted.Render(more)
	}
	return Fit(line, width)
}

// tabNames names the tabs, the visible one in brackets.
func (s *ActionScreen) tabNames() string {
	line := ""
	for t := range s.tabs() {
		name := t.String()
		if t == whyTab && s.tabName != "" && s.result != nil {
			name = s.tabName
		}
		line += s.Theme.tab(name, t == s.tab)
	}
	return line
}
