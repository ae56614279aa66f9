package screen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/tui/flow"
)

// column is a column of the table of calls.
type column struct {
	title string
	width int
	text  func(flow.Call) string
}

// columnWidth returns the width that a column needs, within bounds. It stops at the upper bound, because a node may send many long texts.
func columnWidth(items []flow.Call, text func(flow.Call) string, least, most int) int {
	for _, c := range items {
		if t := text(c); len(t) > least {
			least = max(least, min(most, lipgloss.Width(t[:min(len(t), 4*most)])))
		}
		if least == most {
			break
		}
	}
	return least
}

func callID(c flow.Call) string   { return c.ID }
func callType(c flow.Call) string { return c.Type }

// columns returns the columns that fit. The title takes the remaining width.
func (s *callsScreen) columns(width int) []column {
	columns := []column{{"until", 10, func(c flow.Call) string { return day(c.Until) }}}
	if width >= 60 {
		columns = append([]column{{"type", s.typeWidth, callType}}, columns...)
	}
	if width >= 45 {
		columns = append([]column{{"id", s.idWidth, callID}}, columns...)
	}
	for _, c := range columns {
		width -= c.width + 2
	}
	return append(columns, column{"title", max(1, width), func(c flow.Call) string { return flow.Localized(c.Name, s.Language) }})
}

func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Format(time.DateOnly)
}

// row shows a call in one line.
func (s *callsScreen) row(i, width int) string {
	return cells(s.columns(width), func(c column) string { return c.text(s.items[i]) })
}

func cells(columns []column, text func(column) string) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = Cell(text(c), c.width)
	}
	return strings.Join(parts, "  ")
}

// list draws the table, with the tabs above it and the page number below it.
func (s *callsScreen) list(room Size) string {
	head := Fit(s.page.tabNames(), room.Width)
	if len(s.items) == 0 {
		return head + "\n" + strings.Join(Window(append([]string{""}, s.foot(room)...), 0, room.Height-1), "\n")
	}
	if room.Height < 4 { // there is room for rows only
		return s.table.View(room)
	}
	titles := "  " + s.Theme.Muted.Render(cells(s.columns(room.Width-2), func(c column) string { return c.title }))
	body := Stack(Size{Width: room.Width, Height: room.Height - 2}, nil, s.table, s.foot(room))
	return head + "\n" + Fit(strings.TrimRight(titles, " "), room.Width) + "\n" + body
}

// foot says which part of the list is visible, and what the answer means.
func (s *callsScreen) foot(room Size) []string {
	if s.page.busy {
		return []string{s.Theme.Muted.Render("waiting for the node …")}
	}
	first := s.query.Page * flow.PageSize
	position := fmt.Sprintf("page %d: %d to %d", s.query.Page+1, first+1, first+len(s.items))
	switch {
	case len(s.items) == 0 && s.query.Page > 0:
		position = fmt.Sprintf("page %d is empty: the end of the list", s.query.Page+1)
	case len(s.items) == 0:
		position = "no call matches"
	case !s.Walk.HasPages():
		position = fmt.Sprintf("all %d", len(s.items))
	case s.Walk.LastPage():
		position += ", the last page"
	}
	position += map[string]string{"de": ", in German", "en": ", in English"}[s.Language]
	for _, name := range slices.Sorted(maps.Keys(s.query.Filters)) {
		position += ", " + name + "=" + s.query.Filters[name]
	}
	lines := Wrap(position, room.Width)
	if room.Height < 16 && len(s.items) > 0 {
		return lines[:1]
	}
	notes := s.page.result.Notes
	lines = append(lines, wrapAll(notes[min(1, len(notes)):], room.Width)...)
	if len(s.page.result.Verdicts) > 0 {
		lines = append(lines, s.page.summary(room.Width)...)
	}
	if len(s.items) == 0 {
		return lines
	}
	return lines[:min(len(lines), room.Height/3)]
}

// facts describes an opened call in the current language.
func (s *callsScreen) facts(c flow.Call, notes []string, width int) []string {
	var lines []string
	for _, fact := range [][2]string{{"funder", flow.Localized(c.Funder, s.Language)}, {"type", c.Type}, {"until", day(c.Until)}} {
		if fact[1] != "" {
			lines = append(lines, Hang(s.Theme.Muted.Render(fmt.Sprintf("%-7s", fact[0])), fact[1], width)...)
		}
	}
	return append(append(lines, ""), Wrap(strings.Join(notes, " "), width)...)
}

// filterChooser chooses a filter: first its name, then its value. Both come from the node's document.
type filterChooser struct {
	theme    Theme
	filters  []flow.Filter
	current  map[string]string
	names    *List
	values   *List
	inValues bool
	// onChoose is called with the name of a filter and its value, "" for any value; onCancel if the person chooses nothing.
	onChoose func(name, value string) tea.Cmd
	onCancel func() tea.Cmd
}

func newFilterChooser(w *Session, current map[string]string, onChoose func(name, value string) tea.Cmd, onCancel func() tea.Cmd) *filterChooser {
	f := &filterChooser{theme: w.Theme, filters: w.Walk.Filters(), current: current, names: NewList(w.Theme), values: NewList(w.Theme), onChoose: onChoose, onCancel: onCancel}
	f.names.Show(len(f.filters), func(i, width int) string {
		name := Cell(f.filters[i].Name, min(24, width/2))
		if value := f.current[f.filters[i].Name]; value != "" {
			return name + "  " + Cell(value, max(1, width-min(24, width/2)-2))
		}
		return name + "  " + f.theme.Muted.Render("any")
	})
	return f
}

// list returns the visible list.
func (f *filterChooser) list() *List {
	if f.inValues {
		return f.values
	}
	return f.names
}

func (f *filterChooser) selectedFilter() flow.Filter { return f.filters[f.names.At()] }

// Update handles a key.
func (f *filterChooser) Update(msg tea.KeyMsg) tea.Cmd {
	cmd, handled := press(msg, f.commands())
	if !handled {
		f.list().Update(msg)
	}
	return cmd
}

func (f *filterChooser) commands() []command {
	return append([]command{bind("enter", "choose", f.choose, "enter", "right", "o"), bind("esc", "back", f.back, "esc", "left", "backspace")}, listHelp()...)
}

func (f *filterChooser) choose() tea.Cmd {
	if !f.inValues {
		f.showValues()
		return nil
	}
	value := ""
	if i := f.values.At(); i > 0 {
		value = f.selectedFilter().Values[i-1]
	}
	return f.onChoose(f.selectedFilter().Name, value)
}

func (f *filterChooser) back() tea.Cmd {
	if !f.inValues {
		return f.onCancel()
	}
	f.inValues = false
	return nil
}

// showValues lists the values of the selected filter.
func (f *filterChooser) showValues() {
	f.inValues = true
	values := f.selectedFilter().Values
	f.values.Show(len(values)+1, func(i, width int) string {
		if i == 0 {
			return "any"
		}
		return Cell(values[i-1], width)
	})
	f.values.Go(slices.Index(values, f.current[f.selectedFilter().Name]) + 1)
}

// view draws the chooser.
func (f *filterChooser) view(room Size) string {
	head := "Filter the calls by"
	if f.inValues {
		head = f.selectedFilter().Name
	}
	return Stack(room, []string{f.theme.Title.Render(Cell(head, room.Width))}, f.list(), nil)
}
