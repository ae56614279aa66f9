package discover

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
)

// Entry is a node's entry in the registry, blanks around its values removed.
type Entry struct {
	ID       string
	TokenURL string // member "oauth2"
	InfoURL  string // member "info"
	// Raw is the entry as it stands in the registry.
	Raw json.RawMessage
	// Facts are what the document says beyond the entry.
	Facts exchange.RegistryFacts
}

// UnknownNodeError says that the registry has no entry with the id.
type UnknownNodeError struct {
	ID   string
	Near []string // the ids that look most like it, or the first ones
	Size int      // entries in the registry
}

// Error implements error.
func (e *UnknownNodeError) Error() string {
	text := fmt.Sprintf("expected an entry with the id %q in the registry, got %d other entries", e.ID, e.Size)
	if len(e.Near) > 0 {
		text += fmt.Sprintf(" (hint: did you mean --node %s?)", strings.Join(e.Near, " or "))
	}
	return text
}

// ErrNoRegistry says that the text is no registry document.
var ErrNoRegistry = errors.New("expected a registry document: a JSON object with the array \"member\", or an array of entries")

// FindEntry reads the entry with the id out of a registry document: entries stand under "member", a bare array is accepted.
// Ids are compared exactly, blanks around them aside; of several entries the first counts. An entry without URLs is returned as it is.
func FindEntry(registry []byte, id string) (Entry, error) {
	members, err := entries(registry)
	if err != nil {
		return Entry{}, err
	}
	id = strings.TrimSpace(id)
	var ids []string
	var entry *Entry
	for _, raw := range members {
		var fields map[string]json.RawMessage
		if json.Unmarshal(raw, &fields) != nil {
			continue // the requirements on the registry report it
		}
		found := trimmed(fields["id"])
		if found == id && found != "" {
			same := Entry{ID: id, TokenURL: trimmed(fields["oauth2"]), InfoURL: trimmed(fields["info"]), Raw: raw}
			if entry == nil {
				same.Facts = exchange.RegistryFacts{Entries: len(members), Repeated: repeatedMembers(registry)}
				entry = &same
			} else if twins := &entry.Facts.Twins; len(*twins) < maxTwins {
				*twins = append(*twins, exchange.RegistryTwin{TokenURL: same.TokenURL, InfoURL: same.InfoURL})
			}
			continue
		}
		if found != "" && len(found) <= maxID && len(ids) < maxCompared {
			ids = append(ids, found)
		}
	}
	if entry != nil {
		return *entry, nil
	}
	return Entry{}, &UnknownNodeError{ID: id, Near: nearest(id, ids), Size: len(members)}
}

// Bounds on what is compared with an unknown id: the longest id in bytes, and how many; and on how many entries of one id are told.
const (
	maxID       = 64
	maxCompared = 1000
	maxTwins    = 5
)

// repeatedMembers are the names that the document itself holds twice; what other nodes' entries repeat is their business.
func repeatedMembers(registry []byte) []string {
	return slices.DeleteFunc(document.Repeated(registry), func(pointer string) bool { return strings.Count(pointer, "/") > 1 })
}

func entries(registry []byte) ([]json.RawMessage, error) {
	var bare []json.RawMessage
	if json.Unmarshal(registry, &bare) == nil {
		return bare, nil
	}
	var document struct {
		Member []json.RawMessage `json:"member"`
	}
	if err := json.Unmarshal(registry, &document); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoRegistry, err)
	}
	if document.Member == nil {
		return nil, ErrNoRegistry
	}
	return document.Member, nil
}

// trimmed reads a string without the blanks around it; anything else is empty.
func trimmed(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return ""
	}
	return strings.TrimSpace(text)
}

// maxSuggested is how many ids an unknown one is answered with.
const maxSuggested = 3

// nearest lists the ids that take the fewest edits to become the one that was asked for, letter case aside.
func nearest(id string, ids []string) []string {
	sort.SliceStable(ids, func(a, b int) bool { return distance(id, ids[a]) < distance(id, ids[b]) })
	return ids[:min(len(ids), maxSuggested)]
}

// distance counts insertions, deletions and replacements (Levenshtein), letter case aside.
func distance(a, b string) int {
	x, y := []rune(strings.ToLower(a)), []rune(strings.ToLower(b))
	x = x[:min(len(x), maxID)]
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diagonal+cost)
		}
	}
	return row[len(y)]
}
