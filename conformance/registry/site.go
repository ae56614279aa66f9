package registry

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/rin-network/rin/conformance/certificate"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// This file writes the public pages: static files without scripts, which any web space can serve. The history keeps texts of a node without control
// characters; the templates escape them for HTML.

//go:embed pages
var pageFiles embed.FS

// Bounds of the pages.
const (
	nodesOnPage = 150 // rows of the matrix on one page, which stays below 500 kB
	stripNights = 365 // bars in the chart of a node
	newestCount = 100 // changes in the feed
	listedCount = 30  // changes and nights on the page of a node
)

// Site says what the pages hold.
type Site struct {
	Made      time.Time
	Night     Night // the last one
	Operator  string
	Key       string // fingerprint of the key that signs; empty without one
	Catalogue string // version of the requirements
	Rules     Rules
	Groups    []requirement.Group
	Counts    []StatusCount
	Nodes     int
}

// StatusCount is how many nodes have a status.
type StatusCount struct {
	Status Status
	Count  int
}

// siteRow is a node in the matrix.
type siteRow struct {
	Node
	Shown string  // the id for people
	File  string  // the id in names of files and folders
	Cells []Group // one for each group of the catalogue
}

// siteChange is an entry of the feed.
type siteChange struct {
	Night      Night
	At         time.Time
	Node, File string
	Status     Status
	Headline   string
	Changes    []Change
	Admission  bool
}

// Reports says what becomes of the reports of the nodes, which show what a node answered to the operator's client.
type Reports string

// The choices.
const (
	KeepReports    Reports = "keep"    // those that were published before stay
	PublishReports Reports = "publish" // the last report of each node is published
	RemoveReports  Reports = "remove"
)

// WriteSite writes the pages of all nodes below [Dir.Pages] and returns what they hold.
func (o Operator) WriteSite(ctx context.Context, h *History, reports Reports) (Site, error) {
	now := o.Now().UTC().Truncate(time.Second)
	s := Site{Made: now, Operator: o.Policy.Operator, Catalogue: requirement.Version, Rules: o.Policy.Rules, Groups: requirement.Groups(), Key: o.keyFingerprint()}
	var err error
	if s.Night, err = h.LastNight(); err != nil {
		return s, err
	}
	templates, err := parseTemplates()
	if err != nil {
		return s, fmt.Errorf("read the templates: %w", err)
	}
	w := &siteWriter{o: o, h: h, site: &s, templates: templates, rows: &judgedRows{titles: map[requirement.ID]string{}, rendered: map[Judged]string{}}, reports: reports}
	for _, g := range s.Groups {
		for _, q := range g.Requirements {
			w.rows.titles[q.ID] = q.Title
		}
	}
	rows, changes, err := w.writeNodes(ctx)
	if err != nil {
		return s, err
	}
	return s, errors.Join(w.writeMatrix(rows), w.writeFeed(changes), w.writeStyle())
}

// keyFingerprint returns the fingerprint of the operator's key; "" if it cannot be read.
func (o Operator) keyFingerprint() string {
	text, err := os.ReadFile(o.Dir.PublicKey())
	if err != nil {
		return ""
	}
	key, err := certificate.ReadPublicKey(text)
	if err != nil {
		return ""
	}
	return certificate.Fingerprint(key)
}

func parseTemplates() (*template.Template, error) {
	return template.New("").Funcs(template.FuncMap{
		"symbol": report.Symbol, "word": report.Word, "plain": report.Plain, "status": statusSymbol,
		"day": func(t time.Time) string { return t.Format(time.DateOnly) }, "dayOf": dayOf, "minuteOf": minuteOf, "duration": evidence.Duration, "badNights": badNights,
	}).ParseFS(pageFiles, "pages/*.html")
}

// siteWriter writes the pages of one site.
type siteWriter struct {
	o         Operator
	h         *History
	site      *Site
	templates *template.Template
	rows      *judgedRows
	reports   Reports
}

