package mockapi

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// parameterDecoder reads the values of a parameter from requests.
type parameterDecoder struct {
	Parameter
	Kind *valueType
}

// rawParameters are the parts of a request that hold parameters.
type rawParameters struct {
	// Path has the path parameters, escaped.
	Path map[string]string
	// Query is in the order of the request.
	Query   []queryPair
	Header  http.Header
	Cookies []*http.Cookie
}

// queryPair is a parameter of the query: the name unescaped, the value escaped.
type queryPair struct{ Name, Value string }

// maxPairs limits the parameters of a query.
const maxPairs = 1000

// splitQuery splits a raw query.
func splitQuery(raw string) ([]queryPair, error) {
	var pairs []queryPair
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
		pairs = append(pairs, queryPair{plain, value})
	}
	return pairs, nil
}

// Decode reads the value of a parameter; given is false if the request does not have it.
func (p parameterDecoder) Decode(raw rawParameters) (value any, given bool, err error) {
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
		return p.simple(strings.Join(texts, ","), noEscapes)
	}
	return p.cookie(raw.Cookies)
}

// malformedError returns the error for a value that is not written as its style requires.
func malformedError(expected string) error { return fmt.Errorf("expected %s", expected) }

// media reads the value of a parameter that the document describes by a media type ("content").
func (p parameterDecoder) media(text string, unescape func(string) (string, error)) (any, bool, error) {
	plain, err := unescape(text)
	if err != nil {
		return nil, true, malformedError("percent-encoded text")
	}
	if !strings.Contains(p.Media, "json") {
		return plain, true, nil
	}
	value, err := decodeJSON([]byte(plain))
	if err != nil {
		return nil, true, malformedError("JSON, percent-encoded")
	}
	return value, true, nil
}

// simple reads "a,b", "r,100,g,200" and "r=100,g=200" (RFC 6570 simple expansion).
func (p parameterDecoder) simple(text string, unescape func(string) (string, error)) (any, bool, error) {
	if p.Media != "" {
		return p.media(text, unescape)
	}
	return p.split(text, ",", unescape)
}

// assemble unescapes the parts of a value, and makes the value from them.
func (p parameterDecoder) assemble(texts []string, unescape func(string) (string, error)) (any, bool, error) {
	plain, err := unescapeAll(texts, unescape)
	switch {
	case err != nil:
		return nil, true, err
	case p.Kind.isList():
		if slices.Equal(plain, []string{""}) {
			plain = nil
		}
		return p.Kind.items(plain), true, nil
	case p.Kind.isObject():
		object, ok := p.Kind.object(plain, p.Explode)
		if !ok && p.Explode {
			return nil, true, malformedError("an object, written name=value,name=value")
		}
		if !ok {
			return nil, true, malformedError("an object, written name,value,name,value")
		}
		return object, true, nil
	}
	return p.Kind.read(plain[0]), true, nil
}

func (p parameterDecoder) cookie(cookies []*http.Cookie) (any, bool, error) {
	for _, c := range cookies {
		if c.Name == p.Name {
			return p.simple(c.Value, url.PathUnescape)
		}
	}
	return nil, false, nil
}

// path reads the styles of path parameters: simple "5", label ".5", matrix ";id=5".
func (p parameterDecoder) path(text string) (any, bool, error) {
	switch p.Style {
	case "label":
		rest, ok := strings.CutPrefix(text, ".")
		if !ok {
			return nil, true, malformedError("a dot before the value, ." + text)
		}
		if p.Explode {
			return p.split(rest, ".", url.PathUnescape)
		}
		return p.split(rest, ",", url.PathUnescape)
	case "matrix":
		return p.matrix(text)
	}
	return p.simple(text, url.PathUnescape)
}

// split reads a text; the parts of a list or an object have a separator between them. Headers may have white space around the parts.
func (p parameterDecoder) split(text, separator string, unescape func(string) (string, error)) (any, bool, error) {
	texts := []string{text}
	if p.Kind.isList() || p.Kind.isObject() {
		texts = strings.Split(text, separator)
	}
	if p.In == "header" {
		for i := range texts {
			texts[i] = strings.Trim(texts[i], " \t")
		}
	}
	return p.assemble(texts, unescape)
}

