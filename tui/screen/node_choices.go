package screen

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
)

// choice is a row of the first screen.
type choice struct {
	kind  choiceKind
	entry flow.Entry // of a listed one
}

type choiceKind int

const (
	listedNode    choiceKind = iota // an entry of the registry
	givenNode                       // a node by its URLs
	givenRegistry                   // the registry that was given, and was not read yet
	localSandbox                    // the sandbox inside
	otherRegistry                   // a registry to be named
	typedURLs                       // URLs to be typed
)

// maxID is how many columns an id takes at most.
const maxID = 14

// arrange makes the choices, the likeliest first.
func (s *nodeScreen) arrange() {
	at := s.Walk.Target()
	s.choices = nil
	switch {
	case s.read:
		for _, e := range s.Walk.Entries() {
			if s.matches(e) {
				s.choices = append(s.choices, choice{listedNode, e})
			}
		}
	case s.Walk.HasRegistry() && !s.isInside(at.Registry):
		s.choices = append(s.choices, choice{kind: givenRegistry})
	}
	if !s.Walk.HasRegistry() && s.Walk.HasNode() {
		s.choices = append(s.choices, choice{kind: givenNode})
	}
	if s.Start != nil {
		s.choices = append(s.choices, choice{kind: localSandbox})
	}
	s.choices = append(s.choices, choice{kind: otherRegistry}, choice{kind: typedURLs})
	s.ids = 0
	for _, c := range s.choices {
		s.ids = max(s.ids, min(maxID, lipgloss.Width(report.Plain(c.entry.ID)))+1)
	}
	s.list.Show(len(s.choices), s.row)
}

func (s *nodeScreen) isInside(address string) bool {
	return s.inside.at != nil && s.inside.at.Registry == address
}

func (s *nodeScreen) matches(e flow.Entry) bool {
	text := strings.ToLower(strings.Join([]string{e.ID, e.Acronym, e.Name}, " "))
	return strings.Contains(text, strings.ToLower(s.filter))
}

// proposed is the row that enter takes if no other is chosen: the node of the walk, the one that was named, else the first.
func (s *nodeScreen) proposed() int {
	id := cmp.Or(s.Walk.Target().NodeID, s.NodeID)
	return max(0, slices.IndexFunc(s.choices, func(c choice) bool { return c.kind == listedNode && c.entry.ID == id }))
}

// row is a choice in a line.
func (s *nodeScreen) row(i, width int) string {
	at := s.Walk.Target()
	switch c := s.choices[i]; c.kind {
	case listedNode:
		name := c.entry.Name
		if c.entry.Acronym != "" && c.entry.Acronym != c.entry.Name {
			name = strings.TrimSpace(c.entry.Acronym + "  " + name)
		}
		word := ""
		switch {
		case c.entry.TokenURL == "" || c.entry.InfoURL == "":
			word = "no URLs"
		case c.entry.ID == at.NodeID && s.Walk.HasNode():
			word = "chosen"
		}
		return withSuffix(s.Theme, padRight(Fit(report.Plain(cmp.Or(c.entry.ID, "?")), maxID), s.ids)+report.Plain(name), word, width)
	case givenNode:
		return withSuffix(s.Theme, "The node at "+report.Plain(at.TokenURL), "chosen", width)
	case givenRegistry:
		return "The registry " + report.Plain(cmp.Or(at.Registry, "of your file"))
	case localSandbox:
		word := ""
		if s.inside.starting {
			word = "starting …"
		}
		return withSuffix(s.Theme, "The sandbox inside rin", word, width)
	case otherRegistry:
		return "Another registry …"
	}
	return "Type the URLs …"
}

// withSuffix is a row with a word at its end, which is seen whatever the width.
func withSuffix(t Theme, text, word string, width int) string {
	if word == "" {
		return text
	}
	return Fit(text, width-lipgloss.Width(word)-3) + t.Muted.Render(" · "+word)
}

// padRight fills a text up to a width, and leaves a blank after it.
func padRight(text string, width int) string {
	return text + strings.Repeat(" ", max(1, width-lipgloss.Width(text)))
}

// detail is what is known of the choice under the cursor.
func (s *nodeScreen) detail(width int) []string {
	if s.finding || s.filter != "" && s.note == "" {
		line := s.Theme.Key.Render("/") + " " + report.Plain(s.filter)
		if s.finding {
			line += s.Theme.Selected.Render(" ")
		}
		return append([]string{line}, s.about(width)...)
	}
	if s.note != "" {
		return Hang(s.Theme.Bad.Render("✗")+" ", s.note, width)
	}
	return s.about(width)
}

