package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	decision "github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/tui/flow"
)

// findings is the verdict on a node: what is wrong first, then the groups of the catalogue. A group opens into its requirements, and a
// requirement into what was sent and what came back.
type findings struct {
	*Session
	report report.Report
	log    *evidence.Log
	took   time.Duration

	wrong []report.Requirement // what keeps the node from its certificate, then warnings, then what could not be judged
	top   *List
	group []report.Requirement // of the group that is open; nil for none
	name  string               // of that group
	list  *List                // of the group
	stage *ActionScreen        // of the requirement that is open; nil for none
}

func newFindings(w *Session, r report.Report, log *evidence.Log, took time.Duration) *findings {
	f := &findings{Session: w, report: r, log: log, took: took, top: NewList(w.Theme), list: NewList(w.Theme)}
	for _, outcome := range []requirement.Outcome{requirement.Fail, requirement.Warn, requirement.Inconclusive} {
		for _, row := range r.Requirements {
			if row.Outcome == outcome {
				f.wrong = append(f.wrong, row)
			}
		}
	}
	f.top.Show(len(f.wrong)+len(r.Catalogue.Groups), func(i, width int) string {
		if i < len(f.wrong) {
			return f.row(f.wrong[i])
		}
		g := r.Catalogue.Groups[i-len(f.wrong)]
		return groupLine(f.Theme, g.Title, g.Totals, r.FailurePrices(g.Name), width)
	})
	return f
}

// row is a requirement with its outcome in a line.
func (f *findings) row(r report.Requirement) string {
	sign, word, style := f.Theme.Sign(r.Outcome)
	if r.Outcome == requirement.Fail && !r.Costs {
		word += " (" + r.Price() + ")"
	}
	return style.Render(sign) + " " + f.Theme.Key.Render(string(r.ID)) + " " + word + ": " + report.Plain(r.Title)
}

// groupLine is a group of the catalogue with what its requirements came to.
// prices says what its failures cost if they do not cost the certificate.
func groupLine(t Theme, title string, totals decision.Totals, prices string, width int) string {
	outcome, told := requirement.NotApplicable, "not asked"
	judged := totals.Pass + totals.Warn + totals.Fail
	switch {
	case totals.Fail > 0:
		outcome, told = requirement.Fail, fmt.Sprintf("%d of %d failed", totals.Fail, judged)
		if prices != "" {
			told += " (" + prices + ")"
		}
	case totals.Warn > 0:
		outcome, told = requirement.Warn, fmt.Sprintf("%d of %d passed", totals.Pass, judged)
	case judged > 0:
		outcome, told = requirement.Pass, fmt.Sprintf("%d passed", totals.Pass)
	}
	sign, _, style := t.Sign(outcome)
	return style.Render(sign) + " " + Cell(title, min(42, max(1, width-len(told)-4))) + "  " + t.Muted.Render(told)
}

func (f *findings) refresh() {
	if f.stage != nil {
		f.stage.Update(SecretsToggled{})
	}
}

// press moves about in the lists, and between them and what is open.
func (f *findings) press(msg tea.KeyMsg) tea.Cmd {
	switch {
	case f.stage != nil && key.Matches(msg, toList()):
		f.stage = nil
	case f.stage != nil:
		return f.stage.Update(msg)
	case f.group != nil && key.Matches(msg, toList()):
		f.group = nil
	case key.Matches(msg, open("")):
		f.open()
	case f.group != nil:
		f.list.Update(msg)
	default:
		f.top.Update(msg)
	}
	return nil
}

// open opens what is under the cursor.
func (f *findings) open() {
	at := f.top.At()
	switch {
	case f.group != nil:
		if i := f.list.At(); i >= 0 {
			f.look(f.group[i])
		}
	case at < 0:
	case at < len(f.wrong):
		f.look(f.wrong[at])
	default:
		g := f.report.Catalogue.Groups[at-len(f.wrong)]
		f.group, f.name = []report.Requirement{}, g.Title
		for _, r := range f.report.Requirements {
			if strings.HasPrefix(string(r.ID), g.Name+"-") {
				f.group = append(f.group, r)
			}
		}
		f.list.Show(len(f.group), func(i, _ int) string { return f.row(f.group[i]) })
		f.list.Go(0)
	}
}

// maxShown bounds the exchanges and the subjects of one requirement.
const maxShown = 20

