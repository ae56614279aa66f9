package step

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// choice is a row of the first screen.
type choice struct {
	kind  choiceKind
	entry walk.Entry // of a listed one
}

type choiceKind int

const (
	listed        choiceKind = iota // an entry of the registry
	given                           // a node by its URLs
	registry                        // the registry that was given, and was not read yet
	sandboxed                       // the sandbox inside
	otherRegistry                   // a registry to be named
	typed                           // URLs to be typed
)

// maxID is how many columns an id takes at most.
const maxID = 14

// arrange makes the choices, the likeliest first.
func (s *node) arrange() {
	at := s.Walk.Target()
	s.choices = nil
	switch {
	case s.read:
		for _, e := range s.Walk.Entries() {
			if s.matches(e) {
				s.choices = append(s.choices, choice{listed, e})
			}
		}
	case s.Walk.Registered() && !s.isInside(at.Registry):
		s.choices = append(s.choices, choice{kind: registry})
	}
	if !s.Walk.Registered() && s.Walk.Located() {
		s.choices = append(s.choices, choice{kind: given})
	}
	if s.Start != nil {
		s.choices = append(s.choices, choice{kind: sandboxed})
	}
	s.choices = append(s.choices, choice{kind: otherRegistry}, choice{kind: typed})
	s.ids = 0
	for _, c := range s.choices {
		s.ids = max(s.ids, min(maxID, lipgloss.Width(report.Plain(c.entry.ID)))+1)
	}
	s.list.Show(len(s.choices), s.row)
}

func (s *node) isInside(address string) bool {
	return s.inside.at != nil && s.inside.at.Registry == address
}

func (s *node) matches(e walk.Entry) bool {
	text := strings.ToLower(strings.Join([]string{e.ID, e.Acronym, e.Name}, " "))
	return strings.Contains(text, strings.ToLower(s.filter))
}

// proposed is the row that enter takes if no other is chosen: the node of the walk, the one that was named, else the first.
func (s *node) proposed() int {
	id := cmp.Or(s.Walk.Target().NodeID, s.NodeID)
	return max(0, slices.IndexFunc(s.choices, func(c choice) bool { return c.kind == listed && c.entry.ID == id }))
}

// row is a choice in a line.
func (s *node) row(i, width int) string {
	at := s.Walk.Target()
	switch c := s.choices[i]; c.kind {
	case listed:
		name := c.entry.Name
		if c.entry.Acronym != "" && c.entry.Acronym != c.entry.Name {
			name = strings.TrimSpace(c.entry.Acronym + "  " + name)
		}
		word := ""
		switch {
		case c.entry.TokenURL == "" || c.entry.InfoURL == "":
			word = "no URLs"
		case c.entry.ID == at.NodeID && s.Walk.Located():
			word = "chosen"
		}
		return ended(s.Theme, padded(view.Fit(report.Plain(cmp.Or(c.entry.ID, "?")), maxID), s.ids)+report.Plain(name), word, width)
	case given:
		return ended(s.Theme, "The node at "+report.Plain(at.TokenURL), "chosen", width)
	case registry:
		return "The registry " + report.Plain(cmp.Or(at.Registry, "of your file"))
	case sandboxed:
		word := ""
		if s.inside.starting {
			word = "starting …"
		}
		return ended(s.Theme, "The sandbox inside rin", word, width)
	case otherRegistry:
		return "Another registry …"
	}
	return "Type the URLs …"
}

// ended is a row with a word at its end, which is seen whatever the width.
func ended(t view.Theme, text, word string, width int) string {
	if word == "" {
		return text
	}
	return view.Fit(text, width-lipgloss.Width(word)-3) + t.Muted.Render(" · "+word)
}

// padded fills a text up to a width, and leaves a blank after it.
func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(1, width-lipgloss.Width(text)))
}

// detail is what is known of the choice under the cursor.
func (s *node) detail(width int) []string {
	if s.finding || s.filter != "" && s.note == "" {
		line := s.Theme.Key.Render("/") + " " + report.Plain(s.filter)
		if s.finding {
			line += s.Theme.Selected.Render(" ")
		}
		return append([]string{line}, s.about(width)...)
	}
	if s.note != "" {
		return view.Hang(s.Theme.Bad.Render("✗")+" ", s.note, width)
	}
	return s.about(width)
}

func (s *node) about(width int) []string {
	at := s.Walk.Target()
	tell := func(token, info string) []string {
		return append(view.Hang(s.Theme.Muted.Render("token URL "), cmp.Or(token, "–"), width),
			view.Hang(s.Theme.Muted.Render("info URL  "), cmp.Or(info, "–"), width)...)
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
	case listed:
		return tell(c.entry.TokenURL, c.entry.InfoURL)
	case given:
		return tell(at.TokenURL, at.InfoURL)
	case registry:
		return view.Wrap("Enter reads it, and lists its nodes.", width)
	case sandboxed:
		where := "A node of your own on this machine, with clients and test data: whatever you send, nothing can break."
		if s.inside.at != nil {
			where += " It runs; its registry is " + s.inside.at.Registry + "."
		}
		return view.Wrap(where, width)
	case otherRegistry:
		return view.Wrap("The URL of a registry document, or a file.", width)
	}
	return view.Wrap("For a node that no registry lists: its token URL and its info URL.", width)
}

// verb is what enter does with the choice under the cursor.
func (s *node) verb() string {
	i := s.list.At()
	if i < 0 {
		return "choose"
	}
	switch s.choices[i].kind {
	case listed, given:
		return "choose it"
	case registry, sandboxed:
		return "read registry"
	}
	return "type it"
}

// errUntyped says that a field is needed.
var errUntyped = errors.New("this is needed")
