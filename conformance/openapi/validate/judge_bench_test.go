package validate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

const benchCall = `{"id":"XA-1","type":"CALL","name":[{"lang":"de","text":"Junge Köpfe"},{"lang":"en","text":"Young Minds"}],
	"stages":[{"start":"2026-01-01T00:00:00Z","end":"2026-06-30T12:00:00+02:00"}],"amount":{"currency":"EUR","amount":250000},
	"subjects":[{"value":"101001","fraction":0.5},{"value":"102019","fraction":0.5}],"funder":{"id":"1","partOf":{"id":"2"}}}`

const benchSchemas = `{
	"Text":{"type":"object","required":["lang","text"],"properties":{"lang":{"enum":["de","en"]},"text":{"type":"string"}}},
	"Unit":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"partOf":{"$ref":"#/components/schemas/Unit"}}},
	"Stage":{"type":"object","required":["start"],"properties":{"start":{"type":"string","format":"date-time"},"end":{"type":"string","format":"date-time"}}},
	"Call":{"allOf":[{"$ref":"#/components/schemas/Funding"},{"type":"object","properties":{"stages":{"type":"array","items":{"$ref":"#/components/schemas/Stage"}},
		"amount":{"type":"object","properties":{"currency":{"type":"string"},"amount":{"type":"number"}}}}}]},
	"Funding":{"type":"object","required":["id","type","name"],"discriminator":{"propertyName":"type","mapping":{"CALL":"#/components/schemas/Call"}},
		"properties":{"id":{"type":"string"},"type":{"type":"string"},"name":{"type":"array","items":{"$ref":"#/components/schemas/Text"}},
		"funder":{"$ref":"#/components/schemas/Unit"},"subjects":{"type":"array","items":{"type":"object","properties":{"value":{"type":"string"},"fraction":{"type":"number"}}}}}}}`

// uniqueItems returns a list whose ids differ from those of all other values of i, because a judge does not judge a known item again.
func uniqueItems(item string, count, i int) string {
	items := make([]string, count)
	for k := range items {
		items[k] = strings.Replace(item, "XA-1", fmt.Sprintf("XA-%d-%d", i, k), 1)
	}
	return "[" + strings.Join(items, ",") + "]"
}

// BenchmarkAnnotate judges a list of 200 fundings, good and with a fault in each item, and reports bytes of the body per second.
func BenchmarkAnnotate(b *testing.B) {
	doc := openapi.Guard([]byte(spec("3.0.3", `{"type":"array","items":{"$ref":"#/components/schemas/Funding"}}`, benchSchemas)), openapi.Limits{})
	parsed, err := openapi.Parse(doc.Reduced)
	if err != nil {
		b.Fatal(err)
	}
	judge, err := validate.NewJudge(doc)
	if err != nil {
		b.Fatal(err)
	}
	for name, item := range map[string]string{"good": benchCall, "faulty": strings.Replace(benchCall, `"start":"2026-01-01T00:00:00Z"`, `"start":"2026-01-01"`, 1)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(uniqueItems(item, 200, 0))))
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				b.StopTimer()
				x := answer(200, "application/json", uniqueItems(item, 200, i))
				b.StartTimer()
				if f := judge.Annotate(x, parsed.Operations[0]); !f.Judged || f.Items != 200 || (f.Total == 0) != (name == "good") {
					b.Fatalf("%+v", f)
				}
			}
		})
	}
}
