package registry

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
)

// Method is a way to prove control of a node.
type Method string

// The methods.
const (
	// ByClient exchanges a client: an id that the registry draws is refused, the node's operator creates it, and it is accepted.
	ByClient Method = "client"
	// ByWellKnown looks for a drawn text at each origin of the entry, ByDNS in a TXT record of each host.
	ByWellKnown Method = "well-known"
	ByDNS       Method = "dns"
)

// Methods lists the methods.
func Methods() []Method { return []Method{ByClient, ByWellKnown, ByDNS} }

// Admission is how far the admission of a node came. Its file holds no secret.
type Admission struct {
	ID     string          `json:"id"`
	Entry  json.RawMessage `json:"entry"`
	Method Method          `json:"method"`
	// ClientID, Token and Answer were drawn for this admission.
	ClientID string `json:"clientId"`
	Token    string `json:"token"`
	Answer   string `json:"answer"`
	// Refused is when the token endpoint refused the drawn client, Proved when control was proved.
	Refused time.Time `json:"refused,omitzero"`
	Proved  time.Time `json:"proved,omitzero"`
	// Run is the run in which the node passed; nil before. Calls are those of the last delayed check. Checked is when the node passed it, Certified
	// when the admission was complete.
	Run       *AdmissionRun `json:"run,omitempty"`
	Calls     []DelayedCall `json:"calls,omitempty"`
	Checked   time.Time     `json:"looked,omitzero"`
	Certified time.Time     `json:"certified,omitzero"`

	lock *bbolt.DB
}

// Close lets other processes continue the admission.
func (a *Admission) Close() error { return a.lock.Close() }

// OpenAdmission continues the admission of an entry, or begins one. Until it is closed, other processes get [ErrBusy]: two at once would draw two clients, and
// write the files of two runs into one directory.
func (o Operator) OpenAdmission(entry []byte, m Method, random io.Reader) (*Admission, Entry, error) {
	e, err := EntryOf(entry)
	if err != nil {
		return nil, e, err
	}
	path := o.Dir.Admission(e.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, e, err
	}
	lock, err := openBolt(strings.TrimSuffix(path, ".json")+".lock", false) // it locks files on every platform
	if err != nil {
		return nil, e, fmt.Errorf("open the admission of %s: %w", report.Plain(e.ID), err)
	}
	a, err := o.readAdmission(entry, e, m, random)
	if err = errors.Join(err, removeUnfinished(filepath.Dir(path), "."+FileName(e.ID)+".")); err != nil {
		return nil, e, errors.Join(err, lock.Close())
	}
	a.lock = lock
	return a, e, nil
}

func (o Operator) readAdmission(entry []byte, e Entry, m Method, random io.Reader) (*Admission, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, bytes.TrimSpace(entry)); err != nil {
		return nil, err
	}
	path := o.Dir.Admission(e.ID)
	a := &Admission{ID: e.ID, Entry: compact.Bytes(), Method: m}
	switch text, err := os.ReadFile(path); {
	case err == nil:
		var before Admission
		if err := json.Unmarshal(text, &before); err != nil {
			return nil, fmt.Errorf("%s is damaged: %w (hint: remove it to begin again)", path, err)
		}
		var earlier bytes.Buffer // the file is indented
		if err := json.Compact(&earlier, before.Entry); err != nil {
			return nil, fmt.Errorf("%s is damaged: %w (hint: remove it to begin again)", path, err)
		}
		before.Entry = earlier.Bytes()
		if before.Certified.IsZero() && (!bytes.Equal(before.Entry, a.Entry) || before.Method != m && before.Proved.IsZero()) {
			return nil, fmt.Errorf("the admission of %s began with another entry or another way to prove control (hint: remove %s to begin again)", report.Plain(e.ID), path)
		}
		if before.Certified.IsZero() {
			return &before, nil
		}
	case !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	for _, text := range []*string{&a.ClientID, &a.Token, &a.Answer} {
		drawn := make([]byte, 16)
		if _, err := io.ReadFull(random, drawn); err != nil {
			return nil, err
		}
		*text = hex.EncodeToString(drawn)
	}
	a.ClientID = "registry-" + a.ClientID[:16]
	return a, o.saveAdmission(a)
}

func (o Operator) saveAdmission(a *Admission) error {
	text, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(o.Dir.Admission(a.ID), 0o600, append(text, '\n'))
}

// Prover asks a node for the proofs of control.
type Prover struct {
	// Token asks the token endpoint with client credentials; it returns the token and the status.
	Token func(ctx context.Context, at, id, secret string) (token string, status int, err error)
	// Get reads a URL with some header fields, without following redirects. It returns the first [MaxReply] bytes of the body.
	Get func(ctx context.Context, at string, header map[string]string) (status int, body []byte, err error)
	// TXT reads TXT records.
	TXT func(ctx context.Context, name string) ([]string, error)
}

// MaxReply bounds the bodies that a [Prover] reads, in bytes.
const MaxReply = 1 << 20

// ErrWaiting says that the admission waits for the node's operator.
var ErrWaiting = errors.New("waiting for the node's operator")

