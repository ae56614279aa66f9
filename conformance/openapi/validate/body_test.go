package validate

import (
	"reflect"
	"strings"
	"testing"
)

// bodies are of both kinds.
func bodies() map[string]bool {
	return map[string]bool{
		`[{"id":1,"name":"a, b: [c] {d} \" e5","ok":true,"none":null,"list":[],"map":{}},{"id":-2.50}]`: true,
		`{"a":1,"a":2}`:                      true,
		`[1e5]`:                              false,
		`{"a":"1e5"}`:                        true,
		`[true,false]`:                       true,
		"[\"\xff\xfe\"]":                     true,
		`[1,2`:                               true,
		`[1] x`:                              true,
		`[`:                                  true,
		``:                                   true,
		`"\`:                                 true,
		`[0.1E-9999999]`:                     false,
		`["a" "b"]`:                          true,
		`[{"a":1},{"a":]`:                    true,
		"[\"\\ud800\", 1]":                   true,
		"[" + strings.Repeat("7", 500) + "]": false,
		strings.Repeat("[", 500) + strings.Repeat("]", 500):                     true,
		strings.Repeat("[", 501) + strings.Repeat("]", 501):                     false,
		"[" + strings.Repeat("[1,2],", maxValues/4) + "0]":                      true,
		"[" + strings.Repeat("[1,2],", maxValues/2) + "0]":                      false,
		"[[" + strings.Repeat("1,", maxValues) + "0]]":                          false,
		`{"a":` + strings.Repeat(`{"a":`, 600) + `1` + strings.Repeat(`}`, 601): false,
	}
}

func TestPlain(t *testing.T) {
	for body, want := range bodies() {
		if isPlain([]byte(body)) != want {
			t.Errorf("plain is %v for %.80q", !want, body)
		}
		sameEitherWay(t, []byte(body))
	}
}

// sameEitherWay reads a plain body by encoding/json and value by value.
func sameEitherWay(t *testing.T, body []byte) {
	t.Helper()
	if !isPlain(body) {
		return
	}
	read := func(plain bool) (any, bool) {
		r := reader{dec: newDecoder(body), plain: plain}
		value, err := r.value(0)
		return value, err == nil
	}
	fast, fastRead := read(true)
	careful, carefulRead := read(false)
	if fastRead != carefulRead || fastRead && !reflect.DeepEqual(fast, careful) {
		t.Errorf("%.80q is read as %v (%v), and value by value as %v (%v)", body, fast, fastRead, careful, carefulRead)
	}
}

func FuzzPlain(f *testing.F) {
	for body := range bodies() {
		f.Add([]byte(body[:min(len(body), 2000)]))
	}
	f.Fuzz(sameEitherWay)
}
