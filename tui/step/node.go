package step

import (
	"context"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// node is the screen that chooses a node: of a registry, the sandbox inside, or one whose URLs are typed.
type node struct {
	*World
	pair
	choices []choice
	ids     int  // columns of the ids among them
	read    bool // whether the entries of the registry are among the choices
	inside  inside
	filter  string
	finding bool // whether keys are the filter's
	form    *form
	filled  func() (tea.Cmd, error) // takes what was typed into the form
	note    string                  // what is wrong with a choice
}

// inside is what is known of the sandbox inside.
type inside struct {
	starting, wanted bool
	at               *target.Target
}

// started says where the sandbox inside is.
type started struct {
	at  target.Target
	err error
}

func newNode(w *World) Screen {
	s := &node{World: w}
	s.list = view.NewList(w.Theme)
	s.stage = newStage(w, walk.Node, "choose", func(ctx context.Context) walk.Scene {
		scene, _ := w.Walk.ReadRegistry(ctx)
		return scene
	})
	s.arrange()
	return s
}

// Open implements Screen. The sandbox inside is started beside the first frame, where no other node was given.
func (s *node) Open() tea.Cmd {
	s.arrange()
	if s.Start == nil || s.inside.starting || s.inside.at != nil || s.Walk.Located() || s.Walk.Registered() {
		return nil
	}
	return s.start()
}

func (s *node) start() tea.Cmd {
	s.inside.starting = true
	return func() tea.Msg {
		at, err := s.Start(s.Context)
		return started{at, err}
	}
}

// Typing implements Screen.
func (s *node) Typing() bool {
	return s.form != nil || s.finding || s.onStage && s.stage.Typing()
}

// Exchange implements Screen.
func (s *node) Exchange() (exchange.Exchange, bool) { return s.stage.Exchange() }

// Update implements Screen.
func (s *node) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case started:
		return s.started(msg)
	case Played:
		cmd := s.stage.Update(msg)
		s.onStage, s.read = !msg.Scene.Well(), msg.Scene.Well()
		s.arrange()
		s.list.Go(s.proposed())
		return cmd
	case Edit:
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

func (s *node) started(msg started) tea.Cmd {
	wanted := s.inside.wanted
	s.inside = inside{}
	if msg.err != nil {
		s.stage.played(unstarted(walk.Node, msg.err))
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
func (s *node) enterInside() tea.Cmd {
	switch {
	case s.inside.at != nil:
		if now := s.Walk.Target(); !s.isInside(now.Registry) || !same(now.Credentials, s.inside.at.Credentials) {
			s.Walk.Aim(*s.inside.at) // with its own client, whatever was typed since
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
func (s *node) reread() tea.Cmd {
	s.read, s.filter = false, ""
	s.stage.forget()
	s.arrange()
	return s.stage.again()
}

func (s *node) press(msg tea.KeyMsg) tea.Cmd {
	s.note = ""
	troubled := s.stage.scene != nil && !s.stage.scene.Well()
	switch {
	case s.finding:
		s.find(msg)
		return nil
	case s.stage.busy:
		return nil
	case s.onStage && s.stage.Typing():
		return s.stage.Update(msg)
	case key.Matches(msg, enter("")) && s.onStage && troubled:
		if !s.Walk.Registered() { // it is the sandbox inside that did not start
			s.stage.forget()
			s.onStage = false
			return s.enterInside()
		}
		return s.stage.again()
	case key.Matches(msg, edit()) && s.onStage && troubled:
		return s.edit()
	case key.Matches(msg, enter("")):
		return s.take()
	case key.Matches(msg, search()) && !s.onStage:
		s.finding = true
		return nil
	}
	cmd, _ := s.pair.press(msg)
	return cmd
}

// take takes the choice under the cursor.
func (s *node) take() tea.Cmd {
	at := s.list.At()
	if at < 0 {
		return nil
	}
	switch c := s.choices[at]; c.kind {
	case listed:
		if err := s.Walk.Choose(c.entry.ID); err != nil {
			s.note = err.Error()
			return nil
		}
		s.arrange()
		return next
	case given:
		return next
	case registry:
		return s.stage.again()
	case sandboxed:
		return s.enterInside()
	case otherRegistry:
		return s.askRegistry()
	}
	return s.askURLs()
}

// find takes a key for the filter.
func (s *node) find(msg tea.KeyMsg) {
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
func (s *node) View(room view.Size) string {
	if s.form != nil {
		head := fitting(walk.Node.Guide().Why, room.Width, room.Height-14)
		if len(head) > 0 {
			head = append(head, "")
		}
		lines := s.form.lines(s.Theme, view.Size{Width: room.Width, Height: room.Height - len(head)})
		return strings.Join(view.Window(append(head, lines...), 0, room.Height), "\n")
	}
	return s.draw(room, s.front)
}

// front is the list with what it is for, and with what is known of the choice under the cursor.
func (s *node) front(room view.Size) string {
	tail := s.detail(room.Width)
	tail = tail[:min(len(tail), max(2, room.Height/2))]
	var head []string
	switch {
	case s.stage.scene == nil && s.beside: // the stage says it
	case s.stage.scene == nil:
		head = fitting(walk.Node.Guide().Why, room.Width, room.Height-len(s.choices)-len(tail)-2)
	default:
		for _, text := range s.stage.scene.Says {
			head = append(head, view.Wrap(text+" Choose one:", room.Width)...)
		}
	}
	return view.Stack(room, head, s.list, tail)
}

// Keys implements Screen.
func (s *node) Keys() []key.Binding {
	switch {
	case s.form != nil:
		return view.FormKeys()
	case s.finding:
		return []key.Binding{enter("done"), key.NewBinding(key.WithKeys("esc"), key.WithHelp("esc", "no filter"))}
	case s.onStage:
		lead := enter("choose")
		if s.stage.scene != nil && !s.stage.scene.Well() {
			lead = enter("try again")
		}
		return append([]key.Binding{lead, toList()}, s.stage.Keys()[1:]...)
	}
	return append([]key.Binding{enter(s.verb())}, append(view.ListKeys(), search(), toStage())...)
}

func search() key.Binding { return key.NewBinding(key.WithKeys("/"), key.WithHelp("/", "filter")) }

// fitting is as much of a text as has room, sentence by sentence.
func fitting(text string, width, height int) []string {
	for text != "" {
		if lines := view.Wrap(text, width); len(lines) <= height {
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
