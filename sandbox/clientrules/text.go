package clientrules

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"
)

// WriteText writes the report for a terminal of the given width. Only commands that users copy may be wider.
func WriteText(w io.Writer, r Report, columns int) error {
	p := &textWriter{columns: max(columns, 40)}
	for _, s := range r.Clients {
		p.client(s)
	}
	if left := remainder(r); left != "" {
		p.paragraph("", left)
		p.text.WriteByte('\n')
	}
	p.paragraph("", headline(r))
	_, err := io.WriteString(w, p.text.String())
	return err
}

// textWriter breaks text into lines and indents them. It passes all text through printable.
type textWriter struct {
	text    strings.Builder
	columns int
}

func (p *textWriter) client(s ClientReport) {
	p.paragraph("", clientTitle(s)+" · "+levelCounts(s))
	p.paragraph("  ", requestCounts(s))
	p.paragraph("  ", timeSpan(s))
	if len(s.Agents) > 0 {
		p.paragraph("  ", strings.Join(s.Agents, ", "))
	}
	p.text.WriteByte('\n')
	for _, f := range s.Findings {
		p.finding(f)
	}
}

func (p *textWriter) finding(f Finding) {
	p.paragraph("  ", fmt.Sprintf("%s  %s  %s", f.Rule, strings.ToUpper(string(f.Level)), f.Title))
	for i, e := range f.Seen {
		label := ""
		if i == 0 {
			label = "seen"
		}
		p.field(label, e.At.UTC().Format("15:04:05")+" "+e.What+" ("+eventLine(e)+")")
	}
	if more := f.Count - len(f.Seen); more > 0 {
		p.field("", "and "+Times(more)+" more")
	}
	p.field("why", f.Why)
	p.field("rule", sources(f))
	p.field("fix", f.Fix)
	if f.Curl != "" {
		fmt.Fprintf(&p.text, "    right  %s\n", printable(f.Curl))
	}
	p.text.WriteByte('\n')
}

// field writes a text with a label in a column before it.
func (p *textWriter) field(label, text string) {
	p.paragraph(fmt.Sprintf("    %-5s  ", label), text)
}

// paragraph writes text after a lead, and indents its further lines by the width of the lead.
func (p *textWriter) paragraph(lead, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(lead))
	for _, line := range wrap(printable(text), p.columns-len(indent)) {
		p.text.WriteString(lead + line + "\n")
		lead = indent
	}
}

