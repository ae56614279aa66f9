// Package flow walks from the registry of a network to the first funding call, one step at a time: it knows what each step is for, sends the
// requests, and explains the answers. It draws nothing: tui/screen and tui/plain show its results.
//
// Requests are sent and judged as in a certification: by the recorder, and by the requirements of the catalogue.
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

// Step is one step of the tour.
type Step int

// The steps in their order.
const (
	Node Step = iota
	Credentials
	Token
	Reading
	Info
	Specification
	Calls
	WhatIf
	Faults
	Certify
	TakeAway
)

// Guide introduces a step.
type Guide struct {
	Step Step
	// Name is the value of the flag --step.
	Name  string
	Title string
	// Why says in a few sentences what the step is for.
	Why string
	// Rule quotes the requirement of the network or the RFC behind the step; for the step certify it says how large the catalogue is.
	Rule string
}

// Guides lists the guides of all steps in their order.
func Guides() []Guide {
	return []Guide{
		{Node, "node", "Choose a node",
			"A node is an API with research information and its own authorization server. The registry of the network lists all nodes. Each entry has two URLs: one for access tokens, and one for the info resource. All other URLs follow from these two.",
			"NET-R6: the production registry records every node's token URL and info URL."},
		{Credentials, "credentials", "Check your credentials",
			"The operator of a node registers a client at its authorization server, on request, and gives you a client ID and a client secret. Anybody who has both can act as this client. Keep them where your programs find them and people do not, and never on a command line.",
			"NET-R16, NET-R19: creating a client yields Client ID, Client Secret and Service Account User ID; ID and secret are highly sensitive."},
		{Token, "token", "Ask for an access token",
			"The client sends its ID and its secret to the authorization server and receives an access token. The API never sees the secret, only the token, which is valid for a few minutes. This is the client credentials grant of OAuth 2.0.",
			"NET-R9: POST, application/x-www-form-urlencoded, with grant_type=client_credentials, client_id and client_secret (RFC 6749 §4.4)."},
		{Reading, "reading", "Read the token",
			"A client does not have to understand its token, only to send it. But many tokens are JSON Web Tokens (JWT), and their content explains why a node refuses them: who issued the token, for which API, and when it expires. The API checks the signature with the keys that the authorization server publishes.",
			"RFC 6749 §1.4: the string is usually opaque to the client. RFC 9068 says what a JWT access token holds."},
		{Info, "info", "Call the info resource",
			"This is the first call with the token. The info resource says which APIs the node offers, in which version, and at which URL. A client that asks here keeps working when the node moves an API.",
			"NET-R12, NET-R13: Authorization: Bearer <token>; GET {base_url}/<service_prefix>/info/v1/oauth/info/."},
		{Specification, "specification", "Read the specification",
			"The node describes its API in an OpenAPI document: operations, parameters, and the structure of the answers. You can generate a client from it. The next steps use this document, too.",
			"NET-R14: GET {base_url}/<service_prefix>/funding/v3/api-docs returns the specification as JSON."},
		{Calls, "calls", "Read funding calls",
			"This is what the access is for: funding calls, for your own tools. You can filter the list, read it page by page, and read each call by its ID. Texts come in German and in English.",
			"NET-R2: external clients fetch annotated calls. NET-R17: the account needs the role EXTERNAL_API_CLIENT and an affiliation ID."},
		{WhatIf, "what-if", "What if …",
			"A good client handles errors well. This step makes typical mistakes on purpose, and shows how the node answers and which rule says so. A node that answers differently has a fault.",
			"RFC 6750 §3: a refusal carries a challenge that says what is missing."},
		{Faults, "faults", "When things go wrong",
			"Nodes restart, limit the rate of requests, lose connections and forget tokens. A client that reads every night meets all of this. This step makes the built-in sandbox fail, and does what a good client does until no record is missing.",
			"RFC 9110 §10.2.3: Retry-After says how long the client ought to wait. RFC 6750 §3.1: after invalid_token, a client may request a new token and retry."},
		{Certify, "certify", "Certify the node",
			"The conformance suite sends every request that a client may rely on, and judges the answers. This takes a few seconds on this machine, and about a minute over a network, because the suite limits its rate of requests.",
			fmt.Sprintf("%d requirements; rin explain ID shows each of them with its source.", len(requirement.Catalogue()))},
		{TakeAway, "take-away", "Take it with you",
			"You can keep what you saw: clients in shell, Go, Python and TypeScript that read the whole list and handle its errors, every request as a curl command, and a recording (HAR) for the developer tools of your browser. The files hold no secrets: they read them from environment variables.",
			"NET-R19: ID and secret travel through a secure channel only."},
	}
}

