package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/clienttest"
	"github.com/rin-network/rin/sandbox/fault"
)

func explainCommand(w environment) *cobra.Command {
	return &cobra.Command{
		Use:   "explain ID",
		Short: "Explain a requirement, a rule, a deviation or a scenario",
		Long: `Explain shows what a requirement asks for and who says so, how it is tried, what
a correct node may do, how to fix a node, which deviations of the sandbox it
detects, and how to see it break. For a rule for clients (CLT-01 and so on) it
shows who asks for it, why, and how to keep it. For a rule of the interface
document (NET-R1 and so on) it shows the words and the requirements for it. For
a deviation, a habit or a scenario of the sandbox it shows what it does, where
it occurs in the field, what it breaks, and how to see it. For a fault of rin
client-test without a rule (exit, time-out, no-request, lost) it shows what was
found, and how to fix the client.`,
		Example: `  rin explain BRR-02
  rin explain tok-06
  rin explain CLT-03              a rule for clients
  rin explain NET-R17             a rule of the interface document
  rin explain page-size-ignored   a deviation or a habit of the sandbox
  rin explain 503-twice           a scenario of the sandbox
  rin explain lost                a fault of rin client-test`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("expected one ID, got %d", len(args)), topicHint)
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var ids []string
			for _, r := range requirement.Catalogue() {
				ids = append(ids, string(r.ID)+"\t"+r.Title)
			}
			for _, r := range clientrules.Catalogue() {
				ids = append(ids, string(r.ID)+"\t"+r.Title)
			}
			for _, o := range clienttest.Outcomes() {
				ids = append(ids, string(o.ID)+"\t"+o.Title)
			}
			return slices.Concat(ids, fault.DeviationNames(), fault.ScenarioNames()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			id := strings.ToUpper(args[0])
			e := explanation{width: min(displayOf(w, w.out, cmd).width, 100)}
			if r, ok := requirement.Find(requirement.ID(id)); ok {
				e.writeRequirement(r)
			} else if r, ok := clientrules.Find(clientrules.ID(id)); ok {
				e.writeClientRule(r)
			} else if rule, ok := requirement.FindRule(id); ok {
				e.writeRule(rule)
			} else if d, err := fault.FindDeviation(strings.ToLower(args[0])); err == nil {
				e.writeDeviation(d)
			} else if s, err := fault.FindScenario(strings.ToLower(args[0])); err == nil {
				e.writeScenario(s)
			} else if o, ok := clienttest.FindOutcome(clientrules.ID(strings.ToLower(args[0]))); ok {
				e.writeOutcome(o)
			} else {
				return unknownTopic(args[0])
			}
			_, err := io.WriteString(w.out, e.text.String())
			return err
		},
	}
}

// topicHint says where the names of topics are listed.
const topicHint = "rin requirements lists the requirements, with --clients the rules for clients; the rules of the interface document are NET-R1 to NET-R20; rin sandbox lists its --deviations and --scenarios"

// unknownTopic returns the error for a name under which there is nothing to explain. It suggests
// similar names.
func unknownTopic(name string) error {
	hint := topicHint
	if near := fault.Near(strings.ToLower(name), slices.Concat(fault.DeviationNames(), fault.ScenarioNames())); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "? " + hint
	}
	return usage(fmt.Errorf("unknown requirement, deviation or scenario %q", name), hint)
}

// explanation formats what rin explain says about one topic.
type explanation struct {
	width int
	text  strings.Builder
}

