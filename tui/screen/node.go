package screen

import (
	"errors"
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/flow"
)

// nodeScreen chooses a node: an entry of a registry, the built-in sandbox, or a node by its URLs.
type nodeScreen struct {
	*Session
	splitView
	choices    []choice
	idWidth    int
	hasEntries bool // the choices include the entries of the registry
	sandbox    sandboxState
	filter     string
	filtering  bool // the person types the filter
	form       *form
	submit     func() (tea.Cmd, error) // uses the values of the form
	problem    string                  // with the last choice
}

// errRequired says that a field must not be empty.
var errRequired = errors.New("this field is required")

// sandboxState is the state of the built-in sandbox. chosen says that the person wants it as the node, as soon as it runs.
type sandboxState struct {
	starting, chosen bool
	target           *target.Target // nil until it runs
}

// sandboxStarted says that the built-in sandbox runs, or why it does not.
type sandboxStarted struct {
	target target.Target
	err    error
}

func newNodeScreen(w *Session) Screen {
	s := &nodeScreen{Session: w}
	s.list = NewList(w.Theme)
	s.action = newActionScreen(w, flow.Node, "choose", w.Walk.ReadRegistry)
	s.makeChoices()
	return s
}

// Open implements [Screen]. If no node was given, it starts the built-in sandbox in the background.
func (s *nodeScreen) Open() tea.Cmd {
	s.makeChoices()
	if s.Start == nil || s.sandbox.starting || s.sandbox.target != nil || s.Walk.HasNode() || s.Walk.HasRegistry() {
		return nil
	}
	return s.startSandbox()
}

func (s *nodeScreen) startSandbox() tea.Cmd {
	s.sandbox.starting = true
	return func() tea.Msg {
		t, err := s.Start(s.Context)
		return sandboxStarted{t, err}
	}
}

// Typing implements [Screen].
func (s *nodeScreen) Typing() bool {
	return s.form != nil || s.filtering || s.onAction && s.action.Typing()
}

// Exchange implements [Screen].
func (s *nodeScreen) Exchange() (evidence.Exchange, bool) { return s.action.Exchange() }

// Update implements [Screen].
func (s *nodeScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case sandboxStarted:
		return s.handleSandbox(msg)
	case ActionDone:
		cmd := s.action.Update(msg)
		s.onAction, s.hasEntries = !msg.Result.OK(), msg.Result.OK()
		s.makeChoices()
		s.list.Go(s.proposedRow())
		return cmd
	case OpenEditor:
		return s.edit()
	}
	if s.form != nil {
		return s.updateForm(msg)
	}
	k, ok := msg.(tea.KeyMsg)
	switch {
	case !ok:
		return s.action.Update(msg)
	case s.filtering:
		s.problem = ""
		s.typeFilter(k)
		return nil
	case s.action.busy:
		return nil
	case s.onAction && s.action.Typing():
		return s.action.Update(msg)
	}
	s.problem = ""
	if cmd, handled := press(k, s.commands()); handled {
		return cmd
	}
	return s.move(k)
}

// Keys implements [Screen].
func (s *nodeScreen) Keys() []key.Binding {
	switch {
	case s.form != nil:
		return s.form.keys()
	case s.filtering:
		return helpOf([]command{enter("done", nil), escape("no filter", nil)})
	}
	return helpOf(s.commands())
}

func (s *nodeScreen) commands() []command {
	switch {
	case s.onAction && s.action.Typing():
		return s.action.commands()
	case s.onAction && s.action.failed():
		return append([]command{enter("try again", s.retry), edit("edit", s.edit)}, s.splitView.commands()...)
	case s.onAction:
		return append([]command{enter("choose", s.selectedChoice().choose)}, s.splitView.commands()...)
	}
	commands := append([]command{enter(s.selectedChoice().verb, s.selectedChoice().choose)}, listHelp()...)
	commands = append(commands, bind("/", "filter", do(func() { s.filtering = true })))
	return append(commands, s.splitView.commands()...)
}

func (s *nodeScreen) retry() tea.Cmd {
	if s.Walk.HasRegistry() {
		return s.action.start()
	}
	s.action.reset() // the sandbox did not start
	s.onAction = false
	return s.enterSandbox()
}

// handleSandbox continues after the start of the built-in sandbox, or shows why the sandbox did not start.
func (s *nodeScreen) handleSandbox(msg sandboxStarted) tea.Cmd {
	chosen := s.sandbox.chosen
	s.sandbox = sandboxState{}
	if msg.err != nil {
		s.action.show(sandboxFailure(flow.Node, msg.err))
		s.onAction = chosen
		s.problem = "the built-in sandbox did not start"
		s.makeChoices()
		return nil
	}
	s.sandbox.target = &msg.target
	s.makeChoices()
	if chosen {
		return s.enterSandbox()
	}
	return nil
}

// enterSandbox reads the registry of the built-in sandbox, and starts it first if necessary.
func (s *nodeScreen) enterSandbox() tea.Cmd {
	switch {
	case s.sandbox.target != nil:
		own := s.sandbox.target.Credentials
		if current := s.Walk.Target(); !s.isSandbox(current.Registry) || current.Credentials.ClientID != own.ClientID || current.Credentials.ClientSecret.Reveal() != own.ClientSecret.Reveal() {
			s.Walk.SetTarget(*s.sandbox.target) // restores the sandbox's own client, because the person may have typed another one
		}
		return s.readRegistry()
	case s.sandbox.starting:
		s.sandbox.chosen = true
		return nil
	}
	s.sandbox.chosen = true
	return s.startSandbox()
}

