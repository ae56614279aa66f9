package openapi

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/document"
	"github.com/rin-network/rin/conformance/exchange"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// annotation is the judging of one answer.
type annotation struct {
	judge  *Judge
	op     document.Operation
	answer *exchange.Response
	out    *exchange.SchemaFindings
	found  collector
	schema string // pointer
}

// describedBy finds the schema of the body by status and media type, and notes where they are not described.
func (a *annotation) describedBy(method string) (pointer string, ok bool) {
	status, described := declaredStatus(a.op, a.answer.Status)
	if !described {
		a.note(exchange.FindingStatus, statuses(a.op), strconv.Itoa(a.answer.Status), a.op.Pointer+"/responses")
		return a.unjudged("status %d is not described", a.answer.Status)
	}
	a.judgeHeaders(status)
	if method == "HEAD" || a.answer.Status == 204 || a.answer.Status == 304 {
		return a.unjudged("this answer has no body")
	}
	response := a.op.Responses[status]
	keyword := a.op.Pointer + "/responses/" + document.Escape(status)
	sent := mediaType(exchange.Values(a.answer.Header, "Content-Type"))
	success := a.answer.Status/100 == 2
	if len(response.Content) == 0 {
		if success && status != "default" && len(a.answer.Body) > 0 {
			a.note(exchange.FindingMediaType, "no body is described", mediaOr(sent), keyword)
		}
		return a.unjudged("no schema is declared for this answer")
	}
	media, covered := declaredMedia(response, sent)
	if !covered && len(a.answer.Body) > 0 {
		a.note(exchange.FindingMediaType, enumerate(medias(response), ""), mediaOr(sent), keyword+"/content")
	}
	switch {
	case covered && !isJSON(sent) && !a.likelyJSON():
		return a.unjudged("not JSON: the answer is %s", sent)
	case !covered:
		// JSON under a wrong name is still worth judging, if it is clear which schema it is meant for.
		if media, ok = onlyJSON(response); !ok || isJSON(sent) || !a.likelyJSON() {
			return a.unjudged("not JSON as described: the answer is %s", mediaOr(sent))
		}
	}
	pointer, why := responseSchema(a.judge.doc, a.op, status, media)
	if why != "" {
		return a.unjudged("%s", why)
	}
	return pointer, true
}

func mediaOr(sent string) string {
	if sent == "" {
		return "no Content-Type"
	}
	return clip(sent, 80)
}

