package screen

import (
	"context"
	"fmt"
	"slices"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/flow"
)

// whatIfScreen makes mistakes on purpose: it lists them, and shows the answer to the latest one.
type whatIfScreen struct {
	*Session
	mistakes    []flow.Mistake
	results     []*flow.Result // of each mistake; nil until it is made
	list        *List
	action      *ActionScreen // the opened mistake; nil while the list is visible
	asking      bool          // the question of the selected mistake is open
	targetCount int           // [flow.Walk.TargetCount] of the results
}

func newWhatIfScreen(w *Session) Screen {
	s := &whatIfScreen{Session: w, mistakes: flow.Mistakes(), list: NewList(w.Theme)}
	s.list.Show(len(s.mistakes), s.row)
	s.reset()
	return s
}

func (s *whatIfScreen) reset() {
	s.targetCount, s.action, s.asking, s.results = s.Walk.TargetCount(), nil, false, make([]*flow.Result, len(s.mistakes))
}

// row shows a mistake and its outcome in one line.
func (s *whatIfScreen) row(i, width int) string {
	m, result := s.mistakes[i], s.results[i]
	if result == nil {
		return "  " + m.Title
	}
	sign, word, style := s.Theme.Sign(worstOutcome(result.Verdicts))
	switch {
	case !result.OK():
		sign, word, style = "✗", "trouble", s.Theme.Bad
	case len(result.Verdicts) == 0:
		sign, word, style = "–", s.availability(m), s.Theme.Muted
	}
	word = " · " + word
	return style.Render(sign) + " " + Fit(m.Title, width-2-lipgloss.Width(word)) + s.Theme.Muted.Render(word)
}

func worstOutcome(verdicts []flow.Verdict) requirement.Outcome {
	order := []requirement.Outcome{requirement.Pass, requirement.Inconclusive, requirement.Blocked, requirement.Warn, requirement.Fail}
	worst := requirement.Pass
	for _, v := range verdicts {
		if slices.Index(order, v.Outcome) > slices.Index(order, worst) {
			worst = v.Outcome
		}
	}
	return worst
}

// availability says when a mistake can be made that has no verdict yet.
func (s *whatIfScreen) availability(m flow.Mistake) string {
	token, ok := s.Walk.Token()
	if m.Name != "expired" || !ok {
		return "not yet"
	}
	if remaining := token.Remaining(s.Walk.Now()); remaining > 0 {
		return "in " + formatClock(remaining)
	}
	return "possible now"
}

// Open implements [Screen]. It drops the answers of another node.
func (s *whatIfScreen) Open() tea.Cmd {
	if s.targetCount != s.Walk.TargetCount() && !s.busy() {
		s.reset()
	}
	return nil
}

func (s *whatIfScreen) busy() bool { return s.action != nil && s.action.busy }

// Typing implements [Screen].
func (s *whatIfScreen) Typing() bool { return s.asking || s.action != nil && s.action.Typing() }

// Exchange implements [Screen].
func (s *whatIfScreen) Exchange() (evidence.Exchange, bool) {
	if s.action == nil {
		return evidence.Exchange{}, false
	}
	return s.action.Exchange()
}

// Update implements [Screen].
func (s *whatIfScreen) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case ActionDone:
		if i, ok := msg.Subject.(int); ok {
			s.results[i], s.targetCount = &msg.Result, msg.TargetCount
		}
	case tea.KeyMsg:
		return s.updateKey(msg)
	}
	if s.action != nil {
		return s.action.Update(msg)
	}
	return nil
}

func (s *whatIfScreen) updateKey(msg tea.KeyMsg) tea.Cmd {
	switch {
	case s.asking:
		s.asking = false
		cmd, _ := press(msg, s.questionCommands())
		return cmd
	case s.action != nil && s.action.Typing():
		return s.action.Update(msg)
	case s.busy():
		return nil
	}
	if cmd, handled := press(msg, s.commands()); handled {
		return cmd
	}
	if s.action != nil {
		return s.action.Update(msg)
	}
	s.list.Update(msg)
	return nil
}

// Keys implements [Screen].
func (s *whatIfScreen) Keys() []key.Binding {
	if s.asking {
		return helpOf(s.questionCommands())
	}
	return helpOf(s.commands())
}

func (s *whatIfScreen) questionCommands() []command {
	return []command{on("y", "send", func() tea.Cmd { return s.makeMistake(s.list.At()) }), on("n", "do not send", nil)}
}

func (s *whatIfScreen) commands() []command {
	at := s.list.At()
	switch {
	case s.action != nil && s.action.Typing():
		return s.action.commands()
	case s.action != nil:
		first := s.nextCommand()
		if s.busy() {
			first = escape("back", nil)
		} else if result := s.results[at]; result != nil && !result.OK() {
			first = enter("try again", s.action.start)
		}
		return append([]command{first, toList(do(func() { s.action = nil }))}, s.action.otherCommands()...)
	case s.made(at):
		return append([]command{s.nextCommand(), open("look at it", do(func() { s.openMistake(at) })), nextStep()}, listHelp()...)
	}
	begin := func() tea.Cmd { return s.begin(at) }
	return append([]command{enter("make it", begin), on("→", "", begin, "right", "o"), nextStep()}, listHelp()...)
}

