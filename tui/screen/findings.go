package screen

import (
	"fmt"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	decision "github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/tui/flow"
)

// findings shows the verdict on a node: problems first, then the groups of the catalogue. A group opens into its requirements, a requirement
// into its exchanges.
type findings struct {
	*Session
	report   report.Report
	log      *evidence.Log
	duration time.Duration

	problems []report.Requirement // failures, warnings and inconclusive requirements
	top      *List                // of problems and groups
	group    []report.Requirement // of the opened group; nil if none is open
	title    string               // of the opened group
	rows     *List                // of the opened group
	opened   *ActionScreen        // the opened requirement; nil if none is open
}

func newFindings(w *Session, r report.Report, log *evidence.Log, duration time.Duration) *findings {
	f := &findings{Session: w, report: r, log: log, duration: duration, top: NewList(w.Theme), rows: NewList(w.Theme)}
	for _, outcome := range []requirement.Outcome{requirement.Fail, requirement.Warn, requirement.Inconclusive} {
		for _, row := range r.Requirements {
			if row.Outcome == outcome {
				f.problems = append(f.problems, row)
			}
		}
	}
	f.top.Show(len(f.problems)+len(r.Catalogue.Groups), func(i, width int) string {
		if i < len(f.problems) {
			return f.row(f.problems[i])
		}
		g := r.Catalogue.Groups[i-len(f.problems)]
		return groupLine(f.Theme, g.Title, g.Totals, r.FailureConsequences(g.Name), width)
	})
	return f
}

// row shows a requirement and its outcome in one line.
func (f *findings) row(r report.Requirement) string {
	sign, word, style := f.Theme.Sign(r.Outcome)
	if r.Outcome == requirement.Fail && !r.Costs {
		word += " (" + r.Consequence() + ")"
	}
	return style.Render(sign) + " " + f.Theme.Key.Render(string(r.ID)) + " " + word + ": " + report.Plain(r.Title)
}

// groupLine shows a group of the catalogue and its outcomes in one line.
// consequences says what the failures of the group cost if they do not cost the certificate; it may be empty.
func groupLine(t Theme, title string, totals decision.Totals, consequences string, width int) string {
	outcome, text := requirement.NotApplicable, "not judged"
	judged := totals.Pass + totals.Warn + totals.Fail
	switch {
	case totals.Fail > 0:
		outcome, text = requirement.Fail, fmt.Sprintf("%d of %d failed", totals.Fail, judged)
		if consequences != "" {
			text += " (" + consequences + ")"
		}
	case totals.Warn > 0:
		outcome, text = requirement.Warn, fmt.Sprintf("%d of %d passed", totals.Pass, judged)
	case judged > 0:
		outcome, text = requirement.Pass, fmt.Sprintf("%d passed", totals.Pass)
	}
	sign, _, style := t.Sign(outcome)
	return style.Render(sign) + " " + Cell(title, min(42, max(1, width-len(text)-4))) + "  " + t.Muted.Render(text)
}

// list returns the visible list.
func (f *findings) list() *List {
	if f.group != nil {
		return f.rows
	}
	return f.top
}

// commands returns the commands that open a group or a requirement, and lead back.
func (f *findings) commands() []command {
	switch {
	case f.opened != nil:
		return append([]command{toList(do(func() { f.opened = nil }))}, f.opened.otherCommands()...)
	case f.group != nil:
		return append([]command{open("open", do(f.openRow)), toList(do(func() { f.group = nil }))}, listHelp()...)
	}
	return append([]command{open("open", do(f.openRow))}, listHelp()...)
}

// openRow opens the selected row.
func (f *findings) openRow() {
	at := f.list().At()
	switch {
	case at < 0:
	case f.group != nil:
		f.openRequirement(f.group[at])
	case at < len(f.problems):
		f.openRequirement(f.problems[at])
	default:
		g := f.report.Catalogue.Groups[at-len(f.problems)]
		f.group, f.title = []report.Requirement{}, g.Title
		for _, r := range f.report.Requirements {
			if strings.HasPrefix(string(r.ID), g.Name+"-") {
				f.group = append(f.group, r)
			}
		}
		f.rows.Show(len(f.group), func(i, _ int) string { return f.row(f.group[i]) })
		f.rows.Go(0)
	}
}

