// Package screen has a screen for each step of the walk. A screen asks the walk to act, and shows the scene that comes of it: why, what was
// sent, what came back, and the verdict. The application around it decides which screen is seen.
package screen

import (
	"context"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/tui/flow"
)

// Screen is what one step shows, and what it does with keys. It is changed in place.
type Screen interface {
	// Open is called each time the screen comes to be seen; its command may be nil.
	Open() tea.Cmd
	// Update takes a message. It returns [NextStep] by a command when the person goes on.
	Update(msg tea.Msg) tea.Cmd
	// View draws the screen in exactly this room.
	View(room Size) string
	// Keys are those that mean something now, the most useful first; the footer shows as many as fit, the help all.
	Keys() []key.Binding
	// Typing tells that keys are text now, so that none of the application's letters and digits count.
	Typing() bool
	// Exchange is the one that is looked at, for copying; ok is false when there is none.
	Exchange() (x evidence.Exchange, ok bool)
}

// Session is what all screens share.
type Session struct {
	Context context.Context
	Walk    *flow.Walk
	Theme   Theme
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
	Save func(folder string, files []flow.File) (string, error)
}

// show says how texts with secrets are shown at the moment.
func (w *Session) show() func(string) string {
	if w.Revealed {
		return w.Walk.Reveal
	}
	return redact.Mask
}

// secrets says how the secrets of a message are shown at the moment.
func (w *Session) secrets() Secrets {
	if w.Revealed {
		return w.Walk.Reveal
	}
	return nil
}

// NextStep leads to the step after this one.
type NextStep struct{}

// GoToStep leads to another step; Edit opens what can be edited there.
type GoToStep struct {
	To   flow.Step
	Edit bool
}

// OpenEditor asks a screen to open what can be edited there.
type OpenEditor struct{}

// SecondPassed tells the screen that is seen that a second has passed.
type SecondPassed struct{}

// ActionDone is a scene that came of an action of a step.
type ActionDone struct {
	Step  flow.Step
	Scene flow.Result
	// Of is what the scene belongs to, where a step has several actions.
	Of any
	// Aim is the target that was asked, as [flow.Walk.TargetCount] counts.
	TargetCount int
}

// SecretsToggled tells the screens that secrets are shown from now on, or hidden.
type SecretsToggled struct{}

func next() tea.Msg { return NextStep{} }

// wide is the number of columns from which on two things stand beside each other.
const wide = 100

// act plays a scene beside the screen.
func (w *Session) act(step flow.Step, of any, play func(context.Context) flow.Result) tea.Cmd {
	return func() tea.Msg {
		if err := w.begin(); err != nil {
			return ActionDone{Step: step, Scene: sandboxFailure(step, err), Of: of, TargetCount: w.Walk.TargetCount()}
		}
		scene := play(w.Context)
		return ActionDone{step, scene, of, w.Walk.TargetCount()}
	}
}

// begin goes to the sandbox inside when no node was given, for whoever begins in the middle.
func (w *Session) begin() error {
	if w.Start == nil || w.Walk.HasNode() || w.Walk.HasRegistry() {
		return nil
	}
	inside, err := w.Start(w.Context)
	if err == nil && !w.Walk.HasNode() && !w.Walk.HasRegistry() {
		w.Walk.SetTarget(inside)
	}
	return err
}

// sandboxFailure is the scene of a sandbox that could not be started.
func sandboxFailure(step flow.Step, err error) flow.Result {
	return flow.Result{Step: step, Trouble: &flow.Trouble{What: "no sandbox could be started on this machine: " + err.Error(),
		Causes: []string{"this machine allows no listener on its loopback address"}, Try: []string{"try again", "choose another node"}}}
}

// enter is the key that leads on; help says where to.
func enter(help string) key.Binding {
	return key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", help))
}

// Screens makes the screens of all steps, in their order.
func Screens(w *Session) []Screen {
	return []Screen{
		newNodeScreen(w), newCredentialsScreen(w),
		newActionScreen(w, flow.Token, "ask for a token", w.Walk.FetchToken),
		newReadingScreen(w),
		newActionScreen(w, flow.Info, "call info", w.Walk.CallInfo),
		newSpecificationScreen(w), newCallsScreen(w), newWhatIfScreen(w), newCertifyScreen(w), newTakeAwayScreen(w),
	}
}
