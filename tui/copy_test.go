package tui

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/tuitest"
)

// copyTour is a tour that records what it copies to the clipboard and to files.
type copyTour struct {
	*tour
	env       map[string]string
	sequences []string // the control sequences that were written to the terminal
	files     []string // the texts written to files
	secret    string   // the client secret
}

// newCopyTour opens a step of a walk that has chosen its node and fetched a token.
func newCopyTour(step flow.Step) *copyTour {
	GinkgoHelper()
	d := &copyTour{tour: newTour(tourOptions{}), env: map[string]string{"TERM": "xterm-256color"}}
	d.secret = d.Credentials()[0].Secret
	w := d.session
	w.Getenv = func(name string) (string, bool) { value, set := d.env[name]; return value, set }
	w.Write = func(sequence string) error { d.sequences = append(d.sequences, sequence); return nil }
	w.Keep = func(text string) (string, error) { d.files = append(d.files, text); return "/tmp/rin-curl-1.sh", nil }
	tuitest.ChooseNode(GinkgoTB(), w.Walk)
	Expect(w.Walk.FetchToken(context.Background()).OK()).To(BeTrue())
	return d.press(fmt.Sprint((int(step) + 1) % 10))
}

func (d *copyTour) press(keys ...string) *copyTour {
	GinkgoHelper()
	d.tour.press(keys...)
	return d
}

// clipboard returns the text that was copied last.
func (d *copyTour) clipboard() string {
	GinkgoHelper()
	Expect(d.sequences).NotTo(BeEmpty())
	text := strings.TrimSuffix(strings.TrimPrefix(d.sequences[len(d.sequences)-1], "\x1b]52;c;"), "\a")
	decoded, err := base64.StdEncoding.DecodeString(text)
	Expect(err).NotTo(HaveOccurred())
	return string(decoded)
}

var _ = Describe("Copying", func() {
	It("hands the request to the clipboard as curl, with variables in the place of secrets, and to a file by the same key", func() {
		t := newCopyTour(flow.Token).press("enter", "c")
		Expect(t.foot()).To(Equal("copied as curl; c again: to a file"))
		Expect(t.clipboard()).To(And(HavePrefix("curl -sS -i"), ContainSubstring(`client_secret='"$RIN_CLIENT_SECRET"`), Not(ContainSubstring(t.secret))))
		command := t.clipboard()
		Expect(t.press("c").foot()).To(Equal("written to /tmp/rin-curl-1.sh"))
		Expect(t.files).To(ConsistOf(command + "\n"))
		t.press("tab", "c")
		Expect(t.sequences).To(HaveLen(2), "after another key, c copies to the clipboard again")
	})

	It("asks before it puts real secrets into a command", func() {
		t := newCopyTour(flow.Token).press("enter")
		for _, no := range []string{"n", "enter", "esc", "c", "C"} {
			Expect(t.press("C").foot()).To(Equal("Copy with the real secrets? y/n"))
			Expect(t.press(no).foot()).To(Equal("nothing was copied"), no)
		}
		Expect(t.sequences).To(BeEmpty())
		Expect(t.press("C", "y").foot()).To(Equal("copied with secrets; C again: to a file"))
		Expect(t.clipboard()).To(ContainSubstring(t.secret))
		Expect(t.files).To(BeEmpty())
		Expect(t.press("C").foot()).To(Equal("written to /tmp/rin-curl-1.sh"))
		Expect(t.files[0]).To(ContainSubstring(t.secret))
	})

	It("does not ask if there is no secret, and says when there is nothing to copy", func() {
		Expect(newCopyTour(flow.Token).press("C").foot()).To(Equal("nothing to copy: send a request first"))
		t := newCopyTour(flow.Token).press("h", "end", "C")
		Expect(t.foot()).To(Equal("copied as curl (it has no secret); C again: to a file"))
		Expect(t.clipboard()).To(ContainSubstring("/registry/registry.json"))
	})

	It("writes a file at once if the terminal has no clipboard", func() {
		t := newCopyTour(flow.Token)
		t.env["TERM"] = "linux"
		Expect(t.press("enter", "c").foot()).To(Equal("written to /tmp/rin-curl-1.sh"))
		Expect(t.sequences).To(BeEmpty())
	})

	It("does not start while a search is typed", func() {
		t := newCopyTour(flow.Token).press("enter", "tab", "/", "c", "C", "h", "r", "1", "enter")
		Expect(t.sequences).To(BeEmpty())
		Expect(t.frame()).To(And(ContainSubstring("/cChr1  nothing found"), ContainSubstring("3/11")))
	})
})

var _ = Describe("Revealing", func() {
	It("shows the secrets of a message, marked, until the key is pressed again", func() {
		t := newCopyTour(flow.Token).press("enter", "tab")
		Expect(t.frame()).To(ContainSubstring("client_secret=‹client_secret›"))
		Expect(t.press("r").frame()).To(And(ContainSubstring("‹"+t.secret[:20]), ContainSubstring("secrets shown")))
		Expect(t.press("r").frame()).To(ContainSubstring("client_secret=‹client_secret›"))
	})

	It("hides them after ten seconds", func() {
		t := newCopyTour(flow.Token).press("enter", "tab", "r")
		t.Clock.Add(9900 * time.Millisecond)
		t.Update(tick(t.Clock.Now()))
		Expect(t.frame()).To(ContainSubstring("‹" + t.secret[:20]))
		t.Clock.Add(100 * time.Millisecond)
		_, cmd := t.Update(tick(t.Clock.Now()))
		Expect(t.frame()).To(And(ContainSubstring("‹client_secret›"), Not(ContainSubstring("secrets shown"))))
		Expect(cmd).NotTo(BeNil(), "the clock continues to tick")
	})
})

var _ = Describe("The history", func() {
	It("lists what was sent, opens it, and leads back", func() {
		t := newCopyTour(flow.Info).press("enter", "h")
		Expect(t.frame()).To(And(HavePrefix("History of this tour"),
			MatchRegexp(`(?m)^›   3  200 .* info\.ok .* GET /`), MatchRegexp(`(?m)^    2  200 .* POST /`), MatchRegexp(`(?m)^    1  200 .* GET /registry/registry.json$`)))
		t.press("down", "enter")
		Expect(t.frame()).To(And(ContainSubstring(" Request [Response]"), ContainSubstring(`"access_token": "‹access_token›"`)))
		Expect(t.press("tab").frame()).To(ContainSubstring("[Request]"))
		Expect(t.press("c").clipboard()).To(ContainSubstring("$RIN_CLIENT_SECRET"))
		Expect(t.press("esc").frame()).To(MatchRegexp(`(?m)^›   2  200`))
		Expect(t.press("esc").frame()).To(HavePrefix("5/11"))
		Expect(t.press("h", "7").frame()).To(HavePrefix("7/11"), "a number leaves the history")
	})
})

var _ = Describe("The panes", func() {
	It("match their goldens", func() {
		t := newCopyTour(flow.Token).press("enter", "tab")
		t.golden("pane-request", sizes...)
		t.press("tab").golden("pane-response", sizes...)
		t.press("/", "b", "e", "a", "r", "e", "r", "enter").golden("pane-search", sizes...)
		t.press("C").golden("pane-question", sizes...)
		t.press("n", "h").golden("history", sizes...)
	})
})
