package validate

import (
	"encoding/json"
	"mime"
	"slices"
	"strconv"
	"strings"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// statuses lists the described statuses for a finding.
func statuses(op openapi.Operation) string {
	var list []string
	for status := range op.Responses {
		list = append(list, evidence.Clip(status, 12))
	}
	slices.Sort(list)
	return enumerate(list, "no status (none is described)")
}

// mediaType returns type and subtype of a Content-Type field in lower case; "" if it is missing or unreadable.
func mediaType(values []string) string {
	if len(values) == 0 {
		return ""
	}
	kind, _, err := mime.ParseMediaType(values[0])
	if err != nil {
		kind, _, _ = strings.Cut(values[0], ";")
		kind = strings.ToLower(strings.TrimSpace(kind))
	}
	if !strings.Contains(kind, "/") {
		return ""
	}
	return kind
}

func isJSON(media string) bool {
	return media == "application/json" || strings.HasSuffix(media, "+json") || media == "text/json"
}

// enumerate joins the texts of a list, at most 12 of them; none is the text for an empty list.
func enumerate(list []string, none string) string {
	const limit = 12
	switch {
	case len(list) == 0:
		return none
	case len(list) > limit:
		return strings.Join(list[:limit], ", ") + " and " + strconv.Itoa(len(list)-limit) + " more"
	}
	return strings.Join(list, ", ")
}

// maxHeaders bounds the described headers of one response.
const maxHeaders = 100

// judgeHeaders compares the header fields of the answer with the described ones: required fields must be present, and values must fit if
// their schema is a single scalar type. The path of such a finding is `header "X-Total"`.
func (a *annotation) judgeHeaders(status string) {
	response, why := a.judge.doc.Descend(a.op.Pointer+"/responses", status)
	if why != "" {
		return
	}
	raw, _ := a.judge.doc.Raw(response + "/headers")
	described, _ := raw.(map[string]any)
	if len(described) > maxHeaders {
		return
	}
	for name := range described {
		switch strings.ToLower(name) {
		case "content-type", "set-cookie": // Content-Type is judged elsewhere (OAS 3.0.3 Response Object); Set-Cookie is redacted
			continue
		}
		a.judgeHeader(name, response+"/headers", evidence.Values(a.answer.Header, name))
	}
}

// judgeHeader judges the values of one header field. headers is the pointer of the described headers.
func (a *annotation) judgeHeader(name, headers string, values []string) {
	at, why := a.judge.doc.Descend(headers, name)
	if why != "" {
		return
	}
	raw, _ := a.judge.doc.Raw(at)
	header, _ := raw.(map[string]any)
	if len(values) == 0 {
		if header["required"] == true {
			a.addHeader(name, []difference{{Finding: evidence.Finding{Kind: evidence.FindingHeader, Expected: "a required header field", Got: "nothing", Keyword: at + "/required"}}})
		}
		return
	}
	if _, ok := header["schema"]; ok {
		at += "/schema"
	} else if header["type"] == nil { // Swagger 2.0 has the type in the header itself
		return
	}
	c, why := a.judge.schema(at)
	if why != "" {
		return
	}
	value, ok := headerValue(c.Kind, strings.Join(values, ", "))
	if !ok {
		return
	}
	defer c.meter.begin()()
	if found, err := c.apply(c.whole, value); err == nil {
		a.addHeader(name, found)
	}
}

// headerValue reads a field as the scalar that its schema expects; other text stays text, which the schema then refuses. ok is false unless the
// schema expects a single scalar type.
func headerValue(kind, text string) (value any, ok bool) {
	switch kind {
	case "string":
		return text, true
	case "boolean":
		if b, err := strconv.ParseBool(text); err == nil && (text == "true" || text == "false") {
			return b, true
		}
		return text, true
	case "integer", "number":
		var n json.Number
		if json.Unmarshal([]byte(text), &n) == nil && n != "" {
			return openapi.BoundedNumber(n), true
		}
		return text, true
	}
	return nil, false
}

// addHeader adds findings on a header field. All get the kind header, because the kinds for bodies belong to other requirements.
func (a *annotation) addHeader(name string, found []difference) {
	for i := range found {
		found[i].Kind = evidence.FindingHeader
		found[i].place = "header " + strconv.Quote(evidence.Clip(name, 64))
	}
	a.found.add(found)
}
