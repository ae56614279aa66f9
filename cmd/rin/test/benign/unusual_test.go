package benign_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/cmd/rin/test"
	"github.com/rin-network/rin/conformance"
	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/requirement"
	"github.com/rin-network/rin/conformance/verdict"
	"github.com/rin-network/rin/sandbox"
)

// front wraps a sandbox and changes good JSON answers whose path has the suffix.
type front struct {
	node http.Handler
	// edit changes the value of a good answer.
	edit func(path string, value any) any
	// before may answer instead of the node; it reports whether it has answered.
	before func(w http.ResponseWriter, r *http.Request) bool
}

func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if f.before != nil && f.before(w, r) {
		return
	}
	inner := r.Clone(r.Context())
	inner.Header.Del("Accept-Encoding")
	if r.Method == http.MethodHead {
		inner.Method = http.MethodGet // for the length of what is changed
	}
	recorded := httptest.NewRecorder()
	f.node.ServeHTTP(recorded, inner)
	body := recorded.Body.Bytes()
	var value any
	if recorded.Code == http.StatusOK && json.Unmarshal(body, &value) == nil && f.edit != nil && !strings.Contains(r.URL.Path, "token") {
		if changed, err := json.Marshal(f.edit(r.URL.Path, value)); err == nil {
			body = changed
		}
	}
	for name, values := range recorded.Header() {
		w.Header()[name] = values
	}
	w.Header().Del("ETag")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(recorded.Code)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that is gone needs no answer
	}
}

// certifyBehind certifies a good node behind a front.
func certifyBehind(ctx context.Context, f front) *evidence.Log {
	GinkgoHelper()
	node, err := sandbox.New(goodConfig())
	Expect(err).NotTo(HaveOccurred())
	f.node = node
	server := httptest.NewServer(f)
	defer server.Close()
	t, err := test.FullTarget(server.URL, node, now())
	Expect(err).NotTo(HaveOccurred())
	t.Seed, err = test.Seed(os.Getenv)
	Expect(err).NotTo(HaveOccurred())
	result, err := conformance.Certify(ctx, t, conformance.Options{Inputs: conformance.Inputs{Suite: "test", Clock: now}})
	Expect(err).NotTo(HaveOccurred())
	Expect(result.Log.Ended.Complete).To(BeTrue(), result.Log.Ended.Cause)
	return result.Log
}

// isDocument reports whether the interface document has this path.
func isDocument(path string) bool { return strings.HasSuffix(path, "/funding/v3/api-docs") }

// isList reports whether the list of funding calls has this path.
func isList(path string) bool { return strings.HasSuffix(path, "/funding/v3/fundings") }

// operationsOf returns the operations of a document.
func operationsOf(document any) []map[string]any {
	var found []map[string]any
	top, _ := document.(map[string]any)
	paths, _ := top["paths"].(map[string]any)
	for _, item := range paths {
		methods, _ := item.(map[string]any)
		for _, operation := range methods {
			if o, ok := operation.(map[string]any); ok {
				found = append(found, o)
			}
		}
	}
	return found
}

// toOpenAPI31 translates a document of OpenAPI 3.0 to 3.1, in which schemas are those of JSON Schema 2020-12.
func toOpenAPI31(value any) any {
	switch value := value.(type) {
	case []any:
		for i := range value {
			value[i] = toOpenAPI31(value[i])
		}
	case map[string]any:
		for name := range value {
			value[name] = toOpenAPI31(value[name])
		}
		if properties, ok := value["properties"].(map[string]any); ok && properties["website"] != nil {
			properties["website"] = map[string]any{"type": []any{"string", "null", "array"}, "items": map[string]any{"type": []any{"string"}}}
		}
		if kind, isText := value["type"].(string); isText && value["nullable"] == true {
			value["type"] = []any{kind, "null"}
			if words, has := value["enum"].([]any); has {
				value["enum"] = append(words, nil)
			}
		}
		if _, isText := value["type"].(string); isText || value["nullable"] != nil {
			if _, flag := value["nullable"].(bool); flag {
				delete(value, "nullable")
			}
		}
		if value["exclusiveMinimum"] == true {
			value["exclusiveMinimum"] = value["minimum"]
			delete(value, "minimum")
		}
	}
	return value
}

// describeRemarks describes the outcomes that are neither pass nor not applicable.
func describeRemarks(log *evidence.Log) string {
	var b strings.Builder
	for _, r := range judge(log, requirement.Full).Requirements {
		switch r.Outcome {
		case requirement.Pass, requirement.NotApplicable:
		default:
			fmt.Fprintf(&b, "%s is %s: %s (expected %s, got %s)\n", r.ID, r.Outcome, r.Reason, r.Expected, r.Got)
		}
	}
	return b.String()
}

