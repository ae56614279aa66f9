package view

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"

	"github.com/rin-network/rin/conformance/report"
)

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
