package view

import (
	"strings"

	"github.com/charmbracelet/lipgloss"
)

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