// writeRequirement explains a requirement for nodes.
func (e *explanation) writeRequirement(r requirement.Requirement) {
	fmt.Fprintf(&e.text, "%s  %s\n\n", r.ID, r.Title)
	e.writePart("gate", gateTexts()[r.Gate])
	e.writePart("profile", string(r.Profile))
	level := levelTexts()[r.Level]
	if r.Source.Derived {
		level += "; derived: the source implies it"
	}
	e.writePart("level", level)
	e.writeSources(r.Source, r.Quote)
	e.writePart("asked", r.Probe)
	if strings.Contains(r.Probe, "probe target") {
		e.writePart("probe target", "a protected resource of the node: the info endpoint where it refuses callers without a token, otherwise the first operation that does")
	}
	e.writePart("forgives", r.Forgives)
	for _, c := range requirement.Cases(r.ID) {
		e.writePart(string(c.Outcome), c.Title)
	}
	e.writePart("fix", r.Fix)
	e.writePart("needs", verdict.ListIDs(r.After, len(r.After)))
	e.writePart("broken by", r.Breaks)
	deviations := e.writeDeviations(r.ID)
	if x, ok := requirement.ExampleRequest(r); ok {
		fmt.Fprintf(&e.text, "\nAsk the node yourself:\n%s\n", evidence.Curl(x))
	}
	if len(deviations) > 0 {
		fmt.Fprintf(&e.text, "\nSee it break, as a report and as a node:\nrin demo --deviate %s\nrin sandbox --deviate %s\n", deviations[0].Name, deviations[0].Name)
	}
}

// writeRule explains a rule of the interface document.
func (e *explanation) writeRule(rule requirement.Rule) {
	fmt.Fprintf(&e.text, "%s  %s\n\n", rule.ShortName(), rule.Place)
	for i, words := range rule.Words {
		e.writePart([]string{"says", ""}[min(i, 1)], "“"+words+"”")
	}
	for i, r := range requirement.RequirementsCiting(rule) {
		e.writePart([]string{"judged by", ""}[min(i, 1)], string(r.ID)+": "+r.Title)
	}
	for _, u := range requirement.UncoveredRules() {
		if u.Rule.Name != rule.Name {
			continue
		}
		reason := u.Because
		if u.Part != "" {
			reason = u.Part + ": " + reason
		}
		e.writePart("not judged", reason)
	}
}

// writeSources writes the citations of a source with their links, and the quotation of the first one. A citation of the interface document is
// written with its words in place of a link, because that document has none.
func (e *explanation) writeSources(s requirement.Source, quote string) {
	also := "see also"
	for i, c := range s.Citations {
		where := c.URL
		if rule, ok := requirement.InterfaceRule(c); ok {
			where = "(" + rule.Place + ")"
			if words := strings.Join(rule.Words, "” “"); words != quote {
				where += ": “" + words + "”"
			}
		}
		if i == 0 {
			e.writePart("source", c.Text+" "+where)
			e.writePart("says", "“"+quote+"”")
			continue
		}
		e.writePart(also, c.Text+" "+where)
		also = ""
	}
}

// writeDeviations writes and returns the deviations of the sandbox that the requirement detected when the kill matrix was
// measured.
func (e *explanation) writeDeviations(id requirement.ID) []verdict.Deviation {
	deviations := verdict.RecordedMatrix().KilledBy(id)
	for i, d := range deviations {
		label := ""
		if i == 0 {
			label = "proved by"
		}
		e.writePart(label, d.Name+": "+d.Why)
	}
	if slices.Contains(verdict.AttestedRequirements(), id) {
		e.writePart("proved by", "no deviation: it cannot be tried without harm, so only the operator can attest it")
	}
	return deviations
}

// writePart writes a label with its text wrapped beside it. It writes nothing if the text is empty.
func (e *explanation) writePart(label, text string) {
	if text == "" {
		return
	}
	e.text.WriteString(report.Hang(fmt.Sprintf("%-16s", label), text, e.width) + "\n")
}

// levelTexts says for each level where a requirement comes from.
func levelTexts() map[requirement.Level]string {
	return map[requirement.Level]string{
		requirement.Network:        "network: the interface document binds its nodes",
		requirement.StandardMust:   "standard-must: MUST of a standard, or what follows from one",
		requirement.StandardShould: "standard-should: SHOULD of a standard",
		requirement.Recommended:    "recommended: good practice, or what the network's client relies on",
	}
}

// gateTexts says for each gate what a failure costs.
func gateTexts() map[requirement.Gate]string {
	return map[requirement.Gate]string{
		requirement.Gating:      "gating: a failure costs the certificate",
		requirement.Advice:      "advice: a failure is reported and costs only the profile full",
		requirement.Information: "information: a failure costs nothing",
	}
}