// matrix reads ";id=5", ";id=3,4", ";id=3;id=4", and objects as ";id=r,100" or ";r=100".
func (p parameterDecoder) matrix(text string) (any, bool, error) {
	rest, ok := strings.CutPrefix(text, ";")
	if !ok {
		return nil, true, malformedError(";" + p.Name + "= before the value")
	}
	if p.Explode && p.Kind.isObject() {
		return p.split(rest, ";", url.PathUnescape)
	}
	var texts []string
	for part := range strings.SplitSeq(rest, ";") {
		name, value, _ := strings.Cut(part, "=")
		if name != p.Name {
			return nil, true, malformedError(";" + p.Name + "= before the value")
		}
		texts = append(texts, value)
	}
	if p.Explode && p.Kind.isList() {
		plain, err := unescapeAll(texts, url.PathUnescape)
		return p.Kind.items(plain), true, err
	}
	if len(texts) > 1 {
		return nil, true, malformedError("one value, ;" + p.Name + "=")
	}
	return p.split(texts[0], ",", url.PathUnescape)
}

// query reads the styles of query parameters. An empty value of an optional parameter counts as absent, as in nodes of the network.
func (p parameterDecoder) query(pairs []queryPair) (any, bool, error) {
	switch {
	case p.Style == "deepObject":
		return p.deepObject(pairs)
	case p.Style == "form" && p.Explode && p.Kind.isObject():
		return p.explodedObject(pairs)
	}
	var texts []string
	for _, pair := range pairs {
		if pair.Name == p.Name {
			texts = append(texts, pair.Value)
		}
	}
	switch {
	case len(texts) == 0:
		return nil, false, nil
	case len(texts) == 1 && texts[0] == "" && !p.Required:
		return nil, false, nil
	case len(texts) > 1 && !(p.Explode && p.Kind.isList()):
		return nil, true, malformedError("it once, got it more than once")
	case p.Media != "":
		return p.media(texts[0], url.QueryUnescape)
	case !p.Kind.isList() && !p.Kind.isObject():
	case p.Explode && len(texts) > 1:
	case p.Explode && p.Style == "form":
		// A single value of an exploded list is one item, with its commas.
	default:
		texts = p.splitDelimited(texts[0])
	}
	return p.assemble(texts, url.QueryUnescape)
}

// splitDelimited splits a raw value before it is unescaped: an escaped comma belongs to an item. Spaces and pipes are always escaped in URLs,
// so that escaped ones are delimiters, too.
func (p parameterDecoder) splitDelimited(text string) []string {
	switch p.Style {
	case "spaceDelimited":
		return strings.Split(strings.NewReplacer("+", "%20", " ", "%20").Replace(text), "%20")
	case "pipeDelimited":
		return strings.Split(strings.NewReplacer("%7C", "|", "%7c", "|").Replace(text), "|")
	}
	return strings.Split(text, ",")
}

// deepObject reads "filter[name]=value", also with several levels of members.
func (p parameterDecoder) deepObject(pairs []queryPair) (any, bool, error) {
	object := map[string]any{}
	for _, pair := range pairs {
		rest, ok := strings.CutPrefix(pair.Name, p.Name+"[")
		if !ok {
			continue
		}
		rest, closed := strings.CutSuffix(rest, "]")
		if !closed {
			return nil, true, malformedError("an object, written " + p.Name + "[name]=value")
		}
		plain, err := url.QueryUnescape(pair.Value)
		if err != nil {
			return nil, true, malformedError("percent-encoded text")
		}
		if !p.Kind.put(object, strings.Split(rest, "]["), plain) {
			return nil, true, malformedError("an object, written " + p.Name + "[name]=value, each name once")
		}
	}
	return object, len(object) > 0, nil
}

// put sets the member at a path of names. It returns false if it cannot, for example because the member is set already; setting an array again adds an
// item.
func (k *valueType) put(object map[string]any, path []string, text string) bool {
	if len(path) > maxNesting {
		return false
	}
	var member *valueType
	if k != nil {
		member = k.Members[path[0]]
	}
	old, there := object[path[0]]
	if len(path) > 1 && !(len(path) == 2 && path[1] == "" && member.isList()) {
		inner, ok := old.(map[string]any)
		if there && !ok {
			return false
		}
		if !there {
			inner = map[string]any{}
			object[path[0]] = inner
		}
		return member.put(inner, path[1:], text)
	}
	list, isList := old.([]any)
	switch {
	case there && isList:
		object[path[0]] = append(list, member.Item.read(text))
	case there:
		return false
	default:
		object[path[0]] = member.value(text)
	}
	return true
}

// explodedObject reads an exploded object of the style form: each of its members is a parameter.
func (p parameterDecoder) explodedObject(pairs []queryPair) (any, bool, error) {
	object := map[string]any{}
	for _, pair := range pairs {
		if _, known := p.Kind.Members[pair.Name]; !known {
			continue
		}
		plain, err := url.QueryUnescape(pair.Value)
		if err != nil {
			return nil, true, malformedError("percent-encoded text")
		}
		if !p.Kind.put(object, []string{pair.Name}, plain) {
			return nil, true, malformedError("each member once")
		}
	}
	return object, len(object) > 0, nil
}
