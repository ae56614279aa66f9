package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// TextOptions describe the screen.
type TextOptions struct {
	// Width is the number of columns. 0 means 80; the minimum is 20.
	Width int
	// Color allows ANSI colours. The basic ones follow the light or dark theme of the terminal.
	Color bool
}

// WriteText writes the summary for a terminal: groups, findings, and the verdict last, next to the prompt. The summary of a correct node fits
// one screen. Commands to copy are not wrapped, because that would break them.
func WriteText(w io.Writer, r Report, o TextOptions) error {
	c := &console{width: max(cmp.Or(o.Width, 80), 20), color: o.Color}
	c.head(r)
	c.groups(r)
	c.findings(r)
	if strings.Contains(c.out.String(), secretVariable) {
		c.blank()
		c.text(0, "", secretsLeftOut)
	}
	c.skipped(r)
	c.verdict(r)
	_, err := w.Write(c.out.Bytes())
	return err
}

// secretVariable begins the variables in commands that stand for secrets and tokens.
const secretVariable = "$RIN_"

// secretsLeftOut says how to run a command that has such a variable.
const secretsLeftOut = "Secrets are left out of the commands: set the variables that begin with RIN_ first. " +
	"rin token --token-url ... --client-id ... --client-secret env:... prints $RIN_ACCESS_TOKEN, and $RIN_ACCESS_TOKEN2 for the client of --client-id2."

// console formats lines. Every text passes through [Plain].
type console struct {
	out   bytes.Buffer
	width int
	color bool
}

// The styles are basic ANSI ones (ECMA-48 SGR). None sets a background.
const (
	bold    = "1"
	red     = "31"
	green   = "32"
	yellow  = "33"
	magenta = "35"
)

func (c *console) paint(s string, codes ...string) string {
	sgr := strings.Trim(strings.Join(codes, ";"), ";")
	if !c.color || sgr == "" || s == "" {
		return s
	}
	return "\x1b[" + sgr + "m" + s + "\x1b[0m"
}

func (c *console) blank() { c.out.WriteByte('\n') }

// text writes a paragraph after a lead, with a hanging indent.
func (c *console) text(indent int, lead, text string, codes ...string) {
	hang := indent + ansi.StringWidth(lead)
	if hang > c.width/3 {
		hang = indent + 2
	}
	plain := Plain(text)
	first := wrap(plain, max(8, c.width-indent-ansi.StringWidth(lead)), mayBreak)[0]
	// The further lines may have another width, so that the rest is wrapped again.
	rest := strings.TrimSpace(strings.TrimPrefix(strings.Join(strings.Fields(plain), " "), first))
	c.line(indent, c.paint(lead, codes...)+c.paint(first, boldOnly(codes)...))
	if rest == "" {
		return
	}
	for _, l := range wrap(rest, max(8, c.width-hang), mayBreak) {
		c.line(hang, c.paint(l, boldOnly(codes)...))
	}
}

// boldOnly keeps only the weight of a style: long text has the terminal's own colour.
func boldOnly(codes []string) []string {
	return slices.DeleteFunc(slices.Clone(codes), func(code string) bool { return code != bold })
}

func (c *console) line(indent int, s string) {
	fmt.Fprintf(&c.out, "%s%s\n", strings.Repeat(" ", indent), s)
}

func (c *console) head(r Report) {
	catalogue := r.Catalogue.Version
	if digest := strings.TrimPrefix(r.Catalogue.Digest, "sha256:"); digest != "" {
		catalogue += " (" + digest[:min(len(digest), 12)] + ")" // the files have the whole digest
	}
	c.text(0, "", fmt.Sprintf("rin %s, catalogue %s, profile %s, %s", r.Suite.Version, catalogue, r.Profile, r.Date.Format("2006-01-02 15:04 UTC")), bold)
	c.text(0, "node    ", cmp.Or(r.Target.BaseURL, r.Target.InfoURL))
	c.text(0, "token   ", r.Target.TokenURL)
	if r.Operations.Documented > 0 {
		rest := ""
		if !r.Operations.isWhole() {
			rest = " (the report lists the others)"
		}
		c.text(0, "covers  ", fmt.Sprintf("%s%s; %s", r.Operations, rest, r.Budget))
	} else {
		c.text(0, "covers  ", r.Budget.String())
	}
	facts := slices.DeleteFunc(r.madeFacts(), func(f fact) bool { return f.Value == notStated }) // the reader has probably run it
	for i, f := range facts {
		lead := "made    "
		if i > 0 {
			lead = "        "
		}
		c.text(0, lead, f.Name+": "+f.Value)
	}
}

// groups writes one line for each judged group.
func (c *console) groups(r Report) {
	c.blank()
	longest := 0
	for _, g := range r.Catalogue.Groups {
		if g.Totals.Sum() > 0 {
			longest = max(longest, ansi.StringWidth(g.Title))
		}
	}
	for _, g := range r.Catalogue.Groups {
		if g.Totals.Sum() == 0 {
			continue
		}
		worst := r.worst(g)
		name := " " + g.Name + "  "
		if c.width >= longest+40 {
			name += pad(g.Title, longest+2)
		}
		tally := c.wrapBeside(r.tally(g.Totals, g.Name), ansi.StringWidth(Symbol(worst)+name))
		c.line(0, c.paint(Symbol(worst), present(worst).style, bold)+name+tally)
	}
}

