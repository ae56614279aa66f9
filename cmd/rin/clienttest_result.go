package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/clienttest"
)

// clientTest holds the results of all runs of a client.
type clientTest struct {
	Results []clienttest.Result
	// Problems are new and at least as bad as failOn, Known are in the baseline, Gone are the entries of the baseline that excuse nothing.
	Problems, Known []clienttest.Problem
	Gone            []clienttest.KnownProblem

	failOn   clientrules.Level
	baseline bool
}

// silent reports whether no run sent a request.
func (t clientTest) silent() bool {
	return !slices.ContainsFunc(t.Results, func(r clienttest.Result) bool { return r.Report.Requests > 0 })
}

// writeText writes a table of the runs, each problem once with the runs that show it, and a headline.
func (t clientTest) writeText(out io.Writer, columns int) {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "SCENARIO\tEXIT\tTIME\tREQUESTS\tVERDICT")
	for _, r := range t.Results {
		exit := fmt.Sprint(r.Exit)
		if r.TimedOut {
			exit = "killed"
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%s\n", scenarioName(r.Scenario), exit, r.Took.Round(100*time.Millisecond), r.Report.Requests, t.verdict(r))
	}
	_ = table.Flush() // out is a buffer
	fmt.Fprintln(out)
	var written []clientrules.ID
	other := t.other()
	for _, list := range [][]clienttest.Problem{t.Problems, other} {
		for _, p := range list {
			if !slices.Contains(written, p.Rule) {
				written = append(written, p.Rule)
				t.writeProblem(out, p, list, columns)
			}
		}
	}
	for _, r := range t.Results {
		if t.endedBadly(r) && strings.TrimSpace(r.Output) != "" {
			fmt.Fprintf(out, "%s: the end of what the program wrote\n", scenarioName(r.Scenario))
			for line := range strings.SplitSeq(strings.TrimRight(report.PlainLines(r.Output), "\n"), "\n") {
				fmt.Fprintf(out, "  | %s\n", line)
			}
			fmt.Fprintln(out)
		}
	}
	if slices.ContainsFunc(slices.Concat(t.Problems, other), func(p clienttest.Problem) bool { return p.Finding != nil && p.Finding.Curl != "" }) {
		fmt.Fprintln(out, report.Hang("", "The right commands are for rin sandbox, which serves the same data at "+defaultSandbox+".", columns))
	}
	for _, k := range t.Gone {
		fmt.Fprintln(out, report.Hang("", fmt.Sprintf("%s is in the baseline for %s, and it is gone: remove the entry", k.Rule, scenarioName(k.Scenario)), columns))
	}
	fmt.Fprintln(out, report.Hang("", t.headline(), columns))
}

// other returns the problems that do not count: the known ones, and those that are milder than failOn. The table of the runs names their rules, too.
func (t clientTest) other() []clienttest.Problem {
	var others []clienttest.Problem
	for _, r := range t.Results {
		for _, p := range r.Problems() {
			if !slices.ContainsFunc(t.Problems, func(counted clienttest.Problem) bool { return counted.Rule == p.Rule && counted.Scenario == p.Scenario }) {
				others = append(others, p)
			}
		}
	}
	return others
}

// endedBadly reports whether the way in which the program ended is a new problem.
func (t clientTest) endedBadly(r clienttest.Result) bool {
	return slices.ContainsFunc(t.Problems, func(p clienttest.Problem) bool {
		return p.Scenario == r.Scenario && p.Finding == nil
	})
}

// hitNothing reports whether the scenario hit no request of the program. Then the run says nothing about that scenario.
func hitNothing(r clienttest.Result) bool { return r.Scenario != "" && r.Strikes == 0 }

// verdict sums up one run: "ok", or the levels with their rules.
func (t clientTest) verdict(r clienttest.Result) string {
	problems := r.Problems()
	switch {
	case len(problems) == 0 && hitNothing(r):
		return "ok, hit nothing"
	case len(problems) == 0:
		return "ok"
	}
	var words []string
	for _, level := range clientrules.Levels() {
		var rules []string
		for _, p := range problems {
			if p.Level == level {
				rules = append(rules, string(p.Rule))
			}
		}
		if len(rules) > 0 {
			words = append(words, string(level)+" "+strings.Join(rules, " "))
		}
	}
	return strings.Join(words, ", ")
}

