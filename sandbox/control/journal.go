package control

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/rin-network/rin/sandbox"
	"github.com/rin-network/rin/sandbox/journal"
)

// journalPage is the number of entries of an answer that does not ask for another, maxJournalPage the largest.
const journalPage, maxJournalPage = 1000, 10_000

// Journal is a part of the journal, oldest entries first.
type Journal struct {
	journal.Record
	// Next is the number to ask behind for the following part; absent at the end.
	Next uint64 `json:"next,omitempty"`
}

// Range is the part of a journal to ask for.
type Range struct {
	// After is the number of the entry behind which it begins, Limit the largest number of entries; 0 is the default.
	After uint64
	Limit int
}

func journalRoutes(network *sandbox.Network) []route {
	return []route{
		{"GET /journal", func(r *http.Request) (any, error) {
			wanted, err := readRange(r.URL.Query())
			if err != nil {
				return nil, badRequest(err, fmt.Sprintf("write /journal?after=NUMBER&limit=1..%d", maxJournalPage))
			}
			if network.Journal() == nil {
				return nil, noJournal()
			}
			part := Journal{Record: network.Journal().Record(wanted.After)}
			if len(part.Entries) > wanted.Limit {
				part.Entries = part.Entries[:wanted.Limit]
				part.Next = part.Entries[wanted.Limit-1].Number
			}
			return part, nil
		}},
		{"DELETE /journal", func(*http.Request) (any, error) {
			network.Journal().Clear()
			return Health{"ok"}, nil
		}},
	}
}

func noJournal() error {
	return notFound("this sandbox keeps no journal", "start it without --journal 0")
}

func readRange(query url.Values) (Range, error) {
	wanted := Range{Limit: journalPage}
	var err error
	if text := query.Get("after"); text != "" {
		if wanted.After, err = strconv.ParseUint(text, 10, 64); err != nil {
			return wanted, fmt.Errorf("after: expected the number of an entry")
		}
	}
	if text := query.Get("limit"); text != "" {
		if wanted.Limit, err = strconv.Atoi(text); err != nil || wanted.Limit < 1 || wanted.Limit > maxJournalPage {
			return wanted, fmt.Errorf("limit: expected 1 to %d", maxJournalPage)
		}
	}
	return wanted, nil
}

// Journal returns a part of the journal.
func (c Client) Journal(wanted Range) (Journal, error) {
	query := url.Values{"after": {strconv.FormatUint(wanted.After, 10)}}
	if wanted.Limit != 0 {
		query.Set("limit", strconv.Itoa(wanted.Limit))
	}
	return call[Journal](c, http.MethodGet, "/journal?"+query.Encode(), nil)
}

// ClearJournal empties the journal.
func (c Client) ClearJournal() error {
	_, err := call[Health](c, http.MethodDelete, "/journal", nil)
	return err
}
