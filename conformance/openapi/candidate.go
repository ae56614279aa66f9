package openapi

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Operation returns the operation with that key.
func (d *Document) Operation(key string) (Operation, bool) {
	i := slices.IndexFunc(d.Operations, func(o Operation) bool { return o.Key == key })
	if i < 0 {
		return Operation{}, false
	}
	return d.Operations[i], true
}

// Named reports whether a text names the operation: its operationId, its key, its path, or "GET /path".
func (o Operation) Named(name string) bool {
	return name != "" && (name == o.ID || name == o.Key || name == o.Path || strings.EqualFold(name, o.Method+" "+o.Path))
}

// Public reports whether the document declares an operation public: with security: [], with an empty alternative, or without security while
// other operations declare it. A document that never requires security declares nothing.
func (d *Document) Public(o Operation) bool {
	if o.Security != nil {
		return o.Security.Open
	}
	return slices.ContainsFunc(d.Operations, func(other Operation) bool { return other.Security != nil && len(other.Security.Schemes) > 0 })
}

// TemplateParameters returns the names between braces in the path, in order.
func (o Operation) TemplateParameters() []string {
	var names []string
	rest := o.Path
	for {
		_, after, open := strings.Cut(rest, "{")
		name, next, closed := strings.Cut(after, "}")
		if !open || !closed {
			return names
		}
		names = append(names, name)
		rest = next
	}
}

// Success returns the declared answer to a good call: 200, else the lowest 2xx, else the range 2XX, else default.
func (o Operation) Success() (status string, response Response, ok bool) {
	if r, ok := o.Responses["200"]; ok {
		return "200", r, true
	}
	for s := range o.Responses {
		if len(s) == 3 && s[0] == '2' && !strings.ContainsAny(s, "xX") && (status == "" || s < status) {
			status = s
		}
	}
	for _, s := range []string{status, "2XX", "2xx", "default"} {
		if r, ok := o.Responses[s]; ok {
			return s, r, true
		}
	}
	return "", Response{}, false
}

// Accept returns the media types to ask the operation for: JSON if the document describes it for the good answer or describes none, else what it
// describes (RFC 9110 §12.5.1).
func (o Operation) Accept() string {
	_, r, _ := o.Success()
	var others []string
	for _, media := range slices.Sorted(maps.Keys(r.Content)) {
		kind, _, _ := strings.Cut(media, ";")
		switch kind = strings.ToLower(strings.TrimSpace(kind)); {
		case kind == jsonMediaType, kind == "*/*", kind == "application/*":
			return jsonMediaType
		case isMediaType(kind) && len(others) < maxAccepted:
			others = append(others, kind)
		}
	}
	return cmp.Or(strings.Join(others, ", "), jsonMediaType)
}

const jsonMediaType = "application/json"

// maxAccepted bounds the media types in one Accept field.
const maxAccepted = 8

// isMediaType reports whether a text is a valid media type for a header field (RFC 6838 §4.2). The document comes from the node.
func isMediaType(s string) bool {
	return len(s) <= 127 && regexp.MustCompile(`^[a-z0-9][a-z0-9!#$&^_.+-]*/([a-z0-9][a-z0-9!#$&^_.+-]*|\*)$`).MatchString(s)
}

// ListCandidate returns the GET operation that most likely lists funding calls (SPC-08): without a template in its path, with funding or
// call in its path, a tag or the operationId, with an array or object as its answer, and not about the service itself.
func (d *Document) ListCandidate() (Operation, bool) {
	return d.best(func(o Operation) int {
		if name := o.fundingScore(); name > 0 {
			return name + o.listScore(d)
		}
		return 0
	})
}

// DescribedListCandidate returns the GET operation that lists funding calls by its summary and description, if there is just one. It serves documents whose
// names do not say which one does, and looks only at operations that have the form of a list.
func (d *Document) DescribedListCandidate() (Operation, bool) {
	aboutFunding := regexp.MustCompile(`(?i)\bfundings?\b|\bcalls? for (proposals?|applications?|projects?)\b`)
	described := slices.DeleteFunc(slices.Clone(d.Operations), func(o Operation) bool {
		return !o.MayList() || o.listScore(d) < leastListScore || !aboutFunding.MatchString(o.Description)
	})
	if len(described) != 1 {
		return Operation{}, false
	}
	return described[0], true
}

