package clienttest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/fault"
)

// The ids of the problems of a run that are not breaches of a rule for clients.
const (
	Exit        clientrules.ID = "exit"       // the program ended with an error, where a good client goes on
	TimeOut     clientrules.ID = "time-out"   // the program was killed because its time was over
	NoRequest   clientrules.ID = "no-request" // the program sent nothing to the sandbox
	LostRecords clientrules.ID = "lost"       // the program reported success without the records
)

// Problem is something that is wrong in one run.
type Problem struct {
	Scenario string            `json:"scenario"` // empty for the node without faults
	Rule     clientrules.ID    `json:"rule"`
	Level    clientrules.Level `json:"level"`
	What     string            `json:"what"`
	// Finding is the broken rule; nil for [Exit], [TimeOut], [NoRequest] and
	// [LostRecords].
	Finding *clientrules.Finding `json:"-"`
}

// patience is the largest number of requests that a patient client sends to a fault that lasts, within a run.
const patience = 12

// Problems lists what is wrong in a run, the worst first.
func (r Result) Problems() []Problem {
	var out []Problem
	add := func(rule clientrules.ID, what string) {
		out = append(out, Problem{Scenario: r.Scenario, Rule: rule, Level: clientrules.Fault, What: what})
	}
	switch {
	case r.TimedOut && r.Lasts && r.Strikes <= patience:
		out = append(out, Problem{Scenario: r.Scenario, Rule: TimeOut, Level: clientrules.Note,
			What: "the program was still repeating its request, with pauses, when its time was over; it was killed, and how it ends is not known"})
	case r.TimedOut:
		add(TimeOut, "the program had not ended in time, and was killed")
	case r.Exit != 0 && !r.MayStop:
		add(Exit, fmt.Sprintf("the program ended with exit code %d", r.Exit))
	}
	if r.Report.Requests == 0 {
		add(NoRequest, "the program sent no request to the sandbox: does it read its addresses from the environment?")
	}
	if r.Exit == 0 && len(r.Unread) > 0 {
		add(LostRecords, "the program ended with exit code 0, but "+r.Unread[0])
	}
	for _, client := range r.Report.Clients {
		for _, f := range client.Findings {
			if r.Exit != 0 && r.MayStop && isLoss(f.Rule) { // the program has reported the loss
				continue
			}
			what := f.Title
			if len(f.Seen) > 0 {
				what = f.Seen[0].What
			}
			out = append(out, Problem{r.Scenario, f.Rule, f.Level, what, &f})
		}
	}
	slices.SortStableFunc(out, func(a, b Problem) int {
		return slices.Index(clientrules.Levels(), a.Level) - slices.Index(clientrules.Levels(), b.Level)
	})
	return out
}

// isLoss reports whether a rule is about records that the client did not get. A client that ends with an error does not claim to have read them.
func isLoss(rule clientrules.ID) bool {
	return slices.Contains([]clientrules.ID{"CLT-23", "CLT-26", "CLT-49"}, rule)
}

// Baseline lists problems that are known.
type Baseline struct {
	Schema string         `yaml:"schema"`
	Known  []KnownProblem `yaml:"known"`
}

// BaselineSchema is the version of the file.
const BaselineSchema = "rin.client-baseline/v1"

// KnownProblem is a problem that is excused, with the reason.
type KnownProblem struct {
	Scenario string         `yaml:"scenario,omitempty"` // empty for the node without faults
	Rule     clientrules.ID `yaml:"rule"`
	Reason   string         `yaml:"reason"`
}

