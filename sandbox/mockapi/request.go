package mockapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// request is a request that was validated.
type request struct {
	operation *operation
	// path has the segments below the node's service prefix, unescaped.
	path []string
	// values has the parameters of the request by place and name ("query:page").
	values map[string]any
	// query has the described parameters of the query.
	query []queryPair
	// body is the JSON body; nil for other media types.
	body any
	// recorded says how the requested list is paged if it is recorded; nil for other requests. from is the number of items before the page of the
	// request's cursor.
	recorded *RecordedPaging
	from     int
	// createdID is the id of the record that the request has created or changed; "" for others.
	createdID string
	// media is the media type of the answer; its Type is "" for an answer without a body.
	media Media
}

// maxBody limits the bytes of the body of a request.
const maxBody = 4 << 20

// read validates a request; p says why it is refused.
func (a *API) read(o *operation, escaped string, path map[string]string, r *http.Request) (q request, p *content.Problem) {
	q = request{operation: o, values: map[string]any{}}
	if q.path, p = splitPath(escaped); p != nil {
		return q, p
	}
	pairs, err := splitQuery(r.URL.RawQuery)
	if err != nil {
		return q, refuse(content.BadRequest(err.Error(), "separate parameters with &"))
	}
	ignored := o.ignoredParameters(pairs)
	if ignored, p = a.readCursorParameter(&q, pairs, ignored); p != nil {
		return q, p
	}
	journal.FromContext(r.Context()).Ignore(ignored)
	q.query = slices.DeleteFunc(slices.Clone(pairs), func(p queryPair) bool { return slices.Contains(ignored, p.Name) })
	raw := rawParameters{Path: path, Query: pairs, Header: r.Header, Cookies: r.Cookies()}
	for _, parameter := range o.parameters {
		value, given, err := parameter.Decode(raw)
		switch {
		case err != nil:
			return q, a.badParameter(parameter, err.Error())
		case !given && parameter.Required:
			return q, a.badParameter(parameter, "it is required")
		case !given:
			continue
		}
		if p := a.checkParameter(parameter, value); p != nil {
			return q, p
		}
		q.values[parameter.In+":"+parameter.Name] = value
	}
	q.media = negotiate(o.media, r.Header.Values("Accept"))
	return q, a.readBody(&q, r)
}

// splitPath returns the segments of an escaped path, unescaped.
func splitPath(escaped string) (segments []string, p *content.Problem) {
	for segment := range strings.SplitSeq(strings.Trim(escaped, "/"), "/") {
		plain, err := url.PathUnescape(segment)
		if err != nil {
			return nil, refuse(content.BadRequest("the path cannot be decoded", "percent-encode reserved characters (% as %25)"))
		}
		segments = append(segments, plain)
	}
	return segments, nil
}

func refuse(p content.Problem) *content.Problem { return &p }

func (a *API) checkParameter(p parameterDecoder, value any) *content.Problem {
	if p.Schema == "" {
		return nil
	}
	violations, err := a.check(a.requests, p.Schema, value)
	if err != nil {
		return refuse(content.NotImplemented(err.Error()))
	}
	if len(violations) == 0 {
		return nil
	}
	v := violations[0]
	if v.Pointer == "#" {
		return a.badParameter(p, v.Detail)
	}
	return a.badParameter(p, "at "+v.Pointer+" "+v.Detail)
}

// badParameter refuses a value and says which values the parameter takes.
func (a *API) badParameter(p parameterDecoder, reason string) *content.Problem {
	words, allowed := expectation(a.document, p.Schema)
	place := map[string]string{"path": "path parameter", "query": "query parameter", "header": "header", "cookie": "cookie"}[p.In]
	refusal := content.BadRequest("the "+place+" "+p.Name+" has a value that is not allowed: "+reason, "send "+p.Name+" as "+words)
	if !p.Required {
		refusal.Hint += ", or leave it out"
	}
	refusal.Parameter, refusal.Allowed = p.Name, allowed
	return &refusal
}

