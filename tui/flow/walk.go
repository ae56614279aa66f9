// Package flow is the way from the registry to the first funding call, one step at a time: what each step is for, what it sends, and what
// the answers mean. It has no screen: the terminal interface and the plain mode both show its scenes.
//
// Requests go out and are judged as in a certification: by the recorder, and by the requirements of the catalogue, on the evidence of
// this walk.
package flow

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
)

// Step is one part of the walk.
type Step int

// The steps, in their order.
const (
	Node Step = iota
	Credentials
	Token
	Reading
	Info
	Specification
	Calls
	WhatIf
	Certify
	TakeAway
)

// Guide is what a person is told of a step before anything is sent.
type Guide struct {
	Step Step
	// Name is its word on the command line.
	Name string
	// Title is its headline.
	Title string
	// Why says in a few sentences what the step is for.
	Why string
	// Rule is the sentence of the interface document, or of an RFC, that asks for it, with its place.
	Rule string
}

// Guides are the steps in their order.
func Guides() []Guide {
	return []Guide{
		{Node, "node", "Choose a node",
			"A node is an API with research information and an authorization server of its own. The registry of the network lists the nodes, each with two URLs: where tokens are issued, and where the info resource is. Everything else follows from these.",
			"NET-R6: the production registry records every node's token URL and info URL."},
		{Credentials, "credentials", "Present your client",
			"A client is registered at the node's authorization server, by its operator and on request. It is given a client ID and a client secret. Whoever has both can act in its name: they are kept where programs find them and people don't, and never on a command line.",
			"NET-R16, NET-R19: creating a client yields Client ID, Client Secret and Service Account User ID; ID and secret are highly sensitive."},
		{Token, "token", "Ask for an access token",
			"The client proves who it is to the authorization server, and receives an access token. The API never sees the secret: it sees the token, which is good for some minutes. This is OAuth 2.0 with the client credentials grant.",
			"NET-R9: POST, application/x-www-form-urlencoded, with grant_type=client_credentials, client_id and client_secret (RFC 6749 §4.4)."},
		{Reading, "reading", "Read the token",
			"To a client a token is a text to send back, no more. Many are JSON Web Tokens all the same, and a look inside explains a refusal: who issued it, for whom, until when. The API checks its signature with the keys that the authorization server publishes.",
			"RFC 6749 §1.4: the string is usually opaque to the client. RFC 9068 says what a JWT access token holds."},
		{Info, "info", "Call the info resource",
			"The first call with the token. Info says which APIs the node offers, in which version, and where. A client that asks here goes on working when a node moves something.",
			"NET-R12, NET-R13: Authorization: Bearer <token>; GET {base_url}/<service_prefix>/info/v1/oauth/info/."},
		{Specification, "specification", "Read the specification",
			"The node describes its API in an OpenAPI document: operations, parameters, the shape of the answers. Clients can be generated from it, and everything after this step is asked as it says.",
			"NET-R14: GET {base_url}/<service_prefix>/funding/v3/api-docs returns the specification as JSON."},
		{Calls, "calls", "Read funding calls",
			"What it was all for: the funding calls, for your own tools. The list can be filtered and read page by page, and each item has a page of its own. Texts come in German and in English.",
			"NET-R2: external clients fetch annotated calls. NET-R17: the account needs the role EXTERNAL_API_CLIENT and an affiliation ID."},
		{WhatIf, "what-if", "What if …",
			"A client shows its quality when something goes wrong. Here each mistake is made on purpose, so that you see what a node answers to it, and by which rule. A node that answers otherwise has a fault.",
			"RFC 6750 §3: a refusal carries a challenge that says what is missing."},
		{Certify, "certify", "Certify the node",
			"The whole conformance suite asks the node everything that a client may rely on, and judges the answers. It takes some seconds on this machine and about a minute over a network, at the pace of a polite guest.",
			"The catalogue has 130 requirements; rin explain ID tells each with its source."},
		{TakeAway, "take-away", "Take it with you",
			"Everything that was sent on this walk, as a shell script, as curl lines, as code in Go and Python, and as a recording (HAR) for your browser's tools. Secrets are not in it: it reads them from your environment.",
			"NET-R19: ID and secret travel through a secure channel only."},
	}
}

// Guide is what is told of the step.
func (s Step) Guide() Guide { return Guides()[s] }

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
	Certify func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *evidence.Log, error)
}

// Walk is one person's way. Its actions may be called from several goroutines, one at a time; what they learn is read at any time.
type Walk struct {
	options  Options
	redactor *redact.Redactor

	mu      sync.Mutex
	target  target.Target
	secrets map[string]string // by fingerprint
	history []sentExchange
	since   int // where in the history the present target begins
	token   *IssuedToken
	second  string // the access token of the client without the role
	node    *nodeDocument
	// accounts are what was presented so far, by token URL; aims counts the targets.
	accounts map[string]Account
	aims     int
	calls    []Call
	report   *report.Report
	log      *evidence.Log
}

// sentExchange is an exchange with what the document says of it.
type sentExchange struct {
	exchange evidence.Exchange
	findings []evidence.SchemaFindings
}

// IssuedToken is the access token of the walk.
type IssuedToken struct {
	probe.Token
	// Facts are what may be shown of it.
	Facts evidence.TokenFacts
}

// Left is how long the token is good for; 0 for one that has expired.
func (i IssuedToken) Remaining(now time.Time) time.Duration {
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
	w := &Walk{options: o, redactor: redact.New(salt), secrets: map[string]string{}, accounts: map[string]Account{}}
	w.SetTarget(o.Target)
	return w, nil
}

