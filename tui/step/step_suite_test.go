package step_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/worker"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui/step"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

func TestStep(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "step")
}

// manual is a clock that a test moves while requests that were answered may still look at it.
type manual struct{ after atomic.Int64 }

func (m *manual) now() time.Time {
	return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC).Add(time.Duration(m.after.Load()))
}

func (m *manual) add(d time.Duration) { m.after.Add(int64(d)) }

// bench is a node, a walk on it and a screen of that walk.
type bench struct {
	step.Screen
	*step.World
	node   *sandbox.Server
	server *httptest.Server
	clock  *manual
	left   []tea.Msg // what the screen asked of the application

}

// bed says what a bench differs in from a plain one.
type bed struct {
	config  sandbox.Config
	change  func(http.Handler) http.Handler
	certify func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *exchange.Log, error)
	save    func(folder string, files []walk.File) (string, error)
	// away leaves out the reading of the registry.
	away bool
	// aim changes what is known at the start; equip changes what the screens share.
	aim   func(*target.Target)
	equip func(*step.World)
}

func newBench(screen walk.Step, b bed) *bench {
	GinkgoHelper()
	clock := &manual{}
	b.config.Clock, b.config.Calls, b.config.Loopback = clock.now, 45, true
	node, err := sandbox.New(b.config)
	Expect(err).NotTo(HaveOccurred())
	var handler http.Handler = node
	if b.change != nil {
		handler = b.change(node)
	}
	server := httptest.NewServer(handler)
	DeferCleanup(server.Close)
	clients := node.Credentials()
	second := target.Credentials{ClientID: clients[1].ClientID, ClientSecret: target.NewSecret(clients[1].Secret)}
	if b.certify == nil {
		b.certify = inProcess(clock.now)
	}
	at := target.Target{Registry: server.URL + "/registry/registry.json",
		Credentials: target.Credentials{ClientID: clients[0].ClientID, ClientSecret: target.NewSecret(clients[0].Secret)}, Second: &second}
	if b.aim != nil {
		b.aim(&at)
	}
	w, err := walk.New(walk.Options{Suite: "test", Clock: clock.now, Certify: b.certify, Target: at})
	Expect(err).NotTo(HaveOccurred())
	if !b.away {
		scene, _ := w.ReadRegistry(context.Background())
		Expect(scene.Well()).To(BeTrue(), "%+v", scene.Trouble)
		Expect(w.Choose("XA")).To(Succeed())
	}
	world := &step.World{Context: context.Background(), Walk: w, Theme: colour(view.NewTheme(lipgloss.NewRenderer(io.Discard)), "none"), Language: "en", Save: b.save}
	if b.equip != nil {
		b.equip(world)
	}
	bench := &bench{World: world, node: node, server: server, clock: clock}
	bench.Screen = step.Screens(world)[screen]
	bench.does(bench.Open())
	return bench
}

// inProcess is the real suite, without a child.
func inProcess(clock func() time.Time) func(context.Context, target.Target, func(worker.Event)) (report.Report, *exchange.Log, error) {
	return func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *exchange.Log, error) {
		result, err := conformance.Certify(ctx, t, conformance.Options{Suite: "test", Clock: clock, Heard: heard})
		return result.Report, result.Log, err
	}
}

// colour makes a theme dark, light or none.
func colour(t view.Theme, name string) view.Theme {
	t.Renderer.SetHasDarkBackground(name == "dark")
	t.Renderer.SetColorProfile(termenv.ANSI256)
	if name == "none" {
		t.Renderer.SetColorProfile(termenv.Ascii)
	}
	return t
}

// does runs a command, and whatever comes of it, until nothing is under way.
func (b *bench) does(first tea.Cmd) {
	GinkgoHelper()
	messages, open := make(chan tea.Msg), 0
	start := func(cmd tea.Cmd) {
		if cmd != nil {
			open++
			go func() { messages <- cmd() }()
		}
	}
	start(first)
	for open > 0 {
		var msg tea.Msg
		Eventually(messages, "60s").Should(Receive(&msg))
		open--
		switch msg := msg.(type) {
		case nil:
		case tea.BatchMsg:
			for _, cmd := range msg {
				start(cmd)
			}
		case step.Next, step.Jump:
			b.left = append(b.left, msg)
		default:
			start(b.Update(msg))
		}
	}
}

// press presses keys, one after the other: "enter", "right", "x".
func (b *bench) press(keys ...string) *bench {
	GinkgoHelper()
	for _, k := range keys {
		b.does(b.Update(keyOf(k)))
	}
	return b
}