// ReadBaseline reads a baseline. Unknown members, rules and scenarios are errors, and so is an entry without a reason.
func ReadBaseline(data []byte) (Baseline, error) {
	var b Baseline
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&b); err != nil && !errors.Is(err, io.EOF) {
		return b, fmt.Errorf("read the baseline: %w", err)
	}
	if b.Schema != BaselineSchema {
		return b, fmt.Errorf("the baseline has the schema %q: expected %q", b.Schema, BaselineSchema)
	}
	for i, k := range b.Known {
		_, isRule := clientrules.Find(k.Rule)
		switch {
		case !isRule && !slices.Contains([]clientrules.ID{Exit, TimeOut, NoRequest, LostRecords}, k.Rule):
			return b, fmt.Errorf("entry %d of the baseline: %q is not a rule: expected CLT-01 and so on, %s, %s, %s or %s", i+1, k.Rule, Exit, TimeOut, NoRequest, LostRecords)
		case k.Reason == "":
			return b, fmt.Errorf("entry %d of the baseline (%s): expected a reason", i+1, k.Rule)
		}
		if k.Scenario != "" {
			if _, err := fault.ParsePlay(k.Scenario); err != nil {
				return b, fmt.Errorf("entry %d of the baseline: %w", i+1, err)
			}
		}
	}
	return b, nil
}

// Split separates new problems, of the level mildest or worse, from known ones. obsolete lists the entries that excuse nothing in these runs, although
// their scenario was played.
func (b Baseline) Split(results []Result, mildest clientrules.Level) (fresh, known []Problem, obsolete []KnownProblem) {
	used := make([]bool, len(b.Known))
	for _, r := range results {
		for _, p := range r.Problems() {
			i := slices.IndexFunc(b.Known, func(k KnownProblem) bool { return k.Scenario == p.Scenario && k.Rule == p.Rule })
			switch {
			case i >= 0:
				used[i] = true
				known = append(known, p)
			case p.Level.AtLeast(mildest):
				fresh = append(fresh, p)
			}
		}
	}
	for i, k := range b.Known {
		played := slices.ContainsFunc(results, func(r Result) bool { return r.Scenario == k.Scenario })
		if !used[i] && played {
			obsolete = append(obsolete, k)
		}
	}
	return fresh, known, obsolete
}

// WriteBaseline writes the problems as a baseline whose reasons are to be completed.
func WriteBaseline(problems []Problem) ([]byte, error) {
	b := Baseline{Schema: BaselineSchema, Known: []KnownProblem{}}
	for _, p := range problems {
		k := KnownProblem{p.Scenario, p.Rule, "say why it is excused, and who mends it"}
		if !slices.Contains(b.Known, k) {
			b.Known = append(b.Known, k)
		}
	}
	slices.SortStableFunc(b.Known, func(x, y KnownProblem) int {
		return cmp.Or(cmp.Compare(x.Scenario, y.Scenario), cmp.Compare(x.Rule, y.Rule))
	})
	return yaml.Marshal(b)
}

// Outcome explains a problem that is not a breach of a rule for clients.
type Outcome struct {
	ID                clientrules.ID
	Title, Found, Fix string
}

// Outcomes lists the outcomes of a run that are faults.
func Outcomes() []Outcome {
	return []Outcome{
		{Exit, "The program ended with an error where a good client goes on",
			"Its exit code is not 0, although a good client succeeds in this scenario: the node has no fault, or one that a pause or a new token overcomes.",
			"Handle the fault as rin explain SCENARIO says. The end of the program's output is below the table of the run."},
		{TimeOut, "The program was killed because its time was over",
			"It still ran when --timeout had passed. A client that repeats a request for ever, or waits for an answer without a limit, looks like this.",
			"Set a limit for each request and for the number of repetitions. If the program is only slow, or makes long pauses, give it more time with --timeout."},
		{NoRequest, "The program sent no request to the sandbox",
			"The sandbox of the run got no request. Usually the program has the addresses of another node built in, or could not start its work.",
			"Read the addresses from the environment: rin client-test --help lists the variables. The sandbox of each run has a port of its own."},
		{LostRecords, "The program reported success without the records",
			"Its exit code is 0, but a request for records failed and no later request read them. The same holds for a request that was redirected, also one for a token or the info resource, " +
				"if the program neither followed the redirect nor read the records in another way.",
			"Repeat the request, or follow the redirect; if that does not help, end with an exit code other than 0, so that nobody takes an incomplete list for a complete one."},
	}
}

// FindOutcome returns the outcome of an id.
func FindOutcome(id clientrules.ID) (Outcome, bool) {
	for _, o := range Outcomes() {
		if o.ID == id {
			return o, true
		}
	}
	return Outcome{}, false
}
