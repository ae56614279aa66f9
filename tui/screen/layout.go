package screen

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/tui/flow"
)

// Theme are the styles of the tour. Without colour they are weight and underlining alone; no meaning hangs on colour anywhere, each has a
// literalKind or a sign beside it.
type Theme struct {
	// Renderer draws every style, also those of forms and tables.
	Renderer *lipgloss.Renderer
	// Title is for headlines, Muted for what matters less, Key for keys to press, Selected for the line under the cursor.
	Title, Muted, Key, Selected lipgloss.Style
	// Good, Warn and Bad colour verdicts.
	Good, Warn, Bad lipgloss.Style
	// Start and Header are the first line and the fields of a message; Name, Text, Number and Word are the parts of JSON.
	Start, Header, Name, Text, Number, Word lipgloss.Style
	// Found marks what a search found, Secret what is revealed.
	Found, Secret lipgloss.Style
}

// NewTheme makes the styles of a renderer, which knows the colours of the terminal and whether its background is dark.
func NewTheme(r *lipgloss.Renderer) Theme {
	plain := r.NewStyle()
	color := func(onLight, onDark string) lipgloss.Style {
		return plain.Foreground(lipgloss.AdaptiveColor{Light: onLight, Dark: onDark})
	}
	return Theme{
		Renderer: r,
		Title:    color("25", "117").Bold(true), Muted: color("242", "245"), Key: plain.Bold(true), Selected: plain.Reverse(true),
		Good: color("28", "114"), Warn: color("130", "221"), Bad: color("160", "210").Bold(true),
		Start: plain.Bold(true), Header: color("25", "117"),
		Name: color("25", "117"), Text: color("28", "114"), Number: color("130", "221"), Word: color("90", "183"),
		Found: plain.Reverse(true), Secret: color("160", "210").Italic(true),
	}
}

// Line gives a line of a message its colours.
func (t Theme) Line(l flow.Line) string {
	switch l.Kind {
	case flow.StartLine:
		return t.Start.Render(l.Text)
	case flow.HeaderLine:
		name, value, found := strings.Cut(l.Text, ": ")
		if !found {
			return l.Text
		}
		return t.Header.Render(name+":") + " " + value
	case flow.NoteLine:
		return t.Muted.Render(l.Text)
	}
	return l.Text
}

// Size is room on the screen.
type Size struct{ Width, Height int }

// Wrap breaks a text that may come from a node into lines of a width.
func Wrap(text string, width int) []string { return report.Wrap(report.Plain(text), max(1, width)) }

// Hang wraps a text behind a lead; further lines are indented below it. The lead is styled already.
func Hang(lead, text string, width int) []string {
	indent := lipgloss.Width(lead)
	lines := Wrap(text, max(10, width-indent))
	for i := range lines {
		if i == 0 {
			lines[i] = lead + lines[i]
			continue
		}
		lines[i] = strings.Repeat(" ", indent) + lines[i]
	}
	return lines
}

// Fit cuts a styled line to a width, with an ellipsis where something is missing.
func Fit(line string, width int) string { return ansi.Truncate(line, max(0, width), "…") }

// Window is the part of some lines that fits a height from a line on, filled up to it.
func Window(lines []string, from, height int) []string {
	from = max(0, min(from, len(lines)-1))
	out := make([]string, 0, max(0, height))
	for i := from; i < len(lines) && len(out) < height; i++ {
		out = append(out, lines[i])
	}
	for len(out) < height {
		out = append(out, "")
	}
	return out
}

// Cell is a text that may come from a node, on one line of exactly so many columns.
func Cell(text string, width int) string {
	if width < 1 {
		return ""
	}
	runes, limit := 0, 8*width // a column may hold combining marks; what is far beyond is not even looked at
	for i := range text {
		if runes++; runes > limit {
			text = text[:i]
			break
		}
	}
	text = Fit(report.Plain(text), width)
	return text + strings.Repeat(" ", max(0, width-lipgloss.Width(text)))
}

// Bar is a share of a whole as so many columns that are full or empty, told apart by their shape.
func Bar(part, whole, width int) string {
	full := 0
	if whole > 0 {
		full = min(width, max(0, part)*width/whole)
	}
	return strings.Repeat("█", full) + strings.Repeat("░", max(0, width-full))
}

// nameWidth is the first column; besideEach is the width from which on its three parts stand beside each other.
const (
	nameWidth         = 16
	threeColumnsWidth = 76
)