// ControlError is an answer of a node that keeps its operator from showing control. A request without an answer is not such an error: the registry's own network may be
// at fault.
type ControlError struct {
	Request string // which one
	Fault   string
}

// Error implements error.
func (e *ControlError) Error() string { return e.Fault }

// Prove asks for the proof of control. secret is that of the drawn client; zero until the node's operator has handed it over. The error wraps
// [ErrWaiting] while something is left to do for them, and a [*ControlError] if the node answered wrongly.
func (o Operator) Prove(ctx context.Context, a *Admission, e Entry, p Prover, secret target.Secret) error {
	if !a.Proved.IsZero() {
		return nil
	}
	var err error
	switch a.Method {
	case ByClient:
		err = o.proveByClient(ctx, a, e, p, secret)
	case ByWellKnown:
		for _, origin := range originsOf(e) {
			status, body, failed := p.Get(ctx, origin+wellKnownPath+a.Token, nil)
			if failed != nil || status != 200 || strings.TrimSpace(string(body)) != a.Answer {
				err = errors.Join(err, fmt.Errorf("%w: %s%s%s does not answer 200 with the text alone", ErrWaiting, origin, wellKnownPath, a.Token))
			}
		}
	case ByDNS:
		for _, origin := range originsOf(e) {
			name := dnsName(origin)
			records, failed := p.TXT(ctx, name)
			if failed != nil || !contains(records, a.Answer) {
				err = errors.Join(err, fmt.Errorf("%w: the TXT record %s does not hold the text", ErrWaiting, name))
			}
		}
	}
	if err != nil {
		return err
	}
	a.Proved = o.Now().UTC().Truncate(time.Second)
	return o.saveAdmission(a)
}

const wellKnownPath = "/.well-known/rin-challenge/"

func contains(records []string, text string) bool {
	for _, r := range records {
		if strings.TrimSpace(r) == text {
			return true
		}
	}
	return false
}

func dnsName(origin string) string {
	return "_rin-challenge." + evidence.HostOf(origin)
}

func originsOf(e Entry) []string {
	out := []string{evidence.OriginOf(e.TokenURL)}
	if info := evidence.OriginOf(e.InfoURL); info != out[0] {
		out = append(out, info)
	}
	return out
}

// proveByClient expects the node to refuse the drawn client before its operator creates it, and to accept it afterwards, at the token endpoint and at info.
func (o Operator) proveByClient(ctx context.Context, a *Admission, e Entry, p Prover, secret target.Secret) error {
	if a.Refused.IsZero() {
		// The secret is made up, and differs in each admission.
		sum := sha256.Sum256([]byte(a.Answer))
		token, status, err := p.Token(ctx, e.TokenURL, a.ClientID, hex.EncodeToString(sum[:16]))
		wrong := &ControlError{Request: "the token request of the client " + a.ClientID + ", which nobody had created"}
		switch {
		case err != nil:
			return fmt.Errorf("ask the token endpoint with the drawn client: %w", err)
		case token != "" || status < 400:
			wrong.Fault = fmt.Sprintf("expected the token endpoint to refuse the drawn client %s, which nobody has created, got status %d (hint: the node gives tokens to unknown clients)", a.ClientID, status)
			return wrong
		case status >= 500:
			wrong.Fault = fmt.Sprintf("expected the token endpoint to refuse the drawn client, got status %d (hint: is the node up?)", status)
			return wrong
		}
		a.Refused = o.Now().UTC().Truncate(time.Second)
		if err := o.saveAdmission(a); err != nil {
			return err
		}
	}
	if secret.IsZero() {
		return fmt.Errorf("%w: the client %s was refused, as it must be before it exists", ErrWaiting, a.ClientID)
	}
	token, status, err := p.Token(ctx, e.TokenURL, a.ClientID, secret.Reveal())
	switch {
	case err != nil:
		return fmt.Errorf("ask the token endpoint with the client that was created: %w", err)
	case token == "":
		return fmt.Errorf("%w: the token endpoint still refuses the client %s with its secret (status %d)", ErrWaiting, a.ClientID, status)
	}
	switch status, _, err = p.Get(ctx, e.InfoURL, map[string]string{"Authorization": "Bearer " + token}); {
	case err != nil:
		return fmt.Errorf("ask info with the token of the client that was created: %w", err)
	case status != 200:
		return fmt.Errorf("%w: the token endpoint accepts the client, but info does not accept its token (status %d)", ErrWaiting, status)
	}
	return nil
}

