package recording

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/mockapi"
)

// Request is one GET request.
type Request struct {
	// Template is the path template of the operation, and Path the path below the server of the document, escaped. Query is the raw query.
	Template, Path, Query string
	// URL is the absolute URL of a link that the node gave; "" for the others. Only origins that the user named may be called.
	URL string
	// Header has the parameters of the header.
	Header map[string]string
}

// Answer is the answer to a request.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// URL is the URL that answered.
	URL string
}

// Fetch sends a request. An error ends the recording, except [ErrBudget], [ErrOrigin] and [ErrServed].
type Fetch func(ctx context.Context, r Request) (Answer, error)

var (
	// ErrBudget says that no further request may be sent. The answers so far are recorded.
	ErrBudget = errors.New("the budget of requests or bytes is used up")
	// ErrServed says that a path is one that every sandbox serves itself, such as the document.
	ErrServed = errors.New("a sandbox serves this itself")
	// ErrOrigin says that a link leads to an origin that the user has not named.
	ErrOrigin = errors.New("the link leads to an origin that was not named")
)

// Crawl reads all answers of the GET operations in a recording's document. It fills the operations and the notes of the recording. It calls progress
// after each request, with the operation and the number of its records.
func Crawl(ctx context.Context, r *Recording, fetch Fetch, progress func(operation string, records int)) error {
	all, err := readOperations(r.Document)
	if err != nil {
		return fmt.Errorf("the document of the node: %w", err)
	}
	c := crawl{recording: r, fetch: fetch, progress: progress}
	for _, op := range all {
		if err := c.operation(ctx, op); err != nil {
			return err
		}
	}
	return nil
}

// crawl is the state of [Crawl].
type crawl struct {
	recording *Recording
	fetch     Fetch
	progress  func(string, int)
	exhausted bool // the budget is used up
}

// operation reads one operation at all its paths.
func (c *crawl) operation(ctx context.Context, op mockapi.ReadOperation) error {
	if op.Fault != nil {
		c.recording.note(op.Operation, "not recorded: "+op.Fault.Error())
		return nil
	}
	header, query, ok := c.requiredValues(op)
	if !ok {
		return nil
	}
	targets, ok := c.targets(op)
	if !ok {
		return nil
	}
	if most := c.recording.Limits.Paths; len(targets) > most {
		c.recording.note(op.Operation, fmt.Sprintf("cut at %d of %d paths", most, len(targets)))
		targets = targets[:most]
	}
	for i, target := range targets {
		if c.exhausted {
			c.recording.note(op.Operation, fmt.Sprintf("%d of %d paths were not requested: %s", len(targets)-i, len(targets), ErrBudget))
			return nil
		}
		request := Request{Template: op.Path, Path: mockapi.RecordedPath(target.segments), Query: query, Header: header}
		if op.Media != "" && header["Accept"] == "" {
			request.Header = maps.Clone(header)
			request.Header["Accept"] = op.Media
		}
		if op.Path != "/" && strings.HasSuffix(op.Path, "/") {
			request.Path += "/"
		}
		var err error
		switch {
		case target.item != nil && op.IsDetail():
			err = c.detail(ctx, op, request, target)
		case op.IsDetail():
			continue // the item has no id
		default:
			err = c.answer(ctx, op, request, mockapi.RecordedPath(target.segments))
		}
		if errors.Is(err, ErrBudget) {
			c.exhausted = true
			c.recording.note(op.Operation, fmt.Sprintf("%d of %d paths were not requested: %s", len(targets)-i, len(targets), ErrBudget))
			return nil
		}
		if errors.Is(err, ErrServed) {
			return nil
		}
		if errors.Is(err, ErrOrigin) {
			c.recording.note(op.Operation, "not recorded: "+err.Error()+" (--allow-origin)")
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", op.Operation, err)
		}
	}
	return nil
}

// requiredValues returns the values of the parameters of query and header without which the operation refuses requests.
func (c *crawl) requiredValues(op mockapi.ReadOperation) (header map[string]string, query string, ok bool) {
	header, values := map[string]string{}, url.Values{}
	pages := op.Pages
	for _, p := range op.Required {
		if slices.Contains([]string{pages.Size, pages.Offset, pages.Number, pages.Cursor}, p.Name) || p.Style == "deepObject" {
			continue // the walk through the pages sets it
		}
		value := c.value(op, p.In, p.Name)
		if value == "" {
			c.recording.note(op.Operation, fmt.Sprintf("not recorded: it needs the parameter %s (--value %s=VALUE)", p.Name, p.Name))
			return nil, "", false
		}
		if p.In == "header" {
			header[p.Name] = value
		} else {
			values.Set(p.Name, value)
		}
	}
	return header, values.Encode(), true
}

func (c *crawl) value(op mockapi.ReadOperation, in, name string) string {
	if value := c.recording.Values[name]; value != "" {
		return value
	}
	return op.Candidate(in, name)
}

// target is a path with a value for each parameter. item is the record whose detail is at the path; nil for other paths.
type target struct {
	segments []string
	item     *mockapi.RecordedItem
}