// AnyListCandidate returns the GET operation that most likely lists something, whatever its name is: its answer is an array, or an operation for
// one record is below its path. An object alone may be a single resource.
func (d *Document) AnyListCandidate() (Operation, bool) {
	return d.best(func(o Operation) int {
		if score := o.listScore(d); score >= leastListScore {
			return score
		}
		return 0
	})
}

// best returns the first operation that may be a list and has the highest score above 0. A public operation beside a guarded one is often an extract for everybody,
// so it has a lower score.
func (d *Document) best(score func(Operation) int) (Operation, bool) {
	const extract = 12
	highest, found := 0, Operation{}
	for _, o := range d.Operations {
		if !o.MayList() {
			continue
		}
		s := score(o)
		if s > 0 && d.Public(o) {
			s = max(1, s-extract)
		}
		if s > highest {
			highest, found = s, o
		}
	}
	return found, highest > 0
}

// fundingScore rates how clearly an operation is named after funding calls; 0 means not at all. The path counts more than tags.
func (o Operation) fundingScore() int {
	last := o.Path[strings.LastIndexByte(strings.TrimRight(o.Path, "/"), '/')+1:]
	switch {
	case namesFunding(last):
		return 48
	case namesFunding(o.Path):
		return 40
	case namesFunding(o.ID):
		return 30
	case slices.ContainsFunc(o.Tags, namesFunding):
		return 20
	}
	return 0
}

// leastListScore is the score of an operation whose answer is an array, or that has a detail operation below its path.
const leastListScore = 2

// listScore rates how much the described answer and its neighbours look like a list. An array counts more than a detail operation below the path.
func (o Operation) listScore(d *Document) int {
	score := 0
	if _, r, _ := o.Success(); r.kind() == "array" {
		score += 4
	}
	if _, ok := d.DetailCandidate(o); ok {
		score += 2
	}
	if !o.Deprecated {
		score++
	}
	return score
}

// MayList reports whether an operation may be a list, whatever it is named: a GET without a template in its path that returns data and is not
// about the service itself.
func (o Operation) MayList() bool {
	return o.Method == "GET" && !o.RequiresBody && len(o.TemplateParameters()) == 0 && !o.AboutService() && o.returnsData()
}

// ListsRecords reports whether a good call is answered with an array of objects, or with an envelope around one.
func (o Operation) ListsRecords() bool {
	_, r, ok := o.Success()
	if !ok || o.Method != "GET" || o.RequiresBody || o.AboutService() {
		return false
	}
	for _, s := range r.Content {
		if s.listsObjects() {
			return true
		}
	}
	return false
}

// listsObjects reports whether a schema is an array of objects, or an object without an id that has one such array.
func (s Schema) listsObjects() bool {
	if s.Type == "array" {
		return s.Items != nil && len(s.Items.Properties) > 0
	}
	arrays := 0
	for _, member := range s.Properties {
		if member.Type == "array" && member.listsObjects() {
			arrays++
		}
	}
	_, id := s.Properties["id"]
	return arrays == 1 && !id
}

// returnsData reports whether a good call is answered with an array or object.
func (o Operation) returnsData() bool {
	_, r, ok := o.Success()
	switch r.kind() {
	case "array", "object":
		return ok
	}
	return false
}

// kind returns the type of the answer's schema: array, object, another type, or "" if none is declared. A schema without a type, such as a oneOf
// or a dangling reference, counts as an object, since it may be one.
func (r Response) kind() string {
	kind := ""
	for _, s := range r.Content {
		switch {
		case !s.Declared:
		case s.Type == "array":
			return "array"
		case s.Type == "" || s.Type == "object":
			kind = "object"
		case kind == "":
			kind = s.Type
		}
	}
	return kind
}

// namesFunding reports whether a text has funding or call as a word: "/v1/fundings", "listCalls", "Funding calls", but not "callback" or "recall".
func namesFunding(s string) bool {
	for _, w := range Words(s) {
		if strings.HasPrefix(w, "funding") || w == "call" || w == "calls" {
			return true
		}
	}
	return false
}

