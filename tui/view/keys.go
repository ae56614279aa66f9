package view

import "github.com/charmbracelet/bubbles/key"

type messaging struct {
	fold, unfold, toggle, foldAll, asText, search, next, before, leftward, rightward key.Binding
}

func messageKeys() messaging {
	bind := func(help, what string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, what))
	}
	return messaging{
		fold: bind("-", "fold", "-"), unfold: bind("+", "unfold", "+", "="), toggle: bind("z", "fold, unfold", "z"), foldAll: bind("Z", "fold, unfold all", "Z"),
		asText: bind("w", "as it came", "w"), search: bind("/", "search", "/"), next: bind("n", "next hit", "n"), before: bind("N", "hit before", "N"),
		leftward: bind("<", "scroll left", "<", "shift+left"), rightward: bind(">", "scroll right", ">", "shift+right"),
	}
}

// Keys are those that mean something now, the most useful first.
func (m *Message) Keys() []key.Binding {
	k := messageKeys()
	if m.search.typing {
		return []key.Binding{
			key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "search")),
			key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "don't")),
		}
	}
	var keys []key.Binding
	if m.tree != nil && !m.asText {
		keys = append(keys, k.toggle)
	}
	keys = append(keys, k.search)
	if m.search.line() {
		keys = append(keys, k.next, k.before)
	}
	if m.tree != nil {
		k.asText.SetHelp("w", map[bool]string{false: "as it came", true: "as a tree"}[m.asText])
		keys = append(keys, k.asText)
	}
	if m.tree != nil && !m.asText {
		keys = append(keys, k.foldAll, k.fold, k.unfold)
	}
	keys = append(keys, ScrollKeys()...)
	return append(keys, k.leftward, k.rightward)
}
