package registry

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/report"
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
		if _, found := after.Find(e.ID); !found {
			all = append(all, EntryChange{Removed, e.ID})
		}
	}
	slices.SortStableFunc(all, func(a, b EntryChange) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

// HiddenEntries returns an error for each entry of the new document that [ChangedEntries] cannot list: [ReadDocument] leaves it out, or another parser may read
// it differently. An entry with the same text in the document before is not a change.
func HiddenEntries(before, after Document) error {
	entries, _, err := probe.Members(after.Text)
	if err != nil {
		return fmt.Errorf("read the registry document: %w", err)
	}
	var faults []error
	if slices.Contains(openapi.RepeatedMembers(after.Text), "/member") {
		faults = append(faults, errors.New("the document has member twice, and parsers disagree on which one counts"))
	}
	had := map[string]bool{}
	old, _, _ := probe.Members(before.Text) // if before cannot be read, all entries count as new
	for _, raw := range old {
		had[compact(raw)] = true
	}
	for i, raw := range entries {
		if fault := hiddenReason(raw); fault != "" && !had[compact(raw)] {
			faults = append(faults, fmt.Errorf("entry %d of the document%s", i+1, fault))
		}
	}
	return errors.Join(faults...)
}

// hiddenReason says why an entry is not read, or why parsers may read it differently; "" if all parsers read it alike.
func hiddenReason(raw json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return ": expected an object, got another value"
	}
	var id string
	if json.Unmarshal(members["id"], &id) != nil || strings.TrimSpace(id) == "" {
		return ": expected an id, as a text, got none"
	}
	if id = strings.TrimSpace(id); !isUsableID(id) {
		return fmt.Sprintf(": expected an id of at most %d bytes, without control characters", maxID)
	}
	if twice := openapi.RepeatedMembers(raw); len(twice) > 0 {
		return fmt.Sprintf(", %s: expected each member once, got %s twice", report.Plain(id), report.Plain(clip(strings.TrimPrefix(twice[0], "/"))))
	}
	return ""
}

func compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