// writeClientRule explains a rule for clients.
func (e *explanation) writeClientRule(r clientrules.Rule) {
	e.text.WriteString(string(r.ID) + "  " + r.Title + "\n\n")
	e.writePart("for", "clients: rin sandbox judges them by what they send")
	e.writePart("level", clientLevelTexts()[r.Level])
	label := "source"
	for _, s := range r.Sources {
		where := s.Link
		if rule, ok := requirement.InterfaceRule(requirement.Citation{Text: "Interface document, " + s.Text}); ok {
			where = "(" + rule.Place + "): “" + strings.Join(rule.Words, "” “") + "”"
		}
		e.writePart(label, strings.TrimSpace(s.Text+" "+where))
		label = "see also"
	}
	e.writePart("why", r.Why)
	e.writePart("fix", r.Fix)
	e.text.WriteString("\nSee what your client does:\nrin sandbox                                in another terminal, then\nrin sandbox report\n")
}

// writeOutcome explains a fault of rin client-test that is not a breach of a rule.
func (e *explanation) writeOutcome(o clienttest.Outcome) {
	e.text.WriteString(string(o.ID) + "  " + o.Title + "\n\n")
	e.writePart("for", "clients: rin client-test finds it")
	e.writePart("level", "fault: rin client-test ends with 1, or with 3 if no run sent a request")
	e.writePart("found", o.Found)
	e.writePart("fix", o.Fix)
	e.text.WriteString("\nSee what your client does:\nrin client-test -- YOUR CLIENT\n")
}

// clientLevelTexts says for each level what it means to break a rule for clients.
func clientLevelTexts() map[clientrules.Level]string {
	return map[clientrules.Level]string{
		clientrules.Fault: "fault: it breaks a rule, gives a secret away, or loses data; rin sandbox report ends with 1",
		clientrules.Waste: "waste: legal, and costs the client or the node more than it needs",
		clientrules.Note:  "note: worth knowing, and may be intended",
	}
}

// writeDeviation explains a deviation or a habit of the sandbox.
func (e *explanation) writeDeviation(d fault.Deviation) {
	kind := "a fault of a node"
	if len(d.Breaks) == 0 {
		kind = "a benign habit of a node: unusual and correct"
	}
	fmt.Fprintf(&e.text, "%s  %s\n\n", d.Name, kind)
	e.writePart("why", d.Why)
	e.writeRequirements("breaks", d.Breaks)
	e.writeRequirements("of these, it leaves open", d.Opens)
	e.writeRequirements("may break", d.May)
	e.writeRequirements("warns", d.Warns)
	if d.Rare {
		e.writePart("seen", "by few kinds of requests: a run of standard effort may miss it, runs with --history or --effort deep find it")
	}
	if d.Transport != nil {
		fmt.Fprintf(&e.text, "\nSee it, as a node with TLS:\nrin sandbox --tls --deviate %s\n", d.Name)
		return
	}
	fmt.Fprintf(&e.text, "\nSee it, as a report and as a node:\nrin demo --deviate %[1]s\nrin sandbox --deviate %[1]s\nrin sandbox deviate %[1]s                    at a running sandbox\n", d.Name)
}

// writeRequirements lists requirements by id and title.
func (e *explanation) writeRequirements(label string, ids []string) {
	for _, id := range ids {
		r, _ := requirement.Find(requirement.ID(id))
		e.writePart(label, id+": "+r.Title)
		label = ""
	}
}

// writeScenario explains a scenario of the sandbox.
func (e *explanation) writeScenario(s fault.Scenario) {
	fmt.Fprintf(&e.text, "%s  a scenario: a sequence of faults, then good answers\n\n", s.Name)
	for _, part := range scenarioParts(s) {
		e.writePart(part[0], part[1])
	}
	if s.MayStop {
		e.writePart("ends", "a good client may end with an error here")
	}
	options := ""
	if s.Name == fault.Answer {
		options = ":status=503"
	}
	fmt.Fprintf(&e.text, "\nSee what your client does:\nrin client-test --scenario %[1]s%[2]s -- YOUR CLIENT\nrin sandbox --scenario %[1]s%[2]s\n", s.Name, options)
	if options == "" {
		fmt.Fprintf(&e.text, "rin sandbox play %s                        at a running sandbox\n", s.Name)
	}
}
