package main

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

type param struct {
	name, kind, descr string // kind: enum, list, date, int, number, text, id
	enum              []string
	min, max          int64
	def               any
	pattern           string
}

func (p param) schema() map[string]any {
	s := map[string]any{}
	switch p.kind {
	case "enum":
		s = map[string]any{"type": "string", "enum": p.enum}
	case "list":
		s = map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"type": "string", "enum": p.enum}}
	case "date":
		s = map[string]any{"type": "string", "format": "date"}
	case "int":
		s = map[string]any{"type": "integer", "format": "int32", "minimum": p.min, "maximum": p.max}
	case "number":
		s = map[string]any{"type": "number", "minimum": p.min, "maximum": p.max}
	case "text":
		s = map[string]any{"type": "string", "minLength": p.min, "maxLength": p.max}
	case "id":
		s = map[string]any{"type": "string", "pattern": p.pattern}
	}
	if p.def != nil {
		s["default"] = p.def
	}
	return s
}

var (
	intForm    = regexp.MustCompile(`^-?(0|[1-9][0-9]{0,17})$`)
	numberForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
)

func (p param) parse(s string) (any, error) {
	switch p.kind {
	case "enum":
		for _, e := range p.enum {
			if e == s {
				return s, nil
			}
		}
		return nil, fmt.Errorf("must be one of %s", strings.Join(p.enum, ", "))
	case "list":
		var out []string
		for _, item := range strings.Split(s, ",") {
			v, err := param{kind: "enum", enum: p.enum}.parse(item)
			if err != nil {
				return nil, err
			}
			out = append(out, v.(string))
		}
		return out, nil
	case "date":
		if _, err := time.Parse(time.DateOnly, s); err != nil {
			return nil, fmt.Errorf("must be a date, YYYY-MM-DD")
		}
		return s, nil
	case "int":
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || !intForm.MatchString(s) || n < p.min || n > p.max {
			return nil, fmt.Errorf("must be an integer from %d to %d", p.min, p.max)
		}
		return int(n), nil
	case "number":
		n, err := strconv.ParseFloat(s, 64)
		if err != nil || !numberForm.MatchString(s) || n < float64(p.min) || n > float64(p.max) {
			return nil, fmt.Errorf("must be a number from %d to %d", p.min, p.max)
		}
		return n, nil
	case "text":
		if n := int64(utf8.RuneCountInString(s)); n < p.min || n > p.max {
			return nil, fmt.Errorf("must have %d to %d characters", p.min, p.max)
		}
		return s, nil
	case "id":
		if !regexp.MustCompile(p.pattern).MatchString(s) {
			return nil, fmt.Errorf("must match %s", p.pattern)
		}
		return s, nil
	}
	return nil, fmt.Errorf("has no kind")
}

// parseForm reads form-encoded pairs; unlike url.ParseQuery it takes a semicolon for what it is.
func parseForm(s string) (url.Values, error) {
	out := url.Values{}
	for _, pair := range strings.Split(s, "&") {
		if pair == "" {
			continue
		}
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil {
			return nil, err
		}
		if value, err = url.QueryUnescape(value); err != nil {
			return nil, err
		}
		out[name] = append(out[name], value)
	}
	return out, nil
}

type values map[string]any

func (v values) int(name string) int       { return v[name].(int) }
func (v values) str(name string) string    { s, _ := v[name].(string); return s }
func (v values) list(name string) []string { s, _ := v[name].([]string); return s }

// bind reads the query by the list of parameters; anything else is refused.
func bind(w http.ResponseWriter, r *http.Request, params []param) (values, url.Values, bool) {
	query, err := parseForm(r.URL.RawQuery)
	if err != nil {
		problem(w, http.StatusBadRequest, "The query is malformed.")
		return nil, nil, false
	}
	known := map[string]param{}
	out := values{}
	for _, p := range params {
		known[p.name] = p
		if p.def != nil {
			out[p.name] = p.def
		}
	}
	for name, vs := range query {
		p, ok := known[name]
		switch {
		case !ok:
			problem(w, http.StatusBadRequest, "The operation has no parameter of this name.", "parameter", strings.ToValidUTF8(name, "?"))
			return nil, nil, false
		case len(vs) > 1:
			problem(w, http.StatusBadRequest, "The parameter must not be repeated.", "parameter", name)
			return nil, nil, false
		case !utf8.ValidString(vs[0]):
			problem(w, http.StatusBadRequest, "The parameter is not UTF-8.", "parameter", name)
			return nil, nil, false
		}
		v, err := p.parse(vs[0])
		if err != nil {
			problem(w, http.StatusBadRequest, "The parameter "+err.Error()+".", "parameter", name)
			return nil, nil, false
		}
		out[name] = v
	}
	return out, query, true
}
