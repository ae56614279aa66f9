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

// desk is a tour with a terminal and files to copy to.
type desk struct {
	*tour
	env     map[string]string
	written []string // sequences to the terminal
	kept    []string // texts in files
	secret  string   // of the client
}

// newDesk stands at a step of a walk whose node is chosen and whose token is fetched.
func newDesk(at flow.Step) *desk {
	GinkgoHelper()
	d := &desk{tour: newTour(ground{}), env: map[string]string{"TERM": "xterm-256color"}}
	d.secret = d.Credentials()[0].Secret
	w := d.session
	w.Getenv = func(name string) (string, bool) { value, set := d.env[name]; return value, set }
	w.Write = func(sequence string) error { d.written = append(d.written, sequence); return nil }
	w.Keep = func(text string) (string, error) { d.kept = append(d.kept, text); return "/tmp/rin-curl-1.sh", nil }
	tuitest.Arrive(GinkgoTB(), w.Walk)
	Expect(w.Walk.FetchToken(context.Background()).OK()).To(BeTrue())
	return d.press(fmt.Sprint((int(at) + 1) % 10))
}

func (d *desk) press(keys ...string) *desk {
	GinkgoHelper()
	d.tour.press(keys...)
	return d
}

// clipboard is what the terminal was given last.
func (d *desk) clipboard() string {
	GinkgoHelper()
	Expect(d.written).NotTo(BeEmpty())
	text := strings.TrimSuffix(strings.TrimPrefix(d.written[len(d.written)-1], "\x1b]52;c;"), "\a")
	decoded, err := base64.StdEncoding.DecodeString(text)
	Expect(err).NotTo(HaveOccurred())
	return string(decoded)
}

var _ = Describe("Copying", func() {
	It("hands the request to the clipboard as curl, with variables in the place of secrets, and to a file by the same key", func() {
		t := newDesk(flow.Token).press("enter", "c")
		Expect(t.foot()).To(Equal("copied as curl; c again: to a file"))
		Expect(t.clipboard()).To(And(HavePrefix("curl -sS -i"), ContainSubstring(`client_secret='"$RIN_CLIENT_SECRET"`), Not(ContainSubstring(t.secret))))
		command := t.clipboard()
		Expect(t.press("c").foot()).To(Equal("written to /tmp/rin-curl-1.sh"))
		Expect(t.kept).To(ConsistOf(command + "\n"))
		t.press("tab", "c")
		Expect(t.written).To(HaveLen(2), "after another key it is a copy again")
	})

	It("puts real secrets into a command after a question only", func() {
		t := newDesk(flow.Token).press("enter")
		for _, no := range []string{"n", "enter", "esc", "c", "C"} {
			Expect(t.press("C").foot()).To(Equal("Copy with the real secrets? y/n"))
			Expect(t.press(no).foot()).To(Equal("nothing was copied"), no)
		}
		Expect(t.written).To(BeEmpty())
		Expect(t.press("C", "y").foot()).To(Equal("copied with secrets; C again: to a file"))
		Expect(t.clipboard()).To(ContainSubstring(t.secret))
		Expect(t.kept).To(BeEmpty())
		Expect(t.press("C").foot()).To(Equal("written to /tmp/rin-curl-1.sh"))
		Expect(t.kept[0]).To(ContainSubstring(t.secret))
	})

	It("asks nothing where there is no secret, and says when there is nothing to copy", func() {
		Expect(newDesk(flow.Token).press("C").foot()).To(Equal("nothing to copy: send a request first"))
		t := newDesk(flow.Token).press("h", "end", "C")
		Expect(t.foot()).To(Equal("copied as curl (it has no secret); C again: to a file"))
		Expect(t.clipboard()).To(ContainSubstring("/registry/registry.json"))
	})

	It("writes a file at once where no clipboard is", func() {
		t := newDesk(flow.Token)
		t.env["TERM"] = "linux"
		Expect(t.press("enter", "c").foot()).To(Equal("written to /tmp/rin-curl-1.sh"))
		Expect(t.written).To(BeEmpty())
	})

	It("is text while a search is typed", func() {
		t := newDesk(flow.Token).press("enter", "tab", "/", "c", "C", "h", "r", "1", "enter")
		Expect(t.written).To(BeEmpty())
		Expect(t.frame()).To(And(ContainSubstring("/cChr1  nothing found"), ContainSubstring("3/10")))
	})
})

var _ = Describe("Revealing", func() {
	It("shows the secrets of a message, marked, until the key is pressed again", func() {
		t := newDesk(flow.Token).press("enter", "tab")
		Expect(t.frame()).To(ContainSubstring("client_secret=‹client_secret›"))
		Expect(t.press("r").frame()).To(And(ContainSubstring("‹"+t.secret[:20]), ContainSubstring("secrets shown")))
		Expect(t.press("r").frame()).To(ContainSubstring("client_secret=‹client_secret›"))
	})

	It("hides them after ten seconds", func() {
		t := newDesk(flow.Token).press("enter", "tab", "r")
		t.Clock.Add(9900 * time.Millisecond)
		t.Update(tick(t.Clock.Now()))
		Expect(t.frame()).To(ContainSubstring("‹" + t.secret[:20]))
		t.Clock.Add(100 * time.Millisecond)
		_, cmd := t.Update(tick(t.Clock.Now()))
		Expect(t.frame()).To(And(ContainSubstring("‹client_secret›"), Not(ContainSubstring("secrets shown"))))
		Expect(cmd).NotTo(BeNil(), "the clock goes on")
	})
})

var _ = Describe("The history", func() {
	It("lists what was sent, opens it, and leads back", func() {
		t := newDesk(flow.Info).press("enter", "h")
		Expect(t.frame()).To(And(HavePrefix("History of this tour"),
			MatchRegexp(`(?m)^›   3  200 .* info\.ok .* GET /`), MatchRegexp(`(?m)^    2  200 .* POST /`), MatchRegexp(`(?m)^    1  200 .* GET /registry/registry.json$`)))
		t.press("down", "enter")
		Expect(t.frame()).To(And(ContainSubstring(" Request [Response]"), ContainSubstring(`"access_token": "‹access_token›"`)))
		Expect(t.press("tab").frame()).To(ContainSubstring("[Request]"))
		Expect(t.press("c").clipboard()).To(ContainSubstring("$RIN_CLIENT_SECRET"))
		Expect(t.press("esc").frame()).To(MatchRegexp(`(?m)^›   2  200`))
		Expect(t.press("esc").frame()).To(HavePrefix("5/10"))
		Expect(t.press("h", "7").frame()).To(HavePrefix("7/10"), "a number leaves it")
	})
})

var _ = Describe("The panes", func() {
	It("look as they were accepted", func() {
		t := newDesk(flow.Token).press("enter", "tab")
		t.golden("pane-request", sizes...)
		t.press("tab").golden("pane-response", sizes...)
		t.press("/", "b", "e", "a", "r", "e", "r", "enter").golden("pane-search", sizes...)
		t.press("C").golden("pane-question", sizes...)
		t.press("n", "h").golden("history", sizes...)
	})
})
