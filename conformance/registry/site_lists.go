package registry

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/report"
	"github.com/rin-network/rin/conformance/requirement"
)

// This file writes what lists all nodes: the matrix and the feed of changes.

// matrixPage is the data of one page of the matrix.
type matrixPage struct {
	*Site
	Rows        []siteRow
	Page, Pages int
}

// Name returns the file of a page of the matrix.
func (p matrixPage) Name(page int) string {
	if page == 1 {
		return "index.html"
	}
	return "nodes-" + strconv.Itoa(page) + ".html"
}

func (p matrixPage) Numbers() []int {
	out := make([]int, p.Pages)
	for i := range out {
		out[i] = i + 1
	}
	return out
}

// writeMatrix writes the pages of the matrix, each also as JSON, and removes the pages that are left from a larger registry.
func (w *siteWriter) writeMatrix(rows []siteRow) error {
	counts := map[Status]int{}
	for _, r := range rows {
		counts[r.Status]++
	}
	w.site.Nodes = len(rows)
	for _, s := range Statuses() {
		w.site.Counts = append(w.site.Counts, StatusCount{s, counts[s]})
	}
	pages := max(1, (len(rows)+nodesOnPage-1)/nodesOnPage)
	for page := 1; page <= pages; page++ {
		first := (page - 1) * nodesOnPage
		p := matrixPage{Site: w.site, Rows: rows[first:min(len(rows), first+nodesOnPage)], Page: page, Pages: pages}
		type jsonRow struct {
			ID      string                         `json:"id"`
			Name    string                         `json:"name,omitempty"`
			Status  Status                         `json:"status"`
			Since   Night                          `json:"since"`
			Tested  Night                          `json:"tested,omitempty"`
			At      time.Time                      `json:"testedAt,omitzero"`
			Profile requirement.Profile            `json:"profile,omitempty"`
			Groups  map[string]requirement.Outcome `json:"groups"`
			Page    string                         `json:"page"`
		}
		jsonRows := []jsonRow{}
		for _, r := range p.Rows {
			row := jsonRow{r.ID, r.Name, r.Status, r.Since, r.Tested, r.TestedAt, r.Outcome.Profile, map[string]requirement.Outcome{}, "nodes/" + r.File + "/node.json"}
			for _, g := range r.Cells {
				if g.Worst != "" {
					row.Groups[g.Name] = g.Worst
				}
			}
			jsonRows = append(jsonRows, row)
		}
		name := p.Name(page)
		err := errors.Join(w.writePage(filepath.Join(w.o.Dir.Pages(), name), "matrix.html", p), w.writeJSON(
			filepath.Join(w.o.Dir.Pages(), strings.TrimSuffix(name, ".html")+".json"),
			map[string]any{"night": w.site.Night, "made": w.site.Made, "page": page, "pages": pages, "nodes": jsonRows}))
		if err != nil {
			return err
		}
	}
	for page := pages + 1; ; page++ {
		name := filepath.Join(w.o.Dir.Pages(), "nodes-"+strconv.Itoa(page))
		if !isFile(name + ".html") {
			return nil
		}
		if err := errors.Join(os.Remove(name+".html"), os.Remove(name+".json")); err != nil {
			return err
		}
	}
}

// The elements of an Atom feed (RFC 4287).
type atomFeed struct {
	XMLName xml.Name    `xml:"http://www.w3.org/2005/Atom feed"`
	ID      string      `xml:"id"`
	Title   string      `xml:"title"`
	Updated string      `xml:"updated"`
	Author  string      `xml:"author>name"`
	Link    atomLink    `xml:"link"`
	Entries []atomEntry `xml:"entry"`
}

type atomLink struct {
	Rel  string `xml:"rel,attr"`
	Href string `xml:"href,attr"`
}

type atomEntry struct {
	ID      string   `xml:"id"`
	Title   string   `xml:"title"`
	Updated string   `xml:"updated"`
	Link    atomLink `xml:"link"`
	Summary string   `xml:"summary"`
}

// jsonFeed is the same feed as JSON (JSON Feed 1.1).
type jsonFeed struct {
	Version  string     `json:"version"`
	Title    string     `json:"title"`
	HomePage string     `json:"home_page_url"`
	FeedURL  string     `json:"feed_url"`
	Items    []jsonItem `json:"items"`
}

type jsonItem struct {
	ID        string `json:"id"`
	URL       string `json:"url"`
	Title     string `json:"title"`
	Text      string `json:"content_text"`
	Published string `json:"date_published"`
}

// writeFeed writes the newest changes as an Atom feed and as a JSON feed.
func (w *siteWriter) writeFeed(changes []siteChange) error {
	site := w.o.Policy.Site
	updated := w.site.Made
	if len(changes) > 0 {
		updated = changes[0].At
	}
	f := atomFeed{ID: site + "/feed.xml", Title: "Changes of the nodes", Updated: updated.UTC().Format(time.RFC3339), Author: w.o.Policy.Operator, Link: atomLink{"self", site + "/feed.xml"}}
	asJSON := jsonFeed{Version: "https://jsonfeed.org/version/1.1", Title: f.Title, HomePage: site + "/", FeedURL: site + "/feed.json", Items: []jsonItem{}}
	for _, c := range changes {
		var words []string
		for _, q := range c.Changes {
			words = append(words, fmt.Sprintf("%s: %s", q.ID, report.Word(cmp.Or(q.To, requirement.NotApplicable))))
		}
		page := site + "/nodes/" + c.File + "/"
		id := page + "#" + string(c.Night)
		if c.Admission {
			id += admissionSuffix
		}
		e := atomEntry{
			ID: id, Title: fmt.Sprintf("%s is %s", c.Node, c.Status), Updated: c.At.UTC().Format(time.RFC3339),
			Link: atomLink{"alternate", page}, Summary: strings.Join(append([]string{c.Headline}, words...), "; "),
		}
		f.Entries = append(f.Entries, e)
		asJSON.Items = append(asJSON.Items, jsonItem{e.ID, page, e.Title, e.Summary, e.Updated})
	}
	text, err := xml.MarshalIndent(f, "", "  ")
	if err != nil {
		return fmt.Errorf("write the feed: %w", err)
	}
	return errors.Join(replaceFile(filepath.Join(w.o.Dir.Pages(), "feed.xml"), []byte(xml.Header+string(text)+"\n")), w.writeJSON(filepath.Join(w.o.Dir.Pages(), "feed.json"), asJSON))
}
