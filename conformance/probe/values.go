package probe

import (
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rin-network/rin/conformance/openapi"
)

// valueOf returns a value that a schema allows, or false if the schema is not specific enough.
func valueOf(s openapi.Schema, now time.Time) (string, bool) {
	var text string
	switch {
	case len(s.Enum) > 0 && s.Type != "array" && s.Type != "object": // the enum of an array lists arrays
		return s.Enum[0], true
	case len(s.Examples) > 0 && s.Type != "array" && s.Type != "object":
		return s.Examples[0], true
	case json.Unmarshal(s.Default, &text) == nil && text != "":
		return text, true
	}
	switch s.Type {
	case "boolean":
		return "true", true
	case "integer", "number":
		return strconv.Itoa(atLeast(s, 1)), true
	case "array":
		if s.Items != nil && !needsSeveral(s) {
			return valueOf(*s.Items, now)
		}
	case "string":
		switch s.Format {
		case "date":
			return now.UTC().Format(time.DateOnly), true
		case "date-time":
			return now.UTC().Format(time.RFC3339), true
		}
	}
	return "", false
}

// needsSeveral reports whether a parameter must have at least two values, so that a call with one is not allowed.
func needsSeveral(s openapi.Schema) bool {
	return s.Type == "array" && s.MinItems != nil && *s.MinItems > 1
}

// anyText returns a value for a required parameter that takes any text and is not in the path; ok is false for other parameters.
func anyText(p openapi.Parameter) (value string, ok bool) {
	s := p.Schema
	if p.In == "path" || s.Type != "string" && s.Type != "" || s.Format != "" || s.Pattern != "" {
		return "", false
	}
	value = "funding"
	if s.MinLength != nil && *s.MinLength > len(value) && *s.MinLength <= maxValueLength {
		value = strings.Repeat("a", *s.MinLength)
	}
	if s.MaxLength != nil && *s.MaxLength > 0 && *s.MaxLength < len(value) {
		value = value[:*s.MaxLength]
	}
	return value, s.MinLength == nil || *s.MinLength <= len(value)
}

// valueOfParameter returns a valid value of a query parameter and the name to send. For an object it is one member, with the name "name[member]" (OAS 3.0.3, style
// deepObject).
func valueOfParameter(p openapi.Parameter, now time.Time) (name, value string, ok bool) {
	if p.Schema.Type != "object" {
		value, ok = valueOf(p.Schema, now)
		return p.Name, value, ok
	}
	for _, member := range slices.Sorted(maps.Keys(p.Schema.Properties)) {
		if value, ok = valueOf(p.Schema.Properties[member], now); ok {
			return p.Name + "[" + member + "]", value, true
		}
	}
	return p.Name, "", false
}

// atLeast returns the whole number nearest to wish within the bounds of a schema. For a vocabulary it returns the least number that reaches wish,
// else the greatest one.
func atLeast(s openapi.Schema, wish int) int {
	if n, ok := numberInEnum(s.Enum, wish); ok {
		return n
	}
	if s.Minimum != nil && float64(wish) < *s.Minimum && *s.Minimum < math.MaxInt32 {
		wish = int(math.Ceil(*s.Minimum))
	}
	if s.Maximum != nil && float64(wish) > *s.Maximum && *s.Maximum > math.MinInt32 {
		wish = int(math.Floor(*s.Maximum))
	}
	return wish
}

// numberInEnum returns the least number of a vocabulary that reaches wish, else the greatest one; ok is false if it has no number.
func numberInEnum(enum []string, wish int) (n int, ok bool) {
	for _, text := range enum {
		value, err := strconv.Atoi(text)
		if err != nil {
			continue
		}
		if !ok || n < wish && value > n || value >= wish && value < n {
			n, ok = value, true
		}
	}
	return n, ok
}

// pageSize is the parameter that the network's clients send, whether a document describes it or not.
const pageSize = "page[size]"

