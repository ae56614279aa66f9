package step

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// filtering is the choice of a filter: first its name, then its value. Both come from the node's document.
type filtering struct {
	theme   view.Theme
	filters []walk.Filter
	now     map[string]string
	names   *view.List
	values  *view.List
	inside  bool // whether a value is being chosen
}

func newFiltering(w *World, now map[string]string) *filtering {
	f := &filtering{theme: w.Theme, filters: w.Walk.Filters(), now: now, names: view.NewList(w.Theme), values: view.NewList(w.Theme)}
	f.names.Show(len(f.filters), func(i, width int) string {
		name := view.Cell(f.filters[i].Name, min(24, width/2))
		if value := f.now[f.filters[i].Name]; value != "" {
			return name + "  " + view.Cell(value, max(1, width-min(24, width/2)-2))
		}
		return name + "  " + f.theme.Muted.Render("any")
	})
	return f
}

func (f *filtering) filter() walk.Filter { return f.filters[f.names.At()] }

// press takes a key. A value that is chosen is told with the filter's name; it is empty for any.
func (f *filtering) press(msg tea.KeyMsg) (name, value string, chosen, closed bool) {
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
func (f *filtering) look() {
	f.inside = true
	values := f.filter().Values
	f.values.Show(len(values)+1, func(i, width int) string {
		if i == 0 {
			return "any"
		}
		return view.Cell(values[i-1], width)
	})
	f.values.Go(0)
	for i, v := range values {
		if v == f.now[f.filter().Name] {
			f.values.Go(i + 1)
		}
	}
}

// view draws the choice.
func (f *filtering) view(room view.Size) string {
	list, head := f.names, "Filter the calls by"
	if f.inside {
		list, head = f.values, f.filter().Name
	}
	return view.Stack(room, []string{f.theme.Title.Render(view.Cell(head, room.Width))}, list, nil)
}

func (f *filtering) keys() []key.Binding {
	return append([]key.Binding{enter("choose"), leave()}, view.ListKeys()...)
}

func leave() key.Binding {
	return key.NewBinding(key.WithKeys("esc", "left", "backspace"), key.WithHelp("esc", "back"))
}
