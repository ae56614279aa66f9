package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/sandbox/fault"
)

// listFlags holds the flags that list what a sandbox can do wrong.
type listFlags struct {
	deviations, scenarios, asJSON bool
	about                         string
}

func (l *listFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&l.deviations, "deviations", false, "list the deviations, faults and correct but unusual habits, and exit")
	f.BoolVar(&l.scenarios, "scenarios", false, "list the scenarios, and exit")
	f.StringVar(&l.about, "about", "", "list only what has these `words` in its name, its text, or the requirements that it breaks")
	f.BoolVar(&l.asJSON, "json", false, "list as JSON")
}

func (l *listFlags) isSet() bool { return l.deviations || l.scenarios || l.about != "" || l.asJSON }

// listedDeviation is a deviation in the JSON list.
type listedDeviation struct {
	Name string `json:"name"`
	// Benign reports that the deviation is unusual and correct.
	Benign bool   `json:"benign"`
	Why    string `json:"why"`
	// Breaks and Warns are ids of requirements.
	Breaks []string `json:"breaks,omitempty"`
	Warns  []string `json:"warns,omitempty"`
}

// listedScenario is a scenario in the JSON list.
type listedScenario struct {
	Name    string       `json:"name"`
	Does    string       `json:"does"`
	Why     string       `json:"why"`
	Client  string       `json:"client"`
	MayStop bool         `json:"mayStop,omitempty"`
	Times   int          `json:"times"`
	Wait    string       `json:"wait,omitempty"`
	Strikes []fault.Kind `json:"strikes"`
	Also    []fault.Kind `json:"also,omitempty"`
}

// write lists the deviations or the scenarios that match --about. If none matches, it returns an error that suggests names.
func (l *listFlags) write(out io.Writer) error {
	if l.deviations == l.scenarios {
		return usage(errors.New("--about and --json: expected one of --deviations and --scenarios with them"), "write rin sandbox --deviations --about paging")
	}
	if l.scenarios {
		return l.writeScenarios(out)
	}
	return l.writeDeviations(out)
}

// matcher returns a test for texts: whether a text has all words of --about. If no text has them, the endings of words do not count: "paging" then finds
// "page".
func (l *listFlags) matcher(texts []string) func(text string) bool {
	wanted := strings.ToLower(l.about)
	exact := func(text string) bool {
		text = strings.ToLower(text)
		for word := range strings.FieldsSeq(wanted) {
			if !strings.Contains(text, word) {
				return false
			}
		}
		return true
	}
	if slices.ContainsFunc(texts, exact) {
		return exact
	}
	return func(text string) bool {
		stems := map[string]bool{}
		for _, word := range words(text) {
			stems[stem(word)] = true
		}
		for _, word := range words(wanted) {
			if !stems[stem(word)] {
				return false
			}
		}
		return true
	}
}

