package screen

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/tui/flow"
)

// choice is a row of the first screen. Its functions are called for each frame, because the target and the sandbox may have changed.
type choice struct {
	id      string // of a node in the registry; "" for other choices
	verb    string // what enter does
	row     func(width int) string
	details func(width int) []string
	choose  func() tea.Cmd
}

const maxIDWidth = 14

// makeChoices sets the rows of the list, the most likely choice first.
func (s *nodeScreen) makeChoices() {
	s.choices, s.idWidth = nil, 0
	switch {
	case s.hasEntries:
		for _, e := range s.Walk.Entries() {
			if s.matchesFilter(e) {
				s.choices = append(s.choices, s.listedNode(e))
				s.idWidth = max(s.idWidth, min(maxIDWidth, lipgloss.Width(report.Plain(e.ID)))+1)
			}
		}
	case s.Walk.HasRegistry() && !s.isSandbox(s.Walk.Target().Registry):
		s.choices = append(s.choices, s.givenRegistry())
	}
	if !s.Walk.HasRegistry() && s.Walk.HasNode() {
		s.choices = append(s.choices, s.givenNode())
	}
	if s.Start != nil {
		s.choices = append(s.choices, s.localSandbox())
	}
	s.choices = append(s.choices, typedChoice("Another registry …", "Type the URL of a registry document, or the name of a file.", s.askRegistry),
		typedChoice("Type the URLs …", "For a node that is in no registry: type its token URL and its info URL.", s.askURLs))
	s.list.Show(len(s.choices), func(i, width int) string { return s.choices[i].row(width) })
}

// listedNode returns the choice of an entry of the registry.
func (s *nodeScreen) listedNode(e flow.Entry) choice {
	return choice{
		id: e.ID, verb: "choose",
		row: func(width int) string {
			name := e.Name
			if e.Acronym != "" && e.Acronym != e.Name {
				name = strings.TrimSpace(e.Acronym + "  " + name)
			}
			remark := ""
			switch {
			case e.TokenURL == "" || e.InfoURL == "":
				remark = "no URLs"
			case e.ID == s.Walk.Target().NodeID && s.Walk.HasNode():
				remark = "chosen"
			}
			return withRemark(s.Theme, padRight(Fit(report.Plain(cmp.Or(e.ID, "?")), maxIDWidth), s.idWidth)+report.Plain(name), remark, width)
		},
		details: func(width int) []string { return s.urls(e.TokenURL, e.InfoURL, width) },
		choose: func() tea.Cmd {
			if err := s.Walk.ChooseNode(e.ID); err != nil {
				s.problem = err.Error()
				return nil
			}
			s.makeChoices()
			return next()
		},
	}
}

// givenNode returns the choice of the node that was given by its URLs.
func (s *nodeScreen) givenNode() choice {
	t := s.Walk.Target()
	return choice{
		verb: "choose",
		row: func(width int) string {
			return withRemark(s.Theme, "The node at "+report.Plain(t.TokenURL), "chosen", width)
		},
		details: func(width int) []string { return s.urls(t.TokenURL, t.InfoURL, width) },
		choose:  next,
	}
}

// givenRegistry returns the choice of the registry that was given but not read yet.
func (s *nodeScreen) givenRegistry() choice {
	return choice{
		verb: "read registry",
		row: func(int) string {
			return "The registry " + report.Plain(cmp.Or(s.Walk.Target().Registry, "in your file"))
		},
		details: func(width int) []string {
			return Wrap("Press enter to read the registry and to list its nodes.", width)
		},
		choose: s.action.start,
	}
}

// localSandbox returns the choice of the built-in sandbox.
func (s *nodeScreen) localSandbox() choice {
	return choice{
		verb: "read registry",
		row: func(width int) string {
			remark := ""
			if s.sandbox.starting {
				remark = "starting …"
			}
			return withRemark(s.Theme, "The built-in sandbox", remark, width)
		},
		details: func(width int) []string {
			text := "A node of your own on this machine, with clients and test data. Nothing that you send can do any harm."
			if s.sandbox.target != nil {
				text += " It runs; its registry is " + s.sandbox.target.Registry + "."
			}
			return Wrap(text, width)
		},
		choose: s.enterSandbox,
	}
}

// typedChoice returns a choice that opens a form.
func typedChoice(title, details string, open func() tea.Cmd) choice {
	return choice{
		verb:    "type",
		row:     func(int) string { return title },
		details: func(width int) []string { return Wrap(details, width) },
		choose:  open,
	}
}

// isSandbox reports whether a registry is that of the built-in sandbox.
func (s *nodeScreen) isSandbox(registry string) bool {
	return s.sandbox.target != nil && s.sandbox.target.Registry == registry
}

func (s *nodeScreen) matchesFilter(e flow.Entry) bool {
	text := strings.ToLower(strings.Join([]string{e.ID, e.Acronym, e.Name}, " "))
	return strings.Contains(text, strings.ToLower(s.filter))
}

// proposedRow returns the row to select first: the chosen node, the node that the command line named, or the first row.
func (s *nodeScreen) proposedRow() int {
	id := cmp.Or(s.Walk.Target().NodeID, s.NodeID)
	return max(0, slices.IndexFunc(s.choices, func(c choice) bool { return id != "" && c.id == id }))
}

// selectedChoice returns the selected choice. There is one, because a person can always type a registry or URLs.
func (s *nodeScreen) selectedChoice() choice { return s.choices[s.list.At()] }

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

// detail shows the filter and the details of the selected choice, or the problem with the last choice.
func (s *nodeScreen) detail(width int) []string {
	if s.filtering || s.filter != "" && s.problem == "" {
		line := s.Theme.Key.Render("/") + " " + report.Plain(s.filter)
		if s.filtering {
			line += s.Theme.Selected.Render(" ")
		}
		return append([]string{line}, s.describeSelected(width)...)
	}
	if s.problem != "" {
		return Hang(s.Theme.Bad.Render("✗")+" ", s.problem, width)
	}
	return s.describeSelected(width)
}

// describeSelected shows the details of the selected choice, or what it waits for.
func (s *nodeScreen) describeSelected(width int) []string {
	switch {
	case s.action.busy:
		return []string{s.Theme.Muted.Render("reading the registry …")}
	case s.sandbox.chosen:
		return []string{s.Theme.Muted.Render("starting the sandbox …")}
	}
	return s.selectedChoice().details(width)
}

// urls shows the two URLs of a node.
func (s *nodeScreen) urls(token, info string, width int) []string {
	return append(Hang(s.Theme.Muted.Render("token URL "), cmp.Or(token, "–"), width),
		Hang(s.Theme.Muted.Render("info URL  "), cmp.Or(info, "–"), width)...)
}
