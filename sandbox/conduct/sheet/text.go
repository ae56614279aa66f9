package sheet

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/rin-network/rin/sandbox/conduct"
)

// Text writes the report for a terminal of so many columns. Only commands to copy may be wider: breaking them would break them.
func Text(w io.Writer, r conduct.Report, columns int) error {
	p := &paper{columns: max(columns, 40)}
	for _, s := range r.Clients {
		p.sheet(s)
	}
	if left := remainder(r); left != "" {
		p.paragraph("", left)
		p.text.WriteByte('\n')
	}
	p.paragraph("", headline(r))
	_, err := io.WriteString(w, p.text.String())
	return err
}

// paper lays text out. All of it goes through plain on its way.
type paper struct {
	text    strings.Builder
	columns int
}

func (p *paper) sheet(s conduct.Sheet) {
	p.paragraph("", name(s)+" · "+tally(s))
	p.paragraph("  ", deeds(s))
	p.paragraph("  ", span(s))
	if len(s.Agents) > 0 {
		p.paragraph("  ", strings.Join(s.Agents, ", "))
	}
	p.text.WriteByte('\n')
	for _, f := range s.Findings {
		p.finding(f)
	}
}

func (p *paper) finding(f conduct.Finding) {
	p.paragraph("  ", fmt.Sprintf("%s  %s  %s", f.Rule, strings.ToUpper(string(f.Level)), f.Title))
	for i, e := range f.Seen {
		label := ""
		if i == 0 {
			label = "seen"
		}
		p.labelled(label, e.At.UTC().Format("15:04:05")+" "+e.What+" ("+evidence(e)+")")
	}
	if more := f.Count - len(f.Seen); more > 0 {
		p.labelled("", fmt.Sprintf("and %d times more", more))
	}
	p.labelled("why", f.Why)
	p.labelled("rule", sources(f))
	p.labelled("fix", f.Fix)
	if f.Curl != "" {
		fmt.Fprintf(&p.text, "    right  %s\n", plain(f.Curl))
	}
	p.text.WriteByte('\n')
}

func (p *paper) labelled(label, text string) {
	p.paragraph(fmt.Sprintf("    %-5s  ", label), text)
}

// paragraph writes text behind a lead, its further lines under the first.
func (p *paper) paragraph(lead, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(lead))
	for _, line := range wrapped(plain(text), p.columns-len(indent)) {
		p.text.WriteString(lead + line + "\n")
		lead = indent
	}
}

// wrapped breaks text into lines at blanks, within a word where it must.
func wrapped(text string, columns int) []string {
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
