// Package screen has the screens of the tour, one for each step, and their parts: lists, panes, messages, JSON trees. It removes control characters from
// everything that comes from a node before it draws it.
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

// Screen shows one step and handles its keys. Its methods change it in place.
type Screen interface {
	// Open is called each time the screen becomes visible; the command may be nil.
	Open() tea.Cmd
	// Update handles a message. Its command yields [NextStep] when the person goes on.
	Update(msg tea.Msg) tea.Cmd
	// View draws the screen in exactly this size.
	View(size Size) string
	// Keys lists the keys that do something now, the most useful first. The footer shows as many as fit, the help shows all.
	Keys() []key.Binding
	// Typing reports whether the person types a text, so that letters and digits are not commands of the application.
	Typing() bool
	// Exchange returns the visible exchange, for copying; ok is false if there is none.
	Exchange() (x evidence.Exchange, ok bool)
}

// Screens makes the screens of all steps in their order.
func Screens(w *Session) []Screen {
	return []Screen{
		newNodeScreen(w), newCredentialsScreen(w),
		newActionScreen(w, flow.Token, "ask for a token", w.Walk.FetchToken),
		newReadingScreen(w),
		newActionScreen(w, flow.Info, "call info", w.Walk.CallInfo),
		newSpecificationScreen(w), newCallsScreen(w), newWhatIfScreen(w), newFaultsScreen(w), newCertifyScreen(w), newTakeAwayScreen(w),
	}
}

// Session is the state and the environment that all screens share.
type Session struct {
	Context context.Context
	Walk    *flow.Walk
	Theme   Theme
	// Language is the language of the funding calls: "de" or "en".
	Language string
	// Revealed is set while secrets are visible.
	Revealed bool
	// Start starts the built-in sandbox, or finds the running one; nil if the tour has no built-in sandbox.
	Start func(context.Context) (target.Target, error)
	// Secret reads a secret from a place such as env:NAME.
	Secret   func(place string) (target.Secret, error)
	ReadFile func(path string) ([]byte, error)
	// NodeID is the node that the command line named, or "".
	NodeID string
	Getenv func(name string) (string, bool)
	// Write writes a control sequence to the terminal between two frames. It must not move the cursor.
	Write func(sequence string) error
	// Keep writes a copied text to a file that only its owner can read, and returns its path.
	Keep func(text string) (path string, err error)
	// Save writes the files of the last step into a folder and returns its full path.
	Save func(folder string, files []flow.File) (string, error)
}

// mask returns the function that shows or hides the secrets in a text.
func (w *Session) mask() flow.MaskFunc {
	if w.Revealed {
		return w.Walk.Reveal
	}
	return redact.Mask
}

// secrets returns the function that reveals the secrets in messages; nil while they are hidden.
func (w *Session) secrets() Secrets {
	if w.Revealed {
		return w.Walk.Reveal
	}
	return nil
}

// NextStep asks the application for the next step.
type NextStep struct{}

// GoToStep asks the application for a step; if Edit is set, the step opens its form.
type GoToStep struct {
	To   flow.Step
	Edit bool
}

// OpenEditor asks a screen to open its form.
type OpenEditor struct{}

// Tick tells the visible screen that a second has passed.
type Tick struct{}

// SecretsToggled tells the screens that secrets are visible or hidden now.
type SecretsToggled struct{}

// ActionDone is the result of an action.
type ActionDone struct {
	Step   flow.Step
	Result flow.Result
	// Subject distinguishes the actions of a step. Its type belongs to the step.
	Subject any
	// TargetCount identifies the target of the action, see [flow.Walk.TargetCount].
	TargetCount int
}

// twoColumns is the width from which a list and its detail are side by side.
const twoColumns = 100

// act returns a command that runs an action in the background. It starts the built-in sandbox first if no node was given.
func (w *Session) act(step flow.Step, subject any, action func(context.Context) flow.Result) tea.Cmd {
	return func() tea.Msg {
		var result flow.Result
		if err := w.ensureSandbox(); err != nil {
			result = sandboxFailure(step, err)
		} else {
			result = action(w.Context)
		}
		return ActionDone{step, result, subject, w.Walk.TargetCount()}
	}
}

// ensureSandbox starts the built-in sandbox if no node was given, for a person who begins at a later step.
func (w *Session) ensureSandbox() error {
	if w.Start == nil || w.Walk.HasNode() || w.Walk.HasRegistry() {
		return nil
	}
	sandbox, err := w.Start(w.Context)
	// The person may have chosen a node while the sandbox started.
	if err == nil && !w.Walk.HasNode() && !w.Walk.HasRegistry() {
		w.Walk.SetTarget(sandbox)
	}
	return err
}

// sandboxFailure returns the result of a step whose sandbox did not start.
func sandboxFailure(step flow.Step, err error) flow.Result {
	return flow.Result{Step: step, Trouble: &flow.Trouble{What: "the sandbox did not start on this machine: " + err.Error(),
		Causes: []string{"this machine does not allow a server on its loopback address"}, Try: []string{"try again", "choose another node"}}}
}