// CertifyAdmission certifies a node that proved control, in a blind run, and draws when the delayed check is due. If an earlier call certified the node
// within a day, it returns that report. suite is the version of rin.
func (o Operator) CertifyAdmission(ctx context.Context, a *Admission, e Entry, d Document, p NodePolicy, random io.Reader, suite string) (report.Report, error) {
	if run, ok := o.recentRun(a, suite); ok {
		return run.Report, nil
	}
	a.Run, a.Checked = nil, time.Time{}
	night := Night(string(NightOf(o.Now())) + admissionSuffix)
	dir := o.Dir.RunDir(e.ID, night)
	for i := 2; isFile(filepath.Join(dir, certificate.CertificateFile)); i++ { // an earlier admission of this night, whose certificate is about these files
		night = Night(fmt.Sprintf("%s-%d%s", NightOf(o.Now()), i, admissionSuffix))
		dir = o.Dir.RunDir(e.ID, night)
	}
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return report.Report{}, err
	}
	if p.Blind == nil { // the letter announces a blind run
		p.Blind = new(true)
	}
	t, err := o.Secrets.target(ctx, p, d, e)
	if err != nil {
		return report.Report{}, err
	}
	t.CACert, t.Operator = o.CACert, o.Policy.Operator
	started := o.Now().UTC()
	got, _, err := o.Certify(ctx, t, dir)
	if err != nil || got.Verdict.Decision != verdict.Certified {
		return got, err
	}
	seed, err := draw.NewSeed(random)
	if err != nil {
		return got, err
	}
	ended := o.Now().UTC()
	a.Run = &AdmissionRun{Night: night, Started: started, Ended: ended, Due: due(e, ended, o.Policy.DelayedCheck, seed.Source("due"))}
	return got, o.saveAdmission(a)
}

// Admit writes into the history that the node proved control, and passed its run and its delayed check. It may be repeated, until [Operator.CompleteAdmission].
func (o Operator) Admit(h *History, a *Admission, e Entry, d Document, suite string) error {
	run, ok := o.recentRun(a, suite)
	if !ok || a.Checked.IsZero() {
		return errors.New("the run of the admission or its delayed check is missing")
	}
	r := o.record(Record{}, run.Report, run.Log, d, e, NightOf(a.Run.Started), a.Run.Started)
	r.Seconds = a.Run.Ended.Sub(a.Run.Started).Seconds()
	return o.admit(h, a, e, r)
}

// admit changes the node by the record of the run of an admission.
func (o Operator) admit(h *History, a *Admission, e Entry, r Record) error {
	started := a.Run.Started
	return h.Change(e.ID, func(n *Node) {
		n.InfoURL, n.TokenURL, n.Name, n.CertifiedURLs = e.InfoURL, e.TokenURL, e.Name, []string{e.InfoURL, e.TokenURL}
		n.Control, n.Certified, n.CertifiedRun = a.Proved, started.Truncate(time.Second), a.Run.Night
		n.CertifiedProfile = r.Profile
		n.Bad, n.Missing = 0, ""
		var changes []Change
		if n.Requirements, changes = compareJudged(r.Requirements, n.Requirements, r.Night); n.Admission == nil || !n.Admission.Started.Equal(r.Started) {
			r.Changes = changes
		} else { // an earlier call was interrupted, and has compared them
			r.Changes = n.Admission.Changes
		}
		n.Tested, n.Good, n.TestedAt, n.GoodAt = max(n.Tested, r.Night), max(n.Good, r.Night), later(n.TestedAt, started), later(n.GoodAt, started)
		n.Outcome = r.Outcome
		o.Policy.settle(n, started, r.Night, o.Policy.For(n.ID).Withdrawn)
		n.Outcome.Status = n.Status
		n.Admission = new(n.Outcome)
	})
}

// CompleteAdmission ends an admission when all that follows from it is on the disk. The next admission of the node proves control again.
func (o Operator) CompleteAdmission(a *Admission) error {
	a.Certified = a.Run.Started.Truncate(time.Second)
	return o.saveAdmission(a)
}

// later returns the later of two times.
func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// admissionSuffix distinguishes the files of an admission from those of a night.
const admissionSuffix = "-admission"

// Operation is one operation of a JSON Patch (RFC 6902).
type Operation struct {
	Op    string          `json:"op"`
	Path  string          `json:"path"`
	Value json.RawMessage `json:"value"`
}

// Patch returns the JSON Patch that adds the entry to the registry document, or replaces the entry with the same id, and the changed document. The
// patch is empty if the document has the entry already.
func Patch(document []byte, a Admission) ([]Operation, Document, error) {
	entries, prefix, err := probe.Members(document)
	if err != nil {
		return nil, Document{}, err
	}
	patch := []Operation{{Op: "add", Path: prefix + "/-", Value: a.Entry}}
	for i, raw := range entries {
		var compact bytes.Buffer
		if json.Compact(&compact, raw) != nil {
			continue
		}
		var named struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(raw, &named) != nil || strings.TrimSpace(named.ID) != a.ID {
			continue
		}
		at := fmt.Sprintf("%s/%d", prefix, i)
		patch = []Operation{{"test", at, compact.Bytes()}, {"replace", at, a.Entry}}
		if bytes.Equal(compact.Bytes(), a.Entry) {
			patch = nil
		}
		entries[i] = a.Entry
		d, err := patched(entries)
		return patch, d, err
	}
	d, err := patched(append(entries, a.Entry))
	return patch, d, err
}

func patched(entries []json.RawMessage) (Document, error) {
	text, err := json.Marshal(map[string][]json.RawMessage{"member": entries})
	if err != nil {
		return Document{}, err
	}
	return ReadDocument(text)
}
