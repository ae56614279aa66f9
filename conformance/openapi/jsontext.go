package openapi

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rin-network/rin/conformance/evidence"
)

// This file walks JSON text without building values, because answers may be large and hostile. Parts are slices of the text.

// blanks is the white space between JSON tokens (RFC 8259 §2).
const blanks = " \t\r\n"

// skipBlanks returns the text after the blanks at its start.
func skipBlanks(text []byte) []byte { return skipBlanksAnd(text, ' ') } // a blank is not a separator

// skipBlanksAnd returns the text after the blanks and separators at its start. It does not use [bytes.TrimLeft], which builds its set of characters at each
// call: this function runs between any two values.
func skipBlanksAnd(text []byte, separator byte) []byte {
	for i, c := range text {
		switch c {
		case ' ', '\t', '\r', '\n', separator:
		default:
			return text[i:]
		}
	}
	return nil
}

// valueLength returns the length of the JSON value at the start of the text: -1 if the text ends inside it, 0 if no value starts there. It does not check the
// syntax inside the value.
func valueLength(text []byte) int {
	if len(text) == 0 {
		return 0
	}
	switch text[0] {
	case ' ', '\t', '\r', '\n', ']', '}', ',', ':':
		return 0
	case '"':
		return evidence.StringLength(text)
	case '[', '{':
		return containerLength(text)
	}
	return bytes.IndexAny(text, blanks+"]},:")
}

// containerLength returns the length of the array or object at the start of the text, or -1.
func containerLength(text []byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			n := evidence.StringLength(text[i:])
			if n < 0 {
				return -1
			}
			i += n - 1
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return -1
}

// members iterates over the members of a JSON object in order; other values have no members. The value of the last one may be incomplete.
func members(object []byte) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		for name, value := range rawMembers(object) {
			if !yield(unquote(name), value) {
				return
			}
		}
	}
}

// rawMembers iterates over the members with their names as written, in quotes and with escapes.
func rawMembers(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func([]byte, []byte) bool) {
		rest, ok := bytes.CutPrefix(skipBlanks(object), []byte("{"))
		for ok { // other values have no members
			rest = skipBlanksAnd(rest, ',')
			n := valueLength(rest)
			if n <= 0 || rest[0] != '"' {
				return
			}
			name := rest[:n]
			rest = skipBlanksAnd(rest[n:], ':')
			switch n = valueLength(rest); {
			case n == 0:
				return
			case n < 0:
				yield(name, rest)
				return
			}
			if !yield(name, rest[:n]) {
				return
			}
			rest = rest[n:]
		}
	}
}

// unquote decodes a JSON string; it returns an invalid one as written, without its quotes.
func unquote(s []byte) string {
	plain := string(s[1 : len(s)-1])
	if bytes.IndexByte(s, '\\') < 0 {
		return plain
	}
	var out string
	if json.Unmarshal(s, &out) != nil {
		return plain
	}
	return out
}

// elements returns the values of a JSON array up to the first malformed one, at most [MaxItems]; complete reports whether these are all values. Unlike [Split] it
// checks the syntax inside the values, but not the commas between them.
func elements(array []byte) (out [][]byte, complete bool) {
	rest := bytes.TrimPrefix(skipBlanks(array), []byte("["))
	for {
		rest = skipBlanksAnd(rest, ',')
		if len(rest) > 0 && rest[0] == ']' {
			return out, true
		}
		n := valueLength(rest)
		if n <= 0 || len(out) == MaxItems || !json.Valid(rest[:n]) {
			return out, false
		}
		out = append(out, rest[:n])
		rest = rest[n:]
	}
}

// Split cuts a JSON array into the texts of its values, up to [MaxItems]. It does not check the syntax inside them, and so is much faster than
// decoding. complete reports whether these are all values, separated by single commas, with nothing after the array.
func Split(array []byte) (values [][]byte, complete bool) {
	for value := range scanItems(array, &complete) {
		if len(values) == MaxItems {
			return values, false
		}
		values = append(values, value)
	}
	return values, complete
}

