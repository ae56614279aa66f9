package tui

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/tui/flow"
)

// headline returns the number and the beginning of the title of a step, which every width shows.
func headline(s flow.Step) string {
	return fmt.Sprintf("%d/11 %s", int(s)+1, s.Guide().Title[:4])
}

var _ = Describe("A walk", func() {
	It("leads from the first screen to the certificate and out by enter alone in the smallest size, and each frame says what enter does", func() {
		t := newTour(tourOptions{}).resize(40, 15)
		seen, certified := map[flow.Step]bool{}, false
		for n := 0; !t.ended; n++ {
			Expect(n).To(BeNumerically("<", 80), "stuck at\n%s", t.frame())
			frame := t.frame()
			Expect(frame).To(ContainSubstring(headline(t.step)))
			Expect(frame).To(ContainSubstring("enter "), "each frame says what enter does")
			Expect(frame).NotTo(ContainSubstring("What usually causes it"))
			seen[t.step] = true
			certified = certified || t.step == flow.Certify && strings.Contains(frame, "ertified")
			t.press("enter")
		}
		Expect(seen).To(HaveLen(11))
		Expect(certified).To(BeTrue())
		Expect(t.frames).To(BeNumerically(">", 60))
	})

	It("stays at its step when the terminal changes its size", func() {
		t := newTour(tourOptions{certify: failingSuite()})
		t.eachStep(func() {
			step, before := t.step, t.resize(80, 24).frame()
			for _, size := range [][2]int{{40, 15}, {20, 8}, {19, 8}, {1, 1}, {0, 0}, {300, 90}, {120, 40}, {80, 8}} {
				t.resize(size[0], size[1])
			}
			t.resize(80, 24)
			Expect(t.step).To(Equal(step))
			Expect(firstLine(t.frame())).To(Equal(firstLine(before)))
		})
	})

	It("handles every key at every step, and shows no secret in any frame", func() {
		t := newTour(tourOptions{certify: failingSuite()}).resize(80, 24)
		keys := strings.Split("? x tab tab shift+tab down up pgdown pgup end home right left space w R / a enter n N esc c C n h esc l l [ ] g G s", " ")
		t.eachStep(func() {
			step := t.step
			for _, size := range [][2]int{{40, 15}, {120, 40}} {
				t.resize(size[0], size[1])
				for _, k := range keys {
					t.press(strings.Replace(k, "space", " ", 1))
					t.returnTo(step)
				}
			}
		})
		Expect(t.frames).To(BeNumerically(">", 500))
	})
})

func firstLine(frame string) string { head, _, _ := strings.Cut(frame, "\n"); return head }

// returnTo goes back to a step after a key, and closes what is open there.
func (t *tour) returnTo(step flow.Step) {
	GinkgoHelper()
	for n := 0; t.step != step; n++ {
		Expect(n).To(BeNumerically("<", 10), t.frame())
		if t.screen().Typing() {
			t.press("esc")
			continue
		}
		t.press(string(jumpKeys[step]))
	}
}

// eachStep visits every step. It calls a function before and after enter was pressed there.
func (t *tour) eachStep(check func()) {
	GinkgoHelper()
	for _, g := range flow.Guides() {
		t.returnTo(g.Step)
		check()
		t.returnTo(g.Step)
		t.press("enter")
		t.returnTo(g.Step)
		check()
		if g.Step == flow.Node && !t.session.Walk.HasNode() { // the next steps need a node
			t.returnTo(g.Step)
			t.press("enter")
		}
	}
}
