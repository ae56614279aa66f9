package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/mockapi"
)

// Change is the kind of a [Difference].
type Change string

// The changes.
const (
	Gone    Change = "gone"
	New     Change = "new"
	Changed Change = "changed"
)

// Difference is one difference between a recording and the present answers of the node.
type Difference struct {
	Change Change `json:"change"`
	// Operation is the method with the path template; it is "document" for the OpenAPI document.
	Operation string `json:"operation"`
	// Path is the path that answers differently, and Record the id of the record in the list there.
	Path   string `json:"path,omitempty"`
	Record string `json:"record,omitempty"`
	// Members are the JSON pointers of the members that differ, in order; those of a detail begin with "detail".
	Members []string `json:"members,omitempty"`
}

// maxMembers limits the members of one difference.
const maxMembers = 50

// Compare lists what differs between a recording and a newer one. Both must be redacted in the same way. Records are compared by their ids, and by
// their content if they have none. Of a list that was cut, records that may be beyond the cut are not reported.
func Compare(before, after *Recording) ([]Difference, error) {
	all, err := readOperations(before.Document)
	if err != nil {
		return nil, err
	}
	found := compareDocuments(before.Document, after.Document)
	newer := map[string]*Operation{}
	for _, o := range after.Operations {
		newer[o.Name] = o
	}
	for _, o := range before.Operations {
		i := slices.IndexFunc(all, func(r mockapi.ReadOperation) bool { return r.Operation == o.Name })
		if i < 0 {
			continue
		}
		other := newer[o.Name]
		if other == nil {
			other = newOperation(o.Name)
		}
		delete(newer, o.Name)
		found = append(found, compareOperations(all[i], o, other)...)
	}
	for _, name := range sortedKeys(newer) {
		if i := slices.IndexFunc(all, func(r mockapi.ReadOperation) bool { return r.Operation == name }); i >= 0 {
			found = append(found, compareOperations(all[i], newOperation(name), newer[name])...)
		}
	}
	return found, nil
}

// compareOperations compares the lists and the other answers of one operation.
func compareOperations(op mockapi.ReadOperation, before, after *Operation) []Difference {
	var found []Difference
	for _, path := range sortedKeys(union(before.Lists, after.Lists)) {
		x, y := before.Lists[path], after.Lists[path]
		switch {
		case y == nil:
			found = append(found, Difference{Change: Gone, Operation: before.Name, Path: path})
		case x == nil:
			found = append(found, Difference{Change: New, Operation: before.Name, Path: path})
		default:
			found = append(found, compareLists(op, path, x, y)...)
		}
	}
	for _, path := range sortedKeys(union(before.Answers, after.Answers)) {
		x, had := before.Answers[path]
		y, has := after.Answers[path]
		switch {
		case !has:
			found = append(found, Difference{Change: Gone, Operation: before.Name, Path: path})
		case !had:
			found = append(found, Difference{Change: New, Operation: before.Name, Path: path})
		default:
			if members := diffPointers("", x, y); len(members) > 0 {
				found = append(found, Difference{Change: Changed, Operation: before.Name, Path: path, Members: members})
			}
		}
	}
	return found
}