var _ = Describe("A correct node with an unusual document or few calls", func() {
	It("is judged alike if its document is OpenAPI 3.1", func(ctx SpecContext) {
		log := certifyBehind(ctx, front{edit: func(path string, value any) any {
			if isList(path) {
				if items, _ := value.([]any); len(items) > 0 {
					items[0].(map[string]any)["website"] = nil
				}
			}
			if !isDocument(path) {
				return value
			}
			document, _ := toOpenAPI31(value).(map[string]any)
			document["openapi"], document["jsonSchemaDialect"] = "3.1.0", "https://spec.openapis.org/oas/3.1/dialect/base"
			document["webhooks"] = map[string]any{"newFunding": map[string]any{"post": map[string]any{
				"responses": map[string]any{"200": map[string]any{"description": "It was taken."}},
			}}}
			return document
		}})
		Expect(describeRemarks(log)).To(BeEmpty())
		Expect(judge(log, requirement.Full).Verdict.Decision).To(Equal(verdict.Certified))
		Expect(log.Document).NotTo(BeNil())
		for _, r := range judge(log, requirement.Full).Requirements {
			if r.ID == "SPC-07" || r.ID == "API-05" || r.ID == "API-07" {
				Expect(r.Outcome).To(Equal(requirement.Pass), string(r.ID))
			}
		}
	})

	It("is certified if its document describes only path parameters", func(ctx SpecContext) {
		log := certifyBehind(ctx, front{edit: func(path string, value any) any {
			if isDocument(path) {
				for _, o := range operationsOf(value) {
					parameters, _ := o["parameters"].([]any)
					var kept []any
					for _, p := range parameters {
						if parameter, _ := p.(map[string]any); parameter["in"] == "path" {
							kept = append(kept, p)
						}
					}
					o["parameters"] = kept
					if kept == nil {
						delete(o, "parameters")
					}
				}
			}
			return value
		}})
		Expect(describeRemarks(log)).To(BeEmpty())
		Expect(judge(log, requirement.Full).Verdict.Decision).To(Equal(verdict.Certified))
	})

	It("is certified if the schemas of its document allow anything, and the headline says what was compared with nothing", func(ctx SpecContext) {
		log := certifyBehind(ctx, front{edit: func(path string, value any) any {
			if !isDocument(path) {
				return value
			}
			for _, operation := range operationsOf(value) {
				responses, _ := operation["responses"].(map[string]any)
				for _, response := range responses {
					described, _ := response.(map[string]any)
					content, _ := described["content"].(map[string]any)
					for mediaType := range content {
						content[mediaType] = map[string]any{"schema": map[string]any{}}
					}
				}
			}
			return value
		}})
		funding := judge(log, requirement.Funding)
		Expect(funding.Verdict.Decision).To(Equal(verdict.Certified), describeRemarks(log))
		Expect(funding.Verdict.Headline).To(Equal("Certified for profile funding; compared with nothing: GET /funding/v3/fundings, GET /funding/v3/fundings/{id}"))
		Expect(judge(log, requirement.Auth).Verdict.Headline).To(Equal("Certified for profile auth"))
	})

	DescribeTable("has few calls",
		func(ctx SpecContext, calls int, decision verdict.Decision, remark, says string) {
			few := func(path string, value any) any {
				if items, ok := value.([]any); ok && isList(path) {
					return items[:min(calls, len(items))]
				}
				return value
			}
			log := certifyBehind(ctx, front{edit: few})
			report := judge(log, requirement.Full)
			for _, r := range report.Requirements {
				Expect(r.Outcome).NotTo(Equal(requirement.Fail), "%s: %s", r.ID, r.Reason)
			}
			Expect(report.Verdict.Decision).To(Equal(decision))
			Expect(describeRemarks(log)).To(ContainSubstring(remark))
			Expect(report.Verdict.Headline + "\n" + strings.Join(report.Notes, "\n")).To(ContainSubstring(says))
		},
		Entry("none", 0, verdict.Repeat, "PAG-08 is blocked: GET /funding/v3/fundings/{id} was not sent: the list /funding/v3/fundings holds no item to take the id from",
			"Not certified for profile full yet: publish one test call"),
		Entry("one", 1, verdict.Certified, "", "Paging was not seen: the list has 1 item, too few for two pages."))

	It("fails if it redirects anonymous callers of info to a login, and the reason says so", func(ctx SpecContext) {
		log := certifyBehind(ctx, front{before: func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/login" {
				w.Header().Set("Content-Type", "text/html")
				_, _ = fmt.Fprint(w, "<!DOCTYPE html><title>Sign in</title><form><input name=user></form>")
				return true
			}
			if !strings.Contains(r.URL.Path, "/info/v1/oauth/info") || r.Header.Get("Authorization") != "" {
				return false
			}
			http.Redirect(w, r, "/login", http.StatusFound)
			return true
		}})
		Expect(describeRemarks(log)).To(ContainSubstring("most likely a login"))
		Expect(judge(log, requirement.Full).Requirements).To(ContainElement(And(HaveField("ID", requirement.ID("BRR-01")), HaveField("Outcome", requirement.Fail))))
	})
})
