package tuitest

import tea "github.com/charmbracelet/bubbletea"

// Key is a key by the name that Bubble Tea gives it, such as "enter" or "shift+tab"; another text is typed.
func Key(name string) tea.KeyMsg {
	if name == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune(name)}
	}
	for kind := tea.KeyType(-120); kind < 130; kind++ {
		if kind != tea.KeyRunes && kind != tea.KeySpace && kind.String() == name && name != "" {
			return tea.KeyMsg{Type: kind}
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}
