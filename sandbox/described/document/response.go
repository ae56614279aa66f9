package document

import (
	"slices"
	"strconv"
	"strings"
)

func itoa(i int) string { return strconv.Itoa(i) }

func (r *reader) responses(o *Operation, pointer string, value any) {
	responses, ok := value.(map[string]any)
	if !ok {
		r.fail(pointer, "expected an object with a member for each status, got %s", kind(value))
		return
	}
	for _, status := range sortedKeys(responses) {
		if strings.HasPrefix(status, "x-") {
			continue
		}
		known := normal(status)
		if known == "" {
			r.fail(Child(pointer, status), "expected a status from 100 to 599, a range as in 2XX, or default")
			continue
		}
		object, at := r.object(Child(pointer, status))
		o.Responses = append(o.Responses, Response{
			Status: known, Pointer: at, Content: r.content(Child(at, "content"), object["content"]),
			Headers: r.headers(Child(at, "headers"), object["headers"]),
		})
	}
	if len(o.Responses) == 0 {
		r.fail(pointer, "the operation describes no response")
	}
	slices.SortStableFunc(o.Responses, func(a, b Response) int { return strings.Compare(a.Status, b.Status) })
}

// normal writes a status as this package does; empty for what is none.
func normal(status string) string {
	if status == "default" {
		return status
	}
	upper := strings.ToUpper(status)
	if len(upper) != 3 || upper[0] < '1' || upper[0] > '5' {
		return ""
	}
	if n, err := strconv.Atoi(upper); (err != nil || n < 100) && upper[1:] != "XX" {
		return ""
	}
	return upper
}

func (r *reader) headers(pointer string, value any) []Header {
	headers, _ := value.(map[string]any)
	var all []Header
	for _, name := range sortedKeys(headers) {
		object, at := r.object(Child(pointer, name))
		p := Parameter{In: "header"}
		r.shape(&p, object, at)
		required, _ := object["required"].(bool)
		all = append(all, Header{Name: name, Explode: p.Explode, Require: required, Media: p.Media, Schema: p.Schema})
	}
	return all
}
