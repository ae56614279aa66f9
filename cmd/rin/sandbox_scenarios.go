package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/scenario"
)

// scenarioFlags say what a sandbox plays from the start, and whether requests may ask for more.
type scenarioFlags struct {
	plays          []string
	list, byHeader bool
}

func (s *scenarioFlags) register(f *pflag.FlagSet) {
	f.StringArrayVar(&s.plays, "scenario", nil, "play a scenario, a fixed sequence of faults for each client and then good answers: `NAME`, or NAME:client=ID:path=PATH:times=N:wait=1s with what differs; may be repeated")
	f.BoolVar(&s.list, "scenarios", false, "list the scenarios, and end")
	f.BoolVar(&s.byHeader, "deviate-header", false, "let requests ask for what is done to them: "+sandbox.DeviateHeader+": NAME, "+scenario.Header+": NAME")
}

// configure adds them to the configuration of a node.
func (s *scenarioFlags) configure(c *sandbox.Config) error {
	c.AskedByHeader = s.byHeader
	for _, text := range s.plays {
		p, err := scenario.Parse(text)
		if err != nil {
			return usage(fmt.Errorf("--scenario: %w", err), "rin sandbox --scenarios lists them: --scenario 503-twice:client=ID:times=3")
		}
		c.Scenarios = append(c.Scenarios, p)
	}
	return nil
}

// writeScenarios lists what a sandbox can play.
func writeScenarios(out io.Writer) error {
	const indent = 12
	var b strings.Builder
	for _, s := range scenario.All() {
		fmt.Fprintf(&b, "%s\n", s.Name)
		times := fmt.Sprintf("%d for each client", s.Times)
		if s.Wait > 0 {
			times += ", wait " + s.Wait.String()
		}
		for _, part := range [][2]string{{"does", s.Does}, {"why", s.Why}, {"client", s.Client}, {"strikes", s.Kinds()}, {"times", times}} {
			lines := folded(part[1], helpWidth-indent)
			fmt.Fprintf(&b, "    %-*s%s\n", indent-4, part[0], strings.Join(lines, "\n"+strings.Repeat(" ", indent)))
		}
	}
	b.WriteString(`
A play may differ: --scenario NAME:client=ID:path=PATH:times=N:wait=1s, or
rin sandbox play NAME --client ID --path PATH --times N --wait 1s. A path stands
for itself and all below it, / for all that the scenario may strike; a kind of
requests has a name, as above. What --spec serves is of the kind api.
`)
	_, err := io.WriteString(out, b.String())
	return err
}

// waitOf is how long something takes, as a message says it.
func waitOf(wait time.Duration) string {
	if wait == 0 {
		return ""
	}
	return wait.String()
}
