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

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// This file writes the public pages: static files without scripts, which any web space can serve. Everything that came from a node has been made plain
// when it was kept; the templates escape it again.

//go:embed pages
var pageFiles embed.FS

// Bounds of the pages.
const (
	nodesOnPage = 150 // rows of the matrix on one page, which stays below 500 kB
	stripNights = 365 // nights in the strip of a node
	newestCount = 100 // changes in the feed
	listedCount = 30  // changes and nights on the page of a node
)

// Site says what the pages hold.
type Site struct {
	Made      time.Time
	Night     Night
	Operator  string
	Catalogue string
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
	Shown, File string
	Cells       []Group // one for each group of the catalogue
}

// siteChange is an entry of the feed.
type siteChange struct {
	Night      Night
	Node, File string
	Status     Status
	Headline   string
	Changes    []Change
	Admission  bool
}

// WriteSite writes the pages of all nodes below [Dir.Pages] and returns what they hold. With reports, the last report of each node is published, too: it
// shows what the node answered to the operator's client.
func (o Operator) WriteSite(ctx context.Context, h *History, reports bool) (Site, error) {
	now := o.Now().UTC().Truncate(time.Second)
	s := Site{Made: now, Operator: o.Policy.Operator, Catalogue: requirement.Version, Rules: o.Policy.Rules, Groups: requirement.Groups()}
	var err error
	if s.Night, err = h.LastNight(); err != nil {
		return s, err
	}
	templates, err := template.New("").Funcs(template.FuncMap{
		"symbol": report.Symbol, "word": report.Word, "plain": report.Plain, "status": statusSymbol,
		"day": func(t time.Time) string { return t.Format(time.DateOnly) }, "dayOf": dayOf, "minuteOf": minuteOf, "duration": evidence.Duration, "badNights": badNights,
	}).ParseFS(pageFiles, "pages/*.html")
	if err != nil {
		return s, fmt.Errorf("read the templates: %w", err)
	}
	w := &siteWriter{o: o, h: h, site: &s, templates: templates, rows: &judgedRows{titles: map[requirement.ID]string{}, rendered: map[Judged]string{}}, reports: reports}
	for _, g := range s.Groups {
		for _, q := range g.Requirements {
			w.rows.titles[q.ID] = q.Title
		}
	}
	rows, changes, err := w.nodes(ctx)
	if err != nil {
		return s, err
	}
	return s, errors.Join(w.matrix(rows), w.feed(changes), w.style())
}

// siteWriter writes the pages of one site.
type siteWriter struct {
	o         Operator
	h         *History
	site      *Site
	templates *template.Template
	rows      *judgedRows
	reports   bool
}

// nodes writes the page of each node, side by side, and returns the rows of the matrix and the newest changes.
func (w *siteWriter) nodes(ctx context.Context) (rows []siteRow, changes []siteChange, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	work := make(chan Node)
	var mu sync.Mutex
	var working sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for n := range work {
				row, own, err := w.node(n)
				if err != nil {
					cancel(fmt.Errorf("write the page of %s: %w", FileName(n.ID), err))
					continue
				}
				mu.Lock()
				rows = append(rows, row)
				if changes = append(changes, own...); len(changes) > 50*newestCount {
					changes = newest(changes)
				}
				mu.Unlock()
			}
		})
	}
	for n, readErr := range w.h.Nodes() {
		if readErr != nil {
			cancel(readErr)
		}
		if ctx.Err() != nil {
			break
		}
		n.Outcome = public(n.Outcome)
		n.Status, n.Reason = w.o.Policy.Decide(n, w.site.Made, w.o.Policy.For(n.ID).Withdrawn)
		work <- n
	}
	close(work)
	working.Wait()
	slices.SortFunc(rows, func(a, b siteRow) int { return strings.Compare(a.ID, b.ID) })
	return rows, newest(changes), context.Cause(ctx)
}

// newest returns the newest changes, in a stable order.
func newest(changes []siteChange) []siteChange {
	slices.SortFunc(changes, func(a, b siteChange) int {
		return cmp.Or(strings.Compare(string(b.Night), string(a.Night)), strings.Compare(a.Node, b.Node))
	})
	return changes[:min(len(changes), newestCount)]
}

// nodePage is the data of the page of a node.
type nodePage struct {
	*Site
	siteRow
	rows    *judgedRows
	Changes []siteChange
	Nights  []Outcome // the newest first
	Strip   template.HTML
	Summary string
	// Certificate, Mark and published say which files are in the folder of the page.
	Certificate, Mark bool
	published
}

// Judged returns the rows of the requirements of a group.
func (p nodePage) Judged(group string) template.HTML {
	var b strings.Builder
	for _, q := range p.Requirements {
		if q.ID.Group() == group {
			b.WriteString(p.rows.of(q))
		}
	}
	return template.HTML(b.String()) // judgedRow escapes
}

// judgedRows renders requirements. A year of 5,000 nodes has 650,000 of them, which differ little: a template for each takes a third of the time of all pages.
type judgedRows struct {
	titles   map[requirement.ID]string
	mu       sync.Mutex
	rendered map[Judged]string
}