// Aim gives the walk another target, and forgets what was learnt from the one before.
func (w *Walk) SetTarget(t target.Target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target, w.token, w.second, w.node, w.calls, w.report, w.log = t, nil, "", nil, nil, nil, nil
	w.aims++
	if t.TokenURL != "" {
		w.accounts[t.TokenURL] = Account{t.Credentials, t.Second, t.ExpiredToken}
	}
	w.since = len(w.history)
	for _, s := range probe.Secrets(t) {
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
func (w *Walk) TargetCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.aims
}

// Now is the time of the walk.
func (w *Walk) Now() time.Time { return w.options.Clock() }

// History lists everything that was sent, oldest first.
func (w *Walk) History() []evidence.Exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]evidence.Exchange, len(w.history))
	for i, s := range w.history {
		all[i] = s.exchange
	}
	return all
}

// IssuedToken is the access token of the walk; ok is false while there is none.
func (w *Walk) Token() (token IssuedToken, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.token == nil {
		return IssuedToken{}, false
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
	return redact.Reveal(text, func(fingerprint string) (string, bool) {
		value, known := w.secrets[fingerprint]
		return value, known
	})
}

// maxHistory bounds the exchanges that are kept; the oldest go first.
const maxHistory = 500

// maxBody bounds a body, in bytes: what a person reads is far smaller.
const maxBody = 16 << 20

// send sends one request under the rules of a certification and keeps it in the history.
func (w *Walk) send(ctx context.Context, ask recorder.Request) (recorder.Answer, error) {
	t := w.Target().Defaults()
	var roots *x509.CertPool
	if len(t.CACert) > 0 {
		var err error
		if roots, err = x509.SystemCertPool(); err != nil {
			return recorder.Answer{}, fmt.Errorf("load the system's certificate authorities: %w", err)
		}
		roots.AppendCertsFromPEM(t.CACert)
	}
	journal := evidence.NewJournal(nil)
	sender, err := recorder.New(recorder.Options{
		Journal: journal, Redactor: w.redactor, Clock: w.options.Clock, Sleep: w.options.Pause,
		Timeout: t.Politeness.Timeout, ReadLimit: maxBody, RootCAs: roots,
		AllowedOrigins: t.Origins(), Loopback: t.Loopback(), UserAgent: "rin-tour/" + w.options.Suite,
	})
	if err != nil {
		return recorder.Answer{}, fmt.Errorf("open the wire: %w", err)
	}
	defer sender.Close()
	w.mu.Lock()
	for name, value := range ask.Conceal {
		w.conceal(name, value)
	}
	w.mu.Unlock()
	answer := sender.Send(ctx, ask)
	w.mu.Lock()
	defer w.mu.Unlock()
	if answer.Token != "" {
		w.conceal(ask.Issues, answer.Token)
	}
	w.history = append(w.history, sentExchange{answer.Exchange, journal.Log().Findings})
	if over := len(w.history) - maxHistory; over > 0 {
		w.history, w.since = w.history[over:], max(0, w.since-over)
	}
	return answer, nil
}

// judge judges the latest answers of the walk by some requirements. Those that don't apply to what was seen are left out.
func (w *Walk) judge(ids ...requirement.ID) []Verdict {
	rows := make([]requirement.Requirement, 0, len(ids))
	for _, id := range ids {
		if r, found := requirement.Find(id); found {
			r.After = nil // a walk looks at one thing at a time, and has not asked for what others build on
			rows = append(rows, r)
		}
	}
	judging := requirement.NewJudge(rows, requirement.Read(w.evidence()))
	var out []Verdict
	for _, r := range rows {
		j := judging.Judge(r.ID)
		if j.Outcome == requirement.NotApplicable {
			continue
		}
		v := Verdict{ID: r.ID, Title: r.Title, Outcome: j.Outcome, Reason: j.Reason, Expected: j.Expected, Got: j.Got, Source: r.Source.Text(), Quote: r.Quote}
		if j.Outcome != requirement.Pass {
			v.Fix = cmp.Or(j.Hint, r.Fix)
		}
		out = append(out, v)
	}
	return out
}

// evidence is the walk as a log: of each label the latest exchange.
func (w *Walk) evidence() *evidence.Log {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.target
	journal := evidence.NewJournal(nil)
	journal.Begin(evidence.Run{
		Schema: evidence.Schema, Suite: w.options.Suite, Started: w.options.Clock(), Profile: string(requirement.Full),
		TokenURL: t.TokenURL, InfoURL: t.InfoURL, SpecURL: t.SpecURL, BaseURL: t.BaseURL, Registry: t.Registry, NodeID: t.NodeID,
		ClientID: t.Credentials.ClientID, Loopback: t.Loopback(), Second: t.Second != nil, TokenInURL: true, ExpiredToken: true,
	})
	roles := evidence.Roles{ProbeTarget: evidence.Info}
	if w.node != nil {
		roles.List, roles.Detail, roles.Operations = w.node.roles()
	}
	journal.Roles(roles)
	latest := map[evidence.Label]int{}
	here := w.history[w.since:]
	for i, s := range here {
		latest[s.exchange.Label] = i
	}
	for i, s := range here {
		if latest[s.exchange.Label] == i && s.exchange.Label != "" {
			journal.Plan(s.exchange.Label)
			journal.Add(s.exchange, s.findings...)
		}
	}
	if w.node != nil {
		journal.Document(&w.node.guarded)
	}
	journal.End(evidence.Ended{Complete: true})
	return journal.Log()
}
