package openapi_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rin-network/rin/conformance/openapi"
)

// FuzzEachMember checks that each visited member is a part of the text, and that its pointer ends in its name.
func FuzzEachMember(f *testing.F) {
	for _, seed := range []string{
		`{"a":{"b/c":1},"d":[{"e":null}, 2]}`, `{"a":1,"\u0061":2}`, `{"~":{"/":{"":0}}}`, `[[[[{"a":`, `{"a"`, "{\"\xff\":1,\"\xfe\":2}",
		strings.Repeat(`{"a":`, 100) + "1" + strings.Repeat("}", 100), `{"id":["a",{"id":7}]}`, "\xef\xbb\xbf{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		openapi.EachMember(text, func(pointer, name string, value []byte) {
			if !bytes.Contains(text, value) || !strings.HasSuffix(pointer, "/"+openapi.Escape(name)) {
				t.Fatalf("%q holds %q at %q", text, value, pointer)
			}
		})
		if json.Valid(text) {
			for _, pointer := range openapi.RepeatedMembers(text) {
				var value any
				if json.Unmarshal(text, &value) != nil {
					continue
				}
				if _, found := openapi.Lookup(value, pointer); !found {
					t.Fatalf("RepeatedMembers of %q contains %q, which does not exist", text, pointer)
				}
			}
		}
		_ = openapi.Object(text)
		if list, ok := openapi.ReadList(text); ok {
			if ids := openapi.Identities(list.Items); len(ids) != len(list.Items) {
				t.Fatalf("%d identities of %d items", len(ids), len(list.Items))
			}
		}
	})
}

// FuzzPages checks that a walk ends and requests no page twice, whatever the pages hold.
func FuzzPages(f *testing.F) {
	f.Add([]byte("abcdefghij"), []byte("abc defghij"), uint8(2), 0)
	f.Add([]byte("aaaa"), []byte("a a a a a a a"), uint8(0), 1)
	f.Add([]byte(""), []byte("x"), uint8(0), -5)
	f.Fuzz(func(t *testing.T, list, pages []byte, extra uint8, least int) {
		size := 1 + int(extra) // the suite requests at least one item
		p := openapi.Pages{Size: size, Minimum: least, ByValue: map[int]openapi.Page{}}
		for _, id := range list {
			p.Unpaged = append(p.Unpaged, string(id))
		}
		answers := bytes.Fields(pages)
		for n := 0; ; n++ {
			value, more := p.Next()
			if !more {
				break
			}
			if _, again := p.ByValue[value]; again || n > 20 {
				t.Fatalf("asked for %d after %v", value, p.ByValue)
			}
			page := openapi.Page{Listed: n < len(answers)}
			if page.Listed {
				for _, id := range answers[n] {
					page.Items = append(page.Items, string(id))
				}
			}
			p.ByValue[value] = page
		}
		values, _ := p.Walked()
		if !slices.IsSorted(values) && p.Meaning() != openapi.Ignored {
			t.Fatalf("walked %v", values)
		}
		_ = p.Faults()
	})
}

// FuzzGuard checks that Guard never panics, and that the document it returns is JSON, holds no foreign reference, and is not changed by guarding it again.
func FuzzGuard(f *testing.F) {
	for _, seed := range []string{
		spec("3.0.1", `{"$ref":"#/components/schemas/A"}`, `{"A":{"type":"object","properties":{"example":{"$ref":"http://a.example/"}}}}`),
		spec("3.1.0", `{"$dynamicRef":"http://a.example/","$id":"http://a.example/"}`, `{"A":{"$ref":"#/components/schemas/A"}}`),
		`{"swagger":"2.0","paths":{"/a":{"get":{"responses":{"200":{"schema":{"$ref":"x.json"}}}}}}}`,
		"\xef\xbb\xbf{\"a\":1,\"a\":\"\\ud800\"}", `<html>`, "openapi: 3", `{"mapping":{"a":"http://b"},"discriminator":{"mapping":{"a":"http://b"}}}`,
		"{\"\xff\":1,\"\xfe\":2}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		doc := openapi.Guard(body, openapi.Limits{Size: 1 << 20})
		if doc.Refused != "" {
			if doc.Reduced != nil {
				t.Fatal("the document is refused, and a reduced copy is returned")
			}
			return
		}
		if !json.Valid(doc.Reduced) {
			t.Fatalf("not JSON: %s", doc.Reduced)
		}
		parsed, err := openapi.Parse(doc.Reduced)
		if err != nil {
			t.Fatal(err)
		}
		for _, ref := range parsed.Refs() {
			if !strings.HasPrefix(ref.Target, "#") {
				t.Fatalf("foreign reference %q", ref.Target)
			}
		}
		again := openapi.Guard(doc.Reduced, openapi.Limits{})
		if again.Refused != "" || len(again.Removed) > 0 || !bytes.Equal(again.Reduced, doc.Reduced) {
			t.Fatalf("guarding twice changes the document:\n%s\n%s %v %s", doc.Reduced, again.Reduced, again.Removed, again.Refused)
		}
	})
}