func (s *nodeScreen) about(width int) []string {
	at := s.Walk.Target()
	tell := func(token, info string) []string {
		return append(Hang(s.Theme.Muted.Render("token URL "), cmp.Or(token, "–"), width),
			Hang(s.Theme.Muted.Render("info URL  "), cmp.Or(info, "–"), width)...)
	}
	i := s.list.At()
	switch {
	case s.stage.busy:
		return []string{s.Theme.Muted.Render("reading the registry …")}
	case s.inside.wanted:
		return []string{s.Theme.Muted.Render("starting the sandbox, one moment …")}
	case i < 0:
		return nil
	}
	switch c := s.choices[i]; c.kind {
	case listedNode:
		return tell(c.entry.TokenURL, c.entry.InfoURL)
	case givenNode:
		return tell(at.TokenURL, at.InfoURL)
	case givenRegistry:
		return Wrap("Enter reads it, and lists its nodes.", width)
	case localSandbox:
		where := "A node of your own on this machine, with clients and test data: whatever you send, nothing can break."
		if s.inside.at != nil {
			where += " It runs; its registry is " + s.inside.at.Registry + "."
		}
		return Wrap(where, width)
	case otherRegistry:
		return Wrap("The URL of a registry document, or a file.", width)
	}
	return Wrap("For a node that no registry lists: its token URL and its info URL.", width)
}

// verb is what enter does with the choice under the cursor.
func (s *nodeScreen) verb() string {
	i := s.list.At()
	if i < 0 {
		return "choose"
	}
	switch s.choices[i].kind {
	case listedNode, givenNode:
		return "choose it"
	case givenRegistry, localSandbox:
		return "read registry"
	}
	return "type it"
}

// errUntyped says that a field is needed.
var errUntyped = errors.New("this is needed")

// edit opens what may be wrong: the registry while it can't be read, else the URLs of the node.
func (s *nodeScreen) edit() tea.Cmd {
	if s.Walk.HasNode() || !s.Walk.HasRegistry() {
		return s.askURLs()
	}
	return s.askRegistry()
}

// ask opens a form; filled takes what was typed.
func (s *nodeScreen) ask(filled func() (tea.Cmd, error), fields ...huh.Field) tea.Cmd {
	s.form, s.filled, s.note = newForm(s.Theme, fields...), filled, ""
	return s.form.Init()
}

// fill gives the form a message.
func (s *nodeScreen) fill(msg tea.Msg) tea.Cmd {
	if isEscape(msg) {
		s.form, s.note = nil, ""
		return nil
	}
	done, cmd := s.form.take(msg)
	if !done {
		return cmd
	}
	after, err := s.filled()
	s.form = nil
	s.arrange()
	if err != nil {
		s.note = err.Error()
		return nil
	}
	s.list.Go(s.proposed())
	return after
}

// askRegistry asks for a registry, and reads it.
func (s *nodeScreen) askRegistry() tea.Cmd {
	place := s.Walk.Target().Registry
	if s.isInside(place) {
		place = ""
	}
	return s.ask(func() (tea.Cmd, error) {
		var document []byte
		address := strings.TrimSpace(place)
		if !strings.Contains(address, "://") {
			var err error
			if document, err = s.ReadFile(address); err != nil {
				return nil, fmt.Errorf("the registry can't be read: %w", err)
			}
			address = ""
		}
		if err := s.Walk.UseRegistry(address, document); err != nil {
			return nil, err
		}
		s.NodeID = ""
		return s.reread(), nil
	}, huh.NewInput().Title("Registry").Description("The URL of its document, or a file").Value(&place).Validate(func(text string) error {
		text = strings.TrimSpace(text)
		if text == "" {
			return errUntyped
		}
		if !strings.Contains(text, "://") {
			_, err := s.ReadFile(text)
			return err
		}
		return flow.CheckURL("--registry", text, s.Walk.Target().AllowOrigins)
	}))
}

// askURLs asks for the URLs of a node.
func (s *nodeScreen) askURLs() tea.Cmd {
	at := s.Walk.Target()
	token, info, spec := at.TokenURL, at.InfoURL, at.SpecURL
	if s.isInside(at.Registry) {
		token, info, spec = "", "", ""
	}
	field := func(title, about, flag string, value *string) huh.Field {
		return huh.NewInput().Title(title).Description(about).Value(value).Validate(func(text string) error {
			text = strings.TrimSpace(text)
			if text == "" && flag == "--spec-url" {
				return nil
			}
			if text == "" {
				return errUntyped
			}
			return flow.CheckURL(flag, text, at.AllowOrigins)
		})
	}
	return s.ask(func() (tea.Cmd, error) {
		err := s.Walk.UseURLs(strings.TrimSpace(token), strings.TrimSpace(info), strings.TrimSpace(spec))
		if err == nil {
			s.read = false
			s.stage.forget()
		}
		return nil, err
	}, field("Token URL", "Where access tokens are issued", "--token-url", &token),
		field("Info URL", "Where the info resource is", "--info-url", &info),
		field("Specification URL", "Where the OpenAPI document is; empty if it follows from the info URL", "--spec-url", &spec))
}