// maxListed is the number of exchanges and of subjects that are shown for a requirement.
const maxListed = 20

// openRequirement shows the verdict and the exchanges of a requirement.
func (f *findings) openRequirement(r report.Requirement) {
	_, word, _ := f.Theme.Sign(r.Outcome)
	v := flow.Verdict{ID: r.ID, Title: r.Title, Outcome: r.Outcome, Reason: r.Reason, Expected: r.Expected, Got: r.Got, Source: r.Source.Text, Quote: r.Quote}
	if r.Outcome != requirement.Pass {
		v.Fix = r.Fix
	}
	result := flow.Result{Step: flow.Certify, Verdicts: []flow.Verdict{v}}
	seen := map[evidence.Label]bool{}
	for _, s := range r.Subjects {
		if x, ok := f.log.Get(s.Label); ok && !seen[s.Label] && len(result.Exchanges) < maxListed {
			result.Exchanges = append(result.Exchanges, x)
			seen[s.Label] = true
		}
	}
	f.opened = newActionScreen(f.Session, flow.Certify, "", nil)
	f.opened.heading = []string{fmt.Sprintf("%s: %s", r.ID, word), r.Title}
	f.opened.details = func(width int) []string { return f.subjects(r, width) }
	f.opened.show(result)
	f.opened.showExchange(0)
}

// subjects lists what a requirement was judged on if there are several subjects. For a pass, it also cites the rule.
func (f *findings) subjects(r report.Requirement, width int) []string {
	var out []string
	if r.Outcome == requirement.Pass && r.Quote != "" {
		out = Hang(f.Theme.Muted.Render("    rule     "), r.Source.Text+": “"+r.Quote+"”", width)
	}
	if len(r.Subjects) < 2 {
		return out
	}
	out = append(out, "", f.Theme.Key.Render("Judged on"))
	for _, s := range r.Subjects[:min(len(r.Subjects), maxListed)] {
		text := s.Name
		if s.Got != "" {
			text += ": " + s.Got
		}
		out = append(out, Hang("  - ", text, width)...)
	}
	if more := len(r.Subjects) - maxListed + r.SubjectsCut; more > 0 {
		out = append(out, fmt.Sprintf("  and %d more", more))
	}
	return out
}

// view draws the verdict and the list, with the opened requirement beside it.
func (f *findings) view(room Size) string {
	if f.opened != nil {
		return besideAction(room, 46, f.overview, f.opened)
	}
	return f.overview(room)
}

// overview draws the visible list below the verdict.
func (f *findings) overview(room Size) string {
	if f.group != nil {
		return Stack(room, []string{f.Theme.Title.Render(f.title)}, f.rows, nil)
	}
	return Stack(room, f.head(room), f.top, nil)
}

// head shows the verdict in words and numbers.
func (f *findings) head(room Size) []string {
	v := f.report.Verdict
	sign, style := "✗", f.Theme.Bad
	switch v.Decision {
	case decision.Certified:
		sign, style = "✓", f.Theme.Good
	case decision.Repeat, decision.Partial:
		sign, style = "!", f.Theme.Warn
	}
	lines := WrapStyled(style.Bold(true), sign+" "+v.Headline, room.Width)
	t := f.report.Totals
	counts := []string{fmt.Sprintf("%d passed", t.Pass)}
	for _, c := range []struct {
		n    int
		word string
	}{{t.Fail, "failed"}, {t.Warn, "with a warning"}, {t.Inconclusive, "not decided"}, {t.Blocked, "blocked"}, {t.NotApplicable, "not applicable"}} {
		if c.n > 0 {
			counts = append(counts, fmt.Sprintf("%d %s", c.n, c.word))
		}
	}
	lines = append(lines, Wrap(strings.Join(counts, ", ")+".", room.Width)...)
	if room.Height > 14 {
		sent := fmt.Sprintf("%s in %s; the budget was %d.", evidence.Count(f.report.Budget.Sent, "request"), formatClock(f.duration), f.report.Budget.Planned)
		lines = append(lines, WrapStyled(f.Theme.Muted, sent, room.Width)...)
		if cause := f.report.Run.Cause; cause != "" {
			lines = append(lines, Wrap(cause, room.Width)...)
		}
	}
	return lines
}