// RuleLabel names what Rule is.
func (g Guide) RuleLabel() string {
	if g.Step == Certify {
		return "Catalogue"
	}
	return "Rule"
}

// Guide introduces the step.
func (s Step) Guide() Guide { return Guides()[s] }

// Options configure a walk.
type Options struct {
	// Target is what the operator named: a registry, URLs, credentials, or nothing.
	Target target.Target
	// Suite is the version of rin, for the User-Agent.
	Suite string
	// Clock and Random default to the time and the random source of the machine.
	Clock  func() time.Time
	Random io.Reader
	// Pause waits before a request is repeated; nil waits in real time.
	Pause func(context.Context, time.Duration) error
	// RestartCommand returns the command that restarts the node after the tour, if the node ends with the tour; else "". The function may be nil.
	RestartCommand func(t target.Target) string
	// Play makes the built-in sandbox fail by a scenario of rin sandbox play, until stop is called. For any other node it does nothing, and stop is nil. The
	// function may be nil.
	Play func(t target.Target, scenario string) (stop func(), err error)
	// Certify runs the conformance suite against a node and reports its progress to onEvent.
	Certify func(ctx context.Context, t target.Target, onEvent func(worker.Event)) (report.Report, *evidence.Log, error)
}

// Walk is the state of one tour. Only one method that returns a [Result] may run at a time; the other methods are safe to call meanwhile.
type Walk struct {
	options  Options
	redactor *redact.Redactor

	mu          sync.Mutex
	target      target.Target
	secrets     map[string]string // by fingerprint
	history     []sentExchange
	targetStart int // index of the first exchange with the current target
	token       *IssuedToken
	secondToken string // access token of the client without the role
	document    *nodeDocument
	accounts    map[string]Account // by token URL
	targets     int
	calls       []Call
	lastPage    bool
	report      *report.Report
	evidence    *evidence.Log // of the certification
}

// sentExchange is an exchange with the findings of the schema check.
type sentExchange struct {
	exchange evidence.Exchange
	findings []evidence.SchemaFindings
}

// IssuedToken is the access token of the walk.
type IssuedToken struct {
	probe.Token
	// Facts are the parts of the token that are safe to show.
	Facts evidence.TokenFacts
}

// Remaining returns how long the token is still valid; 0 if it has expired.
func (i IssuedToken) Remaining(now time.Time) time.Duration {
	return max(0, i.Obtained.Add(i.Life).Sub(now))
}

// New starts a walk.
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

// SetTarget sets the node and the client, and forgets what the walk learnt about the previous target.
func (w *Walk) SetTarget(t target.Target) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.target, w.token, w.secondToken, w.document, w.calls, w.report, w.evidence = t, nil, "", nil, nil, nil, nil
	w.targets++
	if t.TokenURL != "" {
		w.accounts[t.TokenURL] = Account{t.Credentials, t.Second, t.ExpiredToken}
	}
	w.targetStart = len(w.history)
	for _, s := range probe.Secrets(t) {
		w.conceal(s.Name, s.Value.Reveal())
	}
}

// conceal replaces a secret by a marker in everything that is shown. The caller holds w.mu.
func (w *Walk) conceal(name, value string) {
	if value != "" {
		w.secrets[w.redactor.Secret(name, value)] = value
	}
}

// Target returns the current target.
func (w *Walk) Target() target.Target {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.target
}

