package flow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
)

// NodeFault is a fault that the tour provokes in the built-in sandbox, to show what a client does about it.
type NodeFault struct {
	// Name is the value of the flag --fault.
	Name string
	// Title completes "When …".
	Title string
	// Lesson says what a client has to do.
	Lesson string
	// scenario is the argument of rin sandbox play that makes the sandbox fail, without the client and the path.
	scenario string
	// newToken is set if the client has to fetch a token and use it once before the fault.
	newToken bool
}

// NodeFaults returns all faults, in the order of the tour.
func NodeFaults() []NodeFault {
	return []NodeFault{
		{Name: "refused-token", Title: "a good token is refused", scenario: "401-once",
			Lesson: "Fetch one new token and repeat the request. A second 401 is an error for a person: do not ask for tokens in a loop."},
		{Name: "throttled", Title: "the node limits the rate of requests", scenario: "429-then-ok:times=1:wait=1s",
			Lesson: "429 is a request to slow down, not an error. Wait as long as Retry-After says, with all requests to this node, then go on where you were. Do not skip the page."},
		{Name: "unavailable", Title: "the node restarts", scenario: "503-twice:times=2:wait=1s",
			Lesson: "503 with Retry-After is a short outage, and the node says how long. Wait that long, repeat, and give up after a few attempts. Without Retry-After, wait longer each time."},
		{Name: "cut-answer", Title: "an answer ends too early", scenario: "connection-cut",
			Lesson: "Use nothing of an answer that is not complete: half a list looks like a short one. Check the length, parse the whole body, and repeat the request."},
		{Name: "expired-token", Title: "the token expires earlier than announced", scenario: "token-expires-early:times=1", newToken: true,
			Lesson: "expires_in is a promise that a restart of the server can break. Fetch a new token when a call is answered with 401, whatever your own clock says, and repeat the call."},
	}
}

const (
	// maxFaultCalls is the number of calls after which the client gives up.
	maxFaultCalls = 5
	// maxFaultWait bounds the time that an answer can make the client wait before a call.
	maxFaultWait = 30 * time.Second
)

// ShowFault makes the node fail, and does what a client has to do until the list is read. Only the built-in sandbox fails on demand; for any other node the result says so.
func (w *Walk) ShowFault(ctx context.Context, f NodeFault) Result {
	result := Result{Step: Faults}
	if _, known := w.list(); !known { // the fault must hit the call below, not this one
		if read := w.ListCalls(ctx, Query{}); !read.OK() {
			result.Exchanges, result.Trouble = read.Exchanges, read.Trouble
			return result
		}
	}
	list, _ := w.list()
	stop, err := w.play(f.scenario + ":path=list:client=" + w.Target().Credentials.ClientID)
	if err != nil {
		result.Trouble = localTrouble(fmt.Errorf("play %s: %w", f.scenario, err))
		return result
	}
	if stop == nil {
		result.Notes = []string{"This node does not fail on demand; only the built-in sandbox does. rin tour --step faults shows this step there."}
		return result
	}
	defer stop()
	client := faultClient{walk: w, result: &result, url: w.listRequest(list, w.bases(list)[0], Query{}, "").URL}
	if f.newToken {
		client.renew(ctx)
		client.call(ctx)
	}
	complete := false
	for n := 0; n < maxFaultCalls && result.OK() && !complete; n++ {
		complete = client.call(ctx)
	}
	if result.OK() && !complete {
		result.Trouble = &Trouble{"the client gave up after " + evidence.Count(maxFaultCalls, "call"), []string{"the fault lasts longer than the step"}, []string{"try again"}}
	}
	result.Notes = append(result.Notes, f.Lesson)
	return result
}

// play plays a scenario on the node of this walk until stop is called; stop is nil if the node is not the built-in sandbox.
func (w *Walk) play(scenario string) (stop func(), err error) {
	if w.options.Play == nil {
		return nil, nil
	}
	return w.options.Play(w.Target(), scenario)
}

// faultClient reads a list as a careful client does, and says in the notes of the result what it does and why.
type faultClient struct {
	walk    *Walk
	result  *Result
	url     string // of the list
	renewed bool   // after a 401
}

func (c *faultClient) note(format string, args ...any) {
	c.result.Notes = append(c.result.Notes, fmt.Sprintf(format, args...))
}

// renew fetches a token in place of the current one.
func (c *faultClient) renew(ctx context.Context) {
	fetched := c.walk.FetchToken(ctx)
	c.result.Exchanges = append(c.result.Exchanges, fetched.Exchanges...)
	c.result.Trouble = fetched.Trouble
}

// call asks for the list once, and reports whether the answer is complete. If not, call prepares the next attempt: it waits, or fetches a token.
func (c *faultClient) call(ctx context.Context) (complete bool) {
	token, ok := c.walk.bearer(ctx, c.result)
	if !ok {
		return false
	}
	// The request has no label, so that its answer is not evidence about the node, which fails on purpose.
	request := probe.Resource{URL: c.url}.Authorized(token)
	request.Words, request.Once = "a call while the node fails on purpose", true
	answer, err := c.walk.send(ctx, request)
	if err != nil {
		c.result.Trouble = localTrouble(err)
		return false
	}
	c.result.Exchanges = append(c.result.Exchanges, answer.Exchange)
	wait := time.Second
	switch {
	case answer.Failure() != nil, answer.Exchange.Response != nil && answer.Exchange.Response.BodyError != "":
		c.note("The connection ended before the answer was complete. The client uses nothing of it, waits a second, and asks again.")
	case answer.Status == http.StatusUnauthorized && !c.renewed:
		c.note("Status 401 %s The client fetches one new token and repeats the call.", challengeText(answer))
		c.renewed = true
		c.renew(ctx)
		return false
	case answer.Status == http.StatusTooManyRequests, answer.Status == http.StatusServiceUnavailable:
		wait = min(retryAfter(answer, c.walk.Now()), maxFaultWait)
		c.note("Status %d, Retry-After: %s. The client waits %s and repeats the call.", answer.Status, cmp.Or(answer.Header.Get("Retry-After"), "missing"), evidence.Duration(wait))
	case answer.OK() && json.Valid(bytes.TrimSpace(answer.Body)):
		c.note("Status %d with %s: nothing is lost.", answer.Status, evidence.Count(len(parseCalls(answer.Body)), "record"))
		return true
	case answer.OK():
		c.note("The JSON ends too early. The client uses nothing of it, waits a second, and asks again.")
	default:
		c.result.Trouble = c.walk.callTrouble(answer)
		return false
	}
	pause := c.walk.options.Pause
	if pause == nil {
		pause = recorder.Pause
	}
	if err := pause(ctx, wait); err != nil {
		c.result.Trouble = localTrouble(err)
	}
	return false
}

// challengeText quotes the error code of a challenge, as a part of a sentence.
func challengeText(a recorder.Answer) string {
	for _, value := range a.Header.Values("WWW-Authenticate") {
		if strings.Contains(value, `error="invalid_token"`) {
			return "invalid_token."
		}
	}
	return "without an error code."
}

// retryAfter reads Retry-After in both forms (RFC 9110 §10.2.3). Without a valid one, it returns a second.
func retryAfter(a recorder.Answer, now time.Time) time.Duration {
	value := a.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 {
		return time.Duration(min(seconds, int(maxFaultWait/time.Second))) * time.Second
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(0, date.Sub(now))
	}
	return time.Second
}
