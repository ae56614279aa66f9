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
	Shown string  // the id without control characters
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
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for n, readErr := range w.h.Nodes() {
		if readErr == nil {
			readErr = context.Cause(ctx)
		}
		workers.Go(func() error {
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
			row, nodeChanges, err := w.writeNode(n)
			if err != nil {
				return fmt.Errorf("write the page of %s: %w", FileName(n.ID), err)
			}
			mu.Lock()
			defer mu.Unlock()
			rows = append(rows, row)
			if changes = append(changes, nodeChanges...); len(changes) > 50*newestCount { // bounds memory; sorting at each node would be slow
				changes = newest(changes)
			}
			return nil
		})
		if readErr != nil {
			break
		}
	}
	err = workers.Wait()
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