// onlyJSON returns the one described media type that is JSON.
func onlyJSON(response document.Response) (string, bool) {
	found := ""
	for _, key := range medias(response) {
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

func (a *annotation) likelyJSON() bool {
	first := firstByte(a.answer.Body)
	return first == '{' || first == '['
}

func (a *annotation) unjudged(format string, args ...any) (string, bool) {
	a.out.Why = fmt.Sprintf(format, args...)
	return "", false
}

func (a *annotation) note(kind exchange.FindingKind, expected, got, keyword string) {
	a.found.add([]difference{{Finding: exchange.Finding{Kind: kind, Expected: expected, Got: got, Keyword: clip(keyword, 300)}}})
}

// judgeBody reads the body and applies the schema, to the members of a list one by one where that means the same.
func (a *annotation) judgeBody(pointer string) {
	body := a.answer.Body
	switch {
	case a.answer.BodyError != "":
		a.unjudged("not JSON: the body could not be read: %s", clip(a.answer.BodyError, 160))
		return
	case len(body) > maxBody:
		a.unjudged("the body has %d bytes, more than the %d that are judged", len(body), maxBody)
		a.out.Undecided = true
		return
	case firstByte(body) == 0:
		a.unjudged("not JSON: the body is empty")
		return
	}
	c, why := a.judge.schema(pointer)
	if why != "" {
		a.unjudged("%s", why)
		a.out.Undecided = true
		return
	}
	a.schema = pointer
	key := a.keyOf(body)
	judged, known := a.judge.memory.recall(key)
	if !known {
		judged = a.apply(c)
		a.judge.memory.keep(key, judged)
	}
	a.out.Judged, a.out.Items = judged.why == "", judged.items
	if judged.why != "" {
		a.out.Why, a.out.Undecided = judged.why, judged.undecided
	}
	a.found.join(judged.found)
}

// apply judges the body by its schema.
func (a *annotation) apply(c *compiled) bodyJudged {
	defer c.meter.begin()()
	others := a.found
	a.found = collector{}
	array := firstByte(a.answer.Body) == '['
	var err error
	switch {
	case array && c.items != nil:
		err = a.judgeItems(c, c.items)
		a.judgeLength(c)
	case array && c.shape.kind == "object":
		err = a.judgeSingleAsList(c)
	case a.answer.Truncated:
		err = fmt.Errorf("the body was cut off after %d bytes", len(a.answer.Body))
	default:
		err = a.judgeWhole(c)
	}
	out := bodyJudged{found: a.found, items: a.out.Items}
	a.found = others
	if err != nil {
		// What was found before the fault is no reliable account of the body.
		var ours judgeFault
		out = bodyJudged{why: unreadable(err), undecided: errors.As(err, &ours)}
	}
	return out
}

func (a *annotation) judgeItems(c *compiled, schema *jsonschema.Schema) error {
	if items, ok := a.wellFormed(schema == c.whole); ok {
		return a.judgeUnknown(c, schema, items)
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

// judgeLength stands in for minItems and maxItems, which the schema of the items does not know.
func (a *annotation) judgeLength(c *compiled) {
	n := int64(a.out.Items)
	if limit := c.shape.min; limit != nil && n < *limit && !a.answer.Truncated {
		a.add([]difference{{Finding: exchange.Finding{Kind: exchange.FindingOther, Expected: fmt.Sprintf("at least %d items", *limit),
			Got: fmt.Sprintf("%d items", n), Keyword: a.schema + "/minItems"}}})
	}
	if limit := c.shape.max; limit != nil && n > *limit {
		a.add([]difference{{Finding: exchange.Finding{Kind: exchange.FindingOther, Expected: fmt.Sprintf("at most %d items", *limit),
			Got: fmt.Sprintf("%d items", n), Keyword: a.schema + "/maxItems"}}})
	}
}

// judgeSingleAsList deals with an array where one object is declared: the mismatch is noted, and if an erratum explains it, each member is
// judged against the object.
func (a *annotation) judgeSingleAsList(c *compiled) error {
	top := difference{Finding: exchange.Finding{Kind: exchange.FindingTopLevel, Expected: "object", Got: "array", Keyword: a.schema + "/type"}}
	if a.erratum(top) == "" {
		n, err := readItems(a.answer.Body, a.answer.Truncated, func(int, any) {})
		a.out.Items = n
		a.add([]difference{top})
		return err
	}
	a.add([]difference{top})
	return a.judgeItems(c, c.whole)
}

func (a *annotation) judgeWhole(c *compiled) error {
	value, err := readWhole(a.answer.Body)
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

// add marks what errata explain and tells a wrong type of the whole answer from one inside.
func (a *annotation) add(found []difference, prefix ...string) {
	for i, d := range found {
		if d.Kind == exchange.FindingType && len(d.at) == 0 && len(prefix) == 0 {
			found[i].Kind = exchange.FindingTopLevel
		}
		found[i].Erratum = a.erratum(found[i])
	}
	a.found.add(found, prefix...)
}

func (a *annotation) erratum(d difference) string {
	return erratumFor(a.judge.errata, a.judge.doc, finding{Finding: d.Finding, schema: a.schema, list: a.list()})
}

// list reports an operation that can only be a list: nothing in its path asks for one thing.
func (a *annotation) list() bool { return len(a.op.TemplateParameters()) == 0 }

// judgeFault is a failure on rin's side, not a fault of the body.
type judgeFault struct{ error }

func unreadable(err error) string {
	if fault, ok := err.(judgeFault); ok {
		return clip(fault.Error(), 200)
	}
	return "not JSON that can be judged: " + clip(err.Error(), 160)
}