// writeNodes writes the pages of all nodes, on all processors, and returns the rows of the matrix by node id and the newest changes.
func (w *siteWriter) writeNodes(ctx context.Context) (rows []siteRow, changes []siteChange, err error) {
	var mu sync.Mutex
	working, ctx := errgroup.WithContext(ctx)
	working.SetLimit(runtime.GOMAXPROCS(0))
	for n, readErr := range w.h.Nodes() {
		if readErr == nil {
			readErr = context.Cause(ctx)
		}
		working.Go(func() error {
			if readErr != nil {
				return readErr
			}
			if n.IsGone() {
				return os.RemoveAll(w.o.Dir.Public(n.ID))
			}
			n.Outcome = publicOutcome(n.Outcome)
			if n.Admission != nil {
				n.Admission = new(publicOutcome(*n.Admission))
			}
			n.Status, n.Reason = w.o.Policy.Decide(n, w.site.Made, w.o.Policy.For(n.ID).Withdrawn)
			row, own, err := w.writeNode(n)
			if err != nil {
				return fmt.Errorf("write the page of %s: %w", FileName(n.ID), err)
			}
			mu.Lock()
			defer mu.Unlock()
			rows = append(rows, row)
			if changes = append(changes, own...); len(changes) > 50*newestCount { // bounds memory; sorting at each node would be slow
				changes = newest(changes)
			}
			return nil
		})
		if readErr != nil {
			break
		}
	}
	err = working.Wait()
	slices.SortFunc(rows, func(a, b siteRow) int { return strings.Compare(a.ID, b.ID) })
	return rows, newest(changes), err
}

// newest sorts changes in place, the newest first and by node at the same time, and returns the first [newestCount].
func newest(changes []siteChange) []siteChange {
	slices.SortFunc(changes, func(a, b siteChange) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(a.Node, b.Node))
	})
	return changes[:min(len(changes), newestCount)]
}

// nodePage is the data of the page of a node.
type nodePage struct {
	*Site
	siteRow
	rows    *judgedRows
	Changes []siteChange
	Tests   []siteTest    // the newest first
	Strip   template.HTML // bars of the chart, in SVG
	Summary string
	// Admitted is when the last admission of the chart's time began; zero without one. SinceAdmission means that the status follows from it.
	Admitted       time.Time
	SinceAdmission bool
	Ends           time.Time // of the certificate, by its age
	Profile        requirement.Profile
	// Certificate, Mark and published say which files are in the folder of the page.
	Certificate, Mark bool
	published
}

// siteTest is a test of a node: that of a night, or that of an admission.
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

// costWords says of an outcome that is not a good one whether it costs the certificate; "" for a good one.
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
	if a, admitted := n.admission(); admitted && a.Night >= from {
		p.Admitted = a.Started
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

func (w *siteWriter) writeStyle() error {
	text, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(w.o.Dir.Pages(), "style.css"), text)
}

// writePage fills the template with that name.
func (w *siteWriter) writePage(path, name string, data any) error {
	var b bytes.Buffer
	if err := w.templates.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("fill the page %s: %w", filepath.Base(path), err)
	}
	return replaceFile(path, b.Bytes())
}

func (w *siteWriter) writeJSON(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return replaceFile(path, append(text, '\n'))
}

// replaceFile replaces a public file, unless it has that content already, so that a copy to a web space finds only what changed. It does not wait for the disk,
// because pages can be made again.
func replaceFile(path string, content []byte) error {
	if before, err := os.ReadFile(path); err == nil && bytes.Equal(before, content) {
		return nil
	}
	temporary := path + ".new"
	if err := os.WriteFile(temporary, content, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, path)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// dayOf returns the day of a time, in UTC; for a time that an older history lacks, the name of its night.
func dayOf(at time.Time, night Night) string {
	if at.IsZero() {
		return string(night)
	}
	return at.UTC().Format(time.DateOnly)
}

// minuteOf returns a time to the minute; for a time that an older history lacks, the name of its night.
func minuteOf(at time.Time, night Night) string {
	switch {
	case night == "":
		return "not yet"
	case at.IsZero():
		return "in the night of " + string(night)
	}
	return at.UTC().Format("2006-01-02 15:04 UTC")
}

// badNights names the bad nights that suspend a certificate.
func badNights(n int) string {
	if n > 1 {
		return evidence.Count(n, "bad night") + " in a row"
	}
	return "a bad night"
}

// statusSymbol returns the sign of a status, for screens without colour.
func statusSymbol(s Status) string {
	return map[Status]string{Valid: "✓", Expiring: "✓", Stale: "?", Suspended: "✗", Withdrawn: "–", Uncertified: "–"}[s]
}
