package walk

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/worker"
)

// Options say where a walk begins, and what it may use of the world.
type Options struct {
	// Target is what is known at the start: nothing, a registry, URLs, credentials.
	Target target.Target
	// Suite is the version of rin, for the User-Agent.
	Suite string
	// Clock and Random are those of the machine when nil.
	Clock  func() time.Time
	Random io.Reader
	// Pause waits before a request is repeated; it does so by the clock of the machine when nil.
	Pause func(context.Context, time.Duration) error
	// Certify runs the whole suite against a node; heard is told how far it is. It is called in its own goroutine.
	Certify func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *exchange.Log, error)
}

// Walk is one person's way. Its actions may be called from several goroutines, one at a time; what they learn is read at any time.
type Walk struct {
	options  Options
	redactor *exchange.Redactor

	mu      sync.Mutex
	target  target.Target
	secrets map[string]string // by fingerprint
	history []sent
	since   int // where in the history the present target begins
	token   *Issued
	second  string // the access token of the client without the role
	node    *described
	// accounts are what was presented so far, by token URL; aims counts the targets.
	accounts map[string]Account
	aims     int
	calls    []Call
	report   *report.Report
	log      *exchange.Log
}

// sent is an exchange with what the document says of it.
type sent struct {
	exchange exchange.Exchange
	findings []exchange.SchemaFindings
}

// Issued is the access token of the walk.
type Issued struct {
	discover.Token
	// Facts are what may be shown of it.
	Facts exchange.TokenFacts
}

// Left is how long the token is good for; 0 for one that has expired.
func (i Issued) Left(now time.Time) time.Duration {
	return max(0, i.Obtained.Add(i.Life).Sub(now))
}

// New begins a walk.
func New(o Options) (*Walk, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	salt := make([]byte, 16)
	if _, err := io.ReadFull(o.Random, salt); err != nil {
		return nil, fmt.Errorf("draw the salt of this walk's fingerprints: %w", err)
	}
	w := &Walk{options: o, redactor: exchange.NewRedactor(salt), secrets: map[string]string{}, accounts: map[string]Account{}}
	w.Aim(o.Target)
	return w, nil
}

// Aim gives the walk another target, and forgets what was learnt from the one before.
func (w *Walk) Aim(t target.Target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target, w.token, w.second, w.node, w.calls, w.report, w.log = t, nil, "", nil, nil, nil, nil
	w.aims++
	if t.TokenURL != "" {
		w.accounts[t.TokenURL] = Account{t.Credentials, t.Second, t.ExpiredToken}
	}
	w.since = len(w.history)
	for _, s := range discover.Secrets(t) {
		w.conceal(s.Name, s.Value.Reveal())
	}
}

// conceal keeps a secret out of everything that is shown, until it is asked for; w.mu is held.
func (w *Walk) conceal(name, value string) {
	if value != "" {
		w.secrets[w.redactor.Secret(name, value)] = value
	}
}

// Target is where the walk is.
func (w *Walk) Target() target.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.target
}

// Aims counts the targets so far: what was learnt at an earlier count may be of another node, or of another client.
func (w *Walk) Aims() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.aims
}

// Now is the time of the walk.
func (w *Walk) Now() time.Time { return w.options.Clock() }

// History lists everything that was sent, oldest first.
func (w *Walk) History() []exchange.Exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]exchange.Exchange, len(w.history))
	for i, s := range w.history {
		all[i] = s.exchange
	}
	return all
}

// Issued is the access token of the walk; ok is false while there is none.
func (w *Walk) Issued() (token Issued, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.token == nil {
		return Issued{}, false
	}
	return *w.token, true
}

// Calls are the items of the list that was read last.
func (w *Walk) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// Reveal puts the secrets of this walk back into a text.
func (w *Walk) Reveal(text string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return exchange.Reveal(text, func(fingerprint string) (string, bool) {
		value, known := w.secrets[fingerprint]
		return value, known
	})
}
