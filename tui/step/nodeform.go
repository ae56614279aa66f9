package step

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/huh"

	"github.com/rin-network/rin/tui/walk"
)

// edit opens what may be wrong: the registry while it can't be read, else the URLs of the node.
func (s *node) edit() tea.Cmd {
	if s.Walk.Located() || !s.Walk.Registered() {
		return s.askURLs()
	}
	return s.askRegistry()
}

// ask opens a form; filled takes what was typed.
func (s *node) ask(filled func() (tea.Cmd, error), fields ...huh.Field) tea.Cmd {
	s.form, s.filled, s.note = newForm(s.Theme, fields...), filled, ""
	return s.form.Init()
}

// fill gives the form a message.
func (s *node) fill(msg tea.Msg) tea.Cmd {
	if left(msg) {
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
func (s *node) askRegistry() tea.Cmd {
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
		if err := s.Walk.LookAt(address, document); err != nil {
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
		return walk.Misplaced("--registry", text, s.Walk.Target().AllowOrigins)
	}))
}

// askURLs asks for the URLs of a node.
func (s *node) askURLs() tea.Cmd {
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
			return walk.Misplaced(flag, text, at.AllowOrigins)
		})
	}
	return s.ask(func() (tea.Cmd, error) {
		err := s.Walk.GoTo(strings.TrimSpace(token), strings.TrimSpace(info), strings.TrimSpace(spec))
		if err == nil {
			s.read = false
			s.stage.forget()
		}
		return nil, err
	}, field("Token URL", "Where access tokens are issued", "--token-url", &token),
		field("Info URL", "Where the info resource is", "--info-url", &info),
		field("Specification URL", "Where the OpenAPI document is; empty if it follows from the info URL", "--spec-url", &spec))
}
