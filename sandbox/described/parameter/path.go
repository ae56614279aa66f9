package parameter

import "strings"

// path reads the styles of the path: simple "5", label ".5", matrix ";id=5".
func (p Parameter) path(text string) (any, bool, error) {
	switch p.Style {
	case "label":
		rest, ok := strings.CutPrefix(text, ".")
		if !ok {
			return nil, true, malformed("a dot before the value, ." + text)
		}
		if p.Explode {
			return p.split(rest, ".")
		}
		return p.split(rest, ",")
	case "matrix":
		return p.matrix(text)
	}
	return p.simple(text, pathUnescape)
}

// split takes a text apart at a separator, when it is a list or an object.
func (p Parameter) split(text, separator string) (any, bool, error) {
	texts := []string{text}
	if p.Kind.list() || p.Kind.object() {
		texts = strings.Split(text, separator)
	}
	texts, ok := decoded(texts, pathUnescape)
	if !ok {
		return nil, true, malformed("percent-encoded text")
	}
	return p.assemble(texts)
}

// matrix reads ";id=5", ";id=3,4", ";id=3;id=4", and objects as ";id=r,100" or ";r=100".
func (p Parameter) matrix(text string) (any, bool, error) {
	rest, ok := strings.CutPrefix(text, ";")
	if !ok {
		return nil, true, malformed(";" + p.Name + "= before the value")
	}
	if p.Explode && p.Kind.object() {
		return p.split(rest, ";")
	}
	parts := strings.Split(rest, ";")
	var texts []string
	for _, part := range parts {
		name, value, _ := strings.Cut(part, "=")
		if name != p.Name {
			return nil, true, malformed(";" + p.Name + "= before the value")
		}
		texts = append(texts, value)
	}
	if p.Explode && p.Kind.list() {
		plain, ok := decoded(texts, pathUnescape)
		if !ok {
			return nil, true, malformed("percent-encoded text")
		}
		return p.Kind.items(plain), true, nil
	}
	if len(texts) > 1 {
		return nil, true, malformed("one value, ;" + p.Name + "=")
	}
	return p.split(texts[0], ",")
}
