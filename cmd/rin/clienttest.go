package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/clienttest"
	"github.com/rin-network/rin/sandbox/fault"
)

// clientTestFlags are the flags of rin client-test.
type clientTestFlags struct {
	scenarios              []string
	failOn, format         string
	file, junit            string
	baseline, saveBaseline string
	timeout                time.Duration
	parallel               int
	node                   sandbox.Config
	api                    specFlags
}

func clientTestCommand(w environment) *cobra.Command {
	var f clientTestFlags
	cmd := &cobra.Command{
		Use:   "client-test [flags] -- PROGRAM [ARGUMENT...]",
		Short: "Run a client against a sandbox in every scenario, and judge it",
		Long: `Client-test runs a program, your client, several times: against a sandbox without
faults, against one for each scenario (rin sandbox --scenarios), against one
that answers 500 three times in a row after its first answer, and against one
that answers 429 after its first answer and asks for a pause of three seconds.
Each run has a sandbox and a client of its own, and is judged by the rules for
clients (rin requirements --clients). A program that keeps what it has read must
begin each run without it.

The program finds what it needs in its environment:
  RIN_TOKEN_URL      token endpoint            RIN_CLIENT_ID      client id
  RIN_INFO_URL       info resource             RIN_CLIENT_SECRET  its secret
  RIN_FUNDINGS_URL   list of funding calls     RIN_REGISTRY_URL   registry document
  RIN_BASE_URL       base URL of the API       RIN_NODE_ID        entry of the node
  RIN_SPEC_URL       OpenAPI document          RIN_SCENARIO       empty without faults
With --spec also RIN_API_URL and RIN_API_DOCUMENT_URL, of the described API.
The registry lists a second node, for which the program has no credentials.

An exit code other than 0 is a fault, except in scenarios in which a good client
may end with an error (rin explain SCENARIO says so). A client that ends so is
not blamed for records that it did not read. Exit code 0 is a fault (lost) if a
request for records failed and the client did not repeat it with success, or if
a request was redirected and the client neither followed nor read the records
in another way.

It ends with 0 if nothing is wrong, with 1 if something is, with 2 after a
mistake on the command line, and with 3 if no run sent a request. With --fail-on
waste, or note, such findings count, too. With --baseline, known problems do not
count, and known problems that are gone do.`,
		Example: `  rin client-test -- python3 harvest.py
  rin client-test --scenario 429-then-ok,503-twice -- ./client --once
  rin client-test --scenario 503-twice:wait=3s -- ./client
  rin client-test --fail-on waste --junit junit.xml -- npm run harvest
  rin client-test --write-baseline known.yaml -- ./client
  rin client-test --baseline known.yaml -- ./client
  rin client-test --spec https://api.example/openapi.json -- ./client`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("expected a program to run, got none"), "write it after two dashes: rin client-test -- python3 harvest.py")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return f.test(cmd, w, args) },
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&f.scenarios, "scenario", []string{"all"}, "scenarios to play besides the run without faults: `NAME` or NAME:path=PATH:times=N:wait=1s, separated by commas; all, or none")
	flags.StringVar(&f.failOn, "fail-on", string(clientrules.Fault), "mildest `level` that ends with 1: fault, waste, note")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "time for one run of the program; then it is killed")
	flags.IntVar(&f.parallel, "parallel", 8, "programs that run at a time, each with a sandbox of its own")
	flags.StringVar(&f.format, "format", "text", "form of the result: text, json")
	flags.StringVarP(&f.file, "output", "o", "", "`file` to write (default standard output)")
	flags.StringVar(&f.junit, "junit", "", "also write JUnit XML to this `file`")
	flags.StringVar(&f.baseline, "baseline", "", "YAML `file` of known problems: fail on new ones, and on those that are gone")
	flags.StringVar(&f.saveBaseline, "write-baseline", "", "write the problems to this `file`, as a baseline to complete")
	flags.Uint64Var(&f.node.Seed, "seed", 1, "chooses the sample data")
	flags.IntVar(&f.node.Calls, "calls", sandbox.DefaultCalls, "number of funding calls")
	f.api.register(flags)
	return cmd
}

// test runs the program and writes the results.
func (f *clientTestFlags) test(cmd *cobra.Command, w environment, program []string) error {
	plays, err := f.plays()
	if err != nil {
		return err
	}
	if !slices.Contains(clientrules.Levels(), clientrules.Level(f.failOn)) {
		return usage(fmt.Errorf("--fail-on: unknown level %q", f.failOn), "use fault, waste or note")
	}
	if !slices.Contains([]string{"text", "json"}, f.format) {
		return usage(fmt.Errorf("--format: unknown format %q", f.format), "use text or json")
	}
	if f.timeout <= 0 || f.parallel <= 0 {
		return usage(errors.New("--timeout and --parallel: expected more than 0"), "leave them out for the defaults")
	}
	known, err := f.readBaseline(w)
	if err != nil {
		return err
	}
	if f.node.API, err = f.api.config(); err != nil {
		return err
	}
	f.api.applyRecording(&f.node)
	nodes := []sandbox.Config{f.node}
	if err := downloadSpecs(cmd.Context(), nodes); err != nil {
		return err
	}
	f.node = nodes[0]
	f.node.Logger, f.node.Loopback = discardLogger(), true
	fmt.Fprintf(w.err, "running %s %s, %d at a time\n", program[0], clientrules.Times(len(plays)), min(f.parallel, len(plays)))
	progress, done := newProgress(w.err, displayOf(w, w.err, cmd)), 0
	results, err := clienttest.Run(cmd.Context(), clienttest.Options{
		Command: program, Env: w.environ(), Scenarios: plays, Config: f.node, Timeout: f.timeout, Parallel: f.parallel, Clock: w.now, Random: w.random,
		OnEnd: func(scenario string) {
			done++
			progress.step(done, len(plays), scenarioName(scenario))
		},
	})
	progress.clear()
	if err != nil {
		return f.runError(cmd.Context(), err)
	}
	t := clientTest{Results: results, failOn: clientrules.Level(f.failOn), baseline: f.baseline != ""}
	t.Problems, t.Known, t.Gone = known.Split(results, t.failOn)
	return f.deliver(cmd, w, t)
}

