package registry

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/draw"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/evidence/redact"
	"github.com/rin-network/rin/conformance/report"
)

// This file makes the delayed check of an admission and of a night: four requests some minutes after the run, one for a new token and three calls, with
// nothing by which the node could connect them to the run. They find a node that behaves well only while it is tested.

// defaultDelay is how long after the run the delayed check is due, unless the policy says another time or the node is on loopback.
const defaultDelay = 10 * time.Minute

// maxRunAge is the age up to which an admission continues with its run. With an older run the admission begins again.
const maxRunAge = day

// AdmissionRun is a run of a node for its admission.
type AdmissionRun struct {
	Night   Night     `json:"night"`
	Started time.Time `json:"started"`
	Ended   time.Time `json:"ended"`
	// Due is when the delayed check may begin. It is drawn, so that the node cannot foresee it.
	Due time.Time `json:"due,omitzero"`
}

// DelayedCall is one call of a delayed check. Wrong says what is wrong with the answer; it is empty for a right answer.
type DelayedCall struct {
	Credential string    `json:"credential"`
	URL        string    `json:"url"`
	At         time.Time `json:"at"`
	Status     int       `json:"status"`
	Wrong      string    `json:"wrong,omitempty"`
}

// The credentials of the calls.
const (
	noCredential     = "without a credential"
	randomCredential = "with a random credential"
	goodCredential   = "with a good credential"
)

// ErrTwoFaced says that the node behaves differently some time after its run.
var ErrTwoFaced = errors.New("the node answers differently when it is not tested")

// due draws when the delayed check of a node may begin after a run. delay is that of the policy; nil for the default.
func due(e Entry, ended time.Time, delay *time.Duration, s draw.Source) time.Time {
	after := defaultDelay
	switch {
	case delay != nil:
		after = *delay
	case onLoopback(e.TokenURL) && onLoopback(e.InfoURL):
		after = 0 // rin does not wait on loopback
	}
	percent := time.Duration(s.Below(51)) // the check comes later than the delay by up to half of the delay
	return ended.Add(after + after*percent/100).UTC().Truncate(time.Second)
}

// CheckAdmission makes the delayed check of an admission. It returns [ErrTwoFaced] if an answer contradicts the run, and [ErrWaiting] if the node did not answer.
func (o Operator) CheckAdmission(ctx context.Context, a *Admission, e Entry, p Prover, policy NodePolicy, random io.Reader) error {
	if a.Run == nil || o.Now().Before(a.Run.Due) {
		return errors.New("the delayed check is not due yet")
	}
	protected, err := o.protected(e, a.Run.Night)
	if err != nil {
		return err
	}
	calls, err := o.delayedCalls(ctx, e, protected, p, policy, random)
	if err != nil {
		return err
	}
	a.Calls = calls
	if wrong := contradiction(calls, a.Run.Ended); wrong != nil {
		refused := *a
		refused.Run = nil // the next admission begins with a new run
		return errors.Join(wrong, o.saveAdmission(&refused))
	}
	a.Checked = o.Now().UTC().Truncate(time.Second)
	return o.saveAdmission(a)
}

// contradiction returns [ErrTwoFaced] with each call whose answer contradicts the run, and the time since the run ended; nil if no answer does.
func contradiction(calls []DelayedCall, ended time.Time) (wrong error) {
	for _, c := range calls {
		if c.Wrong != "" {
			wrong = errors.Join(wrong, fmt.Errorf("%w: %s, %s after the run, %s: %s", ErrTwoFaced, report.Plain(c.URL), evidence.Duration(c.At.Sub(ended).Round(time.Second)), c.Credential, c.Wrong))
		}
	}
	return wrong
}

// protected reads from the evidence of the run in a night which URLs are protected.
func (o Operator) protected(e Entry, night Night) ([]string, error) {
	log, err := readEvidence(filepath.Join(o.Dir.RunDir(e.ID, night), certificate.EvidenceFile))
	if err != nil {
		return nil, fmt.Errorf("read the evidence of the run: %w", err)
	}
	return protectedURLs(log, e), nil
}

