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

// exercise is one thing to try: a mistake of a client, or a fault of a node.
type exercise struct {
	// title is in the list, heading above the answer. warning is shown before a request is sent, and the person has to confirm; empty for most exercises.
	title, heading, warning string
	run                     func(context.Context) flow.Result
}

// exerciseScreen is the screen of a step with several exercises: it lists them, and shows the answer to the latest one.
type exerciseScreen struct {
	*Session
	step      flow.Step
	name      string // of the list, where the guide does not fit
	words     exerciseWords
	exercises []exercise
	// availability says when an exercise without an answer can be tried; explanation explains the result of one.
	availability func(i int) string
	explanation  func(i, width int) []string

	results     []*flow.Result // of each exercise; nil until it is tried
	list        *List
	action      *ActionScreen // the opened exercise; nil while the list is visible
	confirming  bool          // the person is asked whether to try the selected exercise
	targetCount int           // [flow.Walk.TargetCount] of the results
}

// exerciseWords are the words of a step for its exercises.
type exerciseWords struct {
	do, doIt, next string // "make the mistake", "make it", "next mistake"
	done           string // "made"
	good           string // the outcome of an answer without verdicts
}

// newWhatIfScreen makes the screen with the mistakes of clients.
func newWhatIfScreen(w *Session) Screen {
	mistakes := flow.Mistakes()
	s := &exerciseScreen{Session: w, step: flow.WhatIf, name: "Mistakes, made on purpose", words: exerciseWords{"make the mistake", "make it", "next mistake", "made", ""}}
	for _, m := range mistakes {
		s.exercises = append(s.exercises, exercise{m.Title, "What if " + m.Title + "?", m.Warning, func(ctx context.Context) flow.Result { return w.Walk.MakeMistake(ctx, m) }})
	}
	s.availability = func(i int) string { return availability(w, mistakes[i]) }
	s.explanation = func(i, width int) []string { return s.lesson(mistakes[i], i, width) }
	return s.prepare()
}

// newFaultsScreen makes the screen with the faults of nodes.
func newFaultsScreen(w *Session) Screen {
	s := &exerciseScreen{Session: w, step: flow.Faults, name: "Faults of a node, and what a client does", words: exerciseWords{"let it happen", "let it happen", "next fault", "shown", "recovered"}}
	for _, f := range flow.NodeFaults() {
		s.exercises = append(s.exercises, exercise{f.Title, "When " + f.Title, "", func(ctx context.Context) flow.Result { return w.Walk.ShowFault(ctx, f) }})
	}
	s.availability = func(int) string { return "not on this node" }
	s.explanation = func(i, width int) []string { return numberedNotes(s.results[i], width) }
	return s.prepare()
}

// numberedNotes shows what a client did step by step; the lesson comes last.
func numberedNotes(result *flow.Result, width int) []string {
	if result == nil {
		return nil
	}
	if len(result.Notes) == 1 {
		return Wrap(result.Notes[0], width)
	}
	var lines []string
	for i, note := range result.Notes {
		lead := fmt.Sprintf("%d ", i+1)
		if i == len(result.Notes)-1 {
			lines, lead = append(lines, ""), ""
		}
		lines = append(lines, Hang(lead, note, width)...)
	}
	return lines
}

func (s *exerciseScreen) prepare() Screen {
	s.list = NewList(s.Theme)
	s.list.Show(len(s.exercises), s.row)
	s.reset()
	return s
}

func (s *exerciseScreen) reset() {
	s.targetCount, s.action, s.confirming, s.results = s.Walk.TargetCount(), nil, false, make([]*flow.Result, len(s.exercises))
}

