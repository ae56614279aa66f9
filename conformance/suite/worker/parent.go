// Package worker runs a certification in a child process of the same binary.
//
// Everything a node sends is hostile, and a node that manages to exhaust the process that reads it must not take the verdict
// with it. So the child talks to the node and streams evidence to disk; the parent bounds its time and memory, ends its
// process group, and reports from the evidence that is there.
//
// The job goes to the child over stdin, so that no secret is on a command line or in an environment; events come back
// as NDJSON on the child's stdout. The child ends when its stdin does.
package worker

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/conformance/verdict"
)

// Options are those of one run, from the command to the probes. As JSON they are the job of the child; they hold secrets and are written
// to its stdin alone.
type Options struct {
	// Inputs go to the probes. A nil Clock or Random is the machine's.
	probe.Inputs
	// Evidence is the path of the evidence file. A run without a child needs none.
	Evidence string `json:"evidence"`
	// Memory is the limit of the child in bytes; 0 is [DefaultMemory].
	Memory int64 `json:"memory"`

	// Worker starts the child process that talks to the node. Nil gathers in this process, for a node that you trust.
	Worker *Command `json:"-"`
	// OnEvent is called with each event of the run; it may be nil.
	OnEvent func(Event) `json:"-"`
	// Baseline lists failures that the operator knows of, or is nil. A run with a baseline is never a certificate.
	Baseline *verdict.Baseline `json:"-"`
}

// notify calls OnEvent, if it is set.
func (o Options) notify(e Event) {
	if o.OnEvent != nil {
		o.OnEvent(e)
	}
}

// Event is one line from the child.
type Event struct {
	Kind EventKind `json:"kind"`
	// Done is how many of the Planned labels have ended (of a progress event). Budget is the largest number of requests (of a planned event).
	Done    int `json:"done,omitempty"`
	Planned int `json:"planned,omitempty"`
	Budget  int `json:"budget,omitempty"`
	// Politeness is how the budget will be spent (of a planned event).
	Politeness *target.Politeness `json:"politeness,omitempty"`
	Label      evidence.Label     `json:"label,omitempty"`
	// ID and Judgement are set for a judged requirement.
	ID        requirement.ID         `json:"id,omitempty"`
	Judgement *requirement.Judgement `json:"judgement,omitempty"`
	// Slowdown says how far the run slowed down because the node refused requests for load (slowed).
	Slowdown *evidence.Slowdown `json:"slowdown,omitempty"`
	// Profile is the profile that rin chose (chosen).
	Profile string `json:"profile,omitempty"`
	// Cause says why the child gave up (exhausted), why a profile was chosen, or what the run waits for.
	Cause string `json:"cause,omitempty"`
	// Wait is how long the run waits (waiting).
	Wait time.Duration `json:"waitNs,omitempty"`
	// Problem is the input that the operator must correct (rejected).
	Problem *target.Problem `json:"problem,omitempty"`
}

// EventKind says what happened.
type EventKind string

// The kinds of event. The plan comes before the first request; requirements that need no request may be judged before it.
const (
	Chosen    EventKind = "chosen"
	Planned   EventKind = "planned"
	Progress  EventKind = "progress"
	Judged    EventKind = "judged"
	Slowed    EventKind = "slowed"
	Waiting   EventKind = "waiting"
	Exhausted EventKind = "exhausted"
	// Rejected is the last event of a run whose target turned out to be wrong before the node was asked.
	Rejected EventKind = "rejected"
	Finished EventKind = "finished"
)

// isComplete reports whether an event has the fields that its kind needs.
func (e Event) isComplete() bool {
	switch e.Kind {
	case Planned:
		return e.Politeness != nil
	case Judged:
		return e.Judgement != nil
	case Slowed:
		return e.Slowdown != nil
	case Exhausted, Waiting:
		return e.Cause != ""
	case Rejected:
		return e.Problem != nil
	case Chosen:
		return e.Profile != ""
	case Progress, Finished:
		return true
	}
	return false
}

// Ending says how the child ended.
type Ending struct {
	// Finished reports whether the child sent its last event, and after it either ended with status 0 or lingered until it was killed.
	Finished bool
	// Cause is empty for a finished child; otherwise one sentence for the report.
	Cause string
	// Stderr is the redacted tail of what the child wrote to stderr.
	Stderr string
	Took   time.Duration
}

