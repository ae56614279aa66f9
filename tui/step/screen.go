package step

import (
	"context"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/view"
	"github.com/rin-network/rin/tui/walk"
)

// Screen is what one step shows, and what it does with keys. It is changed in place.
type Screen interface {
	// Open is called each time the screen comes to be seen; its command may be nil.
	Open() tea.Cmd
	// Update takes a message. It returns [Next] by a command when the person goes on.
	Update(msg tea.Msg) tea.Cmd
	// View draws the screen in exactly this room.
	View(room view.Size) string
	// Keys are those that mean something now, the most useful first; the footer shows as many as fit, the help all.
	Keys() []key.Binding
	// Typing tells that keys are text now, so that none of the application's letters and digits count.
	Typing() bool
	// Exchange is the one that is looked at, for copying; ok is false when there is none.
	Exchange() (x exchange.Exchange, ok bool)
}

// World is what all screens share.
type World struct {
	Context context.Context
	Walk    *walk.Walk
	Theme   view.Theme
	// Language is that of the funding calls: "de" or "en".
	Language string
	// Revealed tells that secrets are shown at the moment.
	Revealed bool
	// Start starts the sandbox inside, or says where it is if it runs already; nil where there is none.
	Start func(context.Context) (target.Target, error)
	// Secret fetches a secret from the place that a text names, such as env:NAME; ReadFile reads a file that the person named.
	Secret   func(place string) (target.Secret, error)
	ReadFile func(path string) ([]byte, error)
	// NodeID is the node that the command line named; empty for none.
	NodeID string
	// Getenv tells what terminal it is; Write writes to it between two frames, for what does not move the cursor.
	Getenv func(name string) (string, bool)
	Write  func(sequence string) error
	// Keep writes a text that was copied into a file that only its owner reads, and says where it is.
	Keep func(text string) (path string, err error)
	// Save writes the files of the last step into a folder and says where they are.
	Save func(folder string, files []walk.File) (string, error)
}

// show says how texts with secrets are shown at the moment.
func (w *World) show() func(string) string {
	if w.Revealed {
		return w.Walk.Reveal
	}
	return exchange.Masked
}

// secrets says how the secrets of a message are shown at the moment.
func (w *World) secrets() view.Secrets {
	if w.Revealed {
		return w.Walk.Reveal
	}
	return nil
}

// Next leads to the step after this one.
type Next struct{}

// Jump leads to another step; Edit opens what can be edited there.
type Jump struct {
	To   walk.Step
	Edit bool
}

// Edit asks a screen to open what can be edited there.
type Edit struct{}

// Second tells the screen that is seen that a second has passed.
type Second struct{}

// Played is a scene that came of an action of a step.
type Played struct {
	Step  walk.Step
	Scene walk.Scene
	// Of is what the scene belongs to, where a step has several actions.
	Of any
	// Aim is the target that was asked, as [walk.Walk.Aims] counts.
	Aim int
}

// Revealing tells the screens that secrets are shown from now on, or hidden.
type Revealing struct{}

func next() tea.Msg { return Next{} }

// wide is the number of columns from which on two things stand beside each other.
const wide = 100

// act plays a scene beside the screen.
func (w *World) act(step walk.Step, of any, play func(context.Context) walk.Scene) tea.Cmd {
	return func() tea.Msg {
		if err := w.begin(); err != nil {
			return Played{Step: step, Scene: unstarted(step, err), Of: of, Aim: w.Walk.Aims()}
		}
		scene := play(w.Context)
		return Played{step, scene, of, w.Walk.Aims()}
	}
}

// begin goes to the sandbox inside when no node was given, for whoever begins in the middle.
func (w *World) begin() error {
	if w.Start == nil || w.Walk.Located() || w.Walk.Registered() {
		return nil
	}
	inside, err := w.Start(w.Context)
	if err == nil && !w.Walk.Located() && !w.Walk.Registered() {
		w.Walk.Aim(inside)
	}
	return err
}

// unstarted is the scene of a sandbox that could not be started.
func unstarted(step walk.Step, err error) walk.Scene {
	return walk.Scene{Step: step, Trouble: &walk.Trouble{What: "no sandbox could be started on this machine: " + err.Error(),
		Causes: []string{"this machine allows no listener on its loopback address"}, Try: []string{"try again", "choose another node"}}}
}

// enter is the key that leads on; help says where to.
func enter(help string) key.Binding {
	return key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", help))
}
