package control

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/clientrules"
	"github.com/rin-network/rin/sandbox/journal"
)

const (
	// MaxJournal is the largest number of journal entries in an answer.
	MaxJournal = 10_000
	// defaultJournal is the number of entries in an answer to a request without a limit.
	defaultJournal = 1000
)

// Journal is a part of the journal, the oldest entry first.
type Journal struct {
	Entries []clientrules.Line `json:"entries"`
	// Counted is the number of requests since the start or the last clearing. Dropped is how many of them the journal no longer has.
	Counted uint64 `json:"counted"`
	Dropped uint64 `json:"dropped"`
	// Next is the value of [Range.After] for the next part. It is absent at the end of the journal.
	Next uint64 `json:"next,omitempty"`
}

// Range selects a part of a journal.
type Range struct {
	// After is the number of the last entry before the part. Limit is the largest number of entries; 0 means the default.
	After uint64
	Limit int
	// Last selects the newest entries instead of the oldest.
	Last bool
	// Client selects the entries of one client. Wrong selects the entries that broke a rule, were refused or were cut off.
	Client string
	Wrong  bool
}

func journalRoutes(network *sandbox.Network) []route {
	return []route{
		{"GET /journal", func(r *http.Request) (any, error) {
			selection, err := readRange(r.URL.Query())
			if err != nil {
				return nil, badRequest(err, fmt.Sprintf("write /journal?after=NUMBER&limit=1..%d&last=true&client=ID&wrong=true", MaxJournal))
			}
			if network.Journal() == nil {
				return nil, noJournal()
			}
			return selectEntries(network.Journal().Record(0), selection), nil
		}},
		{"DELETE /journal", func(*http.Request) (any, error) {
			network.Journal().Clear()
			return Health{"ok"}, nil
		}},
	}
}

// selectEntries selects a part of the journal. It judges the complete record, because most rules are about several requests.
func selectEntries(record journal.Record, selection Range) Journal {
	part := Journal{Entries: []clientrules.Line{}, Counted: record.Counted, Dropped: record.Dropped}
	remarks := clientrules.Remarks(record)
	for _, e := range record.Entries {
		remark := remarks[e.Number]
		wrong := len(remark.Rules) > 0 || e.Status >= 400 || e.Cut
		if e.Number > selection.After && (selection.Client == "" || remark.Client == selection.Client) && (wrong || !selection.Wrong) {
			part.Entries = append(part.Entries, clientrules.Line{Entry: e, Remark: remark})
		}
	}
	switch surplus := len(part.Entries) - selection.Limit; {
	case surplus <= 0:
	case selection.Last:
		part.Entries = part.Entries[surplus:]
	default:
		part.Entries = part.Entries[:selection.Limit]
		part.Next = part.Entries[selection.Limit-1].Number
	}
	return part
}

func noJournal() error {
	return notFound("this sandbox keeps no journal", "start it without --journal 0")
}

// readRange reads the query of a request for a part of the journal.
func readRange(query url.Values) (Range, error) {
	selection := Range{Limit: defaultJournal, Client: query.Get("client")}
	var err error
	if text := query.Get("after"); text != "" {
		if selection.After, err = strconv.ParseUint(text, 10, 64); err != nil {
			return selection, fmt.Errorf("after: expected the number of an entry, got %q", text)
		}
	}
	if text := query.Get("limit"); text != "" {
		if selection.Limit, err = strconv.Atoi(text); err != nil || selection.Limit < 1 || selection.Limit > MaxJournal {
			return selection, fmt.Errorf("limit: expected 1 to %d, got %q", MaxJournal, text)
		}
	}
	for name, into := range map[string]*bool{"last": &selection.Last, "wrong": &selection.Wrong} {
		if text := query.Get(name); text != "" {
			if *into, err = strconv.ParseBool(text); err != nil {
				return selection, fmt.Errorf("%s: expected true or false, got %q", name, text)
			}
		}
	}
	return selection, nil
}

// Journal returns a part of the journal.
func (c Client) Journal(selection Range) (Journal, error) {
	query := url.Values{"after": {strconv.FormatUint(selection.After, 10)}, "last": {strconv.FormatBool(selection.Last)}, "wrong": {strconv.FormatBool(selection.Wrong)}}
	if selection.Limit != 0 {
		query.Set("limit", strconv.Itoa(selection.Limit))
	}
	if selection.Client != "" {
		query.Set("client", selection.Client)
	}
	return call[Journal](c, http.MethodGet, "/journal?"+query.Encode(), nil)
}

// ClearJournal empties the journal.
func (c Client) ClearJournal() error {
	_, err := call[Health](c, http.MethodDelete, "/journal", nil)
	return err
}

func reportRoutes(network *sandbox.Network) []route {
	return []route{{"GET /conduct", func(r *http.Request) (any, error) {
		if network.Journal() == nil {
			return nil, noJournal()
		}
		report := clientrules.Judge(network.Journal().Record(0))
		if query := r.URL.Query(); query.Has("client") {
			single, ok := report.ForClient(query.Get("client"))
			if !ok {
				return nil, notFound("the journal has no request of this client", "GET /conduct lists the clients that it knows")
			}
			report = single
		}
		if prefersHTML(r) {
			return reportPage(report), nil
		}
		return report, nil
	}}}
}

// reportPage is a report that is sent as a page for people. The page brings its own Content-Security-Policy.
type reportPage clientrules.Report

// Report returns the report on all clients.
func (c Client) Report() (clientrules.Report, error) {
	return call[clientrules.Report](c, http.MethodGet, "/conduct", nil)
}

// ClientReport returns the report on one client.
func (c Client) ClientReport(client string) (clientrules.Report, error) {
	return call[clientrules.Report](c, http.MethodGet, "/conduct?"+url.Values{"client": {client}}.Encode(), nil)
}
