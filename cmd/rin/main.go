package main

import (
	"context"
	"crypto/rand"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/rin-network/rin/tui/quiet"
)

func main() {
	quiet.End()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], process()))
}

// process is the world outside as the real binary meets it.
func process() world {
	exe, err := os.Executable()
	return world{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.LookupEnv, readFile: os.ReadFile,
		now: time.Now, random: rand.Reader,
		executable: exe, executableErr: err,
	}
}

// world is everything a command may touch outside itself.
type world struct {
	in            io.Reader
	out, err      io.Writer
	getenv        func(string) (string, bool)
	readFile      func(string) ([]byte, error)
	now           func() time.Time
	random        io.Reader
	executable    string
	executableErr error
}

// run executes one command line and returns the exit code, see exit.go.
func run(ctx context.Context, args []string, w world) int {
	root := newRoot(w)
	root.SetArgs(args)
	root.SetIn(w.in)
	root.SetOut(w.out)
	root.SetErr(w.err)
	if err := root.ExecuteContext(ctx); err != nil {
		return tell(w.err, err)
	}
	return exitOK
}