// readBody validates the body of a request.
func (a *API) readBody(q *request, r *http.Request) *content.Problem {
	described := q.operation.Body
	if described == nil {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		return refuse(content.BadRequest("the body of the request cannot be read to its end", "send the complete body"))
	case len(body) > maxBody:
		return refuse(content.TooLarge(maxBody))
	case len(body) == 0 && described.Required:
		return refuse(content.BadRequest("the request has no body", "send one of "+mediaTypes(described.Content)))
	case len(body) == 0:
		return nil
	}
	media, ok := findMedia(described.Content, r.Header.Get("Content-Type"))
	if !ok {
		return refuse(content.UnsupportedMediaType(r.Header.Get("Content-Type"), mediaTypes(described.Content)))
	}
	if FormOf(media.Type) != FormJSON {
		return nil // forms, files and other texts are not checked
	}
	q.body, err = decodeJSON(body)
	if err == nil && isTooCostly(q.body, maxBodyDepth) {
		err = errors.New("it is nested too deeply, or has a number with too many digits")
	}
	if err != nil {
		return refuse(content.BadRequest("the body of the request is not JSON: "+err.Error(), "send the body as "+media.Type))
	}
	if media.Schema == "" {
		return nil
	}
	violations, err := a.check(a.requests, media.Schema, q.body)
	if err != nil {
		return refuse(content.NotImplemented(err.Error()))
	}
	if len(violations) > 0 {
		return refuse(content.Unprocessable(violations))
	}
	return nil
}

// maxBodyDepth limits the nesting of a request's body.
const maxBodyDepth = 100

// decodeJSON reads a text that is one JSON value.
func decodeJSON(text []byte) (value any, err error) {
	if !json.Valid(text) {
		return nil, json.Unmarshal(text, &value) // json.Unmarshal fails, and its error says where
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	err = decoder.Decode(&value)
	return value, err
}

// isTooCostly reports whether a value is nested deeper than levels, or has a number that is costly to compute with.
func isTooCostly(value any, levels int) bool {
	deeper := func(inner any) bool { return isTooCostly(inner, levels-1) }
	switch v := value.(type) {
	case map[string]any:
		return levels == 0 || slices.ContainsFunc(slices.Collect(maps.Values(v)), deeper)
	case []any:
		return levels == 0 || slices.ContainsFunc(v, deeper)
	case json.Number:
		return !isCheapNumber(v.String())
	}
	return false
}

// findMedia finds the described media type that includes the Content-Type of a body. A body without Content-Type has the first one. ok is false
// if the document describes other media types only.
func findMedia(described []Media, header string) (media Media, ok bool) {
	if len(described) == 0 {
		return Media{Type: "application/octet-stream"}, true
	}
	if header == "" {
		return described[0], true
	}
	given, _, err := mime.ParseMediaType(header)
	if err != nil {
		return Media{}, false
	}
	for _, m := range described {
		if covers(mediaEssence(m.Type), given) {
			m.Type = given
			return m, true
		}
	}
	return Media{}, false
}

// covers reports whether a media type, or a range of them, contains another media type.
func covers(described, mediaType string) bool {
	if described == mediaType || described == "*/*" {
		return true
	}
	family, ok := strings.CutSuffix(described, "/*")
	return ok && strings.HasPrefix(mediaType, family+"/")
}

func mediaTypes(described []Media) string {
	var names []string
	for _, m := range described {
		names = append(names, m.Type)
	}
	if len(names) == 0 {
		return "any media type"
	}
	return strings.Join(names, ", ")
}

// noteKind notes the kind of an operation in the journal.
func (o *operation) noteKind(ctx context.Context) {
	switch {
	case o.list != nil:
		journal.FromContext(ctx).SetOperation(journal.List)
	case o.resource.parent != nil && o.Method == http.MethodGet:
		journal.FromContext(ctx).SetOperation(journal.Detail)
	default:
		journal.FromContext(ctx).SetOperation(journal.Call)
	}
}

// ignoredParameters lists the parameters of a query that the document does not describe.
func (o *operation) ignoredParameters(pairs []queryPair) []string {
	var names []string
	for _, pair := range pairs {
		known := slices.ContainsFunc(o.parameters, func(p parameterDecoder) bool {
			// The members of an object of the style form are parameters of their own, with any name. So every name is known beside such an object.
			object := slices.Contains(p.Kind.Types, "object") && p.Style == "form"
			return p.In == "query" && (p.Name == pair.Name || object || strings.HasPrefix(pair.Name, p.Name+"["))
		})
		if !known && !slices.Contains(names, pair.Name) {
			names = append(names, pair.Name)
		}
	}
	return names
}

// page returns the part of a list of total items that a request asks for; nil unless it asks for a list.
func (q request) page(total int) *journal.Page {
	l := q.operation.list
	if l == nil || total < 0 || l.shape == inSingle && q.recorded == nil {
		return nil
	}
	from, to, size := q.pageBounds(total)
	return &journal.Page{Start: from, Size: size, Items: to - from, Next: to < total}
}
