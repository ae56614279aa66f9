package conduct

import (
	"slices"

	"github.com/rin-network/rin/sandbox/journal"
)

// Remark is what is to be said of one request.
type Remark struct {
	// Client is the id of the client that it is of, also where it did not say so; empty for nobody.
	Client string `json:"of,omitempty"`
	// Rules are those that it broke, alone or with others.
	Rules []ID `json:"rules,omitempty"`
	// Curl is the command that does it right; empty for a request without fault.
	Curl string `json:"curl,omitempty"`
}

// Line is a request with what is to be said of it.
type Line struct {
	journal.Entry
	Remark
}

// Remarks are those on the requests of a record, by their numbers.
func Remarks(record journal.Record) map[uint64]Remark {
	made := make(map[uint64]Remark, len(record.Entries))
	rules := Catalogue()
	for id, all := range attribute(record.Entries) {
		for _, e := range all {
			made[e.Number] = Remark{Client: id}
		}
		for _, r := range rules {
			for _, s := range r.check(all) {
				for _, e := range s.Entries {
					remark := made[e.Number]
					if !slices.Contains(remark.Rules, r.ID) {
						remark.Rules = append(remark.Rules, r.ID)
					}
					if remark.Curl == "" {
						remark.Curl = curl(id, r, Sighting{Entries: []*journal.Entry{e}})
					}
					made[e.Number] = remark
				}
			}
		}
	}
	return made
}
