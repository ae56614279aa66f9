package walk

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

	"github.com/rin-network/rin/conformance/discover"
	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/rin-network/rin/conformance/exchange/record"
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

// In is a text in a language, else in another one.
func In(texts map[string]string, language string) string {
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

func (w *Walk) list() (document.Operation, bool) {
	d := w.description()
	if d == nil || d.node.List == "" {
		return document.Operation{}, false
	}
	return d.node.Operation(d.node.List)
}

func sizeParameter(o document.Operation) string {
	return parameter(o, "page[size]", "size", "pageSize", "page_size", "per_page", "limit")
}

func pageParameter(o document.Operation) string {
	return parameter(o, "page[page]", "page[number]", "page", "pageNumber", "offset")
}

func parameter(o document.Operation, names ...string) string {
	for _, name := range names {
		if slices.ContainsFunc(o.Parameters, func(p document.Parameter) bool { return p.In == "query" && p.Name == name }) {
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
func (w *Walk) ListCalls(ctx context.Context, q Query) Scene {
	scene := Scene{Step: Calls}
	if w.description() == nil {
		read, _ := w.ReadSpecification(ctx)
		scene.Exchanges, scene.Trouble = read.Exchanges, read.Trouble
		if !read.Well() {
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
	var answer record.Answer
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
	if scene.Trouble = w.refusedCall(answer); scene.Trouble != nil {
		return scene
	}
	calls := callsIn(answer.Body)
	w.mu.Lock()
	w.calls = calls
	w.mu.Unlock()
	scene.Says = []string{fmt.Sprintf("%d %s came.", len(calls), plural(len(calls), "record", "records"))}
	switch {
	case len(calls) == 0 && q.Page > 0:
		scene.Says = append(scene.Says, "An empty page is the end of the list. A failed page is not: a client has to tell the two apart by the status.")
	case w.Paged() && len(calls) == PageSize:
		scene.Says = append(scene.Says, "This is one page; ask for the next until one is empty.")
	case !w.Paged():
		scene.Says = append(scene.Says, "The document describes no pages: this is all there is.")
	}
	scene.Verdicts = w.judge("API-02", "API-03", "API-04", "API-05", "API-06", "API-07")
	return scene
}

// bases are where the operations may live: where one was found, or the candidates.
func (w *Walk) bases() []discover.Base {
	d := w.description()
	if d.base.Prefix != "" {
		return []discover.Base{d.base}
	}
	return d.node.Bases()
}

func (w *Walk) settle(b discover.Base) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.node.base = b
}

func (w *Walk) listAsk(o document.Operation, base discover.Base, q Query, token string) record.Ask {
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
	return w.annotated(discover.Resource{Name: exchange.OperationResource(o.Key), URL: address}.Authorized(exchange.OK, token), o)
}

// countsRecords tells a page parameter that skips records, as the network's client sends it, from one that numbers pages.
func countsRecords(name string) bool { return name == "page[page]" || name == "offset" }

// annotated lets the node's document judge the answer.
func (w *Walk) annotated(ask record.Ask, o document.Operation) record.Ask {
	if judge := w.description().judge; judge != nil {
		ask.Annotate = func(x exchange.Exchange) []exchange.SchemaFindings {
			if !x.Answered() {
				return nil
			}
			return []exchange.SchemaFindings{judge.Annotate(x, o)}
		}
	}
	return ask
}

// OpenCall reads one call by its id.
func (w *Walk) OpenCall(ctx context.Context, id string) Scene {
	scene := Scene{Step: Calls}
	d := w.description()
	var detail document.Operation
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
	resource := discover.Resource{Name: exchange.OperationResource(detail.Key), URL: w.bases()[0].URL(path)}
	answer, err := w.send(ctx, w.annotated(resource.Authorized(exchange.OK, token), detail))
	if err != nil {
		return troubled(scene, err)
	}
	scene.Exchanges = append(scene.Exchanges, answer.Exchange)
	if scene.Trouble = w.refusedCall(answer); scene.Trouble != nil {
		return scene
	}
	scene.Says = []string{"The call as its own resource. A client that keeps ids can ask for it again at any time."}
	scene.Verdicts = w.judge("API-02", "API-04", "API-05", "API-06", "API-07")
	return scene
}

// callsIn reads the items of a list as far as they look like funding calls.
func callsIn(body []byte) []Call {
	list, ok := document.ReadList(body)
	if !ok {
		list = document.List{Items: [][]byte{body}} // one object, as the published documents declare it
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
		c := Call{ID: text(item.ID), Type: text(item.Type), Name: textsIn(item.Name), Raw: raw}
		if len(c.Name) == 0 {
			c.Name = textsIn(item.Title)
		}
		var funders []struct {
			Funder struct{ Name json.RawMessage }
		}
		if json.Unmarshal(item.Funder, &funders) == nil && len(funders) > 0 {
			c.Funder = textsIn(funders[0].Funder.Name)
		}
		if len(item.CallStages) > 0 {
			c.Until, _ = time.Parse(time.RFC3339, text(item.CallStages[0].End))
		}
		out = append(out, c)
	}
	return out
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

// textsIn reads a text in several languages, or a plain one.
func textsIn(raw json.RawMessage) map[string]string {
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
		if s := text(t.Text); s != "" {
			out[cmp.Or(text(t.Lang), "")] = s
		}
	}
	return out
}
