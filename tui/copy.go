package tui

import (
	"errors"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/tui/clipboard"
	"github.com/rin-network/rin/tui/walk"
)

// copies is what was copied last, so that the same key again writes it into a file: no terminal says whether it has a clipboard.
type copies struct {
	key, text string
	asking    bool // whether real secrets are to be copied
}

// copied is what came of copying.
type copied struct{ note string }

// copy copies the request that is looked at as a command; real says whether with the values of secrets.
func (a *App) copy(pressed string, real bool, before copies) tea.Cmd {
	x, ok := a.screen().Exchange()
	if !ok {
		a.note = "nothing to copy: send a request first"
		return nil
	}
	text, said := exchange.Curl(x), "copied as curl"
	if real {
		open := exchange.Curl(walk.Revealed(x, a.world.Walk.Reveal))
		if open == text {
			said = "copied as curl (no secret in it)"
		} else if !before.asking && before.key != pressed {
			a.copies = copies{asking: true}
			return nil
		} else {
			said = "copied with secrets"
		}
		text = open
	}
	again := before.key == pressed && before.text == text
	a.copies = copies{key: pressed, text: text}
	return a.put(text, said+"; "+pressed+" again: to a file", again)
}

// put hands a text to the clipboard, or writes it to a file where there is none, or if it was handed over already.
func (a *App) put(text, said string, file bool) tea.Cmd {
	w := a.world
	sequence, ok := clipboard.Of(w.Getenv).Sequence(text)
	return func() tea.Msg {
		if ok && !file {
			if err := w.Write(sequence); err == nil {
				return copied{said}
			}
		}
		path, err := w.Keep(text + "\n")
		if err != nil {
			return copied{errors.Join(errors.New("not copied"), err).Error()}
		}
		return copied{"it is in " + path}
	}
}

// answer takes the answer to whether secrets are to be copied: yes is y, anything else is no.
func (a *App) answer(msg tea.KeyMsg, before copies) tea.Cmd {
	if msg.String() == "y" {
		return a.copy("C", true, before)
	}
	a.note = "nothing was copied"
	return nil
}
