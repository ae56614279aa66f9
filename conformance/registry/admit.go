package registry

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/verdict"
)

// Admission is how far the admission of a node came. Its file holds no secret.
type Admission struct {
	ID     string          `json:"id"`
	Entry  json.RawMessage `json:"entry"`
	Method Method          `json:"method"`
	// Began is when the admission began; zero in files of older versions.
	Began time.Time `json:"began,omitzero"`
	// ClientID, Token and Answer were drawn for this admission.
	ClientID string `json:"clientId"`
	Token    string `json:"token"`
	Answer   string `json:"answer"`
	// Refused is when the token endpoint refused the drawn client, Proved when control was proved.
	Refused time.Time `json:"refused,omitzero"`
	Proved  time.Time `json:"proved,omitzero"`
	// Tried is the last run; nil before the first. Run is the run in which the node passed; nil until it passes. Calls are the calls of the last delayed
	// check. Checked is when the node passed that check, Certified when the admission was complete.
	Tried     *AdmissionRun `json:"tried,omitempty"`
	Run       *AdmissionRun `json:"run,omitempty"`
	Calls     []DelayedCall `json:"calls,omitempty"`
	Checked   time.Time     `json:"looked,omitzero"`
	Certified time.Time     `json:"certified,omitzero"`

	lock *bbolt.DB
	// continued means that an earlier call began the admission. admitted is when the node was admitted before; zero if never.
	continued bool
	admitted  time.Time
}

// History says what earlier calls did for the node; "" if there was none.
func (a *Admission) History() string {
	switch {
	case a.continued && a.Began.IsZero():
		return "continues the admission that an earlier call began"
	case a.continued:
		return "continues the admission that began on " + minuteOf(a.Began, "-")
	case !a.admitted.IsZero():
		return "begins a new admission, which proves control again: the node was admitted on " + a.admitted.Format(time.DateOnly) + ". Its certificate stays until the new one"
	}
	return ""
}

// Close lets other processes continue the admission.
func (a *Admission) Close() error { return a.lock.Close() }

// OpenAdmission continues the admission of an entry, or begins one. Until the admission is closed, other processes get [ErrBusy]: two processes would draw
// two clients, and write the files of two runs into one directory.
func (o Operator) OpenAdmission(entry []byte, m Method, random io.Reader) (*Admission, Entry, error) {
	e, err := EntryOf(entry)
	if err != nil {
		return nil, e, err
	}
	path := o.Dir.Admission(e.ID)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, e, err
	}
	lock, err := openBolt(strings.TrimSuffix(path, ".json")+".lock", false) // bbolt locks files on every platform
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
	a := &Admission{ID: e.ID, Entry: compact.Bytes(), Method: m, Began: o.Now().UTC().Truncate(time.Second)}
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
			before.continued = true
			return &before, nil
		}
		a.admitted = before.Certified
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

// CertifyAdmission certifies a node that proved control, in a blind run, and draws when the delayed check is due. If an earlier call certified the node less
// than a day ago, it returns the report of that call. suite is the version of rin.
func (o Operator) CertifyAdmission(ctx context.Context, a *Admission, e Entry, d Document, p NodePolicy, random io.Reader, suite string) (report.Report, error) {
	if run, ok := o.recentRun(a, suite); ok {
		return run.Report, nil
	}
	a.Run, a.Calls, a.Checked = nil, nil, time.Time{}
	night := Night(string(NightOf(o.Now())) + admissionSuffix)
	dir := o.Dir.RunDir(e.ID, night)
	for i := 2; isFile(filepath.Join(dir, certificate.CertificateFile)); i++ { // an earlier admission of this night, whose certificate needs these files
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
	if err != nil {
		return got, err
	}
	a.Tried = &AdmissionRun{Night: night, Started: started, Ended: o.Now().UTC()}
	if got.Verdict.Decision != verdict.Certified {
		return got, o.saveAdmission(a)
	}
	seed, err := draw.NewSeed(random)
	if err != nil {
		return got, err
	}
	ended := o.Now().UTC()
	a.Run = &AdmissionRun{Night: night, Started: started, Ended: ended, Due: due(e, ended, o.Policy.DelayedCheck, seed.Source("due"))}
	return got, o.saveAdmission(a)
}

// WhyAgain says why a node that was tested for its admission is tested again; "" if it was not tested, or if its run still counts.
func (o Operator) WhyAgain(a *Admission, suite string) string {
	if _, counts := o.recentRun(a, suite); counts {
		return ""
	}
	at := func(r *AdmissionRun) string { return minuteOf(r.Started, "-") }
	switch failed := slices.ContainsFunc(a.Calls, func(c DelayedCall) bool { return c.Wrong != "" }); {
	case a.Run != nil && o.Now().Sub(a.Run.Started) > maxRunAge:
		return fmt.Sprintf("the run of %s is older than %s", at(a.Run), evidence.Duration(maxRunAge))
	case a.Run != nil:
		return fmt.Sprintf("the files of the run of %s cannot be read", at(a.Run))
	case a.Tried != nil && failed:
		return fmt.Sprintf("the node passed in the run of %s, and not in its delayed check", at(a.Tried))
	case a.Tried != nil:
		return fmt.Sprintf("the node did not pass in the run of %s", at(a.Tried))
	}
	return ""
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
		n.Requirements, changes = compareJudged(r.Requirements, n.Requirements, r.Night)
		if n.Admission == nil || !n.Admission.Started.Equal(r.Started) {
			r.Changes = changes
		} else { // an earlier call, which was interrupted, has compared the outcomes
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
		d, err := documentOf(entries)
		return patch, d, err
	}
	d, err := documentOf(append(entries, a.Entry))
	return patch, d, err
}

// documentOf returns a registry document with the entries.
func documentOf(entries []json.RawMessage) (Document, error) {
	text, err := json.Marshal(map[string][]json.RawMessage{"member": entries})
	if err != nil {
		return Document{}, err
	}
	return ReadDocument(text)
}
