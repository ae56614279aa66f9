package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
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
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/tui"
	"github.com/rin-network/rin/tui/flow"
	"github.com/rin-network/rin/tui/plain"
	"github.com/rin-network/rin/tui/screen"
	"github.com/rin-network/rin/tui/terminal"
)

func tourCommand(w environment) *cobra.Command {
	var flags tourFlags
	cmd := &cobra.Command{
		Use:   "tour",
		Short: "Walk the authorization flow step by step",
		Long: `Tour walks from the registry to the first funding call, one step at a time, with
real requests. Each step says what it is for, what the client sends, what the
node answers, and which rules apply. At the end you can keep the requests as
scripts and code.

It works with any node. Without one it starts a sandbox of its own.`,
		Example: `  rin tour
  rin tour --plain                          the whole tour, line by line
  rin tour --registry https://registry.example/ris.json --node XA \
      --client-id my-client --client-secret env:MY_SECRET
  rin tour --plain --step token --step info
  rin tour --plain --step specification --operation /funding/v3/fundings
  rin tour --plain --step what-if --what-if garbage
  rin tour --plain --step faults --fault throttled
  rin tour --plain --step calls --filter region=TYROL --page 2
  rin tour --plain --take-away my-client    scripts, code and the recording`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return flags.run(cmd, w)
		},
	}
	setFlagGroups(cmd, flags.groups())
	return cmd
}

// run starts the walk, on a sandbox of its own unless a node is given.
func (t *tourFlags) run(cmd *cobra.Command, w environment) error {
	o, err := t.options(w)
	if err != nil {
		return err
	}
	node, err := t.target(w)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	own := &builtInSandbox{w: w}
	in, out, onScreen := t.terminal(w, cmd)
	if !namesNode(node) && !onScreen {
		if node, err = own.start(ctx); err != nil {
			return err
		}
	}
	walk, err := flow.New(flow.Options{
		Target: node, Suite: version(), Clock: w.now, Random: w.random, RestartCommand: own.restartCommand, Play: own.play,
		Certify: func(ctx context.Context, t target.Target, onEvent func(worker.Event)) (report.Report, *evidence.Log, error) {
			return certifyQuietly(ctx, w, t, onEvent)
		},
	})
	if err != nil {
		return errors.Join(internal(err), own.end(stop))
	}
	if onScreen {
		saved := &savedFolders{}
		err := errors.Join(tourError(t.show(ctx, cmd, w, walk, own, saved, in, out)), own.end(stop))
		saved.write(w.err) // the screen showed the folders, but it is cleared at its end
		return err
	}
	o.Width = min(displayOf(w, w.out, cmd).width, 100)
	return errors.Join(tourError(plain.Run(ctx, walk, w.out, o)), own.end(stop))
}

// tourError turns the error of a walk into an exit code.
func tourError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, tui.ErrBroken):
		return internal(err)
	case errors.Is(err, plain.ErrTrouble):
		return &exitError{code: exitInconclusive, err: err, hint: "the output above says what to try"}
	case errors.Is(err, plain.ErrNotCertified):
		return exitWith(exitNotCertified)
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitInconclusive, err: errors.New("the tour was interrupted"), hint: "start again at a step with --step"}
	}
	return usage(err, "see rin tour --help")
}

// certifyQuietly runs the whole suite in a child process and keeps no file.
func certifyQuietly(ctx context.Context, w environment, t target.Target, onEvent func(worker.Event)) (report.Report, *evidence.Log, error) {
	process, err := workerCommandLine(w)
	if err != nil {
		return report.Report{}, nil, err
	}
	file, err := os.CreateTemp("", "rin-tour-evidence-*.jsonl.gz") // 0600
	if err == nil {
		defer os.Remove(file.Name())
		err = file.Close()
	}
	if err != nil {
		return report.Report{}, nil, fmt.Errorf("create the evidence file: %w", err)
	}
	result, err := conformance.Certify(ctx, t, conformance.Options{
		Inputs: conformance.Inputs{Suite: version()}, Evidence: file.Name(), Worker: process, OnEvent: onEvent,
	})
	return result.Report, result.Log, err
}

// builtInSandbox is the sandbox of a tour. On a terminal it starts while the first frame is drawn.
type builtInSandbox struct {
	w environment

	mu   sync.Mutex
	node target.Target
	base string
	done chan error // nil before it is started
	// server is the node itself, which play makes fail.
	server *sandbox.Server
}

// tourSeed is the seed of the built-in sandbox, the default of rin sandbox.
const tourSeed = 1

