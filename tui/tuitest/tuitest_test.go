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

var _ = Describe("A check of a frame", func() {
	DescribeTable("finds lines and columns beyond the size", func(frame string, count int) {
		Expect(failures(func(t testing.TB) { tuitest.CheckFits(t, frame, screen.Size{Width: 4, Height: 2}) })).To(HaveLen(count))
	},
		Entry("fits", "abcd\n\x1b[1m界界\x1b[0m", 0),
		Entry("too many lines", "a\nb\nc", 1),
		Entry("too many columns", "abcde\n界界界", 2),
	)

	DescribeTable("finds control characters other than styles", func(text string, count int) {
		Expect(failures(func(t testing.TB) { tuitest.CheckHarmless(t, text) })).To(HaveLen(count))
	},
		Entry("styles", "\x1b[1;38;5;12mbold\x1b[0m\nfurther", 0),
		Entry("a title", "\x1b]0;owned\a", 1), Entry("clearing", "\x1b[2J", 1), Entry("a tab", "\t", 1), Entry("an 8-bit introducer", "\u009b31m", 1),
		Entry("reversed text", "\u202eevil", 1), Entry("an invisible character", "a\u200bb", 1), Entry("a line separator", "\u2028", 1),
	)

	It("finds secrets and parts of secrets", func() {
		node := tuitest.NewNode(GinkgoTB(), sandbox.Config{Calls: 1}, nil)
		w := node.Walk(GinkgoTB(), node.Target(), nil)
		tuitest.ChooseNode(GinkgoTB(), w)
		Expect(w.FetchToken(context.Background()).OK()).To(BeTrue())
		token, _ := w.Token()
		leaks := func(text string) []string {
			return failures(func(t testing.TB) { tuitest.CheckNoSecrets(t, text, node.Credentials(), w) })
		}
		secret := node.Credentials()[1].Secret
		for _, text := range []string{secret[:12], secret[len(secret)-12:], token.Value[len(token.Value)-12:], base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","typ":"at+jwt"}`)),
			"eyJ8kBl2xTq0vGm5nWc3RzYp " + base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"https://node.example"}`))} {
			Expect(leaks("a " + text + "…")).To(HaveLen(1))
		}
		Expect(leaks("‹access_token› ‹client_secret› " + secret[:6])).To(BeEmpty())
		Expect(leaks(`"x": "eyJ8kBl2xTq0vGm5nWc3RzYpLsDaHfJ7KoQ9iUe4bXg"`)).To(BeEmpty(), "a public key that begins like a token")
	})
})

var _ = Describe("A golden", func() {
	It("names the first line that differs", func() {
		Expect(failures(func(t testing.TB) { tuitest.Golden(t, "two-lines", "one\ntwo\n") })).To(BeEmpty())
		Expect(failures(func(t testing.TB) { tuitest.Golden(t, "two-lines", "one\n2\n") })).To(ConsistOf(HavePrefix(
			"testdata/two-lines.txt differs in line 2:\nexpected \"two\"\ngot      \"2\"\n")))
		Expect(failures(func(t testing.TB) { tuitest.Golden(t, "two-lines", "one") })).To(ContainElement(ContainSubstring("got      no such line")))
		Expect(failures(func(t testing.TB) { tuitest.Golden(t, "unknown", "") })).To(ContainElement(ContainSubstring("RIN_UPDATE_GOLDEN=1 writes it")))
	})

	It("shows control characters and ports in a readable form", func() {
		frame := tuitest.FixPort("\x1b[1mhttp://127.0.0.1:54321/\x1b[0m   \n\n")
		Expect(tuitest.Picture(screen.Size{Width: 8, Height: 2}, "dark", frame)).To(Equal("── 8×2 dark ──\n␛[1mhttp://127.0.0.1:10001/␛[0m\n\n\n"))
	})
})

var _ = Describe("Commands", func() {
	say := func(text string) tea.Cmd { return func() tea.Msg { return text } }

	It("run concurrently until none is left", func() {
		meeting := make(chan string)
		one := func() tea.Msg { meeting <- "hello"; return nil }
		other := func() tea.Msg { return <-meeting }
		var received []tea.Msg
		tuitest.Settle(GinkgoTB(), tea.Batch(one, nil, tea.Batch(other, say("more"))), func(msg tea.Msg) tea.Cmd {
			received = append(received, msg)
			if msg == "hello" {
				return say("last")
			}
			return nil
		})
		Expect(received).To(ConsistOf("hello", "more", "last"))
	})

	It("do not wait for time to pass", func() {
		field := textinput.New()
		later := tea.Tick(24*time.Hour, func(time.Time) tea.Msg { return "tomorrow" })
		_, ok := tuitest.NewCommands(tea.Batch(later, field.Focus())).Next(GinkgoTB())
		Expect(ok).To(BeFalse())
	})

	It("end after the last message", func() {
		all := tuitest.NewCommands(say("one"))
		msg, ok := all.Next(GinkgoTB())
		Expect(msg).To(Equal("one"))
		Expect(ok).To(BeTrue())
		_, ok = all.Next(GinkgoTB())
		Expect(ok).To(BeFalse())
	})
})

var _ = Describe("Keys and clock", func() {
	It("names keys as Bubble Tea does", func() {
		for _, name := range strings.Fields("enter esc tab shift+tab up pgdown home ctrl+c ctrl+u backspace x ? 0") {
			Expect(tuitest.Key(name).String()).To(Equal(name))
		}
		Expect(tuitest.Key(" ")).To(Equal(tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}))
		Expect(tuitest.Key("enter").Type).To(Equal(tea.KeyEnter))
	})

	It("advances only when the test says so", func() {
		var clock tuitest.Clock
		before := clock.Now()
		Expect(clock.Now()).To(Equal(before))
		clock.Add(time.Minute)
		Expect(clock.Now().Sub(before)).To(Equal(time.Minute))
	})
})
