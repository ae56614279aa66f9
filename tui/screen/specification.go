package screen

import (
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
)

// specificationScreen is the screen that reads the node's document: its operations as a list, and each opened with its parameters and answers.
type specificationScreen struct {
	*Session
	pair
	operations []flow.Operation
	opened     *Pane // of the operation that is looked at; nil while the list is
}

func newSpecificationScreen(w *Session) Screen {
	s := &specificationScreen{Session: w}
	s.list = NewList(w.Theme)
	s.stage = newActionScreen(w, flow.Specification, "read the specification", w.Walk.ReadSpecification)
	s.stage.extra = func(width int) []string {
		return Hang(w.Theme.Muted.Render("Document: "), w.Walk.Target().SpecURL, width)
	}
	s.onStage = true
	return s
}

// Open implements Screen. The operations of another node are not shown any more.
func (s *specificationScreen) Open() tea.Cmd {
	cmd := s.stage.Open()
	if s.stage.scene == nil {
		s.operations, s.opened, s.onStage = nil, nil, true
	}
	return cmd
}

// Typing implements Screen.
func (s *specificationScreen) Typing() bool { return s.onStage && s.stage.Typing() }

// Exchange implements Screen.
func (s *specificationScreen) Exchange() (evidence.Exchange, bool) { return s.stage.Exchange() }

// Update implements Screen.
func (s *specificationScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ActionDone:
		cmd := s.stage.Update(msg)
		s.operations, s.opened, s.onStage = nil, nil, true
		if msg.Scene.OK() {
			s.operations = s.Walk.Operations()
			s.list.Show(len(s.operations), s.row)
			s.list.Go(max(0, slices.IndexFunc(s.operations, func(o flow.Operation) bool { return o.List })))
			s.onStage = len(s.operations) == 0
		}
		return cmd
	case tea.KeyMsg:
		return s.press(msg)
	}
	return s.stage.Update(msg)
}

func (s *specificationScreen) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case len(s.operations) == 0, s.Typing():
		return s.stage.Update(msg)
	case key.Matches(msg, enter("")) && !s.stage.busy:
		return next
	case key.Matches(msg, retry()) && !s.stage.busy:
		return s.stage.again()
	case s.opened != nil && key.Matches(msg, toList()):
		s.opened = nil
		return nil
	case s.opened != nil && !s.onStage:
		if !s.opened.Update(msg) && key.Matches(msg, toStage()) {
			s.onStage = true
		}
		return nil
	case !s.onStage && key.Matches(msg, open("")):
		s.show(s.operations[s.list.At()])
		return nil
	}
	cmd, _ := s.pair.press(msg)
	return cmd
}

// show opens an operation.
func (s *specificationScreen) show(o flow.Operation) {
	s.opened = NewPane(s.Theme)
	s.opened.Show(func(width int) []string { return operation(s.Theme, o, width) })
}

// row is an operation in a line: what it needs stands at the end, whatever the width.
func (s *specificationScreen) row(i, width int) string {
	o := s.operations[i]
	var words []string
	switch {
	case o.List:
		words = append(words, "list")
	case o.Detail:
		words = append(words, "one")
	}
	if len(o.Required) > 0 {
		words = append(words, "needs "+report.Plain(strings.Join(o.Required, ", ")))
	}
	if o.Body {
		words = append(words, "needs a body")
	}
	text := padRight(report.Plain(o.Method), 4) + report.Plain(o.Path)
	return withSuffix(s.Theme, text, Fit(strings.Join(words, ", "), width/2), width)
}

// operation is one of the document, in lines.
func operation(t Theme, o flow.Operation, width int) []string {
	out := Wrapped(t.Title, o.Method+" "+o.Path, width)
	about := o.ID
	switch {
	case o.List:
		about += " · the list that the next step reads"
	case o.Detail:
		about += " · one of the list, opened in the next step"
	}
	if o.Deprecated {
		about += " · deprecated: don't build on it"
	}
	if about = strings.TrimPrefix(about, " · "); about != "" {
		out = append(out, Wrapped(t.Muted, about, width)...)
	}
	out = append(out, "", t.Key.Render("Parameters"))
	for _, p := range o.Parameters {
		sign, word := "  ", "in the "+p.In
		if p.Required {
			sign, word = t.Warn.Render("*")+" ", "required, in the "+p.In
		}
		kind := p.Type
		if len(p.Values) > 0 {
			kind = strings.TrimSpace(kind + ": " + strings.Join(p.Values, ", "))
		}
		out = append(out, indentLines(sign, Columns(t, p.Name, kind, word, width-2))...)
	}
	if len(o.Parameters) == 0 {
		out = append(out, "  none")
	}
	if o.Body {
		out = append(out, indentLines(t.Warn.Render("*")+" ", Columns(t, "body", "", "required", width-2))...)
	}
	out = append(out, "", t.Key.Render("Documented answers"))
	for _, a := range o.Answers {
		out = append(out, indentLines("  ", Columns(t, a.Status, strings.Join(a.Types, ", "), "", width-2))...)
	}
	if len(o.Answers) == 0 {
		out = append(out, "  none")
	}
	return out
}

// indentLines puts a sign before some lines, and blanks before all but the first.
func indentLines(sign string, lines []string) []string {
	for i, line := range lines {
		if i == 0 {
			lines[i] = sign + line
			continue
		}
		lines[i] = "  " + line
	}
	return lines
}

// View implements Screen.
func (s *specificationScreen) View(room Size) string {
	if len(s.operations) == 0 {
		return s.stage.View(room)
	}
	return s.draw(room, s.front)
}

func (s *specificationScreen) front(room Size) string {
	if s.opened != nil {
		return s.opened.View(room)
	}
	var head []string
	for _, text := range s.stage.scene.Notes {
		head = append(head, Wrap(text, room.Width)...)
	}
	if room.Height > 14 {
		head = append(head, Hang(s.Theme.Muted.Render("Document: "), s.Walk.Target().SpecURL, room.Width)...)
	}
	tail := s.stage.summary(room.Width)
	return Stack(room, head, s.list, tail[:min(len(tail), max(1, room.Height/3))])
}

// Keys implements Screen.
func (s *specificationScreen) Keys() []key.Binding {
	switch {
	case len(s.operations) == 0:
		return s.stage.Keys()
	case s.onStage:
		return append([]key.Binding{enter("next"), toList()}, s.stage.Keys()[1:]...)
	case s.opened != nil:
		return append([]key.Binding{enter("next"), toList(), toStage()}, ScrollKeys()...)
	}
	return append([]key.Binding{enter("next"), open("open")}, append(ListKeys(), toStage(), retry())...)
}