// delayedCalls makes the calls of a delayed check: it gets a new token, draws one of the protected URLs, and reads it over new connections.
// An error means that the calls decide nothing; it wraps [ErrWaiting] if the node did not answer.
func (o Operator) delayedCalls(ctx context.Context, e Entry, protected []string, p Prover, policy NodePolicy, random io.Reader) ([]DelayedCall, error) {
	seed, err := draw.NewSeed(random)
	if err != nil {
		return nil, err
	}
	s := seed.Source("delayed check")
	client, err := o.Secrets.client(ctx, e.ID, policy.Client)
	if err != nil || client == nil {
		return nil, errors.Join(err, errors.New("the delayed check needs the client of the run"))
	}
	at := draw.One(s, protected...)
	token, status, err := p.Token(ctx, e.TokenURL, client.ClientID, client.ClientSecret.Reveal())
	switch {
	case err != nil || status >= 500 || status == 429:
		return nil, unansweredError(e.TokenURL, status, err)
	case token == "":
		return []DelayedCall{{goodCredential, e.TokenURL, o.Now().UTC(), status, "expected a token, got none"}}, nil
	}
	return o.threeCalls(ctx, at, token, p, s)
}

// threeCalls reads a URL without a credential, with a random one and with the good one, in a drawn order.
func (o Operator) threeCalls(ctx context.Context, at, token string, p Prover, s draw.Source) (calls []DelayedCall, err error) {
	credentials := map[string]string{noCredential: "", randomCredential: s.Like(token), goodCredential: token}
	order := []string{noCredential, randomCredential, goodCredential}
	draw.Shuffle(s, order)
	for _, name := range order {
		header := map[string]string{
			"Accept": draw.One(s, "application/json", "*/*", "application/json, */*;q=0.8"), "Accept-Language": draw.One(s, "en", "de", "de-AT,de;q=0.9,en;q=0.7", "fr;q=0.9, en;q=0.5"),
		}
		if credentials[name] != "" {
			header["Authorization"] = "Bearer " + credentials[name]
		}
		status, body, err := p.Get(ctx, at, header)
		if err != nil || status >= 500 || status == 429 {
			return nil, unansweredError(at, status, err)
		}
		c := DelayedCall{Credential: name, URL: at, At: o.Now().UTC(), Status: status}
		switch {
		case name != goodCredential && status != 401:
			c.Wrong = fmt.Sprintf("expected 401, got %d", status)
		case name == goodCredential && status != 200:
			c.Wrong = fmt.Sprintf("expected 200, got %d", status)
		case name == goodCredential && !isJSON(body):
			c.Wrong = "expected JSON, got something else"
		}
		calls = append(calls, c)
	}
	return calls, nil
}

// isJSON reports whether a body is JSON. A body that was cut at [MaxReply] is judged by its beginning.
func isJSON(body []byte) bool {
	var syntax *json.SyntaxError
	err := json.Unmarshal(body, new(json.RawMessage))
	cut := len(body) >= MaxReply && errors.As(err, &syntax) && syntax.Offset >= int64(len(body))
	return err == nil || cut
}

// unansweredError returns the error of a call that decides nothing.
func unansweredError(at string, status int, err error) error {
	if err != nil {
		return fmt.Errorf("%w: %s did not answer the delayed check: %w", ErrWaiting, report.Plain(at), err)
	}
	return fmt.Errorf("%w: %s answered the delayed check with status %d", ErrWaiting, report.Plain(at), status)
}

// protectedURLs lists the URLs at the node's own origins that the run read with a token, and was refused without one.
func protectedURLs(log *evidence.Log, e Entry) []string {
	origins := originsOf(e)
	out := []string{e.InfoURL}
	for _, resource := range log.Roles.Operations {
		good, _ := log.Get(resource.With(evidence.OK))
		anonymous, _ := log.Get(resource.With(evidence.NoToken))
		at := good.Request.URL
		if good.Status() == 200 && anonymous.Status() == 401 && slices.Contains(origins, evidence.OriginOf(at)) && !redact.HasMarker([]byte(at)) {
			out = append(out, at)
		}
	}
	return out
}

// recentRun returns the run of the admission. It returns false if there was none, or if it is too old.
func (o Operator) recentRun(a *Admission, suite string) (certificate.Run, bool) {
	if a.Run == nil || o.Now().Sub(a.Run.Started) > maxRunAge || o.Now().Before(a.Run.Started) {
		return certificate.Run{}, false
	}
	run, err := certificate.ReadRun(o.Dir.RunDir(a.ID, a.Run.Night), suite)
	return run, err == nil
}

func onLoopback(u string) bool { return evidence.LoopbackHost(evidence.HostOf(u)) }