// row shows an exercise and its outcome in one line.
func (s *exerciseScreen) row(i, width int) string {
	title, result := s.exercises[i].title, s.results[i]
	if result == nil {
		return "  " + title
	}
	sign, word, style := s.Theme.Sign(worstOutcome(result.Verdicts))
	switch {
	case !result.OK():
		sign, word, style = "✗", "trouble", s.Theme.Bad
	case !s.isAnswered(i):
		sign, word, style = "–", s.availability(i), s.Theme.Muted
	case len(result.Verdicts) == 0:
		word = s.words.good
	}
	word = " · " + word
	return style.Render(sign) + " " + Fit(title, width-2-lipgloss.Width(word)) + s.Theme.Muted.Render(word)
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

// availability says when a mistake that has no verdict yet can be made.
func availability(w *Session, m flow.Mistake) string {
	token, ok := w.Walk.Token()
	if m.Name != "expired" || !ok {
		return "not yet"
	}
	if remaining := token.Remaining(w.Walk.Now()); remaining > 0 {
		return "in " + formatClock(remaining)
	}
	return "possible now"
}

// Open implements [Screen]. It drops the answers of another node.
func (s *exerciseScreen) Open() tea.Cmd {
	if s.targetCount != s.Walk.TargetCount() && !s.busy() {
		s.reset()
	}
	return nil
}

func (s *exerciseScreen) busy() bool { return s.action != nil && s.action.busy }

// Typing implements [Screen].
func (s *exerciseScreen) Typing() bool { return s.confirming || s.action != nil && s.action.Typing() }

// Exchange implements [Screen].
func (s *exerciseScreen) Exchange() (evidence.Exchange, bool) {
	if s.action == nil {
		return evidence.Exchange{}, false
	}
	return s.action.Exchange()
}

// Update implements [Screen].
func (s *exerciseScreen) Update(msg tea.Msg) tea.Cmd {
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

func (s *exerciseScreen) updateKey(msg tea.KeyMsg) tea.Cmd {
	switch {
	case s.confirming:
		s.confirming = false
		cmd, _ := press(msg, s.confirmCommands())
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
func (s *exerciseScreen) Keys() []key.Binding {
	if s.confirming {
		return helpOf(s.confirmCommands())
	}
	return helpOf(s.commands())
}

func (s *exerciseScreen) confirmCommands() []command {
	return []command{bind("y", "send", func() tea.Cmd { return s.try(s.list.At()) }), bind("n", "do not send", nil)}
}

func (s *exerciseScreen) commands() []command {
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
	case s.isAnswered(at):
		return append([]command{s.nextCommand(), open("look at it", do(func() { s.openExercise(at) })), nextStep()}, listHelp()...)
	}
	begin := func() tea.Cmd { return s.begin(at) }
	return append([]command{enter(s.words.doIt, begin), bind("→", "", begin, "right", "o"), nextStep()}, listHelp()...)
}

// nextCommand binds enter to the next exercise without a warning, or else to the next step of the tour.
func (s *exerciseScreen) nextCommand() command {
	i := s.upcoming()
	if i < 0 {
		return enter("next step", next)
	}
	return enter(s.words.next, func() tea.Cmd {
		s.list.Go(i)
		return s.try(i)
	})
}

// upcoming returns the first exercise without a warning that was not tried yet; -1 if there is none.
func (s *exerciseScreen) upcoming() int {
	for i, e := range s.exercises {
		if e.warning == "" && s.results[i] == nil {
			return i
		}
	}
	return -1
}

// skippedHint names the first exercise that enter skips because of its warning and that was not tried yet, and says how to choose it; "" if there is none.
func (s *exerciseScreen) skippedHint() string {
	for i, e := range s.exercises {
		if e.warning != "" && s.results[i] == nil {
			return fmt.Sprintf("Enter leaves out “%s”, which asks first. To try it, choose it in the list.", e.title)
		}
	}
	return ""
}

// begin tries an exercise. If it has a warning, begin asks the person first.
func (s *exerciseScreen) begin(i int) tea.Cmd {
	if s.exercises[i].warning != "" {
		s.confirming = true
		return nil
	}
	s.confirming = false
	return s.try(i)
}

func (s *exerciseScreen) try(i int) tea.Cmd {
	s.openExercise(i)
	return s.action.start()
}

// openExercise shows an exercise with its result, if any. It sends nothing.
func (s *exerciseScreen) openExercise(i int) {
	e := s.exercises[i]
	s.action = newActionScreen(s.Session, s.step, s.words.do, e.run)
	s.action.subject, s.action.heading = i, []string{e.heading}
	s.action.explanation = func(width int) []string {
		lines := s.explanation(i, width)
		if hint := s.skippedHint(); hint != "" && s.upcoming() < 0 { // enter leads to the next step
			lines = append(append(lines, ""), Wrap(hint, width)...)
		}
		return lines
	}
	s.action.details = func(width int) []string { return s.passedRules(i, width) }
	if result := s.results[i]; result != nil {
		s.action.show(*result)
	}
}

// isAnswered reports whether the node has answered an exercise. An exercise that was tried may have no answer.
func (s *exerciseScreen) isAnswered(i int) bool {
	r := s.results[i]
	return r != nil && r.OK() && len(r.Exchanges) > 0
}

// View implements [Screen].
func (s *exerciseScreen) View(room Size) string {
	if s.action != nil {
		return besideAction(room, 36, s.list.View, s.action)
	}
	answered := 0
	for i := range s.exercises {
		if s.isAnswered(i) {
			answered++
		}
	}
	foot := fmt.Sprintf("%d of %d %s", answered, len(s.exercises), s.words.done)
	if hint := s.skippedHint(); hint != "" && room.Height-len(s.exercises)-len(Wrap(foot+". "+hint, room.Width))-2 > 0 {
		foot += ". " + hint
	}
	if s.confirming {
		foot = s.exercises[s.list.At()].warning + " Send it? y/n"
	}
	tail := Wrap(foot, room.Width)
	free := room.Height - len(s.exercises) - len(tail) - 2
	head := Wrap(s.step.Guide().Why, room.Width)
	switch {
	case free < 1:
		head = nil
	case free < len(head):
		head = []string{s.Theme.Title.Render(Fit(s.name, room.Width))}
	}
	return Stack(room, head, s.list, tail)
}

// maxChallenges is the number of challenges that a lesson shows.
const maxChallenges = 4

// lesson shows what the client sent, how the node challenged it, and what a client does then.
func (s *exerciseScreen) lesson(m flow.Mistake, i, width int) []string {
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
	if len(result.Verdicts) == 0 && m.Name == "expired" { // the note of the result shows the remaining time of then
		add("", "rin sends the token of this tour once it has expired. To send another expired token now, start with --expired-token.")
		return append(lines, "", s.Theme.Key.Render("s")+" makes the mistake: "+s.availability(i))
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
func (s *exerciseScreen) passedRules(i, width int) []string {
	var lines []string
	for _, v := range s.results[i].Verdicts {
		if v.Outcome == requirement.Pass {
			lines = append(lines, Hang("  "+s.Theme.Key.Render(string(v.ID))+" ", v.Title+" ("+v.Source+")", width)...)
		}
	}
	return lines
}
