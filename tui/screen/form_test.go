package screen_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/tuitest"
)

// types types a text into the form; what a cursor wants to blink for is not waited for.
func (b *bench) types(text string) *bench {
	for _, r := range text {
		b.Update(tuitest.Key(string(r)))
	}
	return b
}

// clear empties the field that is typed into.
func (b *bench) clear() *bench {
	b.Update(tuitest.Key("end"))
	return b.erase(200)
}

// erase takes characters back.
func (b *bench) erase(n int) *bench {
	for range n {
		b.Update(tuitest.Key("backspace"))
	}
	return b
}

// submit presses enter, and waits until a part of the screen is seen.
func (b *bench) submit(want string) *bench {
	GinkgoHelper()
	return b.until(b.begin("enter"), want)
}

// until hands the screen what comes, until a part of it is seen.
func (b *bench) until(under *tuitest.Commands, want string) *bench {
	GinkgoHelper()
	for !strings.Contains(b.frame(80, 24), want) {
		msg, ok := under.Next(GinkgoTB())
		Expect(ok).To(BeTrue(), "%q is not seen in\n%s", want, b.frame(80, 24))
		under.Start(b.Update(msg))
	}
	return b
}
