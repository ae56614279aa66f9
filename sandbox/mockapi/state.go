package mockapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"sync"

	"github.com/rin-network/rin/sandbox/content"
)

// The limits of what requests change.
const (
	maxChanges      = 10_000   // records that were made, replaced or deleted
	maxChangedBytes = 24 << 20 // of these records, as JSON
)

// state has the changes that requests have made, as new versions of lists. A version is immutable.
type state struct {
	writing sync.Mutex // one change at a time
	mu      sync.Mutex // guards the fields below
	// lists has the newest version of each changed list, by its recordsKey; sizes has the bytes of each changed record, by that key and its id.
	lists    map[string]*records
	sizes    map[string]int
	bytes    int
	created  int    // counts the records that requests created, for their ids
	revision uint64 // counts the changes, for the cache of answers
}

func newState() *state { return &state{lists: map[string]*records{}, sizes: map[string]int{}} }

// list returns the newest version of a list; nil if no request has changed the list.
func (s *state) list(key string) *records {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lists[key]
}

// version counts the changes; it is 0 without a state.
func (s *state) version() uint64 {
	if s == nil {
		return 0
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.revision
}

// put replaces a list whose record with the id has changed; ok is false if the state is full.
func (s *state) put(key, id string, all *records, size int) (ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := key + " " + id
	before, known := s.sizes[changed]
	if !known && len(s.sizes) >= maxChanges || s.bytes-before+size > maxChangedBytes {
		return false
	}
	s.lists[key], s.sizes[changed] = all, size
	s.bytes += size - before
	s.revision++
	return true
}

// Reset undoes all changes that requests made.
func (a *API) Reset() {
	s := a.state
	if s == nil {
		return
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists, s.sizes, s.bytes, s.created = map[string]*records{}, map[string]int{}, 0, 0
	s.revision++
}

// change applies a request to the record that its path names, or makes a record in the list that its path names. The result is nil if the
// document does not describe such a list.
func (a *API) change(q request) (*record, *content.Problem, error) {
	o := q.operation
	hasDetail := func(l *list) bool {
		return l != nil && l.shape != inSingle && l.id != "" && l.detail != nil && len(l.detail.media) > 0
	}
	if a.state == nil || o.status < 200 || o.status > 299 {
		return nil, nil, nil
	}
	switch o.Method {
	case http.MethodPost:
		get := o.resource.operations[http.MethodGet]
		if o.status != http.StatusCreated || get == nil || !hasDetail(get.list) {
			return nil, nil, nil
		}
		return a.makeRecord(q, get.list)
	case http.MethodPut, http.MethodPatch, http.MethodDelete:
		if l := o.resource.parent; hasDetail(l) {
			return a.changeRecord(q, l)
		}
	}
	return nil, nil, nil
}

// makeRecord adds the object in the body of a request to a list, with a new id unless the client chose one that is free.
func (a *API) makeRecord(q request, l *list) (*record, *content.Problem, error) {
	a.state.writing.Lock()
	defer a.state.writing.Unlock()
	all, err := a.recordsAt(l, q.path)
	if err != nil {
		return nil, nil, err
	}
	a.state.created++
	r, ok, err := a.draw(l, concretePath(q.path), MaxItems+a.state.created, q.path, all.byID)
	if err != nil || !ok || r.id == "" {
		return nil, refuse(noRoom("no id is left for another record")), err
	}
	sent, _ := q.body.(map[string]any)
	sent = maps.Clone(sent)
	if id := plainText(sent[l.id]); all.has(id) || id == "" || !a.isAddressable(l, sent, id) {
		delete(sent, l.id)
	}
	r.value = a.putMembers(r.value, l.item, sent)
	r.id = plainText(memberOf(r.value, l.id))
	full, err := a.detailOf(l, r)
	if err != nil {
		return nil, nil, err
	}
	r.full = a.putMembers(full, l.detail.media[0].Schema, sent)
	problem, err := a.store(l, q.path, &r, all, len(all.items))
	return &r, problem, err
}

// changeRecord replaces, merges or deletes the record at the path of a request.
func (a *API) changeRecord(q request, l *list) (*record, *content.Problem, error) {
	a.state.writing.Lock()
	defer a.state.writing.Unlock()
	path, id := q.path[:len(q.path)-1], q.path[len(q.path)-1]
	all, err := a.recordsAt(l, path)
	if err != nil {
		return nil, nil, err
	}
	if !all.has(id) { // another request has deleted it meanwhile
		return nil, refuse(content.NotFound("there is no record with the "+l.parameter+" in the path", "another request has deleted the record")), nil
	}
	index := all.byID[id]
	r := all.items[index]
	if q.operation.Method == http.MethodDelete {
		problem, err := a.store(l, path, nil, all, index)
		return &r, problem, err
	}
	sent, isObject := q.body.(map[string]any)
	if !isObject {
		return nil, nil, nil // a JSON Patch, for example, changes nothing
	}
	before, err := a.detailOf(l, r)
	if err != nil {
		return nil, nil, err
	}
	schema := l.detail.media[0].Schema
	var after any
	if q.operation.Method == http.MethodPatch {
		after = mergePatch(before, sent)
	} else {
		after = any(maps.Clone(sent))
	}
	object := after.(map[string]any)
	object[l.id] = memberOf(before, l.id) // the path decides the id
	if violations, err := a.check(a.samples.Validator, schema, object); err != nil {
		return nil, nil, err
	} else if len(violations) > 0 {
		if q.operation.Method == http.MethodPatch {
			return nil, refuse(content.Unprocessable(violations)), nil
		}
		object = a.complete(object, before, schema)
	}
	r.full = object
	r.value = a.listItem(l, r.value, object)
	problem, err := a.store(l, path, &r, all, index)
	return &r, problem, err
}

// complete returns an object that fits its schema. It adds the members of the earlier value that the schema requires, because only the node sets them.
func (a *API) complete(object map[string]any, before any, schema string) map[string]any {
	old, _ := before.(map[string]any)
	merged := maps.Clone(old)
	maps.Copy(merged, object)
	if !a.fits(schema, merged) { // a member that was sent does not fit the answer
		return a.put(maps.Clone(old), schema, slices.Sorted(maps.Keys(object)), object)
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if _, sent := object[name]; sent {
			continue
		}
		without := maps.Clone(merged)
		if delete(without, name); a.fits(schema, without) {
			merged = without
		}
	}
	return merged
}

// store makes a new version of a list, in which r is at the index; if r is nil, the record at the index is removed.
func (a *API) store(l *list, path []string, r *record, all *records, index int) (*content.Problem, error) {
	next := &records{byID: make(map[string]int, len(all.byID)+1), size: all.size}
	next.items = slices.Clone(all.items)
	id, size := "", 0
	switch {
	case r == nil:
		id = all.items[index].id
		next.items = slices.Delete(next.items, index, index+1)
	default:
		var err error
		if r.encoded, err = json.Marshal(r.value); err != nil {
			return nil, err
		}
		detail, err := json.Marshal(r.full)
		if err != nil {
			return nil, err
		}
		id, size = r.id, len(r.encoded)+len(detail)
		if index == len(next.items) {
			next.items = append(next.items, *r)
		} else {
			next.items[index] = *r
		}
	}
	for i, item := range next.items {
		if item.id != "" {
			next.byID[item.id] = i
		}
	}
	if !a.state.put(recordsKey(l, path), id, next, size) {
		return refuse(noRoom(fmt.Sprintf("the sandbox keeps at most %d changes, and %d bytes of them", maxChanges, maxChangedBytes))), nil
	}
	return nil, nil
}

func noRoom(detail string) content.Problem {
	return content.InsufficientStorage(detail, "rin sandbox reset takes all changes back")
}

// listItem returns the item of a list for a changed detail: the members of the detail that the item's schema describes.
func (a *API) listItem(l *list, before any, detail map[string]any) any {
	item := map[string]any{}
	for member := range a.members(l.item) {
		if value, ok := detail[member]; ok {
			item[member] = value
		}
	}
	if a.fits(l.item, item) {
		return item
	}
	return a.putMembers(before, l.item, item)
}

// putMembers puts members into a value that is an object, as far as its schema allows.
func (a *API) putMembers(value any, schema string, members map[string]any) any {
	object, ok := value.(map[string]any)
	if !ok {
		return value
	}
	return a.put(object, schema, slices.Sorted(maps.Keys(members)), members)
}

func memberOf(value any, name string) any {
	object, _ := value.(map[string]any)
	return object[name]
}

// mergePatch applies a merge patch to a value (RFC 7396 §2).
func mergePatch(target any, patch map[string]any) map[string]any {
	object, _ := target.(map[string]any)
	merged := maps.Clone(object)
	if merged == nil {
		merged = map[string]any{}
	}
	for name, value := range patch {
		switch v := value.(type) {
		case nil:
			delete(merged, name)
		case map[string]any:
			merged[name] = mergePatch(merged[name], v)
		default:
			merged[name] = v
		}
	}
	return merged
}

// has reports whether a record has an id.
func (r *records) has(id string) bool {
	_, ok := r.byID[id]
	return ok
}
