package mockapi

import (
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// answer is the complete answer to a request. It is immutable, so that it can be cached.
type answer struct {
	status int
	header http.Header
	// body is nil for an answer without a body, and for a refusal. content has its bytes, and media its media type.
	body    *content.Body
	content []byte
	media   string
	refusal *content.Problem
	// negotiated reports that the media type depends on the Accept header.
	negotiated bool
	// recorded reports that the answer is from a recording: its Cache-Control and its ETag are kept.
	recorded bool
	// links reports that the answer names a server of the document, or the sandbox itself: see localize.
	links bool
	// page says which part of a list the answer has; nil unless the answer is a list.
	page *journal.Page
}

// Size implements content.Sized.
func (a *answer) Size() int {
	if a.body == nil {
		return 512
	}
	return a.body.Size() + 512
}

// answer finds the answer to a request in the cache, or makes it.
func (a *API) answer(q request) (*answer, error) {
	if q.operation.Method != http.MethodGet {
		return a.newAnswer(q)
	}
	key, err := q.key()
	if err != nil {
		return nil, err
	}
	if version := a.state.version(); version > 0 {
		key = strconv.FormatUint(version, 10) + " " + key
	}
	return a.answers.Get(key, func() (*answer, error) { return a.newAnswer(q) })
}

// key identifies the answer in the cache. It does not depend on the order of parameters, nor on those that the document does not describe.
func (q request) key() (string, error) {
	encoded, err := json.Marshal(q.values) // members in the order of their names
	if err != nil {
		return "", err
	}
	return q.operation.Method + " " + q.media.Type + " " + concretePath(q.path) + " " + strconv.Itoa(q.from) + " " + string(encoded), nil
}

// newAnswer makes the answer to a request.
func (a *API) newAnswer(q request) (*answer, error) {
	refusal, err := a.missingRecord(q)
	var notRecorded *notRecordedError
	if errors.As(err, &notRecorded) {
		return &answer{refusal: recordedRefusal(err)}, nil
	}
	if err != nil || refusal != nil {
		return &answer{refusal: refusal}, err
	}
	changed, refusal, err := a.change(q)
	if err != nil || refusal != nil {
		return &answer{refusal: refusal}, err
	}
	result := &answer{status: q.operation.status, header: http.Header{}, recorded: a.isRecorded(q.operation)}
	var value any
	total := -1
	if changed == nil {
		value, total, err = a.value(q)
	} else {
		q.createdID = changed.id
		value, err = a.changedValue(q, *changed)
	}
	var noItem *noItemError
	if errors.As(err, &noItem) {
		return &answer{refusal: refuse(content.NotFound(noItem.Error(), "choose other values for the filters"))}, nil
	}
	if errors.As(err, &notRecorded) {
		return &answer{refusal: recordedRefusal(err)}, nil
	}
	if err != nil {
		return nil, err
	}
	result.page = q.page(total)
	headers := func() error { return a.headers(result.header, q, total, value) }
	if result.recorded {
		headers = func() error { return a.recordedHeaders(result.header, q, total) }
	}
	if err := headers(); err != nil {
		return nil, err
	}
	if q.recorded != nil && q.recorded.Link {
		if links := q.linkField(total); links != "" { // beside the links that do not lead to pages
			result.header["Link"] = append([]string{links}, result.header["Link"]...)
		}
	}
	if q.media.Type == "" || hasNoContent(result.status) {
		a.addRequiredHeaders(result, q, value)
		result.links = a.namesServer(result)
		return result, nil
	}
	result.media, result.negotiated = q.media.Type, len(q.operation.media) > 1
	if recorded, ok := value.(RecordedContent); ok {
		result.media, result.content = recorded.Type, recorded.Text
	} else if result.content, err = a.encode(q.media, value); err != nil {
		return nil, err
	}
	if FormOf(result.media) != FormJSON { // browsers run scripts in pages and pictures, and the document may be hostile
		result.header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	}
	a.addRequiredHeaders(result, q, value)
	result.body = content.NewBody(result.media, result.content)
	result.links = a.namesServer(result)
	return result, nil
}

// encode writes a value as content of a media type.
func (a *API) encode(m Media, value any) ([]byte, error) {
	form := FormOf(m.Type)
	if form == FormXML {
		if encoded, ok := value.(json.RawMessage); ok {
			decoded, err := decodeJSON(encoded)
			if err != nil {
				return nil, err
			}
			value = decoded
		}
		return WriteXML(a.document, a.members, m.Schema, value), nil
	}
	switch v := value.(type) {
	case []byte:
		return v, nil
	case json.RawMessage:
		return v, nil
	case string:
		if form != FormJSON {
			return []byte(v), nil
		}
	}
	return json.Marshal(value)
}

// missingRecord returns a refusal if an id in the path is not in its list; nil if all are.
func (a *API) missingRecord(q request) (*content.Problem, error) {
	for _, r := range q.operation.resource.above {
		n := len(r.segments)
		all, err := a.recordsAt(r.parent, q.path[:n-1])
		if err != nil {
			return nil, err
		}
		if _, ok := all.byID[q.path[n-1]]; !ok {
			return refuse(content.NotFound("there is no record with the "+r.parent.parameter+" in the path",
				"the list at …"+r.parent.operation.resource.path+" names those that exist")), nil
		}
	}
	return nil, nil
}

// value draws the content of an answer. total counts the items of a list; it is -1 for other content.
func (a *API) value(q request) (value any, total int, err error) {
	if a.isRecorded(q.operation) {
		return a.recordedValue(q)
	}
	form := FormOf(q.media.Type)
	if text, ok := firstText(q.media.examples); ok && form != FormJSON && form != FormXML {
		return text, -1, nil
	}
	if (form == FormFile || form == FormText) && a.isOpaque(q.media.Schema) {
		if file, ok := sampleFile(q.media.Type); ok {
			return file, -1, nil
		}
	}
	if q.media.Schema == "" {
		if form == FormText {
			return "", -1, nil
		}
		if len(q.media.examples) > 0 {
			return q.media.examples[0], -1, nil
		}
		return map[string]any{}, -1, nil
	}
	if l := q.operation.list; l != nil && (q.media.Schema == l.schema || form == FormXML && a.equal(q.media.Schema, l.schema)) {
		return a.listContent(l, q)
	}
	base, err := a.pathValue(q)
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

// pathValue returns the value of a path: the record of a list if the path is a detail, else a value that is drawn for the path.
func (a *API) pathValue(q request) (any, error) {
	r := q.operation.resource
	if r.parent == nil {
		value, err := a.mediaValue(q.media, q.drawKey())
		object, isObject := value.(map[string]any)
		if err != nil || !isObject {
			return value, err
		}
		return a.withParameters(q, object), nil
	}
	all, err := a.recordsAt(r.parent, q.path[:len(q.path)-1])
	if err != nil {
		return nil, err
	}
	return a.recordAs(r.parent, all.items[all.byID[q.path[len(q.path)-1]]], q.media)
}

// detailOf returns a record in the form of the list's detail operation.
func (a *API) detailOf(l *list, r record) (any, error) {
	if len(l.detail.media) == 0 {
		return r.value, nil
	}
	return a.recordAs(l, r, l.detail.media[0])
}

// changedValue returns the content of the answer to a request that has changed a record.
func (a *API) changedValue(q request, r record) (any, error) {
	l := q.operation.resource.parent
	if l == nil {
		l = q.operation.resource.operations[http.MethodGet].list
	}
	if q.media.Schema == "" {
		return map[string]any{}, nil
	}
	return a.recordAs(l, r, q.media)
}

// recordAs returns a record as a value of a media type: the record itself if it fits the schema, else a drawn value with the members of the record.
func (a *API) recordAs(l *list, record record, m Media) (any, error) {
	if record.recorded {
		return a.recordedDetail(record, m)
	}
	if record.full != nil && a.fits(m.Schema, record.full) {
		return record.full, nil
	}
	if a.same(m.Schema, l.item) || a.fits(m.Schema, record.value) && a.hasAllMembers(l.item, m.Schema) {
		return record.value, nil
	}
	var err error
	value, ok := a.detailExample(m, l.id, record.id)
	if !ok {
		value, err = a.samples.Value(m.Schema, record.key)
	}
	object, isObject := value.(map[string]any)
	listed, isListed := record.value.(map[string]any)
	if err != nil || !isObject || !isListed {
		return value, err
	}
	// Members that only the detail has stay as drawn. The id is put first, because put replaces only what still fits the schema.
	object = a.put(object, m.Schema, []string{l.id}, listed)
	return a.put(object, m.Schema, slices.Sorted(maps.Keys(listed)), listed), nil
}

// withParameters copies the parameters of the path into the members of an object: the last one into the member that is its id, each other one into the
// member with its name.
func (a *API) withParameters(q request, object map[string]any) map[string]any {
	segments, schema := q.operation.resource.segments, q.media.Schema
	for i, segment := range segments {
		name, isParameter := strings.CutPrefix(strings.TrimSuffix(segment, "}"), "{")
		if !isParameter || i >= len(q.path) {
			continue
		}
		member := ""
		if i == len(segments)-1 {
			member, _ = a.identify(&list{item: schema, parameter: name})
		} else {
			for known := range a.members(schema) {
				if canonical(known) == canonical(name) {
					member = known
				}
			}
		}
		if member != "" {
			object = a.put(object, schema, []string{member}, map[string]any{member: likeType(object[member], q.path[i])})
		}
	}
	return object
}

// hasAllMembers reports whether a schema has all members of the other schema.
func (a *API) hasAllMembers(schema, other string) bool {
	have := a.members(schema)
	for member := range a.members(other) {
		if _, ok := have[member]; !ok {
			return false
		}
	}
	return true
}

// drawKey returns the key with which the value of an answer is drawn.
func (q request) drawKey() string { return q.operation.Method + " " + concretePath(q.path) }

// headers draws the headers that the document describes for an answer.
func (a *API) headers(to http.Header, q request, total int, value any) error {
	for _, h := range q.operation.headers {
		if isLocation(h) {
			to.Set(h.Name, a.location(h, q, value))
			continue
		}
		if canonical(h.Name) == "link" && q.operation.list != nil {
			if text := q.linkField(total); text != "" && a.fits(h.Schema, text) {
				to.Set(h.Name, text)
			}
			continue
		}
		value, err := a.headerValue(h, q.drawKey())
		if err != nil {
			return err
		}
		if total >= 0 && isTotal(h.Name) && a.fits(h.Schema, total) {
			value = total
		}
		if text, ok := headerField(h, value); ok {
			to.Set(h.Name, text)
		}
	}
	return nil
}

// isTotal reports whether a header field counts the items of a list.
func isTotal(name string) bool {
	return slices.Contains([]string{"xtotalcount", "totalcount", "xtotal"}, canonical(name))
}

// headerValue returns the first example of a header, or draws a value.
func (a *API) headerValue(h Parameter, key string) (any, error) {
	if examples := a.examplesAt(h.Pointer, h.Schema); len(examples) > 0 {
		return examples[0], nil
	}
	if h.Schema == "" {
		return "sample", nil
	}
	return a.samples.Value(h.Schema, key+" "+h.Name)
}

// headerField writes a value as a header field (style simple); ok is false if a field cannot hold it (RFC 9110 §5.5).
func headerField(h Parameter, value any) (string, bool) {
	var texts []string
	switch v := value.(type) {
	case []any:
		for _, item := range v {
			texts = append(texts, headerText(item))
		}
	case map[string]any:
		separator := ","
		if h.Explode {
			separator = "="
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			texts = append(texts, name+separator+headerText(v[name]))
		}
	default:
		texts = []string{headerText(v)}
	}
	text := strings.Join(texts, ",")
	if h.Media != "" {
		encoded, err := json.Marshal(value)
		if err != nil {
			return "", false
		}
		text = string(encoded)
	}
	isVisible := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) < 0
	return text, isVisible && strings.TrimSpace(text) == text
}

// headerText writes a plain value, or JSON; "" for null.
func headerText(value any) string {
	if value == nil {
		return ""
	}
	return jsonText(value)
}

// negotiate chooses the media type of an answer by the Accept fields of the request (RFC 9110 §12.5.1). If no field matches, it chooses the
// first media type, because an answer helps the author of a client more than 406.
func negotiate(described []Media, accept []string) Media {
	if len(described) == 0 {
		return Media{}
	}
	types := make([]string, len(described))
	for i, m := range described {
		types[i] = mediaEssence(concreteType(m.Type))
	}
	chosen := described[max(0, slices.Index(types, content.Preferred(accept, types...)))]
	chosen.Type = concreteType(chosen.Type)
	return chosen
}
