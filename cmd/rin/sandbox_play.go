package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/control"
	"github.com/rin-network/rin/sandbox/fault"
)

// playFlags hold the flags of rin sandbox play.
type playFlags struct {
	to                control.Play
	wait, jitter      time.Duration
	rate, on, latency string
	bodyFile          string
}

func playCommand(w environment) *cobra.Command {
	var to controlTarget
	var flags playFlags
	cmd := &cobra.Command{
		Use:   "play [SCENARIO]",
		Short: "Play a scenario: some faults for each client, then good answers",
		Long: `Play makes a running node fail the first matching requests of each client, as
often as the scenario or --times says, and answer well afterwards. Each client
has its own sequence. Running scenarios continue; a scenario that is played
again restarts. Each faulty answer has the header ` + fault.ScenarioHeader + `.

With --status a node answers what you say, and with --latency it answers later;
neither needs the name of a scenario.`,
		Example: `  rin sandbox play 429-then-ok
  rin sandbox play 503-twice --client demo-client --times 5 --wait 3s
  rin sandbox play slow --path token         only the token endpoint
  rin sandbox play connection-cut --path /   every resource, not only the API
  rin sandbox play 503-twice --after 3       the fourth request and the next
  rin sandbox play truncated-json --rate 10% --path list
  rin sandbox play --latency 200ms±50ms      every answer a little later
  rin sandbox play --status 404 --body gone.json \
      --on 'GET /ris-synergy/funding/v3/fundings'
  rin sandbox play key-rotation --wait 60s   the old key stays good for a minute
  rin sandbox --scenarios                    all scenarios, with their requests`,
		Args:              flags.check,
		ValidArgsFunction: completeScenarios,
		RunE: to.changeNode(w, func(c control.Client, node string, names []string) (control.Node, error) {
			play, err := flags.play(w, names)
			if err != nil {
				return control.Node{}, err
			}
			return c.Play(node, play)
		}),
	}
	f := cmd.Flags()
	to.registerWithNode(f)
	f.StringVar(&flags.to.Client, "client", "", "`id` of the only client to hit (default all)")
	f.StringVar(&flags.to.Path, "path", "", "a `path` and all below it, or a kind: token, info, list,\ndetail ... (default the requests of the scenario)")
	f.StringVar(&flags.on, "on", "", "a `method and path`, such as 'GET /path'")
	f.IntVar(&flags.to.Times, "times", 0, "faults for each client (default the scenario's)")
	f.DurationVar(&flags.wait, "wait", 0, "how long something takes, such as Retry-After or a pause\n(default the scenario's)")
	f.DurationVar(&flags.jitter, "jitter", 0, "how much shorter or longer it may take")
	f.IntVar(&flags.to.After, "after", 0, "requests of each client to spare first")
	f.IntVar(&flags.to.Every, "every", 0, "hit only each nth request")
	f.StringVar(&flags.rate, "rate", "", "hit only a `part` of the requests, such as 10%; drawn by the seed")
	f.StringVar(&flags.latency, "latency", "", "answer later, by a `duration` such as 200ms or 200ms±50ms")
	f.IntVar(&flags.to.Status, "status", 0, "answer with this status")
	f.StringVar(&flags.bodyFile, "body", "", "`file` with the body of that answer (- for standard input)")
	return cmd
}

// check refuses arguments and flags that name no scenario or several ones, numbers that can hit nothing, and flags that exclude each other.
func (p *playFlags) check(cmd *cobra.Command, names []string) error {
	given := slices.Clone(names)
	if cmd.Flags().Changed("status") {
		given = append(given, "--status")
	}
	if p.latency != "" {
		given = append(given, "--latency")
	}
	if len(given) != 1 {
		return usage(fmt.Errorf("expected the name of one scenario, --status or --latency, got %d", len(given)), "rin sandbox --scenarios lists the scenarios")
	}
	for _, name := range []string{"times", "after", "every", "status"} {
		if n, _ := cmd.Flags().GetInt(name); cmd.Flags().Changed(name) && n < 1 {
			return usage(fmt.Errorf("--%s: expected a number from 1, got %d", name, n), "leave it out for the scenario's own")
		}
	}
	if p.bodyFile != "" && !cmd.Flags().Changed("status") {
		return usage(errors.New("--body: expected --status with it"), "name the status of the answer: --status 200")
	}
	if p.on != "" && p.to.Path != "" {
		return usage(errors.New("--on and --path: expected one of them"), "--on 'GET /path' names the path, too")
	}
	return nil
}

