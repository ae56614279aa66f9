package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/conformance/target"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/tui"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/plain"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/terminal"
)

func tourCommand(w world) *cobra.Command {
	var flags tourFlags
	cmd := &cobra.Command{
		Use:   "tour",
		Short: "Walk the authorization flow step by step",
		Long: `Tour walks from the registry to the first funding call, one step at a time, with
the real requests on the wire: why, what is sent, what comes back, and by which
rule it is judged. Afterwards you know what a client has to do, and take the
commands with you.

It talks to any node. With nothing given it starts a sandbox inside and walks
there.`,
		Example: `  rin tour
  rin tour --plain                          the whole walk, line by line
  rin tour --registry https://registry.example/ris.json --node XA \
      --client-id my-client --client-secret env:MY_SECRET
  rin tour --plain --step token --step info
  rin tour --plain --step specification --operation /funding/v3/fundings
  rin tour --plain --step what-if --what-if garbage
  rin tour --plain --step calls --filter region=TYROL --page 2
  rin tour --plain --take-away my-client    scripts, code and the recording`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd, w)
		},
	}
	grouped(cmd, flags.groups())
	return cmd
}

// run begins the walk, on a node of its own if no other is given.
func (t *tourFlags) run(cmd *cobra.Command, w world) error {
	o, err := t.options(w)
	if err != nil {
		return err
	}
	begin, err := t.target(w)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	own := &inside{w: w}
	in, out, screened := t.terminal(w, cmd)
	if t.builtIn(begin) && !screened {
		if begin, err = own.start(ctx); err != nil {
			return err
		}
	}
	way, err := flow.New(flow.Options{
		Target: begin, Suite: version(), Clock: w.now, Random: w.random,
		Certify: func(ctx context.Context, t target.Target, heard func(worker.Event)) (report.Report, *evidence.Log, error) {
			return certifyQuietly(ctx, w, t, heard)
		},
	})
	if err != nil {
		return errors.Join(internal(err), own.end(stop))
	}
	if screened {
		return errors.Join(ended(t.show(ctx, cmd, w, way, own, in, out)), own.end(stop))
	}
	o.Width = min(screenOf(w, w.out, cmd).width, 100)
	return errors.Join(ended(plain.Run(ctx, way, w.out, o)), own.end(stop))
}

// ended turns how a walk ended into an exit code.
func ended(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, tui.ErrBroken):
		return internal(err)
	case errors.Is(err, plain.ErrTrouble):
		return &exitError{code: exitInconclusive, err: err, hint: "see what to try above"}
	case errors.Is(err, plain.ErrNotCertified):
		return told(exitNotCertified)
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitInconclusive, err: errors.New("the walk was interrupted"), hint: "start again at a step with --step"}
	}
	return usage(err, "see rin tour --help")
}

// certifyQuietly runs the whole suite in a child process, and keeps no file.
func certifyQuietly(ctx context.Context, w world, t target.Target, heard func(worker.Event)) (report.Report, *evidence.Log, error) {
	process, err := child(w)
	if err != nil {
		return report.Report{}, nil, err
	}
	evidence, remove, err := temporaryFile("rin-tour-evidence")
	if err != nil {
		return report.Report{}, nil, fmt.Errorf("make room for the evidence: %w", err)
	}
	defer remove()
	result, err := conformance.Certify(ctx, t, conformance.Options{Suite: version(), Evidence: evidence, Worker: process, Heard: heard})
	return result.Report, result.Log, err
}

// inside is the sandbox of a tour, which is started when somebody asks for it: on a terminal that is beside the first frame.
type inside struct {
	w world

	mu     sync.Mutex
	at     target.Target
	served chan error // nil until it runs
}

