package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/sandbox/control"
	"github.com/rin-network/rin/sandbox/fault"
)

func playCommand(w environment) *cobra.Command {
	var to controlTarget
	var play control.Play
	var wait time.Duration
	cmd := &cobra.Command{
		Use:   "play SCENARIO",
		Short: "Play a scenario: some faults for each client, then good answers",
		Long: `Play makes a running node fail the first matching requests of each client, as
often as the scenario or --times says, and answer well afterwards. Each client
has its own sequence. Running scenarios continue; a scenario that is played
again restarts. Each faulty answer has the header ` + fault.ScenarioHeader + `.`,
		Example: `  rin sandbox play 429-then-ok
  rin sandbox play 503-twice --client demo-client --times 5 --wait 3s
  rin sandbox play slow --path token         only the token endpoint
  rin sandbox play connection-cut --path /   every resource, not only the API
  rin sandbox play truncated-json --path /ris-synergy/funding/v3/fundings
  rin sandbox play key-rotation --wait 60s   the old key stays good for a minute
  rin sandbox --scenarios                    all scenarios, with their requests`,
		Args: func(_ *cobra.Command, names []string) error {
			if len(names) != 1 {
				return usage(fmt.Errorf("expected the name of one scenario, got %d", len(names)), "rin sandbox --scenarios lists them")
			}
			return nil
		},
		ValidArgsFunction: completeScenarios,
		RunE: to.changeNode(w, func(c control.Client, node string, names []string) (control.Node, error) {
			play.Name = names[0]
			if wait > 0 {
				play.Wait = wait.String()
			}
			return c.Play(node, play)
		}),
	}
	f := cmd.Flags()
	to.registerWithNode(f)
	f.StringVar(&play.Client, "client", "", "`id` of the only client to hit (default all)")
	f.StringVar(&play.Path, "path", "", "a `path` and all below it, or a kind: token, info, list,\ndetail ... (default the requests of the scenario)")
	f.IntVar(&play.Times, "times", 0, "faults for each client (default the scenario's)")
	f.DurationVar(&wait, "wait", 0, "how long something takes, such as Retry-After or a pause\n(default the scenario's)")
	return cmd
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
	for _, option := range [][2]string{{"wait", s.Wait}, {"client", s.Client}, {"path", s.Path}} {
		if option[1] != "" {
			heading += ", " + option[0] + " " + option[1]
		}
	}
	var clients []string
	for client, times := range s.Struck {
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