// start serves a sandbox on a free port until ctx ends and returns it as a target. It starts at most one.
func (b *builtInSandbox) start(ctx context.Context) (target.Target, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done != nil {
		return b.node, nil
	}
	if err := ctx.Err(); err != nil {
		return target.Target{}, err
	}
	node := sandbox.Config{Logger: discardLogger(), Seed: tourSeed, Derived: true} // restartCommand starts the same sandbox
	opened, err := open(b.w, "127.0.0.1:0", sandbox.NetworkConfig{Nodes: []sandbox.Config{node}, JournalLimit: -1})
	if err != nil {
		return target.Target{}, err
	}
	done := make(chan error, 1)
	go func() { done <- opened.serve(ctx) }()
	b.done, b.base, b.server = done, opened.base, opened.first()
	b.node = demoTarget(opened.base, opened.first().Credentials())
	expired, err := opened.first().TokenAt(b.w.now().Add(-2*opened.first().TokenTTL()), opened.base, b.node.Credentials.ClientID)
	if err != nil {
		return b.node, internal(err)
	}
	b.node.ExpiredToken = target.NewSecret(expired)
	return b.node, nil
}

// restartCommand returns the command that restarts this sandbox with the same addresses, clients and secrets; "" for any other node.
func (b *builtInSandbox) restartCommand(t target.Target) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.serves(t) {
		return ""
	}
	return fmt.Sprintf("rin sandbox --addr %s --seed %d", strings.TrimPrefix(b.base, "http://"), tourSeed)
}

// play makes this sandbox play a scenario until stop is called. For any other node it does nothing, and stop is nil.
func (b *builtInSandbox) play(t target.Target, scenario string) (stop func(), err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.serves(t) {
		return nil, nil
	}
	play, err := fault.ParsePlay(scenario)
	if err != nil {
		return nil, err
	}
	return func() { _ = b.server.Stop() }, b.server.Play(play)
}

// serves reports whether a target is this sandbox. The caller holds b.mu.
func (b *builtInSandbox) serves(t target.Target) bool {
	return b.base != "" && strings.HasPrefix(cmp.Or(t.TokenURL, t.Registry), b.base+"/")
}

// end stops the sandbox, if it runs, and waits for it.
func (b *builtInSandbox) end(stop context.CancelFunc) error {
	stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done == nil {
		return nil
	}
	return <-b.done
}

// saveFiles writes files into a folder and creates it if necessary. It writes nothing if one of the files exists.
func saveFiles(folder string, files []flow.File) (string, error) {
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

// saveFromScreen is [saveFiles] for a folder typed on the screen, where no shell expands ~. It returns the absolute path.
func saveFromScreen(w environment) func(folder string, files []flow.File) (string, error) {
	return func(folder string, files []flow.File) (string, error) {
		if home, ok := w.getenv("HOME"); ok && home != "" && (folder == "~" || strings.HasPrefix(folder, "~/")) {
			folder = filepath.Join(home, strings.TrimPrefix(folder, "~"))
		}
		full, err := filepath.Abs(folder)
		if err != nil {
			return "", fmt.Errorf("find folder: %w", err)
		}
		return saveFiles(full, files)
	}
}

// savedFolders records the folders into which the files of a tour were written.
type savedFolders struct {
	mu    sync.Mutex
	paths []string
}

// recorder returns a function that calls save and records the folder into which save wrote.
func (f *savedFolders) recorder(save func(string, []flow.File) (string, error)) func(string, []flow.File) (string, error) {
	return func(folder string, files []flow.File) (string, error) {
		path, err := save(folder, files)
		if err == nil {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.paths = append(f.paths, path)
		}
		return path, err
	}
}

// write prints where the files are.
func (f *savedFolders) write(out io.Writer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, path := range f.paths {
		fmt.Fprintf(out, "the files of the tour are in %s (README.md says how to run the clients)\n", path)
	}
}

// terminal returns the terminal for the walk. ok is false if the walk must be printed line by line.
func (t *tourFlags) terminal(w environment, cmd *cobra.Command) (in, out *os.File, ok bool) {
	in, isInFile := w.in.(*os.File)
	out, isOutFile := w.out.(*os.File)
	return in, out, isInFile && isOutFile && !t.plain && term.IsTerminal(int(in.Fd())) && displayOf(w, out, cmd).live
}

// show runs the walk on a terminal.
func (t *tourFlags) show(ctx context.Context, cmd *cobra.Command, w environment, walk *flow.Walk, own *builtInSandbox, saved *savedFolders, in, out *os.File) (err error) {
	if !signal.Ignored(syscall.SIGHUP) { // a closed terminal ends the walk, unless SIGHUP is ignored (nohup)
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGHUP)
		defer stop()
	}
	// A tour mostly waits for a person and may hold a response of megabytes: collect early to keep memory low.
	defer debug.SetGCPercent(debug.SetGCPercent(20))
	colored := displayOf(w, out, cmd).color
	keyboard, background, err := terminal.Open(in, out, colored, w.getenv)
	if err != nil {
		return internal(err)
	}
	defer func() { err = errors.Join(err, keyboard.Close()) }()
	return tui.Run(ctx, &screen.Session{
		Walk: walk, Language: t.language, NodeID: t.node.target.NodeID, Save: saved.recorder(saveFromScreen(w)),
		Getenv: w.getenv, Keep: writeTemporaryScript,
		Start: own.start, ReadFile: w.readFile,
		Secret: func(place string) (target.Secret, error) { return readSecret(w, "secret", place, &stdinOnce{}) },
		Theme:  screen.NewTheme(terminal.Renderer(out, colored, background)),
	}, keyboard, out)
}
