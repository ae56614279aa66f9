package step

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"

	"github.com/rin-network/rin/tui/view"
)

// tabs names the sides, and says what more there is to see.
func (s *Stage) tabs(width int) string {
	line := s.names()
	if s.scene != nil && len(s.scene.Exchanges) > 1 {
		place := fmt.Sprintf("  exchange %d of %d", s.at+1, len(s.scene.Exchanges))
		if width < 60 {
			place = fmt.Sprintf(" %d/%d", s.at+1, len(s.scene.Exchanges))
		}
		line += s.Theme.Muted.Render(place)
	}
	above, below := s.panes[s.side].More()
	if m, ok := s.message(); ok {
		above, below = m.More()
	}
	if above+below > 0 {
		more := fmt.Sprintf("  ↑%d ↓%d", above, below)
		if width < 60 { // that there is more, where there is no room to say how much
			more = " " + strings.Repeat("↑", min(1, above)) + strings.Repeat("↓", min(1, below))
		}
		line += s.Theme.Muted.Render(more)
	}
	return view.Fit(line, width)
}

// names are those of the sides, the one that is seen in brackets.
func (s *Stage) names() string {
	var parts []string
	for i := range sides {
		name := i.String()
		if i == story && s.named != "" && s.scene != nil {
			name = s.named
		}
		if i == s.side {
			parts = append(parts, s.Theme.Key.Render("["+name+"]"))
			continue
		}
		parts = append(parts, s.Theme.Muted.Render(" "+name+" "))
	}
	return strings.Join(parts, "")
}

// Keys implements Screen.
func (s *Stage) Keys() []key.Binding {
	lead := enter(s.verb)
	switch {
	case s.busy:
		lead = key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "back"))
	case s.scene != nil && s.scene.Well():
		lead = enter("next step")
	case s.scene != nil:
		lead = enter("try again")
	}
	keys := []key.Binding{lead, sideOn()}
	if s.mendable() {
		keys = []key.Binding{enter("again"), edit(), sideOn()} // both fit the narrowest foot
	}
	if s.scene != nil {
		if s.play != nil {
			keys = append(keys, retry())
		}
		if len(s.scene.Exchanges) > 1 {
			keys = append(keys, earlier(), later())
		}
	}
	if m, ok := s.message(); ok {
		if m.Typing() {
			return m.Keys()
		}
		return append(keys, m.Keys()...)
	}
	return append(keys, view.ScrollKeys()...)
}

func sideOn() key.Binding { return key.NewBinding(key.WithKeys("tab"), key.WithHelp("tab", "pane")) }
func sideBack() key.Binding {
	return key.NewBinding(key.WithKeys("shift+tab"), key.WithHelp("shift+tab", "pane before"))
}
func retry() key.Binding { return key.NewBinding(key.WithKeys("s"), key.WithHelp("s", "send again")) }
func edit() key.Binding  { return key.NewBinding(key.WithKeys("e"), key.WithHelp("e", "edit")) }
func earlier() key.Binding {
	return key.NewBinding(key.WithKeys("["), key.WithHelp("[", "exchange before"))
}
func later() key.Binding {
	return key.NewBinding(key.WithKeys("]"), key.WithHelp("]", "next exchange"))
}