// look opens one requirement.
func (f *findings) look(r report.Requirement) {
	_, word, _ := f.Theme.Sign(r.Outcome)
	v := flow.Verdict{ID: r.ID, Title: r.Title, Outcome: r.Outcome, Reason: r.Reason, Expected: r.Expected, Got: r.Got, Source: r.Source.Text, Quote: r.Quote}
	if r.Outcome != requirement.Pass {
		v.Fix = r.Fix
	}
	scene := flow.Result{Step: flow.Certify, Verdicts: []flow.Verdict{v}}
	seen := map[evidence.Label]bool{}
	for _, s := range r.Subjects {
		if x, ok := f.log.Get(s.Label); ok && !seen[s.Label] && len(scene.Exchanges) < maxShown {
			scene.Exchanges = append(scene.Exchanges, x)
			seen[s.Label] = true
		}
	}
	f.stage = newActionScreen(f.Session, flow.Certify, "", nil)
	f.stage.opening = []string{fmt.Sprintf("%s: %s", r.ID, word), r.Title}
	f.stage.extra = func(width int) []string { return f.subjects(r, width) }
	f.stage.played(scene)
	f.stage.look(0)
}

// subjects are what a requirement was judged on, where there is more than one thing.
func (f *findings) subjects(r report.Requirement, width int) []string {
	var out []string
	if r.Outcome == requirement.Pass && r.Quote != "" {
		out = Hang(f.Theme.Muted.Render("    rule     "), r.Source.Text+": “"+r.Quote+"”", width)
	}
	if len(r.Subjects) < 2 {
		return out
	}
	out = append(out, "", f.Theme.Key.Render("Judged on"))
	for _, s := range r.Subjects[:min(len(r.Subjects), maxShown)] {
		text := s.Name
		if s.Got != "" {
			text += ": " + s.Got
		}
		out = append(out, Hang("  - ", text, width)...)
	}
	if more := len(r.Subjects) - maxShown + r.SubjectsCut; more > 0 {
		out = append(out, fmt.Sprintf("  and %d more", more))
	}
	return out
}

// view draws the verdict, and beside it or in its place what is open.
func (f *findings) view(room Size) string {
	left := room
	switch {
	case f.stage != nil && room.Width >= wide:
		left.Width = 46
		return Beside(f.overview(left), f.stage.View(Size{Width: room.Width - left.Width - 2, Height: room.Height}), left.Width)
	case f.stage != nil:
		return f.stage.View(room)
	}
	return f.overview(room)
}

// overview is the list that is looked at, with the verdict above it.
func (f *findings) overview(room Size) string {
	if f.group != nil {
		return Stack(room, []string{f.Theme.Title.Render(f.name)}, f.list, nil)
	}
	return Stack(room, f.head(room), f.top, nil)
}

// head is the verdict in words and figures.
func (f *findings) head(room Size) []string {
	v := f.report.Verdict
	sign, style := "✗", f.Theme.Bad
	switch v.Decision {
	case decision.Certified:
		sign, style = "✓", f.Theme.Good
	case decision.Repeat, decision.Partial:
		sign, style = "!", f.Theme.Warn
	}
	var lines []string
	for _, line := range Wrap(sign+" "+v.Headline, room.Width) {
		lines = append(lines, style.Bold(true).Render(line))
	}
	t := f.report.Totals
	figures := []string{fmt.Sprintf("%d passed", t.Pass)}
	for _, one := range []struct {
		n    int
		word string
	}{{t.Fail, "failed"}, {t.Warn, "with a warning"}, {t.Inconclusive, "not decided"}, {t.Blocked, "blocked"}, {t.NotApplicable, "not applicable"}} {
		if one.n > 0 {
			figures = append(figures, fmt.Sprintf("%d %s", one.n, one.word))
		}
	}
	lines = append(lines, Wrap(strings.Join(figures, ", ")+".", room.Width)...)
	if room.Height > 14 {
		sent := fmt.Sprintf("%s in %s, at most %d were announced.", evidence.Count(f.report.Budget.Sent, "request"), clockOf(f.took), f.report.Budget.Planned)
		for _, line := range Wrap(sent, room.Width) {
			lines = append(lines, f.Theme.Muted.Render(line))
		}
		for _, text := range []string{f.report.Run.Cause, v.Notice} {
			if text != "" {
				lines = append(lines, Wrap(text, room.Width)...)
			}
		}
	}
	return lines
}

// keys are those of the part that is looked at.
func (f *findings) keys() []key.Binding {
	switch {
	case f.stage != nil:
		return append([]key.Binding{toList()}, f.stage.Keys()[1:]...)
	case f.group != nil:
		return append([]key.Binding{open("open it"), toList()}, ListKeys()...)
	}
	return append([]key.Binding{open("open it")}, ListKeys()...)
}
