package screen

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/tui/flow"
)

// takeAwayScreen lists the files of the tour and writes them into a folder.
type takeAwayScreen struct {
	*Session
	folder  string
	input   textinput.Model
	editing bool
	busy    bool
	outcome *saveOutcome // nil before the files were written
	pane    *Pane
}

// saveOutcome is the outcome of writing the files.
type saveOutcome struct {
	folder, path string
	err          error
}

func newTakeAwayScreen(w *Session) Screen {
	s := &takeAwayScreen{Session: w, folder: "rin-tour", input: textinput.New(), pane: NewPane(w.Theme)}
	plain := w.Theme.Renderer.NewStyle()
	s.input.Prompt, s.input.PromptStyle, s.input.TextStyle, s.input.PlaceholderStyle = "", plain, plain, w.Theme.Muted
	s.input.Cursor.Style, s.input.Cursor.TextStyle = plain.Reverse(true), plain
	s.input.Cursor.SetMode(cursor.CursorStatic)
	s.input.CharLimit = 4096
	s.pane.Show(s.lines)
	return s
}

// Open implements [Screen]. The list of files may have changed.
func (s *takeAwayScreen) Open() tea.Cmd {
	s.pane.Refresh()
	return nil
}

// Typing implements [Screen].
func (s *takeAwayScreen) Typing() bool { return s.editing }

// Exchange implements [Screen].
func (s *takeAwayScreen) Exchange() (evidence.Exchange, bool) { return evidence.Exchange{}, false }

// Update implements [Screen].
func (s *takeAwayScreen) Update(msg tea.Msg) tea.Cmd {
	defer s.pane.Refresh()
	switch msg := msg.(type) {
	case ActionDone:
		if outcome, ok := msg.Subject.(saveOutcome); ok {
			s.busy, s.outcome = false, &outcome
			if errors.Is(outcome.err, fs.ErrExist) {
				s.folder = nextFolderName(outcome.folder)
			}
		}
	case tea.KeyMsg:
		cmd, handled := press(msg, s.commands())
		switch {
		case handled:
			return cmd
		case s.editing:
			s.input, cmd = s.input.Update(msg)
			return cmd
		}
		s.pane.Update(msg)
	}
	return nil
}

// Keys implements [Screen].
func (s *takeAwayScreen) Keys() []key.Binding { return helpOf(s.commands()) }

func (s *takeAwayScreen) commands() []command {
	another := edit("another folder", func() tea.Cmd {
		s.editing = true
		s.input.SetValue(s.folder)
		s.input.CursorEnd()
		return s.input.Focus()
	})
	switch {
	case s.editing:
		return []command{enter("write there", func() tea.Cmd {
			s.stopEditing()
			if name := strings.TrimSpace(s.input.Value()); name != "" {
				s.folder = name
			}
			return s.write()
		}), escape("cancel", do(s.stopEditing))}
	case s.busy:
		return scrollHelp()
	case s.written():
		return append([]command{enter("end the tour", next), another}, scrollHelp()...)
	}
	return append([]command{enter("write files", s.write), another}, scrollHelp()...)
}

func (s *takeAwayScreen) stopEditing() {
	s.editing = false
	s.input.Blur()
}

// written reports whether the files were written.
func (s *takeAwayScreen) written() bool { return s.outcome != nil && s.outcome.err == nil }

// write writes the files in the background.
func (s *takeAwayScreen) write() tea.Cmd {
	s.busy = true
	folder, files := s.folder, s.Walk.Takeaways()
	return func() tea.Msg {
		path, err := s.Save(folder, files)
		return ActionDone{Step: flow.TakeAway, Subject: saveOutcome{folder, path, err}}
	}
}

// nextFolderName returns the name to try after one that exists: rin-tour, rin-tour-2, rin-tour-3.
func nextFolderName(folder string) string {
	if at := strings.LastIndexByte(folder, '-'); at > 0 {
		if n, err := strconv.Atoi(folder[at+1:]); err == nil && n > 1 && n < 1e6 {
			return folder[:at+1] + strconv.Itoa(n+1)
		}
	}
	return folder + "-2"
}

// lines says what was written, or what would be written.
func (s *takeAwayScreen) lines(width int) []string {
	var lines []string
	say := func(lead, text string) { lines = append(lines, Hang(lead, text, width)...) }
	folder := func(used int) string { return Cell(s.folder, min(len(s.folder), max(1, width-used))) }
	enter := s.Theme.Key.Render("enter")
	switch {
	case s.busy:
		lines = append(lines, s.Theme.Muted.Render("writing …"))
	case s.written():
		say(s.Theme.Good.Render("✓")+" ", "The files are in "+s.outcome.path+".")
		lines = append(lines, "")
		say("  ", "Set the client secret in the environment (RIN_CLIENT_SECRET), change to the folder, and run sh client.sh, go run client.go, python3 client.py or node client.ts.")
		lines = append(lines, "", enter+" ends the tour")
	case s.outcome != nil && errors.Is(s.outcome.err, fs.ErrExist):
		say(s.Theme.Warn.Render("!")+" ", fmt.Sprintf("The folder %s has some of these files already; they were not changed.", s.outcome.folder))
		lines = append(lines, enter+" writes to "+folder(16))
	case s.outcome != nil:
		lines = append(lines, Trouble(s.Theme, flow.Trouble{What: s.outcome.err.Error(), Try: []string{"choose another folder (e)"}}, width)...)
		lines = append(lines, "", enter+" try again")
	default:
		lines = append(lines, Wrap(flow.TakeAway.Guide().Why, width)...)
		lines = append(lines, "", enter+" writes to the folder "+folder(27))
	}
	if command := s.Walk.RestartCommand(); command != "" { // above the list, which is long, because a person must not miss it
		lines = append(lines, "")
		say(s.Theme.Warn.Render("!")+" ", flow.NodeEnds)
		say("    ", command)
	}
	lines = append(lines, "")
	for _, f := range s.Walk.Takeaways() {
		say(s.Theme.Key.Render(fmt.Sprintf("%-12s", f.Name))+" ", f.Purpose)
	}
	if _, _, ok := s.Walk.Report(); !ok {
		lines = append(lines, "")
		say("", fmt.Sprintf("There is no report yet: certify the node first (step %d).", int(flow.Certify)+1))
	}
	return lines
}

// View implements [Screen].
func (s *takeAwayScreen) View(room Size) string {
	if !s.editing {
		return s.pane.View(room)
	}
	s.input.Width = max(4, room.Width-len("Folder: ")-1)
	below := strings.Split(s.pane.View(Size{Width: room.Width, Height: max(1, room.Height-2)}), "\n")
	lines := append([]string{Fit("Folder: "+s.input.View(), room.Width), ""}, below...)
	return strings.Join(Window(lines, 0, room.Height), "\n")
}
