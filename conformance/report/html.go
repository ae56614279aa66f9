package report

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
)

//go:embed page/page.html page/parts.html page/page.css
var pages embed.FS

// WriteHTML writes the report as one self-contained file without scripts and external resources, for dark and light screens, phones and paper.
// The log has the exchanges behind the findings. Long bodies are cut, so that the file stays within a few megabytes.
func WriteHTML(w io.Writer, r Report, log *evidence.Log) error { return writeHTML(w, r, log, "") }

// writeHTML writes the page. With a download, the page is a summary without exchanges, which links the file that has them.
func writeHTML(w io.Writer, r Report, log *evidence.Log, download string) error {
	css, err := pages.ReadFile("page/page.css")
	if err != nil {
		return fmt.Errorf("read the style of the page: %w", err)
	}
	page, err := template.New("page.html").Funcs(template.FuncMap{
		"plain":          func(s string) string { return Plain(cut(s, 2000)) },
		"reason":         func(s string) string { return sentence(Plain(cut(s, 2000))) },
		"lines":          func(s string) string { return PlainLines(cut(s, 8000)) },
		"symbol":         Symbol,
		"secret":         func(curl string) bool { return strings.Contains(curl, secretVariable) },
		"secretsLeftOut": func() string { return secretsLeftOut },
		"word":           Word,
		"fact":           func(name, value string) fact { return fact{name, value} },
	}).ParseFS(pages, "page/page.html", "page/parts.html")
	if err != nil {
		return fmt.Errorf("read the page: %w", err)
	}
	var b bytes.Buffer
	v := view(r, log, string(css))
	v.Download = download
	if err := page.Execute(&b, v); err != nil {
		return fmt.Errorf("fill the page: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// pageView is the data of the page, in the order of the page.
type pageView struct {
	Report
	Tally string
	Style template.CSS
	// Policy is the Content-Security-Policy: it allows only the style element of this page.
	Policy   string
	Mark     requirement.Outcome
	Bar      []barPart
	Sections []section
	// SkippedHeading is the heading of Skipped.
	SkippedHeading string
	Skipped        []skippedGroup
	Groups         []groupView
	// NotRun lists the groups that this run did not judge.
	NotRun    []Group
	Exchanges []exchangeView
	// Download is the file that has the exchanges, for a page without them; empty otherwise.
	Download  string
	MadeFacts []fact
	Habits    []habit
	Shown     map[evidence.Label]string // anchors of exchanges
}

// section is a list of findings under one heading.
type section struct {
	ID, Title string
	Outcome   requirement.Outcome
	Mark      requirement.Outcome // of the heading in the contents
	Findings  []findingView
}

type findingView struct {
	attentionItem
	Consequence string
	Further     []subjectView
	More        int
	Links       []exchangeLink // exchanges without a link in Further
}

// subjectView is a subject with the anchor of its exchange, if any.
type subjectView struct {
	Subject
	Anchor string
}

type exchangeLink struct{ Label, Anchor string }

type groupView struct {
	Group
	Tally string
	Rows  []rowView
}

// rowView is a requirement in the table. InFull reports that a finding above describes the requirement.
type rowView struct {
	Requirement
	InFull      bool
	Consequence string // of a failure that costs nothing; the gate of any other outcome
}

// barPart is one outcome in the bar of totals; X and Width are percent.
type barPart struct {
	Mark     requirement.Outcome
	X, Width float64
}

func view(r Report, log *evidence.Log, css string) pageView {
	sum := sha256.Sum256([]byte(css))
	v := pageView{
		Report: r, Style: template.CSS(css),
		Policy: "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'",
		Tally:  r.tally(r.Totals, ""),
		Mark:   mark(r.Verdict.Decision, r.Verdict.Failed),
		Bar:    bar(r),
	}
	v.Exchanges = append(exchangeViews(r, log), handshakeViews(r, log)...)
	v.Shown = make(map[evidence.Label]string, len(v.Exchanges))
	for _, x := range v.Exchanges {
		v.Shown[x.Label] = x.Anchor
	}
	inFull := map[requirement.ID]bool{}
	for _, s := range []section{
		{ID: "failed", Title: r.failedTitle(), Outcome: requirement.Fail},
		{ID: "inconclusive", Title: "What could not be judged", Outcome: requirement.Inconclusive},
		{ID: "warnings", Title: "Warnings", Outcome: requirement.Warn},
	} {
		s.Mark = r.markOf(s.Outcome, "")
		for _, q := range r.attention(s.Outcome) {
			inFull[q.ID] = true
			s.Findings = append(s.Findings, v.finding(q))
		}
		if len(s.Findings) > 0 {
			v.Sections = append(v.Sections, s)
		}
	}
	v.Habits, v.SkippedHeading, v.Skipped, v.MadeFacts = r.habits(), r.skippedHeading(), r.skippedGroups(), r.madeFacts()
	for _, g := range r.Catalogue.Groups {
		group := groupView{Group: g, Tally: r.tally(g.Totals, g.Name)}
		for _, q := range r.Requirements {
			if q.ID.Group() == g.Name {
				row := rowView{q, inFull[q.ID], string(q.Gate)}
				if q.Outcome == requirement.Fail && !q.Costs {
					row.Consequence = q.Consequence()
				}
				group.Rows = append(group.Rows, row)
			}
		}
		if len(group.Rows) > 0 {
			v.Groups = append(v.Groups, group)
		} else {
			v.NotRun = append(v.NotRun, g)
		}
	}
	return v
}

// pageSubjects bounds the subjects and links of one finding on the page.
const pageSubjects = 12

func (v pageView) finding(q attentionItem) findingView {
	f := findingView{attentionItem: q, Consequence: q.Consequence(), More: q.SubjectsCut}
	linked := map[evidence.Label]bool{}
	further := q.furtherSubjects()
	if len(further) == 1 && q.difference(further[0]) == (Subject{}) {
		further = nil // the subject would repeat the finding
	}
	for _, s := range further {
		if len(f.Further) == pageSubjects {
			f.More++
			continue
		}
		f.Further = append(f.Further, subjectView{s, v.Shown[s.Label]})
		linked[s.Label] = true
	}
	for _, s := range q.Subjects {
		anchor, ok := v.Shown[s.Label]
		if ok && !linked[s.Label] && len(f.Links) < pageSubjects {
			linked[s.Label] = true
			f.Links = append(f.Links, exchangeLink{string(s.Label), anchor})
		}
	}
	return f
}

// bar returns the share of each outcome, the best first.
func bar(r Report) []barPart {
	var out []barPart
	x, sum := 0.0, float64(max(1, r.Totals.Sum()))
	for _, o := range bestFirst() {
		if n := r.Totals.Of(o); n > 0 {
			width := 100 * float64(n) / sum
			out = append(out, barPart{r.markOf(o, ""), x, width})
			x += width
		}
	}
	return out
}

// fact is one line about what was tested.
type fact struct{ Name, Value string }
