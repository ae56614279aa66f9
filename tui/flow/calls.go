package flow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/probe"
	"github.com/rin-network/rin/conformance/recorder"
)

// PageSize is the number of calls on a page, if the node supports pages.
const PageSize = 20

// Query selects a part of the list.
type Query struct {
	// Filters maps query parameters of the document to values.
	Filters map[string]string
	// Page counts from 0.
	Page int
}

// Filter is a query parameter of the list with a fixed set of values.
type Filter struct {
	Name   string
	Values []string
}

// Call is an item of the list.
type Call struct {
	ID, Type string
	// Name and Funder (the first one) are texts by language; the key "" holds a text without a language.
	Name, Funder map[string]string
	// Until is the end of the first stage; zero without a deadline.
	Until time.Time
}

// Localized returns the text in a language, or in another one if it is missing.
func Localized(texts map[string]string, language string) string {
	return cmp.Or(texts[language], texts["en"], texts["de"], texts[""])
}

// Filters returns the filters of the list; nil before the document was read.
func (w *Walk) Filters() []Filter {
	list, ok := w.list()
	if !ok {
		return nil
	}
	var filters []Filter
	for _, p := range list.Parameters {
		if p.In != "query" || p.Name == sizeParameter(list) || p.Name == pageParameter(list) {
			continue
		}
		f := Filter{Name: p.Name, Values: p.Schema.Enum}
		if len(f.Values) == 0 && p.Schema.Type == "boolean" {
			f.Values = []string{"true", "false"}
		}
		if len(f.Values) > 0 {
			filters = append(filters, f)
		}
	}
	return filters
}

// list returns the operation that lists funding calls; ok is false if the document was not read or has none.
func (w *Walk) list() (o openapi.Operation, ok bool) {
	return w.operation(func(n probe.Node) string { return n.List })
}

// detail returns the operation that reads one funding call; ok is false if the document was not read or has none.
func (w *Walk) detail() (o openapi.Operation, ok bool) {
	return w.operation(func(n probe.Node) string { return n.Detail })
}

// operation returns the operation whose key the function takes from the node; ok is false before the document was read and for an empty key.
func (w *Walk) operation(key func(probe.Node) string) (o openapi.Operation, ok bool) {
	d := w.nodeDocument()
	if d == nil || key(d.node) == "" {
		return o, false
	}
	return d.node.Operation(key(d.node))
}

func sizeParameter(o openapi.Operation) string {
	return findParameter(o, "page[size]", "size", "pageSize", "page_size", "per_page", "limit")
}

func pageParameter(o openapi.Operation) string {
	return findParameter(o, "page[page]", "page[number]", "page", "pageNumber", "offset")
}

func findParameter(o openapi.Operation, names ...string) string {
	for _, name := range names {
		if slices.ContainsFunc(o.Parameters, func(p openapi.Parameter) bool { return p.In == "query" && p.Name == name }) {
			return name
		}
	}
	return ""
}

// HasPages reports whether the list has pages.
func (w *Walk) HasPages() bool {
	list, ok := w.list()
	return ok && sizeParameter(list) != "" && pageParameter(list) != ""
}

// ListCalls reads the list of funding calls.
func (w *Walk) ListCalls(ctx context.Context, q Query) Result {
	result := Result{Step: Calls}
	if w.nodeDocument() == nil {
		read := w.ReadSpecification(ctx)
		result.Exchanges, result.Trouble = read.Exchanges, read.Trouble
		if !read.OK() {
			return result
		}
	}
	list, ok := w.list()
	if !ok {
		result.Trouble = &Trouble{"the document describes no operation that lists funding calls", []string{"the node offers another API"}, []string{"start with --list-operation"}}
		return result
	}
	token, ok := w.bearer(ctx, &result)
	if !ok {
		return result
	}
	var answer recorder.Answer
	for _, base := range w.bases(list) {
		var err error
		if answer, err = w.send(ctx, w.listRequest(list, base, q, token)); err != nil {
			result.Trouble = localTrouble(err)
			return result
		}
		if answer.Status != http.StatusNotFound { // this base URL is the right one, even if the call fails
			w.setBase(base)
			break
		}
	}
	result.Exchanges = append(result.Exchanges, answer.Exchange)
	result.Trouble = w.callTrouble(answer)
	if !result.OK() {
		return result
	}
	calls := parseCalls(answer.Body)
	isLast := isLastPage(answer.Header)
	w.mu.Lock()
	w.calls, w.lastPage = calls, isLast
	w.mu.Unlock()
	result.Notes = []string{"The answer has " + evidence.Count(len(calls), "record") + "."}
	switch {
	case isLast && q.Page > 0:
		result.Notes = append(result.Notes, "This page has no link to a next one, unlike the pages before it: it is the end of the list. A short page or a failed request is not the end.")
	case len(calls) == 0 && q.Page > 0:
		result.Notes = append(result.Notes, "A page without a link to the next one is the end of the list. If there are no links, an empty page is the end. A failed request is not: a client has to check the status.")
	case w.HasPages() && len(calls) == PageSize:
		result.Notes = append(result.Notes, "This is one page: follow the link to the next one. If there are no links, ask for the next page until one is empty.")
		if page := pageParameter(list); countsRecords(page) {
			result.Notes = append(result.Notes, fmt.Sprintf("%s is the number of records to skip, not the number of a page: the second page is %s=%d.", page, page, PageSize))
		}
	case !w.HasPages():
		result.Notes = append(result.Notes, "The document describes no pages: this is the whole list.")
	}
	result.Verdicts = w.judge("API-02", "API-03", "API-04", "API-05", "API-06", "API-07")
	return result
}

