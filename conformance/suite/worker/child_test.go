//go:build unix

package worker_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/rin-network/rin/conformance/suite/worker"
)

// play behaves as the child that part names, and returns its exit status.
func play(part string) int {
	switch part {
	case "serve":
		// Events own the real stdout, as in the real command.
		events := os.Stdout
		os.Stdout = os.Stderr
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := worker.Serve(ctx, os.Stdin, events); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return 0
	case "never-read":
		return 3
	case "sleeper": // a grandchild
		wait()
	}

	job, err := bufio.NewReader(os.Stdin).ReadString('\n')
	if err != nil {
		return 1
	}
	say := func(lines ...string) {
		for _, l := range lines {
			fmt.Println(l)
		}
	}
	progress, finished := `{"kind":"progress","done":1,"planned":2,"label":"token.ok"}`, `{"kind":"finished"}`
	switch part {
	case "finish":
		say(`{"kind":"planned","budget":7,"politeness":{}}`, progress, finished)
	case "silent":
	case "early":
		say(progress)
		return 7
	case "fail-after-finish":
		say(finished)
		return 7
	case "panic":
		say(progress)
		panic("a fault of rin")
	case "killed":
		say(progress)
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		wait()
	case "no-event":
		say(progress, "Running Suite: node", progress)
		wait()
	case "no-kind":
		say(`{"kind":"planned"}`)
		wait()
	case "unknown-kind":
		say(`{"kind":"rejoiced"}`)
		wait()
	case "endless-line":
		fmt.Print(strings.Repeat("x", 3<<20))
		wait()
	case "exhausted":
		say(progress, `{"kind":"exhausted","cause":"too much memory"}`)
		wait()
	case "linger":
		say(finished)
		wait()
	case "ignore":
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
		grandchild := exec.Command(os.Args[0], asChild, "sleeper")
		// Both streams of the grandchild are those that the parent reads.
		grandchild.Stdout, grandchild.Stderr = os.Stdout, os.Stderr
		if err := grandchild.Start(); err != nil {
			return 1
		}
		say(fmt.Sprintf(`{"kind":"progress","done":%d,"planned":%d,"label":"pids"}`, os.Getpid(), grandchild.Process.Pid))
		wait()
	case "chatter":
		for i := range 5000 {
			fmt.Fprintf(os.Stderr, "line %d of the child, which knows %s\n", i, secret)
		}
		fmt.Fprintln(os.Stderr, "the last line")
		say(finished)
	case "one-line":
		fmt.Fprint(os.Stderr, strings.Repeat(secret, 200<<10/len(secret))+"the end") // no cut falls between two secrets
		say(finished)
	case "mirror":
		text, _ := json.Marshal(map[string]any{"kind": "exhausted", "cause": mirror(job)})
		say(string(text))
	}
	return 0
}

// wait blocks until the parent ends this process. It gives up in the end, so that a broken parent leaves no process behind.
func wait() { <-time.After(2 * patience) }

// mirror encodes how this process was started, and whether the job holds the secret.
func mirror(job string) string {
	text, _ := json.Marshal(given{Args: os.Args, Env: os.Environ(), Secret: strings.Contains(job, secret)})
	return string(text)
}

// given is how a child was started.
type given struct {
	Args, Env []string
	Secret    bool // whether the job on stdin held the secret
}
