package parameter

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

func itoa(i int) string { return strconv.Itoa(i) }

// read gives a text the type that its kind allows: a number or truth value where that is allowed and the text is one, else a string.
func (k *Kind) read(text string) any {
	switch {
	case (k.is("integer") || k.is("number") || k.any() && !leadingZero(text)) && isNumber(text):
		return json.Number(text)
	case (k.is("boolean") || k.any()) && (text == "true" || text == "false"):
		return text == "true"
	case k.is("null") && (text == "null" || text == "" && !k.is("string")):
		return nil
	}
	return text
}

// leadingZero tells a text that is hardly meant as a number: an id of digits.
func leadingZero(text string) bool { return len(text) > 1 && text[0] == '0' }

// Plain tells whether a number is cheap to reckon with: a few characters may stand for a thousand million digits.
func Plain(number string) bool {
	f, err := strconv.ParseFloat(number, 64)
	return len(number) <= maxDigits && err == nil && (f == 0 || f > 1e-300 || f < -1e-300)
}

// maxDigits bounds numbers, that reckoning with them stays cheap.
const maxDigits = 64

func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || text[0] >= '0' && text[0] <= '9') && Plain(text) && json.Valid([]byte(text))
}

// items reads texts as the items of an array.
func (k *Kind) items(texts []string) any {
	var item *Kind
	if k != nil {
		item = k.Item
	}
	list := make([]any, len(texts))
	for i, text := range texts {
		list[i] = item.read(text)
	}
	return list
}

// pairs reads names and values in turns as an object; ok is false when one is left over.
func (k *Kind) pairs(texts []string) (object any, ok bool) {
	members := map[string]any{}
	for i := 0; i+1 < len(texts); i += 2 {
		members[texts[i]] = k.Members[texts[i]].value(texts[i+1])
	}
	return members, len(texts)%2 == 0
}

// assigned reads texts of the form name=value as an object.
func (k *Kind) assigned(texts []string) (object any, ok bool) {
	members := map[string]any{}
	for _, text := range texts {
		name, value, found := strings.Cut(text, "=")
		if !found {
			return nil, false
		}
		members[name] = k.Members[name].value(value)
	}
	return members, true
}

// value reads one text that is not taken apart; of a member that is an array it is the one item.
func (k *Kind) value(text string) any {
	if k.list() {
		return k.items([]string{text})
	}
	return k.read(text)
}

// decoded removes the escapes of texts; ok is false when one has a wrong one.
func decoded(texts []string, unescape func(string) (string, error)) (plain []string, ok bool) {
	plain = make([]string, len(texts))
	for i, text := range texts {
		var err error
		if plain[i], err = unescape(text); err != nil {
			return nil, false
		}
	}
	return plain, true
}

func pathUnescape(text string) (string, error)  { return url.PathUnescape(text) }
func queryUnescape(text string) (string, error) { return url.QueryUnescape(text) }
func asItIs(text string) (string, error)        { return text, nil }
