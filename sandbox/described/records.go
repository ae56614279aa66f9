package described

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/described/document"
)

// records are the items of one list.
type records struct {
	items []record
	byID  map[string]int
	size  int
}

// record is one item.
type record struct {
	// key is what its values were drawn with.
	key string
	// id is empty for an item without one, to which nothing leads.
	id      string
	value   any
	encoded []byte
}

// Size implements representation.Sized.
func (r *records) Size() int { return 3*r.size + 256 } // as values they take more room than as text

// maxRecords bounds the bytes of the items of one list: it ends there.
const maxRecords = 24 << 20

// maxTries bounds how often an item is drawn anew because its id is taken.
const maxTries = 20

// recordsAt are the items of a list at a concrete path.
func (a *API) recordsAt(l *list, path []string) (*records, error) {
	at := concretePath(path)
	return a.records.Get(l.operation.Pointer+" "+at, func() (*records, error) {
		all := &records{byID: map[string]int{}}
		for i := range a.count(l) {
			record, ok, err := a.draw(l, at, i, path, all.byID)
			if err != nil {
				return nil, err
			}
			if !ok {
				break // there are no more ids
			}
			if all.size += len(record.encoded); all.size > maxRecords {
				break
			}
			if record.id != "" {
				all.byID[record.id] = len(all.items)
			}
			all.items = append(all.items, record)
		}
		return all, nil
	})
}

// count is how many items a list has: as many as asked for, within what its schema allows.
func (a *API) count(l *list) int {
	n := a.options.Items
	array := l.schema
	switch l.shape {
	case inEnvelope:
		array = a.members(l.schema)[l.member]
	case inSingle:
		return n
	}
	schema, _ := a.schema(array)
	if text, ok := schema["maxItems"].(json.Number); ok {
		if most, err := strconv.Atoi(text.String()); err == nil {
			n = min(n, most)
		}
	}
	return n
}

// draw makes item number i; ok is false when no id is left for it.
func (a *API) draw(l *list, at string, i int, path []string, taken map[string]int) (record, bool, error) {
	for try := range maxTries {
		key := fmt.Sprintf("%s#%d", at, i)
		if try > 0 {
			key += "." + strconv.Itoa(try)
		}
		value, err := a.samples.Value(l.item, key)
		if err != nil {
			return record{}, false, err
		}
		value = a.place(l, value, path)
		r := record{key: key}
		if l.id != "" {
			if value, r.id, err = a.withID(l, value, key); err != nil {
				return record{}, false, err
			}
			if _, twice := taken[r.id]; twice || r.id != "" && !a.addressable(l, value, r.id) {
				continue
			}
		}
		r.value = value
		r.encoded, err = json.Marshal(value)
		return r, true, err
	}
	return record{}, false, nil
}

// withID gives an item without id one, where its schema lets it have one.
func (a *API) withID(l *list, value any, key string) (any, string, error) {
	object, ok := value.(map[string]any)
	if !ok {
		return value, "", nil
	}
	if id := plain(object[l.id]); id != "" {
		return value, id, nil
	}
	id, err := a.samples.Value(l.idSchema, key+"#id")
	if err != nil {
		return nil, "", err
	}
	object = a.put(object, l.item, []string{l.id}, map[string]any{l.id: id})
	return object, plain(object[l.id]), nil
}

// addressable tells whether the detail operation takes an id.
func (a *API) addressable(l *list, value any, id string) bool {
	if id == "." || id == ".." || len(id) > 500 {
		return false
	}
	object, _ := value.(map[string]any)
	if l.detail == nil {
		return true
	}
	for _, p := range l.detail.parameters {
		if p.In == "path" && p.Name == l.parameter && p.Schema != "" {
			violations, err := a.requests.Check(p.Schema, object[l.id])
			return err == nil && len(violations) == 0
		}
	}
	return true
}

// place makes members of an item that are called as a parameter of its path agree with the path: /owners/{ownerId}/pets.
func (a *API) place(l *list, value any, path []string) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	for i, segment := range strings.Split(strings.Trim(l.operation.resource.path, "/"), "/") {
		name, isParameter := strings.CutPrefix(strings.TrimSuffix(segment, "}"), "{")
		if !isParameter || i >= len(path) {
			continue
		}
		for member := range object {
			if canonical(member) == canonical(name) && member != l.id {
				object = a.put(object, l.item, []string{member}, map[string]any{member: typed(object[member], path[i])})
				break
			}
		}
	}
	return object
}

// typed is a text as the type that a value has now.
func typed(like any, text string) any {
	if _, ok := like.(json.Number); ok && json.Valid([]byte(text)) {
		return json.Number(text)
	}
	return text
}

// plain is the text of a plain value; empty for what is none.
func plain(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	case float64, int, int64:
		return fmt.Sprint(v)
	}
	return ""
}

// concretePath writes the segments of a path so that different ones never look alike.
func concretePath(segments []string) string { return document.Child("", segments...) }