// sizeParameter returns the described query parameter whose name says that it sets the size of a page. [run.size] also finds others.
func sizeParameter(o openapi.Operation) (openapi.Parameter, bool) {
	return o.QueryWithRole(openapi.SizeRole)
}

// choice is a filter with the values to try.
type choice struct {
	filter
	seen, other string
	// otherSeen is true if other occurs in the data, too, because every value of the vocabulary does.
	otherSeen bool
	// open is true if the document gives no vocabulary, so that any value is valid.
	open bool
}

// chooseFilter picks a filter and two of its values: one that some items have and others lack, if possible, and one that no item has. If all items have the
// same value, only the second value can show that the filter works, because the answer must be empty. ok is false if no filter has a value in the data.
func chooseFilter(filters []describedFilter, items []item) (choice, bool) {
	var best choice
	rank := 0
	for _, f := range filters {
		vocabulary := f.vocabulary
		counts, order := occurrences(items, f.member)
		open := len(vocabulary) == 0
		if open {
			vocabulary = order // an id: any value that occurs is valid
		}
		for _, value := range vocabulary {
			if counts[value] == 0 {
				continue
			}
			c := choice{filter: f.filter, seen: value, open: open}
			c.other, c.otherSeen = otherValue(vocabulary, counts, value)
			r := 1
			switch {
			case counts[value] < len(items):
				r = 3
			case c.other != "" && !c.otherSeen, open && c.other == "":
				r = 2
			}
			if r > rank {
				rank, best = r, c
			}
		}
	}
	return best, rank > 0
}

// occurrences counts the items that have each value; order lists the values in the order in which they first occur.
func occurrences(items []item, member string) (counts map[string]int, order []string) {
	counts = map[string]int{}
	for _, i := range items {
		for _, v := range i.values[member] {
			if counts[v] == 0 {
				order = append(order, v)
			}
			counts[v]++
		}
	}
	return counts, order
}

// otherValue returns a value that does not occur in the data, or else one that occurs and differs from seen.
func otherValue(vocabulary []string, counts map[string]int, seen string) (value string, occurs bool) {
	for _, v := range vocabulary {
		if counts[v] == 0 {
			return v, false
		}
	}
	for _, v := range vocabulary {
		if v != seen {
			return v, true
		}
	}
	return "", false
}

// parameterKey returns the key that identifies a parameter of an operation (OAS 3.0.3 Parameter Object).
func parameterKey(p openapi.Parameter) string { return p.In + " " + p.Name }

// isClientHeader reports whether a parameter is a header that OpenAPI describes elsewhere in the document (OAS 3.0.3 Parameter Object).
func isClientHeader(p openapi.Parameter) bool {
	switch strings.ToLower(p.Name) {
	case "accept", "content-type", "authorization":
		return p.In == "header"
	}
	return false
}

// sendsAs reports whether a value can be sent as a parameter without changing the rest of the request. The document comes from the node, and could describe a
// header field such as Host or Transfer-Encoding.
func sendsAs(p openapi.Parameter, value string) bool {
	switch p.In {
	case "query":
		return true
	case "path":
		return value != "" && value != "." && value != ".."
	case "header":
		return isFieldName(p.Name) && !isFramingField(p.Name) && !isClientHeader(p) && isPrintable(value)
	}
	return false // cookies are not sent
}

// isFramingField reports whether a header field controls the request or the connection (RFC 9110 §7, §10, RFC 9112).
func isFramingField(name string) bool {
	switch strings.ToLower(name) {
	case "host", "connection", "content-length", "transfer-encoding", "te", "trailer", "upgrade", "expect", "keep-alive", "cookie",
		"proxy-authorization", "proxy-connection", "x-http-method-override", "range", "if-range":
		return true
	}
	return false
}

// isFieldName reports whether a text is a field name, which is a token (RFC 9110 §5.6.2).
func isFieldName(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		if c <= ' ' || c > '~' || strings.IndexByte("\"(),/:;<=>?@[\\]{}", c) >= 0 {
			return false
		}
	}
	return true
}

func isPrintable(s string) bool {
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return strings.TrimSpace(s) == s
}