// nextCommand binds enter to the next mistake without a question, or else to the next step of the tour.
func (s *whatIfScreen) nextCommand() command {
	for i, m := range s.mistakes {
		if m.Question == "" && s.results[i] == nil {
			return enter("next mistake", func() tea.Cmd {
				s.list.Go(i)
				return s.makeMistake(i)
			})
		}
	}
	return enter("next step", next)
}

// begin makes a mistake, or asks its question first.
func (s *whatIfScreen) begin(i int) tea.Cmd {
	if s.mistakes[i].Question != "" {
		s.asking = true
		return nil
	}
	s.asking = false
	return s.makeMistake(i)
}

func (s *whatIfScreen) makeMistake(i int) tea.Cmd {
	s.openMistake(i)
	return s.action.start()
}

// openMistake shows a mistake with its result, if any. It sends nothing.
func (s *whatIfScreen) openMistake(i int) {
	m := s.mistakes[i]
	s.action = newActionScreen(s.Session, flow.WhatIf, "make the mistake", func(ctx context.Context) flow.Result { return s.Walk.MakeMistake(ctx, m) })
	s.action.subject, s.action.heading = i, []string{"What if " + m.Title + "?"}
	s.action.explanation = func(width int) []string { return s.lesson(i, width) }
	s.action.details = func(width int) []string { return s.passedRules(i, width) }
	if result := s.results[i]; result != nil {
		s.action.show(*result)
	}
}

// made reports whether the node has answered a mistake.
func (s *whatIfScreen) made(i int) bool {
	return s.results[i] != nil && s.results[i].OK() && len(s.results[i].Verdicts) > 0
}

// View implements [Screen].
func (s *whatIfScreen) View(room Size) string {
	if s.action != nil {
		return besideAction(room, 36, s.list.View, s.action)
	}
	made := 0
	for i := range s.mistakes {
		if s.made(i) {
			made++
		}
	}
	foot := fmt.Sprintf("%d of %d made", made, len(s.mistakes))
	if s.asking {
		foot = s.mistakes[s.list.At()].Question + " Send it? y/n"
	}
	tail := Wrap(foot, room.Width)
	free := room.Height - len(s.mistakes) - len(tail) - 2
	head := Wrap(flow.WhatIf.Guide().Why, room.Width)
	switch {
	case free < 1:
		head = nil
	case free < len(head):
		head = []string{s.Theme.Title.Render("Mistakes, made on purpose")}
	}
	return Stack(room, head, s.list, tail)
}

// maxChallenges is the number of challenges that a lesson shows.
const maxChallenges = 4

// lesson shows what the client sent, how the node challenged it, and what a client does then.
func (s *whatIfScreen) lesson(i, width int) []string {
	result := s.results[i]
	if result == nil {
		return nil
	}
	var lines []string
	add := func(label, text string) { lines = append(lines, Hang(s.Theme.Muted.Render(label), text, width)...) }
	if x, ok := s.action.Exchange(); ok {
		if len(x.Request.Body) == 0 {
			sent := "no Authorization"
			for _, value := range evidence.Values(x.Request.Header, "Authorization") {
				sent = "Authorization: " + s.mask()(value)
			}
			add("sent      ", sent)
		}
		if x.Response != nil {
			challenges := evidence.Values(x.Response.Header, "WWW-Authenticate")
			for _, value := range challenges[:min(len(challenges), maxChallenges)] {
				add("challenge ", s.mask()(value))
			}
			if len(challenges) == 0 && x.Status() == 401 {
				add("challenge ", "none")
			}
		}
		lines = append(lines, "")
	}
	if len(result.Verdicts) == 0 && s.mistakes[i].Name == "expired" { // the note of the result has a fixed time
		add("", "rin sends the token of this tour once it has expired. To send another expired token now, start with --expired-token.")
		return append(lines, "", s.Theme.Key.Render("s")+" makes the mistake: "+s.availability(s.mistakes[i]))
	}
	notes := result.Notes
	if len(lines) > 0 && len(notes) > 1 {
		notes = notes[1:] // the status is visible above
	}
	for _, note := range notes {
		add("", note)
	}
	return lines
}

// passedRules lists the rules that the answer follows. The summary shows the others.
func (s *whatIfScreen) passedRules(i, width int) []string {
	var lines []string
	for _, v := range s.results[i].Verdicts {
		if v.Outcome == requirement.Pass {
			lines = append(lines, Hang("  "+s.Theme.Key.Render(string(v.ID))+" ", v.Title+" ("+v.Source+")", width)...)
		}
	}
	return lines
}