// laterOutage is a failure that begins after the first answer and lasts for three. It reveals a client that repeats without a pause, begins the list again,
// or leaves the page out.
const laterOutage = "500-once:after=1:times=3"

// longWait is a 429 after the first answer that asks for a pause of three seconds. Clients with several workers need that long: a shorter pause may be over
// before all workers know of it.
const longWait = "429-then-ok:after=1:wait=3s"

// plays lists the runs: the one without faults comes first.
func (f *clientTestFlags) plays() ([]string, error) {
	plays := []string{""}
	for _, text := range f.scenarios {
		switch text {
		case "all":
			for _, s := range fault.Scenarios() {
				if !s.ByHand {
					plays = append(plays, s.Name)
				}
			}
			plays = append(plays, laterOutage, longWait)
		case "none":
		default:
			if _, err := fault.ParsePlay(text); err != nil {
				return nil, usage(fmt.Errorf("--scenario: %w", err), "rin sandbox --scenarios lists them; all plays every scenario, none plays no scenario")
			}
			plays = append(plays, text)
		}
	}
	var unique []string
	for _, text := range plays {
		if !slices.Contains(unique, text) {
			unique = append(unique, text)
		}
	}
	return unique, nil
}

// readBaseline reads the known problems; there are none if no file is named.
func (f *clientTestFlags) readBaseline(w environment) (clienttest.Baseline, error) {
	if f.baseline == "" {
		return clienttest.Baseline{}, nil
	}
	data, err := w.readFile(f.baseline)
	if err != nil {
		return clienttest.Baseline{}, usage(fmt.Errorf("--baseline: %w", err), "name a readable file; --write-baseline makes one")
	}
	known, err := clienttest.ReadBaseline(data)
	if err != nil {
		return known, usage(fmt.Errorf("--baseline %s: %w", f.baseline, err), "fix the file; --write-baseline shows the format")
	}
	return known, nil
}

// runError explains why the program could not be run.
func (f *clientTestFlags) runError(ctx context.Context, err error) error {
	var execError *exec.Error
	var pathError *fs.PathError
	switch {
	case ctx.Err() != nil:
		return &exitError{code: exitInternal, err: errors.New("client-test was interrupted; the programs were ended"), hint: "run it again"}
	case errors.As(err, &execError), errors.As(err, &pathError):
		return usage(err, "name a program that can be run, after two dashes: rin client-test -- python3 harvest.py")
	}
	return internal(err)
}

// deliver writes the result in all its forms.
func (f *clientTestFlags) deliver(cmd *cobra.Command, w environment, t clientTest) error {
	var text bytes.Buffer
	if f.format == "json" {
		if err := clientrules.WriteJSON(&text, t.document()); err != nil {
			return internal(err)
		}
	} else {
		t.writeText(&text, min(displayOf(w, w.out, cmd).width, 100))
	}
	if err := deliver(w, f.file, text.Bytes()); err != nil {
		return err
	}
	if f.junit != "" {
		data, err := t.junit()
		if err != nil {
			return internal(err)
		}
		if err := os.WriteFile(f.junit, data, 0o644); err != nil {
			return usage(fmt.Errorf("--junit: %w", err), "name a file in a directory that exists")
		}
	}
	if f.saveBaseline != "" {
		data, err := clienttest.WriteBaseline(append(slices.Clone(t.Problems), t.Known...))
		if err != nil {
			return internal(err)
		}
		if err := os.WriteFile(f.saveBaseline, data, 0o644); err != nil {
			return usage(fmt.Errorf("--write-baseline: %w", err), "name a file in a directory that exists")
		}
		fmt.Fprintf(w.err, "wrote %s to %s; complete the reasons\n", evidence.Count(len(t.Problems)+len(t.Known), "problem"), f.saveBaseline)
	}
	switch {
	case t.silent():
		return exitWith(exitInconclusive)
	case len(t.Problems) > 0 || len(t.Gone) > 0:
		return exitWith(exitNotCertified)
	}
	return nil
}

// scenarioName names a run for people.
func scenarioName(play string) string {
	if play == "" {
		return "without faults"
	}
	return strings.TrimSpace(play)
}