// isLastPage reports whether an answer has links between pages, but none to a next one.
func isLastPage(header http.Header) bool {
	links, _ := evidence.ParseLinks(header.Values("Link")) // links before a syntax error count
	linked := false
	for _, l := range links {
		for _, relation := range l.Relations() {
			if relation == "next" {
				return false
			}
			linked = linked || slices.Contains([]string{"first", "prev", "previous", "last"}, relation)
		}
	}
	return linked
}

// bases returns the possible base URLs of an operation. Once the list was called, it returns only the base URL that answered, if the operation is at the
// same servers.
func (w *Walk) bases(o openapi.Operation) []probe.Base {
	d := w.nodeDocument()
	list, _ := w.list()
	if d.base.Prefix != "" && d.node.SameServers(o, list) {
		return []probe.Base{d.base}
	}
	return d.node.Bases(o)
}

func (w *Walk) setBase(b probe.Base) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.document.base = b
}

func (w *Walk) listRequest(o openapi.Operation, base probe.Base, q Query, token string) recorder.Request {
	values := url.Values{}
	for name, value := range q.Filters {
		if value != "" {
			values.Set(name, value)
		}
	}
	if size, page := sizeParameter(o), pageParameter(o); size != "" {
		values.Set(size, strconv.Itoa(PageSize))
		if page != "" && q.Page > 0 {
			n := q.Page
			if countsRecords(page) {
				n *= PageSize
			}
			values.Set(page, strconv.Itoa(n))
		}
	}
	address := base.URL(o.Path)
	if len(values) > 0 {
		address += "?" + values.Encode()
	}
	return w.withSchemaCheck(probe.Labelled(evidence.OperationResource(o.Key).With(evidence.OK), probe.Resource{URL: address}.Authorized(token)), o)
}

// countsRecords reports whether a page parameter is the number of records to skip (as in the network's client), not the number of a page.
func countsRecords(name string) bool { return name == "page[page]" || name == "offset" }

// withSchemaCheck makes the recorder check the answer against the node's document.
func (w *Walk) withSchemaCheck(request recorder.Request, o openapi.Operation) recorder.Request {
	if judge := w.nodeDocument().judge; judge != nil {
		request.Annotate = func(x evidence.Exchange) []evidence.SchemaFindings {
			if !x.Answered() {
				return nil
			}
			return []evidence.SchemaFindings{judge.Annotate(x, o)}
		}
	}
	return request
}

// OpenCall reads one call by its ID.
func (w *Walk) OpenCall(ctx context.Context, id string) Result {
	result := Result{Step: Calls}
	detail, ok := w.detail()
	if !ok {
		result.Trouble = &Trouble{"the document describes no operation that reads one call", []string{"the node offers lists only"}, []string{"read the item in the list"}}
		return result
	}
	token, ok := w.bearer(ctx, &result)
	if !ok {
		return result
	}
	path := detail.Path
	for _, name := range detail.TemplateParameters() {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(id))
	}
	resource := probe.Resource{Name: evidence.OperationResource(detail.Key), URL: w.bases(detail)[0].URL(path)}
	if _, ok = w.exchange(ctx, &result, w.withSchemaCheck(probe.Labelled(resource.Name.With(evidence.OK), resource.Authorized(token)), detail), w.callTrouble); !ok {
		return result
	}
	result.Notes = []string{"Each call is a resource of its own: a client that keeps the ID can read it again at any time."}
	result.Verdicts = w.judge("API-02", "API-04", "API-05", "API-06", "API-07")
	return result
}

// parseCalls reads the items of a list. It skips items that are not objects.
func parseCalls(body []byte) []Call {
	list, ok := openapi.ReadList(body)
	if !ok {
		list = openapi.List{Items: [][]byte{body}} // the published documents declare a single object
	}
	calls := make([]Call, 0, len(list.Items))
	for _, raw := range list.Items {
		item, isObject := evidence.ParseObject(raw)
		if !isObject {
			continue
		}
		c := Call{ID: item.Text("id"), Type: item.Text("type"), Name: parseTexts(item["name"])}
		if len(c.Name) == 0 {
			c.Name = parseTexts(item["title"])
		}
		if funders := item.Objects("funder"); len(funders) > 0 {
			funder, _ := evidence.ParseObject(funders[0]["funder"])
			c.Funder = parseTexts(funder["name"])
		}
		if stages := item.Objects("callStages"); len(stages) > 0 {
			c.Until, _ = time.Parse(time.RFC3339, stages[0].Text("callStageEnd"))
		}
		calls = append(calls, c)
	}
	return calls
}

// parseTexts reads a text in several languages, or a plain string.
func parseTexts(raw json.RawMessage) map[string]string {
	var plain string
	if json.Unmarshal(raw, &plain) == nil && plain != "" {
		return map[string]string{"": plain}
	}
	texts := evidence.ParseObjects(raw)
	if single, isObject := evidence.ParseObject(raw); isObject {
		texts = append(texts, single)
	}
	byLanguage := map[string]string{}
	for _, t := range texts {
		if s := t.Text("text"); s != "" {
			byLanguage[t.Text("lang")] = s
		}
	}
	return byLanguage
}
