package parameter

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rin-network/rin/sandbox/described/document"
)

// Parameter is a parameter with the kind of its values.
type Parameter struct {
	document.Parameter
	Kind *Kind
}

// Raw is where the parameters of a request are.
type Raw struct {
	// Path has the values of the path's parameters, still escaped.
	Path map[string]string
	// Query is in the order of the request.
	Query  []Pair
	Header http.Header
	// Cookies are those of the request.
	Cookies []*http.Cookie
}

// Pair is a parameter of the query: the name without escapes, the value still with them.
type Pair struct{ Name, Value string }

// maxPairs bounds the parameters of a query.
const maxPairs = 1000

// Query takes a raw query apart.
func Query(raw string) ([]Pair, error) {
	var pairs []Pair
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		if len(pairs) == maxPairs {
			return nil, fmt.Errorf("the query has more than %d parameters", maxPairs)
		}
		name, value, _ := strings.Cut(part, "=")
		plain, err := url.QueryUnescape(name)
		if err == nil {
			_, err = url.QueryUnescape(value)
		}
		if err != nil {
			return nil, fmt.Errorf("the query of the URL cannot be decoded: percent-encode reserved characters (%% as %%25)")
		}
		pairs = append(pairs, Pair{plain, value})
	}
	return pairs, nil
}

// Decode reads the value of a parameter; given is false when the request does not have it.
func (p Parameter) Decode(raw Raw) (value any, given bool, err error) {
	switch p.In {
	case "path":
		text, ok := raw.Path[p.Name]
		if !ok {
			return nil, false, nil
		}
		return p.path(text)
	case "query":
		return p.query(raw.Query)
	case "header":
		texts := raw.Header.Values(p.Name)
		if len(texts) == 0 {
			return nil, false, nil
		}
		return p.simple(strings.Join(texts, ","), asItIs)
	}
	return p.cookie(raw.Cookies)
}

func malformed(expected string) error { return fmt.Errorf("expected %s", expected) }

// media reads a text of a media type.
func (p Parameter) media(text string, unescape func(string) (string, error)) (any, bool, error) {
	plain, err := unescape(text)
	if err != nil {
		return nil, true, malformed("percent-encoded text")
	}
	if !strings.Contains(p.Media, "json") {
		return plain, true, nil
	}
	decoder := json.NewDecoder(strings.NewReader(plain))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil || decoder.More() {
		return nil, true, malformed("JSON, percent-encoded")
	}
	return value, true, nil
}

// simple reads "a,b", "r,100,g,200" and "r=100,g=200" (RFC 6570 simple expansion).
func (p Parameter) simple(text string, unescape func(string) (string, error)) (any, bool, error) {
	if p.Media != "" {
		return p.media(text, unescape)
	}
	texts, ok := []string{text}, true
	if p.Kind.list() || p.Kind.object() {
		texts = strings.Split(text, ",")
	}
	if texts, ok = decoded(texts, unescape); !ok {
		return nil, true, malformed("percent-encoded text")
	}
	for i := range texts {
		if p.In == "header" {
			texts[i] = strings.Trim(texts[i], " \t")
		}
	}
	return p.assemble(texts)
}

// assemble makes the value of texts that were taken apart.
func (p Parameter) assemble(texts []string) (any, bool, error) {
	switch {
	case p.Kind.list():
		if slices.Equal(texts, []string{""}) {
			texts = nil
		}
		return p.Kind.items(texts), true, nil
	case p.Kind.object() && p.Explode:
		object, ok := p.Kind.assigned(texts)
		if !ok {
			return nil, true, malformed("an object, written name=value,name=value")
		}
		return object, true, nil
	case p.Kind.object():
		object, ok := p.Kind.pairs(texts)
		if !ok {
			return nil, true, malformed("an object, written name,value,name,value")
		}
		return object, true, nil
	}
	return p.Kind.read(texts[0]), true, nil
}

func (p Parameter) cookie(cookies []*http.Cookie) (any, bool, error) {
	for _, c := range cookies {
		if c.Name == p.Name {
			return p.simple(c.Value, pathUnescape)
		}
	}
	return nil, false, nil
}
