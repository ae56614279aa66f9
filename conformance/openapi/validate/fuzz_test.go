package validate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

// FuzzRings builds documents whose five schemas refer to one another, and checks that judging ends for each of them.
func FuzzRings(f *testing.F) {
	f.Add([]byte{0x01, 0x12, 0x23, 0x34, 0x40, 0x51, 0x62})
	f.Add([]byte("oneOf allOf discriminator nullable properties not"))
	f.Fuzz(func(t *testing.T, shape []byte) {
		ways := []string{
			`"allOf":[{"$ref":%q}]`, `"oneOf":[{"$ref":%q}]`, `"anyOf":[{"$ref":%q},{"type":"string"}]`, `"not":{"not":{"$ref":%q}}`,
			`"properties":{"a":{"$ref":%q}}`, `"nullable":true,"allOf":[{"type":"object"},{"$ref":%q}]`, `"items":{"$ref":%q}`,
			`"oneOf":[{"$ref":%q}],"discriminator":{"propertyName":"k"}`, `"discriminator":{"propertyName":"k","mapping":{"x":%q}}`,
			`"allOf":[{"nullable":true,"anyOf":[{"$ref":%q}]}]`, `"properties":{"a":{"allOf":[{"$ref":%q}]}}`,
		}
		const n = 5
		parts := [n][]string{}
		for i, b := range shape[:min(len(shape), 15)] {
			way := fmt.Sprintf(ways[int(b)%len(ways)], fmt.Sprintf("#/components/schemas/S%d", int(b)/len(ways)%n))
			parts[i%n] = append(parts[i%n], way)
		}
		var schemas []string
		for i, list := range parts {
			schemas = append(schemas, fmt.Sprintf(`"S%d":{%s}`, i, strings.Join(list, ",")))
		}
		for _, version := range []string{"3.0.3", "3.1.0"} {
			doc := openapi.Guard([]byte(spec(version, `{"$ref":"#/components/schemas/S0"}`, "{"+strings.Join(schemas, ",")+"}")), openapi.Limits{})
			if doc.Refused != "" {
				t.Fatal(doc.Refused)
			}
			judge, err := validate.NewJudge(doc)
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := openapi.Parse(doc.Reduced)
			if err != nil {
				t.Fatal(err)
			}
			for _, body := range []string{`{"a":{"a":{"k":"x"}},"k":"S1"}`, `null`, `[{"k":"S2"}]`, `"s"`} {
				found := judge.Annotate(answer(200, "application/json", body), parsed.Operations[0])
				if !found.Judged && !strings.HasPrefix(found.Why, "no schema") {
					t.Fatalf("%s: %s", found.Why, doc.Reduced)
				}
			}
		}
	})
}

// FuzzJudge checks for any schema and body that judging ends, gives the same result twice, and bounds the findings.
func FuzzJudge(f *testing.F) {
	f.Add(`{"type":"array","items":{"$ref":"#/components/schemas/A"}}`, `{"A":{"required":["id"],"properties":{"id":{"type":"string","pattern":"^(?!x)"}}}}`, `[{"id":1},{}]`)
	f.Add(`{"$ref":"#/components/schemas/A"}`, `{"A":{"oneOf":[{"$ref":"#/components/schemas/B"}],"discriminator":{"propertyName":"t"}},"B":{"allOf":[{"$ref":"#/components/schemas/A"}]}}`, `{"t":"B"}`)
	f.Add(`{"nullable":true,"allOf":[{"type":"integer","format":"int32","maximum":1e999999999}]}`, `{}`, `1e999999999`)
	f.Add(`{"not":{"not":{}},"if":true,"then":{"anyOf":[{"type":"null"},{"enum":[1,"a"]}]}}`, `{}`, `"b"`)
	f.Fuzz(func(t *testing.T, schema, schemas, body string) {
		for _, version := range []string{"3.0.3", "3.1.0"} {
			doc := openapi.Guard([]byte(spec(version, schema, schemas)), openapi.Limits{Size: 1 << 16})
			if doc.Refused != "" {
				continue
			}
			judge, err := validate.NewJudge(doc)
			if err != nil {
				t.Fatal(err)
			}
			parsed, err := openapi.Parse(doc.Reduced)
			if err != nil || len(parsed.Operations) == 0 {
				continue
			}
			once := judge.Annotate(answer(200, "application/json", body), parsed.Operations[0])
			twice := judge.Annotate(answer(200, "application/json", body), parsed.Operations[0])
			a, errA := json.Marshal(once)
			b, errB := json.Marshal(twice)
			if errA != nil || errB != nil || !bytes.Equal(a, b) {
				t.Fatalf("not stable: %s %s", a, b)
			}
			if len(once.Findings) > 200 || once.Total < len(once.Findings) {
				t.Fatalf("%d findings of %d", len(once.Findings), once.Total)
			}
			if strings.Contains(once.Why, "library failed") {
				t.Fatal(once.Why)
			}
			for _, found := range once.Findings {
				if found.Kind == "" || found.Path == "" || found.Expected == "" || found.Got == "" {
					t.Fatalf("incomplete finding %+v", found)
				}
			}
		}
	})
}
