package tuitest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rin-network/rin/tui/view"
)

// Golden compares a text with testdata/NAME.txt, which was accepted before. RIN_UPDATE_GOLDEN=1 accepts it as it is.
func Golden(t testing.TB, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".txt")
	if os.Getenv("RIN_UPDATE_GOLDEN") != "" {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatalf("accept a golden: %v", err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatalf("accept a golden: %v", err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("read a golden: %v; RIN_UPDATE_GOLDEN=1 writes it", err)
	}
	if text == string(want) {
		return
	}
	got, accepted := strings.Split(text, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(got), len(accepted)) {
		if a, b := line(got, i), line(accepted, i); a != b {
			t.Fatalf("%s differs in line %d:\nexpected %s\ngot      %s\nRIN_UPDATE_GOLDEN=1 accepts all of\n%s", path, i+1, b, a, text)
		}
	}
}

// line is one of them, quoted.
func line(lines []string, i int) string {
	if i >= len(lines) {
		return "no such line"
	}
	return fmt.Sprintf("%q", lines[i])
}

// Picture is a frame for a golden: under its size and colours, with escapes that can be read, without blanks at the ends of lines.
func Picture(size view.Size, colours, frame string) string {
	var out strings.Builder
	fmt.Fprintf(&out, "── %d×%d %s ──\n", size.Width, size.Height, colours)
	for line := range strings.Lines(frame + "\n") {
		out.WriteString(strings.TrimRight(strings.ReplaceAll(line, "\x1b", "␛"), " \n") + "\n")
	}
	return out.String()
}

// SamePort replaces the port of the node, which is another one in every test, by one of the same length.
func SamePort(text string) string { return port.ReplaceAllString(text, "1:10001") }

var port = regexp.MustCompile(`1:\d{5}`)