// TargetCount counts the calls of SetTarget. A result from an earlier count may belong to another node or client.
func (w *Walk) TargetCount() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.targets
}

// Now returns the time of the walk.
func (w *Walk) Now() time.Time { return w.options.Clock() }

// History returns all exchanges, the oldest first.
func (w *Walk) History() []evidence.Exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]evidence.Exchange, len(w.history))
	for i, s := range w.history {
		all[i] = s.exchange
	}
	return all
}

// Token returns the access token of the walk; ok is false while there is none.
func (w *Walk) Token() (token IssuedToken, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.token == nil {
		return IssuedToken{}, false
	}
	return *w.token, true
}

// Calls returns the items of the list that was read last.
func (w *Walk) Calls() []Call {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.calls)
}

// LastPage reports whether the links of the page that was read last show that it is the end of the list.
func (w *Walk) LastPage() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.lastPage
}

// Reveal replaces the markers in a text by the secrets of this walk.
func (w *Walk) Reveal(text string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return redact.Reveal(text, func(fingerprint string) (string, bool) {
		value, known := w.secrets[fingerprint]
		return value, known
	})
}

// maxHistory is the number of exchanges that are kept; the oldest are dropped first.
const maxHistory = 500

// maxBody is the size limit of an answer in bytes.
const maxBody = 16 << 20

// send sends one request under the rules of a certification and adds it to the history.
func (w *Walk) send(ctx context.Context, request recorder.Request) (recorder.Answer, error) {
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
		return recorder.Answer{}, fmt.Errorf("prepare to send: %w", err)
	}
	defer sender.Close()
	w.mu.Lock()
	for name, value := range request.Conceal {
		w.conceal(name, value)
	}
	w.mu.Unlock()
	answer := sender.Send(ctx, request)
	w.mu.Lock()
	defer w.mu.Unlock()
	if answer.Token != "" {
		w.conceal(request.Issues, answer.Token)
	}
	w.history = append(w.history, sentExchange{answer.Exchange, journal.Log().Findings})
	if over := len(w.history) - maxHistory; over > 0 {
		w.history, w.targetStart = w.history[over:], max(0, w.targetStart-over)
	}
	return answer, nil
}

// judge applies requirements to the latest answers. Requirements that do not apply are left out.
func (w *Walk) judge(ids ...requirement.ID) []Verdict {
	rows := make([]requirement.Requirement, 0, len(ids))
	for _, id := range ids {
		if r, found := requirement.Find(id); found {
			r.After = nil // a step judges its own answers only, whatever the requirement builds on
			rows = append(rows, r)
		}
	}
	judging := requirement.NewJudge(rows, requirement.Read(w.log()))
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

// log returns the latest exchange of each label as evidence.
func (w *Walk) log() *evidence.Log {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.target
	journal := evidence.NewJournal(nil)
	journal.Begin(evidence.Run{
		Schema: evidence.Schema, Suite: w.options.Suite, Started: w.options.Clock(), Profile: string(requirement.Full),
		TokenURL: t.TokenURL, InfoURL: t.InfoURL, SpecURL: t.SpecURL, BaseURL: t.BaseURL, Registry: t.Registry, NodeID: t.NodeID,
		ClientID: t.Credentials.ClientID, Loopback: t.Loopback(), Second: t.Second != nil, TokenInURL: true, ExpiredToken: true, // the step what-if sends these tokens
	})
	roles := evidence.Roles{ProbeTarget: evidence.Info}
	if w.document != nil {
		roles.List, roles.Detail, roles.Operations = w.document.roles()
	}
	journal.Roles(roles)
	latest := map[evidence.Label]int{}
	here := w.history[w.targetStart:]
	for i, s := range here {
		latest[s.exchange.Label] = i
	}
	for i, s := range here {
		if latest[s.exchange.Label] == i && s.exchange.Label != "" {
			journal.Plan(s.exchange.Label)
			journal.Add(s.exchange, s.findings...)
		}
	}
	if w.document != nil {
		journal.Document(&w.document.recorded)
	}
	journal.End(evidence.Ended{Complete: true})
	return journal.Log()
}
