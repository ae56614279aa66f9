package registry

import (
	"cmp"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// This file writes the page of a node.

// nodePage is the data of the page of a node.
type nodePage struct {
	*Site
	siteRow
	rows    *judgedRows
	Changes []siteChange
	Tests   []siteTest    // the newest first
	Strip   template.HTML // bars of the chart, in SVG
	Summary string
	// Admitted is when the last admission began; zero without one. InChart means that the admission is within the time of the chart, SinceAdmission that the
	// status follows from the admission.
	Admitted                time.Time
	InChart, SinceAdmission bool
	Ends                    time.Time // when the certificate reaches its maximum age
	Profile                 requirement.Profile
	// Certificate, Mark and published say which files are in the folder of the page.
	Certificate, Mark bool
	published
}

// siteTest is a test of a node, in a night or for its admission.
type siteTest struct {
	Outcome
	Admission bool
}

// testsOf joins the nights with the admission, in the order of time.
func testsOf(n Node, outcomes []Outcome) []siteTest {
	var tests []siteTest
	for _, out := range outcomes {
		tests = append(tests, siteTest{Outcome: out})
	}
	if a, admitted := n.admission(); admitted {
		at := slices.IndexFunc(outcomes, func(o Outcome) bool { return o.Started.After(a.Started) })
		if at < 0 {
			at = len(outcomes)
		}
		tests = slices.Insert(tests, at, siteTest{a, true})
	}
	return tests
}

// Judged returns the rows of the requirements of a group.
func (p nodePage) Judged(group string) template.HTML {
	var b strings.Builder
	for _, q := range p.Requirements {
		if q.ID.Group() == group {
			b.WriteString(p.rows.row(q))
		}
	}
	return template.HTML(b.String()) // render escapes
}

// judgedRows renders requirements, and keeps rows that many nodes share. The pages of 5,000 nodes have 650,000 rows: filling a template for each took a third of
// the time of all pages.
type judgedRows struct {
	titles   map[requirement.ID]string
	mu       sync.Mutex
	rendered map[Judged]string
}

// maxRendered bounds the rows that are kept.
const maxRendered = 20_000

// row returns the HTML of a requirement.
func (r *judgedRows) row(q Judged) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, known := r.rendered[q]
	if !known {
		row = r.render(q)
		if len(r.rendered) < maxRendered && q.Reason == "" { // a reason belongs to one node
			r.rendered[q] = row
		}
	}
	return row
}

// render makes the HTML of a requirement. It escapes everything, because a reason may quote a node.
func (r *judgedRows) render(q Judged) string {
	esc := template.HTMLEscapeString
	word := esc(report.Word(q.Outcome))
	if words := costWords(q); words != "" {
		word += ", " + words
	}
	row := fmt.Sprintf(`
<li><span class="%s mark" aria-hidden="true">%s</span> <span class="id">%s</span> %s <span class="muted">%s, since %s</span>`,
		esc(string(q.Outcome)), esc(report.Symbol(q.Outcome)), esc(string(q.ID)), esc(r.titles[q.ID]), word, esc(string(q.Since)))
	if q.Reason != "" {
		row += `<br><span class="reason">` + esc(report.Plain(q.Reason)) + `</span>`
	}
	return row + "</li>"
}

// costWords says whether a bad outcome costs the certificate; "" for any other outcome.
func costWords(q Judged) string {
	switch {
	case q.Costs:
		return "costs the certificate"
	case q.Outcome == requirement.Fail:
		return "costs no certificate"
	}
	return ""
}