// itemsOf iterates over the values of a JSON array like [Split], without its bound.
func itemsOf(array []byte) iter.Seq[[]byte] { return scanItems(array, new(bool)) }

// scanItems iterates over the values of a JSON array up to the first fault. At the end of the array it sets complete, if nothing follows there.
func scanItems(array []byte, complete *bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest, ok := bytes.CutPrefix(skipBlanks(array), []byte("["))
		rest = skipBlanks(rest)
		if end, empty := bytes.CutPrefix(rest, []byte("]")); ok && empty {
			*complete = FirstByte(end) == 0
			return
		}
		for ok {
			n := valueLength(rest)
			if n <= 0 || !yield(rest[:n]) {
				return
			}
			rest = skipBlanks(rest[n:])
			if end, ended := bytes.CutPrefix(rest, []byte("]")); ended {
				*complete = FirstByte(end) == 0
				return
			}
			rest, ok = bytes.CutPrefix(rest, []byte(","))
			rest = skipBlanks(rest)
		}
	}
}

// FirstByte returns the first character of a JSON text, which shows the type of the value, or 0 for a blank text.
func FirstByte(text []byte) byte {
	if text = skipBlanks(text); len(text) > 0 {
		return text[0]
	}
	return 0
}

// Bounds of a walk through JSON text.
const (
	maxVisited  = 10_000 // members and items
	maxNesting  = 32
	maxRepeated = 20 // repeated members that are returned
)

// EachMember calls visit for each member of every object inside a JSON text, in order and up to a bound. Repeated members are included. visit
// gets the RFC 6901 pointer, the name and the text of the value.
func EachMember(text []byte, visit func(pointer, name string, value []byte)) {
	visitsLeft := maxVisited
	var walk func(text []byte, at string, levelsLeft int)
	walk = func(text []byte, at string, levelsLeft int) {
		if levelsLeft == 0 {
			return
		}
		switch FirstByte(text) {
		case '{':
			for name, value := range members(text) {
				if visitsLeft--; visitsLeft < 0 {
					return
				}
				pointer := at + "/" + Escape(name)
				visit(pointer, name, value)
				walk(value, pointer, levelsLeft-1)
			}
		case '[':
			items, _ := Split(text)
			for i, item := range items {
				if visitsLeft--; visitsLeft < 0 {
					return
				}
				walk(item, at+"/"+strconv.Itoa(i), levelsLeft-1)
			}
		}
	}
	walk(text, "", maxNesting)
}

// RepeatedMembers returns the RFC 6901 pointers of members that an object inside the text has more than once (RFC 8259 §4), at most 20. It does not search the
// second and later values of such a member.
func RepeatedMembers(text []byte) []string { return new(RepeatSearch).RepeatedMembers(text) }

// RepeatSearch finds repeated members in many texts. It remembers which items have none, because a run gets the same items many times: in the whole list, in
// pages and in filtered lists. The zero value is ready. It is safe for concurrent use.
type RepeatSearch struct {
	mu    sync.Mutex
	seed  maphash.Seed
	clean map[itemKey]bool
}

// prepare makes the search ready on first use, and returns the seed of its hashes.
func (s *RepeatSearch) prepare() maphash.Seed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clean == nil {
		s.seed, s.clean = maphash.MakeSeed(), map[itemKey]bool{}
	}
	return s.seed
}

// isClean reports whether an item is known to have no repeated members.
func (s *RepeatSearch) isClean(item itemKey) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clean[item]
}

// addClean remembers an item without repeated members.
func (s *RepeatSearch) addClean(item itemKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clean) < maxClean {
		s.clean[item] = true
	}
}

// itemKey identifies an item at a depth by its hash. The depth counts, because the search ends at [maxNesting]. A node does not know the seed of the hash, so it
// cannot make two items look equal.
type itemKey struct {
	hash          uint64
	length, depth int
}

