package tui

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
)

// keymap are the keys that mean the same on every screen.
type keymap struct {
	back, help, jump, copy, copySecret, reveal, history, language, quit key.Binding
}

func keys() keymap {
	bind := func(help, what string, keys ...string) key.Binding {
		return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, what))
	}
	var digits []string
	for n := range 10 {
		digits = append(digits, fmt.Sprint(n))
	}
	return keymap{
		back:       bind("esc", "back", "esc"),
		help:       bind("?", "help", "?"),
		jump:       bind("1…9, 0", "jump to a step", digits...),
		copy:       bind("c", "copy as curl", "c"),
		copySecret: bind("C", "copy with secrets", "C"),
		reveal:     bind("r", "reveal secrets", "r"),
		history:    bind("h", "history", "h"),
		language:   bind("l", "language", "l"),
		quit:       bind("ctrl+c", "quit", "ctrl+c"),
	}
}

// all lists them for the help.
func (k keymap) all() []key.Binding {
	return []key.Binding{k.back, k.jump, k.copy, k.copySecret, k.reveal, k.history, k.language, k.help, k.quit}
}
