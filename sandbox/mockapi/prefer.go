package mockapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/fixtures/sample"
	"github.com/rin-network/rin/sandbox/content"
	"github.com/rin-network/rin/sandbox/journal"
)

// preference is what a client prefers by the Prefer header (RFC 7240), in the syntax of Prism: the status of the answer, and the name of an example of
// the document. Prism's dynamic=true is ignored, because answers are generated anyway.
type preference struct {
	status  int
	example string
	// applied lists the preferences as they are confirmed in Preference-Applied (RFC 7240 §3).
	applied []string
}

// preferenceOf reads the Prefer fields of a request. It ignores preferences that it does not know (RFC 7240 §2).
func preferenceOf(fields []string) (p preference, err error) {
	for _, field := range fields {
		for part := range strings.SplitSeq(field, ",") {
			part, _, _ = strings.Cut(part, ";")
			name, value, _ := strings.Cut(strings.TrimSpace(part), "=")
			value = strings.Trim(strings.TrimSpace(value), `"`)
			switch name = strings.ToLower(strings.TrimSpace(name)); name {
			case "code":
				if p.status, err = strconv.Atoi(value); err != nil || p.status < 200 || p.status > 599 {
					return p, fmt.Errorf("code=%.20s: expected a status from 200 to 599", value)
				}
			case "example":
				p.example = value
			default:
				continue
			}
			p.applied = append(p.applied, name+"="+value)
		}
	}
	return p, nil
}

// changesAnswer reports whether the preference changes the answer of an operation.
func (p preference) changesAnswer(o *operation) bool {
	return p.example != "" || p.status != 0 && p.status != o.status
}

// servePreferred answers with the response and the example that a client prefers. It does not look at the parameters and the body of the request.
func (a *API) servePreferred(w http.ResponseWriter, r *http.Request, s Space, o *operation, path string, p preference) {
	preferred := *o
	preferred.media, preferred.headers = nil, nil
	if p.status != 0 {
		response, ok := describedResponse(o, p.status)
		if !ok {
			content.BadRequest(fmt.Sprintf("Prefer: the document describes no answer %d for this operation", p.status), "it describes "+describedStatuses(o)).Write(w, r)
			return
		}
		preferred.response, preferred.status = response, p.status
	}
	if err := a.prepareAnswer(&preferred); err != nil {
		content.NotImplemented(err.Error()).Write(w, r)
		return
	}
	segments, refusal := splitPath(path)
	if refusal != nil {
		refusal.Write(w, r)
		return
	}
	q := request{operation: &preferred, path: segments, media: negotiate(preferred.media, r.Header.Values("Accept"))}
	result, refusal, err := a.preferredAnswer(q, p.example)
	switch {
	case err != nil:
		content.NotImplemented(err.Error()).Write(w, r)
		return
	case refusal != nil:
		refusal.Write(w, r)
		return
	}
	journal.FromContext(r.Context()).Deviate("Prefer: " + strings.Join(p.applied, ", "))
	result.header.Set("Preference-Applied", strings.Join(p.applied, ", "))
	result.links = a.namesServer(result)
	a.localize(result, s, q.media, r).write(w, r, s.isGuarded(o))
}

// preferredAnswer makes the answer of an operation with the named example, or with a drawn value without one.
func (a *API) preferredAnswer(q request, example string) (*answer, *content.Problem, error) {
	o := q.operation
	result := &answer{status: o.status, header: http.Header{}, media: q.media.Type, negotiated: len(o.media) > 1}
	var value any
	var err error
	switch {
	case example != "":
		var known []string
		if value, known = a.example(o.response, q.media, example); value == nil {
			return nil, refuse(content.BadRequest(fmt.Sprintf("Prefer: the document has no example %.80q for this answer", example), "it has "+orNone(known))), nil
		}
	case q.media.Type == "" || hasNoContent(o.status):
		err = a.headers(result.header, q, -1, nil)
		a.addRequiredHeaders(result, q, nil)
		return result, nil, err
	case len(q.media.examples) > 0:
		value = q.media.examples[0]
	case q.media.Schema == "":
		value = map[string]any{}
	default:
		if value, err = a.samples.Value(q.media.Schema, o.Method+" "+o.Path+" "+strconv.Itoa(o.status)); err != nil {
			return nil, nil, err
		}
	}
	if result.content, err = a.encode(q.media, value); err != nil {
		return nil, nil, err
	}
	if err = a.headers(result.header, q, -1, value); err != nil {
		return nil, nil, err
	}
	a.addRequiredHeaders(result, q, value)
	if FormOf(result.media) != FormJSON {
		result.header.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	}
	result.body = content.NewBody(result.media, result.content)
	return result, nil, nil
}

// example returns the value of a named example of a response, or nil and the names of the response's examples.
func (a *API) example(r Response, m Media, name string) (value any, known []string) {
	for _, described := range r.Content {
		if mediaEssence(described.Type) != mediaEssence(m.Type) && concreteType(described.Type) != m.Type {
			continue
		}
		at := sample.Join(sample.Join(sample.Join(r.Pointer, "content"), described.Type), "examples")
		object, _, fault := a.document.Object(at)
		if fault != nil {
			continue
		}
		if entry, _, fault := a.document.Object(sample.Join(at, name)); fault == nil && object[name] != nil {
			return entry["value"], nil
		}
		known = append(known, slices.Sorted(maps.Keys(object))...)
	}
	return nil, known
}

// describedResponse finds the response for a status: by its number, by its range, or the default. ok is false if the document describes none of these.
func describedResponse(o *operation, status int) (response Response, ok bool) {
	number := strconv.Itoa(status)
	for _, described := range []string{number, number[:1] + "XX", "default"} {
		if i := slices.IndexFunc(o.Responses, func(r Response) bool { return r.Status == described }); i >= 0 {
			return o.Responses[i], true
		}
	}
	return Response{}, false
}

func describedStatuses(o *operation) string {
	var all []string
	for _, r := range o.Responses {
		all = append(all, r.Status)
	}
	return strings.Join(all, ", ")
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