// wrap breaks text into lines at blanks, or within a word that is too long.
func wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		for {
			room := columns - utf8.RuneCountInString(line) - 1
			if line == "" {
				room = columns
			}
			if utf8.RuneCountInString(word) <= room {
				break
			}
			if line != "" {
				lines, line = append(lines, line), ""
				continue
			}
			cut := len(string([]rune(word)[:columns]))
			lines, word = append(lines, word[:cut]), word[cut:]
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// WriteLines writes requests for a terminal of the given width: what was sent and answered, and, if the request was wrong, why and a correct
// command.
func WriteLines(w io.Writer, lines []Line, columns int) error {
	p := &textWriter{columns: max(columns, 40)}
	for _, l := range lines {
		p.line(l)
	}
	_, err := io.WriteString(w, p.text.String())
	return err
}

func (p *textWriter) line(l Line) {
	target := l.Path
	if l.Query != "" {
		target += "?" + l.Query
	}
	p.paragraph(fmt.Sprintf("%5s  ", fmt.Sprintf("#%d", l.Number)), fmt.Sprintf("%s %s %s %s -> %s", l.Time.UTC().Format("15:04:05"), cmp.Or(l.Remark.Client, l.Entry.Client, "-"), l.Method, target, outcome(l)))
	if r := l.Refusal; r != nil {
		p.paragraph("       ", strings.TrimSuffix(r.Detail+"; "+r.Hint, "; "))
	}
	if len(l.Rules) > 0 {
		rules := make([]string, len(l.Rules))
		for i, id := range l.Rules {
			rules[i] = string(id)
		}
		p.paragraph("       ", "breaks "+strings.Join(rules, ", "))
	}
	if l.Curl != "" {
		fmt.Fprintf(&p.text, "       right  %s\n", printable(l.Curl))
	}
}

// outcome describes the answer.
func outcome(l Line) string {
	text := fmt.Sprint(l.Status)
	if l.Status == 0 {
		text = "answer not seen"
	}
	if l.Cut {
		text += ", cut"
	}
	if l.Page != nil {
		text += ", " + plural(l.Page.Items, "item")
		if l.Page.Next {
			text += " and more"
		}
	}
	if l.RetryAfter != "" {
		text += ", Retry-After: " + l.RetryAfter
	}
	if len(l.Ignored) > 0 {
		text += ", ignored " + strings.Join(l.Ignored, " ")
	}
	if len(l.Deviations) > 0 {
		text += ", deviates: " + strings.Join(l.Deviations, " ")
	}
	return text
}

// clientTitle returns the heading of a client.
func clientTitle(s ClientReport) string {
	if s.Client != "" && !s.Proven {
		return s.Client + " (never authenticated)"
	}
	return cmp.Or(s.Client, "unknown client")
}

// levelCounts counts the findings: "2 faults, 1 waste".
func levelCounts(s ClientReport) string {
	var parts []string
	for _, level := range Levels() {
		if n := s.Count(level); n > 0 {
			parts = append(parts, plural(n, string(level)))
		}
	}
	if len(parts) == 0 {
		return "no findings"
	}
	return strings.Join(parts, ", ")
}

// plural formats a number and what it counts: "1 request", "2 requests". "waste" has no plural.
func plural(n int, what string) string {
	switch {
	case n == 1 || what == string(Waste):
		return fmt.Sprintf("%d %s", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Times formats how often something happened: "once", "3 times".
func Times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// requestCounts formats the numbers of requests of a client.
func requestCounts(s ClientReport) string {
	text := plural(s.Requests, "request") + ": " + plural(s.Calls, "call") + " of protected resources, " + plural(s.Tokens, "token") + " fetched, " + fmt.Sprintf("%d refused", s.Refused) + failures(s)
	if len(s.Nodes) > 0 {
		text += "; at " + strings.Join(s.Nodes, ", ")
	}
	return text
}

// failures formats the number of requests that the node failed to answer; "" if there are none.
func failures(s ClientReport) string {
	if s.Failed == 0 {
		return ""
	}
	return fmt.Sprintf(", %d failed", s.Failed)
}

// timeSpan formats the time from the first to the last request of a client, by the clock of the nodes.
func timeSpan(s ClientReport) string {
	if s.First.Equal(s.Last) {
		return formatTime(s.First)
	}
	if s.First.UTC().Format(time.DateOnly) == s.Last.UTC().Format(time.DateOnly) {
		return formatTime(s.First) + " to " + s.Last.UTC().Format("15:04:05") + " UTC"
	}
	return formatTime(s.First) + " to " + formatTime(s.Last)
}

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") + " UTC" }

// sources names the sources of a rule.
func sources(f Finding) string {
	var names []string
	for _, s := range f.Sources {
		names = append(names, s.Text)
	}
	return strings.Join(names, "; ")
}

// eventLine lists the numbers of an event's entries in the journal, and the deviations of the node.
func eventLine(e Event) string {
	var numbers []string
	for _, n := range e.Entries {
		numbers = append(numbers, fmt.Sprintf("#%d", n))
	}
	text := strings.Join(numbers, " ")
	if len(e.Deviations) > 0 {
		text += ", while the node deviated: " + strings.Join(e.Deviations, ", ")
	}
	return text
}

// headline returns the verdict on all clients.
func headline(r Report) string {
	faulty, untidy := 0, 0
	for _, s := range r.Clients {
		switch {
		case s.Count(Fault) > 0:
			faulty++
		case len(s.Findings) > 0:
			untidy++
		}
	}
	switch {
	case len(r.Clients) == 0:
		return "Nothing to judge: no client has sent a request yet"
	case faulty > 0 && len(r.Clients) == 1:
		return "Not clean: " + plural(r.Clients[0].Count(Fault), "fault") + " to mend"
	case faulty > 0:
		return fmt.Sprintf("Not clean: faults to mend in %d of %d clients", faulty, len(r.Clients))
	case untidy > 0:
		return "No faults; some things can be done better"
	case len(r.Clients) == 1:
		return "No findings"
	}
	return fmt.Sprintf("No findings in any of the %d clients", len(r.Clients))
}

// remainder says what the report leaves out; "" when it is complete.
func remainder(r Report) string {
	var parts []string
	if r.Dropped > 0 {
		parts = append(parts, fmt.Sprintf("The journal no longer holds the first %s: start the sandbox with a larger --journal, or judge earlier.", plural(int(r.Dropped), "request")))
	}
	if r.NotJudged > 0 {
		parts = append(parts, "Not judged: "+plural(r.NotJudged, "request")+" to the try-out, to pages and health checks, or of rin certify.")
	}
	if r.Unlisted > 0 {
		parts = append(parts, "Not listed: "+plural(r.Unlisted, "more client")+". Ask for one with --client.")
	}
	return strings.Join(parts, " ")
}
