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
)

// Limits on what the parent accepts from its child.
const (
	maxEventLine = 1 << 20
	maxStderr    = 64 << 10
)

// Command starts the child: the path of a binary and the arguments that make it call [Serve].
type Command struct {
	Path string
	Args []string
	// Env is the child's whole environment; nothing is inherited.
	Env []string
}

// Run starts the child, hands it the job and calls onEvent for each of its events, in order, until it ends. When ctx ends
// first, the child's process group is killed. The error is about starting and handing over only; how the child
// ended is data, because the evidence until then is still worth a report.
func Run(ctx context.Context, c Command, job Job, redact func([]byte) []byte, onEvent func(Event)) (Ending, error) {
	started := time.Now()
	input, err := json.Marshal(job)
	if err != nil {
		return Ending{}, fmt.Errorf("encode the job for the worker: %w", err)
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
	if _, err := stdin.Write(append(input, '\n')); err != nil {
		stop(cmd)
		_ = cmd.Wait()
		return Ending{}, fmt.Errorf("hand the job to the worker: %w", err)
	}

	finished, cause := follow(stdout, onEvent)
	if cause != "" {
		stop(cmd) // a child that breaks the protocol is not waited for
	}
	_ = stdin.Close()
	waited := cmd.Wait()
	end := Ending{Stderr: string(redact(stderr.Bytes())), Took: time.Since(started)}
	switch {
	case ctx.Err() != nil:
		end.Cause = "stopped by rin: " + context.Cause(ctx).Error()
	case cause != "":
		end.Cause = cause
	case waited != nil:
		end.Cause = "the worker ended early: " + waited.Error()
	case !finished:
		end.Cause = "the worker ended without finishing"
	default:
		end.Finished = true
	}
	return end, nil
}

// follow reads events until the stream ends. The cause is set when the child gave up or sent something that is no event.
func follow(stdout io.Reader, onEvent func(Event)) (finished bool, cause string) {
	lines := bufio.NewScanner(stdout)
	lines.Buffer(make([]byte, 0, 64<<10), maxEventLine)
	for lines.Scan() {
		var e Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			return false, "the worker sent a line that is no event"
		}
		switch e.Kind {
		case Finished:
			finished = true
		case Exhausted:
			return false, e.Cause
		}
		onEvent(e)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return false, fmt.Sprintf("the worker sent an event of more than %d bytes", maxEventLine)
	}
	return finished, ""
}

// tail keeps the last bytes that were written to it. Only the command's copying goroutine writes, and Wait ends it.
type tail struct {
	limit int
	buf   bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - t.limit; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tail) Bytes() []byte { return t.buf.Bytes() }
