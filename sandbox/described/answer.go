package described

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/rin-network/rin/sandbox/described/content"
	"github.com/rin-network/rin/sandbox/described/document"
	"github.com/rin-network/rin/sandbox/journal"
	"github.com/rin-network/rin/sandbox/problem"
	"github.com/rin-network/rin/sandbox/representation"
)

// answer is what a request gets. It does not change.
type answer struct {
	status int
	header http.Header
	// body is nil for an answer without one, and for a refusal.
	body    *representation.Body
	content []byte
	media   string
	refusal *problem.Problem
	// negotiated: another Accept may get another media type.
	negotiated bool
	// page is what part of a list it is; nil for none.
	page *journal.Page
}

// Size implements representation.Sized.
func (a *answer) Size() int {
	if a.body == nil {
		return 512
	}
	return a.body.Size() + 512
}

// answer makes the answer to a request, or finds the one that was made before.
func (a *API) answer(q asked) (*answer, error) {
	if q.operation.Method != http.MethodGet {
		return a.make(q)
	}
	key, err := q.key()
	if err != nil {
		return nil, err
	}
	return a.answers.Get(key, func() (*answer, error) { return a.make(q) })
}

// key is the same for requests that ask for the same: parameters in any order, those that the document does not know left out.
func (q asked) key() (string, error) {
	encoded, err := json.Marshal(q.values) // members in the order of their names
	if err != nil {
		return "", err
	}
	return q.operation.Method + " " + q.media.Type + " " + concretePath(q.path) + " " + string(encoded), nil
}

func (a *API) make(q asked) (*answer, error) {
	refusal, err := a.missing(q)
	if err != nil || refusal != nil {
		return &answer{refusal: refusal}, err
	}
	made := &answer{status: q.operation.status, header: http.Header{}}
	value, total, err := a.value(q)
	var none *noItemError
	if errors.As(err, &none) {
		return &answer{refusal: refuse(problem.NotFound(none.Error(), "choose other values for the filters"))}, nil
	}
	if err != nil {
		return nil, err
	}
	made.page = q.page(total)
	if err := a.headers(made.header, q, total); err != nil {
		return nil, err
	}
	if q.media.Type == "" || made.status == http.StatusNoContent || made.status == http.StatusNotModified || made.status < 200 {
		return made, nil
	}
	made.media, made.negotiated = q.media.Type, len(q.operation.media) > 1
	if made.content, err = a.encode(q.media, value); err != nil {
		return nil, err
	}
	if content.FormOf(made.media) != content.JSON { // a document may be anybody's, and browsers run pages and pictures
		made.header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	}
	made.body = representation.New(made.media, made.content)
	return made, nil
}

// encode writes a value as content of a media type.
func (a *API) encode(m document.Media, value any) ([]byte, error) {
	form := content.FormOf(m.Type)
	if form == content.XML {
		if encoded, ok := value.(json.RawMessage); ok {
			decoded, err := decode(encoded)
			if err != nil {
				return nil, err
			}
			value = decoded
		}
		return content.WriteXML(a.document, a.members, m.Schema, value), nil
	}
	switch v := value.(type) {
	case []byte:
		return v, nil
	case json.RawMessage:
		return v, nil
	case string:
		if form != content.JSON {
			return []byte(v), nil
		}
	}
	return json.Marshal(value)
}

// missing refuses paths that lead through an id that its list does not have.
func (a *API) missing(q asked) (*problem.Problem, error) {
	for _, r := range q.operation.resource.above {
		n := len(r.segments)
		all, err := a.recordsAt(r.list, q.path[:n-1])
		if err != nil {
			return nil, err
		}
		if _, ok := all.byID[q.path[n-1]]; !ok {
			return refuse(problem.NotFound("there is nothing with the "+r.list.parameter+" of the path",
				"the list at …"+r.list.operation.resource.path+" names those that exist")), nil
		}
	}
	return nil, nil
}

// value draws the content of an answer. total counts the items of a list; -1 for what is none.
func (a *API) value(q asked) (value any, total int, err error) {
	form := content.FormOf(q.media.Type)
	if (form == content.Sample || form == content.Text) && a.opaque(q.media.Schema) {
		if file, ok := content.File(q.media.Type); ok {
			return file, -1, nil
		}
	}
	if q.media.Schema == "" {
		if form == content.Text {
			return "", -1, nil
		}
		return map[string]any{}, -1, nil
	}
	if l := q.operation.list; l != nil && (q.media.Schema == l.schema || form == content.XML && a.equal(q.media.Schema, l.schema)) {
		return a.listed(l, q)
	}
	base, err := a.base(q)
	if err != nil {
		return nil, -1, err
	}
	object, isObject := base.(map[string]any)
	sent, isSent := q.body.(map[string]any)
	if isObject && isSent {
		return a.put(object, q.media.Schema, slices.Sorted(maps.Keys(sent)), sent), -1, nil
	}
	return base, -1, nil
}

// base is what is at a path: the record of a list, or a value of the path's own.
func (a *API) base(q asked) (any, error) {
	r := q.operation.resource
	if r.list == nil {
		return a.samples.Value(q.media.Schema, q.drawn())
	}
	all, err := a.recordsAt(r.list, q.path[:len(q.path)-1])
	if err != nil {
		return nil, err
	}
	record := all.items[all.byID[q.path[len(q.path)-1]]]
	if a.same(q.media.Schema, r.list.item) || a.fits(q.media.Schema, record.value) && a.richer(r.list.item, q.media.Schema) {
		return record.value, nil
	}
	value, err := a.samples.Value(q.media.Schema, record.key)
	object, isObject := value.(map[string]any)
	listed, isListed := record.value.(map[string]any)
	if err != nil || !isObject || !isListed {
		return value, err
	}
	// What a detail has beyond the item of the list is its own; the id comes first, because it matters most.
	object = a.put(object, q.media.Schema, []string{r.list.id}, listed)
	return a.put(object, q.media.Schema, slices.Sorted(maps.Keys(listed)), listed), nil
}

// richer tells whether a schema has all members of another one.
func (a *API) richer(schema, other string) bool {
	have := a.members(schema)
	for member := range a.members(other) {
		if _, ok := have[member]; !ok {
			return false
		}
	}
	return true
}

// drawn is what the value of an answer is drawn with.
func (q asked) drawn() string { return q.operation.Method + " " + concretePath(q.path) }
