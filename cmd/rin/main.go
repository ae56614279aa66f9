// Command rin serves a sandbox node of a network of research-information nodes, certifies live nodes, generates the sample data of both, and
// walks a person through the authorization flow.
//
// Each family of commands has its own file; run connects them to streams, environment, clock and randomness.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/suite/worker"
	"github.com/rin-network/rin/tui/quiet"
)

func main() {
	quiet.End() // the package has kept Bubble Tea from querying the terminal until now
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], processEnvironment()))
}

// processEnvironment returns the environment of the real binary.
func processEnvironment() environment {
	exe, err := os.Executable()
	return environment{
		in: os.Stdin, out: os.Stdout, err: os.Stderr,
		getenv: os.LookupEnv, environ: os.Environ, readFile: os.ReadFile,
		now: time.Now, random: rand.Reader,
		executable: exe, executableErr: err,
	}
}

// environment holds what a command uses of its process: streams, variables, files, clock and randomness.
type environment struct {
	in            io.Reader
	out, err      io.Writer
	getenv        func(string) (string, bool)
	environ       func() []string
	readFile      func(string) ([]byte, error)
	now           func() time.Time
	random        io.Reader
	executable    string
	executableErr error
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, w environment) int {
	root := newRoot(w)
	root.SetArgs(args)
	root.SetIn(w.in)
	root.SetOut(w.out)
	root.SetErr(w.err)
	if cmd, err := root.ExecuteContextC(ctx); err != nil {
		return printError(w.err, err, cmd.CommandPath())
	}
	return exitOK
}

// newRoot builds the command tree.
func newRoot(w environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "rin",
		Short: "Prove that a research-information node keeps the rules",
		Long: `rin is the proving ground of a network of research-information nodes:
a sandbox node to build against, a conformance suite that certifies a live
node against its own OpenAPI document, the network's interface document and
the OAuth rules, and a tour that walks the authorization flow step by step.

Results go to standard output, everything else to standard error.
Exit codes: 0 certified, 1 not certified, 2 usage, 3 inconclusive, 4 internal
error.`,
		Example: `  rin demo                       certify a sandbox node and read the report
  rin sandbox                    serve a node on 127.0.0.1:8080
  rin certify --registry https://registry.example/ris.json --node XA \
      --client-id my-client --client-secret env:MY_SECRET --profile funding
  rin tour                       walk from the registry to a funding call
  rin explain BRR-02             what a requirement asks for, and why`,
		Version:       version(),
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetUsageFunc(printUsage)
	root.PersistentFlags().Bool("no-color", false, "never colour the output (NO_COLOR does the same)")
	root.SetVersionTemplate(versions()) // as rin version prints it
	root.AddCommand(
		demoCommand(w), sandboxCommand(w), certifyCommand(w), judgeCommand(w), signCommand(w), verifyCommand(w), diffCommand(w),
		registryCommand(w), explainCommand(w), requirementsCommand(w), tokenCommand(w), tourCommand(w), fixturesCommand(w),
		clientCommand(w), clientTestCommand(w), versionCommand(w), manualCommand(w), workerCommand(w),
	)
	return root
}

func versionCommand(w environment) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of rin, its commit, and its catalogue",
		Example: "  rin version",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(w.out, versions())
			return err
		},
	}
}

// versions returns the versions that a bug report should include.
func versions() string {
	var commit string
	if revision := buildSetting("vcs.revision"); revision != "" {
		changed := ""
		if buildSetting("vcs.modified") == "true" {
			changed = ", changed"
		}
		commit = fmt.Sprintf("commit %s of %s%s\n", revision, commitDate(), changed)
	}
	return fmt.Sprintf("rin %s\n%scatalogue %s (%d requirements)\n%s %s/%s\n",
		version(), commit, requirement.Version, len(requirement.Catalogue()), runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// version returns the module version of the binary, or "devel" for a build from a work tree.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "devel"
	}
	return info.Main.Version
}

// commitDate returns the day of the commit that the binary was built from, or "" if the build did not record it. go install of a module version
// records no commit, but the version itself contains the day or names a release.
func commitDate() string {
	day, _, _ := strings.Cut(buildSetting("vcs.time"), "T")
	return day
}

// buildSetting returns a setting that the build recorded, or "".
func buildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// workerCommand returns the command of the child process, which rin starts itself. Users do not
// call it.
func workerCommand(w environment) *cobra.Command {
	return &cobra.Command{
		Use:    "worker",
		Short:  "Child process of rin certify that talks to a node",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			// Events use the real stdout; output of libraries goes to stderr.
			os.Stdout = os.Stderr
			if err := worker.Serve(cmd.Context(), w.in, w.out); err != nil {
				return internal(err)
			}
			return nil
		},
	}
}

// workerCommandLine returns the command line that starts this binary as a worker. The worker's environment has only the variables that locate certificates.
func workerCommandLine(w environment) (*worker.Command, error) {
	if w.executableErr != nil {
		return nil, internal(w.executableErr)
	}
	var env []string
	for _, name := range []string{"SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if value, set := w.getenv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return &worker.Command{Path: w.executable, Args: []string{"worker"}, Env: env}, nil
}
