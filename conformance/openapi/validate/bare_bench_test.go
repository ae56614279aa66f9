package validate_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pb33f/libopenapi"
	"github.com/pb33f/libopenapi-validator/config"
	library "github.com/pb33f/libopenapi-validator/responses"

	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

// BenchmarkAnnotateBesideLibrary validates the same bodies with this package and with libopenapi-validator alone, its schemas compiled and
// cached, both in turn (target: at most 1.3 times its time).
func BenchmarkAnnotateBesideLibrary(b *testing.B) {
	// The library does not follow discriminators; without one both check the same.
	schemas := strings.Replace(benchSchemas, `"discriminator":{"propertyName":"type","mapping":{"CALL":"#/components/schemas/Call"}},`, "", 1)
	described := []byte(spec("3.0.3", `{"type":"array","items":{"$ref":"#/components/schemas/Call"}}`, schemas))
	doc := openapi.Guard(described, openapi.Limits{})
	parsed, err := openapi.Parse(doc.Reduced)
	if err != nil {
		b.Fatal(err)
	}
	judge, err := validate.NewJudge(doc)
	if err != nil {
		b.Fatal(err)
	}
	validate := libraryValidator(b, described)
	for _, items := range []int{1, 20, 200} {
		b.Run(map[int]string{1: "item", 20: "page", 200: "list"}[items], func(b *testing.B) {
			var ours, theirs time.Duration
			for i := 0; b.Loop(); i++ {
				body := uniqueItems(benchCall, items, i)
				x := answer(http.StatusOK, "application/json", body)
				started := time.Now()
				if f := judge.Annotate(x, parsed.Operations[0]); !f.Judged || f.Total != 0 {
					b.Fatalf("%+v", f)
				}
				ours += time.Since(started)
				started = time.Now()
				validate(body)
				theirs += time.Since(started)
			}
			ratio := ours.Seconds() / theirs.Seconds()
			b.ReportMetric(ratio, "ours/library")
			if ratio > 1.3 {
				b.Errorf("%.3g times the time of the library alone, the target is at most 1.3", ratio)
			}
		})
	}
}

// libraryValidator returns a function that validates a body with libopenapi-validator, as its documentation shows.
func libraryValidator(b *testing.B, described []byte) func(body string) {
	b.Helper()
	doc, err := libopenapi.NewDocument(described)
	if err != nil {
		b.Fatal(err)
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		b.Fatal(err)
	}
	validator := library.NewResponseBodyValidator(&model.Model, config.WithFormatAssertions())
	request, err := http.NewRequest(http.MethodGet, "http://node.example/things", nil)
	if err != nil {
		b.Fatal(err)
	}
	return func(body string) {
		response := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader([]byte(body)))}
		if ok, faults := validator.ValidateResponseBody(request, response); !ok {
			b.Fatal(faults[0].Message)
		}
	}
}
