package screen

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/flow"
)

// nodeScreen is the screen that chooses a node: of a registry, the sandbox inside, or one whose URLs are typed.
type nodeScreen struct {
	*Session
	pair
	choices []choice
	ids     int  // columns of the ids among them
	read    bool // whether the entries of the registry are among the choices
	inside  sandboxState
	filter  string
	finding bool // whether keys are the filter's
	form    *form
	filled  func() (tea.Cmd, error) // takes what was typed into the form
	note    string                  // what is wrong with a choice
}

// sandboxState is what is known of the sandbox inside.
type sandboxState struct {
	starting, wanted bool
	at               *target.Target
}

// sandboxStarted says where the sandbox inside is.
type sandboxStarted struct {
	at  target.Target
	err error
}

func newNodeScreen(w *Session) Screen {
	s := &nodeScreen{Session: w}
	s.list = NewList(w.Theme)
	s.stage = newActionScreen(w, flow.Node, "choose", w.Walk.ReadRegistry)
	s.arrange()
	return s
}

// Open implements Screen. The sandbox inside is started beside the first frame, where no other node was given.
func (s *nodeScreen) Open() tea.Cmd {
	s.arrange()
	if s.Start == nil || s.inside.starting || s.inside.at != nil || s.Walk.HasNode() || s.Walk.HasRegistry() {
		return nil
	}
	return s.start()
}

func (s *nodeScreen) start() tea.Cmd {
	s.inside.starting = true
	return func() tea.Msg {
		at, err := s.Start(s.Context)
		return sandboxStarted{at, err}
	}
}

// Typing implements Screen.
func (s *nodeScreen) Typing() bool {
	return s.form != nil || s.finding || s.onStage && s.stage.Typing()
}

// Exchange implements Screen.
func (s *nodeScreen) Exchange() (evidence.Exchange, bool) { return s.stage.Exchange() }

// Update implements Screen.
func (s *nodeScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case sandboxStarted:
		return s.started(msg)
	case ActionDone:
		cmd := s.stage.Update(msg)
		s.onStage, s.read = !msg.Scene.OK(), msg.Scene.OK()
		s.arrange()
		s.list.Go(s.proposed())
		return cmd
	case OpenEditor:
		return s.edit()
	}
	if s.form != nil {
		return s.fill(msg)
	}
	if k, ok := msg.(tea.KeyMsg); ok {
		return s.press(k)
	}
	return s.stage.Update(msg)
}

func (s *nodeScreen) started(msg sandboxStarted) tea.Cmd {
	wanted := s.inside.wanted
	s.inside = sandboxState{}
	if msg.err != nil {
		s.stage.played(sandboxFailure(flow.Node, msg.err))
		s.onStage = wanted
		s.note = "the sandbox inside could not be started"
		s.arrange()
		return nil
	}
	s.inside.at = &msg.at
	s.arrange()
	if wanted {
		return s.enterInside()
	}
	return nil
}

// enterInside reads the registry of the sandbox inside, which is started first if need be.
func (s *nodeScreen) enterInside() tea.Cmd {
	switch {
	case s.inside.at != nil:
		if now := s.Walk.Target(); !s.isInside(now.Registry) || !same(now.Credentials, s.inside.at.Credentials) {
			s.Walk.SetTarget(*s.inside.at) // with its own client, whatever was typed since
		}
		return s.reread()
	case s.inside.starting:
		s.inside.wanted = true
		return nil
	}
	s.inside.wanted = true
	return s.start()
}

func same(a, b target.Credentials) bool {
	return a.ClientID == b.ClientID && a.ClientSecret.Reveal() == b.ClientSecret.Reveal()
}

// reread reads the registry that the walk is at.
func (s *nodeScreen) reread() tea.Cmd {
	s.read, s.filter = false, ""
	s.stage.forget()
	s.arrange()
	return s.stage.again()
}