// Words splits a text at non-letters and before the capitals of camel case; the words are in lower case.
func Words(s string) []string {
	var out []string
	start, lower := -1, false
	for i, r := range s {
		upper := r >= 'A' && r <= 'Z'
		letter := upper || r >= 'a' && r <= 'z' || r > 127
		if start >= 0 && (!letter || upper && lower) {
			out = append(out, strings.ToLower(s[start:i]))
			start = -1
		}
		if letter && start < 0 {
			start = i
		}
		lower = letter && !upper
	}
	if start >= 0 {
		out = append(out, strings.ToLower(s[start:]))
	}
	return out
}

// DetailCandidate returns the GET operation on the list's path with one more template segment. It skips an operation that does not answer with JSON, such as
// the one for a file below a list of files.
func (d *Document) DetailCandidate(list Operation) (Operation, bool) {
	base := strings.TrimRight(list.Path, "/")
	for _, o := range d.Operations {
		rest, below := strings.CutPrefix(strings.TrimRight(o.Path, "/"), base+"/")
		if o.Method == "GET" && below && !o.RequiresBody && strings.Contains(o.Accept(), "json") && strings.HasPrefix(rest, "{") &&
			strings.HasSuffix(rest, "}") && strings.Count(rest, "{") == 1 && !strings.Contains(rest, "/") {
			return o, true
		}
	}
	return Operation{}, false
}

// Collection returns the operation whose answer lists the values of the last template segment of o: "/fundings" for "/fundings/{id}" and
// for "/fundings/{id}/documents", which is the one for "/fundings/{id}/documents/{document}".
func (d *Document) Collection(o Operation) (Operation, bool) {
	at := strings.LastIndex(o.Path, "/{")
	if at < 0 {
		return Operation{}, false
	}
	_, after, closed := strings.Cut(o.Path[at:], "}")
	if !closed || after != "" && after[0] != '/' {
		return Operation{}, false
	}
	above := withoutNames(o.Path[:at])
	i := slices.IndexFunc(d.Operations, func(c Operation) bool {
		return c.Method == "GET" && !c.RequiresBody && withoutNames(strings.TrimRight(c.Path, "/")) == above
	})
	if i < 0 {
		return Operation{}, false
	}
	return d.Operations[i], true
}

// Source returns the operation whose answer lists the values of one template segment of o, see [Document.Collection].
func (d *Document) Source(o Operation, parameter string) (Operation, bool) {
	before, _, found := strings.Cut(o.Path, "{"+parameter+"}")
	if !found {
		return Operation{}, false
	}
	return d.Collection(Operation{Path: before + "{" + parameter + "}"})
}

// withoutNames replaces the template segments of a path, whose names differ between operations.
func withoutNames(path string) string {
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, "{") && strings.HasSuffix(part, "}") {
			parts[i] = "{}"
		}
	}
	return strings.Join(parts, "/")
}

// AboutService reports whether the path is about the service itself, such as its health, version or documentation: "/funding/v3/api-docs"
// has funding in its path, but does not list funding calls.
func (o Operation) AboutService() bool {
	segments := strings.Split(strings.Trim(strings.ToLower(o.Path), "/"), "/")
	return slices.ContainsFunc(segments, isTooling) || isServiceName(segments[len(segments)-1])
}

// isTooling reports whether frameworks put paths about the service below this segment, such as "/actuator/health".
func isTooling(segment string) bool {
	switch segment {
	case "api-docs", "actuator", "swagger", "swagger-ui", "swagger-resources":
		return true
	}
	return false
}

// isServiceName reports whether the last segment of a path says that it is about the service. Elsewhere in a path the words may mean
// something else.
func isServiceName(segment string) bool {
	for _, extension := range []string{".json", ".yaml", ".yml", ".html"} {
		segment = strings.TrimSuffix(segment, extension)
	}
	switch segment {
	case "info", "health", "healthz", "livez", "readyz", "live", "ready", "status", "version", "ping", "metrics",
		"doc", "docs", "documentation", "openapi", "spec", "specification", "redoc", "schema":
		return true
	}
	return isTooling(segment)
}
