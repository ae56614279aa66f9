package scenario

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/answer"
)

// The name and the value that nobody has heard of.
const (
	newMember = "addedInALaterVersion"
	newValue  = "ADDED_IN_A_LATER_VERSION"
)

// contents are good answers with something in them that careless clients don't survive.
func contents() []Scenario {
	return []Scenario{
		{
			Name: "empty-page", Times: 1, Strikes: []Kind{List, API}, Also: []Kind{TryOut},
			Does:   "The first page with records comes without them: an empty array, with the links of the full page.",
			Why:    "The index behind the list is being built, and answers what it has.",
			Client: "Does not take an empty page for the end while it has a link to a next one; deletes nothing because of one answer.",
			begin: altered(func(a *answer.Answer) bool {
				if len(a.Items()) == 0 {
					return false
				}
				a.Body = []byte("[]")
				return true
			}),
		},
		{
			Name: "duplicate-items", Times: 1, Strikes: []Kind{List, API}, Also: []Kind{TryOut},
			Does:   "The first record of the first page stands at its end, too.",
			Why:    "Records are added while a client reads page after page, so that some move to the next one.",
			Client: "Knows records by their id, and keeps one of each.",
			begin: altered(func(a *answer.Answer) bool {
				return edited(a, func(value any) (any, bool) {
					items, _ := value.([]any)
					if len(items) == 0 {
						return nil, false
					}
					return append(items, items[0]), true
				})
			}),
		},
		{
			Name: "unknown-enum-value", Times: 1, Strikes: []Kind{List, Detail, API}, Also: []Kind{TryOut},
			Does:   "The first record has a value that its vocabulary does not: its legalType and one of its targetGroups; elsewhere the first in capitals.",
			Why:    "Vocabularies grow within a major version, before clients are generated anew.",
			Client: "Shows a value that it does not know as it is, and keeps the record and all others.",
			begin: altered(func(a *answer.Answer) bool {
				return edited(a, func(value any) (any, bool) {
					record, ok := first(value)
					if !ok {
						return nil, false
					}
					if _, funding := record["legalType"]; !funding {
						return value, renew(record)
					}
					groups, _ := record["targetGroups"].([]any)
					record["targetGroups"], record["legalType"] = append(groups, newValue), newValue
					return value, true
				})
			}),
		},
		{
			Name: "extra-fields", Times: 1, Strikes: protected(), Also: []Kind{Token, Registry, Metadata, Keys, TryOut},
			Does:   "Every object of the first good answer has a member more, at all depths.",
			Why:    "Minor versions add members; RFC 6749 §5.1 tells clients of the token endpoint to expect them.",
			Client: "Ignores members that it does not know.",
			begin: altered(func(a *answer.Answer) bool {
				return edited(a, func(value any) (any, bool) { return value, enrich(value) })
			}),
		},
	}
}

// edited changes the JSON of an answer; false leaves it as it was.
func edited(a *answer.Answer, change func(value any) (any, bool)) (done bool) {
	a.Edit(func(value any) any {
		var changed any
		if changed, done = change(value); !done {
			return value
		}
		return changed
	})
	return done
}

// first is the record of an answer, or the first of several.
func first(value any) (record map[string]any, ok bool) {
	if items, several := value.([]any); several && len(items) > 0 {
		value = items[0]
	}
	record, ok = value.(map[string]any)
	return record, ok
}

// enrich adds a member to each object of a value, and tells whether there is one.
func enrich(value any) (done bool) {
	switch v := value.(type) {
	case []any:
		for _, element := range v {
			done = enrich(element) || done
		}
	case map[string]any:
		for _, member := range v {
			enrich(member)
		}
		v[newMember] = json.Number("1")
		done = true
	}
	return done
}

// renew replaces the first text of a record, by the names of its members, that looks like a value of a vocabulary; false when none does.
func renew(record map[string]any) bool {
	for _, name := range slices.Sorted(maps.Keys(record)) {
		switch v := record[name].(type) {
		case string:
			if isConstant(v) {
				record[name] = newValue
				return true
			}
		case map[string]any:
			if renew(v) {
				return true
			}
		}
	}
	return false
}

// isConstant tells whether a text is spelled as vocabularies are: IN_PROGRESS.
func isConstant(text string) bool {
	return len(text) > 2 && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_") == ""
}
