package probe

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// item is what probes need of one member of a list.
type item struct {
	id, kind string
	// values are the values of the members that filters name, by member path.
	values map[string][]string
}

// maxItems is how many members of a list are looked at.
const maxItems = 5000

// filter maps a described query parameter to the member that it filters by.
type filter struct{ parameter, member string }

// filters are the parameters of the published funding API and their members.
func filters() []filter {
	return []filter{
		{"fundingType", "type"},
		{"targetGroup", "targetGroups"},
		{"region", "eligibleApplicantsRegions"},
		{"applicantsScope", "eligibleApplicantsScope"},
		{"funderId", "funder[].funder.id"},
	}
}

// readItems reads the members of a list: those of an array, or of the only array in an envelope. A body that breaks off is read
// as far as it goes.
func readItems(body []byte) []item {
	dec := json.NewDecoder(bytes.NewReader(body))
	first, err := dec.Token()
	if err != nil {
		return nil
	}
	if first == json.Delim('{') {
		return readEnvelope(body)
	}
	if first != json.Delim('[') {
		return nil
	}
	var out []item
	for dec.More() && len(out) < maxItems {
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			break
		}
		if i, ok := readItem(raw); ok {
			out = append(out, i)
		}
	}
	return out
}

func readEnvelope(body []byte) []item {
	var members map[string]json.RawMessage
	if json.Unmarshal(body, &members) != nil {
		return nil
	}
	var found []json.RawMessage
	for _, raw := range members {
		if len(raw) > 0 && raw[0] == '[' {
			found = append(found, raw)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return readItems(found[0])
}

func readItem(raw json.RawMessage) (item, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return item{}, false
	}
	i := item{id: scalar(members["id"]), kind: scalar(members["type"]), values: map[string][]string{}}
	for _, f := range filters() {
		i.values[f.member] = valuesAt(members, strings.Split(f.member, "."))
	}
	return i, true
}

// valuesAt collects the scalars under a member path; arrays on the way are gone through.
func valuesAt(members map[string]json.RawMessage, path []string) []string {
	raw := members[strings.TrimSuffix(path[0], "[]")]
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	var out []string
	for _, raw := range list {
		if len(path) == 1 {
			if s := scalar(raw); s != "" && !slices.Contains(out, s) {
				out = append(out, s)
			}
			continue
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(raw, &inner) == nil {
			out = append(out, valuesAt(inner, path[1:])...)
		}
	}
	return out
}

// maxScalar bounds a value that is sent back to the node, in bytes.
const maxScalar = 512

// scalar reads a string or a number as text; anything else, and what is too long, is empty.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		if len(s) > maxScalar {
			return ""
		}
		return s
	}
	if _, err := strconv.ParseFloat(string(raw), 64); err == nil && len(raw) < 32 {
		return string(raw)
	}
	return ""
}

// sampleIDs are the first, the middle and the last id to fetch one by one. Ids without a slash and of the kinds that every node
// serves by itself come first: many servers refuse %2F, and other kinds may be served by funders only.
func sampleIDs(items []item) []string {
	var all, good []string
	for _, i := range items {
		if i.id == "" || i.id == "." || i.id == ".." {
			continue
		}
		all = append(all, i.id)
		if !strings.ContainsAny(i.id, `/\%`) && (i.kind == "" || i.kind == "CALL" || i.kind == "PROGRAMME") {
			good = append(good, i.id)
		}
	}
	if len(good) == 0 {
		good = all
	}
	if len(good) == 0 {
		return nil
	}
	return []string{good[0], good[len(good)/2], good[len(good)-1]}
}
