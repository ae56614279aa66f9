package main

import "strings"

// folded is a text in lines of at most width columns, broken between words; a longer word has a line of its own.
func folded(text string, width int) []string {
	var lines []string
	line, column := "", 0
	for _, word := range strings.Fields(text) {
		n := len([]rune(word))
		switch {
		case line == "":
			line, column = word, n
		case column+1+n > width:
			lines = append(lines, line)
			line, column = word, n
		default:
			line, column = line+" "+word, column+1+n
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}