// worst returns the outcome whose mark is before a group.
func (r Report) worst(g Group) requirement.Outcome {
	worst := verdict.Outcomes()[0]
	for _, o := range verdict.Outcomes() { // from best to worst
		// Not applicable counts only if nothing passed.
		if g.Totals.Of(o) > 0 && (o != requirement.NotApplicable || g.Totals.Pass == 0) {
			worst = o
		}
	}
	return r.markOf(worst, g.Name)
}

// wrapBeside wraps a text that follows a lead of n columns.
func (c *console) wrapBeside(text string, n int) string {
	return strings.Join(Wrap(text, max(12, c.width-n)), "\n"+strings.Repeat(" ", n))
}

func (c *console) verdict(r Report) {
	c.blank()
	outcome := mark(r.Verdict.Decision, r.Verdict.Failed)
	c.text(0, Symbol(outcome)+" ", r.Verdict.Headline, bold, present(outcome).style)
	for i, reason := range r.Verdict.Reasons {
		if i == maxReasons {
			c.text(2, "· ", "and "+evidence.Count(len(r.Verdict.Reasons)-i, "more reason")+", see above")
			break
		}
		c.text(2, "· ", reason.String())
	}
	if r.Run.Partial != "" {
		c.text(2, "", "Restricted by its operator: "+r.Run.Partial+".")
	}
	c.text(2, "", fmt.Sprintf("%s, of %d judged.", r.tally(r.Totals, ""), r.Totals.Sum()))
	for _, sentence := range r.suiteSentences() {
		c.text(2, "", sentence)
	}
	c.text(2, "", r.uncoveredSentence())
	for _, n := range r.Notes {
		// Only a certificate needs the note about its validity; the files always have it.
		if r.Verdict.Decision == verdict.Certified || !strings.HasPrefix(n, "This is a snapshot") {
			c.text(2, "", n)
		}
	}
}

// maxReasons bounds the reasons under the verdict. The findings above have all of them.
const maxReasons = 12

// findings writes failures, inconclusive outcomes and warnings.
func (c *console) findings(r Report) {
	for _, q := range append(r.attention(requirement.Fail), r.attention(requirement.Inconclusive)...) {
		c.finding(q)
	}
	for _, q := range r.attention(requirement.Warn) {
		c.warning(q.Requirement)
	}
	for _, h := range r.habits() {
		c.blank()
		c.text(0, Symbol(requirement.Warn)+" ", h.Title(), bold, present(requirement.Warn).style)
		for _, q := range h.Warnings {
			c.text(2, pad(string(q.ID), 8), q.Reason)
			if q.Seen != "" {
				c.text(10, "", "seen in "+q.Seen)
			}
		}
	}
}

// finding writes a failure or an inconclusive outcome in full.
func (c *console) finding(q attentionItem) {
	c.blank()
	c.text(0, Symbol(q.Mark())+" "+string(q.ID)+"  ", q.Title, bold, present(q.Mark()).style)
	c.text(2, "", q.outcomeLine())
	c.field("expected", q.Expected)
	c.field("got", q.Got)
	c.field("seen in", q.Seen)
	for i, s := range q.furtherSubjects() {
		if i == maxFurther {
			c.text(4, "· ", fmt.Sprintf("and %d more", len(q.furtherSubjects())+q.SubjectsCut-i))
			break
		}
		c.text(4, "· ", q.subjectLine(s))
	}
	c.field("source", q.cite())
	c.field("", q.link())
	c.field("cause", q.Cause())
	c.field(remedy(q.Outcome), q.Fix)
	for _, n := range q.Notes {
		c.field("note", n)
	}
	if len(q.Also) > 0 {
		c.field("also", verdict.ListIDs(q.Also, 8))
	}
	c.command(q.Curl)
}

// maxFurther bounds the further subjects of a finding on the screen. The files have more.
const maxFurther = 3

// warning writes a warning and its fix.
func (c *console) warning(q Requirement) {
	c.blank()
	c.text(0, Symbol(q.Outcome)+" "+string(q.ID)+"  ", q.Title, bold, present(q.Outcome).style)
	c.text(2, "", Word(q.Outcome)+": "+q.Reason)
	c.field("seen in", q.Seen)
	c.field("fix", q.Fix)
}

func (c *console) field(name, value string) {
	if value != "" {
		c.text(2, pad(name, 9), value)
	}
}

// command writes a command to copy, without wrapping.
func (c *console) command(s string) {
	if s == "" {
		return
	}
	for _, l := range strings.Split(PlainLines(s), "\n") {
		c.line(2, l)
	}
}

// skipped lists blocked and not-applicable requirements, grouped by reason.
func (c *console) skipped(r Report) {
	var before requirement.Outcome
	for _, s := range r.skippedGroups() {
		if s.Outcome != before {
			c.blank()
		}
		before = s.Outcome
		c.text(0, Symbol(s.Outcome)+" ", fmt.Sprintf("%s %s: %s", verdict.ListIDs(s.IDs, 4), Word(s.Outcome), s.Because))
	}
}
