// Package clienttest runs a program, the client, against a sandbox of its own for each scenario, and judges what it sent. [Run] does the work,
// [Result.Problems] says what is wrong, and a [Baseline] excuses what is known.
package clienttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/fault"
	"github.com/rin-network/rin/sandbox/funding"
	"github.com/rin-network/rin/sandbox/journal"
)

// Options configures [Run].
type Options struct {
	// Command is the program with its arguments, Env its environment, to which [Run] adds the variables of [Environment].
	Command []string
	Env     []string
	// Scenarios are the plays, as for rin sandbox play; the empty one stands for a node without faults.
	Scenarios []string
	// Config is the configuration of each node. Its scenarios are replaced.
	Config sandbox.Config
	// Timeout is how long the program may run; then it is killed with all its children.
	Timeout time.Duration
	// Parallel is how many programs run at a time.
	Parallel int
	// Clock and Random are those of the sandboxes. OnEnd is called with the scenario of each run that has ended, one at a time; it may be nil.
	Clock  func() time.Time
	Random io.Reader
	OnEnd  func(scenario string)
}

// Result describes one run of the program.
type Result struct {
	// Scenario is the play; empty for the node without faults.
	Scenario string `json:"scenario"`
	// Expected says what a good client does; empty for the node without faults.
	Expected string `json:"expected,omitempty"`
	// Exit is the exit code of the program; -1 if it was killed. TimedOut says that its time was over.
	Exit     int  `json:"exit"`
	TimedOut bool `json:"timedOut,omitempty"`
	// MayStop says that a good client may end with an error in this scenario.
	MayStop bool `json:"mayStop,omitempty"`
	// Lasts says that the fault of the scenario never ends.
	Lasts bool `json:"lasts,omitempty"`
	// Strikes is the number of requests that the scenario hit; 0 says that the program never met it.
	Strikes int `json:"struck"`
	// Took is how long the program ran.
	Took time.Duration `json:"tookNs"`
	// Output is the end of what the program wrote, at most [maxOutput] bytes.
	Output string `json:"output,omitempty"`
	// Origin was the base URL of the sandbox, which is gone; Report judges the requests.
	Origin string             `json:"origin"`
	Report clientrules.Report `json:"report"`
	// Unread describes the requests for records that failed or were redirected, if the program did not read these records by another request.
	Unread []string `json:"unread,omitempty"`

	record journal.Record
}

