package view

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/report"
)

// nameWidth is the first column; besideEach is the width from which on its three parts stand beside each other.
const (
	nameWidth  = 16
	besideEach = 76
)

// Columns are a name, its value and what it means: in three columns where there is room, else below each other. All may come from a node.
func Columns(t Theme, name, value, meaning string, width int) []string {
	if width < besideEach {
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
