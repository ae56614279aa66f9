package report

import (
	"fmt"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// findings writes what somebody has to look at, the gravest first.
func (c *console) findings(r Report) {
	for _, q := range r.tell(requirement.Fail) {
		c.finding(q)
	}
	for _, q := range r.tell(requirement.Inconclusive) {
		c.finding(q)
	}
	for _, q := range r.tell(requirement.Warn) {
		c.warning(q.Requirement)
	}
}

// finding writes a failure, or what could not be judged, in full.
func (c *console) finding(q told) {
	c.blank()
	c.text(0, symbol(q.Outcome)+" "+string(q.ID)+"  ", q.Title, bold, style(q.Outcome))
	c.text(2, "", fmt.Sprintf("%s, %s: %s", Word(q.Outcome), price(q.Requirement), q.Reason))
	c.field("expected", q.Expected)
	c.field("got", q.Got)
	c.field("seen in", q.Seen)
	for i, s := range q.further() {
		if i == maxFurther {
			c.text(4, "· ", fmt.Sprintf("and %d more", len(q.further())+q.SubjectsCut-i))
			break
		}
		c.text(4, "· ", q.line(s))
	}
	c.field("source", q.cite())
	c.field("fault", string(q.Fault))
	c.field(remedy(q.Outcome), q.Fix)
	for _, n := range q.Notes {
		c.field("note", n)
	}
	if len(q.Also) > 0 {
		c.field("also", verdict.IDs(q.Also, 8))
	}
	c.command(q.Curl)
}

// maxFurther bounds the further subjects of one finding on the screen; the files hold more.
const maxFurther = 3

// warning is shorter: what and how to mend it.
func (c *console) warning(q Requirement) {
	c.blank()
	c.text(0, symbol(q.Outcome)+" "+string(q.ID)+"  ", q.Title, bold, style(q.Outcome))
	c.text(2, "", Word(q.Outcome)+": "+q.Reason)
	c.field("fix", q.Fix)
}

func (c *console) field(name, value string) {
	if value != "" {
		c.text(2, pad(name, 9), value)
	}
}

// command writes something to copy: never broken by rin, only made harmless.
func (c *console) command(s string) {
	if s == "" {
		return
	}
	for _, l := range strings.Split(PlainLines(s), "\n") {
		c.line(2, l)
	}
}

// silent lists what says nothing about the node, those with the same reason together.
func (c *console) silent(r Report) {
	for _, o := range []requirement.Outcome{requirement.Blocked, requirement.NotApplicable} {
		for i, s := range r.silences(o) {
			if i == 0 {
				c.blank()
			}
			c.text(0, symbol(o)+" ", fmt.Sprintf("%s %s: %s", verdict.IDs(s.ids, 4), Word(o), s.because))
		}
	}
}

// silent is the heading of what says nothing about the node.
func (r Report) silent() string {
	var words []string
	for _, o := range []requirement.Outcome{requirement.Blocked, requirement.NotApplicable} {
		if len(r.silences(o)) > 0 {
			words = append(words, Word(o))
		}
	}
	return sentence(strings.Join(words, " and "))
}

// silence is a group of requirements that were not judged for the same reason.
type silence struct {
	ids     []requirement.ID
	because string
}

// silences groups the requirements of one outcome by their reason, in catalogue order of the first.
func (r Report) silences(o requirement.Outcome) []silence {
	var out []silence
	at := map[string]int{}
	for _, q := range r.Requirements {
		if q.Outcome != o {
			continue
		}
		because := q.Reason
		if q.BlockedBy != "" {
			because = "waits for " + string(q.BlockedBy)
		}
		i, ok := at[because]
		if !ok {
			i = len(out)
			at[because] = i
			out = append(out, silence{because: because})
		}
		out[i].ids = append(out[i].ids, q.ID)
	}
	return out
}
