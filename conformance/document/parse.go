package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// schemaBudget bounds the schema nodes that one document may unfold to: references let a short text describe a huge tree.
const schemaBudget = 200_000

// ErrNoObject says that the text is JSON, but no object.
var ErrNoObject = errors.New("an API document must be one JSON object")

// Parse reads what is there, also from an invalid document: a missing or mistyped part is left empty. It fails only when the text is
// no JSON object. Of repeated member names the last one counts, as in the guard.
func Parse(reduced []byte) (*Document, error) {
	dec := json.NewDecoder(bytes.NewReader(reduced))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, fmt.Errorf("read API document: %w", err)
	}
	if _, err := dec.Token(); err == nil {
		return nil, errors.New("read API document: more text follows the JSON value")
	}
	root, ok := value.(map[string]any)
	if !ok {
		return nil, ErrNoObject
	}
	d := &Document{root: root, budget: schemaBudget}
	d.index()
	d.readHead()
	d.readServers()
	d.readSecurity()
	d.readOperations(pathOrder(reduced))
	return d, nil
}

func (d *Document) readHead() {
	d.Version = text(d.root["openapi"])
	if d.Version == "" {
		d.Version = text(d.root["swagger"])
	}
	info, _ := d.root["info"].(map[string]any)
	d.Title, d.APIVersion = text(info["title"]), text(info["version"])
}

// swagger tells a Swagger 2.0 document.
func (d *Document) swagger() bool {
	return d.root["openapi"] == nil && strings.HasPrefix(text(d.root["swagger"]), "2")
}

// pathOrder lists the keys of "paths" as they stand in the text, which a Go map forgets.
func pathOrder(reduced []byte) []string {
	dec := json.NewDecoder(bytes.NewReader(reduced))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var order []string
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return order
		}
		if key != "paths" {
			var skip json.RawMessage
			if dec.Decode(&skip) != nil {
				return order
			}
			continue
		}
		order = objectKeys(dec)
	}
	return order
}

// objectKeys reads one value and returns its keys if it is an object.
func objectKeys(dec *json.Decoder) []string {
	var value json.RawMessage
	if dec.Decode(&value) != nil || len(value) == 0 || value[0] != '{' {
		return nil
	}
	inner := json.NewDecoder(bytes.NewReader(value))
	_, _ = inner.Token() // the brace just seen
	var keys []string
	for inner.More() {
		key, err := inner.Token()
		if err != nil {
			return keys
		}
		if name, ok := key.(string); ok {
			keys = append(keys, name)
		}
		var skip json.RawMessage
		if inner.Decode(&skip) != nil {
			return keys
		}
	}
	return keys
}

// text reads a string; versions are sometimes written as numbers.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	}
	return ""
}

func isTrue(value any) bool { b, ok := value.(bool); return ok && b }

func texts(value any) []string {
	list, _ := value.([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