// Limits on what passes between parent and child.
const (
	maxJob       = 4 << 20 // a job may hold a registry and a CA file
	maxEventLine = 1 << 20
	maxStderr    = 64 << 10
)

// exitGrace is the time that a child has between its last event and its end. A child that hangs then has done its work all the same.
const exitGrace = time.Second

// Command starts the child: the path of a binary and the arguments that make it call [Serve].
type Command struct {
	Path string
	Args []string
	// Env is the child's whole environment; nothing is inherited.
	Env []string
}

// Run starts the child, hands it the job and reports each of its events, in order, until it ends. When ctx ends first, the child's
// process group is killed. The error is about this machine: a job that cannot be encoded, a child that cannot be started. How the child
// ended is data, because the evidence until then is still worth a report.
func Run(ctx context.Context, o Options) (Ending, error) {
	started := time.Now()
	input, err := encode(o)
	if err != nil {
		return Ending{}, err
	}
	cmd := exec.CommandContext(ctx, o.Worker.Path, o.Worker.Args...)
	cmd.Env = append([]string{}, o.Worker.Env...)
	useOwnGroup(cmd)
	cmd.WaitDelay = 2 * time.Second
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return Ending{}, fmt.Errorf("open the worker's stdin: %w", err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return Ending{}, fmt.Errorf("open the worker's stdout: %w", err)
	}
	stderr := &tail{limit: maxStderr}
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		return Ending{}, fmt.Errorf("start the worker: %w", err)
	}
	// stdin stays open: its end is what ends an orphaned child.
	handed := make(chan error, 1)
	go func() {
		_, err := stdin.Write(input)
		handed <- err // how the child ends says whether it read its job
	}()

	finished, cause := follow(stdout, o.notify)
	if cause != "" {
		killGroup(cmd) // a child that breaks the protocol is not waited for
	}
	_ = stdin.Close()
	late := time.AfterFunc(exitGrace, func() { killGroup(cmd) })
	waitErr := cmd.Wait()
	lingered := !late.Stop()
	<-handed

	end := Ending{Stderr: string(stderr.redacted(Redactor(o.Target).Bytes)), Took: time.Since(started)}
	switch {
	case finished && (lingered || cmd.ProcessState.Success()):
		end.Finished = true
	case ctx.Err() != nil:
		end.Cause = "stopped by rin: " + context.Cause(ctx).Error()
	case cause != "":
		end.Cause = cause
	case waitErr != nil:
		end.Cause = "the worker ended early: " + waitErr.Error()
	default:
		end.Cause = "the worker ended without finishing"
	}
	return end, nil
}

// encode writes the job as the one line that the child reads.
func encode(job Options) ([]byte, error) {
	line, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("encode the job for the worker: %w", err)
	}
	if len(line) >= maxJob {
		return nil, fmt.Errorf("the job for the worker has %d bytes, more than %d (hint: give a smaller --cacert file or registry)", len(line), maxJob)
	}
	return append(line, '\n'), nil
}

// follow reads events until the last one or the end of the stream. The cause is set when the child gave up or sent something else than an event.
func follow(stdout io.Reader, onEvent func(Event)) (finished bool, cause string) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 0, 64<<10), maxEventLine)
	for lines.Scan() {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) != nil || !e.isComplete() {
			return false, "the worker sent a line that is not an event"
		}
		if e.Kind == Exhausted {
			return false, e.Cause
		}
		onEvent(e)
		switch e.Kind {
		case Finished:
			return true, ""
		case Rejected:
			return false, e.Problem.Error()
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return false, fmt.Sprintf("the worker sent an event of more than %d bytes", maxEventLine)
	}
	return false, ""
}

// tail keeps the last bytes that were written to it. Only the command's copying goroutine writes, and Wait ends it.
type tail struct {
	limit int
	buf   bytes.Buffer
	cut   bool
}

// Write implements io.Writer. It keeps twice the limit, so that a secret at the cut is whole when the text is redacted.
func (t *tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - 2*t.limit; over > 0 {
		t.buf.Next(over)
		t.cut = true
	}
	return len(p), nil
}

// redacted returns the end of the text; if the beginning was cut, it starts with a whole line.
func (t *tail) redacted(redact func([]byte) []byte) []byte {
	text := redact(t.buf.Bytes())
	if !t.cut && len(text) <= t.limit {
		return text
	}
	text = text[max(0, len(text)-t.limit):]
	return text[bytes.IndexByte(text, '\n')+1:]
}
