package registry

import (
	"cmp"
	"slices"
)

// EntryChange is a difference between two registry documents.
type EntryChange struct {
	Kind EntryChangeKind
	ID   string
}

// EntryChangeKind says how an entry changed.
type EntryChangeKind string

// The kinds. An entry that moved has another URL.
const (
	Added   EntryChangeKind = "added"
	Moved   EntryChangeKind = "moved"
	Removed EntryChangeKind = "removed"
)

// ChangedEntries lists the entries that differ, by id. Members other than the URLs do not count: no run says anything about them.
func ChangedEntries(before, after Document) []EntryChange {
	var all []EntryChange
	for _, e := range after.Entries {
		switch old, known := before.Find(e.ID); {
		case !known:
			all = append(all, EntryChange{Added, e.ID})
		case old.TokenURL != e.TokenURL || old.InfoURL != e.InfoURL || old.Problem != e.Problem:
			all = append(all, EntryChange{Moved, e.ID})
		}
	}
	for _, e := range before.Entries {
		if _, left := after.Find(e.ID); !left {
			all = append(all, EntryChange{Removed, e.ID})
		}
	}
	slices.SortStableFunc(all, func(a, b EntryChange) int { return cmp.Compare(a.ID, b.ID) })
	return all
}
