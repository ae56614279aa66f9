package tuitest

import (
	"encoding/base64"
	"regexp"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

var (
	style = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	jwt   = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{20}`)
	// harm are control bytes of both kinds, and marks that turn or hide text.
	harm = regexp.MustCompile(`[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}]`)
)

// Fits expects that a frame has room.
func Fits(t testing.TB, frame string, room view.Size) {
	t.Helper()
	lines := strings.Split(frame, "\n")
	if len(lines) > max(1, room.Height) {
		t.Errorf("expected at most %d lines, got %d:\n%s", room.Height, len(lines), frame)
	}
	for _, line := range lines {
		if width := lipgloss.Width(line); width > room.Width {
			t.Errorf("at %d×%d: a line of %d columns: %q", room.Width, room.Height, width, line)
		}
	}
}

// Unstyled is a text without its colours.
func Unstyled(text string) string {
	return style.ReplaceAllString(text, "")
}

// Harmless expects that a text holds nothing but styles that a terminal obeys, and no mark that turns or hides what is read.
func Harmless(t testing.TB, text string) {
	t.Helper()
	if found := harm.FindString(Unstyled(text)); found != "" {
		t.Errorf("%q is in %q", found, text)
	}
}

// Discreet expects that a text tells no secret of these clients and no token of this walk.
func Discreet(t testing.TB, text string, clients []sandbox.Credential, w *walk.Walk) {
	t.Helper()
	for _, secret := range pieces(clients, w) {
		if strings.Contains(text, secret) {
			t.Errorf("a piece of a secret, %q, is in\n%s", secret, text)
		}
	}
	if token := Token(text); token != "" {
		t.Errorf("a token, %q, is in\n%s", token, text)
	}
}

// Token is the beginning of a JWT in a text, or nothing. What begins like one by accident, as a key, its id or an entity tag now and then does, is
// none: the JSON in a token can be read.
func Token(text string) string {
	for _, start := range jwt.FindAllString(text, -1) {
		content, err := base64.RawURLEncoding.DecodeString(start[:len(start)/4*4])
		if err == nil && !strings.ContainsFunc(string(content), func(r rune) bool { return r < ' ' || r > '~' }) {
			return start
		}
	}
	return ""
}

// pieces of secrets are too long to be there by accident, and short enough to be found where a line was cut.
func pieces(clients []sandbox.Credential, w *walk.Walk) (all []string) {
	const long = 12
	for _, c := range clients {
		all = append(all, c.Secret[:long], c.Secret[len(c.Secret)-long:])
	}
	if token, ok := w.Issued(); ok {
		all = append(all, token.Value[len(token.Value)-long:])
	}
	return all
}