func (s *nodeScreen) press(msg tea.KeyMsg) tea.Cmd {
	s.note = ""
	troubled := s.stage.scene != nil && !s.stage.scene.OK()
	switch {
	case s.finding:
		s.find(msg)
		return nil
	case s.stage.busy:
		return nil
	case s.onStage && s.stage.Typing():
		return s.stage.Update(msg)
	case key.Matches(msg, enter("")) && s.onStage && troubled:
		if !s.Walk.HasRegistry() { // it is the sandbox inside that did not start
			s.stage.forget()
			s.onStage = false
			return s.enterInside()
		}
		return s.stage.again()
	case key.Matches(msg, edit()) && s.onStage && troubled:
		return s.edit()
	case key.Matches(msg, enter("")):
		return s.take()
	case key.Matches(msg, filterKey()) && !s.onStage:
		s.finding = true
		return nil
	}
	cmd, _ := s.pair.press(msg)
	return cmd
}

// take takes the choice under the cursor.
func (s *nodeScreen) take() tea.Cmd {
	at := s.list.At()
	if at < 0 {
		return nil
	}
	switch c := s.choices[at]; c.kind {
	case listedNode:
		if err := s.Walk.ChooseNode(c.entry.ID); err != nil {
			s.note = err.Error()
			return nil
		}
		s.arrange()
		return next
	case givenNode:
		return next
	case givenRegistry:
		return s.stage.again()
	case localSandbox:
		return s.enterInside()
	case otherRegistry:
		return s.askRegistry()
	}
	return s.askURLs()
}

// find takes a key for the filter.
func (s *nodeScreen) find(msg tea.KeyMsg) {
	switch msg.String() {
	case "esc":
		s.finding, s.filter = false, ""
	case "enter":
		s.finding = false
	case "backspace":
		if r := []rune(s.filter); len(r) > 0 {
			s.filter = string(r[:len(r)-1])
		}
	default:
		if msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace {
			s.filter += string(msg.Runes)
		}
	}
	s.arrange()
	s.list.Go(0)
}

// View implements Screen.
func (s *nodeScreen) View(room Size) string {
	if s.form != nil {
		head := fitSentences(flow.Node.Guide().Why, room.Width, room.Height-14)
		if len(head) > 0 {
			head = append(head, "")
		}
		lines := s.form.lines(s.Theme, Size{Width: room.Width, Height: room.Height - len(head)})
		return strings.Join(Window(append(head, lines...), 0, room.Height), "\n")
	}
	return s.draw(room, s.front)
}

// front is the list with what it is for, and with what is known of the choice under the cursor.
func (s *nodeScreen) front(room Size) string {
	tail := s.detail(room.Width)
	tail = tail[:min(len(tail), max(2, room.Height/2))]
	var head []string
	switch {
	case s.stage.scene == nil && s.beside: // the stage says it
	case s.stage.scene == nil:
		head = fitSentences(flow.Node.Guide().Why, room.Width, room.Height-len(s.choices)-len(tail)-2)
	default:
		for _, text := range s.stage.scene.Notes {
			head = append(head, Wrap(text+" Choose one:", room.Width)...)
		}
	}
	return Stack(room, head, s.list, tail)
}

// Keys implements Screen.
func (s *nodeScreen) Keys() []key.Binding {
	switch {
	case s.form != nil:
		return FormKeys()
	case s.finding:
		return []key.Binding{enter("done"), key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "no filter"))}
	case s.onStage:
		lead := enter("choose")
		if s.stage.scene != nil && !s.stage.scene.OK() {
			lead = enter("try again")
		}
		return append([]key.Binding{lead, toList()}, s.stage.Keys()[1:]...)
	}
	return append([]key.Binding{enter(s.verb())}, append(ListKeys(), filterKey(), toStage())...)
}

func filterKey() key.Binding { return key.NewBinding(key.WithKeys("/"), key.WithHelp("/", "filter")) }

// fitSentences is as much of a text as has room, sentence by sentence.
func fitSentences(text string, width, height int) []string {
	for text != "" {
		if lines := Wrap(text, width); len(lines) <= height {
			return lines
		}
		cut := strings.LastIndex(strings.TrimSuffix(text, "."), ". ")
		if cut < 0 {
			return nil
		}
		text = text[:cut+1]
	}
	return nil
}