// maxRendered bounds the rows that are kept.
const maxRendered = 20_000

func (r *judgedRows) of(q Judged) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	row, known := r.rendered[q]
	if !known {
		row = r.render(q)
		if len(r.rendered) < maxRendered && q.Reason == "" { // reasons are a node's own
			r.rendered[q] = row
		}
	}
	return row
}

// render escapes everything: a reason may quote a node.
func (r *judgedRows) render(q Judged) string {
	esc := template.HTMLEscapeString
	word := esc(report.Word(q.Outcome))
	row := fmt.Sprintf(`
<li><span class="%s mark" aria-hidden="true">%s</span> <span class="id">%s</span> %s <span class="muted">%s, since %s</span>`,
		esc(string(q.Outcome)), esc(report.Symbol(q.Outcome)), esc(string(q.ID)), esc(r.titles[q.ID]), word, esc(string(q.Since)))
	if q.Reason != "" {
		row += `<br><span class="reason">` + esc(report.Plain(q.Reason)) + `</span>`
	}
	return row + "</li>"
}

// node writes the page of a node and its twin in JSON.
func (w *siteWriter) node(n Node) (siteRow, []siteChange, error) {
	row := siteRow{Node: n, Shown: report.Plain(n.ID), File: FileName(n.ID)}
	row.Cells = n.groups(w.site.Groups)
	from := Night(w.site.Night.Start().AddDate(0, 0, 1-stripNights).Format(nightLayout))
	outcomes, err := w.h.Outcomes(n.ID, from)
	if err != nil {
		return row, nil, err
	}
	for i, out := range outcomes {
		outcomes[i] = public(out)
	}
	changes := changesOf(row, outcomes)
	p := nodePage{Site: w.site, siteRow: row, rows: w.rows, Changes: newest(slices.Clone(changes)), Strip: strip(outcomes, from), Summary: summary(outcomes)}
	p.Changes = p.Changes[:min(len(p.Changes), listedCount)]
	for _, out := range slices.Backward(outcomes[max(0, len(outcomes)-listedCount):]) {
		p.Nights = append(p.Nights, out)
	}
	dir := w.o.Dir.Public(n.ID)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return row, nil, err
	}
	if p.published, err = w.publishReport(n, dir); err != nil {
		return row, nil, err
	}
	p.Certificate, p.Mark = isFile(filepath.Join(dir, "certificate.intoto.json")), isFile(filepath.Join(dir, "mark.jwt"))
	twin := n
	twin.Drawn, twin.CertifiedURLs = nil, nil // what helps nobody but a node that wants to know its next test
	return row, newest(changes), errors.Join(
		w.page(filepath.Join(dir, "index.html"), "node.html", p),
		w.json(filepath.Join(dir, "node.json"), map[string]any{"node": twin, "nights": outcomes}),
		write(filepath.Join(dir, "badge.svg"), Badge(n)))
}

// changesOf lists what changed for a node: its admission, its first certificate, its status, and its requirements.
func changesOf(row siteRow, outcomes []Outcome) []siteChange {
	var changes []siteChange
	if night, admitted := strings.CutSuffix(string(row.CertifiedRun), admissionSuffix); admitted {
		changes = append(changes, siteChange{Night: Night(night), Node: row.Shown, File: row.File, Status: Valid, Headline: "Admitted: control is proved, and the node passed", Admission: true})
	}
	before := Status("")
	for _, out := range outcomes {
		first := before == "" && out.Night == row.First && out.Status.IsListed() && len(changes) == 0
		if before != "" && (len(out.Changes) > 0 || out.Status != before) || first {
			changes = append(changes, siteChange{Night: out.Night, Node: row.Shown, File: row.File, Status: out.Status, Headline: out.Headline, Changes: out.Changes})
		}
		before = out.Status
	}
	return changes
}

// public leaves out what is the operator's own: the seed of the run, and why a node could not be tested, which may name files and variables of secrets.
func public(o Outcome) Outcome {
	o.Seed = ""
	if o.Result == Untested {
		o.Headline, o.Why = "The registry could not test the node", ""
	}
	if c := o.DelayedCheck; c != nil && c.Result == CheckOpen {
		o.DelayedCheck = &DelayedCheck{At: c.At, Result: c.Result}
	}
	return o
}

// strip draws one bar for each night from a night on. The results differ in height and in colour.
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

func (w *siteWriter) style() error {
	text, err := pageFiles.ReadFile("pages/style.css")
	if err != nil {
		return err
	}
	return write(filepath.Join(w.o.Dir.Pages(), "style.css"), text)
}

func (w *siteWriter) page(path, name string, data any) error {
	var b bytes.Buffer
	if err := w.templates.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("fill the page %s: %w", filepath.Base(path), err)
	}
	return write(path, b.Bytes())
}

func (w *siteWriter) json(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return write(path, append(text, '\n'))
}

// write replaces a public file, unless it has that content already, so that copies to a web space find only what changed. It does not wait for the disk:
// pages can be made again.
func write(path string, content []byte) error {
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