// Bounds of the items that a search remembers. Shorter items are searched as quickly as they are hashed.
const (
	maxClean     = 10_000 // items
	minCleanSize = 256    // bytes
)

// RepeatedMembers returns what the function [RepeatedMembers] returns, and does not search items again that it knows to be clean. Its time grows in proportion to
// the length of the text.
func (s *RepeatSearch) RepeatedMembers(text []byte) []string {
	w := repeatWalk{search: s, seed: s.prepare()}
	w.value(text)
	return w.out
}

// RepeatedInList is [RepeatSearch.RepeatedMembers] for an array that was split into all its items.
func (s *RepeatSearch) RepeatedInList(items [][]byte) []string {
	w := repeatWalk{search: s, seed: s.prepare(), path: make([]step, 1)}
	w.list(slices.Values(items))
	return w.out
}

// repeatWalk is the search in one text.
type repeatWalk struct {
	search *RepeatSearch
	seed   maphash.Seed
	path   []step // from the root to the value
	out    []string
}

// value searches a value of any type. It ignores what is nested too deep.
func (w *repeatWalk) value(text []byte) {
	if len(w.path) == maxNesting {
		return
	}
	w.path = append(w.path, step{})
	defer func() { w.path = w.path[:len(w.path)-1] }()
	switch FirstByte(text) {
	case '{':
		w.object(text)
	case '[':
		w.list(itemsOf(text))
	}
}

func (w *repeatWalk) object(text []byte) {
	names := nameSet{seed: w.seed}
	for raw, value := range rawMembers(text) {
		w.path[len(w.path)-1] = step{name: raw}
		if names.add(raw) {
			w.value(value)
		} else if pointer := pointerOf(w.path); !slices.Contains(w.out, pointer) {
			w.out = append(w.out, pointer)
		}
		if len(w.out) == maxRepeated {
			return
		}
	}
}

func (w *repeatWalk) list(items iter.Seq[[]byte]) {
	i := -1
	for item := range items {
		i++
		if len(w.out) == maxRepeated {
			return
		}
		w.path[len(w.path)-1] = step{index: i}
		if len(item) < minCleanSize {
			w.value(item)
			continue
		}
		key := itemKey{maphash.Bytes(w.seed, item), len(item), len(w.path)}
		if w.search.isClean(key) {
			continue
		}
		found := len(w.out)
		if w.value(item); len(w.out) == found {
			w.search.addClean(key)
		}
	}
}

// nameSet is the set of the names of an object. Most objects have few members, and comparing a few names is faster than a map. Of many names it keeps hashes
// only, because a hostile object has millions.
type nameSet struct {
	seed maphash.Seed
	few  [][]byte
	many map[uint64]struct{}
}

// add adds a name as written, and reports whether it is new.
func (s *nameSet) add(raw []byte) bool {
	const maxFew = 32
	name := raw[1 : len(raw)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(unquote(raw))
	}
	switch {
	case len(s.few) < maxFew:
		if slices.ContainsFunc(s.few, func(n []byte) bool { return bytes.Equal(n, name) }) {
			return false
		}
		s.few = append(s.few, name)
		return true
	case s.many == nil:
		s.many = make(map[uint64]struct{}, 2*maxFew)
		for _, n := range s.few {
			s.many[maphash.Bytes(s.seed, n)] = struct{}{}
		}
	}
	before := len(s.many)
	s.many[maphash.Bytes(s.seed, name)] = struct{}{}
	return len(s.many) > before
}

// step is one step of a path: a name as written, or an index.
type step struct {
	name  []byte // in quotes; nil for an index
	index int
}

// pointerOf returns the JSON Pointer of a path (RFC 6901).
func pointerOf(path []step) string {
	var b strings.Builder
	for _, s := range path {
		name := strconv.Itoa(s.index)
		if s.name != nil {
			name = unquote(s.name)
		}
		b.WriteString("/" + Escape(name))
	}
	return b.String()
}