// Columns are a name, its value and what it means: in three columns where there is room, else below each other. All may come from a node.
func Columns(t Theme, name, value, meaning string, width int) []string {
	if width < threeColumnsWidth {
		out := Wrapped(t.Header, name, width)
		for _, line := range Wrap(value, width-2) {
			out = append(out, "  "+line)
		}
		for _, line := range Wrap(meaning, width-2) {
			out = append(out, "  "+t.Muted.Render(line))
		}
		return out
	}
	rest := width - nameWidth - 2
	first, second, third := Wrap(name, nameWidth-1), Wrap(value, rest*3/5), Wrap(meaning, rest-rest*3/5)
	out := make([]string, max(len(first), len(second), len(third)))
	at := func(lines []string, i int) string {
		if i < len(lines) {
			return lines[i]
		}
		return ""
	}
	for i := range out {
		line := fill(t.Header.Render(at(first, i)), nameWidth) + fill(at(second, i), rest*3/5+2) + t.Muted.Render(at(third, i))
		out[i] = strings.TrimRight(line, " ")
	}
	return out
}

// Wrapped is a text in lines of a width, each in a style.
func Wrapped(style lipgloss.Style, text string, width int) []string {
	lines := report.Wrap(report.Plain(text), max(1, width))
	for i, line := range lines {
		lines[i] = style.Render(line)
	}
	return lines
}

// fill fills a line up to a width.
func fill(line string, width int) string {
	return line + strings.Repeat(" ", max(0, width-lipgloss.Width(line)))
}

// Beside puts two blocks next to each other, the left one in so many columns.
func Beside(left, right string, width int) string {
	l, r := strings.Split(left, "\n"), strings.Split(right, "\n")
	out := make([]string, max(len(l), len(r)))
	for i := range out {
		line := ""
		if i < len(l) {
			line = Fit(l[i], width)
		}
		line += strings.Repeat(" ", max(0, width-lipgloss.Width(line))) + "  "
		if i < len(r) {
			line += r[i]
		}
		out[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(out, "\n")
}

// Stack puts a head above a list and a tail below it; the list takes what room is left. In very little room there is no head.
func Stack(room Size, head []string, list *List, tail []string) string {
	if room.Height-len(tail)-len(head) < 3 && room.Height < 8 { // what is chosen from matters most
		head = nil
	}
	var out []string
	if len(head) > 0 {
		out = append(out, append(head, "")...)
	}
	if len(tail) > 0 {
		tail = append([]string{""}, tail...)
	}
	height := max(1, room.Height-len(out)-len(tail))
	out = append(out, strings.Split(list.View(Size{room.Width, height}), "\n")...)
	out = append(out, tail...)
	for i, line := range out {
		out[i] = Fit(line, room.Width)
	}
	return strings.Join(Window(out, 0, room.Height), "\n")
}

// Sign is an outcome as a sign, a word and their style.
func (t Theme) Sign(o requirement.Outcome) (sign, word string, style lipgloss.Style) {
	switch o {
	case requirement.Pass:
		return "✓", "passed", t.Good
	case requirement.Warn:
		return "!", "warning", t.Warn
	case requirement.Fail:
		return "✗", "failed", t.Bad
	}
	return "–", string(o), t.Muted
}

// Verdicts are the lines of some verdicts: passes in a line each, the others with reason, rule and fix.
func Verdicts(t Theme, verdicts []flow.Verdict, width int) []string {
	var out []string
	for _, v := range verdicts {
		sign, word, style := t.Sign(v.Outcome)
		lead := style.Render(sign) + " " + t.Key.Render(string(v.ID)) + " "
		if v.Outcome == requirement.Pass {
			out = append(out, Hang(lead, v.Title, width)...)
			continue
		}
		out = append(out, Hang(lead, v.Title+": "+word, width)...)
		for _, part := range [][2]string{{"reason", v.Reason}, {"expected", v.Expected}, {"got", v.Got}, {"rule", v.Source + ": “" + v.Quote + "”"}, {"fix", v.Fix}} {
			if part[1] != "" {
				out = append(out, Hang(t.Muted.Render(fmt.Sprintf("    %-9s", part[0])), part[1], width)...)
			}
		}
	}
	return out
}

// Trouble are the lines of an action that did not reach its aim.
func Trouble(t Theme, trouble flow.Trouble, width int) []string {
	out := Hang(t.Bad.Render("✗")+" ", trouble.What, width)
	list := func(head string, items []string) {
		if len(items) == 0 {
			return
		}
		out = append(out, "", t.Key.Render(head))
		for _, item := range items {
			out = append(out, Hang("  - ", item, width)...)
		}
	}
	list("What usually causes it", trouble.Causes)
	list("What to try", trouble.Try)
	return out
}