// start serves a sandbox on a free port until ctx is done, and aims at it with the credentials of its demo clients. One that runs is not
// started again.
func (i *inside) start(ctx context.Context) (target.Target, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.served != nil {
		return i.at, nil
	}
	if err := ctx.Err(); err != nil {
		return target.Target{}, err
	}
	opened, err := open(i.w, "127.0.0.1:0", sandbox.NetworkConfig{Nodes: []sandbox.Config{{Logger: discard()}}, JournalLimit: -1})
	if err != nil {
		return target.Target{}, err
	}
	served := make(chan error, 1)
	go func() { served <- opened.serve(ctx) }()
	i.served = served
	i.at = demoTarget(opened.base, opened.first().Credentials())
	expired, err := opened.first().TokenAt(i.w.now().Add(-2*opened.first().TokenTTL()), opened.base, i.at.Credentials.ClientID)
	if err != nil {
		return i.at, internal(err)
	}
	i.at.ExpiredToken = target.NewSecret(expired)
	return i.at, nil
}

// end stops the sandbox, if it runs, and waits for its end.
func (i *inside) end(stop context.CancelFunc) error {
	stop()
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.served == nil {
		return nil
	}
	return <-i.served
}

// saveInto writes files into a folder, which is made if need be. Where one of them is there already, nothing is written.
func saveInto(folder string, files []flow.File) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	for _, f := range files {
		if _, err := os.Lstat(filepath.Join(folder, f.Name)); !errors.Is(err, fs.ErrNotExist) {
			if err == nil {
				err = fmt.Errorf("%s: %w", filepath.Join(folder, f.Name), fs.ErrExist)
			}
			return "", err
		}
	}
	for _, f := range files {
		mode := os.FileMode(0o600)
		if f.Executable {
			mode = 0o700
		}
		file, err := os.OpenFile(filepath.Join(folder, f.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		if err != nil {
			return "", err
		}
		if err := errors.Join(f.Write(file), file.Close()); err != nil {
			return "", fmt.Errorf("write %s: %w", f.Name, err)
		}
	}
	return folder, nil
}

// saveTyped is [saveInto] for a folder that was typed on a screen, where no shell knows what ~ is. It says where that is in full.
func saveTyped(w world) func(folder string, files []flow.File) (string, error) {
	return func(folder string, files []flow.File) (string, error) {
		if home, ok := w.getenv("HOME"); ok && home != "" && (folder == "~" || strings.HasPrefix(folder, "~/")) {
			folder = filepath.Join(home, strings.TrimPrefix(folder, "~"))
		}
		full, err := filepath.Abs(folder)
		if err != nil {
			return "", fmt.Errorf("find the folder: %w", err)
		}
		return saveInto(full, files)
	}
}

// terminal is where the walk is shown: keys come from one and the screen is one. Without either it is told line by line.
func (t *tourFlags) terminal(w world, cmd *cobra.Command) (in, out *os.File, ok bool) {
	in, typed := w.in.(*os.File)
	out, shown := w.out.(*os.File)
	return in, out, typed && shown && !t.plain && term.IsTerminal(int(in.Fd())) && screenOf(w, out, cmd).live
}

// show walks on a terminal.
func (t *tourFlags) show(ctx context.Context, cmd *cobra.Command, w world, way *flow.Walk, own *inside, in, out *os.File) (err error) {
	if !signal.Ignored(syscall.SIGHUP) { // a terminal that goes away ends the walk, unless somebody saw to that
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	// A tour waits for a person most of the time, and may hold a response of megabytes: rather collect often than grow to twice of it.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	colored := screenOf(w, out, cmd).color
	keyboard, background, err := terminal.Open(in, out, colored, w.getenv)
	if err != nil {
		return internal(err)
	}
	defer func() { err = errors.Join(err, keyboard.Close()) }()
	return tui.Run(ctx, &screen.Session{
		Walk: way, Language: t.language, NodeID: t.node.target.NodeID, Save: saveTyped(w),
		Getenv: w.getenv, Keep: keepText,
		Start: own.start, ReadFile: w.readFile,
		Secret: func(place string) (target.Secret, error) { return readSecret(w, "secret", place, &stdinOnce{}) },
		Theme:  screen.NewTheme(terminal.Renderer(out, colored, background)),
	}, keyboard, out)
}