// writeNode writes the page of a node, the same as JSON, its badge and its report. It returns its row of the matrix and its newest changes.
func (w *siteWriter) writeNode(n Node) (siteRow, []siteChange, error) {
	row := siteRow{Node: n, Shown: report.Plain(n.ID), File: FileName(n.ID)}
	row.Cells = n.groups(w.site.Groups)
	from := Night(w.site.Night.Start().AddDate(0, 0, 1-stripNights).Format(nightLayout))
	outcomes, err := w.h.Outcomes(n.ID, from)
	if err != nil {
		return row, nil, err
	}
	for i, out := range outcomes {
		outcomes[i] = publicOutcome(out)
	}
	tests := testsOf(n, outcomes)
	changes := newest(changesOf(row, tests))
	p := nodePage{Site: w.site, siteRow: row, rows: w.rows, Strip: strip(outcomes, from), Summary: summary(outcomes)}
	p.Changes = changes[:min(len(changes), listedCount)]
	p.Tests = slices.Clone(tests[max(0, len(tests)-listedCount):])
	slices.Reverse(p.Tests)
	p.SinceAdmission = isSinceAdmission(n, tests)
	if a, admitted := n.admission(); admitted {
		p.Admitted, p.InChart = a.Started, a.Night >= from
	}
	p.Profile = cmp.Or(n.CertifiedProfile, n.Outcome.Profile)
	if !n.Certified.IsZero() {
		p.Ends = n.Certified.Add(w.o.Policy.MaxAge)
	}
	dir := w.o.Dir.Public(n.ID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return row, nil, err
	}
	if p.published, err = w.publishReport(n, dir); err != nil {
		return row, nil, err
	}
	p.Certificate, p.Mark = isFile(filepath.Join(dir, "certificate.intoto.json")), isFile(filepath.Join(dir, "mark.jwt"))
	p.Verifiable = verifiableDownload(dir, p.Older)
	publicNode := n
	publicNode.Drawn, publicNode.CertifiedURLs = nil, nil // from these a node could tell what its next test draws
	return row, changes, errors.Join(
		w.writePage(filepath.Join(dir, "index.html"), "node.html", p),
		w.writeJSON(filepath.Join(dir, "node.json"), map[string]any{"node": publicNode, "nights": outcomes}),
		replaceFile(filepath.Join(dir, "badge.svg"), Badge(n)))
}

// changesOf lists what changed for a node: its admission, its first certificate, its status, and its requirements.
func changesOf(row siteRow, tests []siteTest) []siteChange {
	var changes []siteChange
	before := Status("")
	for _, t := range tests {
		c := siteChange{Night: t.Night, At: t.Started, Node: row.Shown, File: row.File, Status: t.Status, Headline: t.Headline, Changes: t.Changes, Admission: t.Admission}
		isFirstCertificate := before == "" && t.Night == row.First && t.Status.IsListed()
		isChange := before != "" && (len(t.Changes) > 0 || t.Status != before)
		if c.Admission {
			c.Headline = "Admitted: control is proved, and the node passed"
		}
		if isFirstCertificate || isChange || c.Admission {
			changes = append(changes, c)
		}
		before = t.Status
	}
	return changes
}

// isSinceAdmission reports whether the node has its status since its admission, and not since a night.
func isSinceAdmission(n Node, tests []siteTest) bool {
	at := slices.IndexFunc(tests, func(t siteTest) bool { return t.Admission })
	if at < 0 || n.Since != tests[at].Night {
		return false
	}
	earlier := at > 0 && tests[at-1].Status == n.Status
	later := slices.ContainsFunc(tests[at+1:], func(t siteTest) bool { return t.Status != n.Status })
	return !earlier && !later && tests[at].Status == n.Status
}

// publicOutcome leaves out what only the operator may know: the seed of the run, and why a node could not be tested, which may name the files and variables of
// secrets.
func publicOutcome(o Outcome) Outcome {
	o.Seed = ""
	switch {
	case o.Result == Untested && o.Why == missingEntry:
		o.Headline, o.Why = "The registry document lacks its entry", ""
	case o.Result == Untested:
		o.Headline, o.Why = "The registry could not test the node", ""
	}
	if c := o.DelayedCheck; c != nil && c.Result == CheckOpen {
		o.DelayedCheck = &DelayedCheck{At: c.At, Result: c.Result}
	}
	return o
}

// strip draws one bar for each night from a night on, as SVG: 2 units wide and up to 24 high. The results differ in height and in colour.
func strip(outcomes []Outcome, from Night) template.HTML {
	var b strings.Builder
	for _, o := range outcomes {
		x := int(o.Night.Start().Sub(from.Start())/day) * 2
		y, height, class := 0, 24, "fail"
		switch o.Result {
		case Passed:
			y, height, class = 8, 16, "pass"
		case Untested:
			y, height, class = 18, 6, "untested"
		}
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="1.6" height="%d" class="%s"/>`, x, y, height, class)
	}
	return template.HTML(b.String()) // numbers and words of this function only
}

// summary counts the results of nights in words.
func summary(outcomes []Outcome) string {
	counts := map[Result]int{}
	for _, o := range outcomes {
		counts[o.Result]++
	}
	return fmt.Sprintf("%s: %d passed, %d failed, %d untested", evidence.Count(len(outcomes), "night"), counts[Passed], counts[Failed], counts[Untested])
}
