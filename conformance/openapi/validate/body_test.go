package validate

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// bodies returns JSON texts, valid and invalid, and whether each is within the bounds.
func bodies() map[string]bool {
	return map[string]bool{
		`[{"id":1,"name":"a, b: [c] {d} \" e5","ok":true,"none":null,"list":[ ],"map":{}},{"id":-2.50}]`: true,
		`{"a":1,"a":2}`:                      true,
		`[1e5]`:                              true,
		`{"a":"1e5"}`:                        true,
		"[\"\xff\xfe\"]":                     true,
		`[1,2`:                               true,
		`[1] x`:                              true,
		`[`:                                  true,
		``:                                   true,
		`"\`:                                 true,
		`[0.1E-9999999]`:                     true,
		`["a" "b"]`:                          true,
		`[{"a":1},{"a":]`:                    true,
		"[\"\\ud800\", 1]":                   true,
		"[" + strings.Repeat("7", 500) + "]": true,
		strings.Repeat("[", 500) + strings.Repeat("]", 500):                     true,
		strings.Repeat("[", 501) + strings.Repeat("]", 501):                     false,
		"[" + strings.Repeat("[1,2],", maxValues/4) + "0]":                      true,
		"[" + strings.Repeat("[1,2],", maxValues/2) + "0]":                      false,
		"[[" + strings.Repeat("1,", maxValues) + "0]]":                          false,
		`{"a":` + strings.Repeat(`{"a":`, 600) + `1` + strings.Repeat(`}`, 601): false,
	}
}

func TestMeasure(t *testing.T) {
	for body, want := range bodies() {
		size := measure([]byte(body))
		if got := size.values <= maxValues && size.levels <= maxLevels; got != want {
			t.Errorf("within the bounds is %v for %.80q: %+v", got, body, size)
		}
		sameAsDecoded(t, []byte(body))
	}
	for body, want := range map[string]bool{`[1e5]`: true, `[0.1E-9999999]`: true, "[" + strings.Repeat("7", 500) + "]": true, `["1e5",true,false]`: false} {
		if got := measure([]byte(body)).expensive; got != want {
			t.Errorf("expensive is %v for %.80q", got, body)
		}
	}
}

// sameAsDecoded compares the measured size of JSON with that of the decoded value.
func sameAsDecoded(t *testing.T, body []byte) {
	t.Helper()
	values, levels, level := 0, 0, 0
	keys := []bool{} // for each level, whether it is an object whose next string is a key
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber()
	if !json.Valid(body) {
		return
	}
	for {
		token, err := dec.Token()
		if err != nil {
			break
		}
		delim, _ := token.(json.Delim)
		if delim == ']' || delim == '}' {
			level--
			keys = keys[:level]
			continue
		}
		if level > 0 && keys[level-1] {
			if _, key := token.(string); key {
				if value, err := dec.Token(); err == nil {
					token = value
				}
				delim, _ = token.(json.Delim)
			}
		}
		values++
		if delim != 0 {
			level++
			levels = max(levels, level)
			keys = append(keys, delim == '{')
		}
	}
	if size := measure(body); size.values != values || size.levels != levels {
		t.Errorf("%.80q has %d values in %d levels, measured %+v", body, values, levels, size)
	}
}

func FuzzMeasure(f *testing.F) {
	for body := range bodies() {
		f.Add([]byte(body[:min(len(body), 2000)]))
	}
	f.Fuzz(sameAsDecoded)
}
