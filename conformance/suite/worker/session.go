package worker

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
)

// Session is one run. Use it once.
type Session struct {
	options Options
	journal *evidence.Journal
	probes  probe.Options
	problem *target.Problem
}

// NewSession prepares a session; nothing is sent before [Session.Run]. The evidence is written to recorded as it comes in; nil keeps it in
// memory only.
func NewSession(o Options, recorded io.Writer) (*Session, error) {
	if o.Clock == nil {
		o.Clock = steadyClock()
	}
	if o.Random == nil {
		o.Random = rand.Reader
	}
	salt := make([]byte, 16)
	if _, err := io.ReadFull(o.Random, salt); err != nil {
		return nil, fmt.Errorf("draw the salt of this run's fingerprints: %w", err)
	}
	var file *evidence.Writer
	if recorded != nil {
		file = evidence.NewWriter(recorded, o.Clock)
	}
	s := &Session{options: o, journal: evidence.NewJournal(file)}
	redactor := redact.New(salt)
	s.probes = probe.Options{
		Inputs: o.Inputs, Journal: s.journal, Redactor: redactor,
		Recorder:  func(t target.Target, budget int) (*recorder.Recorder, error) { return s.recorder(t, redactor, budget) },
		Guard:     func(body []byte) evidence.Document { return validate.Read(body, openapi.DefaultLimits()) },
		Annotator: annotator,
		Wanted:    wantedLabels(o.Target),
		Planned: func(budget int, at target.Politeness) {
			o.notify(Event{Kind: Planned, Budget: budget, Politeness: &at})
		},
		Chosen:  func(profile, reason string) { o.notify(Event{Kind: Chosen, Profile: profile, Cause: reason}) },
		Waiting: func(d time.Duration, cause string) { o.notify(Event{Kind: Waiting, Wait: d, Cause: cause}) },
		Progress: func(done, planned int, label evidence.Label) {
			o.notify(Event{Kind: Progress, Done: done, Planned: planned, Label: label})
		},
	}
	return s, nil
}

// steadyClock returns a clock that starts at the machine's time and is not set back, so that the times of a run run forward.
func steadyClock() func() time.Time {
	start := time.Now()
	return func() time.Time { return start.Add(time.Since(start)) }
}

// Run sends the node every planned request and ends the evidence. The error is about this machine; what the node did is evidence.
func (s *Session) Run(ctx context.Context) error {
	err := probe.Run(ctx, s.probes)
	errors.As(err, &s.problem)
	return err
}

// Problem returns what the operator must correct before the node can be asked; nil when the run was possible. It is known when the run ended.
func (s *Session) Problem() *target.Problem { return s.problem }

// Wait returns when the run has ended.
func (s *Session) Wait(ctx context.Context) error { return s.journal.Wait(ctx) }

// Log returns the evidence so far.
func (s *Session) Log() *evidence.Log { return s.journal.Log() }

// Err returns the first error of writing evidence.
func (s *Session) Err() error { return s.journal.Err() }

// recorder returns the HTTP client that talks to the node and records what it sends.
func (s *Session) recorder(t target.Target, redactor *redact.Redactor, budget int) (*recorder.Recorder, error) {
	roots, err := authorities(t.CACert)
	if err != nil {
		return nil, err
	}
	agent := "rin-conformance/" + s.options.Suite
	if t.Blind {
		agent = blindAgent
	}
	return recorder.New(recorder.Options{
		Journal: s.journal, Redactor: redactor, Clock: s.options.Clock,
		Timeout: t.Politeness.Timeout, Rate: t.Politeness.Rate, Concurrency: t.Politeness.Concurrency, Budget: budget,
		RootCAs: roots, AllowedOrigins: t.Origins(), Loopback: t.Loopback(),
		Slowed:    func(to evidence.Slowdown) { s.options.notify(Event{Kind: Slowed, Slowdown: &to}) },
		UserAgent: agent,
	})
}

// blindAgent is the User-Agent of a blind run: that of Go's own HTTP client, whose other headers and handshake the run has anyway.
const blindAgent = "Go-http-client/1.1"

// authorities returns the system's certificate authorities and those that the operator added.
func authorities(pem []byte) (*x509.CertPool, error) {
	if len(pem) == 0 {
		return nil, nil // the system's, loaded when a handshake needs them
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("load the system's certificate authorities: %w", err)
	}
	pool.AppendCertsFromPEM(pem)
	return pool, nil
}

// wantedLabels returns the labels of the exchanges that a partial run reads: those of its requirements, dependencies included, and those that it names
// itself. A complete run has none.
func wantedLabels(t target.Target) []evidence.Label {
	var labels []evidence.Label
	judging := requirement.NewJudge(requirement.Catalogue(), requirement.Read(&evidence.Log{}))
	for _, id := range requirement.IDs(t.Only) {
		labels = append(labels, judging.Reads(id)...)
	}
	if len(labels) > 0 {
		labels = append(labels, t.Labels...)
	}
	return labels
}

// annotator returns the function that judges answers by the schemas of a document.
func annotator(d evidence.Document) (func(evidence.Exchange, openapi.Operation) evidence.SchemaFindings, error) {
	judge, err := validate.NewJudge(d)
	if err != nil {
		return nil, err
	}
	return judge.Annotate, nil
}

// Redactor returns a redactor that knows the secrets of a target, for text that is not evidence, such as the stderr of the child.
func Redactor(t target.Target) *redact.Redactor {
	r := redact.New(nil)
	for _, s := range probe.Secrets(t) {
		r.Secret(s.Name, s.Value.Reveal())
	}
	return r
}