// readRegistry reads the registry of the target.
func (s *nodeScreen) readRegistry() tea.Cmd {
	s.hasEntries, s.filter = false, ""
	s.action.reset()
	s.makeChoices()
	return s.action.start()
}

// typeFilter handles a key of the filter.
func (s *nodeScreen) typeFilter(msg tea.KeyMsg) {
	switch msg.String() {
	case "esc":
		s.filtering, s.filter = false, ""
	case "enter":
		s.filtering = false
	case "backspace":
		if r := []rune(s.filter); len(r) > 0 {
			s.filter = string(r[:len(r)-1])
		}
	default:
		if msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace {
			s.filter += string(msg.Runes)
		}
	}
	s.makeChoices()
	s.list.Go(0)
}

// View implements [Screen].
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

// front draws the list below its purpose and above the details of the selected choice.
func (s *nodeScreen) front(room Size) string {
	tail := s.detail(room.Width)
	tail = tail[:min(len(tail), max(2, room.Height/2))]
	var head []string
	switch {
	case s.action.result == nil && s.wide: // the action shows the guide
	case s.action.result == nil:
		head = fitSentences(flow.Node.Guide().Why, room.Width, room.Height-len(s.choices)-len(tail)-2)
	default:
		for _, note := range s.action.result.Notes {
			head = append(head, Wrap(note+" Choose one:", room.Width)...)
		}
	}
	return Stack(room, head, s.list, tail)
}

// fitSentences wraps as many sentences of a text as fit.
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

// edit opens the form of what may be wrong: the registry if it cannot be read, else the URLs of the node.
func (s *nodeScreen) edit() tea.Cmd {
	if s.Walk.HasNode() || !s.Walk.HasRegistry() {
		return s.askURLs()
	}
	return s.askRegistry()
}

// ask opens a form; submit uses its values, and finish says what enter does in the last field.
func (s *nodeScreen) ask(finish string, submit func() (tea.Cmd, error), fields ...huh.Field) tea.Cmd {
	s.form, s.submit, s.problem = newForm(s.Theme, finish, fields...), submit, ""
	return s.form.Init()
}

func (s *nodeScreen) updateForm(msg tea.Msg) tea.Cmd {
	if isEscape(msg) {
		s.form, s.problem = nil, ""
		return nil
	}
	done, cmd := s.form.update(msg)
	if !done {
		return cmd
	}
	after, err := s.submit()
	s.form = nil
	s.makeChoices()
	if err != nil {
		s.problem = err.Error()
		return nil
	}
	s.list.Go(s.proposedRow())
	return after
}

// askRegistry asks for a registry and reads it.
func (s *nodeScreen) askRegistry() tea.Cmd {
	address := s.Walk.Target().Registry
	if s.isSandbox(address) {
		address = ""
	}
	isURL := func() bool { return strings.Contains(address, "://") }
	check := func(text string) error {
		address := strings.TrimSpace(text)
		switch {
		case address == "":
			return errRequired
		case strings.Contains(address, "://"):
			return flow.CheckURL("--registry", address, s.Walk.Target().AllowOrigins)
		}
		_, err := s.ReadFile(address)
		return err
	}
	return s.ask("read registry", func() (tea.Cmd, error) {
		var err error
		if address = strings.TrimSpace(address); isURL() {
			err = s.Walk.UseRegistry(address, nil)
		} else {
			var document []byte
			if document, err = s.ReadFile(address); err != nil {
				return nil, fmt.Errorf("read registry: %w", err)
			}
			err = s.Walk.UseRegistry("", document)
		}
		if err != nil {
			return nil, err
		}
		s.NodeID = ""
		return s.readRegistry(), nil
	}, huh.NewInput().Title("Registry").Description("URL or file of the registry document").Value(&address).Validate(check))
}

// askURLs asks for the URLs of a node.
func (s *nodeScreen) askURLs() tea.Cmd {
	t := s.Walk.Target()
	token, info, spec := t.TokenURL, t.InfoURL, t.SpecURL
	if s.isSandbox(t.Registry) {
		token, info, spec = "", "", ""
	}
	field := func(title, description, flag string, value *string) huh.Field {
		return huh.NewInput().Title(title).Description(description).Value(value).Validate(func(text string) error {
			text = strings.TrimSpace(text)
			switch {
			case text == "" && flag == "--spec-url":
				return nil
			case text == "":
				return errRequired
			}
			return flow.CheckURL(flag, text, t.AllowOrigins)
		})
	}
	return s.ask("use them", func() (tea.Cmd, error) {
		err := s.Walk.UseURLs(strings.TrimSpace(token), strings.TrimSpace(info), strings.TrimSpace(spec))
		if err == nil {
			s.hasEntries = false
			s.action.reset()
		}
		return nil, err
	}, field("Token URL", "Where the client gets access tokens", "--token-url", &token),
		field("Info URL", "Where the info resource is", "--info-url", &info),
		field("Specification URL", "Where the OpenAPI document is; empty if it follows from the info URL", "--spec-url", &spec))
}