func union[V any](a, b map[string]V) map[string]V {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// compareLists compares the records of a list at a path.
func compareLists(op mockapi.ReadOperation, path string, before, after *mockapi.RecordedList) []Difference {
	var found []Difference
	difference := func(change Change, record string, members ...string) {
		found = append(found, Difference{Change: change, Operation: op.Operation, Path: path, Record: record, Members: members})
	}
	old, newer := index(op, before), index(op, after)
	for _, item := range before.Items {
		id := identity(op, item.Value)
		other, ok := newer[id]
		if !ok {
			if !after.Cut {
				difference(Gone, recordName(id))
			}
			continue
		}
		members := diffPointers("", item.Value, other.Value)
		if item.Detail != nil && other.Detail != nil {
			for _, m := range diffPointers("", item.Detail, other.Detail) {
				members = append(members, "detail "+m)
			}
		} else if (item.Detail == nil) != (other.Detail == nil) {
			members = append(members, "detail")
		}
		if len(members) > 0 {
			difference(Changed, recordName(id), members[:min(len(members), maxMembers)]...)
		}
	}
	for _, item := range after.Items {
		id := identity(op, item.Value)
		if _, known := old[id]; !known && !before.Cut {
			difference(New, recordName(id))
		}
	}
	return found
}

func index(op mockapi.ReadOperation, l *mockapi.RecordedList) map[string]mockapi.RecordedItem {
	all := make(map[string]mockapi.RecordedItem, len(l.Items))
	for _, item := range l.Items {
		all[identity(op, item.Value)] = item
	}
	return all
}

// recordName returns the id in an identity; a record without an id is named by the beginning of its text.
func recordName(identity string) string {
	if id, ok := strings.CutPrefix(identity, "id "); ok {
		return id
	}
	return content.Clip(identity, 60)
}

// diffPointers lists the pointers at which two values differ.
func diffPointers(pointer string, before, after any) []string {
	var found []string
	switch x := before.(type) {
	case map[string]any:
		y, ok := after.(map[string]any)
		if !ok {
			return []string{orRoot(pointer)}
		}
		for _, member := range sortedKeys(union(x, y)) {
			earlier, had := x[member]
			other, has := y[member]
			if had != has {
				found = append(found, sample.Join(pointer, member))
			} else {
				found = append(found, diffPointers(sample.Join(pointer, member), earlier, other)...)
			}
		}
		return found
	case []any:
		y, ok := after.([]any)
		if !ok {
			return []string{orRoot(pointer)}
		}
		for i := range max(len(x), len(y)) {
			at := sample.Join(pointer, strconv.Itoa(i))
			if i >= len(x) || i >= len(y) {
				found = append(found, at)
			} else {
				found = append(found, diffPointers(at, x[i], y[i])...)
			}
		}
		return found
	}
	if !reflect.DeepEqual(before, after) {
		return []string{orRoot(pointer)}
	}
	return nil
}

func orRoot(pointer string) string {
	if pointer == "" {
		return "/"
	}
	return pointer
}

// compareDocuments reports whether the document has changed, and which operations are gone, new or changed. The order of members does not matter.
func compareDocuments(before, after []byte) []Difference {
	if bytes.Equal(before, after) {
		return nil
	}
	x, errBefore := mockapi.ReadDocument(before)
	y, errAfter := mockapi.ReadDocument(after)
	if errAfter != nil || errBefore != nil {
		return []Difference{{Change: Changed, Operation: "document", Members: []string{fmt.Sprintf("it cannot be read any more: %v", errAfter)}}}
	}
	members := diffPointers("", any(x.Root), any(y.Root))
	if len(members) == 0 {
		return nil
	}
	var parts []string
	for _, m := range members {
		if part := documentPart(m); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return []Difference{{Change: Changed, Operation: "document", Members: parts[:min(len(parts), maxMembers)]}}
}

// documentPart cuts a pointer into the document after the operation or the component that it leads to.
func documentPart(pointer string) string {
	parts := strings.Split(pointer, "/")
	return strings.Join(parts[:min(len(parts), 4)], "/")
}

// Report is what drift prints as JSON.
type Report struct {
	Schema      string       `json:"schema"`
	Recorded    string       `json:"recorded"`
	Compared    string       `json:"compared"`
	Drifted     bool         `json:"drifted"`
	Differences []Difference `json:"differences"`
	Notes       []Note       `json:"notes"`
}

// DriftSchema is the version of a [Report].
const DriftSchema = "rin.drift/v1"

// NewReport makes the report of a comparison.
func NewReport(before, after *Recording, found []Difference) Report {
	const layout = "2006-01-02T15:04:05Z"
	return Report{
		Schema: DriftSchema, Recorded: before.Recorded.UTC().Format(layout), Compared: after.Recorded.UTC().Format(layout), Drifted: len(found) > 0,
		Differences: append([]Difference{}, found...), Notes: append([]Note{}, after.Notes...),
	}
}

// JSON writes the report.
func (r Report) JSON() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}
