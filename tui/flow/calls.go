package flow

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
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

// PageSize is how many calls a page of the walk has, where the node has pages.
const PageSize = 20

// Query is what the list is asked for.
type Query struct {
	// Filters are query parameters of the document with their values.
	Filters map[string]string
	// Page counts from 0.
	Page int
}

// Filter is a query parameter of the list that takes one of a few values.
type Filter struct {
	Name   string
	Values []string
}

// Call is one item of the list, as far as a table shows it.
type Call struct {
	ID, Type string
	// Name is its title by language; "" holds one without.
	Name map[string]string
	// Funder is the name of the first funder, by language.
	Funder map[string]string
	// Until is when its first stage ends; zero for none.
	Until time.Time
	// Raw is the item as it came.
	Raw json.RawMessage
}

// Localized is a text in a language, else in another one.
func Localized(texts map[string]string, language string) string {
	for _, l := range []string{language, "en", "de", ""} {
		if text := texts[l]; text != "" {
			return text
		}
	}
	return ""
}

// Filters are the filters of the list; none before the document was read.
func (w *Walk) Filters() []Filter {
	list, ok := w.list()
	if !ok {
		return nil
	}
	var out []Filter
	for _, p := range list.Parameters {
		if p.In != "query" || p.Name == sizeParameter(list) || p.Name == pageParameter(list) {
			continue
		}
		f := Filter{Name: p.Name, Values: p.Schema.Enum}
		if len(f.Values) == 0 && p.Schema.Type == "boolean" {
			f.Values = []string{"true", "false"}
		}
		if len(f.Values) > 0 {
			out = append(out, f)
		}
	}
	return out
}