// words returns the words of a text in lower case.
func words(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// stem returns a word without its ending, if more than two letters are left.
func stem(word string) string {
	for _, ending := range []string{"ing", "ies", "ed", "es", "s", "e", "y"} {
		if short, ok := strings.CutSuffix(word, ending); ok && len(short) > 2 {
			return short
		}
	}
	return word
}

// checkFound returns an error that suggests names if nothing matches --about.
func (l *listFlags) checkFound(found int, names []string) error {
	if found > 0 {
		return nil
	}
	return usage(fmt.Errorf("--about: nothing is about %q: %s", l.about, fault.Suggest(l.about, names)), "leave it out for all of them")
}

// requirementsText returns the ids of requirements with their titles and groups, to search in.
func requirementsText(ids []string) string {
	var b strings.Builder
	for _, id := range ids {
		r, _ := requirement.Find(requirement.ID(id))
		fmt.Fprintf(&b, " %s %s %s", id, r.Title, groupTitle(r.ID.Group()))
	}
	return b.String()
}

// groupTitle returns the title of a group of requirements; "" for an unknown one.
func groupTitle(name string) string {
	for _, g := range requirement.Groups() {
		if g.Name == name {
			return g.Title
		}
	}
	return ""
}

// writeDeviations lists the faults, and then the benign habits.
func (l *listFlags) writeDeviations(out io.Writer) error {
	describe := func(d fault.Deviation) string {
		return strings.Join([]string{d.Name, d.Why, requirementsText(d.Breaks), requirementsText(d.Warns)}, " ")
	}
	var texts []string
	for _, d := range slices.Concat(fault.Deviations(), fault.Habits()) {
		texts = append(texts, describe(d))
	}
	isAbout := l.matcher(texts)
	all := []listedDeviation{}
	list := func(some []fault.Deviation, benign bool) (text string) {
		for _, d := range some {
			if isAbout(describe(d)) {
				all = append(all, listedDeviation{d.Name, benign, d.Why, d.Breaks, d.Warns})
				text += fmt.Sprintf("%s\n%s\n%s\n", d.Name, report.Hang("    ", effect(d), helpWidth), report.Hang("    ", d.Why, helpWidth))
			}
		}
		return text
	}
	text := list(fault.Deviations(), false)
	habits := list(fault.Habits(), true)
	if err := l.checkFound(len(all), fault.DeviationNames()); err != nil {
		return err
	}
	if l.asJSON {
		return writeJSON(out, all)
	}
	if habits != "" {
		text += "\nBenign: unusual but correct. They do not cost a node its certificate.\n\n" + habits
	}
	_, err := io.WriteString(out, text)
	return err
}

// effect names the requirements that a deviation affects.
func effect(d fault.Deviation) string {
	switch {
	case len(d.Breaks) > 0:
		return "breaks " + strings.Join(d.Breaks, " ")
	case len(d.Warns) > 0:
		return "breaks nothing, earns a warning from " + strings.Join(d.Warns, " ")
	}
	return "breaks nothing"
}

// writeScenarios lists the scenarios.
func (l *listFlags) writeScenarios(out io.Writer) error {
	describe := func(s fault.Scenario) string {
		return strings.Join([]string{s.Name, s.Does, s.Why, s.Client, s.Kinds()}, " ")
	}
	var texts []string
	for _, s := range fault.Scenarios() {
		texts = append(texts, describe(s))
	}
	isAbout := l.matcher(texts)
	all := []listedScenario{}
	var b strings.Builder
	for _, s := range fault.Scenarios() {
		if !isAbout(describe(s)) {
			continue
		}
		listed := listedScenario{Name: s.Name, Does: s.Does, Why: s.Why, Client: s.Client, MayStop: s.MayStop, Times: s.Times, Strikes: s.Strikes, Also: s.Also}
		if s.Wait > 0 {
			listed.Wait = s.Wait.String()
		}
		all = append(all, listed)
		fmt.Fprintf(&b, "%s\n", s.Name)
		for _, part := range scenarioParts(s) {
			b.WriteString(report.Hang(fmt.Sprintf("    %-8s", part[0]), part[1], helpWidth) + "\n")
		}
	}
	if err := l.checkFound(len(all), fault.ScenarioNames()); err != nil {
		return err
	}
	if l.asJSON {
		return writeJSON(out, all)
	}
	b.WriteString(`
A play may differ: --scenario NAME:client=ID:path=PATH:times=N:wait=1s, or
rin sandbox play NAME --client ID --path PATH --times N --wait 1s; further
options are jitter, after, every, rate, method, and for the scenario answer
status and body. A path means this path and everything below it; / means
everything that the scenario may hit. A kind of requests has a name, as above.
Requests for what --spec serves are of the kind api.
`)
	_, err := io.WriteString(out, b.String())
	return err
}

// scenarioParts lists the properties of a scenario, each with its label.
func scenarioParts(s fault.Scenario) [][2]string {
	times := fmt.Sprintf("%d for each client", s.Times)
	if s.Wait > 0 {
		times += ", wait " + s.Wait.String()
	}
	return [][2]string{{"does", s.Does}, {"why", s.Why}, {"client", s.Client}, {"strikes", s.Kinds()}, {"times", times}}
}