func keyOf(name string) tea.KeyMsg {
	kinds := map[string]tea.KeyType{"enter": tea.KeyEnter, "right": tea.KeyRight, "left": tea.KeyLeft, "up": tea.KeyUp, "down": tea.KeyDown,
		"tab": tea.KeyTab, "esc": tea.KeyEsc, "backspace": tea.KeyBackspace, "end": tea.KeyEnd, "home": tea.KeyHome, "ctrl+u": tea.KeyCtrlU}
	if kind, ok := kinds[name]; ok {
		return tea.KeyMsg{Type: kind}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

// frame is the screen in a size, without colour; it holds the layout and no secret.
func (b *bench) frame(width, height int) string {
	GinkgoHelper()
	return b.drawn(view.Size{Width: width, Height: height - 4})
}

var port = regexp.MustCompile(`1:\d{5}`)

func (b *bench) drawn(room view.Size) string {
	GinkgoHelper()
	seen := b.View(room)
	lines := strings.Split(seen, "\n")
	Expect(lines).To(HaveLen(room.Height), seen)
	for _, line := range lines {
		Expect(lipgloss.Width(line)).To(BeNumerically("<=", room.Width), "%q", line)
	}
	if !b.Revealed {
		b.holdsNoSecret(seen)
	}
	return port.ReplaceAllString(seen, "1:10001")
}

func (b *bench) holdsNoSecret(seen string) {
	GinkgoHelper()
	Expect(seen).NotTo(MatchRegexp(`eyJ[A-Za-z0-9_-]{16}`), "no token of any kind")
	for _, c := range b.node.Credentials() {
		Expect(seen).NotTo(ContainSubstring(c.Secret))
		Expect(seen).NotTo(ContainSubstring(c.Secret[:12]))
	}
	if token, ok := b.Walk.Issued(); ok {
		Expect(seen).NotTo(ContainSubstring(token.Value[len(token.Value)-12:]))
	}
}

// hints are the keys that mean something now.
func (b *bench) hints() string {
	var out []string
	for _, k := range b.Keys() {
		out = append(out, k.Help().Key+" "+k.Help().Desc)
	}
	return strings.Join(out, ", ")
}

// golden compares a screen in three widths, dark, light and without colour, with what was accepted before. RIN_UPDATE_GOLDEN=1 writes it.
func (b *bench) golden(name string) {
	GinkgoHelper()
	var all strings.Builder
	for _, size := range []view.Size{{Width: 20, Height: 2}, {Width: 24, Height: 5}, {Width: 30, Height: 8}, {Width: 100, Height: 3}, {Width: 300, Height: 80}} {
		b.drawn(size) // holds the layout, whatever else
	}
	for _, size := range []view.Size{{Width: 40, Height: 11}, {Width: 80, Height: 20}, {Width: 120, Height: 36}} {
		for _, colours := range []string{"none", "dark", "light"} {
			colour(b.Theme, colours)
			b.does(b.Update(step.Revealing{})) // draws anew
			fmt.Fprintf(&all, "── %d×%d %s ──\n", size.Width, size.Height, colours)
			for line := range strings.Lines(b.drawn(size) + "\n") {
				all.WriteString(strings.TrimRight(strings.ReplaceAll(line, "\x1b", "␛"), " \n") + "\n")
			}
		}
	}
	colour(b.Theme, "none")
	b.does(b.Update(step.Revealing{}))
	path := filepath.Join("testdata", name+".txt")
	if os.Getenv("RIN_UPDATE_GOLDEN") != "" {
		Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		Expect(os.WriteFile(path, []byte(all.String()), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(all.String()).To(Equal(string(want)), "see %s; RIN_UPDATE_GOLDEN=1 accepts it", path)
}

// under is what a screen has under way.
type under struct{ messages chan tea.Msg }

// begin presses a key, and does not wait for what comes of it: take does.
func (b *bench) begin(key string) under {
	u := under{make(chan tea.Msg, 16)}
	u.follow(b.Update(keyOf(key)))
	return u
}

func (u under) follow(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, one := range batch {
				u.follow(one)
			}
			return
		}
		u.messages <- msg
	}()
}

// take hands the screen so many messages; all until an action was played for -1.
func (b *bench) take(u under, n int) {
	GinkgoHelper()
	for ; n != 0; n-- {
		var msg tea.Msg
		Eventually(u.messages, "10s").Should(Receive(&msg))
		if msg != nil {
			u.follow(b.Update(msg))
		}
		if _, played := msg.(step.Played); played {
			return
		}
	}
}
