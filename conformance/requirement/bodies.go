package requirement

import (
	"cmp"
	"hash/maphash"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// maxItems bounds the list items that are cached for all answers together: a hostile list has many small ones.
const maxItems = 200_000

// bodies caches what was read from answers, because several checks read the same long lists, and many answers have the same body. Rows that are judged side
// by side share it: its lock guards the maps and is not held while a text is read; that of a body is.
type bodies struct {
	mu    sync.Mutex
	of    map[start]*body
	items int // cached so far
	// sheets are the answers as pages of a list.
	sheets map[*evidence.Response]openapi.Sheet
	values map[member][]string
	// linkless are the items without links.
	linkless map[content]bool
	// identities are the members by which the records of a list are known, by its detail.
	identities map[evidence.Resource]string
	repeats    openapi.RepeatSearch
	// contents are those of items that were listed, by their places, since hashing an item costs more than finding it. The content of an item is
	// the zero value until it is asked for.
	contents map[start]content
	seed     maphash.Seed
}

// member is a member of an item.
type member struct {
	item content
	path string
}

// content identifies the text of an item, so that an item of several lists and pages is read once. A node cannot make two texts look equal, because it
// does not know the seed of the hash.
type content struct {
	hash   uint64
	length int
}

func newBodies() *bodies {
	return &bodies{of: map[start]*body{}, sheets: map[*evidence.Response]openapi.Sheet{}, values: map[member][]string{}, linkless: map[content]bool{}, identities: map[evidence.Resource]string{}, contents: map[start]content{}, seed: maphash.MakeSeed()}
}

// contentOf identifies the text of an item. The caller must not hold the lock.
func (b *bodies) contentOf(item []byte) content {
	if len(item) == 0 {
		return content{}
	}
	at := start{&item[0], len(item)}
	b.mu.Lock()
	known, listed := b.contents[at]
	b.mu.Unlock()
	if known.length > 0 {
		return known
	}
	known = content{maphash.Bytes(b.seed, item), len(item)}
	if listed {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.contents[at] = known
	}
	return known
}

// name makes the contents of listed items remembered. The caller holds the lock, and keeps the items.
func (b *bodies) name(items [][]byte) {
	for _, item := range items {
		if len(item) > 0 && len(b.contents) < maxNamed {
			b.contents[start{&item[0], len(item)}] = content{}
		}
	}
}

// maxNamed bounds the items whose contents are remembered.
const maxNamed = 30_000

// maxMembers bounds the members of items that are cached for all answers together, and the items without links.
const maxMembers = 10_000

// start is where a text lies. Recorded answers with the same body share its bytes.
type start struct {
	first  *byte
	length int
}

// body is what was read from the bytes of an answer: as JSON once read is true, as a list once listed is true.
type body struct {
	mu      sync.Mutex
	read    bool
	text    []byte
	textErr error
	listed  bool
	items   [][]byte
	listErr error
	// fault is what [jsonFault] found, once searched is true.
	searched bool
	fault    string
	// foreign reports bytes that are not UTF-8, once decoded is true.
	decoded, foreign bool
	// letters are what [encodedTwice] found, once spelled is true.
	spelled bool
	letters string
}

// jsonText is [jsonText] with a cache.
func (e Evidence) jsonText(x evidence.Exchange) ([]byte, error) {
	if !remembered(x) {
		return jsonText(x)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	e.read(b, x)
	return b.text, b.textErr
}

// itemsOf is [itemsOf] with a cache.
func (e Evidence) itemsOf(x evidence.Exchange) ([][]byte, error) {
	if !remembered(x) {
		return itemsOf(x)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	return e.list(b, x)
}

// list reads an answer as a list, once unless there are too many items.
func (e Evidence) list(b *body, x evidence.Exchange) ([][]byte, error) {
	if b.listed {
		return b.items, b.listErr
	}
	e.read(b, x)
	items, err := itemsIn(b.text, b.textErr)
	e.bodies.mu.Lock()
	defer e.bodies.mu.Unlock()
	if e.bodies.items+len(items) <= maxItems {
		e.bodies.items += len(items)
		e.bodies.name(items)
		b.listed, b.items, b.listErr = true, items, err
	}
	return items, err
}

// jsonFault is [jsonFault], remembered: the search reads every member.
func (e Evidence) jsonFault(x evidence.Exchange) string {
	if !remembered(x) {
		return jsonFault(x.Response.Body, openapi.RepeatedMembers)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	if !b.searched {
		b.searched, b.fault = true, jsonFault(x.Response.Body, func(text []byte) []string {
			if openapi.FirstByte(text) == '[' {
				if items, err := e.list(b, x); err == nil { // other rows read the items, too
					return e.bodies.repeats.RepeatedInList(items)
				}
			}
			return e.bodies.repeats.RepeatedMembers(text)
		})
	}
	return b.fault
}

// encodedTwice is [encodedTwice], remembered.
func (e Evidence) encodedTwice(x evidence.Exchange) string {
	if !remembered(x) {
		return encodedTwice(x.Response.Body)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	if !b.spelled {
		b.spelled, b.letters = true, encodedTwice(x.Response.Body)
	}
	return b.letters
}

// isUTF8 reports whether the body of an answer is UTF-8, remembered.
func (e Evidence) isUTF8(x evidence.Exchange) bool {
	if !remembered(x) {
		return utf8.Valid(x.Response.Body)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	if !b.decoded {
		b.decoded, b.foreign = true, !utf8.Valid(x.Response.Body)
	}
	return !b.foreign
}

// remembered reports an answer whose reading is kept. What is cut, broken or empty is seldom, and says why it cannot be read.
func remembered(x evidence.Exchange) bool {
	return x.Response != nil && !x.Response.Truncated && x.Response.BodyError == "" && len(x.Response.Body) > 0
}

// body is what is remembered of the bytes of an answer. The caller unlocks it.
func (e Evidence) body(x evidence.Exchange) *body {
	at := start{&x.Response.Body[0], len(x.Response.Body)}
	e.bodies.mu.Lock()
	b, known := e.bodies.of[at]
	if !known {
		b = &body{}
		e.bodies.of[at] = b
	}
	e.bodies.mu.Unlock()
	b.mu.Lock()
	return b
}

// read reads an answer as JSON once. A list that was compared with its schema was read to its end when it was recorded.
func (e Evidence) read(b *body, x evidence.Exchange) {
	if b.read {
		return
	}
	b.read = true
	if f, ok := e.FindingsOf(x.Label); ok && f.Judged && f.Items > 1 {
		b.text = x.Response.Body
	} else {
		b.text, b.textErr = jsonText(x)
	}
}

// memberValues is [openapi.MemberValues] with a cache for the items of recorded lists, which are compared with each filtered and sorted list.
func (e Evidence) memberValues(item []byte, path string) []string {
	if len(item) == 0 || e.bodies == nil {
		return openapi.MemberValues(item, path)
	}
	at := member{e.bodies.contentOf(item), path}
	e.bodies.mu.Lock()
	values, known := e.bodies.values[at]
	e.bodies.mu.Unlock()
	if known {
		return values
	}
	values = openapi.MemberValues(item, path)
	e.bodies.mu.Lock()
	defer e.bodies.mu.Unlock()
	if len(e.bodies.values) < maxMembers {
		e.bodies.values[at] = values
	}
	return values
}

// references is [openapi.References] with a cache of the items that have none.
func (e Evidence) references(text []byte, items [][]byte) []openapi.Reference {
	items = slices.Clone(items)
	for i, item := range items {
		if e.isLinkless(item) {
			items[i] = nil
		}
	}
	return openapi.References(text, items)
}

func (e Evidence) isLinkless(item []byte) bool {
	at := e.bodies.contentOf(item)
	e.bodies.mu.Lock()
	linkless, known := e.bodies.linkless[at]
	e.bodies.mu.Unlock()
	if known {
		return linkless
	}
	linkless = len(openapi.References(item, nil)) == 0
	e.bodies.mu.Lock()
	defer e.bodies.mu.Unlock()
	if len(e.bodies.linkless) < maxMembers {
		e.bodies.linkless[at] = linkless
	}
	return linkless
}

// identity is [openapi.Identity] with a cache.
func (e Evidence) identity(item []byte) string {
	for _, member := range []string{e.identityMember(), "id"} {
		if ids := e.memberValues(item, member); len(ids) == 1 {
			return ids[0]
		}
	}
	return openapi.Identity(item)
}

// identities is [openapi.Identities] with a cache.
func (e Evidence) identities(items [][]byte) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = e.identity(item)
	}
	return out
}

// isAnonymous reports an item without an id.
func (e Evidence) isAnonymous(item []byte) bool {
	return len(e.memberValues(item, e.identityMember())) != 1 && len(e.memberValues(item, "id")) != 1
}

// identityMember is the member by which the records of the list are known: the probe found it, and the calls of its detail name it.
func (e Evidence) identityMember() string {
	find := func() string { return memberOfID(e.exchange(evidence.DetailOperation.With("item-first"))) }
	if e.bodies == nil {
		return find()
	}
	e.bodies.mu.Lock()
	known := e.bodies.identities[e.Roles.Detail]
	e.bodies.mu.Unlock()
	if known != "" {
		return known
	}
	known = find()
	e.bodies.mu.Lock()
	defer e.bodies.mu.Unlock()
	e.bodies.identities[e.Roles.Detail] = known
	return known
}

// memberOfID is the member of a record with the id that a call of the detail asked for.
func memberOfID(x evidence.Exchange) string { return cmp.Or(x.Given["member"], "id") }