func (w *Walk) list() (openapi.Operation, bool) {
	d := w.description()
	if d == nil || d.node.List == "" {
		return openapi.Operation{}, false
	}
	return d.node.Operation(d.node.List)
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

// Paged tells whether the list has pages.
func (w *Walk) Paged() bool {
	list, ok := w.list()
	return ok && sizeParameter(list) != "" && pageParameter(list) != ""
}

// ListCalls reads the list of funding calls.
func (w *Walk) ListCalls(ctx context.Context, q Query) Result {
	scene := Result{Step: Calls}
	if w.description() == nil {
		read, _ := w.ReadSpecification(ctx)
		scene.Exchanges, scene.Trouble = read.Exchanges, read.Trouble
		if !read.OK() {
			return scene
		}
	}
	list, ok := w.list()
	if !ok {
		scene.Trouble = &Trouble{"the document describes no operation that lists funding calls", []string{"the node offers another API"}, []string{"start with --list-operation"}}
		return scene
	}
	token, ok := w.bearer(ctx, &scene)
	if !ok {
		return scene
	}
	var answer recorder.Answer
	for _, base := range w.bases() {
		var err error
		if answer, err = w.send(ctx, w.listAsk(list, base, q, token)); err != nil {
			return troubled(scene, err)
		}
		if answer.Status != 404 { // it lives here, whatever else is wrong
			w.settle(base)
			break
		}
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = w.callTrouble(answer); scene.Trouble != nil {
		return scene
	}
	calls := parseCalls(answer.Body)
	w.mu.Lock()
	w.calls = calls
	w.mu.Unlock()
	scene.Notes = []string{fmt.Sprintf("%d %s came.", len(calls), plural(len(calls), "record", "records"))}
	switch {
	case len(calls) == 0 && q.Page > 0:
		scene.Notes = append(scene.Notes, "An empty page is the end of the list. A failed page is not: a client has to tell the two apart by the status.")
	case w.Paged() && len(calls) == PageSize:
		scene.Notes = append(scene.Notes, "This is one page; ask for the next until one is empty.")
	case !w.Paged():
		scene.Notes = append(scene.Notes, "The document describes no pages: this is all there is.")
	}
	scene.Verdicts = w.judge("API-02", "API-03", "API-04", "API-05", "API-06", "API-07")
	return scene
}

// bases are where the operations may live: where one was found, or the candidates.
func (w *Walk) bases() []probe.Base {
	d := w.description()
	if d.base.Prefix != "" {
		return []probe.Base{d.base}
	}
	return d.node.Bases()
}

func (w *Walk) settle(b probe.Base) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.node.base = b
}

func (w *Walk) listAsk(o openapi.Operation, base probe.Base, q Query, token string) recorder.Request {
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
	return w.annotated(probe.Resource{Name: evidence.OperationResource(o.Key), URL: address}.Authorized(evidence.OK, token), o)
}

// countsRecords tells a page parameter that skips records, as the network's client sends it, from one that numbers pages.
func countsRecords(name string) bool { return name == "page[page]" || name == "offset" }

// annotated lets the node's document judge the answer.
func (w *Walk) annotated(ask recorder.Request, o openapi.Operation) recorder.Request {
	if judge := w.description().judge; judge != nil {
		ask.Annotate = func(x evidence.Exchange) []evidence.SchemaFindings {
			if !x.Answered() {
				return nil
			}
			return []evidence.SchemaFindings{judge.Annotate(x, o)}
		}
	}
	return ask
}

// OpenCall reads one call by its id.
func (w *Walk) OpenCall(ctx context.Context, id string) Result {
	scene := Result{Step: Calls}
	d := w.description()
	var detail openapi.Operation
	ok := d != nil && d.node.Detail != ""
	if ok {
		detail, ok = d.node.Operation(d.node.Detail)
	}
	if !ok {
		scene.Trouble = &Trouble{"the document describes no operation for one call", []string{"the node offers lists only"}, []string{"read the item in the list"}}
		return scene
	}
	token, ok := w.bearer(ctx, &scene)
	if !ok {
		return scene
	}
	path := detail.Path
	for _, name := range detail.TemplateParameters() {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(id))
	}
	resource := probe.Resource{Name: evidence.OperationResource(detail.Key), URL: w.bases()[0].URL(path)}
	answer, err := w.send(ctx, w.annotated(resource.Authorized(evidence.OK, token), detail))
	if err != nil {
		return troubled(scene, err)
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = w.callTrouble(answer); scene.Trouble != nil {
		return scene
	}
	scene.Notes = []string{"The call as its own resource. A client that keeps ids can ask for it again at any time."}
	scene.Verdicts = w.judge("API-02", "API-04", "API-05", "API-06", "API-07")
	return scene
}

// parseCalls reads the items of a list as far as they look like funding calls.
func parseCalls(body []byte) []Call {
	list, ok := openapi.ReadList(body)
	if !ok {
		list = openapi.List{Items: [][]byte{body}} // one object, as the published documents declare it
	}
	out := make([]Call, 0, len(list.Items))
	for _, raw := range list.Items {
		var item struct {
			ID, Type   any
			Name       json.RawMessage
			Title      json.RawMessage
			CallStages []struct {
				End any `json:"callStageEnd"`
			} `json:"callStages"`
			Funder json.RawMessage
		}
		if json.Unmarshal(raw, &item) != nil {
			continue
		}
		c := Call{ID: stringValue(item.ID), Type: stringValue(item.Type), Name: parseTexts(item.Name), Raw: raw}
		if len(c.Name) == 0 {
			c.Name = parseTexts(item.Title)
		}
		var funders []struct {
			Funder struct{ Name json.RawMessage }
		}
		if json.Unmarshal(item.Funder, &funders) == nil && len(funders) > 0 {
			c.Funder = parseTexts(funders[0].Funder.Name)
		}
		if len(item.CallStages) > 0 {
			c.Until, _ = time.Parse(time.RFC3339, stringValue(item.CallStages[0].End))
		}
		out = append(out, c)
	}
	return out
}

func stringValue(v any) string {
	s, _ := v.(string)
	return s
}

// parseTexts reads a text in several languages, or a plain one.
func parseTexts(raw json.RawMessage) map[string]string {
	var many []struct{ Lang, Text any }
	if json.Unmarshal(raw, &many) != nil {
		var one struct{ Lang, Text any }
		var plain string
		switch {
		case json.Unmarshal(raw, &plain) == nil && plain != "":
			return map[string]string{"": plain}
		case json.Unmarshal(raw, &one) == nil:
			many = append(many, one)
		}
	}
	out := map[string]string{}
	for _, t := range many {
		if s := stringValue(t.Text); s != "" {
			out[cmp.Or(stringValue(t.Lang), "")] = s
		}
	}
	return out
}