// targets returns the paths of an operation: one for each record of the lists above it; ok is false if a parameter of the path has no value.
func (c *crawl) targets(op mockapi.ReadOperation) (all []target, ok bool) {
	all = []target{{}}
	for i, segment := range op.Segments() {
		var next []target
		names := mockapi.PathParameters("/" + segment)
		list, hasList := op.ListAbove(i)
		switch {
		case len(names) == 0:
			next = all
			for j := range next {
				next[j] = target{segments: append(slices.Clone(next[j].segments), segment)}
			}
		case hasList:
			for _, before := range all {
				next = append(next, c.targetsBelow(list, before)...)
			}
		default:
			filled := segment
			for _, name := range names {
				value := c.value(op, "path", name)
				if value == "" {
					c.recording.note(op.Operation, fmt.Sprintf("not recorded: no list of the document has the values of %s (--value %s=VALUE)", name, name))
					return nil, false
				}
				filled = strings.ReplaceAll(filled, "{"+name+"}", value)
			}
			for _, before := range all {
				next = append(next, target{segments: append(slices.Clone(before.segments), filled)})
			}
		}
		all = next
	}
	return all, true
}

// targetsBelow returns the paths of the records of a list.
func (c *crawl) targetsBelow(list mockapi.ReadOperation, before target) []target {
	recorded := c.recording.operation(list.Operation).Lists[mockapi.RecordedPath(before.segments)]
	if recorded == nil {
		return nil
	}
	var all []target
	for i := range recorded.Items {
		id := list.ID(recorded.Items[i].Value)
		if id == "" || id == "." || id == ".." {
			continue
		}
		all = append(all, target{append(slices.Clone(before.segments), id), &recorded.Items[i]})
	}
	return all
}

// detail reads the detail of a record.
func (c *crawl) detail(ctx context.Context, op mockapi.ReadOperation, request Request, target target) error {
	value, ok, err := c.get(ctx, op, request, mockapi.RecordedPath(target.segments))
	if err != nil || !ok {
		return err
	}
	target.item.Detail = value
	c.check(op, op.Check(value))
	return nil
}

// answer reads a list with all its pages, or another answer.
func (c *crawl) answer(ctx context.Context, op mockapi.ReadOperation, request Request, key string) error {
	o := c.recording.operation(op.Operation)
	if op.IsList() {
		return c.list(ctx, op, request, key)
	}
	value, ok, err := c.get(ctx, op, request, key)
	if err != nil || !ok {
		return err
	}
	o.Answers[key] = value
	c.check(op, op.Check(value))
	c.progress(op.Operation, len(o.Answers))
	return nil
}

// get sends a request, and keeps the header of the answer; ok is false if the answer is not recorded.
func (c *crawl) get(ctx context.Context, op mockapi.ReadOperation, request Request, key string) (value any, ok bool, err error) {
	answer, err := c.fetch(ctx, request)
	if err != nil {
		return nil, false, err
	}
	value, reason := read(op, answer)
	if reason != "" {
		c.recording.note(op.Operation, "not recorded: "+reason)
		return nil, false, nil
	}
	c.keepHeader(op, key, answer.Header)
	return value, true, nil
}

// read decodes an answer; reason says why it cannot be recorded, "" if it can.
func read(op mockapi.ReadOperation, answer Answer) (value any, reason string) {
	if answer.Status != http.StatusOK {
		return nil, fmt.Sprintf("the node answered %d", answer.Status)
	}
	if media := answer.Header.Get("Content-Type"); op.Media != "" && mockapi.FormOf(media) != mockapi.FormJSON {
		return mockapi.RecordedContent{Type: cmp.Or(media, op.Media), Text: answer.Body}, ""
	}
	value, err := mockapi.DecodeJSON(answer.Body)
	if err != nil {
		return nil, "an answer is not JSON that can be read: " + err.Error()
	}
	return value, ""
}

// The limits of a header that is kept.
const (
	maxFields = 10 // of one name
	maxField  = 2000
)

// keepHeader records the header fields that describe the answer: the usual ones, and those in the document. A replay makes its own pages of a list, so
// the validators and links of recorded pages are left out.
func (c *crawl) keepHeader(op mockapi.ReadOperation, key string, header http.Header) {
	excluded := []string{"Set-Cookie", "Location", "Content-Type", "Content-Length", "Content-Encoding", "Transfer-Encoding", "Connection", "Date", "Www-Authenticate", "Vary"}
	if op.IsList() {
		excluded = append(excluded, "Etag", "Last-Modified")
	}
	recorded := http.Header{}
	for _, name := range append([]string{"Etag", "Last-Modified", "Cache-Control", "Content-Language", "Link"}, op.Headers...) {
		name = http.CanonicalHeaderKey(name)
		values := header[name]
		if name == "Link" && op.IsList() {
			values = otherLinks(header)
		}
		values = slices.DeleteFunc(slices.Clone(values[:min(len(values), maxFields)]), func(v string) bool {
			return len(v) > maxField || strings.ContainsFunc(v, func(r rune) bool { return r < ' ' || r > '~' })
		})
		if len(values) > 0 && !slices.Contains(excluded, name) {
			recorded[name] = values
		}
	}
	if len(recorded) > 0 {
		c.recording.operation(op.Operation).Headers[key] = recorded
	}
}

// check counts an answer that does not fit the document.
func (c *crawl) check(op mockapi.ReadOperation, err error) {
	if err == nil {
		return
	}
	o := c.recording.operation(op.Operation)
	if o.Invalid++; o.FirstInvalid == "" {
		o.FirstInvalid = err.Error()
	}
}

// query returns a raw query with further parameters.
func query(raw string, more map[string]string) string {
	values, _ := url.ParseQuery(raw)
	for _, name := range slices.Sorted(maps.Keys(more)) {
		values.Set(name, more[name])
	}
	return values.Encode()
}
