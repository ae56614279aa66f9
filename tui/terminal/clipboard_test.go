package terminal_test

import (
	"encoding/base64"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/terminal"
)

var _ = Describe("The clipboard", func() {
	in := func(environment map[string]string) terminal.Clipboard {
		return terminal.DetectClipboard(func(name string) (string, bool) {
			value, set := environment[name]
			return value, set
		})
	}
	const osc = "\x1b]52;c;Y3VybA==\x07"

	DescribeTable("is reached directly, or through tmux or screen", func(environment map[string]string, want string) {
		sequence, ok := in(environment).Sequence("curl")
		Expect(sequence).To(Equal(want))
		Expect(ok).To(Equal(want != ""))
	},
		Entry("directly", map[string]string{"TERM": "xterm-256color"}, osc),
		Entry("tmux, by either of its settings", map[string]string{"TERM": "tmux-256color", "TMUX": "/tmp/tmux-0/default,1,0"}, osc+"\x1bPtmux;\x1b"+osc+"\x1b\\"),
		Entry("tmux that calls itself screen", map[string]string{"TERM": "screen-256color", "TMUX": "x"}, osc+"\x1bPtmux;\x1b"+osc+"\x1b\\"),
		Entry("screen", map[string]string{"TERM": "screen"}, "\x1bP"+osc+"\x1b\\"),
		Entry("a console without one", map[string]string{"TERM": "linux"}, ""),
		Entry("no terminal", map[string]string{}, ""),
	)

	It("refuses a text that is longer than terminals accept", func() {
		_, ok := in(map[string]string{"TERM": "xterm"}).Sequence(strings.Repeat("x", terminal.MaxClipboardText+1))
		Expect(ok).To(BeFalse())
		sequence, _ := in(map[string]string{"TERM": "screen"}).Sequence(strings.Repeat("x", 1000))
		text := strings.NewReplacer("\x1b\\\x1bP", "", "\x1bP\x1b]52;c;", "", "\x07\x1b\\", "").Replace(sequence)
		Expect(base64.StdEncoding.DecodeString(text)).To(Equal([]byte(strings.Repeat("x", 1000))), "in pieces that screen lets through")
	})
})
