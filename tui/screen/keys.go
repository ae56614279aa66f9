package screen

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// command is a key and what it does. Each screen lists its commands in one place, so that its help and its key handling always agree.
type command struct {
	key.Binding
	run func() tea.Cmd // nil if the key is handled elsewhere and listed for the help only
}

// bind makes a command. name is what the help shows, and the key itself unless other keys follow.
func bind(name, help string, run func() tea.Cmd, keys ...string) command {
	if len(keys) == 0 {
		keys = []string{name}
	}
	return command{key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, help)), run}
}

// hidden makes a command that the help does not show.
func hidden(name string, run func() tea.Cmd) command { return bind(name, "", run) }

// do makes the run function of a command from a function that returns no tea.Cmd.
func do(f func()) func() tea.Cmd {
	return func() tea.Cmd {
		f()
		return nil
	}
}

// press runs the first command with this key; handled is false if there is none.
func press(msg tea.KeyMsg, commands []command) (cmd tea.Cmd, handled bool) {
	for _, c := range commands {
		if c.run != nil && key.Matches(msg, c.Binding) {
			return c.run(), true
		}
	}
	return nil, false
}

// helpOf returns the keys that the help shows. A key that occurs twice does what its first command does.
func helpOf(commands []command) []key.Binding {
	var bindings []key.Binding
	seen := map[string]bool{}
	for _, c := range commands {
		if name := c.Help().Key; c.Help().Desc != "" && !seen[name] {
			bindings = append(bindings, c.Binding)
			seen[name] = true
		}
	}
	return bindings
}

// The following functions return commands that have the same keys on several screens.

func enter(help string, run func() tea.Cmd) command   { return bind("enter", help, run) }
func escape(help string, run func() tea.Cmd) command  { return bind("esc", help, run) }
func edit(help string, run func() tea.Cmd) command    { return bind("e", help, run) }
func repeat(help string, run func() tea.Cmd) command  { return bind("s", help, run) }
func nextTab(help string, run func() tea.Cmd) command { return bind("tab", help, run) }
func open(help string, run func() tea.Cmd) command    { return bind("→", help, run, "right", "o") }
func toList(run func() tea.Cmd) command               { return bind("←", "back to list", run, "left", "backspace") }

// nextStep goes to the next step on screens where enter does something else.
func nextStep() command { return bind("x", "next step", next) }

// next asks the application for the next step.
func next() tea.Cmd { return func() tea.Msg { return NextStep{} } }

// scrolling has the keys that move in a list or a text.
type scrolling struct{ up, down, pageUp, pageDown, top, end key.Binding }

func scrollKeys() scrolling {
	bind := func(keys ...string) key.Binding { return key.NewBinding(key.WithKeys(keys...)) }
	return scrolling{
		up: bind("up", "k"), down: bind("down", "j"), pageUp: bind("pgup", "b"), pageDown: bind("pgdown", " ", "f"),
		top: bind("home", "g"), end: bind("end", "G"),
	}
}

// distance returns how far a key scrolls in a text of some lines; ok is false for other keys.
func (k scrolling) distance(msg tea.KeyMsg, page, lines int) (by int, ok bool) {
	page = max(1, page-1)
	for _, way := range []struct {
		binding key.Binding
		by      int
	}{{k.up, -1}, {k.down, 1}, {k.pageUp, -page}, {k.pageDown, page}, {k.top, -lines}, {k.end, lines}} {
		if key.Matches(msg, way.binding) {
			return way.by, true
		}
	}
	return 0, false
}

// scrollHelp lists the keys of a text for the help.
func scrollHelp() []command {
	return []command{bind("↑↓", "scroll", nil, "up", "down"), bind("space", "page down", nil, "pgdown")}
}

// listHelp lists the keys of a list for the help.
func listHelp() []command { return []command{bind("↑↓", "choose", nil, "up", "down")} }
