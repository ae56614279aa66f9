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
func skipBlanks(text []byte) []byte { return skipBlanksAnd(text, ' ') }

// skipBlanksAnd returns the text after the blanks and separators at its start. It runs between any two values, where [bytes.TrimLeft] would build its set
// of characters each time.
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

// elements returns the values of a JSON array up to the first malformed one, at most MaxItems; complete reports whether these are all values.
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
	whole := false
	for value := range itemsUntil(array, &whole) {
		if len(values) == MaxItems {
			return values, false
		}
		values = append(values, value)
	}
	return values, whole
}

// itemsOf iterates over the values of a JSON array like [Split], without its bound.
func itemsOf(array []byte) iter.Seq[[]byte] { return itemsUntil(array, new(bool)) }

// itemsUntil iterates over the values of a JSON array. At its end it says whether the array was whole.
func itemsUntil(array []byte, whole *bool) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		rest, ok := bytes.CutPrefix(skipBlanks(array), []byte("["))
		rest = skipBlanks(rest)
		if end, empty := bytes.CutPrefix(rest, []byte("]")); ok && empty {
			*whole = FirstByte(end) == 0
			return
		}
		for ok {
			n := valueLength(rest)
			if n <= 0 || !yield(rest[:n]) {
				return
			}
			rest = skipBlanks(rest[n:])
			if end, ended := bytes.CutPrefix(rest, []byte("]")); ended {
				*whole = FirstByte(end) == 0
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

// RepeatedMembers returns pointers to the members that an object inside the text contains more than once (RFC 8259 §4), the first of them. It
// skips the inside of repeated members. Most texts have none, so a pointer is put together only for those.
func RepeatedMembers(text []byte) []string { return new(RepeatSearch).RepeatedMembers(text) }

// RepeatSearch finds repeated members in many texts. It remembers the items without any, because lists are read whole, in pages and filtered.
// It is safe for concurrent use.
type RepeatSearch struct {
	mu    sync.Mutex
	seed  maphash.Seed
	clean map[searchedItem]bool
}

// begin makes the search ready, and returns the seed of its hashes.
func (s *RepeatSearch) begin() maphash.Seed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.clean == nil {
		s.seed, s.clean = maphash.MakeSeed(), map[searchedItem]bool{}
	}
	return s.seed
}

// isClean reports whether an item is known to have no repeated members.
func (s *RepeatSearch) isClean(item searchedItem) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clean[item]
}

// keep remembers an item without repeated members.
func (s *RepeatSearch) keep(item searchedItem) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.clean) < maxSearched {
		s.clean[item] = true
	}
}

// searchedItem identifies an item at a depth by its hash. A node does not know the seed of the hash, so it cannot make two items look equal.
type searchedItem struct {
	hash          uint64
	length, depth int
}

// Bounds of the items that a search remembers. Shorter ones are searched as quickly as they are hashed.
const (
	maxSearched = 10_000
	minSearched = 256 // bytes
)

// RepeatedMembers is [RepeatedMembers] with what the search remembers. It reads the whole text, in a time that grows with its length.
func (s *RepeatSearch) RepeatedMembers(text []byte) []string {
	w := repeatWalk{search: s, seed: s.begin()}
	w.value(text)
	return w.out
}

// RepeatedInList is [RepeatSearch.RepeatedMembers] for an array that was split into all its items.
func (s *RepeatSearch) RepeatedInList(items [][]byte) []string {
	w := repeatWalk{search: s, seed: s.begin(), path: make([]step, 1)}
	w.list(slices.Values(items))
	return w.out
}

// repeatWalk is the search in one text.
type repeatWalk struct {
	search *RepeatSearch
	seed   maphash.Seed
	path   []step // down to the value
	out    []string
}

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
		if len(item) < minSearched {
			w.value(item)
			continue
		}
		key := searchedItem{maphash.Bytes(w.seed, item), len(item), len(w.path)}
		if w.search.isClean(key) {
			continue
		}
		found := len(w.out)
		if w.value(item); len(w.out) == found {
			w.search.keep(key)
		}
	}
}

// nameSet holds the names of an object. Most objects have few members, which are found sooner without a map. Of many names it keeps the hashes: a
// hostile object has millions.
type nameSet struct {
	seed maphash.Seed
	few  [][]byte
	many map[uint64]struct{}
}

// add adds a name as written, and reports whether it is new.
func (s *nameSet) add(raw []byte) bool {
	const few = 32
	name := raw[1 : len(raw)-1]
	if bytes.IndexByte(name, '\\') >= 0 {
		name = []byte(unquote(raw))
	}
	switch {
	case len(s.few) < few:
		if slices.ContainsFunc(s.few, func(n []byte) bool { return bytes.Equal(n, name) }) {
			return false
		}
		s.few = append(s.few, name)
		return true
	case s.many == nil:
		s.many = make(map[uint64]struct{}, 2*few)
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
	name  []byte
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
