package terminal

import "strings"

// Background is what colours are drawn on.
type Background int

// The kinds of background. Of an unknown one dark is the better guess: most are, and light colours are readable on many.
const (
	Unknown Background = iota
	Dark
	Light
)

// hinted is the background by COLORFGBG, which some terminals set to the numbers of the two colours, such as 15;0. A terminal's own answer
// is better: the variable goes stale where a session moves.
func hinted(value string) Background {
	switch value[strings.LastIndexByte(value, ';')+1:] {
	case "0", "1", "2", "3", "4", "5", "6", "8":
		return Dark
	case "7", "9", "10", "11", "12", "13", "14", "15":
		return Light
	}
	return Unknown
}

// answers tells whether a kind of terminal is worth a question: the console of Linux draws a part of it instead.
func answers(kind string) bool { return kind != "" && kind != "dumb" && kind != "linux" }
