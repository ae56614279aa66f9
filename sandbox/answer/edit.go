package answer

import (
	"bytes"
	"encoding/json"
)

// Edit decodes the JSON body, lets change alter it and encodes what it returns. A body that is no JSON stays.
// Numbers keep their spelling.
func (a *Answer) Edit(change func(value any) any) {
	decoder := json.NewDecoder(bytes.NewReader(a.Body))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return
	}
	if encoded, err := json.Marshal(change(value)); err == nil {
		a.Body = encoded
	}
}

// EditObject edits a body that is a JSON object; others stay.
func (a *Answer) EditObject(change func(object map[string]any)) {
	a.Edit(func(value any) any {
		if object, ok := value.(map[string]any); ok {
			change(object)
		}
		return value
	})
}

// EditItems edits each object of a body that is a JSON array; n counts from 0.
func (a *Answer) EditItems(change func(n int, item map[string]any)) {
	a.Edit(func(value any) any {
		items, _ := value.([]any)
		for n, item := range items {
			if object, ok := item.(map[string]any); ok {
				change(n, object)
			}
		}
		return value
	})
}

// Items are the objects of a body that is a JSON array; nil stands for an element that is none.
func (a *Answer) Items() []map[string]any {
	var items []map[string]any
	// What is no such array has no items.
	_ = json.Unmarshal(a.Body, &items)
	return items
}
