package screen

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/tui/flow"
)

// column is one column of the table of calls.
type column struct {
	title string
	width int
	of    func(flow.Call) string
}

// widest is how many columns a text of some calls takes, within bounds: a list may be long, and so may its texts.
func widest(items []flow.Call, of func(flow.Call) string, least, most int) int {
	for _, c := range items {
		if text := of(c); len(text) > least {
			least = max(least, min(most, lipgloss.Width(text[:min(len(text), 4*most)])))
		}
		if least == most {
			break
		}
	}
	return least
}

func callID(c flow.Call) string { return c.ID }

func callType(c flow.Call) string { return c.Type }

// columns are those that there is room for; the title takes what is left.
func (s *callsScreen) columns(width int) []column {
	columns := []column{{"until", 10, func(c flow.Call) string { return day(c.Until) }}}
	if width >= 60 {
		columns = append([]column{{"type", s.kindWidth, callType}}, columns...)
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

// row is one call in the table.
func (s *callsScreen) row(i, width int) string {
	return cells(s.columns(width), func(c column) string { return c.of(s.items[i]) })
}

func cells(columns []column, of func(column) string) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = Cell(of(c), c.width)
	}
	return strings.Join(parts, "  ")
}

// list draws the table, with the sides of its page above and the place in the list below it.
func (s *callsScreen) list(room Size) string {
	head := Fit(s.page.names(), room.Width)
	if len(s.items) == 0 {
		return head + "\n" + strings.Join(Window(append([]string{""}, s.foot(room)...), 0, room.Height-1), "\n")
	}
	if room.Height < 4 { // nothing but rows
		return s.table.View(room)
	}
	names := "  " + s.Theme.Muted.Render(cells(s.columns(room.Width-2), func(c column) string { return c.title }))
	body := Stack(Size{Width: room.Width, Height: room.Height - 2}, nil, s.table, s.foot(room))
	return head + "\n" + Fit(strings.TrimRight(names, " "), room.Width) + "\n" + body
}

// foot says which part of the list this is, and what came of asking for it.
func (s *callsScreen) foot(room Size) []string {
	if s.page.busy {
		return []string{s.Theme.Muted.Render("waiting for the node …")}
	}
	place := fmt.Sprintf("page %d: %d to %d", s.query.Page+1, s.query.Page*flow.PageSize+1, s.query.Page*flow.PageSize+len(s.items))
	switch {
	case len(s.items) == 0 && s.query.Page > 0:
		place = fmt.Sprintf("page %d is empty: the end of the list", s.query.Page+1)
	case len(s.items) == 0:
		place = "no call matches"
	case !s.Walk.Paged():
		place = fmt.Sprintf("all %d", len(s.items))
	}
	place += map[string]string{"de": ", in German", "en": ", in English"}[s.Language]
	for _, name := range slices.Sorted(maps.Keys(s.query.Filters)) {
		place += ", " + name + "=" + s.query.Filters[name]
	}
	lines := Wrap(place, room.Width)
	if room.Height < 16 && len(s.items) > 0 {
		return lines[:1]
	}
	for _, text := range s.page.scene.Notes[min(1, len(s.page.scene.Notes)):] {
		lines = append(lines, Wrap(text, room.Width)...)
	}
	if len(s.page.scene.Verdicts) > 0 {
		lines = append(lines, s.page.summary(room.Width)...)
	}
	if len(s.items) == 0 {
		return lines
	}
	return lines[:min(len(lines), room.Height/3)]
}

// facts are what a table shows of a call, in the language of the moment.
func (s *callsScreen) facts(c flow.Call, width int) []string {
	var lines []string
	for _, fact := range [][2]string{{"funder", flow.Localized(c.Funder, s.Language)}, {"type", c.Type}, {"until", day(c.Until)}} {
		if fact[1] != "" {
			lines = append(lines, Hang(s.Theme.Muted.Render(fmt.Sprintf("%-7s", fact[0])), fact[1], width)...)
		}
	}
	return append(append(lines, ""), Wrap("It is a resource of its own: a client that keeps the id can ask for it again at any time.", width)...)
}

// filterChooser is the choice of a filter: first its name, then its value. Both come from the node's document.
type filterChooser struct {
	theme   Theme
	filters []flow.Filter
	now     map[string]string
	names   *List
	values  *List
	inside  bool // whether a value is being chosen
}

func newFilterChooser(w *Session, now map[string]string) *filterChooser {
	f := &filterChooser{theme: w.Theme, filters: w.Walk.Filters(), now: now, names: NewList(w.Theme), values: NewList(w.Theme)}
	f.names.Show(len(f.filters), func(i, width int) string {
		name := Cell(f.filters[i].Name, min(24, width/2))
		if value := f.now[f.filters[i].Name]; value != "" {
			return name + "  " + Cell(value, max(1, width-min(24, width/2)-2))
		}
		return name + "  " + f.theme.Muted.Render("any")
	})
	return f
}

func (f *filterChooser) filter() flow.Filter { return f.filters[f.names.At()] }

// press takes a key. A value that is chosen is told with the filter's name; it is empty for any.
func (f *filterChooser) press(msg tea.KeyMsg) (name, value string, chosen, closed bool) {
	switch {
	case key.Matches(msg, leave()) && f.inside:
		f.inside = false
	case key.Matches(msg, leave()):
		return "", "", false, true
	case key.Matches(msg, enter(""), open("")) && f.inside:
		if i := f.values.At(); i > 0 {
			value = f.filter().Values[i-1]
		}
		return f.filter().Name, value, true, false
	case key.Matches(msg, enter(""), open("")):
		f.look()
	case f.inside:
		f.values.Update(msg)
	default:
		f.names.Update(msg)
	}
	return "", "", false, false
}

// look shows the values of the filter under the cursor.
func (f *filterChooser) look() {
	f.inside = true
	values := f.filter().Values
	f.values.Show(len(values)+1, func(i, width int) string {
		if i == 0 {
			return "any"
		}
		return Cell(values[i-1], width)
	})
	f.values.Go(0)
	for i, v := range values {
		if v == f.now[f.filter().Name] {
			f.values.Go(i + 1)
		}
	}
}

// view draws the choice.
func (f *filterChooser) view(room Size) string {
	list, head := f.names, "Filter the calls by"
	if f.inside {
		list, head = f.values, f.filter().Name
	}
	return Stack(room, []string{f.theme.Title.Render(Cell(head, room.Width))}, list, nil)
}

func (f *filterChooser) keys() []key.Binding {
	return append([]key.Binding{enter("choose"), leave()}, ListKeys()...)
}

func leave() key.Binding {
	return key.NewBinding(key.WithKeys("esc", "left", "backspace"), key.WithHelp("esc", "back"))
}
