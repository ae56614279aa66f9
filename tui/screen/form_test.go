package screen_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/tuitest"
)

// typeText types a text into the form. It does not run the commands that make the cursor blink.
func (b *fixture) typeText(text string) *fixture {
	for _, r := range text {
		b.Update(tuitest.Key(string(r)))
	}
	return b
}

// clear empties the focused field.
func (b *fixture) clear() *fixture {
	b.Update(tuitest.Key("end"))
	return b.erase(200)
}

// erase deletes the last n characters.
func (b *fixture) erase(n int) *fixture {
	for range n {
		b.Update(tuitest.Key("backspace"))
	}
	return b
}

// submit presses enter and waits until the screen contains a text.
func (b *fixture) submit(want string) *fixture {
	GinkgoHelper()
	return b.waitFor(b.begin("enter"), want)
}

// waitFor passes the messages of the commands to the screen until it contains a text.
func (b *fixture) waitFor(commands *tuitest.Commands, want string) *fixture {
	GinkgoHelper()
	for !strings.Contains(b.frame(80, 24), want) {
		msg, ok := commands.Next(GinkgoTB())
		Expect(ok).To(BeTrue(), "the screen does not contain %q:\n%s", want, b.frame(80, 24))
		commands.Start(b.Update(msg))
	}
	return b
}