// Run runs the program once for each scenario. The results are in the order of the scenarios. An error is about this machine or the options; what the
// program does is a result. When ctx ends, the programs are killed.
func Run(ctx context.Context, o Options) ([]Result, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("client test: expected a program, got none")
	}
	results := make([]Result, len(o.Scenarios))
	var mu sync.Mutex // guards Random and OnEnd
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(max(o.Parallel, 1))
	for i, text := range o.Scenarios {
		group.Go(func() error {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			mu.Lock()
			s, err := o.newTrial(text)
			mu.Unlock()
			if err != nil {
				return err
			}
			result, err := s.run(ctx, o)
			if err != nil {
				return err
			}
			results[i] = result
			if o.OnEnd != nil {
				mu.Lock()
				defer mu.Unlock()
				o.OnEnd(text)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	judge(results)
	return results, nil
}

// judge judges what the programs sent. The runs without faults show which lists a program wants, and how much of them.
func judge(results []Result) {
	var faultless, others []journal.Record
	for _, r := range results {
		if r.Scenario == "" {
			faultless = append(faultless, r.record)
		} else {
			others = append(others, r.record)
		}
	}
	for i := range results {
		r := &results[i]
		r.Report, r.Unread = clientrules.JudgeWithRuns(r.record, faultless, others), clientrules.UnreadRequests(r.record)
	}
	for i := range results {
		results[i].record = journal.Record{}
	}
}

// trial is a sandbox that is about to serve one program.
type trial struct {
	play     string
	scenario fault.Scenario
	network  *sandbox.Network
	listener net.Listener
	origin   string
}

// newTrial makes a sandbox that plays a scenario, and opens a port for it. [trial.run] starts it.
func (o Options) newTrial(text string) (s trial, err error) {
	s.play = text
	config := o.Config
	config.Scenarios = nil
	if text != "" {
		play, err := fault.ParsePlay(text)
		if err != nil {
			return s, err
		}
		config.Scenarios = []fault.Play{play}
		if s.scenario, err = fault.FindScenario(play.Name); err != nil {
			return s, err
		}
	}
	if s.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return s, fmt.Errorf("open a port for the sandbox: %w", err)
	}
	s.origin = "http://" + s.listener.Addr().String()
	s.network, err = sandbox.NewNetwork(sandbox.NetworkConfig{Nodes: []sandbox.Config{config, neighbour(config)}, Clock: o.Clock, Random: o.Random, Origin: s.origin})
	if err != nil {
		_ = s.listener.Close()
	}
	return s, err
}

// neighbour returns the configuration of a second node, which the registry lists after the first. The program has no credentials for it: a
// client that sends it the secret or a token of the first node breaks a rule.
func neighbour(first sandbox.Config) sandbox.Config {
	member := funding.InventedMember(1)
	if member.ID == first.Member.ID { // the first node replays a recording, and has the id of the recorded node
		member = funding.InventedMember(2)
	}
	return sandbox.Config{Member: member, Root: "/neighbour", Seed: first.Seed, Calls: 1, Logger: first.Logger, Loopback: first.Loopback}
}

// run runs the program against the sandbox. [judge] then adds the report to the result.
func (s trial) run(ctx context.Context, o Options) (Result, error) {
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	served := make(chan error, 1)
	go func() { served <- sandbox.Serve(serving, s.listener, s.network) }()

	result := Result{Scenario: s.play, Origin: s.origin, Expected: s.scenario.Client, MayStop: s.scenario.MayStop, Lasts: s.scenario.Lasts}
	output := &tail{}
	bounded, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	cmd := exec.CommandContext(bounded, o.Command[0], o.Command[1:]...)
	cmd.Env = append(append(cmd.Env, o.Env...), Environment(s.network.Nodes()[0], s.origin, s.play)...)
	cmd.Stdout, cmd.Stderr = output, output
	cmd.WaitDelay = time.Second // for children that keep the output open
	useOwnGroup(cmd)
	began := time.Now()
	err := cmd.Run()
	result.Took, result.Output = time.Since(began), output.String()
	stop()
	<-served // its error is ignored: it says only that requests of the program were still running
	switch {
	case ctx.Err() != nil:
		return result, context.Cause(ctx)
	case cmd.ProcessState == nil:
		return result, fmt.Errorf("start the program: %w", err)
	}
	result.Exit, result.TimedOut = cmd.ProcessState.ExitCode(), bounded.Err() != nil
	result.record = s.network.Journal().Record(0)
	for _, e := range result.record.Entries {
		if slices.ContainsFunc(e.Deviations, func(mark string) bool { // "503-twice 1/2"
			name, _, _ := strings.Cut(mark, " ")
			return s.play != "" && name == s.scenario.Name
		}) {
			result.Strikes++
		}
	}
	return result, nil
}

// Environment returns the variables that [Run] adds to the program's environment: the addresses of the node, a client with the role, the scenario,
// and the addresses of the API that the node serves from a document (--spec), if there is one.
func Environment(node *sandbox.Server, origin, scenario string) []string {
	a, c := node.Addresses(origin), node.Credentials()[0]
	var apiVariables []string
	if api := node.API(origin); api.File != "" {
		apiVariables = []string{"RIN_API_URL=" + api.Base, "RIN_API_DOCUMENT_URL=" + api.Document}
	}
	return append(apiVariables,
		"RIN_REGISTRY_URL="+a.Registry, "RIN_NODE_ID="+node.Member().ID,
		"RIN_TOKEN_URL="+a.ListedToken, "RIN_INFO_URL="+a.Info, "RIN_SPEC_URL="+a.Spec, "RIN_BASE_URL="+a.Base, "RIN_FUNDINGS_URL="+a.Fundings,
		"RIN_CLIENT_ID="+c.ClientID, "RIN_CLIENT_SECRET="+c.Secret, "RIN_SCENARIO="+scenario)
}

// maxOutput bounds what is kept of a program's output, in bytes.
const maxOutput = 4 << 10

// tail keeps the end of what is written to it.
type tail struct {
	mu   sync.Mutex
	text []byte
	cut  bool
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if over := len(t.text) - maxOutput; over > 0 {
		t.text, t.cut = append(t.text[:0], t.text[over:]...), true
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cut {
		return "…" + string(t.text)
	}
	return string(t.text)
}
