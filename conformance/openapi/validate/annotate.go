package validate

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// annotation is the state of judging one answer.
type annotation struct {
	judge  *Judge
	op     openapi.Operation
	answer *evidence.Response
	out    *evidence.SchemaFindings
	found  collector
	schema string // pointer
}

// findSchema finds the schema of the body by status and media type, and reports those that are not described.
func (a *annotation) findSchema(method string) (pointer string, ok bool) {
	status, described := a.op.ResponseTo(a.answer.Status)
	if !described {
		a.report(evidence.FindingStatus, statuses(a.op), strconv.Itoa(a.answer.Status), a.op.Pointer+"/responses")
		return a.skip("status %d is not described", a.answer.Status)
	}
	a.judgeHeaders(status)
	if method == "HEAD" || a.answer.Status == 204 || a.answer.Status == 304 {
		return a.skip("this answer has no body")
	}
	response := a.op.Responses[status]
	keyword := a.op.Pointer + "/responses/" + openapi.Escape(status)
	sent := mediaType(evidence.Values(a.answer.Header, "Content-Type"))
	success := a.answer.Status/100 == 2
	if len(response.Content) == 0 {
		if success && status != "default" && len(a.answer.Body) > 0 {
			a.report(evidence.FindingMediaType, "no body is described", mediaText(sent), keyword)
		}
		return a.skip("no schema is declared for this answer")
	}
	media, covered := response.MediaType(sent)
	if !covered && len(a.answer.Body) > 0 {
		a.report(evidence.FindingMediaType, enumerate(response.MediaTypes(), ""), mediaText(sent), keyword+"/content")
	}
	switch {
	case covered && !isJSON(sent) && !a.looksLikeJSON():
		return a.skip("not JSON: the answer is %s", sent)
	case !covered:
		// JSON under a wrong media type is still judged, if its schema is clear.
		media, ok = onlyJSON(response)
		if !ok || isJSON(sent) || !a.looksLikeJSON() {
			return a.skip("not JSON as described: the answer is %s", mediaText(sent))
		}
	}
	pointer, why := a.judge.doc.ResponseSchema(a.op, status, media)
	if why != "" {
		return a.skip("%s", why)
	}
	return pointer, true
}

func mediaText(sent string) string {
	if sent == "" {
		return "no Content-Type"
	}
	return evidence.Clip(sent, 80)
}

// onlyJSON returns the one described media type that is JSON.
func onlyJSON(response openapi.Response) (string, bool) {
	found := ""
	for _, key := range response.MediaTypes() {
		kind, _, _ := strings.Cut(strings.ToLower(key), ";")
		if isJSON(strings.TrimSpace(kind)) {
			if found != "" {
				return "", false
			}
			found = key
		}
	}
	return found, found != ""
}

func (a *annotation) looksLikeJSON() bool {
	first := openapi.FirstByte(a.answer.Body)
	return first == '{' || first == '['
}

func (a *annotation) skip(format string, args ...any) (string, bool) {
	a.out.Why = fmt.Sprintf(format, args...)
	return "", false
}

func (a *annotation) report(kind evidence.FindingKind, expected, got, keyword string) {
	a.found.add([]difference{{Finding: evidence.Finding{Kind: kind, Expected: expected, Got: got, Keyword: evidence.Clip(keyword, 300)}}})
}

// judgeBody reads the body and applies the schema, item by item in a list where that has the same meaning.
func (a *annotation) judgeBody(pointer string) {
	body := a.answer.Body
	switch {
	case a.answer.BodyError != "":
		a.skip("not JSON: the body could not be read: %s", evidence.Clip(a.answer.BodyError, 160))
		return
	case len(body) > maxBody:
		a.skip("the body has %d bytes, more than the %d that are judged", len(body), maxBody)
		a.out.Undecided = true
		return
	case openapi.FirstByte(body) == 0:
		a.skip("not JSON: the body is empty")
		return
	}
	c, why := a.judge.schema(pointer)
	if why != "" {
		a.skip("%s", why)
		a.out.Undecided = true
		return
	}
	a.schema = pointer
	key := a.bodyKey(body)
	judged, known := a.judge.memory.recall(key)
	if !known {
		judged = a.apply(c, key)
	}
	a.out.Judged, a.out.Items = judged.why == "", judged.items
	if judged.why != "" {
		a.out.Why, a.out.Undecided = judged.why, judged.undecided
	}
	a.found.join(judged.found)
}

// apply judges the body by its schema, unless an answer with the same body was judged while this one waited for the schema.
func (a *annotation) apply(c *compiledSchema, key bodyKey) bodyResult {
	defer c.meter.begin()()
	if judged, known := a.judge.memory.recall(key); known {
		return judged
	}
	others := a.found
	a.found = collector{}
	array := openapi.FirstByte(a.answer.Body) == '['
	var err error
	switch {
	case array && c.items != nil:
		err = a.judgeItems(c, c.items)
		a.judgeLength(c)
	case array && c.Kind == "object":
		err = a.judgeListAsObjects(c)
	case a.answer.Truncated:
		err = fmt.Errorf("the body was cut off after %d bytes", len(a.answer.Body))
	default:
		err = a.judgeWhole(c)
	}
	out := bodyResult{found: a.found, items: a.out.Items}
	a.found = others
	if err != nil {
		// Findings before the fault do not describe the body reliably.
		var fault judgeFault
		out = bodyResult{why: unreadable(err), undecided: errors.As(err, &fault)}
	}
	a.judge.memory.keep(key, out)
	return out
}

