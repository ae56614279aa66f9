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

// Theme has the styles of the tour. Without colours they are bold, underlined and reversed. No meaning depends on colour alone: a word or
// a sign says it, too.
type Theme struct {
	// Renderer makes all styles, including those of forms.
	Renderer *lipgloss.Renderer
	// Title is for headlines, Muted for less important text, Key for keys, Selected for the selected row.
	Title, Muted, Key, Selected lipgloss.Style
	// Good, Warn and Bad are for verdicts.
	Good, Warn, Bad lipgloss.Style
	// Start and Header are for the first line and the header of a message; Name, Text, Number and Word are for JSON.
	Start, Header, Name, Text, Number, Word lipgloss.Style
	// Found is for search hits, Secret for revealed secrets.
	Found, Secret lipgloss.Style
}

// NewTheme makes the styles with a renderer, which knows the colours of the terminal and its background.
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

// tab shows the name of a tab, in brackets if it is the visible one.
func (t Theme) tab(name string, visible bool) string {
	if visible {
		return t.Key.Render("[" + name + "]")
	}
	return t.Muted.Render(" " + name + " ")
}

// guide shows what a step is for, and the rule or the catalogue behind it.
func (t Theme) guide(step flow.Step, width int) []string {
	g := step.Guide()
	return append(append(Wrap(g.Why, width), ""), Hang(t.Muted.Render(g.RuleLabel()+": "), g.Rule, width)...)
}

// Size is a size in terminal cells.
type Size struct{ Width, Height int }

// Wrap makes a text safe for the terminal and breaks it into lines.
func Wrap(text string, width int) []string { return report.Wrap(report.Plain(text), max(1, width)) }

// Hang wraps a text after a styled lead, with a hanging indent.
func Hang(lead, text string, width int) []string {
	return indent(lead, Wrap(text, max(10, width-lipgloss.Width(lead))))
}

// indent puts a styled lead before the first line, and spaces before the others.
func indent(lead string, lines []string) []string {
	for i, line := range lines {
		lines[i] = lead + line
		lead = strings.Repeat(" ", lipgloss.Width(lead))
	}
	return lines
}

// wrapAll wraps texts, each on lines of its own.
func wrapAll(texts []string, width int) []string {
	var lines []string
	for _, text := range texts {
		lines = append(lines, Wrap(text, width)...)
	}
	return lines
}

// Fit truncates a styled line to a width, with an ellipsis.
func Fit(line string, width int) string { return ansi.Truncate(line, max(0, width), "…") }

// Window returns the lines from an index on that fit a height, padded with empty lines.
func Window(lines []string, from, height int) []string {
	out := make([]string, max(0, height))
	copy(out, lines[max(0, min(from, len(lines)-1)):])
	return out
}

// Cell makes a text safe for the terminal and fits or pads it to exactly one line of a width.
func Cell(text string, width int) string {
	if width < 1 {
		return ""
	}
	runes, limit := 0, 8*width // several runes may share a column (combining marks); runes far beyond the width are ignored, because a node may send a long text
	for i := range text {
		if runes++; runes > limit {
			text = text[:i]
			break
		}
	}
	return fill(Fit(report.Plain(text), width), width)
}

// Bar draws a progress bar.
func Bar(part, whole, width int) string {
	full := 0
	if whole > 0 {
		full = min(width, max(0, part)*width/whole)
	}
	return strings.Repeat("█", full) + strings.Repeat("░", max(0, width-full))
}

const (
	nameWidth         = 16 // the width of the first column
	threeColumnsWidth = 76 // the width from which on there is room for three columns
)

// Columns shows a name, its value and its meaning: side by side if the width allows, else below each other.
func Columns(t Theme, name, value, meaning string, width int) []string {
	if width < threeColumnsWidth {
		details := append(Wrap(value, width-2), WrapStyled(t.Muted, meaning, width-2)...)
		return append(WrapStyled(t.Header, name, width), indent("  ", details)...)
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

// WrapStyled makes a text safe for the terminal and breaks it into lines with a style.
func WrapStyled(style lipgloss.Style, text string, width int) []string {
	lines := Wrap(text, width)
	for i, line := range lines {
		lines[i] = style.Render(line)
	}
	return lines
}

// fill fills a line up to a width.
func fill(line string, width int) string {
	return line + strings.Repeat(" ", max(0, width-lipgloss.Width(line)))
}

// Beside puts two blocks side by side; the left one gets a fixed width.
func Beside(left, right string, width int) string {
	l, r := strings.Split(left, "\n"), strings.Split(right, "\n")
	out := make([]string, max(len(l), len(r)))
	for i := range out {
		line := ""
		if i < len(l) {
			line = Fit(l[i], width)
		}
		line = fill(line, width) + "  "
		if i < len(r) {
			line += r[i]
		}
		out[i] = strings.TrimRight(line, " ")
	}
	return strings.Join(out, "\n")
}

// Stack puts a head above a list and a tail below it. The list gets the remaining height; without enough room the head is dropped.
func Stack(room Size, head []string, list *List, tail []string) string {
	if room.Height-len(tail)-len(head) < 3 && room.Height < 8 { // the list matters more than its head
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

// Sign returns the sign, the word and the style of an outcome.
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

// Verdicts shows verdicts: a pass in one line, others with reason, rule and fix.
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

// Trouble shows why an action failed.
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
