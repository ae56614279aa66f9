package openapi

import (
	"crypto/sha256"
	"encoding/json"
	"strconv"

	"github.com/rin-network/rin/conformance/document"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// listed is an item of a list as text. One that was judged before and is as described need not be read again.
type listed struct {
	text  []byte
	key   itemKey
	good  bool
	steps int // it took to see that
}

// wellFormed cuts a list in its items; ok is false when it breaks off, is no JSON, or is too long to be held. single says that the items
// are judged by the schema of the whole.
func (a *annotation) wellFormed(single bool) (items []listed, ok bool) {
	if a.answer.Truncated {
		return nil, false
	}
	texts, whole := document.Split(a.answer.Body)
	if !whole {
		return nil, false
	}
	items = make([]listed, len(texts))
	for i, text := range texts {
		item := listed{text: text, key: itemKey{a.schema, single, sha256.Sum256(text)}}
		item.steps, item.good = a.judge.memory.recallItem(item.key)
		if !item.good && !json.Valid(text) {
			return nil, false
		}
		items[i] = item
	}
	return items, true
}

// judgeUnknown judges the items that were not seen before. The others count with the steps that they took, so that it does not matter
// which answer came first.
func (a *annotation) judgeUnknown(c *compiled, schema *jsonschema.Schema, items []listed) error {
	var fault error
	for i, item := range items {
		a.out.Items = i
		if item.good {
			if c.meter.body -= item.steps; c.meter.body < 0 && fault == nil {
				fault = judgeFault{errSteps}
			}
			continue
		}
		r := reader{dec: newDecoder(item.text), plain: plain(item.text)}
		value, err := r.value(1)
		if err != nil {
			return err
		}
		found, err := c.apply(schema, value)
		switch {
		case err != nil && fault == nil:
			fault = judgeFault{err}
		case err == nil && len(found) == 0:
			a.judge.memory.keepItem(item.key, stepsPerValue-c.meter.value)
		}
		a.add(found, strconv.Itoa(i))
	}
	a.out.Items = len(items)
	return fault
}