// writeProblem explains a problem, with all runs in list that show it.
func (t clientTest) writeProblem(out io.Writer, p clienttest.Problem, list []clienttest.Problem, columns int) {
	line := func(label, text string) {
		fmt.Fprintln(out, report.Hang(fmt.Sprintf("  %-5s  ", label), report.Plain(text), columns))
	}
	title := p.What
	if p.Finding != nil {
		title = p.Finding.Title
	}
	fmt.Fprintln(out, report.Hang("", fmt.Sprintf("%s  %s  %s", p.Rule, strings.ToUpper(string(p.Level)), title), columns))
	var in []string
	for _, other := range list {
		if other.Rule == p.Rule && !slices.Contains(in, scenarioName(other.Scenario)) {
			in = append(in, scenarioName(other.Scenario))
		}
	}
	line("in", strings.Join(in, ", "))
	if p.Finding == nil {
		if p.Rule != clienttest.NoRequest {
			for _, r := range t.Results {
				if r.Scenario == p.Scenario && r.Expected != "" {
					line("good", r.Expected)
				}
			}
		}
		fmt.Fprintln(out)
		return
	}
	line("seen", p.What)
	line("why", p.Finding.Why)
	line("fix", p.Finding.Fix)
	if curl := p.Finding.Curl; curl != "" {
		for _, r := range t.Results { // the sandboxes of the runs have ended, so the command names the default address
			curl = strings.ReplaceAll(curl, r.Origin, "http://"+defaultSandbox)
		}
		fmt.Fprintf(out, "  right  %s\n", report.PlainLines(curl))
	}
	fmt.Fprintln(out)
}

// headline returns the last line.
func (t clientTest) headline() string {
	bad := map[string]bool{}
	for _, p := range t.Problems {
		bad[p.Scenario] = true
	}
	text := fmt.Sprintf("%d of %s without a problem", len(t.Results)-len(bad), evidence.Count(len(t.Results), "run"))
	if t.failOn != clientrules.Note {
		text += fmt.Sprintf(" of level %s", t.failOn)
		if t.failOn == clientrules.Waste {
			text += " or worse"
		}
	}
	if t.baseline {
		text += fmt.Sprintf("; %s known, %d gone", evidence.Count(len(t.Known), "problem"), len(t.Gone))
	}
	text += "."
	if idle := slices.DeleteFunc(slices.Clone(t.Results), func(r clienttest.Result) bool { return !hitNothing(r) }); len(idle) > 0 {
		var names []string
		for _, r := range idle {
			names = append(names, scenarioName(r.Scenario))
		}
		text += " No request of the program was hit by: " + strings.Join(names, ", ") + "."
	}
	return text
}

// clientTestSchema is the version of the JSON document.
const clientTestSchema = "rin.client-test/v1"

// document returns the result as JSON.
func (t clientTest) document() any {
	return struct {
		Schema   string               `json:"schema"`
		FailOn   clientrules.Level    `json:"failOn"`
		Problems []clienttest.Problem `json:"problems"`
		Known    []clienttest.Problem `json:"known"`
		Runs     []clienttest.Result  `json:"runs"`
	}{clientTestSchema, t.failOn, append([]clienttest.Problem{}, t.Problems...), append([]clienttest.Problem{}, t.Known...), t.Results}
}

// clientCase is a test case of JUnit: one run.
type clientCase struct {
	Name     string         `xml:"name,attr"`
	Class    string         `xml:"classname,attr"`
	Seconds  string         `xml:"time,attr"`
	Failures []clientReason `xml:"failure,omitempty"`
	Output   string         `xml:"system-out,omitempty"`
}

// clientReason says why a run failed.
type clientReason struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// junit returns the runs as JUnit XML.
func (t clientTest) junit() ([]byte, error) {
	type suite struct {
		XMLName  xml.Name     `xml:"testsuite"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Cases    []clientCase `xml:"testcase"`
	}
	s := suite{Name: "rin client-test", Tests: len(t.Results)}
	for _, r := range t.Results {
		c := clientCase{Name: scenarioName(r.Scenario), Class: "rin.client-test", Seconds: fmt.Sprintf("%.3f", r.Took.Seconds()), Output: report.PlainLines(r.Output)}
		for _, p := range t.Problems {
			if p.Scenario != r.Scenario {
				continue
			}
			reason := clientReason{Message: fmt.Sprintf("%s: %s", p.Rule, report.Plain(p.What)), Type: string(p.Level)}
			if p.Finding != nil {
				reason.Text = report.Plain(p.Finding.Why) + "\n" + report.Plain(p.Finding.Fix)
			}
			c.Failures = append(c.Failures, reason)
		}
		if len(c.Failures) > 0 {
			s.Failures++
		}
		s.Cases = append(s.Cases, c)
	}
	var out bytes.Buffer
	out.WriteString(xml.Header)
	enc := xml.NewEncoder(&out)
	enc.Indent("", "  ")
	if err := enc.Encode(s); err != nil {
		return nil, fmt.Errorf("encode JUnit: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
