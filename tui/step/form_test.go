package step_test

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// types types a text into the form; what a cursor wants to blink for is not waited for.
func (b *bench) types(text string) *bench {
	for _, r := range text {
		b.Update(keyOf(string(r)))
	}
	return b
}

// clear empties the field that is typed into.
func (b *bench) clear() *bench {
	b.Update(keyOf("end"))
	return b.erase(200)
}

// erase takes characters back.
func (b *bench) erase(n int) *bench {
	for range n {
		b.Update(keyOf("backspace"))
	}
	return b
}

// submit presses enter, and waits until a part of the screen is seen.
func (b *bench) submit(want string) *bench {
	GinkgoHelper()
	return b.until(b.begin("enter"), want)
}

// until hands the screen what comes, until a part of it is seen.
func (b *bench) until(u under, want string) *bench {
	GinkgoHelper()
	for !strings.Contains(b.frame(80, 24), want) {
		var msg tea.Msg
		Eventually(u.messages, "10s").Should(Receive(&msg), "%q is not seen in\n%s", want, b.frame(80, 24))
		if msg != nil {
			u.follow(b.Update(msg))
		}
	}
	return b
}
