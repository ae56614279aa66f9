package evidence

import "encoding/json"

// Object is a JSON object whose members are found by their exact names (RFC 8259 §4 compares names as strings). encoding/json ignores the case of
// names when it decodes into a struct, and takes the extra member ACCESS_TOKEN for access_token.
type Object map[string]json.RawMessage

// ParseObject reads a JSON object; ok is false for everything else, null among it.
func ParseObject(text []byte) (o Object, ok bool) {
	return o, json.Unmarshal(text, &o) == nil && o != nil
}

// Text returns a member that is a string, or "".
func (o Object) Text(name string) string {
	text, _ := o.Value(name).(string)
	return text
}

// Value returns a member as encoding/json decodes it, or nil.
func (o Object) Value(name string) any {
	var value any
	if json.Unmarshal(o[name], &value) != nil {
		return nil
	}
	return value
}

// Objects returns a member that is a list of objects. Elements of another kind are left out.
func (o Object) Objects(name string) []Object { return ParseObjects(o[name]) }

// ParseObjects reads a list of objects; what is not a list has none. Elements of another kind are left out.
func ParseObjects(text []byte) []Object {
	var list []json.RawMessage
	if json.Unmarshal(text, &list) != nil {
		return nil
	}
	var out []Object
	for _, raw := range list {
		if o, ok := ParseObject(raw); ok {
			out = append(out, o)
		}
	}
	return out
}
