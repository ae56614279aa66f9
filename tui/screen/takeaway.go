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
	"github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/tui/flow"
)

// takenTo is the folder that is proposed first.
const takenTo = "rin-tour"

// takeAwayScreen is the screen that shows what can be taken along, and writes it into a folder.
type takeAwayScreen struct {
	*Session
	folder  string
	typed   textinput.Model
	editing bool
	busy    bool
	saved   *saved // what came of writing last; nil before
	pane    *Pane
}

// saved is what came of writing the files.
type saved struct {
	folder, place string
	err           error
}

func newTakeAwayScreen(w *Session) Screen {
	s := &takeAwayScreen{Session: w, folder: takenTo, typed: textinput.New(), pane: NewPane(w.Theme)}
	plain := w.Theme.Renderer.NewStyle()
	s.typed.Prompt, s.typed.PromptStyle, s.typed.TextStyle, s.typed.PlaceholderStyle = "", plain, plain, w.Theme.Muted
	s.typed.Cursor.Style, s.typed.Cursor.TextStyle = plain.Reverse(true), plain
	s.typed.Cursor.SetMode(cursor.CursorStatic)
	s.typed.CharLimit = 4096
	s.pane.Show(s.story)
	return s
}

// Open implements Screen. There may be more to take along than when it was seen last.
func (s *takeAwayScreen) Open() tea.Cmd {
	s.pane.Refresh()
	return nil
}

// Typing implements Screen.
func (s *takeAwayScreen) Typing() bool { return s.editing }

// Exchange implements Screen.
func (s *takeAwayScreen) Exchange() (evidence.Exchange, bool) { return evidence.Exchange{}, false }

// Update implements Screen.
func (s *takeAwayScreen) Update(msg tea.Msg) tea.Cmd {
	defer s.pane.Refresh()
	switch msg := msg.(type) {
	case ActionDone:
		if came, ok := msg.Of.(saved); ok {
			s.busy, s.saved = false, &came
			if errors.Is(came.err, fs.ErrExist) {
				s.folder = nextFolderName(came.folder)
			}
		}
	case tea.KeyMsg:
		return s.press(msg)
	}
	return nil
}

func (s *takeAwayScreen) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case s.editing && key.Matches(msg, enter("")):
		s.leave()
		if name := strings.TrimSpace(s.typed.Value()); name != "" {
			s.folder = name
		}
		return s.write()
	case s.editing && msg.Type == tea.KeyEsc:
		s.leave()
	case s.editing:
		var cmd tea.Cmd
		s.typed, cmd = s.typed.Update(msg)
		return cmd
	case s.busy:
	case key.Matches(msg, enter("")) && s.written():
		return next
	case key.Matches(msg, enter("")):
		return s.write()
	case key.Matches(msg, edit()):
		s.editing = true
		s.typed.SetValue(s.folder)
		s.typed.CursorEnd()
		return s.typed.Focus()
	default:
		s.pane.Update(msg)
	}
	return nil
}

func (s *takeAwayScreen) leave() {
	s.editing = false
	s.typed.Blur()
}

// written tells that the files are where the person wanted them.
func (s *takeAwayScreen) written() bool { return s.saved != nil && s.saved.err == nil }

// write writes the files beside the screen.
func (s *takeAwayScreen) write() tea.Cmd {
	s.busy = true
	folder, files := s.folder, s.Walk.Takeaways()
	return func() tea.Msg {
		place, err := s.Save(folder, files)
		return ActionDone{Step: flow.TakeAway, Of: saved{folder, place, err}}
	}
}

// nextFolderName is the name of a folder beside one that is taken: rin-tour, rin-tour-2, rin-tour-3.
func nextFolderName(folder string) string {
	if at := strings.LastIndexByte(folder, '-'); at > 0 {
		if n, err := strconv.Atoi(folder[at+1:]); err == nil && n > 1 && n < 1e6 {
			return folder[:at+1] + strconv.Itoa(n+1)
		}
	}
	return folder + "-2"
}

// whyTab is what was written, or what would be.
func (s *takeAwayScreen) story(width int) []string {
	var lines []string
	say := func(lead, text string) { lines = append(lines, Hang(lead, text, width)...) }
	switch {
	case s.busy:
		lines = append(lines, s.Theme.Muted.Render("writing …"))
	case s.written():
		say(s.Theme.Good.Render("✓")+" ", "Everything is in "+s.saved.place+".")
		lines = append(lines, "")
		say("  ", "Put the client secret into the environment (RIN_CLIENT_SECRET), go into the folder, and run sh walk.sh, go run client.go or python3 client.py.")
		lines = append(lines, "", s.Theme.Key.Render("enter")+" ends the tour")
	case s.saved != nil && errors.Is(s.saved.err, fs.ErrExist):
		say(s.Theme.Warn.Render("!")+" ", fmt.Sprintf("There are such files in %s already, and they stay as they are.", s.saved.folder))
		lines = append(lines, s.Theme.Key.Render("enter")+" writes to "+Cell(s.folder, min(len(s.folder), max(1, width-16))))
	case s.saved != nil:
		lines = append(lines, Trouble(s.Theme, flow.Trouble{What: s.saved.err.Error(), Try: []string{"choose another folder (e)"}}, width)...)
		lines = append(lines, "", s.Theme.Key.Render("enter")+" try again")
	default:
		lines = append(lines, Wrap(flow.TakeAway.Guide().Why, width)...)
		lines = append(lines, "", s.Theme.Key.Render("enter")+" writes to the folder "+Cell(s.folder, min(len(s.folder), max(1, width-27))))
	}
	lines = append(lines, "")
	for _, f := range s.Walk.Takeaways() {
		say(s.Theme.Key.Render(fmt.Sprintf("%-12s", f.Name))+" ", f.Purpose)
	}
	if _, _, ok := s.Walk.Report(); !ok {
		lines = append(lines, "")
		say("", "The report of a certification belongs here, too: certify the node first (9).")
	}
	return lines
}

// View implements Screen.
func (s *takeAwayScreen) View(room Size) string {
	if !s.editing {
		return s.pane.View(room)
	}
	s.typed.Width = max(4, room.Width-len("Folder: ")-1)
	below := strings.Split(s.pane.View(Size{Width: room.Width, Height: max(1, room.Height-2)}), "\n")
	lines := append([]string{Fit("Folder: "+s.typed.View(), room.Width), ""}, below...)
	return strings.Join(Window(lines, 0, room.Height), "\n")
}

// Keys implements Screen.
func (s *takeAwayScreen) Keys() []key.Binding {
	another := key.NewBinding(key.WithKeys("e"), key.WithHelp("e", "another folder"))
	switch {
	case s.editing:
		return []key.Binding{enter("write there"), key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "don't"))}
	case s.busy:
		return ScrollKeys()
	case s.written():
		return append([]key.Binding{enter("end the tour"), another}, ScrollKeys()...)
	}
	return append([]key.Binding{enter("write them"), another}, ScrollKeys()...)
}
