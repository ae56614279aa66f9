package tui

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
	"testing"
	"time"

	"github.com/charmbracelet/bubbles/cursor"
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

func TestTour(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "tour")
}

// tour is the application with a node to walk on and somebody who presses keys.
type tour struct {
	*App
	node   *sandbox.Server
	clock  time.Time
	left   bool // whether the application ended
	frames int
}

// ground is what a tour differs in from a plain one.
type ground struct {
	change  func(http.Handler) http.Handler
	certify func(context.Context, target.Target, func(worker.Event)) (report.Report, *exchange.Log, error)
}

func newTour(g ground) *tour {
	GinkgoHelper()
	t := &tour{clock: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}
	now := func() time.Time { return t.clock }
	var err error
	t.node, err = sandbox.New(sandbox.Config{Clock: now, Calls: 45, Loopback: true})
	Expect(err).NotTo(HaveOccurred())
	var handler http.Handler = t.node
	if g.change != nil {
		handler = g.change(t.node)
	}
	server := httptest.NewServer(handler)
	DeferCleanup(server.Close)
	if g.certify == nil {
		g.certify = func(ctx context.Context, at target.Target, heard func(worker.Event)) (report.Report, *exchange.Log, error) {
			result, err := conformance.Certify(ctx, at, conformance.Options{Suite: "test", Clock: now, Heard: heard})
			return result.Report, result.Log, err
		}
	}
	clients := t.node.Credentials()
	w, err := walk.New(walk.Options{
		Suite: "test", Clock: now, Certify: g.certify,
		Target: target.Target{Registry: server.URL + "/registry/registry.json", Credentials: target.Credentials{ClientID: clients[0].ClientID, ClientSecret: target.NewSecret(clients[0].Secret)},
			Second: &target.Credentials{ClientID: clients[1].ClientID, ClientSecret: target.NewSecret(clients[1].Secret)}},
	})
	Expect(err).NotTo(HaveOccurred())
	t.App = New(&step.World{Context: context.Background(), Walk: w, Language: "en", Theme: view.NewTheme(lipgloss.NewRenderer(io.Discard)),
		Getenv: func(string) (string, bool) { return "", false },
		Write:  func(string) error { return nil },
		Keep:   func(string) (string, error) { return "/tmp/rin-curl-1.sh", nil },
		Save:   func(folder string, _ []walk.File) (string, error) { return folder, nil }})
	t.colour("none")
	t.does(t.screen().Open())
	return t
}

// colour makes the terminal dark, light or none.
func (t *tour) colour(name string) {
	r := t.world.Theme.Renderer
	r.SetHasDarkBackground(name == "dark")
	r.SetColorProfile(termenv.ANSI256)
	if name == "none" {
		r.SetColorProfile(termenv.Ascii)
	}
	t.does(t.screen().Update(step.Revealing{})) // draws anew
	if t.help != nil {
		t.help.Refresh()
	}
}

// sized gives the terminal a size.
func (t *tour) sized(width, height int) *tour {
	GinkgoHelper()
	t.take(tea.WindowSizeMsg{Width: width, Height: height})
	return t
}

// press presses keys, one after the other, and lets everything happen that comes of each.
func (t *tour) press(keys ...string) *tour {
	GinkgoHelper()
	for _, k := range keys {
		t.take(keyOf(k))
	}
	return t
}

func keyOf(name string) tea.KeyMsg {
	for kind := tea.KeyType(-120); kind < 130; kind++ {
		if kind != tea.KeyRunes && kind.String() == name && name != "" {
			return tea.KeyMsg{Type: kind}
		}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)}
}

func (t *tour) take(msg tea.Msg) {
	GinkgoHelper()
	_, cmd := t.Update(msg)
	t.frame()
	t.does(cmd)
}

// does runs a command and whatever comes of it, looks at every frame meanwhile, and ends when nothing is under way.
func (t *tour) does(first tea.Cmd) {
	GinkgoHelper()
	messages, open := make(chan tea.Msg), 0
	start := func(cmd tea.Cmd) {
		if cmd != nil {
			open++
			go func() { messages <- cmd() }()
		}
	}
	for start(first); open > 0; {
		var msg tea.Msg
		Eventually(messages, "60s").Should(Receive(&msg))
		open--
		switch msg := msg.(type) {
		case nil, tick, cursor.BlinkMsg: // time passes when the test says so
		case tea.QuitMsg:
			t.left = true
		case tea.BatchMsg:
			for _, cmd := range msg {
				start(cmd)
			}
		default:
			_, cmd := t.Update(msg)
			t.frame()
			start(cmd)
		}
	}
}

// frame is what is seen; it holds the layout, no secret that is not revealed, and no control byte but those of styles.
func (t *tour) frame() string {
	GinkgoHelper()
	t.frames++
	seen := t.View()
	lines := strings.Split(seen, "\n")
	Expect(len(lines)).To(BeNumerically("<=", max(1, t.size.Height)), seen)
	for _, line := range lines {
		Expect(lipgloss.Width(line)).To(BeNumerically("<=", t.size.Width), "at %d×%d: %q", t.size.Width, t.size.Height, line)
	}
	Expect(style.ReplaceAllString(seen, "")).NotTo(MatchRegexp(harm), "%q", seen)
	if !t.world.Revealed {
		for _, secret := range t.secrets() {
			Expect(seen).NotTo(ContainSubstring(secret))
		}
	}
	return seen
}

var (
	style = regexp.MustCompile(`\x1b\[[0-9;]*m`)
	port  = regexp.MustCompile(`127\.0\.0\.1:\d{5}`)
)

// harm are control bytes of both kinds, and marks that turn or hide text.
const harm = `[\x00-\x09\x0b-\x1f\x7f\x{80}-\x{9f}\x{200b}\x{200e}\x{200f}\x{2028}-\x{202e}\x{2066}-\x{2069}\x{feff}]`

// secrets are pieces of what nobody may see: too long to be there by accident, short enough to be found where a line was cut.
func (t *tour) secrets() (all []string) {
	for _, c := range t.node.Credentials() {
		all = append(all, c.Secret[:12], c.Secret[len(c.Secret)-12:])
	}
	if token, ok := t.world.Walk.Issued(); ok {
		all = append(all, token.Value[len(token.Value)-12:])
	}
	return all
}

// golden compares the whole screen in three sizes, dark, light and without colour, with what was accepted before. RIN_UPDATE_GOLDEN=1 writes it.
func (t *tour) golden(name string, sizes ...view.Size) {
	GinkgoHelper()
	var all strings.Builder
	for _, size := range sizes {
		t.sized(size.Width, size.Height)
		for _, colours := range []string{"none", "dark", "light"} {
			t.colour(colours)
			fmt.Fprintf(&all, "── %d×%d %s ──\n", size.Width, size.Height, colours)
			seen := port.ReplaceAllString(t.frame(), "127.0.0.1:10001")
			for line := range strings.Lines(seen + "\n") {
				all.WriteString(strings.TrimRight(strings.ReplaceAll(line, "\x1b", "␛"), " \n") + "\n")
			}
		}
	}
	path := filepath.Join("testdata", name+".txt")
	if os.Getenv("RIN_UPDATE_GOLDEN") != "" {
		Expect(os.MkdirAll("testdata", 0o755)).To(Succeed())
		Expect(os.WriteFile(path, []byte(all.String()), 0o644)).To(Succeed())
	}
	want, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(all.String()).To(Equal(string(want)), "see %s; RIN_UPDATE_GOLDEN=1 accepts it", path)
}
