package screen

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
)

// choice is a row of the first screen.
type choice struct {
	kind  choiceKind
	entry flow.Entry // of a listed node
}

type choiceKind int

const (
	listedNode    choiceKind = iota // an entry of the registry
	givenNode                       // a node that was given by its URLs
	givenRegistry                   // a registry that was given but not read yet
	localSandbox                    // the built-in sandbox
	otherRegistry                   // asks for a registry
	typedURLs                       // asks for URLs
)

// maxID is the maximum width of an ID.
const maxID = 14

// errRequired says that a field must not be empty.
var errRequired = errors.New("this field is required")

// arrange makes the choices, the most likely first.
func (s *nodeScreen) arrange() {
	t := s.Walk.Target()
	s.choices = nil
	switch {
	case s.read:
		for _, e := range s.Walk.Entries() {
			if s.matches(e) {
				s.choices = append(s.choices, choice{listedNode, e})
			}
		}
	case s.Walk.HasRegistry() && !s.isSandbox(t.Registry):
		s.choices = append(s.choices, choice{kind: givenRegistry})
	}
	if !s.Walk.HasRegistry() && s.Walk.HasNode() {
		s.choices = append(s.choices, choice{kind: givenNode})
	}
	if s.Start != nil {
		s.choices = append(s.choices, choice{kind: localSandbox})
	}
	s.choices = append(s.choices, choice{kind: otherRegistry}, choice{kind: typedURLs})
	s.idWidth = 0
	for _, c := range s.choices {
		s.idWidth = max(s.idWidth, min(maxID, lipgloss.Width(report.Plain(c.entry.ID)))+1)
	}
	s.list.Show(len(s.choices), s.row)
}

// isSandbox reports whether a registry is that of the built-in sandbox.
func (s *nodeScreen) isSandbox(registry string) bool {
	return s.sandbox.target != nil && s.sandbox.target.Registry == registry
}

func (s *nodeScreen) matches(e flow.Entry) bool {
	text := strings.ToLower(strings.Join([]string{e.ID, e.Acronym, e.Name}, " "))
	return strings.Contains(text, strings.ToLower(s.filter))
}

// proposed returns the row to select first: the chosen node, the node that the command line named, or the first row.
func (s *nodeScreen) proposed() int {
	id := cmp.Or(s.Walk.Target().NodeID, s.NodeID)
	return max(0, slices.IndexFunc(s.choices, func(c choice) bool { return c.kind == listedNode && c.entry.ID == id }))
}

// choose takes the selected choice.
func (s *nodeScreen) choose() tea.Cmd {
	at := s.list.At()
	if at < 0 {
		return nil
	}
	switch c := s.choices[at]; c.kind {
	case listedNode:
		if err := s.Walk.ChooseNode(c.entry.ID); err != nil {
			s.problem = err.Error()
			return nil
		}
		s.arrange()
		return next()
	case givenNode:
		return next()
	case givenRegistry:
		return s.action.start()
	case localSandbox:
		return s.enterSandbox()
	case otherRegistry:
		return s.askRegistry()
	}
	return s.askURLs()
}

// verb says what enter does with the selected choice.
func (s *nodeScreen) verb() string {
	i := s.list.At()
	if i < 0 {
		return "choose"
	}
	switch s.choices[i].kind {
	case listedNode, givenNode:
		return "choose"
	case givenRegistry, localSandbox:
		return "read registry"
	}
	return "type"
}

// row shows a choice in one line.
func (s *nodeScreen) row(i, width int) string {
	t := s.Walk.Target()
	switch c := s.choices[i]; c.kind {
	case listedNode:
		name := c.entry.Name
		if c.entry.Acronym != "" && c.entry.Acronym != c.entry.Name {
			name = strings.TrimSpace(c.entry.Acronym + "  " + name)
		}
		remark := ""
		switch {
		case c.entry.TokenURL == "" || c.entry.InfoURL == "":
			remark = "no URLs"
		case c.entry.ID == t.NodeID && s.Walk.HasNode():
			remark = "chosen"
		}
		return withRemark(s.Theme, padRight(Fit(report.Plain(cmp.Or(c.entry.ID, "?")), maxID), s.idWidth)+report.Plain(name), remark, width)
	case givenNode:
		return withRemark(s.Theme, "The node at "+report.Plain(t.TokenURL), "chosen", width)
	case givenRegistry:
		return "The registry " + report.Plain(cmp.Or(t.Registry, "in your file"))
	case localSandbox:
		remark := ""
		if s.sandbox.starting {
			remark = "starting …"
		}
		return withRemark(s.Theme, "The built-in sandbox", remark, width)
	case otherRegistry:
		return "Another registry …"
	}
	return "Type the URLs …"
}

// withRemark appends a remark to a row, and shortens the row rather than the remark.
func withRemark(t Theme, text, remark string, width int) string {
	if remark == "" {
		return text
	}
	return Fit(text, width-lipgloss.Width(remark)-3) + t.Muted.Render(" · "+remark)
}

// padRight fills a text with spaces, at least one.
func padRight(text string, width int) string {
	return text + strings.Repeat(" ", max(1, width-lipgloss.Width(text)))
}

// detail shows the filter, or the problem with the last choice, or the details of the selected choice.
func (s *nodeScreen) detail(width int) []string {
	if s.filtering || s.filter != "" && s.problem == "" {
		line := s.Theme.Key.Render("/") + " " + report.Plain(s.filter)
		if s.filtering {
			line += s.Theme.Selected.Render(" ")
		}
		return append([]string{line}, s.describe(width)...)
	}
	if s.problem != "" {
		return Hang(s.Theme.Bad.Render("✗")+" ", s.problem, width)
	}
	return s.describe(width)
}

// describe shows the details of the selected choice.
func (s *nodeScreen) describe(width int) []string {
	urls := func(token, info string) []string {
		return append(Hang(s.Theme.Muted.Render("token URL "), cmp.Or(token, "–"), width),
			Hang(s.Theme.Muted.Render("info URL  "), cmp.Or(info, "–"), width)...)
	}
	i := s.list.At()
	switch {
	case s.action.busy:
		return []string{s.Theme.Muted.Render("reading the registry …")}
	case s.sandbox.chosen:
		return []string{s.Theme.Muted.Render("starting the sandbox …")}
	case i < 0:
		return nil
	}
	switch c := s.choices[i]; c.kind {
	case listedNode:
		return urls(c.entry.TokenURL, c.entry.InfoURL)
	case givenNode:
		t := s.Walk.Target()
		return urls(t.TokenURL, t.InfoURL)
	case givenRegistry:
		return Wrap("Press enter to read it and to list its nodes.", width)
	case localSandbox:
		text := "A node of your own on this machine, with clients and test data. Nothing that you send can do any harm."
		if s.sandbox.target != nil {
			text += " It runs; its registry is " + s.sandbox.target.Registry + "."
		}
		return Wrap(text, width)
	case otherRegistry:
		return Wrap("Type the URL of a registry document, or the name of a file.", width)
	}
	return Wrap("For a node that is in no registry: type its token URL and its info URL.", width)
}
