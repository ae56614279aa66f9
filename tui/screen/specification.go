package screen

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
)

// specificationScreen reads the node's document, lists its operations, and shows one of them in full.
type specificationScreen struct {
	*Session
	splitView
	operations []flow.Operation
	opened     *Pane // the opened operation; nil while the list is visible
}

func newSpecificationScreen(w *Session) Screen {
	s := &specificationScreen{Session: w}
	s.list = NewList(w.Theme)
	s.action = newActionScreen(w, flow.Specification, "read the specification", w.Walk.ReadSpecification)
	s.action.details = func(width int) []string {
		return Hang(w.Theme.Muted.Render("Document: "), w.Walk.Target().SpecURL, width)
	}
	s.onAction = true
	return s
}

// Open implements [Screen]. If the node changed, the action drops its result, and the screen drops the operations, too.
func (s *specificationScreen) Open() tea.Cmd {
	cmd := s.action.Open()
	if s.action.result == nil {
		s.clear()
	}
	return cmd
}

// clear drops the operations and shows the action.
func (s *specificationScreen) clear() { s.operations, s.opened, s.onAction = nil, nil, true }

// Typing implements [Screen].
func (s *specificationScreen) Typing() bool { return s.onAction && s.action.Typing() }

// Exchange implements [Screen].
func (s *specificationScreen) Exchange() (evidence.Exchange, bool) { return s.action.Exchange() }

// Update implements [Screen].
func (s *specificationScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ActionDone:
		cmd := s.action.Update(msg)
		s.clear()
		if msg.Result.OK() {
			s.operations = s.Walk.Operations()
			s.list.Show(len(s.operations), s.row)
			theList := slices.IndexFunc(s.operations, func(o flow.Operation) bool { return o.List })
			s.list.Go(max(0, theList)) // the next step reads it
			s.onAction = len(s.operations) == 0
		}
		return cmd
	case tea.KeyMsg:
		if len(s.operations) == 0 || s.Typing() {
			return s.action.Update(msg)
		}
		if cmd, handled := press(msg, s.commands()); handled {
			return cmd
		}
		if s.opened != nil && !s.onAction {
			s.opened.Update(msg)
			return nil
		}
		return s.move(msg)
	}
	return s.action.Update(msg)
}

// Keys implements [Screen].
func (s *specificationScreen) Keys() []key.Binding {
	if len(s.operations) == 0 || s.Typing() {
		return s.action.Keys()
	}
	return helpOf(s.commands())
}

// commands returns the commands of what is visible: the opened operation, the action or the list.
func (s *specificationScreen) commands() []command {
	var commands []command
	if !s.action.busy {
		commands = append(commands, enter("next", next))
	}
	switch {
	case s.opened != nil:
		commands = append(commands, toList(do(func() { s.opened = nil })))
		if s.onAction {
			return append(commands, s.action.otherCommands()...)
		}
		commands = append(append(commands, s.splitView.commands()...), scrollHelp()...)
	case s.onAction:
		return append(commands, s.splitView.commands()...)
	default:
		commands = append(commands, open("open", do(func() { s.openOperation(s.operations[s.list.At()]) })))
		commands = append(append(commands, listHelp()...), s.splitView.commands()...)
	}
	if !s.action.busy {
		commands = append(commands, repeat("send again", s.action.start))
	}
	return commands
}

func (s *specificationScreen) openOperation(o flow.Operation) {
	s.opened = NewPane(s.Theme)
	s.opened.Show(func(width int) []string { return operationLines(s.Theme, o, width) })
}

// row shows an operation in one line, with what it requires at the end.
func (s *specificationScreen) row(i, width int) string {
	o := s.operations[i]
	var remarks []string
	switch {
	case o.List:
		remarks = append(remarks, "list")
	case o.Detail:
		remarks = append(remarks, "one call")
	}
	if len(o.Required) > 0 {
		remarks = append(remarks, "needs "+report.Plain(strings.Join(o.Required, ", ")))
	}
	if o.Body {
		remarks = append(remarks, "needs a body")
	}
	text := padRight(report.Plain(o.Method), 4) + report.Plain(o.Path)
	return withRemark(s.Theme, text, Fit(strings.Join(remarks, ", "), width/2), width)
}

// operationLines describes an operation.
func operationLines(t Theme, o flow.Operation, width int) []string {
	lines := WrapStyled(t.Title, o.Method+" "+o.Path, width)
	about := o.ID
	switch {
	case o.List:
		about += " · the list that the next step reads"
	case o.Detail:
		about += " · reads one call of the list in the next step"
	}
	if o.Deprecated {
		about += " · deprecated: do not use it in new clients"
	}
	if about = strings.TrimPrefix(about, " · "); about != "" {
		lines = append(lines, WrapStyled(t.Muted, about, width)...)
	}
	lines = append(lines, "", t.Key.Render("Parameters"))
	for _, p := range o.Parameters {
		sign, where := "  ", "in the "+p.In
		if p.Required {
			sign, where = t.Warn.Render("*")+" ", "required, in the "+p.In
		}
		values := p.Type
		if len(p.Values) > 0 {
			values = strings.TrimSpace(values + ": " + strings.Join(p.Values, ", "))
		}
		lines = append(lines, indent(sign, Columns(t, p.Name, values, where, width-2))...)
	}
	if len(o.Parameters) == 0 {
		lines = append(lines, "  none")
	}
	if o.Body {
		lines = append(lines, indent(t.Warn.Render("*")+" ", Columns(t, "body", "", "required", width-2))...)
	}
	lines = append(lines, "", t.Key.Render("Documented answers"))
	for _, a := range o.Answers {
		lines = append(lines, indent("  ", Columns(t, a.Status, strings.Join(a.Types, ", "), "", width-2))...)
	}
	if len(o.Answers) == 0 {
		lines = append(lines, "  none")
	}
	return lines
}

// View implements [Screen].
func (s *specificationScreen) View(room Size) string {
	if len(s.operations) == 0 {
		return s.action.View(room)
	}
	return s.draw(room, s.front)
}

// front draws the opened operation or the list.
func (s *specificationScreen) front(room Size) string {
	if s.opened != nil {
		return s.opened.View(room)
	}
	head := wrapAll(s.action.result.Notes, room.Width)
	if room.Height > 14 { // with fewer lines, the list needs them all
		head = append(head, s.action.details(room.Width)...)
	}
	tail := s.action.summary(room.Width)
	return Stack(room, head, s.list, tail[:min(len(tail), max(1, room.Height/3))])
}
