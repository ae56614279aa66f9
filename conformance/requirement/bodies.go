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

// bodies caches what was read from answers, because several checks read the same long lists, and many answers have the same body. Checks that run in
// parallel share it. Its lock guards the maps. While a text is read, only the lock of its body is held.
type bodies struct {
	mu    sync.Mutex
	read  map[start]*body
	items int // the number of list items that are cached so far
	// listPages holds the answers as pages of a list.
	listPages map[*evidence.Response]openapi.ListPage
	values    map[member][]string
	// linkless says of an item whether it has no links.
	linkless map[digest]bool
	// identities are the names of the members that identify records, by the detail operation.
	identities map[evidence.Resource]string
	repeats    openapi.RepeatSearch
	// digests holds the digests of listed items by their place in memory, because hashing an item costs more than finding it. An entry is zero until digestOf
	// fills it.
	digests map[start]digest
	seed    maphash.Seed
}

// member identifies a member of an item.
type member struct {
	item digest
	path string
}

// digest identifies the text of an item, so that an item of several lists and pages is read once. A node cannot make two texts look equal, because it
// does not know the seed of the hash.
type digest struct {
	hash   uint64
	length int
}

func newBodies() *bodies {
	return &bodies{read: map[start]*body{}, listPages: map[*evidence.Response]openapi.ListPage{}, values: map[member][]string{}, linkless: map[digest]bool{}, identities: map[evidence.Resource]string{}, digests: map[start]digest{}, seed: maphash.MakeSeed()}
}

// digestOf returns the digest of an item. The caller must not hold the lock.
func (b *bodies) digestOf(item []byte) digest {
	if len(item) == 0 {
		return digest{}
	}
	at := start{&item[0], len(item)}
	b.mu.Lock()
	known, listed := b.digests[at]
	b.mu.Unlock()
	if known.length > 0 {
		return known
	}
	known = digest{maphash.Bytes(b.seed, item), len(item)}
	if listed {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.digests[at] = known
	}
	return known
}

// enter lets digestOf cache the digests of listed items. The caller holds the lock, and keeps the items.
func (b *bodies) enter(items [][]byte) {
	for _, item := range items {
		if len(item) > 0 && len(b.digests) < maxDigests {
			b.digests[start{&item[0], len(item)}] = digest{}
		}
	}
}

// maxDigests bounds the items whose digests are cached.
const maxDigests = 30_000

// maxMembers bounds the members of items that are cached for all answers together, and the items without links.
const maxMembers = 10_000

// start identifies a text by its place in memory. Recorded answers with the same body share its bytes.
type start struct {
	first  *byte
	length int
}

// body holds what was read from the bytes of an answer: as JSON once read is true, as a list once listed is true.
type body struct {
	mu      sync.Mutex
	read    bool
	text    []byte
	textErr error
	listed  bool
	items   [][]byte
	listErr error
	// fault is the result of [jsonFault], once searched is true.
	searched bool
	fault    string
	// notUTF8 is valid once decoded is true.
	decoded, notUTF8 bool
	// encodedTwice is the result of [encodedTwice], once twiceSearched is true.
	twiceSearched bool
	encodedTwice  string
}

// jsonText is [jsonText] with a cache.
func (e Evidence) jsonText(x evidence.Exchange) ([]byte, error) {
	if !isCacheable(x) {
		return jsonText(x)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	e.read(b, x)
	return b.text, b.textErr
}

// itemsOf is [itemsOf] with a cache.
func (e Evidence) itemsOf(x evidence.Exchange) ([][]byte, error) {
	if e.isDescribedAsEmpty(x) {
		return nil, nil
	}
	if !isCacheable(x) {
		return itemsOf(x)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	return e.list(b, x)
}

// isDescribedAsEmpty reports whether an answer is 204 where the document describes 204: a list without items.
func (e Evidence) isDescribedAsEmpty(x evidence.Exchange) bool {
	if x.Status() != 204 {
		return false
	}
	o, known := operation(e, x.Label.Resource())
	_, described := o.Responses["204"]
	return known && described
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
		e.bodies.enter(items)
		b.listed, b.items, b.listErr = true, items, err
	}
	return items, err
}

// jsonFault is [jsonFault] with a cache, because the search reads every member.
func (e Evidence) jsonFault(x evidence.Exchange) string {
	if !isCacheable(x) {
		return jsonFault(x.Response.Body, openapi.RepeatedMembers)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	if !b.searched {
		b.searched, b.fault = true, jsonFault(x.Response.Body, func(text []byte) []string {
			if openapi.FirstByte(text) == '[' {
				if items, err := e.list(b, x); err == nil && len(items) < openapi.MaxItems { // other rows read the items, too
					return e.bodies.repeats.RepeatedInList(items)
				}
			}
			return e.bodies.repeats.RepeatedMembers(text)
		})
	}
	return b.fault
}

// encodedTwice is [encodedTwice] with a cache.
func (e Evidence) encodedTwice(x evidence.Exchange) string {
	if !isCacheable(x) {
		return encodedTwice(x.Response.Body)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	if !b.twiceSearched {
		b.twiceSearched, b.encodedTwice = true, encodedTwice(x.Response.Body)
	}
	return b.encodedTwice
}

// isUTF8 reports whether the body of an answer is UTF-8. It caches the result.
func (e Evidence) isUTF8(x evidence.Exchange) bool {
	if !isCacheable(x) {
		return utf8.Valid(x.Response.Body)
	}
	b := e.body(x)
	defer b.mu.Unlock()
	if !b.decoded {
		b.decoded, b.notUTF8 = true, !utf8.Valid(x.Response.Body)
	}
	return !b.notUTF8
}

// isCacheable reports whether the cache keeps what is read from an answer. Bodies that are cut, broken or empty are rare, and say why they cannot be
// read.
func isCacheable(x evidence.Exchange) bool {
	return x.Response != nil && !x.Response.Truncated && x.Response.BodyError == "" && len(x.Response.Body) > 0
}

// body returns the cache entry for the bytes of an answer, locked. The caller unlocks it.
func (e Evidence) body(x evidence.Exchange) *body {
	at := start{&x.Response.Body[0], len(x.Response.Body)}
	e.bodies.mu.Lock()
	b, known := e.bodies.read[at]
	if !known {
		b = &body{}
		e.bodies.read[at] = b
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
	at := member{e.bodies.digestOf(item), path}
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

// isLinkless reports whether an item has no links. It caches the result.
func (e Evidence) isLinkless(item []byte) bool {
	at := e.bodies.digestOf(item)
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

// isAnonymous reports whether an item has no id.
func (e Evidence) isAnonymous(item []byte) bool {
	return len(e.memberValues(item, e.identityMember())) != 1 && len(e.memberValues(item, "id")) != 1
}

// identityMember returns the name of the member that identifies the records of the list. The probe found it, and the calls of the detail name it.
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

// memberOfID returns the name of the member whose value a call of the detail used as id.
func memberOfID(x evidence.Exchange) string { return cmp.Or(x.Given["member"], "id") }
