package tuitest_test

import (
	"context"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/bubbles/textinput"
	"github.com/charmbracelet/bubbletea"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/tuitest"
)

var _ = Describe("What every frame must hold to", func() {
	DescribeTable("is room", func(frame string, faults int) {
		Expect(of(func(t testing.TB) { tuitest.Fits(t, frame, screen.Size{Width: 4, Height: 2}) })).To(HaveLen(faults))
	},
		Entry("fits", "abcd\n\x1b[1m界界\x1b[0m", 0),
		Entry("a line too many", "a\nb\nc", 1),
		Entry("columns too many", "abcde\n界界界", 2),
	)

	DescribeTable("is that no terminal obeys it", func(text string, faults int) {
		Expect(of(func(t testing.TB) { tuitest.Harmless(t, text) })).To(HaveLen(faults))
	},
		Entry("styles", "\x1b[1;38;5;12mbold\x1b[0m\nfurther", 0),
		Entry("a title", "\x1b]0;owned\a", 1), Entry("clearing", "\x1b[2J", 1), Entry("a tab", "\t", 1), Entry("an 8-bit introducer", "\u009b31m", 1),
		Entry("turned text", "\u202eevil", 1), Entry("hidden text", "a\u200bb", 1), Entry("a line", "\u2028", 1),
	)

	It("is that it tells no secret, not even a piece of one", func() {
		ground := tuitest.NewNode(GinkgoTB(), sandbox.Config{Calls: 1}, nil)
		w := ground.Walk(GinkgoTB(), ground.Target(), nil)
		tuitest.Arrive(GinkgoTB(), w)
		Expect(w.FetchToken(context.Background()).OK()).To(BeTrue())
		token, _ := w.Token()
		discreet := func(text string) []string {
			return of(func(t testing.TB) { tuitest.Discreet(t, text, ground.Credentials(), w) })
		}
		secret := ground.Credentials()[1].Secret
		for _, text := range []string{secret[:12], secret[len(secret)-12:], token.Value[len(token.Value)-12:], base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","typ":"at+jwt"}`)),
			"eyJ8kBl2xTq0vGm5nWc3RzYp " + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://node.example"}`))} {
			Expect(discreet("a " + text + "…")).To(HaveLen(1))
		}
		Expect(discreet("‹access_token› ‹client_secret› " + secret[:6])).To(BeEmpty())
		Expect(discreet(`"x": "eyJ8kBl2xTq0vGm5nWc3RzYpLsDaHfJ7KoQ9iUe4bXg"`)).To(BeEmpty(), "a key that begins like a token")
	})
})

var _ = Describe("A golden", func() {
	It("names the first line that differs", func() {
		Expect(of(func(t testing.TB) { tuitest.Golden(t, "two-lines", "one\ntwo\n") })).To(BeEmpty())
		Expect(of(func(t testing.TB) { tuitest.Golden(t, "two-lines", "one\n2\n") })).To(ConsistOf(HavePrefix(
			"testdata/two-lines.txt differs in line 2:\nexpected \"two\"\ngot      \"2\"\n")))
		Expect(of(func(t testing.TB) { tuitest.Golden(t, "two-lines", "one") })).To(ContainElement(ContainSubstring("got      no such line")))
		Expect(of(func(t testing.TB) { tuitest.Golden(t, "unknown", "") })).To(ContainElement(ContainSubstring("RIN_UPDATE_GOLDEN=1 writes it")))
	})

	It("holds frames that can be read", func() {
		frame := tuitest.SamePort("\x1b[1mhttp://127.0.0.1:54321/\x1b[0m   \n\n")
		Expect(tuitest.Picture(screen.Size{Width: 8, Height: 2}, "dark", frame)).To(Equal("── 8×2 dark ──\n␛[1mhttp://127.0.0.1:10001/␛[0m\n\n\n"))
	})
})

var _ = Describe("Commands", func() {
	say := func(text string) tea.Cmd { return func() tea.Msg { return text } }

	It("run at the same time, and until nothing comes of them", func() {
		meet := make(chan string)
		one := func() tea.Msg { meet <- "hello"; return nil }
		other := func() tea.Msg { return <-meet }
		var heard []tea.Msg
		tuitest.Settle(GinkgoTB(), tea.Batch(one, nil, tea.Batch(other, say("more"))), func(msg tea.Msg) tea.Cmd {
			heard = append(heard, msg)
			if msg == "hello" {
				return say("last")
			}
			return nil
		})
		Expect(heard).To(ConsistOf("hello", "more", "last"))
	})

	It("do not wait for time to pass", func() {
		field := textinput.New()
		later := tea.Tick(24*time.Hour, func(time.Time) tea.Msg { return "tomorrow" })
		_, ok := tuitest.NewCommands(tea.Batch(later, field.Focus())).Next(GinkgoTB())
		Expect(ok).To(BeFalse())
	})

	It("are over when there is none any more", func() {
		all := tuitest.NewCommands(say("one"))
		msg, ok := all.Next(GinkgoTB())
		Expect(msg).To(Equal("one"))
		Expect(ok).To(BeTrue())
		_, ok = all.Next(GinkgoTB())
		Expect(ok).To(BeFalse())
	})
})

var _ = Describe("Keys and time", func() {
	It("have the names of Bubble Tea", func() {
		for _, name := range strings.Fields("enter esc tab shift+tab up pgdown home ctrl+c ctrl+u backspace x ? 0") {
			Expect(tuitest.Key(name).String()).To(Equal(name))
		}
		Expect(tuitest.Key(" ")).To(Equal(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}))
		Expect(tuitest.Key("enter").Type).To(Equal(tea.KeyEnter))
	})

	It("pass when the test says so", func() {
		var clock tuitest.Clock
		before := clock.Now()
		Expect(clock.Now()).To(Equal(before))
		clock.Add(time.Minute)
		Expect(clock.Now().Sub(before)).To(Equal(time.Minute))
	})
})