func (a *annotation) judgeItems(c *compiledSchema, schema *jsonschema.Schema) error {
	if items, ok := a.splitItems(schema == c.whole); ok {
		return a.judgeNewItems(c, schema, items)
	}
	var fault error
	n, err := readItems(a.answer.Body, a.answer.Truncated, func(i int, item any) {
		found, err := c.apply(schema, item)
		if err != nil && fault == nil {
			fault = judgeFault{err}
		}
		a.add(found, strconv.Itoa(i))
	})
	a.out.Items = n
	if err != nil {
		return err
	}
	return fault
}

// judgeLength checks minItems and maxItems, because the items are judged one by one, against their own schema.
func (a *annotation) judgeLength(c *compiledSchema) {
	n := int64(a.out.Items)
	if limit := c.MinItems; limit != nil && n < *limit && !a.answer.Truncated {
		a.add([]difference{{Finding: evidence.Finding{Kind: evidence.FindingOther, Expected: "at least " + evidence.Count(int(*limit), "item"),
			Got: evidence.Count(int(n), "item"), Keyword: a.schema + "/minItems"}}})
	}
	if limit := c.MaxItems; limit != nil && n > *limit {
		a.add([]difference{{Finding: evidence.Finding{Kind: evidence.FindingOther, Expected: "at most " + evidence.Count(int(*limit), "item"),
			Got: evidence.Count(int(n), "item"), Keyword: a.schema + "/maxItems"}}})
	}
}

// judgeListAsObjects handles an array in place of one declared object: it reports the mismatch and, if an erratum explains it, judges each
// member by the schema of the object.
func (a *annotation) judgeListAsObjects(c *compiledSchema) error {
	top := difference{Finding: evidence.Finding{Kind: evidence.FindingTopLevel, Expected: "object", Got: "array", Keyword: a.schema + "/type"}}
	if a.erratum(top) == "" {
		n, err := readItems(a.answer.Body, a.answer.Truncated, func(int, any) {})
		a.out.Items = n
		a.add([]difference{top})
		return err
	}
	a.add([]difference{top})
	return a.judgeItems(c, c.whole)
}

func (a *annotation) judgeWhole(c *compiledSchema) error {
	value, err := readValue(a.answer.Body, 0)
	if err != nil {
		return err
	}
	a.out.Items = 1
	if list, ok := value.([]any); ok {
		a.out.Items = len(list)
	}
	found, err := c.apply(c.whole, value)
	if err != nil {
		return judgeFault{err}
	}
	a.add(found)
	return nil
}

// add marks findings that errata explain, and separates a wrong type of the whole answer from one inside.
func (a *annotation) add(found []difference, prefix ...string) {
	for i, d := range found {
		if d.Kind == evidence.FindingType && len(d.at) == 0 && len(prefix) == 0 {
			found[i].Kind = evidence.FindingTopLevel
		}
		found[i].Erratum = a.erratum(found[i])
	}
	a.found.add(found, prefix...)
}

func (a *annotation) erratum(d difference) string {
	return erratumFor(a.judge.errata, a.judge.doc, finding{Finding: d.Finding, schema: a.schema, list: a.isList()})
}

// isList reports whether the operation can only be a list, because its path has no parameter.
func (a *annotation) isList() bool { return len(a.op.TemplateParameters()) == 0 }

// judgeFault is a failure of rin, not of the body.
type judgeFault struct{ error }

func unreadable(err error) string {
	if fault, ok := err.(judgeFault); ok {
		return evidence.Clip(fault.Error(), 200)
	}
	return "not JSON that can be judged: " + evidence.Clip(err.Error(), 160)
}

// listItem is an item of a list as text. An item that was judged before without findings need not be read again.
type listItem struct {
	text  []byte
	key   itemKey
	good  bool
	steps int // of judging it
}

// splitItems splits a list into its items; ok is false if it breaks off, is not JSON, or is too long to be held. single reports that the items
// are judged by the schema of the whole.
func (a *annotation) splitItems(single bool) (items []listItem, ok bool) {
	if a.answer.Truncated {
		return nil, false
	}
	texts, complete := openapi.Split(a.answer.Body)
	if !complete {
		return nil, false
	}
	items = make([]listItem, len(texts))
	for i, text := range texts {
		item := listItem{text: text, key: itemKey{a.schema, single, a.judge.memory.contentOf(text)}}
		item.steps, item.good = a.judge.memory.recallItem(item.key)
		if !item.good && !json.Valid(text) {
			return nil, false
		}
		items[i] = item
	}
	return items, true
}

// judgeNewItems judges the items that are not remembered. The remembered ones count with their steps, so that the order of answers does
// not matter.
func (a *annotation) judgeNewItems(c *compiledSchema, schema *jsonschema.Schema, items []listItem) error {
	var fault error
	for i, item := range items {
		a.out.Items = i
		if item.good {
			if c.meter.body -= item.steps; c.meter.body < 0 && fault == nil {
				fault = judgeFault{errSteps}
			}
			continue
		}
		value, err := readValue(item.text, 1)
		if err != nil {
			return err
		}
		found, err := c.apply(schema, value)
		switch {
		case err != nil && fault == nil:
			fault = judgeFault{err}
		case err == nil && len(found) == 0:
			a.judge.memory.keepItem(item.key, stepsPerValue-c.meter.value)
		}
		a.add(found, strconv.Itoa(i))
	}
	a.out.Items = len(items)
	return fault
}