// play returns the play that the arguments and flags describe.
func (p *playFlags) play(w environment, names []string) (control.Play, error) {
	play := p.to
	wait, jitter := p.wait, p.jitter
	switch {
	case len(names) > 0:
		play.Name = names[0]
	case p.latency != "":
		play.Name = fault.Latency
		var err error
		if wait, jitter, err = parseLatency(p.latency); err != nil {
			return play, usage(fmt.Errorf("--latency: %w", err), "write --latency 200ms or --latency 200ms±50ms")
		}
	default:
		play.Name = fault.Answer
	}
	if wait != 0 {
		play.Wait = wait.String()
	}
	if jitter != 0 {
		play.Jitter = jitter.String()
	}
	if p.rate != "" {
		var options fault.Play
		if err := options.Set("rate", p.rate); err != nil {
			return play, usage(fmt.Errorf("--rate: expected a part such as 10%% or 0.1, got %q", p.rate), "more than 0, and at most 100%")
		}
		play.Rate = options.Rate
	}
	if p.on != "" {
		method, path, hasPath := strings.Cut(p.on, " ")
		if !hasPath || !strings.HasPrefix(path, "/") {
			return play, usage(fmt.Errorf("--on: expected a method and a path, got %q", p.on), "write --on 'GET /path'")
		}
		play.Method, play.Path = method, path
	}
	if p.bodyFile != "" {
		body, err := p.body(w)
		if err != nil {
			return play, usage(fmt.Errorf("--body: %w", err), "name a file of at most 64 KiB")
		}
		play.Body = string(body)
	}
	return play, nil
}

// body reads the file of --body.
func (p *playFlags) body(w environment) ([]byte, error) {
	if p.bodyFile == "-" {
		return io.ReadAll(io.LimitReader(w.in, fault.MaxBody+1))
	}
	return w.readFile(p.bodyFile)
}

// parseLatency reads a duration with an optional jitter: "200ms", "200ms±50ms", "200ms±50" in the unit of the duration.
func parseLatency(text string) (wait, jitter time.Duration, err error) {
	first, second, hasJitter := strings.Cut(text, "±")
	wait, err = time.ParseDuration(first)
	if err != nil || !hasJitter {
		return wait, 0, err
	}
	if strings.TrimLeft(second, "0123456789.") == "" {
		second += strings.TrimLeft(first, "0123456789.")
	}
	jitter, err = time.ParseDuration(second)
	return wait, jitter, err
}

func stopCommand(w environment) *cobra.Command {
	var to controlTarget
	cmd := &cobra.Command{
		Use:   "stop [SCENARIO...]",
		Short: "End scenarios",
		Long:  `Stop ends the named scenarios of a running node, or all of them.`,
		Example: `  rin sandbox stop
  rin sandbox stop 503-twice --node XB`,
		ValidArgsFunction: completeScenarios,
		RunE: to.changeNode(w, func(c control.Client, node string, names []string) (control.Node, error) {
			return c.Stop(node, names...)
		}),
	}
	to.registerWithNode(cmd.Flags())
	return cmd
}

func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return fault.ScenarioNames(), cobra.ShellCompDirectiveNoFileComp
}

// writePlay describes a running scenario and how often it hit each client.
func writePlay(b *strings.Builder, s control.Scenario) {
	heading := fmt.Sprintf("plays: %s, times %d", s.Name, s.Times)
	numbers := []struct {
		name  string
		value int
	}{{"after", s.After}, {"every", s.Every}, {"status", s.Status}}
	for _, option := range numbers {
		if option.value != 0 {
			heading += fmt.Sprintf(", %s %d", option.name, option.value)
		}
	}
	if s.Rate > 0 {
		heading += fmt.Sprintf(", rate %g%%", 100*s.Rate)
	}
	for _, option := range [][2]string{{"wait", s.Wait}, {"jitter", s.Jitter}, {"client", s.Client}, {"method", s.Method}, {"path", s.Path}} {
		if option[1] != "" {
			heading += ", " + option[0] + " " + option[1]
		}
	}
	var clients []string
	for client, times := range s.Strikes {
		if client == "" {
			client = "(no good token)"
		}
		clients = append(clients, fmt.Sprintf("%s %d", client, times))
	}
	slices.Sort(clients)
	hits := "no client hit yet"
	if len(clients) > 0 {
		hits = "hit " + strings.Join(clients, ", ")
	}
	does := ""
	if known, err := fault.FindScenario(s.Name); err == nil { // unknown if the sandbox has another version
		does = known.Does
	}
	writeEntry(b, heading, hits, does)
}

func deviateCommand(w environment) *cobra.Command {
	var to controlTarget
	var none bool
	cmd := &cobra.Command{
		Use:   "deviate NAME...",
		Short: "Replace the deviations of a node",
		Long: `Deviate makes a running node misbehave, or behave in an unusual way, from the
next request on. The named deviations replace those in force; the first one sees
requests first. They start without memory of earlier requests.`,
		Example: `  rin sandbox deviate token-status-201
  rin sandbox deviate token-type-in-lower-case list-id-missing --node XB
  rin sandbox deviate --none                 a good node again
  rin sandbox --deviations                   all names, with what they break`,
		Args: func(_ *cobra.Command, names []string) error {
			if none == (len(names) > 0) {
				return usage(errors.New("expected names of deviations, or --none"), "rin sandbox --deviations lists them")
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return fault.DeviationNames(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: to.changeNode(w, func(c control.Client, node string, names []string) (control.Node, error) {
			return c.Deviate(node, names...)
		}),
	}
	to.registerWithNode(cmd.Flags())
	cmd.Flags().BoolVar(&none, "none", false, "remove all deviations")
	return cmd
}
