package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
)

// WriteMarkdown writes a short report in GitHub-flavoured Markdown for a ticket or a pull request. Texts from a node are in code spans and
// blocks, where markup, links and mentions have no effect.
func WriteMarkdown(w io.Writer, r Report) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s %s\n\n", Symbol(mark(r.Verdict.Decision, r.Verdict.Failed)), prose(r.Verdict.Headline))
	for _, reason := range r.Verdict.Reasons {
		fmt.Fprintf(&b, "- %s\n", code(reason.String()))
	}
	if len(r.Verdict.Reasons) > 0 {
		b.WriteByte('\n')
	}
	fmt.Fprintf(&b, "%s, of %d judged. %s.\n\n", r.tally(r.Totals, ""), r.Totals.Sum(), r.Budget)
	markdownFacts(&b, r)
	markdownFindings(&b, r.failedTitle(), r.attention(requirement.Fail))
	markdownFindings(&b, "What could not be judged", r.attention(requirement.Inconclusive))
	markdownFindings(&b, "Warnings", r.attention(requirement.Warn))
	for _, h := range r.habits() {
		fmt.Fprintf(&b, "\n## %s\n\n", prose(h.Title()))
		for _, q := range h.Warnings {
			fmt.Fprintf(&b, "- %s %s: %s", q.ID, prose(q.Title), code(q.Reason))
			if q.Seen != "" {
				fmt.Fprintf(&b, ", seen in %s", code(q.Seen))
			}
			b.WriteByte('\n')
		}
	}
	markdownSkipped(&b, r)
	markdownGroups(&b, r)
	markdownCoverage(&b, r.Operations)
	b.WriteString("\n## Rules of the network that no test covers in full\n\n")
	for _, u := range r.Uncovered {
		fmt.Fprintf(&b, "- %s\n", prose(u.String()))
	}
	b.WriteString("\n## Notes\n\n" + fence(append(r.suiteSentences(), r.Notes...)))
	_, err := w.Write(b.Bytes())
	return err
}

func markdownFacts(b *bytes.Buffer, r Report) {
	b.WriteString("| | |\n|---|---|\n")
	row := func(name, value string) {
		if value != "" {
			fmt.Fprintf(b, "| %s | %s |\n", name, cell(code(value)))
		}
	}
	row("Token URL", r.Target.TokenURL)
	row("Info URL", r.Target.InfoURL)
	row("Specification URL", r.Target.SpecURL)
	row("Base URL", r.Target.BaseURL)
	row("Registry", strings.TrimSpace(r.Target.Registry+" "+r.Target.NodeID))
	row("Date", r.Date.Format("2006-01-02 15:04:05 UTC"))
	row("Suite", r.Suite.Version)
	row("Catalogue", withDigest(r.Catalogue.Version, r.Catalogue.Digest))
	row("Restricted", r.Run.Partial)
	for _, f := range r.madeFacts() {
		row(f.Name, f.Value)
	}
	if r.Operations.Documented > 0 {
		row("Coverage", r.Operations.String())
	}
}

func markdownFindings(b *bytes.Buffer, title string, list []attentionItem) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n", title)
	for _, q := range list {
		fmt.Fprintf(b, "\n### %s %s\n\n%s\n\n", q.ID, prose(q.Title), prose(q.Consequence()))
		lines := append([]string{"reason: " + q.Reason}, q.details()...)
		if len(q.Also) > 0 {
			lines = append(lines, "also: "+verdict.ListIDs(q.Also, len(q.Also)))
		}
		b.WriteString(fence(lines))
	}
}

func markdownSkipped(b *bytes.Buffer, r Report) {
	title := "\n## " + r.skippedHeading() + "\n\n"
	for _, s := range r.skippedGroups() {
		fmt.Fprintf(b, "%s- %s %s: %s\n", title, verdict.ListIDs(s.IDs, len(s.IDs)), Word(s.Outcome), code(s.Because))
		title = ""
	}
}

func markdownGroups(b *bytes.Buffer, r Report) {
	b.WriteString("\n## Groups\n\n| Group | | Outcome |\n|---|---|---|\n")
	for _, g := range r.Catalogue.Groups {
		outcome := r.tally(g.Totals, g.Name)
		if g.Totals.Sum() == 0 {
			outcome = "not part of this run"
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", g.Name, prose(g.Title), outcome)
	}
}

// markdownCoverage lists the operations of the document and what was tried.
func markdownCoverage(b *bytes.Buffer, o Operations) {
	if len(o.List) == 0 {
		return
	}
	b.WriteString("\n## Operations of the document\n\n| Operation | Parameters | Statuses |\n|---|---|---|\n")
	lines := func(texts []string) string {
		cells := make([]string, 0, len(texts))
		for _, t := range texts {
			cells = append(cells, cell(code(t)))
		}
		return strings.Join(cells, "<br>")
	}
	for _, op := range o.List {
		if !op.Executed {
			fmt.Fprintf(b, "| %s | not executed: %s | |\n", cell(code(op.Method+" "+op.Path)), cell(code(op.Because)))
			continue
		}
		fmt.Fprintf(b, "| %s | %s | %s |\n", cell(code(op.Method+" "+op.Path)), lines(op.ParametersInWords()), lines(op.StatusesInWords()))
	}
}

// prose escapes a text of rin itself for Markdown and HTML.
func prose(s string) string {
	var b strings.Builder
	for _, r := range Plain(s) {
		if strings.ContainsRune("\\`*_{}[]()<>#+!|~&@", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// code returns a code span that the text cannot end: its fence is longer than any run of backticks in it (CommonMark 0.31 §6.1).
func code(s string) string {
	s = cut(Plain(s), 500)
	f := strings.Repeat("`", longestRun(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return f + cmp.Or(s, " ") + f
}

// cell escapes bars for a table, because GitHub splits cells even inside code.
func cell(s string) string { return strings.ReplaceAll(s, "|", `\|`) }

// fence returns a code block that no line can end (CommonMark 0.31 §4.5).
func fence(lines []string) string {
	text := make([]string, 0, len(lines))
	for _, l := range lines {
		text = append(text, PlainLines(cut(l, 4000)))
	}
	body := strings.Join(text, "\n")
	f := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	return f + "text\n" + body + "\n" + f + "\n"
}

// longestRun returns the length of the longest run of a character.
func longestRun(s string, char rune) int {
	longest, run := 0, 0
	for _, r := range s {
		if r != char {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
