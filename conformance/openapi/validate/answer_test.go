package validate_test

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
	"github.com/rin-network/rin/conformance/openapi/validate"
)

// answer returns an exchange with one answer; an empty media type means no Content-Type field.
func answer(status int, media, body string) evidence.Exchange {
	x := evidence.Exchange{
		Label:    "op/test.ok",
		Request:  evidence.Request{Method: "GET", URL: "http://node.example/test"},
		Response: &evidence.Response{Status: status, Body: evidence.Body(body), Size: int64(len(body))},
	}
	if media != "" {
		x.Response.Header = []evidence.Field{{Name: "Content-Type", Value: media}}
	}
	return x
}

func ofKind(f evidence.SchemaFindings, kind evidence.FindingKind) []evidence.Finding {
	var out []evidence.Finding
	for _, found := range f.Findings {
		if found.Kind == kind {
			out = append(out, found)
		}
	}
	return out
}

// spec writes a document with one operation; schema and schemas are JSON.
func spec(version, schema, schemas string) string {
	return fmt.Sprintf(`{"openapi":%q,"info":{"title":"t","version":"1"},
		"paths":{"/things":{"get":{"operationId":"test","responses":{"200":{"description":"ok","content":{"application/json":{"schema":%s}}}}}}},
		"components":{"schemas":%s}}`, version, schema, schemas)
}

// annotateBody judges a body by the first operation of a document.
func annotateBody(doc, body string) evidence.SchemaFindings {
	GinkgoHelper()
	return annotate(doc, answer(200, "application/json", body))
}

func annotate(doc string, x evidence.Exchange) evidence.SchemaFindings {
	GinkgoHelper()
	guarded := openapi.Guard([]byte(doc), openapi.Limits{})
	Expect(guarded.Refused).To(BeEmpty())
	judge, err := validate.NewJudge(guarded)
	Expect(err).NotTo(HaveOccurred())
	parsed, err := openapi.Parse(guarded.Reduced)
	Expect(err).NotTo(HaveOccurred())
	Expect(parsed.Operations).NotTo(BeEmpty())
	f := judge.Annotate(x, parsed.Operations[0])
	_, err = json.Marshal(f)
	Expect(err).NotTo(HaveOccurred())
	return f
}

// lines returns each finding as one line: "kind path: want expected, got what came".
func lines(f evidence.SchemaFindings) []string {
	out := []string{}
	for _, found := range f.Findings {
		out = append(out, fmt.Sprintf("%s %s: want %s, got %s", found.Kind, found.Path, found.Expected, found.Got))
	}
	return out
}
