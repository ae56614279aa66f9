//go:build e2e

package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rin-network/rin/conformance/evidence"
	"github.com/rin-network/rin/conformance/openapi"
)

// opinions are the objections of two validators to one recorded answer, by place: "status", "media-type", `header "ETag"`, or a place in the body
// such as "/*/id", with * for any position in a list.
type opinions struct {
	answer   evidence.Exchange
	rin, kin map[string]string
}

// evidence reads the evidence of the run.
func (c certification) evidence() *evidence.Log {
	GinkgoHelper()
	file, err := os.Open(filepath.Join(c.dir, "evidence.jsonl.gz"))
	Expect(err).NotTo(HaveOccurred())
	defer file.Close()
	log, err := evidence.ReadLog(file)
	Expect(err).NotTo(HaveOccurred())
	return log
}

// secondOpinions has kin-openapi judge every recorded answer of an operation again. For documents of version 3.1 it judges bodies
// with the library that rin uses, so it checks only how rin reads the document.
func secondOpinions(log *evidence.Log) (out []opinions) {
	GinkgoHelper()
	Expect(log.Document).NotTo(BeNil())
	operations, err := openapi.Parse(log.Document.Reduced)
	Expect(err).NotTo(HaveOccurred())
	other, err := openapi3.NewLoader().LoadFromData(log.Document.Reduced)
	Expect(err).NotTo(HaveOccurred())
	for _, found := range log.Findings {
		x, answered := log.Get(found.Label)
		op, known := operations.Operation(strings.TrimPrefix(string(found.Label.Resource()), string(evidence.OperationResource(""))))
		if answered && known && x.Response != nil {
			out = append(out, opinions{x, rinObjections(found), kinObjections(other, op, x)})
		}
	}
	return out
}

// rinObjections returns the places that rin objected to, with its words.
func rinObjections(f evidence.SchemaFindings) map[string]string {
	byPlace := map[string]string{}
	for _, found := range f.Findings {
		said := fmt.Sprintf("expected %s, got %s", found.Expected, found.Got)
		switch found.Kind {
		case evidence.FindingStatus, evidence.FindingMediaType:
			byPlace[string(found.Kind)] = said
		default:
			byPlace[pointer(found.Path)] = said
		}
	}
	return byPlace
}

// pointer writes a JSON path as a pointer whose list positions are *.
func pointer(path string) string {
	path = regexp.MustCompile(`\[\d+\]`).ReplaceAllString(strings.TrimPrefix(path, "$"), "/*")
	return strings.ReplaceAll(path, ".", "/")
}

// kinObjections returns the places that kin-openapi objects to, with its words.
func kinObjections(doc *openapi3.T, op openapi.Operation, x evidence.Exchange) map[string]string {
	GinkgoHelper()
	item := doc.Paths.Value(op.Path)
	Expect(item).NotTo(BeNil(), op.Path)
	request, err := http.NewRequest(x.Request.Method, x.Request.URL, nil)
	Expect(err).NotTo(HaveOccurred())
	header := http.Header{}
	for _, field := range x.Response.Header {
		header.Add(field.Name, field.Value)
	}
	err = openapi3filter.ValidateResponse(context.Background(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{
			Request: request,
			Route:   &routers.Route{Spec: doc, Path: op.Path, PathItem: item, Method: op.Method, Operation: item.GetOperation(op.Method)},
		},
		Status: x.Response.Status, Header: header, Body: io.NopCloser(bytes.NewReader([]byte(x.Response.Body))),
		Options: &openapi3filter.Options{MultiError: true, IncludeResponseStatus: true},
	})
	byPlace := map[string]string{}
	addObjections(err, byPlace)
	return byPlace
}

// addObjections adds the parts of an error of kin-openapi to byPlace.
func addObjections(err error, byPlace map[string]string) {
	headerName := regexp.MustCompile(`header "[^"]+"`)
	var problem *openapi3filter.ResponseError
	if errors.As(err, &problem) {
		switch {
		case strings.HasPrefix(problem.Reason, "status is not supported"):
			byPlace["status"] = problem.Reason
		case strings.Contains(problem.Reason, "Content-Type"):
			byPlace["media-type"] = problem.Reason
		case headerName.MatchString(problem.Reason): // missing, unreadable, or not as the schema says
			byPlace[headerName.FindString(problem.Reason)] = problem.Error()
		case problem.Err == nil:
			byPlace["answer"] = problem.Reason
		default:
			addObjections(problem.Err, byPlace)
		}
		return
	}
	switch e := err.(type) { // errors.As would find the first of many
	case nil:
	case openapi3.MultiError:
		for _, part := range e {
			addObjections(part, byPlace)
		}
	case *openapi3.SchemaError:
		if many, ok := e.Origin.(openapi3.MultiError); ok {
			addObjections(many, byPlace)
			return
		}
		place := ""
		for _, part := range e.JSONPointer() {
			if strings.Trim(part, "0123456789") == "" {
				part = "*"
			}
			place += "/" + part
		}
		byPlace[place] = e.Reason
	default:
		byPlace["answer"] = err.Error()
	}
}
