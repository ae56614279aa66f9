package step

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// column is one column of the table of calls.
type column struct {
	title string
	width int
	of    func(walk.Call) string
}

// widest is how many columns a text of some calls takes, within bounds: a list may be long, and so may its texts.
func widest(items []walk.Call, of func(walk.Call) string, least, most int) int {
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

func id(c walk.Call) string   { return c.ID }
func kind(c walk.Call) string { return c.Type }

// columns are those that there is room for; the title takes what is left.
func (s *calls) columns(width int) []column {
	columns := []column{{"until", 10, func(c walk.Call) string { return day(c.Until) }}}
	if width >= 60 {
		columns = append([]column{{"type", s.kindWidth, kind}}, columns...)
	}
	if width >= 45 {
		columns = append([]column{{"id", s.idWidth, id}}, columns...)
	}
	for _, c := range columns {
		width -= c.width + 2
	}
	return append(columns, column{"title", max(1, width), func(c walk.Call) string { return walk.In(c.Name, s.Language) }})
}

func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Format(time.DateOnly)
}

// row is one call in the table.
func (s *calls) row(i, width int) string {
	return cells(s.columns(width), func(c column) string { return c.of(s.items[i]) })
}

func cells(columns []column, of func(column) string) string {
	parts := make([]string, len(columns))
	for i, c := range columns {
		parts[i] = view.Cell(of(c), c.width)
	}
	return strings.Join(parts, "  ")
}

// list draws the table, with the sides of its page above and the place in the list below it.
func (s *calls) list(room view.Size) string {
	head := view.Fit(s.page.names(), room.Width)
	if len(s.items) == 0 {
		return head + "\n" + strings.Join(view.Window(append([]string{""}, s.foot(room)...), 0, room.Height-1), "\n")
	}
	if room.Height < 4 { // nothing but rows
		return s.table.View(room)
	}
	names := "  " + s.Theme.Muted.Render(cells(s.columns(room.Width-2), func(c column) string { return c.title }))
	body := view.Stack(view.Size{Width: room.Width, Height: room.Height - 2}, nil, s.table, s.foot(room))
	return head + "\n" + view.Fit(strings.TrimRight(names, " "), room.Width) + "\n" + body
}

// foot says which part of the list this is, and what came of asking for it.
func (s *calls) foot(room view.Size) []string {
	if s.page.busy {
		return []string{s.Theme.Muted.Render("waiting for the node …")}
	}
	place := fmt.Sprintf("page %d: %d to %d", s.query.Page+1, s.query.Page*walk.PageSize+1, s.query.Page*walk.PageSize+len(s.items))
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
	lines := view.Wrap(place, room.Width)
	if room.Height < 16 && len(s.items) > 0 {
		return lines[:1]
	}
	for _, text := range s.page.scene.Says[min(1, len(s.page.scene.Says)):] {
		lines = append(lines, view.Wrap(text, room.Width)...)
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
func (s *calls) facts(c walk.Call, width int) []string {
	var lines []string
	for _, fact := range [][2]string{{"funder", walk.In(c.Funder, s.Language)}, {"type", c.Type}, {"until", day(c.Until)}} {
		if fact[1] != "" {
			lines = append(lines, view.Hang(s.Theme.Muted.Render(fmt.Sprintf("%-7s", fact[0])), fact[1], width)...)
		}
	}
	return append(append(lines, ""), view.Wrap("It is a resource of its own: a client that keeps the id can ask for it again at any time.", width)...)
}
