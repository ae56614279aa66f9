package view

import (
	"strings"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/conformance/report"
)

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
