package worker

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"
)

// Limits on what passes between parent and child.
const (
	maxJob       = 4 << 20 // a job may hold a registry and a CA file
	maxEventLine = 1 << 20
	maxStderr    = 64 << 10
)

// leaving is what a child has between its last event and its end. One that hangs then has its work behind it all the same.
const leaving = time.Second

// Command starts the child: the path of a binary and the arguments that make it call [Serve].
type Command struct {
	Path string
	Args []string
	// Env is the child's whole environment; nothing is inherited.
	Env []string
}

// Run starts the child, hands it the job and calls onEvent for each of its events, in order, until it ends. When ctx ends
// first, the child's process group is killed. The error is about this machine: a job that can't be encoded, a child that can't be
// started. How the child ended is data, because the evidence until then is still worth a report. redact is applied to what the child
// wrote to stderr.
func Run(ctx context.Context, c Command, job Job, redact func([]byte) []byte, onEvent func(Event)) (Ending, error) {
	started := time.Now()
	input, err := encode(job)
	if err != nil {
		return Ending{}, err
	}
	cmd := exec.CommandContext(ctx, c.Path, c.Args...)
	cmd.Env = append([]string{}, c.Env...)
	ownGroup(cmd)
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
		handed <- err // a child that ends without reading its job is told by how it ends
	}()

	finished, cause := follow(stdout, onEvent)
	if cause != "" {
		stop(cmd) // a child that breaks the protocol is not waited for
	}
	_ = stdin.Close()
	late := time.AfterFunc(leaving, func() { stop(cmd) })
	waited := cmd.Wait()
	lingered := !late.Stop()
	<-handed

	end := Ending{Stderr: string(stderr.redacted(redact)), Took: time.Since(started)}
	switch {
	case finished && (lingered || cmd.ProcessState.Success()):
		end.Finished = true
	case ctx.Err() != nil:
		end.Cause = "stopped by rin: " + context.Cause(ctx).Error()
	case cause != "":
		end.Cause = cause
	case waited != nil:
		end.Cause = "the worker ended early: " + waited.Error()
	default:
		end.Cause = "the worker ended without finishing"
	}
	return end, nil
}

// encode writes the job as the one line that the child reads.
func encode(job Job) ([]byte, error) {
	line, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("encode the job for the worker: %w", err)
	}
	if len(line) >= maxJob {
		return nil, fmt.Errorf("the job for the worker has %d bytes, more than %d (hint: give a smaller --cacert file or registry)", len(line), maxJob)
	}
	return append(line, '\n'), nil
}

// follow reads events until the last one or the end of the stream. The cause is set when the child gave up or sent something that is no event.
func follow(stdout io.Reader, onEvent func(Event)) (finished bool, cause string) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 0, 64<<10), maxEventLine)
	for lines.Scan() {
		var e Event
		if json.Unmarshal(lines.Bytes(), &e) != nil || !e.whole() {
			return false, "the worker sent a line that is no event"
		}
		if e.Kind == Exhausted {
			return false, e.Cause
		}
		onEvent(e)
		if e.Kind == Finished {
			return true, ""
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return false, fmt.Sprintf("the worker sent an event of more than %d bytes", maxEventLine)
	}
	return false, ""
}
